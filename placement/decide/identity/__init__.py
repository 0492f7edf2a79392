"""Who is who, as one profile decides it: previewed, then done as it was previewed, and taken back as a whole.

The decision binds what its author owns. Nobody else's row changes; others see that somebody holds this.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from densemem.auth import Principal
from densemem.core.faults import Fault, NotThere, Refused
from densemem.core.ids import uuid7
from entities.stored import decided_by, identity_facts
from entities.vocabulary import IdentityKind
from placement.decide.desk import Decided, decided, open_desk
from placement.decide.identity.moves import distinct, merge, split
from placement.decide.identity.withdrawal import withdraw
from placement.decide.identity.work import HOLDS_FOR, ImpactStale, Work
from placement.decision import read_identity
from placement.request import RequestInvalid
from relationships.queries import RecordChange
from review.queries import DecisionFacts, decision_facts

PERFORM: Final[Mapping[IdentityKind, Callable[[Work], DecisionFacts]]] = {
    IdentityKind.MERGE: merge,
    IdentityKind.SPLIT: split,
    IdentityKind.DISTINCT: distinct,
    IdentityKind.WITHDRAW: withdraw,
}

__all__ = ["IdentityImpact", "ImpactStale", "decide_identity", "preview_identity"]


@dataclass(frozen=True, slots=True)
class IdentityImpact:
    """
    What a decision about who is who would change, rehearsed whole.

    :param token: applies exactly this for 15 minutes; empty where it would be refused
    :param refusal: the rule that forbids it, in a word; empty where none does
    :param unchanged_of_others: Relationships of other profiles about these entities; none of them changes
    """

    kind: IdentityKind
    token: str = ""
    expires_at: datetime | None = None
    refusal: str = ""
    would_refuse: tuple[Fault, ...] = ()
    mentions_attributed: int = 0
    mentions_left_open: int = 0
    supports_moved: int = 0
    questions_opened: int = 0
    changes: tuple[RecordChange, ...] = ()
    unchanged_of_others: int = 0


def preview_identity(*, principal: Principal, body: object, now: datetime) -> IdentityImpact:
    """Rehearse a decision about who is who, and return what it would change, with the token that applies it.

    :raises ScopeMissing: no write scope
    :raises NotThere: an Entity, a decision or a text that is not in the team
    :raises RequestInvalid: the contract is broken
    """
    asked = read_identity(body)
    assert asked.identity is not None  # read_identity gives one
    desk = open_desk(
        principal=principal, asked=asked, about="identity", body=body, key=f"preview:{uuid7()}", now=now, dry_run=True
    )
    work = Work(desk, asked.identity, applied=False)
    try:
        with desk.sitting():
            made = desk.answer(PERFORM[asked.identity.kind](work))
    except (NotThere, RequestInvalid):
        raise
    except Refused as refused:
        faults = refused.faults or (Fault("", refused.code, refused.detail),)
        return IdentityImpact(asked.identity.kind, refusal=refused.code, would_refuse=tuple(faults))
    expires = desk.now + HOLDS_FOR
    return IdentityImpact(
        kind=asked.identity.kind,
        token=work.token(expires),
        expires_at=expires,
        mentions_attributed=work.mentions,
        mentions_left_open=work.left_open,
        supports_moved=work.supports,
        questions_opened=work.questions,
        changes=made.changes,
        unchanged_of_others=work.others,
    )


def decide_identity(*, principal: Principal, body: object, idempotency_key: str, now: datetime) -> Decided:
    """Decide who is who as it was previewed; a withdrawal that was made already answers as it did then.

    :raises ScopeMissing: no write scope
    :raises NotThere: an Entity, a decision or a text that is not in the team
    :raises ImpactStale: something else would change than was previewed, or the preview is too old
    :raises Refused: the contract is broken, or a rule of identity forbids it; nothing was stored
    """
    asked = read_identity(body)
    assert asked.identity is not None  # read_identity gives one
    desk = open_desk(principal=principal, asked=asked, about="identity", body=body, key=idempotency_key, now=now)
    work = Work(desk, asked.identity, applied=True)
    with desk.sitting():
        if earlier := desk.earlier():
            return replace(earlier, identity_id=decided_by(team_id=work.team, decision_id=earlier.decision_id))
        if again := _withdrawn_already(work):
            return again
        made = PERFORM[asked.identity.kind](work)
        return replace(desk.answer(made), identity_id=work.number)


def _withdrawn_already(work: Work) -> Decided | None:
    """Return the withdrawal of a decision that was withdrawn, for its author."""
    if work.asked.identity_id is None:
        return None
    facts = identity_facts(team_id=work.team, identity_id=work.asked.identity_id)
    if facts.withdrawn_by is None or facts.withdrawal_decision is None or facts.author_id != work.me:
        return None
    made = decision_facts(team_id=work.team, decision_id=facts.withdrawal_decision)
    return replace(decided(made, replayed=True), identity_id=facts.withdrawn_by)
