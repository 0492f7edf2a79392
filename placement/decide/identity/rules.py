"""What stands in the way of a decision about who is who, and what it rests on: read, and judged by the pure rules."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from uuid import UUID

from densemem.core.denial import sentences_around
from densemem.core.faults import Because, Fault, Refused
from entities.plan import NewBasis
from entities.policy import CanonicalIdentifier, IdentifierRefused, canonical_identifier
from entities.policy.identity import (
    Basis,
    ExplicitReport,
    HumanReview,
    Made,
    SharedIdentifier,
    Standing,
    check_basis,
    check_distinct,
    check_members,
    check_split,
    check_withdrawal,
)
from entities.queries import names_of
from entities.queries.identifiers import shared_identifiers
from entities.stored import IdentityFacts, decisions_by, seen_by
from entities.vocabulary import BasisKind, IdentityKind, MemberRole
from evidence.queries import texts_of, usable_among
from placement.decide.desk import EvidenceUnusable
from placement.decide.identity.work import Work
from placement.decision import GivenBasis
from placement.request import RequestInvalid
from relationships.reattribute import changed_by


class TakenForAnother(Refused):
    """An Entity that stands for nothing of its own here: its author told another apart."""

    because = Because.CONFLICT
    code = "taken_for_another"


class AlreadyWithdrawn(Refused):
    """The decision was taken back before."""

    because = Because.CONFLICT
    code = "already_withdrawn"


def check_merge(work: Work) -> None:
    """Refuse a merge that the author may not make, or for which there is too little; note what it rests on.

    :raises Refused: the code names the rule
    """
    survivor, *absorbed = work.asked.entities
    check_members(survivor=survivor, absorbed=absorbed, kinds=work.kinds(), standing=_standing(work))
    _check_seen(work)
    tying = check_basis(survivor=survivor, absorbed=absorbed, basis=list(_basis(work)))
    rows = dict.fromkeys(row for e, items in tying.items() for item in items for row in _rows(item, e, survivor))
    work.basis = tuple(rows)


def check_apart(work: Work) -> None:
    """Refuse to keep apart what is one, or is kept apart.

    :raises Refused: the code names the rule
    """
    one, other = work.asked.entities
    work.kinds()
    check_distinct(one=one, other=other, standing=_standing(work))
    _check_seen(work)


def check_parent(work: Work) -> None:
    """Refuse to tell apart what stands for another already.

    :raises Refused: the code names the rule
    """
    work.kinds()
    _check_seen(work)


def check_parts(work: Work, *, owned: Sequence[UUID]) -> None:
    """Refuse a split that parts nothing, or what the author does not own.

    :param owned: the author's observations that are about the parent
    :raises Refused: the code names the rule
    """
    check_split(children=work.asked.children, owned=owned)


def check_last(work: Work, facts: IdentityFacts, *, changed: Collection[UUID]) -> None:
    """Refuse to withdraw what later decisions rest on.

    :param changed: the records that the decision changed
    :raises Refused: naming each of them
    """
    others = decisions_by(team_id=work.team, author_id=work.me)
    by = changed_by(team_id=work.team, record_ids=changed)
    made = [_made(other, by.get(other.id, frozenset())) for other in others if other.id != facts.id]
    if not check_withdrawal(_made(facts, frozenset(changed)), others=made):
        raise AlreadyWithdrawn(f"It was withdrawn already, by {facts.withdrawn_by}.")


def _made(facts: IdentityFacts, records: frozenset[UUID]) -> Made:
    return Made(facts.id, facts.kind, facts.seq, facts.entities, facts.withdrawn_by is not None, records)


def _standing(work: Work) -> Standing:
    """Return what the author's decisions say that were not withdrawn."""
    redirects: dict[UUID, UUID] = {}
    split: set[UUID] = set()
    distinct: dict[frozenset[UUID], UUID] = {}
    for facts in decisions_by(team_id=work.team, author_id=work.me):
        if facts.withdrawn_by is not None:
            continue
        role_of = dict(facts.members)
        if facts.kind is IdentityKind.MERGE:
            survivor = next(e for e, role in role_of.items() if role is MemberRole.SURVIVOR)
            redirects |= {e: survivor for e, role in role_of.items() if role is MemberRole.ABSORBED}
        elif facts.kind is IdentityKind.SPLIT:
            split |= {e for e, role in role_of.items() if role is MemberRole.PARENT}
        else:
            distinct[facts.entities] = facts.id
    return Standing(redirects, frozenset(split), distinct)


