"""Reads of persistent identifiers: who bears one, and whom it denies.

What stands in held, withdrawn, outdated or redacted text alone identifies nobody. Nor does what too many bear.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from densemem.core import limits
from densemem.db.read import fetch
from entities.policy import CanonicalIdentifier, differing_schemes, is_exclusive
from entities.policy.identity import SharedIdentifier
from entities.queries import CandidateView, entity_views
from entities.vocabulary import CandidateReason
from evidence.queries import usable_among

# By identifier at most one more than makes it a hub.
BEARERS: Final = """
    SELECT wanted.scheme, wanted.value, borne.entity_id, borne.fragments
    FROM unnest(%(schemes)s::text[], %(values)s::text[]) AS wanted (scheme, value)
    CROSS JOIN LATERAL (
      SELECT given.entity_id, (array_agg(given.fragment_id ORDER BY given.seq DESC))[:%(newest)s] AS fragments
      FROM entities_identifier AS given JOIN entities_entity AS entity ON entity.id = given.entity_id
      WHERE given.team_id = %(team)s AND given.scheme = wanted.scheme AND given.value = wanted.value
        AND entity.status = 'active'
      GROUP BY given.entity_id ORDER BY given.entity_id LIMIT %(most)s
    ) AS borne"""
BORNE: Final = """
    SELECT scheme, value, id, entity_id, owner_id, fragment_id, start, "end", display FROM (
      SELECT *, row_number() OVER (PARTITION BY entity_id, scheme, value ORDER BY seq DESC) AS place
      FROM entities_identifier
      WHERE team_id = %(team)s AND entity_id = ANY(%(entities)s) AND NOT starts_with(value, 'REDACTED:')
    ) AS given
    WHERE place <= %(newest)s ORDER BY scheme, value, seq"""

Identifiers = Mapping[str, Collection[CanonicalIdentifier]]  # by mention


@dataclass(frozen=True, slots=True)
class BorneIdentifier:
    """A text that gives an identifier to an Entity: whose text, and where it stands."""

    identifier: CanonicalIdentifier
    id: UUID
    entity_id: UUID
    owner_id: UUID
    fragment_id: UUID
    start: int
    end: int
    display: str


def bearers_of_identifiers(
    *, team_id: UUID, identifiers: Collection[CanonicalIdentifier]
) -> dict[CanonicalIdentifier, tuple[UUID, ...]]:
    """Return, for each identifier, the active entities that bear it, oldest first; of a hub, none."""
    found = _bearers(team_id, identifiers)
    few = {one: bearers for one, bearers in found.items() if len(bearers) <= limits.IDENTIFIER_HUB}
    usable = _usable(team_id, {f for bearers in few.values() for _, fragments in bearers for f in fragments})
    return {one: tuple(e for e, fragments in bearers if usable & set(fragments)) for one, bearers in few.items()}


def identifiers_of(*, team_id: UUID, entity_ids: Collection[UUID]) -> dict[UUID, frozenset[CanonicalIdentifier]]:
    """Return what identifies each of these entities, whoever said so."""
    found: dict[UUID, set[CanonicalIdentifier]] = {entity: set() for entity in entity_ids}
    for borne in borne_by(team_id=team_id, entity_ids=entity_ids):
        found[borne.entity_id].add(borne.identifier)
    return {entity: frozenset(identifiers) for entity, identifiers in found.items()}


def borne_by(*, team_id: UUID, entity_ids: Collection[UUID]) -> list[BorneIdentifier]:
    """Return the newest texts that give each of these entities each of its identifiers."""
    rows = fetch(BORNE, team=team_id, entities=list(entity_ids), newest=limits.IDENTIFIER_SPANS) if entity_ids else []
    given = [BorneIdentifier(CanonicalIdentifier(scheme, value), *rest) for scheme, value, *rest in rows]
    usable = _usable(team_id, {borne.fragment_id for borne in given})
    return [borne for borne in given if borne.fragment_id in usable]


def shared_identifiers(*, team_id: UUID, entity_ids: Collection[UUID]) -> tuple[SharedIdentifier, ...]:
    """Return each identifier that at least two of these entities bear, hubs too, with the newest row of each."""
    rows: dict[CanonicalIdentifier, dict[UUID, UUID]] = defaultdict(dict)
    for borne in borne_by(team_id=team_id, entity_ids=entity_ids):
        rows[borne.identifier][borne.entity_id] = borne.id
    shared = {one: by_entity for one, by_entity in rows.items() if len(by_entity) > 1}
    bearers = _bearers(team_id, shared)
    return tuple(SharedIdentifier(one, rows, len(bearers.get(one, ()))) for one, rows in sorted(shared.items()))


def by_identifier(*, team_id: UUID, stated: Identifiers) -> dict[str, tuple[CandidateView, ...]]:
    """Return, by mention, the entities that bear one of the identifiers that its text gives to it."""
    bearers = bearers_of_identifiers(team_id=team_id, identifiers={one for given in stated.values() for one in given})
    views = entity_views(team_id=team_id, entity_ids={entity for ids in bearers.values() for entity in ids})
    named = {e: replace(view, reason=CandidateReason.IDENTIFIER.value) for e, view in views.items()}
    return {
        ref: tuple({e: named[e] for one in sorted(given) for e in bearers.get(one, ())}.values())
        for ref, given in stated.items()
    }


def denied_by_identifier(
    *, team_id: UUID, stated: Identifiers, offered: Mapping[str, Collection[UUID]]
) -> dict[str, frozenset[UUID]]:
    """Return, by mention, the offered entities of which an identifier that each thing has only once differs."""
    telling = {ref: given for ref, given in stated.items() if any(is_exclusive(one.scheme) for one in given)}
    known = identifiers_of(team_id=team_id, entity_ids={entity for ref in telling for entity in offered[ref]})
    return {
        ref: frozenset(entity for entity in offered[ref] if differing_schemes(given, known[entity]))
        for ref, given in telling.items()
    }


def _bearers(
    team_id: UUID, identifiers: Collection[CanonicalIdentifier]
) -> dict[CanonicalIdentifier, list[tuple[UUID, list[UUID]]]]:
    """Return (entity, newest texts) of those who bear each identifier: one more than may be, of a hub."""
    asked = sorted(identifiers)
    if not asked:
        return {}
    found = defaultdict(list)
    rows = fetch(
        BEARERS,
        team=team_id,
        schemes=[one.scheme for one in asked],
        values=[one.value for one in asked],
        newest=limits.IDENTIFIER_SPANS,
        most=limits.IDENTIFIER_HUB + 1,
    )
    for scheme, value, entity, fragments in rows:
        found[CanonicalIdentifier(scheme, value)].append((entity, fragments))
    return dict(found)


def _usable(team_id: UUID, fragments: Collection[UUID]) -> set[UUID]:
    return usable_among(team_id=team_id, fragment_ids=fragments) if fragments else set()
