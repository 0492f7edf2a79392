"""Writes of placement: intake rows, claims, and the ends of an item. The database clock times every lease."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone
from django_q.models import OrmQ
from django_q.tasks import async_task

from densemem.core import limits
from densemem.db.locks import lock
from evidence.operations import quarantine as hold_evidence
from evidence.vocabulary import ScanDecision, SecurityEventKind, SignalKind
from placement.models import Attempt, Item, ItemAnswer, ItemEvent, ItemProposal, Run
from placement.policy import backoff, may_try_again
from placement.vocabulary import READY, AttemptOutcome, ItemCategory, ItemState
from review.operations import NewTask, cancel_tasks, open_tasks
from review.vocabulary import TaskKind

DRAIN = "placement.tasks.drain"
WAITING_LOOKED_AT = 20
STATE_OF_SCAN = {
    ScanDecision.PASS: ItemState.QUEUED,
    ScanDecision.GUARDED: ItemState.GUARDED,
    ScanDecision.QUARANTINE: ItemState.QUARANTINED,
}


class LeaseLost(Exception):
    """Another worker holds the item now, or it was ended: stop before the commit."""


@dataclass(frozen=True, slots=True)
class Staging:
    """A stored fragment that begins its way."""

    fragment_id: UUID
    evidence_index: int
    decision: ScanDecision
    proposal: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Claim:
    """An item under a lease. Whoever holds the token may end it, until the lease is over."""

    team_id: UUID
    owner_id: UUID
    ingest_id: UUID
    item_id: UUID
    fragment_id: UUID
    token: UUID
    attempts: int
    cycle: int
    guarded: bool


@dataclass(frozen=True, slots=True)
class CallReport:
    """Telemetry of one model call."""

    stage: str
    number: int
    outcome: AttemptOutcome
    milliseconds: int
    code: str = ""
    faults: int = 0
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


def database_now() -> datetime:
    """Return the database's clock: the only one that leases know."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    assert isinstance(now, datetime)
    return now


def wake() -> None:
    """Ask django-q2 to wake a drain, unless one is waiting already: its broker counts its whole queue each time.

    The rows of the queue are durable; a wake-up that is lost costs time only, and a schedule makes up for it.
    """
    waiting = OrmQ.objects.filter(lock__lte=timezone.now())[:WAITING_LOOKED_AT]
    if not any(row.func() == DRAIN for row in waiting):
        async_task(DRAIN)


def open_run(*, team_id: UUID, owner_id: UUID, ingest_id: UUID, items: Sequence[Staging], now: datetime) -> None:
    """Queue the fragments of one ingest. Called inside the intake transaction."""
    run = Run.objects.create(team_id=team_id, ingest_id=ingest_id, recorded_at=now)
    rows = [
        Item(
            team_id=team_id,
            run=run,
            ingest_id=ingest_id,
            owner_id=owner_id,
            fragment_id=s.fragment_id,
            evidence_index=s.evidence_index,
            state=STATE_OF_SCAN[s.decision],
            category=ItemCategory.QUARANTINED if s.decision is ScanDecision.QUARANTINE else ItemCategory.PENDING,
            reason="held_by_scan" if s.decision is ScanDecision.QUARANTINE else "",
            available_at=now,
            completed_at=now if s.decision is ScanDecision.QUARANTINE else None,
        )
        for s in items
    ]
    Item.objects.bulk_create(rows)
    ItemEvent.objects.bulk_create(_event(row, now=now) for row in rows)
    ItemProposal.objects.bulk_create(
        ItemProposal(team_id=team_id, item=row, fragment_id=s.fragment_id, payload=dict(s.proposal), recorded_at=now)
        for row, s in zip(rows, items, strict=True)
        if s.proposal
    )
    for row in rows:
        if row.state == ItemState.QUARANTINED:
            _ask_for_release(row, now=now)


def withdraw_questions(*, team_id: UUID, owner_id: UUID, fragment_ids: Sequence[UUID], now: datetime) -> None:
    """Close what the owner is asked about fragments that stopped counting. Questions are locked last."""
    if fragment_ids:
        lock("questions", team_id, owner_id)
        cancel_tasks(team_id=team_id, fragment_ids=fragment_ids, reason="newer_revision", now=now)


