"""The registry of relation meanings."""

from typing import ClassVar, Final

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.db import models

from densemem.db.fields import IdField, word, word_check
from densemem.db.ledger import Ledger, Refuse
from densemem.db.rows import TeamQuerySet
from relationships.vocabulary import Cardinality, Lifecycle, RelationshipKind

# Of the versions of one team, or of the shared ones; the first of a team's own is looked at by the rule that makes it.
SAME_MEANING: Final = """
    IF EXISTS (
        SELECT FROM relationships_predicatedefinition AS earlier
        WHERE earlier.team_id IS NOT DISTINCT FROM NEW.team_id AND earlier.key = NEW.key
          AND NOT ((earlier.symmetric, earlier.kind, earlier.cardinality) = (NEW.symmetric, NEW.kind, NEW.cardinality)
                   AND earlier.subject_kinds <@ NEW.subject_kinds AND earlier.subject_kinds @> NEW.subject_kinds
                   AND earlier.object_kinds <@ NEW.object_kinds AND earlier.object_kinds @> NEW.object_kinds
                   AND earlier.active <@ NEW.active AND earlier.inverse <@ NEW.inverse)
    ) THEN
        RAISE EXCEPTION 'the meaning of a predicate is fixed: % is refused', NEW.key
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
"""


class PredicateDefinition(Ledger):
    """One version of one predicate. Its meaning never changes: a new alias or lifecycle is a new version.

    `team` is empty for the seeded definitions, which every team shares and nobody may write.
    """

    id = IdField()
    team = models.ForeignKey("densemem.Team", models.PROTECT, null=True, related_name="+")
    key = models.CharField(max_length=128)
    version = models.PositiveIntegerField()
    active = ArrayField(models.CharField(max_length=128), default=list)  # wording with the subject first
    inverse = ArrayField(models.CharField(max_length=128), default=list)  # wording with the object first
    symmetric = models.BooleanField(default=False)
    subject_kinds = ArrayField(models.CharField(max_length=32))
    object_kinds = ArrayField(models.CharField(max_length=32))
    kind = word(RelationshipKind)
    cardinality = word(Cardinality)
    lifecycle = word(Lifecycle, default=Lifecycle.ACTIVE)
    shelf_days = models.PositiveIntegerField(null=True)
    example = models.CharField(max_length=256, blank=True)

    objects = TeamQuerySet.as_manager()

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            word_check("predicate", "kind", RelationshipKind),
            word_check("predicate", "cardinality", Cardinality),
            word_check("predicate", "lifecycle", Lifecycle),
            models.UniqueConstraint(name="predicate_version", fields=["team", "key", "version"], nulls_distinct=False),
        ]
        triggers: ClassVar = [
            *Ledger.Meta.triggers,
            Refuse(name="meaning_fixed", operation=pgtrigger.Insert, func=SAME_MEANING),
        ]

    def __str__(self) -> str:
        return f"{self.key} v{self.version}"
