"""The one way in which an item changes, and asks."""

from collections.abc import Sequence
from datetime import datetime

from densemem.db.locks import lock
from placement.models import Item, ItemEvent
from placement.vocabulary import ItemCategory, ItemState
from review.operations import NewTask, open_tasks
from review.vocabulary import TaskKind


def end(row: Item, *, state: ItemState, category: ItemCategory, reason: str, now: datetime) -> None:
    """Bring an item to a new version and append the event that says so."""
    row.state, row.category, row.reason = state, category, reason[:64]
    row.version += 1
    row.attempt_token, row.lease_until = None, None
    row.completed_at = now
    row.save()
    event_of(row, now=now).save()


def event_of(row: Item, *, now: datetime) -> ItemEvent:
    return ItemEvent(
        team_id=row.team_id,
        item=row,
        version=row.version,
        state=row.state,
        category=row.category,
        reason=row.reason,
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
