"""Claims of workers: an item under a lease, timed by the database clock and fenced by a token."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone
from django_q.models import OrmQ
from django_q.tasks import async_task

from densemem.core import limits
from placement.models import Attempt, Item
from placement.operations.steps import end
from placement.policy import backoff, may_try_again
from placement.vocabulary import READY, AttemptOutcome, ItemCategory, ItemState

DRAIN = "placement.tasks.drain"
WAITING_LOOKED_AT = 20


class LeaseLost(Exception):
    """Another worker holds the item now, or it was ended: stop before the commit."""


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


@transaction.atomic
def claim_next() -> Claim | None:
    """Take the item that waited longest, for one lease; None when nothing is ready.

    An item that was claimed as often as it may, and never ended, ends as failed: it may be what kills its workers.
    """
    now = database_now()
    row = _next_ready(now)
    while row is not None and not may_try_again(attempts=row.attempts):
        end(row, state=ItemState.FAILED, category=ItemCategory.FAILED, reason="attempts_exhausted", now=now)
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
    if not held(claim).update(lease_until=until):
        raise LeaseLost(claim.item_id)


def hold(claim: Claim) -> Item:
    """Lock the claimed item inside a transaction and make sure that it is still ours.

    :raises LeaseLost: it is not
    """
    row = held(claim).select_for_update().first()
    if row is None:
        raise LeaseLost(claim.item_id)
    return row


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
        end(row, state=ItemState.FAILED, category=ItemCategory.FAILED, reason=reason, now=now)
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


def held(claim: Claim) -> Any:
    return Item.objects.of_team(claim.team_id).filter(
        pk=claim.item_id, attempt_token=claim.token, lease_until__gt=database_now(), state__in=READY
    )
