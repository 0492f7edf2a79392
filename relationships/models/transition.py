"""Every change of a record."""

from typing import ClassVar

from django.db import models

from densemem.db.fields import TeamKey, word, word_check
from densemem.db.guard import owned
from densemem.db.ledger import Ledger, append_only
from densemem.db.rows import TeamRow, one_per_team
from densemem.db.writer import Writer
from relationships.vocabulary import Status, Tier

OF_RECORD = "JOIN relationships_relationshiprecord AS record ON record.id = written.relationship_id"


def moved(before: str) -> dict[Writer, str]:
    """Return, by part of the server, which changes of a status it makes; counts and tiers follow the support.

    A recount may find that what waits for evidence has it. Else nothing becomes active but by a reinstatement, and
    nothing is held but by a hold.

    :param before: SQL for the status that a row of `written` had
    """
    kept = f"written.status = {before}"
    counted = f"{kept} OR ({before} = 'pending_evidence' AND written.status = 'active')"
    return {
        Writer.SOURCE: f"({counted} OR written.status = 'pending_evidence')",
        Writer.JOIN: f"({counted})",
        Writer.REDACTION: f"({counted} OR written.status = 'pending_evidence')",
        Writer.HOLD: f"({counted} OR written.status IN ('pending_evidence', 'quarantined'))",
        Writer.REINSTATE: f"({kept} OR written.status = 'active')",
    }


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
        triggers: ClassVar = [
            *append_only(),
            *owned("record.owner_id", joined=OF_RECORD, by_the_server=moved("written.status_before")),
        ]
        constraints: ClassVar = [
            one_per_team("transition"),
            word_check("transition", "tier", Tier),
            word_check("transition", "status", Status),
            models.UniqueConstraint(name="transition_of_version", fields=["team", "relationship", "version"]),
        ]
