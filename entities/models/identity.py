"""Who is who, as one profile has decided it: versioned, with its evidence, and never by likeness alone."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from densemem.db.fields import TeamKey, TeamOneKey, word, word_check
from densemem.db.guard import owned
from densemem.db.ledger import Ledger, append_only, redactable
from densemem.db.rows import TeamRow, one_per_team
from entities.vocabulary import BasisKind, IdentityKind, MemberRole

OF_DECISION = "JOIN entities_identitydecision AS decided ON decided.id = written.decision_id"


class Identifier(Ledger, TeamRow):
    """A persistent identifier that a text gives to an Entity, at an exact span; `value` is its one normal form."""

    entity = TeamKey("entities.Entity", related_name="identifiers")
    owner = TeamKey("densemem.Profile")
    scheme = models.CharField(max_length=64)
    value = models.CharField(max_length=512)
    display = models.CharField(max_length=512)
    fragment = TeamKey("evidence.Fragment")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("identifier"),
            models.CheckConstraint(name="identifier_span", condition=Q(end__gt=F("start"))),
            models.UniqueConstraint(
                name="identifier_once", fields=["team", "entity", "owner", "scheme", "value", "fragment"]
            ),
        ]
        triggers: ClassVar = redactable(display="'[redacted]'", value="'REDACTED:' || OLD.id")
        indexes: ClassVar = [models.Index(name="identifier_lookup", fields=["team", "scheme", "value"])]


class IdentityDecision(Ledger, TeamRow):
    """A profile's own answer to who is who. It binds what that profile owns; others see it as an opinion.

    It stands until a decision of the kind `withdraw` names it.
    """

    author = TeamKey("densemem.Profile")
    kind = word(IdentityKind)
    of_decision = TeamOneKey("entities.IdentityDecision", null=True, related_name="withdrawal")
    decision = TeamOneKey("review.Decision")  # who decided, when asked how, and why
    impact_hash = models.CharField(max_length=64)  # of what was previewed

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("identitydecision"),
            word_check("identitydecision", "kind", IdentityKind),
            models.CheckConstraint(
                name="identitydecision_withdraws_another",
                condition=Q(kind=IdentityKind.WITHDRAW, of_decision__isnull=False)
                | (~Q(kind=IdentityKind.WITHDRAW) & Q(of_decision__isnull=True)),
            ),
        ]
        triggers: ClassVar = [*append_only(), *owned("written.author_id")]
        indexes: ClassVar = [models.Index(name="identitydecision_author", fields=["team", "author", "-seq"])]


class IdentityMember(Ledger, TeamRow):
    """An Entity that a decision is about, and what it is to it. Every hop is kept; none is ever collapsed."""

    decision = TeamKey("entities.IdentityDecision", related_name="members")
    entity = TeamKey("entities.Entity", related_name="memberships")
    role = word(MemberRole)

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("identitymember"),
            word_check("identitymember", "role", MemberRole),
            models.UniqueConstraint(name="identitymember_once", fields=["team", "decision", "entity"]),
        ]
        triggers: ClassVar = [*append_only(), *owned("decided.author_id", joined=OF_DECISION)]
        indexes: ClassVar = [models.Index(name="identitymember_entity", fields=["team", "entity"])]


class IdentityBasis(Ledger, TeamRow):
    """What a decision rests on for one of its entities: a shared identifier, or a cited span."""

    decision = TeamKey("entities.IdentityDecision", related_name="basis")
    entity = TeamKey("entities.Entity")
    kind = word(BasisKind)
    identifier = TeamKey("entities.Identifier", null=True)
    fragment = TeamKey("evidence.Fragment", null=True)
    start = models.PositiveIntegerField(null=True)
    end = models.PositiveIntegerField(null=True)

    class Meta(Ledger.Meta):
        constraints: ClassVar = [
            one_per_team("identitybasis"),
            word_check("identitybasis", "kind", BasisKind),
            models.CheckConstraint(
                name="identitybasis_is_cited",
                condition=Q(
                    kind=BasisKind.IDENTIFIER, identifier__isnull=False, fragment__isnull=True, start__isnull=True
                )
                | (
                    ~Q(kind=BasisKind.IDENTIFIER)
                    & Q(identifier__isnull=True, fragment__isnull=False, start__isnull=False, end__gt=F("start"))
                ),
            ),
        ]
        triggers: ClassVar = [*append_only(), *owned("decided.author_id", joined=OF_DECISION)]