def supersede_items(*, team_id: UUID, fragment_ids: Sequence[UUID], now: datetime) -> None:
    """End the unfinished work on fragments that a newer revision replaced."""
    open_states = (*READY, ItemState.AWAITING_REVIEW)
    rows = Item.objects.of_team(team_id).filter(fragment_id__in=fragment_ids, state__in=open_states)
    for row in rows.select_for_update().order_by("pk"):
        _end(row, state=ItemState.SUPERSEDED, category=ItemCategory.PROCESSED, reason="newer_revision", now=now)


@transaction.atomic
def claim_next() -> Claim | None:
    """Take the item that waited longest, for one lease; None when nothing is ready.

    An item that was claimed as often as it may, and never ended, ends as failed: it may be what kills its workers.
    """
    now = database_now()
    row = _next_ready(now)
    while row is not None and not may_try_again(attempts=row.attempts):
        _end(row, state=ItemState.FAILED, category=ItemCategory.FAILED, reason="attempts_exhausted", now=now)
        row = _next_ready(now)
    if row is None:
        return None
    row.attempts += 1
    row.attempt_token = uuid4()
    row.lease_until = now + timedelta(seconds=limits.LEASE_SECONDS)
    row.save(update_fields=["attempts", "attempt_token", "lease_until"])
    return Claim(
        team_id=row.team_id,
        owner_id=row.owner_id,
        ingest_id=row.ingest_id,
        item_id=row.id,
        fragment_id=row.fragment_id,
        token=row.attempt_token,
        attempts=row.attempts,
        cycle=row.version,
        guarded=row.state == ItemState.GUARDED,
    )


def _next_ready(now: datetime) -> Item | None:
    free = Q(lease_until=None) | Q(lease_until__lt=now)
    rows = Item.objects.filter(free, state__in=READY, available_at__lte=now).order_by("available_at", "id")
    found: Item | None = rows.select_for_update(skip_locked=True).first()
    return found


def heartbeat(claim: Claim) -> None:
    """Renew the lease.

    :raises LeaseLost: it is not ours any more
    """
    until = database_now() + timedelta(seconds=limits.LEASE_SECONDS)
    if not _held(claim).update(lease_until=until):
        raise LeaseLost(claim.item_id)


def hold(claim: Claim) -> Item:
    """Lock the claimed item inside a transaction and make sure that it is still ours.

    :raises LeaseLost: it is not
    """
    row = _held(claim).select_for_update().first()
    if row is None:
        raise LeaseLost(claim.item_id)
    return row


def finish(row: Item, *, tasks: Sequence[NewTask], now: datetime) -> None:
    """End an item whose knowledge was just written; with questions it waits for a person."""
    _ask(row, tasks, now=now)
    state = ItemState.AWAITING_REVIEW if tasks else ItemState.COMPLETED
    _end(row, state=state, category=ItemCategory.PROCESSED, reason=tasks[0].reason if tasks else "", now=now)


def keep_answers(claim: Claim, *, extraction: Any, verification: Any, model: str) -> None:
    """Keep both accepted answers whole, so that a person's decision can re-enter with them."""
    now = database_now()
    ItemAnswer.objects.bulk_create(
        ItemAnswer(
            team_id=claim.team_id,
            item_id=claim.item_id,
            fragment_id=claim.fragment_id,
            cycle=claim.cycle,
            stage=stage,
            model=model,
            payload=json.loads(json.dumps(asdict(answer), default=str)),
            recorded_at=now,
        )
        for stage, answer in (("extract", extraction), ("verify", verification))
    )


@transaction.atomic
def end_superseded(claim: Claim) -> None:
    """End an item whose revision is no longer current: nothing of it is written.

    :raises LeaseLost: the item is not ours any more
    """
    now = database_now()
    _end(hold(claim), state=ItemState.SUPERSEDED, category=ItemCategory.PROCESSED, reason="newer_revision", now=now)


@transaction.atomic
def end_held(claim: Claim) -> None:
    """End an item whose evidence was held by somebody else meanwhile: nothing of it is written.

    :raises LeaseLost: the item is not ours any more
    """
    now = database_now()
    category = ItemCategory.QUARANTINED
    _end(hold(claim), state=ItemState.QUARANTINED, category=category, reason="evidence_held", now=now)


