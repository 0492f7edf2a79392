"""Reads of persistent identifiers: who bears one, and whom it denies.

What stands in held, withdrawn, outdated or redacted text alone identifies nobody. Nor does what too many bear.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from densemem.core import limits
from densemem.db.read import fetch
from entities.policy import CanonicalIdentifier, differing_schemes, is_exclusive
from entities.queries import CandidateView, entity_views
from entities.vocabulary import CandidateReason
from evidence.queries import usable_among

NEWEST: Final = 20  # texts that are looked at for one entity and identifier

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
    SELECT scheme, value, entity_id, (array_agg(fragment_id ORDER BY seq DESC))[:%(newest)s]
    FROM entities_identifier
    WHERE team_id = %(team)s AND entity_id = ANY(%(entities)s) AND NOT starts_with(value, 'REDACTED:')
    GROUP BY scheme, value, entity_id"""

Identifiers = Mapping[str, Collection[CanonicalIdentifier]]  # by mention


def bearers_of_identifiers(
    *, team_id: UUID, identifiers: Collection[CanonicalIdentifier]
) -> dict[CanonicalIdentifier, tuple[UUID, ...]]:
    """Return, for each identifier, the active entities that bear it, oldest first; of a hub, none."""
    asked = sorted(identifiers)
    if not asked:
        return {}
    rows = fetch(
        BEARERS,
        team=team_id,
        schemes=[one.scheme for one in asked],
        values=[one.value for one in asked],
        newest=NEWEST,
        most=limits.IDENTIFIER_HUB + 1,
    )
    found = defaultdict(list)
    for scheme, value, entity, fragments in rows:
        found[CanonicalIdentifier(scheme, value)].append((entity, fragments))
    few = {one: bearers for one, bearers in found.items() if len(bearers) <= limits.IDENTIFIER_HUB}
    usable = _usable(team_id, (fragments for bearers in few.values() for _, fragments in bearers))
    return {one: tuple(e for e, fragments in bearers if usable & set(fragments)) for one, bearers in few.items()}


def identifiers_of(*, team_id: UUID, entity_ids: Collection[UUID]) -> dict[UUID, frozenset[CanonicalIdentifier]]:
    """Return what identifies each of these entities, whoever said so."""
    rows = fetch(BORNE, team=team_id, entities=list(entity_ids), newest=NEWEST) if entity_ids else []
    usable = _usable(team_id, (fragments for *_, fragments in rows))
    found: dict[UUID, set[CanonicalIdentifier]] = {entity: set() for entity in entity_ids}
    for scheme, value, entity, fragments in rows:
        if usable & set(fragments):
            found[entity].add(CanonicalIdentifier(scheme, value))
    return {entity: frozenset(identifiers) for entity, identifiers in found.items()}


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


def _usable(team_id: UUID, fragments: Iterable[Collection[Any]]) -> set[UUID]:
    asked = {fragment for few in fragments for fragment in few}
    return usable_among(team_id=team_id, fragment_ids=asked) if asked else set()
