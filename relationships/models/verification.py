"""The verifier's judgments."""

from typing import ClassVar

from django.db import models

from densemem.db.fields import TeamKey, word, word_check
from densemem.db.guard import owned
from densemem.db.ledger import Ledger, redactable, words_gone
from densemem.db.rows import TeamRow, one_per_team
from relationships.vocabulary import Verdict

OF_OBSERVATION = "JOIN relationships_observation AS seen ON seen.id = written.observation_id"


class VerificationEvent(Ledger, TeamRow):
    """One schema-valid judgment of one observation; its rationale lies in `evidence.Wording`.

    `reason` is given where somebody asked for it explicitly.
    """

    observation = TeamKey("relationships.Observation", related_name="verifications")
    cycle = models.PositiveIntegerField(default=1)
    verdict = word(Verdict)
    confidence = models.DecimalField(max_digits=5, decimal_places=4)
    model = models.CharField(max_length=128)
    response_hash = models.CharField(max_length=64)
    reason = models.CharField(max_length=1000, blank=True)

    class Meta(Ledger.Meta):
        triggers: ClassVar = [*redactable(reason=words_gone("reason")), *owned("seen.owner_id", joined=OF_OBSERVATION)]
        constraints: ClassVar = [
            one_per_team("verification"),
            word_check("verification", "verdict", Verdict),
            models.CheckConstraint(
                name="verification_confidence", condition=models.Q(confidence__gte=0, confidence__lte=1)
            ),
            models.UniqueConstraint(name="verification_one_a_cycle", fields=["team", "observation", "cycle"]),
        ]
