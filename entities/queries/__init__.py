"""Reads of entities, names and values within one team."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from densemem.core import limits
from densemem.core.names import fold
from densemem.core.words import GONE
from densemem.db.keyed import seed_of
from densemem.db.read import fetch
from entities.models import Entity, Identifier, Name, ResolutionCandidate, ResolutionEvent, Value
from entities.plan import new_value
from entities.policy import CanonicalValue, Newcomer
from entities.vocabulary import CandidateReason, EntityKind, EntityStatus, NameKind

BEARING: Final = """
    FROM entities_name AS name JOIN entities_entity AS entity ON entity.id = name.entity_id
    WHERE name.team_id = %(team)s AND name.key = ANY(%(keys)s) AND entity.status = 'active'
      AND (name.kind <> 'alias' OR NOT EXISTS (
        -- A choice that gave the alias and was taken back takes it along.
        SELECT FROM entities_resolutionevent AS opened
        WHERE (opened.team_id, opened.fragment_id, opened.start, opened."end")
              = (name.team_id, name.fragment_id, name.start, name."end")
          AND opened.entity_id IS NULL AND opened.identity_id IS NULL
          AND opened.seq > (
            SELECT max(settled.seq) FROM entities_resolutionevent AS settled
            WHERE (settled.team_id, settled.item_id, settled.mention_ref, settled.entity_id)
                  = (opened.team_id, opened.item_id, opened.mention_ref, name.entity_id)
              AND settled.identity_id IS NULL)))"""
KNOWN_NAMES: Final = f"SELECT name.display, entity.kind {BEARING} ORDER BY name.key, name.seq LIMIT %(most)s"
BEARERS: Final = (
    f"SELECT DISTINCT name.key, entity.kind, entity.id, entity.first_ingest_id {BEARING} ORDER BY entity.id"
)
VIEWS: Final = """
    SELECT entity.id, coalesce(name.display, ''), entity.kind, entity.identity_context
    FROM entities_entity AS entity
    LEFT JOIN LATERAL (
      SELECT display FROM entities_name AS canonical
      WHERE (canonical.team_id, canonical.entity_id, canonical.kind) = (entity.team_id, entity.id, 'canonical')
      ORDER BY starts_with(key, 'REDACTED:'), version DESC LIMIT 1
    ) AS name ON true
    WHERE entity.team_id = %(team)s AND entity.id = ANY(%(entities)s)"""
NAMES: Final = """
    SELECT entity_id, display FROM entities_name
    WHERE team_id = %(team)s AND entity_id = ANY(%(entities)s)
    ORDER BY starts_with(key, 'REDACTED:'), version DESC, seq"""
OF: Final = " of "  # between a reason and how many there were, where not all are offered


@dataclass(frozen=True, slots=True)
class CandidateView:
    """An Entity that a mention may mean: identity only, no Relationship. A model sees neither `reason` nor `of`.

    :param of: how many bear the name, where they are too many to be offered
    """

    entity_id: UUID
    canonical_name: str
    kind: EntityKind
    identity_context: Mapping[str, Any] = field(default_factory=dict)
    reason: str = CandidateReason.EXACT
    of: int | None = None


@dataclass(frozen=True, slots=True)
class Bearers:
    """Who bears a name: everybody who does, and of each kind as many as a model may be offered."""

    kinds: Mapping[UUID, EntityKind]
    offered: tuple[CandidateView, ...]

    @property
    def all(self) -> frozenset[UUID]:
        """Everybody who bears it."""
        return frozenset(self.kinds)

    def count(self, kind: EntityKind) -> int:
        """Return how many of a kind bear it."""
        return sum(1 for one in self.kinds.values() if one is kind)

    def nearest(self, kind: EntityKind) -> tuple[CandidateView, ...]:
        """Return those to offer for a mention of a kind: its own kind first, within the cap."""
        return tuple(sorted(self.offered, key=lambda view: view.kind is not kind))[: limits.CANDIDATES]


def bearers_of(*, team_id: UUID, keys: Collection[str]) -> dict[str, Bearers]:
    """Return, for each lookup key, the active entities that bear a name with exactly this key, oldest first."""
    found: dict[str, dict[UUID, EntityKind]] = {key: {} for key in keys}
    for key, kind, entity_id, _ in fetch(BEARERS, team=team_id, keys=list(keys)):
        found[key][entity_id] = EntityKind(kind)
    few = {key: _few_of_each_kind(kinds) for key, kinds in found.items()}
    views = entity_views(team_id=team_id, entity_ids={e for ids in few.values() for e in ids})
    return {key: Bearers(found[key], tuple(borne(views[e], key) for e in ids)) for key, ids in few.items()}


def borne(view: CandidateView, key: str) -> CandidateView:
    """Return an Entity that bears a name with the reason: it is the canonical one, or another."""
    is_canonical = fold(view.canonical_name) == key
    return replace(view, reason=CandidateReason.EXACT if is_canonical else CandidateReason.ALIAS)


def _few_of_each_kind(kinds: Mapping[UUID, EntityKind]) -> list[UUID]:
    taken: Counter[EntityKind] = Counter()
    kept = []
    for entity_id, kind in kinds.items():
        taken[kind] += 1
        if taken[kind] <= limits.CANDIDATES:
            kept.append(entity_id)
    return kept


def entity_views(*, team_id: UUID, entity_ids: Collection[UUID]) -> dict[UUID, CandidateView]:
    """Return each Entity with its canonical name."""
    if not entity_ids:
        return {}
    found = fetch(VIEWS, team=team_id, entities=list(entity_ids))
    return {
        entity: CandidateView(entity, name, EntityKind(kind), json.loads(context))
        for entity, name, kind, context in found
    }


def hinted(*, team_id: UUID, entity_ids: Collection[UUID]) -> dict[UUID, CandidateView]:
    """Return the active entities of the team among those that a client names by id; of the others nothing is said."""
    known = set(active_kinds(team_id=team_id, entity_ids=entity_ids)) if entity_ids else set()
    views = entity_views(team_id=team_id, entity_ids=known)
    return {entity: replace(view, reason=CandidateReason.HINT) for entity, view in views.items()}


def names_of(*, team_id: UUID, entity_ids: Collection[UUID]) -> dict[UUID, list[str]]:
    """Return every name of each Entity, the canonical one first."""
    found: dict[UUID, list[str]] = {entity: [] for entity in entity_ids}
    for entity, display in fetch(NAMES, team=team_id, entities=list(entity_ids)):
        found[entity].append(display)
    return found


@dataclass(frozen=True, slots=True)
class Called:
    """The canonical name of an Entity, and the profile that gave it."""

    display: str
    key: str
    owner_id: UUID


def canonical_now(*, team_id: UUID, entity_id: UUID) -> Called | None:
    """Return what an active Entity is called; None when the team has no such one."""
    rows = Name.objects.of_team(team_id).filter(entity_id=entity_id, entity__status=EntityStatus.ACTIVE)
    newest = rows.filter(kind=NameKind.CANONICAL).order_by("-version").first()
    return Called(newest.display, newest.key, newest.owner_id) if newest else None


def known_names(*, team_id: UUID, keys: Iterable[str]) -> list[tuple[str, str]]:
    """Return (name, kind) of the active entities whose names have one of these keys, bounded."""
    return sorted(set(fetch(KNOWN_NAMES, team=team_id, keys=list(keys), most=limits.KNOWN_NAMES)))


def newcomers(
    *,
    team_id: UUID,
    wanted: Collection[tuple[str, EntityKind]],
    ingest_id: UUID,
    known: Mapping[str, Collection[UUID]],
) -> dict[tuple[str, EntityKind], list[Newcomer]]:
    """Return, for each key and kind, the entities that were not known before. The caller locks the keys.

    :param known: by key, the entities that the verifier was told of
    """
    found: dict[tuple[str, EntityKind], list[Newcomer]] = {pair: [] for pair in wanted}
    rows = fetch(BEARERS, team=team_id, keys=[key for key, _ in wanted]) if wanted else []
    for key, kind, entity, first_ingest in rows:
        if (key, kind) in found and entity not in known[key]:
            found[key, EntityKind(kind)].append(Newcomer(entity, first_ingest == ingest_id))
    return found


def value_displays(*, team_id: UUID, value_ids: Collection[UUID]) -> dict[UUID, Value]:
    """Return the values by id."""
    return {v.id: v for v in Value.objects.of_team(team_id).filter(pk__in=value_ids)}


def gone_values(*, team_id: UUID, value_ids: Collection[UUID]) -> set[UUID]:
    """Return those of these values whose words were redacted."""
    rows = Value.objects.of_team(team_id).filter(pk__in=value_ids, canonical__startswith=GONE)
    return set(rows.values_list("id", flat=True))


def spent_ids(*, team_id: UUID, values: Sequence[CanonicalValue]) -> frozenset[UUID]:
    """Return the ids that these values may not have: what bore them was redacted."""
    spent: frozenset[UUID] = frozenset()
    while values:
        ids = {new_value(seed=seed_of(team_id), value=v, display="", spent=spent).id for v in values}
        gone = gone_values(team_id=team_id, value_ids=ids)
        if not gone:
            break
        spent |= gone
    return spent


@dataclass(frozen=True, slots=True)
class SaidThere:
    """What texts lend words to: entities with every name (id, key, display), values (id, display), and identifiers."""

    entities: frozenset[UUID]
    names: tuple[tuple[UUID, str, str], ...]
    values: tuple[tuple[UUID, str], ...]
    identifiers: tuple[tuple[str, str, str], ...]  # scheme, value, display


def said_in(*, team_id: UUID, fragment_ids: Collection[UUID], value_ids: Collection[UUID]) -> SaidThere:
    """Return the entities that these fragments mention or named first, the values kept from them or named here, and
    the identifiers that they give."""
    named = Name.objects.of_team(team_id).filter(fragment_id__in=fragment_ids).values_list("entity_id", flat=True)
    met = ResolutionEvent.objects.of_team(team_id).filter(fragment_id__in=fragment_ids, entity__isnull=False)
    entities = frozenset(named) | frozenset(met.values_list("entity_id", flat=True))
    names = Name.objects.of_team(team_id).filter(entity_id__in=entities).exclude(key__startswith=GONE)
    values = Value.objects.of_team(team_id).filter(Q(fragment_id__in=fragment_ids) | Q(pk__in=value_ids))
    given = Identifier.objects.of_team(team_id).filter(fragment_id__in=fragment_ids)
    return SaidThere(
        entities=entities,
        names=tuple(names.order_by("seq").values_list("id", "key", "display")),
        values=tuple(values.exclude(canonical__startswith=GONE).order_by("seq").values_list("id", "display")),
        identifiers=tuple(given.order_by("seq").values_list("scheme", "value", "display")),
    )


def gone_names(*, team_id: UUID, name_ids: Collection[UUID]) -> dict[UUID, UUID]:
    """Return, of these names, those whose words were redacted, each with its Entity."""
    rows = Name.objects.of_team(team_id).filter(pk__in=name_ids, key__startswith=GONE)
    return dict(rows.values_list("id", "entity_id"))


def gone_identifiers(*, team_id: UUID, identifiers: Collection[tuple[str, str, str]]) -> set[str]:
    """Return, of these (scheme, value, display), the forms of those that no text gives any more."""
    asked = {value for _, value, _ in identifiers}
    given = Identifier.objects.of_team(team_id).filter(value__in=asked).values_list("scheme", "value")
    left = set(given.distinct())
    return {form for scheme, *forms in identifiers if (scheme, forms[0]) not in left for form in forms}


def candidates_of(*, team_id: UUID, event_ids: Collection[UUID]) -> dict[UUID, list[CandidateView]]:
    """Return, by resolution event, the entities that were offered for it, in that order, each with the reason why."""
    rows = ResolutionCandidate.objects.of_team(team_id).filter(event_id__in=event_ids).order_by("seq")
    offered = list(rows.values_list("event_id", "entity_id", "reason"))
    views = entity_views(team_id=team_id, entity_ids={entity for _, entity, _ in offered})
    found: dict[UUID, list[CandidateView]] = {event: [] for event in event_ids}
    for event, entity, told in offered:
        reason, _, of = told.partition(OF)
        found[event].append(replace(views[entity], reason=reason, of=int(of) if of else None))
    return found


def settled_mentions(*, team_id: UUID, item_id: UUID, since: int) -> dict[str, UUID]:
    """Return, by mention ref, the Entity that an item's mentions were settled to since a cycle."""
    rows = ResolutionEvent.objects.of_team(team_id).filter(item_id=item_id, cycle__gte=since).order_by("seq")
    newest: dict[str, UUID | None] = dict(rows.values_list("mention_ref", "entity_id"))
    return {ref: entity for ref, entity in newest.items() if entity is not None}


def active_kinds(*, team_id: UUID, entity_ids: Collection[UUID]) -> dict[UUID, EntityKind]:
    """Return the kinds of those of these entities that are there and active."""
    rows = Entity.objects.of_team(team_id).filter(pk__in=entity_ids, status=EntityStatus.ACTIVE)
    return {number: EntityKind(kind) for number, kind in rows.values_list("id", "kind")}


def mention_of_event(*, team_id: UUID, event_id: UUID) -> tuple[str, frozenset[UUID]]:
    """Return the ref of a mention that was left open, and the entities that were offered for it."""
    event = ResolutionEvent.objects.of_team(team_id).get(pk=event_id)
    offered = ResolutionCandidate.objects.of_team(team_id).filter(event=event)
    return event.mention_ref, frozenset(offered.values_list("entity_id", flat=True))
