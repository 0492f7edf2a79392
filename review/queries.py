"""Reads of review within one team."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from django.db.models import Count, Q

from densemem.core.faults import NotThere
from densemem.core.limits import INBOX_ITEMS
from review.models import Task
from review.vocabulary import TaskKind, TaskStatus

OPEN = (TaskStatus.OPEN, TaskStatus.ACKNOWLEDGED)
RELATED = ("owner", "fragment", "observation", "resolution", "relationship__owner", "rival__owner")


@dataclass(frozen=True, slots=True)
class Cursor:
    """The last task of a page: the next page begins after it."""

    opened_at: datetime
    task_id: UUID

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Read a cursor from an address.

        :raises NotThere: it is none of ours
        """
        if not text:
            return None
        moment, _, task_id = text.partition("~")
        try:
            cursor = cls(datetime.fromisoformat(moment), UUID(task_id))
        except ValueError:
            raise NotThere from None
        if cursor.opened_at.tzinfo is None:
            raise NotThere
        return cursor

    def __str__(self) -> str:
        return f"{self.opened_at.isoformat()}~{self.task_id}"


@dataclass(frozen=True, slots=True)
class Counts:
    """Open tasks of a team by kind; `shown` follows the filter for the caller's own."""

    all: int
    mine: int
    shown: dict[TaskKind, int]


@dataclass(frozen=True, slots=True)
class Inbox:
    """One page of open tasks, the longest waiting first, and where the next one begins."""

    tasks: tuple[Task, ...]
    after: Cursor | None


def tasks_of_items(*, team_id: UUID, item_ids: Collection[UUID]) -> list[tuple[UUID, dict[str, Any]]]:
    """Return (item, handle) of each task of these items, oldest first. A handle names the task, not what was seen."""
    rows = Task.objects.of_team(team_id).filter(item_id__in=item_ids).order_by("opened_at", "id")
    return [(t.item_id, {"review_id": t.id, "kind": t.kind, "status": t.status, "reason": t.reason}) for t in rows]


def open_tasks_of(
    *, team_id: UUID, owner_id: UUID | None = None, kind: TaskKind | None = None, after: Cursor | None = None
) -> Inbox:
    """Return a page of the open tasks of a team, or of one owner or kind."""
    rows = Task.objects.of_team(team_id).filter(status__in=OPEN)
    if owner_id is not None:
        rows = rows.owned_by(owner_id)
    if kind is not None:
        rows = rows.filter(kind=kind)
    if after is not None:
        later = Q(opened_at__gt=after.opened_at) | Q(opened_at=after.opened_at, id__gt=after.task_id)
        rows = rows.filter(later)
    found = list(rows.select_related(*RELATED).order_by("opened_at", "id")[: INBOX_ITEMS + 1])
    page = tuple(found[:INBOX_ITEMS])
    return Inbox(page, Cursor(page[-1].opened_at, page[-1].id) if len(found) > INBOX_ITEMS else None)


def count_open(*, team_id: UUID, owner_id: UUID, mine: bool) -> Counts:
    """Count the open tasks of a team by kind; with `mine`, the kinds count the owner's alone."""
    rows = Task.objects.of_team(team_id).filter(status__in=OPEN).values_list("kind")
    of_kind = list(rows.annotate(every=Count("id"), own=Count("id", filter=Q(owner_id=owner_id))))
    return Counts(
        all=sum(every for _, every, _ in of_kind),
        mine=sum(own for _, _, own in of_kind),
        shown={TaskKind(kind): own if mine else every for kind, every, own in of_kind},
    )


def get_task(*, team_id: UUID, task_id: UUID) -> Task:
    """Return a task with what it refers to and its history.

    :raises NotThere: no such task in the team
    """
    rows = Task.objects.of_team(team_id).select_related(*RELATED)
    found = rows.prefetch_related("events__actor").filter(pk=task_id).first()
    if found is None:
        raise NotThere
    return found
