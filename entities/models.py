"""Who and what is spoken of: entities, their names, typed values, and how each mention was resolved."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from densemem.db.fields import TeamKey, word, word_check
from densemem.db.guard import owned
from densemem.db.ledger import Ledger, redactable
from densemem.db.rows import TeamRow, one_per_team
from entities.vocabulary import EntityKind, EntityStatus, NameKind, ResolutionAction, ValueType


class Entity(TeamRow):
    """The identity of one real thing inside a team. It has no name of its own: names are rows, and homonyms coexist."""

    kind = word(EntityKind)
    identity_context = models.JSONField(default=dict)
    status = word(EntityStatus, default=EntityStatus.ACTIVE)
    version = models.PositiveIntegerField(default=1)
    first_ingest = TeamKey("evidence.Ingest")  # another item of the same ingest may reuse it
    created_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            one_per_team("entity"),
            word_check("entity", "kind", EntityKind),
            word_check("entity", "status", EntityStatus),
        ]


class Name(Ledger, TeamRow):
    """What somebody called an Entity, at an exact span. `key` is the lookup key; it is never unique."""

    entity = TeamKey("entities.Entity", related_name="names")
    owner = TeamKey("densemem.Profile")
    kind = word(NameKind)
    display = models.CharField(max_length=256)
    key = models.CharField(max_length=512)
    fragment = TeamKey("evidence.Fragment")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("name"),
            word_check("name", "kind", NameKind),
            models.CheckConstraint(name="name_span", condition=Q(end__gt=F("start"))),
            models.UniqueConstraint(name="name_once", fields=["team", "entity", "kind", "key"]),
            models.UniqueConstraint(
                name="name_one_canonical", fields=["team", "entity"], condition=Q(kind=NameKind.CANONICAL)
            ),
        ]
        triggers: ClassVar = redactable(display="'[redacted]'", key="'REDACTED:' || OLD.id")
        indexes: ClassVar = [models.Index(name="name_lookup", fields=["team", "key"])]


class Value(Ledger, TeamRow):
    """A typed literal in its one canonical form."""

    type = word(ValueType)
    canonical = models.CharField(max_length=1024)
    unit = models.CharField(max_length=128, null=True)
    display = models.CharField(max_length=1024)
    normalization_version = models.PositiveSmallIntegerField(default=1)
    fragment = TeamKey("evidence.Fragment")

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("value"),
            word_check("value", "type", ValueType),
            models.UniqueConstraint(
                name="value_once",
                fields=["team", "type", "canonical", "unit", "normalization_version"],
                nulls_distinct=False,
            ),
        ]
        triggers: ClassVar = redactable(display="'[redacted]'", canonical="'REDACTED:' || OLD.id", unit="NULL")


class ResolutionEvent(Ledger, TeamRow):
    """What was decided about one mention of one item: reuse, create, or ambiguous."""

    ingest = TeamKey("evidence.Ingest")
    fragment = TeamKey("evidence.Fragment")
    item = TeamKey("placement.Item")
    cycle = models.PositiveIntegerField(default=1)
    mention_ref = models.CharField(max_length=128)
    kind = word(EntityKind)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    action = word(ResolutionAction)
    entity = TeamKey("entities.Entity", null=True)
    confidence = models.DecimalField(max_digits=5, decimal_places=4)
    reason = models.CharField(max_length=64)

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("resolutionevent"),
            word_check("resolutionevent", "action", ResolutionAction),
            models.CheckConstraint(
                name="resolutionevent_ambiguous_has_no_entity",
                condition=Q(action=ResolutionAction.AMBIGUOUS, entity__isnull=True)
                | (~Q(action=ResolutionAction.AMBIGUOUS) & Q(entity__isnull=False)),
            ),
            models.CheckConstraint(name="resolutionevent_span", condition=Q(end__gt=F("start"))),
            models.UniqueConstraint(name="resolutionevent_once", fields=["team", "item", "cycle", "mention_ref"]),
        ]
        triggers: ClassVar = [
            *redactable(mention_ref="'REDACTED:' || OLD.id"),
            *owned("item.owner_id", joined="JOIN placement_item AS item ON item.id = written.item_id"),
        ]
        indexes: ClassVar = [models.Index(name="resolutionevent_entity", fields=["team", "entity"])]


class ResolutionCandidate(Ledger, TeamRow):
    """An Entity that was offered for a mention: what a person sees when the choice is open."""

    event = TeamKey("entities.ResolutionEvent", related_name="candidates")
    entity = TeamKey("entities.Entity")
    reason = models.CharField(max_length=64)

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("resolutioncandidate"),
            models.UniqueConstraint(name="resolutioncandidate_once", fields=["team", "event", "entity"]),
        ]
