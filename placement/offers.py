"""What the verifier is offered: candidates for each mention, predicates for each observation (stage 5)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any
from uuid import UUID

from densemem.core import limits
from densemem.core.names import NameRefused, fold, lookup_key
from densemem.providers.rules.patterns import wordings
from entities.policy import Candidate, Stated, ValueRefused, canonical_value
from entities.queries import Bearers, CandidateView, bearers_of, borne, hinted
from entities.queries.identifiers import by_identifier, denied_by_identifier
from entities.search import proposed
from entities.stored import seen_by
from entities.vocabulary import CandidateReason, EntityKind, ValueType
from evidence.queries import FragmentView
from placement.contract import Accepts, Draft, Extraction
from placement.plan import rows_naming, stated_identifiers
from relationships.policy import Behaviour
from relationships.queries import PredicateView


@dataclass(frozen=True, slots=True)
class Offer:
    """The frozen context of one verifier request."""

    keys: Mapping[str, str]
    candidates: Mapping[str, tuple[CandidateView, ...]]
    bearers: Mapping[str, int]  # by mention ref, how many of its kind bore its name then
    seen: Mapping[str, frozenset[UUID]]  # by lookup key, everybody who bore it then, offered or not
    predicates: Mapping[str, tuple[str, ...]]
    accepts: Accepts
    behaviours: Mapping[str, Behaviour]
    identifiers: Mapping[str, tuple[Stated, ...]] = field(default_factory=dict)
    differing: Mapping[str, frozenset[UUID]] = field(default_factory=dict)  # by mention, whom its identifiers deny

    def allowed(self) -> dict[str, tuple[Candidate, ...]]:
        """Return, by mention, what the answer may choose from."""
        return {ref: tuple(self._candidate(ref, view) for view in views) for ref, views in self.candidates.items()}

    def _candidate(self, ref: str, view: CandidateView) -> Candidate:
        differs = view.entity_id in self.differing.get(ref, ())
        return Candidate(view.entity_id, view.kind, CandidateReason(view.reason), differs=differs)


def check_value(value_type: ValueType, value: str, unit: str | None) -> None:
    """Refuse a value without a canonical form.

    :raises ValueError: with the mend in words
    """
    try:
        canonical_value(value_type, value, unit)
    except ValueRefused as refused:
        raise ValueError(refused.detail) from refused


def make(
    fragment: FragmentView,
    extraction: Extraction,
    known: Mapping[str, PredicateView],
    *,
    owner_id: UUID,
    proposal: Mapping[str, Any],
    signals: Sequence[tuple[int, int]] = (),
) -> Offer:
    """Read the candidates that the verifier may choose from, beside the registry; a failed read fails the item.

    Whoever bears the very name of a mention comes first, then whom the client means. Where nobody of its kind bears the
    name, those whose names are like it are proposed.

    :param owner_id: for whom it is placed: each candidate is what that profile takes it for
    :param proposal: of the client; an id in it is a hint, read again: another team's, or a retired one, is passed over
    :param signals: spans of control text
    """
    keys = {m.ref: _key(m.surface) for m in extraction.mentions}
    bearers = bearers_of(team_id=fragment.team_id, keys=set(keys.values()))
    hints = _hints(extraction, keys, proposal)
    views = hinted(team_id=fragment.team_id, entity_ids={entity for ids in hints.values() for entity in ids})
    stated = stated_identifiers(fragment.text, extraction, proposal, keys=keys, signals=signals)
    own = {ref: {one.identifier for one in found} for ref, found in stated.items() if found}
    identified = by_identifier(team_id=fragment.team_id, stated=own)
    bore = {m.ref: bearers[keys[m.ref]].count(m.kind) for m in extraction.mentions}
    unknown = {m.ref: (m.surface, m.kind) for m in extraction.mentions if not bore[m.ref]}
    alike = proposed(team_id=fragment.team_id, mentions=unknown)
    found = {
        m.ref: _offered(
            (m.kind, keys[m.ref]),
            bearers[keys[m.ref]],
            [views[e] for e in sorted(hints[m.ref]) if e in views],
            identified.get(m.ref, ()),
            alike.get(m.ref, ()),
        )
        for m in extraction.mentions
    }
    met = {e for bearer in bearers.values() for e in bearer.all} | {v.entity_id for vs in found.values() for v in vs}
    meant = seen_by(team_id=fragment.team_id, profile_id=owner_id, entity_ids=met)
    offered = _as_meant(found, meant, team_id=fragment.team_id)
    denied = denied_by_identifier(
        team_id=fragment.team_id,
        stated=own,
        offered={ref: {v.entity_id for v in (*found[ref], *offered[ref])} for ref in offered},
    )
    return Offer(
        keys=keys,
        candidates=offered,
        bearers=bore,
        identifiers=stated,
        differing={ref: _differing(offered[ref], _meant(entities, meant)) for ref, entities in denied.items()},
        seen={key: bearer.all | _meant(bearer.all, meant) for key, bearer in bearers.items()},
        predicates={d.ref: _predicates(d, known) for d in extraction.observations},
        accepts={key: (view.subject_kinds, view.object_kinds) for key, view in known.items()},
        behaviours=behaviours_of(known),
    )


def behaviours_of(known: Mapping[str, PredicateView]) -> dict[str, Behaviour]:
    """Return, by key, what a record keeps of a predicate; a registry that was changed has others."""
    return {key: view.behaviour() for key, view in known.items()}


def _key(surface: str) -> str:
    """Return the lookup key of a surface; one without visible characters finds nothing but itself."""
    try:
        return lookup_key(surface)
    except NameRefused:
        return surface


def _hints(extraction: Extraction, keys: Mapping[str, str], proposal: Mapping[str, Any]) -> dict[str, set[UUID]]:
    """Return, by mention, the ids that the client gives for the thing it names: by a span of it, a name or an alias."""
    found: dict[str, set[UUID]] = {m.ref: set() for m in extraction.mentions}
    for mention, row in rows_naming(extraction, keys, proposal):
        if row.get("known_entity_id"):
            found[mention.ref].add(UUID(row["known_entity_id"]))
    return found


def _offered(
    wanted: tuple[EntityKind, str],
    bearers: Bearers,
    hints: Sequence[CandidateView],
    identified: Sequence[CandidateView],
    alike: Sequence[CandidateView],
) -> tuple[CandidateView, ...]:
    """Return the candidates of a mention within the cap: some that bear an identifier of it, then bearers of its name,
    hinted ones first, then other hints, then likenesses.

    :param wanted: kind and lookup key of the mention
    """
    kind, key = wanted
    ours = sorted(identified, key=lambda view: view.entity_id not in bearers.kinds)[: limits.CANDIDATES // 2]
    named = [borne(view, key) for view in (*ours, *hints) if view.entity_id in bearers.kinds]
    found: dict[UUID, CandidateView] = {}
    for view in (*named, *ours, *bearers.nearest(kind), *hints, *alike):
        found.setdefault(view.entity_id, view)
    return tuple(found.values())[: limits.CANDIDATES]


def _as_meant(
    borne: Mapping[str, Sequence[CandidateView]], meant: Mapping[UUID, UUID | None], *, team_id: UUID
) -> dict[str, tuple[CandidateView, ...]]:
    """Return, in the place of each candidate, what the owner takes it for; one that it has told apart is none."""
    others = {now for entity, now in meant.items() if now is not None and now != entity}
    views = hinted(team_id=team_id, entity_ids=others) if others else {}
    found: dict[str, dict[UUID, CandidateView]] = {ref: {} for ref in borne}
    for ref, listed in borne.items():
        for view in listed:
            now = meant[view.entity_id]
            taken = view if now == view.entity_id else views.get(now) if now else None
            if taken is not None:
                found[ref].setdefault(taken.entity_id, replace(taken, reason=view.reason))
    return {ref: tuple(candidates.values()) for ref, candidates in found.items()}


def _meant(entities: Iterable[UUID], meant: Mapping[UUID, UUID | None]) -> frozenset[UUID]:
    return frozenset(now for entity in entities if (now := meant.get(entity, entity)) is not None)


def _differing(offered: Sequence[CandidateView], denied: frozenset[UUID]) -> frozenset[UUID]:
    """Leave out what an identifier of the text names: the owner takes it for one with something that has another."""
    return denied - {v.entity_id for v in offered if v.reason == CandidateReason.IDENTIFIER}


def _predicates(draft: Draft, known: Mapping[str, PredicateView]) -> tuple[str, ...]:
    """Return the keys whose wording this is; failing that, nothing is offered and a person is asked."""
    wording, emitted = fold(draft.predicate), _emitted()
    named = [key for key, view in known.items() if wording in view.wordings or wording in emitted.get(key, ())]
    return tuple(sorted(named))[: limits.PREDICATE_OPTIONS]


@cache
def _emitted() -> Mapping[str, frozenset[str]]:
    """Return, by key, the wordings of the reviewer by rules, folded."""
    return {key: frozenset(map(fold, words)) for key, words in wordings().items()}
