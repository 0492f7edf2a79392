"""Writes of review. Opening a task is part of the commit that found the question."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings

from densemem.core.canonical import keyed_digest
from review.models import Task, TaskEvent
from review.vocabulary import TaskKind, TaskStatus

WAITING = (TaskStatus.OPEN, TaskStatus.ACKNOWLEDGED)


@dataclass(frozen=True, slots=True)
class NewTask:
    """A question for an owner about one item.

    `subject` names what it is about, so that it is asked once; it may hold words of the evidence, so a table keeps
    only its keyed digest.
    """

    kind: TaskKind
    subject: str
    reason: str
    observation_id: UUID | None = None
    resolution_id: UUID | None = None
    relationship_id: UUID | None = None
    rival_id: UUID | None = None


def open_tasks(
    *, team_id: UUID, owner_id: UUID, item_id: UUID, fragment_id: UUID, tasks: Sequence[NewTask], now: datetime
) -> None:
    """Ask each question that the owner is not being asked already."""
    subjects = {t.subject: keyed_digest(settings.CONTENT_KEY.encode(), t.subject) for t in tasks}
    asked = set(
        Task.objects.of_team(team_id)
        .owned_by(owner_id)
        .filter(subject__in=subjects.values(), status__in=WAITING)
        .values_list("kind", "subject")
    )
    fresh = [
        Task(
            team_id=team_id,
            owner_id=owner_id,
            kind=t.kind,
            subject=subjects[t.subject],
            reason=t.reason,
            fragment_id=fragment_id,
            item_id=item_id,
            observation_id=t.observation_id,
            resolution_id=t.resolution_id,
            relationship_id=t.relationship_id,
            rival_id=t.rival_id,
            opened_at=now,
        )
        for t in tasks
        if (t.kind, subjects[t.subject]) not in asked
    ]
    Task.objects.bulk_create(fresh)
    TaskEvent.objects.bulk_create(
        TaskEvent(team_id=team_id, task_id=t.id, version=1, status=TaskStatus.OPEN, reason=t.reason, recorded_at=now)
        for t in fresh
    )


def cancel_tasks(*, team_id: UUID, fragment_ids: Sequence[UUID], reason: str, now: datetime) -> None:
    """Close the open questions about these fragments: there is nothing left to decide."""
    rows = Task.objects.of_team(team_id).filter(fragment_id__in=fragment_ids, status__in=WAITING)
    for row in rows.select_for_update().order_by("pk"):
        row.status, row.version = TaskStatus.CANCELED, row.version + 1
        row.save(update_fields=["status", "version"])
        TaskEvent.objects.create(
            team_id=team_id, task=row, version=row.version, status=row.status, reason=reason, recorded_at=now
        )
