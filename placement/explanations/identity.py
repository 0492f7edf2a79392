"""Why two entities are taken for one, why not, and how it came about."""

from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from densemem.auth import Principal
from densemem.core.words import Scope
from entities.policy import CanonicalIdentifier, differing_schemes
from entities.policy.identity import survivor_of
from entities.queries.explained import Hop, hops_from, identity_steps, identity_steps_by_id, profiles_with_mentions
from entities.queries.identifiers import BorneIdentifier, borne_by, shared_identifiers
from entities.vocabulary import BasisKind, EntityKind, IdentityKind
from placement.explanations.shapes import (
    AgainstIdentity,
    DecidedIdentity,
    ForIdentity,
    IdentifierInCommon,
    IdentifierSpan,
    IdentityExplained,
    IdentityOpinions,
    NamedEntity,
    TakenFor,
)
from placement.explanations.steps import things, told

Hops = Mapping[UUID, Mapping[UUID, Hop]]  # by author, what each Entity is taken for

NOTHING_TIES = "No identifier is borne by both, and nobody has cited what ties them."


def explain_identity(*, principal: Principal, entity_id: UUID, other_id: UUID) -> IdentityExplained:
    """
    Return everything that is known about two entities being one.

    :raises ScopeMissing: without `read`
    :raises NotThere: the team does not have one of them
    """
    principal.require(Scope.READ)
    team_id, pair = principal.team_id, (entity_id, other_id)
    named = things(team_id=team_id, entity_ids=pair)
    hops = hops_from(team_id=team_id, entity_ids=pair)
    met = {*pair, *(hop.survivor for taken in hops.values() for hop in taken.values())}
    how = told(team_id=team_id, steps=identity_steps(team_id=team_id, entity_ids=met))
    borne = borne_by(team_id=team_id, entity_ids=set(pair))
    shared = _shared(team_id, pair, borne)
    one = told(team_id=team_id, steps=identity_steps_by_id(team_id=team_id, decision_ids=_joining(pair, hops)))
    reports = tuple(g for step in one for g in step.basis if g.kind == BasisKind.REPORT.value)
    return IdentityExplained(
        entities=(named[entity_id], named[other_id]),
        why=ForIdentity(shared, reports, tuple(one)),
        why_not=tuple(_against((named[entity_id], named[other_id]), shared, borne, how)),
        how=tuple(how),
        for_you=(_taken_for(entity_id, principal, hops), _taken_for(other_id, principal, hops)),
        opinions=_opinions(team_id, pair, hops, how),
    )


def _shared(team_id: UUID, pair: tuple[UUID, UUID], borne: Sequence[BorneIdentifier]) -> tuple[IdentifierInCommon, ...]:
    found = shared_identifiers(team_id=team_id, entity_ids=set(pair))
    return tuple(
        IdentifierInCommon(
            scheme=one.identifier.scheme,
            value=one.identifier.value,
            counts=not one.is_hub,
            said=tuple(
                IdentifierSpan(b.entity_id, b.owner_id, b.fragment_id, b.start, b.end)
                for b in borne
                if b.identifier == one.identifier
            ),
        )
        for one in found
    )


def _against(
    pair: tuple[NamedEntity, NamedEntity],
    shared: Sequence[IdentifierInCommon],
    borne: Sequence[BorneIdentifier],
    how: Sequence[DecidedIdentity],
) -> Iterator[AgainstIdentity]:
    one, other = pair
    if one.entity_id == other.entity_id:
        return
    for step in how:
        if step.stands and step.kind == IdentityKind.DISTINCT and _is_about(step, pair):
            yield AgainstIdentity("kept_distinct", f"{step.author.name} keeps them apart.", step.identity_decision_id)
    for scheme in sorted(differing_schemes(_identifiers(one, borne), _identifiers(other, borne))):
        yield AgainstIdentity("identifiers_differ", f"Each has another {scheme}, of which one thing has only one.")
    if EntityKind.OTHER.value not in (one.kind, other.kind) and one.kind != other.kind:
        yield AgainstIdentity("kinds_differ", f"One is of the kind {one.kind}, the other of the kind {other.kind}.")
    for identifier in shared:
        if not identifier.counts:
            detail = f"So many bear this {identifier.scheme} that it says nothing of two of them: {identifier.value}."
            yield AgainstIdentity("identifier_of_many", detail)
    if not any(i.counts for i in shared) and not any(s.stands and s.basis and _is_about(s, pair) for s in how):
        yield AgainstIdentity("no_evidence_in_common", NOTHING_TIES)


def _identifiers(thing: NamedEntity, borne: Sequence[BorneIdentifier]) -> set[CanonicalIdentifier]:
    return {b.identifier for b in borne if b.entity_id == thing.entity_id}


def _is_about(step: DecidedIdentity, pair: tuple[NamedEntity, NamedEntity]) -> bool:
    return {thing.entity_id for thing in pair} <= {member.entity_id for member in step.members}


def _taken_for(entity: UUID, principal: Principal, hops: Hops) -> TakenFor:
    return TakenFor(entity, survivor_of(entity, _redirects(hops.get(principal.profile_id, {}))))


def _redirects(hops: Mapping[UUID, Hop]) -> dict[UUID, UUID]:
    return {entity: hop.survivor for entity, hop in hops.items()}


def _joining(pair: tuple[UUID, UUID], hops: Hops) -> set[UUID]:
    """Return the merges by which somebody treats the two as one."""
    return {hop.decision_id for taken in hops.values() if _as_one(pair, taken) for hop in taken.values()}


def _as_one(pair: tuple[UUID, UUID], taken: Mapping[UUID, Hop]) -> bool:
    redirects = _redirects(taken)
    return survivor_of(pair[0], redirects) == survivor_of(pair[1], redirects)


def _opinions(team_id: UUID, pair: tuple[UUID, UUID], hops: Hops, how: Sequence[DecidedIdentity]) -> IdentityOpinions:
    """Count the profiles that mention either, or have decided about it."""
    knowing = profiles_with_mentions(team_id=team_id, entity_ids=pair)
    knowing |= {step.author.profile_id for step in how if step.stands} | hops.keys()
    as_one = sum(_as_one(pair, hops.get(profile, {})) for profile in knowing)
    return IdentityOpinions(as_one, len(knowing), f"{as_one} of {len(knowing)} profiles treat them as one.")
