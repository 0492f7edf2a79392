"""What the verifier is offered: candidates for each mention, predicates for each observation (stage 5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from uuid import UUID

from densemem.core import limits
from densemem.core.names import NameRefused, fold, lookup_key
from densemem.providers.rules.patterns import wordings
from entities.policy import Candidate, Stated, ValueRefused, canonical_value
from entities.queries import Bearers, CandidateView, bearers_of, hinted
from entities.queries.identifiers import by_identifier, denied_by_identifier
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
        return Candidate(
            view.entity_id,
            view.kind,
            exact=view.entity_id in self.seen[self.keys[ref]],
            identified=view.reason == CandidateReason.IDENTIFIER,
            differs=view.entity_id in self.differing.get(ref, ()),
        )


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
    proposal: Mapping[str, Any],
    signals: Sequence[tuple[int, int]] = (),
) -> Offer:
    """Read the candidates that the verifier may choose from, beside the registry; a failed read fails the item.

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
    offered = {
        m.ref: _offered(
            m.kind,
            bearers[keys[m.ref]],
            [views[e] for e in sorted(hints[m.ref]) if e in views],
            identified.get(m.ref, ()),
        )
        for m in extraction.mentions
    }
    return Offer(
        keys=keys,
        candidates=offered,
        identifiers=stated,
        differing=denied_by_identifier(
            team_id=fragment.team_id,
            stated=own,
            offered={ref: [v.entity_id for v in vs] for ref, vs in offered.items()},
        ),
        seen={key: bearer.all for key, bearer in bearers.items()},
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
    kind: EntityKind, bearers: Bearers, hints: Sequence[CandidateView], identified: Sequence[CandidateView]
) -> tuple[CandidateView, ...]:
    """Return the candidates of a mention within the cap: some that bear an identifier of it, then bearers of its name,
    hinted ones first, then other hints.
    """
    named = [view for view in hints if view.entity_id in bearers.all]
    ours = sorted(identified, key=lambda view: view.entity_id not in bearers.all)[: limits.CANDIDATES // 2]
    found = {view.entity_id: view for view in (*ours, *named, *bearers.nearest(kind), *hints, *ours)}
    return tuple(found.values())[: limits.CANDIDATES]


def _predicates(draft: Draft, known: Mapping[str, PredicateView]) -> tuple[str, ...]:
    """Return the keys whose wording this is; failing that, nothing is offered and a person is asked."""
    wording, emitted = fold(draft.predicate), _emitted()
    named = [key for key, view in known.items() if wording in view.wordings or wording in emitted.get(key, ())]
    return tuple(sorted(named))[: limits.PREDICATE_OPTIONS]


@cache
def _emitted() -> Mapping[str, frozenset[str]]:
    """Return, by key, the wordings of the reviewer by rules, folded."""
    return {key: frozenset(map(fold, words)) for key, words in wordings().items()}