@transaction.atomic
def end_quarantined(claim: Claim, *, by: SecurityEventKind, signals: Sequence[tuple[SignalKind, int, int]]) -> None:
    """Hold the evidence because a model saw control text in it; nothing semantic is written.

    :raises LeaseLost: the item is not ours any more
    """
    row, now = hold(claim), database_now()
    hold_evidence(team_id=row.team_id, fragment_id=row.fragment_id, by=by, signals=signals, now=now)
    _end(row, state=ItemState.QUARANTINED, category=ItemCategory.QUARANTINED, reason=f"held_by_{by}", now=now)
    _ask_for_release(row, now=now)


@transaction.atomic
def end_failed(claim: Claim, *, reason: str) -> None:
    """End an item that no further try can help; the evidence is kept.

    :raises LeaseLost: the item is not ours any more
    """
    now = database_now()
    _end(hold(claim), state=ItemState.FAILED, category=ItemCategory.FAILED, reason=reason, now=now)


@transaction.atomic
def put_back(claim: Claim, *, reason: str, uncounted: bool = False) -> None:
    """Give a claimed item back with a wait, or end it when it was tried often enough.

    :param uncounted: the try does not count, and there is no wait
    :raises LeaseLost: the item is not ours any more
    """
    row, now = hold(claim), database_now()
    if uncounted:
        row.attempts -= 1
    elif not may_try_again(attempts=row.attempts):
        _end(row, state=ItemState.FAILED, category=ItemCategory.FAILED, reason=reason, now=now)
        return
    else:
        wait = backoff(tries=row.attempts, chance=random.random())  # noqa: S311 - jitter is no secret
        row.available_at = now + timedelta(seconds=wait.seconds)
    row.attempt_token, row.lease_until = None, None
    row.save(update_fields=["attempts", "available_at", "attempt_token", "lease_until"])


def report_calls(claim: Claim, calls: Sequence[CallReport]) -> None:
    """Keep the telemetry of model calls, whatever became of the item."""
    now = database_now()
    Attempt.objects.bulk_create(
        Attempt(
            team_id=claim.team_id,
            item_id=claim.item_id,
            stage=c.stage,
            number=c.number,
            outcome=c.outcome,
            code=c.code[:64],
            faults=c.faults,
            model=c.model[:128],
            tokens_in=c.tokens_in,
            tokens_out=c.tokens_out,
            milliseconds=c.milliseconds,
            made_at=now,
        )
        for c in calls
    )


def _held(claim: Claim) -> Any:
    return Item.objects.of_team(claim.team_id).filter(
        pk=claim.item_id, attempt_token=claim.token, lease_until__gt=database_now(), state__in=READY
    )


def _end(row: Item, *, state: ItemState, category: ItemCategory, reason: str, now: datetime) -> None:
    """Bring an item to a new version and append the event that says so."""
    row.state, row.category, row.reason = state, category, reason[:64]
    row.version += 1
    row.attempt_token, row.lease_until = None, None
    row.completed_at = now
    row.save()
    _event(row, now=now).save()


def _event(row: Item, *, now: datetime) -> ItemEvent:
    return ItemEvent(
        team_id=row.team_id,
        item=row,
        version=row.version,
        state=row.state,
        category=row.category,
        reason=row.reason,
        recorded_at=now,
    )


def _ask_for_release(row: Item, *, now: datetime) -> None:
    """Open the review of a held text; its words say nothing about what was seen."""
    task = NewTask(kind=TaskKind.POLICY, subject=f"held:{row.fragment_id}", reason="evidence_held")
    _ask(row, [task], now=now)


def _ask(row: Item, tasks: Sequence[NewTask], *, now: datetime) -> None:
    """Open the review tasks of an item, under the lock on its owner's questions: each is asked once."""
    if tasks:
        lock("questions", row.team_id, row.owner_id)
        open_tasks(
            team_id=row.team_id,
            owner_id=row.owner_id,
            item_id=row.id,
            fragment_id=row.fragment_id,
            tasks=tasks,
            now=now,
        )
