"""Who and what is spoken of: entities, their names, and typed values."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q

from densemem.db.fields import TeamKey, word, word_check
from densemem.db.ledger import Ledger, redactable
from densemem.db.rows import TeamRow, one_per_team
from entities.vocabulary import EntityKind, EntityStatus, NameKind, ValueType


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
    """What somebody called an Entity, at an exact span. `key` is the lookup key; it is never unique.

    The canonical name is the one with the highest `version`; those before it are former names. An alias has none.
    `forms` are keyed hashes of other ways to write the name: they propose candidates and decide nothing.
    A redaction of the name empties them.
    """

    entity = TeamKey("entities.Entity", related_name="names")
    owner = TeamKey("densemem.Profile")
    kind = word(NameKind)
    display = models.CharField(max_length=256)
    key = models.CharField(max_length=512)
    version = models.PositiveIntegerField(default=0)
    forms = ArrayField(models.BigIntegerField(), default=list)
    fragment = TeamKey("evidence.Fragment")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("name"),
            word_check("name", "kind", NameKind),
            models.CheckConstraint(name="name_span", condition=Q(end__gt=F("start"))),
            models.UniqueConstraint(name="name_once", fields=["team", "entity", "kind", "key", "version"]),
            models.UniqueConstraint(
                name="name_one_canonical", fields=["team", "entity", "version"], condition=Q(kind=NameKind.CANONICAL)
            ),
            models.CheckConstraint(
                name="name_version_of_canonical",
                condition=Q(kind=NameKind.CANONICAL, version__gte=1) | (~Q(kind=NameKind.CANONICAL) & Q(version=0)),
            ),
        ]
        triggers: ClassVar = redactable(display="'[redacted]'", key="'REDACTED:' || OLD.id", forms="'{}'::bigint[]")
        indexes: ClassVar = [
            models.Index(name="name_lookup", fields=["team", "key"]),
            GinIndex(name="name_forms", fields=["forms"], fastupdate=False),
        ]


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
