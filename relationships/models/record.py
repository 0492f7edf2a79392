"""One profile's Relationship, and the graph-shaped view of the eligible ones."""

from typing import Any, ClassVar, Self

import pgtrigger
from django.db import models
from django.db.models import F, Q

from densemem.db.fields import TeamKey, word, word_check
from densemem.db.guard import owned_rows
from densemem.db.ledger import Refuse, unless_redacted
from densemem.db.rows import TeamQuerySet, TeamRow, one_per_team
from relationships.models.transition import moved
from relationships.vocabulary import Cardinality, Polarity, RelationshipKind, Status, Tier, TimePrecision

IDENTITY = [
    "team",
    "owner",
    "subject_entity",
    "predicate_key",
    "object_entity",
    "object_value",
    "polarity",
    "valid_from",
    "valid_to",
    "scope_key",
]


# A redaction takes the words of a scope out of the identity; the id keeps it the only one of its kind.
SCOPE_GONE = "'REDACTED:' || OLD.id"


class RecordQuerySet(TeamQuerySet):
    """Words for records."""

    def recallable(self) -> Self:
        """Keep what normal reads may see: active claims and facts."""
        return self.filter(status=Status.ACTIVE, tier__in=(Tier.CLAIM, Tier.FACT))


class RelationshipRecord(TeamRow):
    """The current state of one profile's subject-predicate-object; the transitions explain how it got there.

    Identity columns never change. `version` counts every change of the row, and each has its transition.
    """

    owner = TeamKey("densemem.Profile")
    subject_entity = TeamKey("entities.Entity")
    predicate_key = models.CharField(max_length=128)
    object_entity = TeamKey("entities.Entity", null=True)
    object_value = TeamKey("entities.Value", null=True)
    polarity = word(Polarity)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    scope_key = models.CharField(max_length=256, null=True)

    semantic_group_key = models.CharField(max_length=64)
    valid_from_precision = word(TimePrecision, null=True)
    valid_to_precision = word(TimePrecision, null=True)
    # The behaviour that the registry had when the record was made.
    predicate_version = models.PositiveIntegerField()
    relationship_kind = word(RelationshipKind)
    current_cardinality = word(Cardinality)

    tier = word(Tier)
    status = word(Status)
    held_by_person = models.BooleanField(default=False)
    support_count = models.PositiveIntegerField(default=0)
    source_group_count = models.PositiveIntegerField(default=0)
    version = models.PositiveIntegerField(default=1)
    recorded_at = models.DateTimeField()
    recorded_to = models.DateTimeField(null=True)

    objects: ClassVar[Any] = RecordQuerySet.as_manager()

    class Meta:
        constraints: ClassVar = [
            one_per_team("record"),
            models.CheckConstraint(
                name="record_has_one_object",
                condition=Q(object_entity__isnull=True, object_value__isnull=False)
                | Q(object_entity__isnull=False, object_value__isnull=True),
            ),
            models.CheckConstraint(
                name="record_candidate_is_never_active",
                condition=~Q(tier=Tier.CANDIDATE, status=Status.ACTIVE),
            ),
            models.CheckConstraint(
                name="record_validity_in_order",
                condition=Q(valid_from__isnull=True) | Q(valid_to__isnull=True) | Q(valid_to__gt=F("valid_from")),
            ),
            models.CheckConstraint(
                name="record_active_has_support", condition=~Q(status=Status.ACTIVE, support_count=0)
            ),
            models.UniqueConstraint(name="record_identity", fields=IDENTITY, nulls_distinct=False),
            word_check("record", "tier", Tier),
            word_check("record", "status", Status),
            word_check("record", "polarity", Polarity),
            word_check("record", "relationship_kind", RelationshipKind),
            word_check("record", "current_cardinality", Cardinality),
        ]
        triggers: ClassVar = [
            Refuse(name="no_delete", operation=pgtrigger.Delete),
            Refuse(
                name="identity_is_fixed",
                operation=pgtrigger.Update,
                condition=pgtrigger.AnyChange(*IDENTITY, "semantic_group_key", "recorded_at"),
                func=f"{unless_redacted({'scope_key': SCOPE_GONE})} {Refuse.func}",
            ),
            *owned_rows("written.owner_id", by_the_server=moved("before.status")),
        ]
        indexes: ClassVar = [
            models.Index(name="record_slot", fields=["team", "subject_entity", "predicate_key"]),
            models.Index(name="record_object", fields=["team", "object_entity"]),
            models.Index(name="record_group", fields=["team", "semantic_group_key"]),
        ]


class SemanticEdge(models.Model):
    """The graph-shaped read of an eligible record: a database view, never a second record."""

    relationship = models.OneToOneField(
        RelationshipRecord, models.DO_NOTHING, primary_key=True, db_column="relationship_id", related_name="edge"
    )
    team = models.ForeignKey("densemem.Team", models.DO_NOTHING, related_name="+")
    owner = models.ForeignKey("densemem.Profile", models.DO_NOTHING, related_name="+")
    subject_entity = models.ForeignKey("entities.Entity", models.DO_NOTHING, related_name="+")
    predicate_key = models.CharField(max_length=128)
    object_entity = models.ForeignKey("entities.Entity", models.DO_NOTHING, null=True, related_name="+")
    object_value = models.ForeignKey("entities.Value", models.DO_NOTHING, null=True, related_name="+")
    polarity = models.CharField(max_length=1)
    tier = models.CharField(max_length=32)
    scope_key = models.CharField(max_length=256, null=True)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    support_count = models.PositiveIntegerField()
    source_group_count = models.PositiveIntegerField()
    version = models.PositiveIntegerField()

    objects = TeamQuerySet.as_manager()

    class Meta:
        managed = False
        db_table = "semantic_edges"
