"""Every change of a record."""

from typing import ClassVar

from django.db import models

from densemem.db.fields import TeamKey, word, word_check
from densemem.db.guard import owned
from densemem.db.ledger import Ledger, append_only
from densemem.db.rows import TeamRow, one_per_team
from relationships.vocabulary import Status, Tier

OF_RECORD = "JOIN relationships_relationshiprecord AS record ON record.id = written.relationship_id"


class Transition(Ledger, TeamRow):
    """One version of a record: what it was, what it became, and why. The newest row equals the record."""

    relationship = TeamKey("relationships.RelationshipRecord", related_name="transitions")
    version = models.PositiveIntegerField()
    tier_before = word(Tier, null=True)
    status_before = word(Status, null=True)
    tier = word(Tier)
    status = word(Status)
    held_by_person = models.BooleanField(default=False)
    support_count = models.PositiveIntegerField()
    source_group_count = models.PositiveIntegerField()
    reason = models.CharField(max_length=64)
    verification = TeamKey("relationships.VerificationEvent", null=True)
    actor = TeamKey("densemem.Profile", null=True)

    class Meta(Ledger.Meta):
        triggers: ClassVar = [*append_only(), *owned("record.owner_id", joined=OF_RECORD, by_the_server=True)]
        constraints: ClassVar = [
            one_per_team("transition"),
            word_check("transition", "tier", Tier),
            word_check("transition", "status", Status),
            models.UniqueConstraint(name="transition_of_version", fields=["team", "relationship", "version"]),
        ]
