"""Which exact spans hold a Relationship up."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from densemem.db.fields import TeamKey, word, word_check
from densemem.db.guard import owned
from densemem.db.ledger import Ledger, append_only
from densemem.db.rows import TeamRow, one_per_team
from densemem.db.writer import Writer
from relationships.vocabulary import SupportAction

OF_RECORD = "JOIN relationships_relationshiprecord AS record ON record.id = written.relationship_id"
OF_SUPPORT = "JOIN relationships_evidencesupport AS support ON support.id = written.support_id"

# What stops counting is revoked, whoever owns it; a manager's reinstatement alone lets something count again.
DECIDED = {
    **dict.fromkeys((Writer.SOURCE, Writer.HOLD, Writer.REDACTION), "written.action = 'revoke'"),
    Writer.REINSTATE: "written.action = 'reinstate'",
}


class EvidenceSupport(Ledger, TeamRow):
    """An exact span that supports a record. The link stays for ever; decisions say whether it counts."""

    owner = TeamKey("densemem.Profile")
    relationship = TeamKey("relationships.RelationshipRecord", related_name="supports")
    observation = TeamKey("relationships.Observation")
    verification = TeamKey("relationships.VerificationEvent")
    fragment = TeamKey("evidence.Fragment", related_name="supports")
    group = TeamKey("evidence.SourceGroup")
    authoritative = models.BooleanField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()

    class Meta(Ledger.Meta):
        triggers: ClassVar = [*append_only(), *owned("written.owner_id", "record.owner_id", joined=OF_RECORD)]
        constraints: ClassVar = [
            one_per_team("support"),
            models.UniqueConstraint(
                name="support_of_span", fields=["team", "relationship", "fragment", "start", "end"]
            ),
            models.CheckConstraint(name="support_span", condition=Q(end__gt=F("start"))),
        ]
        indexes: ClassVar = [models.Index(name="support_fragment", fields=["team", "fragment"])]


class SupportDecision(Ledger, TeamRow):
    """Grant, revoke or reinstate; the newest one holds. No actor means that the server's policy decided."""

    support = TeamKey("relationships.EvidenceSupport", related_name="decisions")
    action = word(SupportAction)
    actor = TeamKey("densemem.Profile", null=True)
    reason = models.CharField(max_length=64)

    class Meta(Ledger.Meta):
        triggers: ClassVar = [*append_only(), *owned("support.owner_id", joined=OF_SUPPORT, by_the_server=DECIDED)]
        constraints: ClassVar = [
            one_per_team("supportdecision"),
            word_check("supportdecision", "action", SupportAction),
        ]
        indexes: ClassVar = [models.Index(name="supportdecision_support", fields=["team", "support", "-seq"])]
