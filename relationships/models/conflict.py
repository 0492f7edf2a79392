"""Conflicts that last: which meanings of several owners were put against each other, and what became of it."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from densemem.db.fields import TeamKey, word, word_check
from densemem.db.guard import owned
from densemem.db.ledger import Ledger, append_only
from densemem.db.rows import TeamRow, one_per_team
from relationships.vocabulary import ConflictEventKind, ConflictReason, ConflictStatus

OF_RECORD = "JOIN relationships_relationshiprecord AS record ON record.id = written.relationship_id"


class ConflictCase(TeamRow):
    """How a conflict stands now; its events explain how it got there. A case that was merged stays, and is closed."""

    status = word(ConflictStatus)
    reason = word(ConflictReason)
    merged_into = TeamKey("relationships.ConflictCase", null=True)
    version = models.PositiveIntegerField()
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            one_per_team("conflictcase"),
            word_check("conflictcase", "status", ConflictStatus),
            word_check("conflictcase", "reason", ConflictReason),
            models.CheckConstraint(
                name="conflictcase_closed_at_a_time",
                condition=Q(status=ConflictStatus.OPEN, closed_at__isnull=True)
                | Q(status=ConflictStatus.CLOSED, closed_at__isnull=False),
            ),
        ]
        indexes: ClassVar = [models.Index(name="conflictcase_list", fields=["team", "status", "opened_at"])]


class ConflictPosition(Ledger, TeamRow):
    """A meaning that stands in a case; its holders are the records of that meaning. `version` is the event's."""

    case = TeamKey("relationships.ConflictCase", related_name="positions")
    semantic_group_key = models.CharField(max_length=64)
    version = models.PositiveIntegerField()

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("conflictposition"),
            models.UniqueConstraint(name="conflictposition_once", fields=["team", "case", "semantic_group_key"]),
        ]
        indexes: ClassVar = [models.Index(name="conflictposition_group", fields=["team", "semantic_group_key"])]


class ConflictEvent(Ledger, TeamRow):
    """One version of a case; the newest row equals it. `other` is the case that was merged into it, or it into."""

    case = TeamKey("relationships.ConflictCase", related_name="events")
    version = models.PositiveIntegerField()
    kind = word(ConflictEventKind)
    status = word(ConflictStatus)
    reason = word(ConflictReason)
    other = TeamKey("relationships.ConflictCase", null=True)

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("conflictevent"),
            word_check("conflictevent", "kind", ConflictEventKind),
            word_check("conflictevent", "status", ConflictStatus),
            word_check("conflictevent", "reason", ConflictReason),
            models.UniqueConstraint(name="conflictevent_of_version", fields=["team", "case", "version"]),
            models.CheckConstraint(name="conflictevent_of_two", condition=~Q(other=F("case"))),
        ]


class ConflictStatement(Ledger, TeamRow):
    """An owner recorded that the positions of a case do not compete, as the holder of one record at one version."""

    case = TeamKey("relationships.ConflictCase", related_name="statements")
    version = models.PositiveIntegerField()  # of the case: which positions it speaks of
    owner = TeamKey("densemem.Profile")
    relationship = TeamKey("relationships.RelationshipRecord")
    relationship_version = models.PositiveIntegerField()
    decision = TeamKey("review.Decision")

    class Meta(Ledger.Meta):
        triggers: ClassVar = [*append_only(), *owned("written.owner_id", "record.owner_id", joined=OF_RECORD)]
        constraints: ClassVar = [
            one_per_team("conflictstatement"),
            models.UniqueConstraint(name="conflictstatement_once", fields=["team", "case", "version", "relationship"]),
        ]