def _check_seen(work: Work) -> None:
    """Refuse what another profile told apart: here it is still the one that it was told apart from."""
    named = work.asked.entities
    seen = seen_by(team_id=work.team, profile_id=work.me, entity_ids=named)
    for entity in named:
        if seen.get(entity, entity) != entity:
            stands = seen[entity] or "nothing any more"
            raise TakenForAnother(
                f"{entity} stands for {stands} with you. Name that one, or withdraw what you decided."
            )


def _basis(work: Work) -> Iterator[Basis]:
    """Yield what is cited, as the rules look at it.

    :raises RequestInvalid: an identifier without a form, or a span outside its text
    :raises EvidenceUnusable: a text that is not there, outdated or held
    """
    given = work.asked.basis
    texts = _texts(work, given)
    shared = {
        found.identifier: found for found in shared_identifiers(team_id=work.team, entity_ids=work.asked.entities)
    }
    names = names_of(team_id=work.team, entity_ids=work.asked.entities)
    for number, row in enumerate(given):
        if row.kind is BasisKind.IDENTIFIER:
            found = shared.get(_identifier(number, row))
            if found is not None:
                yield found
            continue
        assert row.fragment_id is not None and row.start is not None and row.end is not None
        if row.kind is BasisKind.REPORT:
            text = texts[row.fragment_id]
            around = sentences_around(text, row.start, row.end)
            yield ExplicitReport(row.fragment_id, row.start, row.end, text[row.start : row.end], around, names)
        else:
            yield HumanReview(
                named=frozenset(
                    work.asked.entities if row.entity_id is None else (work.asked.entities[0], row.entity_id)
                ),
                reason=work.desk.asked.message,
                spans=((row.fragment_id, row.start, row.end),),
                by_token=not work.desk.principal.in_person,
            )


def _identifier(number: int, row: GivenBasis) -> CanonicalIdentifier:
    try:
        return canonical_identifier(row.scheme, row.value)
    except IdentifierRefused as refused:
        faults = [Fault(f"/basis/{number}", refused.code, refused.detail)]
        raise RequestInvalid("Nothing was decided. Mend each place and send it again.", faults=faults) from None


def _texts(work: Work, given: Sequence[GivenBasis]) -> Mapping[UUID, str]:
    cited = {row.fragment_id for row in given if row.fragment_id is not None}
    usable = usable_among(team_id=work.team, fragment_ids=cited)
    if missing := cited - usable:
        faults = [
            Fault(f"/basis/{number}/fragment_id", "not_usable", f"{row.fragment_id} cannot be cited.")
            for number, row in enumerate(given)
            if row.fragment_id in missing
        ]
        raise EvidenceUnusable("The decision cites evidence that is not there, outdated or held.", faults=faults)
    texts = texts_of(team_id=work.team, fragment_ids=cited)
    faults = [
        Fault(f"/basis/{number}/end", "span_outside_text", f"The text ends at {len(texts[row.fragment_id])}.")
        for number, row in enumerate(given)
        if row.fragment_id is not None and (row.end or 0) > len(texts[row.fragment_id])
    ]
    if faults:
        raise RequestInvalid("Nothing was decided. Mend each place and send it again.", faults=faults)
    return texts


def _rows(item: Basis, entity: UUID, survivor: UUID) -> Iterator[NewBasis]:
    if isinstance(item, SharedIdentifier):
        yield NewBasis(entity, item.kind, identifier_id=item.rows[entity])
        yield NewBasis(survivor, item.kind, identifier_id=item.rows[survivor])
    elif isinstance(item, ExplicitReport):
        yield NewBasis(entity, item.kind, fragment_id=item.fragment_id, start=item.start, end=item.end)
    else:
        for fragment, start, end in item.spans:
            yield NewBasis(entity, item.kind, fragment_id=fragment, start=start, end=end)
