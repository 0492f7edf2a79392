"""The one way in which an item changes, and asks."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from densemem.db.insert import insert
from densemem.db.locks import lock
from placement.models import Item, ItemEvent
from placement.vocabulary import ItemCategory, ItemState
from review.operations import NewTask, open_tasks, use_decisions
from review.vocabulary import TaskKind

CHANGING: Final = (
    "state",
    "category",
    "reason",
    "version",
    "attempts",
    "uncounted",
    "attempt_token",
    "lease_until",
    "available_at",
    "completed_at",
)


def end(
    row: Item,
    *,
    state: ItemState,
    category: ItemCategory,
    reason: str,
    now: datetime,
    actor_id: UUID | None = None,
) -> None:
    """Bring an item to an end in a new version. What was decided about it is done with, unless it failed."""
    if state is not ItemState.FAILED and row.version > 1:  # a decision needs an earlier version
        placed = state in (ItemState.COMPLETED, ItemState.AWAITING_REVIEW)
        use_decisions(team_id=row.team_id, item_id=row.id, cycle=row.version, carried_out=placed, now=now)
    row.completed_at = now
    _step(row, state=state, category=category, reason=reason, actor_id=actor_id, now=now)


def requeue(row: Item, *, guarded: bool, reason: str, actor_id: UUID, now: datetime) -> None:
    """Let an item begin again in a new version, because a person decided so: its attempts count from nothing."""
    requeue_all([row], guarded=guarded, reason=reason, actor_id=actor_id, now=now)


def requeue_all(rows: Sequence[Item], *, guarded: bool, reason: str, actor_id: UUID, now: datetime) -> None:
    """Do the same for several, in two statements however many they are."""
    state = ItemState.GUARDED if guarded else ItemState.QUEUED
    for row in rows:
        row.attempts, row.uncounted, row.available_at, row.completed_at = 0, 0, now, None
        _bring(row, state=state, category=ItemCategory.PENDING, reason=reason)
    Item.objects.bulk_update(rows, CHANGING)
    insert([event_of(row, now=now, actor_id=actor_id) for row in rows])


def begin_anew(rows: Iterable[Item], *, now: datetime) -> None:
    """Take locked items from whoever places them, uncounted: what was read for them may be gone."""
    for row in rows:
        if row.attempt_token is not None:
            row.attempts -= 1
            row.attempt_token, row.lease_until, row.available_at = None, None, now
            row.save(update_fields=["attempts", "attempt_token", "lease_until", "available_at"])


def event_of(row: Item, *, now: datetime, actor_id: UUID | None = None) -> ItemEvent:
    """Return the event that says what an item is in its present version."""
    return ItemEvent(
        team_id=row.team_id,
        item=row,
        version=row.version,
        state=row.state,
        category=row.category,
        reason=row.reason,
        actor_id=actor_id,
        recorded_at=now,
    )


def ask_for_release(row: Item, *, now: datetime) -> None:
    """Open the review of a held text; its words say nothing about what was seen."""
    task = NewTask(kind=TaskKind.POLICY, subject=f"held:{row.fragment_id}", reason="evidence_held")
    ask(row, [task], now=now)


def ask(row: Item, tasks: Sequence[NewTask], *, now: datetime) -> None:
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


def _step(
    row: Item, *, state: ItemState, category: ItemCategory, reason: str, actor_id: UUID | None, now: datetime
) -> None:
    _bring(row, state=state, category=category, reason=reason)
    row.save(update_fields=CHANGING)
    insert([event_of(row, now=now, actor_id=actor_id)])


def _bring(row: Item, *, state: ItemState, category: ItemCategory, reason: str) -> None:
    row.state, row.category, row.reason = state, category, reason[:64]
    row.version += 1
    row.attempt_token, row.lease_until = None, None
