"""Where a person decides: the open questions. Their words are made when they are shown, from the rows they refer to."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from densemem.db.fields import TeamKey, word, word_check
from densemem.db.ledger import Ledger
from densemem.db.rows import TeamRow, one_per_team
from review.vocabulary import TaskKind, TaskStatus


class Task(TeamRow):
    """One question to one owner. `subject` is a keyed digest of what it is about: the same question is asked once."""

    owner = TeamKey("densemem.Profile")
    kind = word(TaskKind)
    status = word(TaskStatus, default=TaskStatus.OPEN)
    subject = models.CharField(max_length=256)
    reason = models.CharField(max_length=64)
    fragment = TeamKey("evidence.Fragment")
    item = TeamKey("placement.Item")
    observation = TeamKey("relationships.Observation", null=True)
    resolution = TeamKey("entities.ResolutionEvent", null=True)
    relationship = TeamKey("relationships.RelationshipRecord", null=True)
    rival = TeamKey("relationships.RelationshipRecord", null=True)
    version = models.PositiveIntegerField(default=1)
    opened_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            one_per_team("task"),
            word_check("task", "kind", TaskKind),
            word_check("task", "status", TaskStatus),
            models.UniqueConstraint(
                name="task_asked_once",
                fields=["team", "owner", "kind", "subject"],
                condition=Q(status__in=[TaskStatus.OPEN, TaskStatus.ACKNOWLEDGED]),
            ),
        ]
        indexes: ClassVar = [models.Index(name="task_inbox", fields=["team", "status", "opened_at"])]


class TaskEvent(Ledger, TeamRow):
    """A task was opened, or changed its status; the newest row equals the task."""

    task = TeamKey("review.Task", related_name="events")
    version = models.PositiveIntegerField()
    status = word(TaskStatus)
    actor = TeamKey("densemem.Profile", null=True)
    reason = models.CharField(max_length=64)

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("taskevent"),
            word_check("taskevent", "status", TaskStatus),
            models.UniqueConstraint(name="taskevent_of_version", fields=["team", "task", "version"]),
        ]
