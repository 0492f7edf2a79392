"""The ends of a claimed item. Each raises `LeaseLost` when the item is not ours any more."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import connection, transaction
from psycopg.types.json import Jsonb

from densemem.core.ids import uuid7
from densemem.db.clock import moment
from densemem.db.insert import insert
from densemem.db.locks import lock
from densemem.db.writer import Writer, writing_for_all
from evidence.operations import quarantine as hold_evidence
from evidence.vocabulary import SecurityEventKind, SignalKind
from placement.contract import Extraction, Verification
from placement.contract.kept import packed
from placement.models import Item, ItemAnswer
from placement.operations.claims import OURS, Claim, LeaseLost, hold, ours
from placement.operations.intake import lock_questions, withdraw_questions
from placement.operations.steps import ask, ask_for_release, end
from placement.vocabulary import ItemCategory, ItemState
from relationships.operations import hold_resting_on, revoke_for_fragments
from relationships.vocabulary import Status
from review.operations import NewTask
from review.queries import open_reason

HELD: Final = "evidence_quarantined"  # why supports are revoked whose text is held

KEEP: Final = f"""
    WITH held AS MATERIALIZED (SELECT * FROM placement_item {OURS} FOR UPDATE)
    INSERT INTO placement_itemanswer (id, team_id, item_id, fragment_id, cycle, stage, model, payload, recorded_at)
    SELECT %(id)s, team_id, id, fragment_id, version, 'extract', %(model)s, %(payload)s, clock_timestamp() FROM held
    ON CONFLICT DO NOTHING"""  # noqa: S608 - our own words


def finish(row: Item, *, tasks: Sequence[NewTask], now: datetime) -> None:
    """End an item whose knowledge was just written; while something about it is asked it waits for a person."""
    ask(row, tasks, now=now)
    asked_first = tasks[0].reason if tasks else None
    settle(row, reason=asked_first or _still_open(row), now=now)


def settle(row: Item, *, reason: str | None, now: datetime, actor_id: UUID | None = None) -> None:
    """End an item that needs no worker: it waits for a person when there is a reason, else it is complete."""
    state = ItemState.AWAITING_REVIEW if reason else ItemState.COMPLETED
    end(row, state=state, category=ItemCategory.PROCESSED, reason=reason or "", now=now, actor_id=actor_id)


def _still_open(row: Item) -> str | None:
    """Return why an item waits already; one that never waited is not looked up."""
    return open_reason(team_id=row.team_id, item_id=row.id) if row.version > 1 else None


def keep_extraction(claim: Claim, *, extraction: Extraction, model: str) -> None:
    """Keep an accepted extraction: a later claim of the same cycle need not ask for it again.

    :raises LeaseLost: the item is not ours any more
    """
    kept = {"id": uuid7(), "model": model[:128], "payload": Jsonb(packed(extraction))}
    with connection.cursor() as cursor:
        cursor.execute(KEEP, ours(claim) | kept)
        if not cursor.rowcount:
            raise LeaseLost(claim.item_id)


def keep_verification(claim: Claim, *, verification: Verification, model: str, now: datetime) -> None:
    """Keep an accepted judgment whole, inside the commit that rests on it: a decision may re-enter with it."""
    row = ItemAnswer(
        team_id=claim.team_id,
        item_id=claim.item_id,
        fragment_id=claim.fragment_id,
        cycle=claim.cycle,
        stage="verify",
        model=model[:128],
        payload=packed(verification),
        recorded_at=now,
    )
    insert([row], ignore_conflicts=True)


@transaction.atomic
def end_superseded(claim: Claim) -> None:
    """End an item whose revision is no longer current: nothing of it is written.

    :raises LeaseLost: the item is not ours any more
    """
    row, now = hold(claim), moment(claim.team_id)
    end(row, state=ItemState.SUPERSEDED, category=ItemCategory.PROCESSED, reason="newer_revision", now=now)


@transaction.atomic
def end_held(claim: Claim) -> None:
    """End an item whose evidence was held by somebody else meanwhile: nothing of it is written.

    :raises LeaseLost: the item is not ours any more
    """
    row, now = hold(claim), moment(claim.team_id)
    category = ItemCategory.QUARANTINED
    end(row, state=ItemState.QUARANTINED, category=category, reason="evidence_held", now=now)


@transaction.atomic
def end_quarantined(claim: Claim, *, by: SecurityEventKind, signals: Sequence[tuple[SignalKind, int, int]]) -> None:
    """Hold the evidence because a model saw control text in it; nothing semantic is written.

    :raises LeaseLost: the item is not ours any more
    """
    row = hold(claim)
    wait_to_set_aside(row)
    now = moment(row.team_id)
    hold_evidence(team_id=row.team_id, fragment_id=row.fragment_id, by=by, signals=signals, now=now)
    set_aside(row, reason=f"held_by_{by}", now=now)


def wait_to_set_aside(row: Item) -> None:
    """Wait for all that a hold of an item's text changes: groups, records, conflict cases and questions.

    :raises FanoutExceeded: more rests on the text than one transaction may change
    """
    team, fragments = row.team_id, [row.fragment_id]
    lock("groups", team)  # alone: a commit that did not see the hold ends first, and what it wrote is judged here
    hold_resting_on(team_id=team, fragment_ids=fragments, bare=Status.QUARANTINED)
    lock_questions(team_id=team, owner_id=row.owner_id, fragment_ids=fragments)


def set_aside(row: Item, *, reason: str, now: datetime, actor_id: UUID | None = None) -> None:
    """End an item whose text was just held, and judge again what rests on it, whoever owns that.

    What was asked about the text is withdrawn, and its release asked for. The caller has waited to set it aside.
    """
    team, fragments = row.team_id, [row.fragment_id]
    bare, because = Status.QUARANTINED, HELD
    with writing_for_all(Writer.HOLD):
        revoke_for_fragments(
            team_id=team, fragment_ids=fragments, reason=because, now=now, bare=bare, actor_id=actor_id
        )
    state, category = ItemState.QUARANTINED, ItemCategory.QUARANTINED
    end(row, state=state, category=category, reason=reason, now=now, actor_id=actor_id)
    withdraw_questions(team_id=team, fragment_ids=fragments, reason="evidence_held", now=now)
    ask_for_release(row, now=now)


@transaction.atomic
def end_failed(claim: Claim, *, reason: str) -> None:
    """End an item that no further try can help; the evidence is kept.

    :raises LeaseLost: the item is not ours any more
    """
    row, now = hold(claim), moment(claim.team_id)
    end(row, state=ItemState.FAILED, category=ItemCategory.FAILED, reason=reason, now=now)
