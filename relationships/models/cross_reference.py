"""What one record says of another: across profiles, or as its successor."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from densemem.db.fields import TeamKey, word, word_check
from densemem.db.guard import owned
from densemem.db.ledger import Ledger, append_only
from densemem.db.rows import TeamRow, one_per_team
from densemem.db.writer import Writer
from relationships.vocabulary import CrossReferenceKind, LineageKind

OF_SOURCE = "JOIN relationships_relationshiprecord AS record ON record.id = written.source_relationship_id"
# A record that a manager's reinstatement brings back meets the others' as if its owner had said it again.
SAID = {Writer.REINSTATE: "written.author_id = record.owner_id"}
OF_BOTH = """
    JOIN relationships_relationshiprecord AS record ON record.id IN (written.successor_id, written.predecessor_id)"""


class CrossReference(Ledger, TeamRow):
    """The author's record confirms, challenges, corrects or adopts from another profile's, at exact versions."""

    author = TeamKey("densemem.Profile")
    source_relationship = TeamKey("relationships.RelationshipRecord", related_name="references_made")
    source_version = models.PositiveIntegerField()
    target_relationship = TeamKey("relationships.RelationshipRecord", related_name="references_met")
    target_version = models.PositiveIntegerField()
    kind = word(CrossReferenceKind)
    verification = TeamKey("relationships.VerificationEvent", null=True)

    class Meta(Ledger.Meta):
        triggers: ClassVar = [
            *append_only(),
            *owned("written.author_id", "record.owner_id", joined=OF_SOURCE, by_the_server=SAID),
        ]
        constraints: ClassVar = [
            one_per_team("crossreference"),
            word_check("crossreference", "kind", CrossReferenceKind),
            models.UniqueConstraint(
                name="crossreference_once",
                fields=["team", "source_relationship", "target_relationship", "target_version", "kind"],
            ),
            models.CheckConstraint(
                name="crossreference_of_two", condition=~Q(source_relationship=F("target_relationship"))
            ),
        ]
        indexes: ClassVar = [models.Index(name="crossreference_target", fields=["team", "target_relationship"])]


class Lineage(Ledger, TeamRow):
    """A record took the place of an older one of the same owner; it may do so again, and the newest row holds."""

    successor = TeamKey("relationships.RelationshipRecord", related_name="replaced")
    predecessor = TeamKey("relationships.RelationshipRecord", related_name="replaced_by")
    kind = word(LineageKind)
    effective_at = models.DateTimeField()

    class Meta(Ledger.Meta):
        triggers: ClassVar = [*append_only(), *owned("record.owner_id", joined=OF_BOTH)]
        constraints: ClassVar = [
            one_per_team("lineage"),
            word_check("lineage", "kind", LineageKind),
            models.CheckConstraint(name="lineage_of_two", condition=~Q(successor=F("predecessor"))),
        ]
        indexes: ClassVar = [models.Index(name="lineage_predecessor", fields=["team", "predecessor"])]
