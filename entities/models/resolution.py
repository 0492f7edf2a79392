"""How each mention was resolved, and what was offered for it."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from densemem.db.fields import TeamKey, word, word_check
from densemem.db.guard import owned
from densemem.db.ledger import Ledger, redactable
from densemem.db.rows import TeamRow, one_per_team
from entities.vocabulary import EntityKind, ResolutionAction


class ResolutionEvent(Ledger, TeamRow):
    """What was decided about one mention of one item: reuse, create, or ambiguous.

    :param identity: the owner's decision that attributed the mention anew; None where the item was placed
    """

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
    identity = TeamKey("entities.IdentityDecision", null=True, related_name="resolutions")

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
            models.UniqueConstraint(
                name="resolutionevent_once",
                fields=["team", "item", "cycle", "mention_ref", "identity"],
                nulls_distinct=False,
            ),
        ]
        triggers: ClassVar = [
            *redactable(mention_ref="'REDACTED:' || OLD.id"),
            *owned("item.owner_id", joined="JOIN placement_item AS item ON item.id = written.item_id"),
        ]
        indexes: ClassVar = [
            models.Index(name="resolutionevent_entity", fields=["team", "entity"]),
            models.Index(name="resolutionevent_place", fields=["team", "fragment", "start"]),
        ]


class ResolutionCandidate(Ledger, TeamRow):
    """An Entity that was offered for a mention, and why: what a person sees when the choice is open."""

    event = TeamKey("entities.ResolutionEvent", related_name="candidates")
    entity = TeamKey("entities.Entity")
    reason = models.CharField(max_length=64)

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("resolutioncandidate"),
            models.UniqueConstraint(name="resolutioncandidate_once", fields=["team", "event", "entity"]),
        ]
