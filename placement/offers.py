"""What the verifier is offered: candidates for each mention, predicates for each observation (stage 5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from densemem.core import limits
from densemem.core.names import NameRefused, fold, lookup_key
from densemem.providers.rules.patterns import wordings
from entities.policy import Candidate, ValueRefused, canonical_value
from entities.queries import Bearers, CandidateView, bearers_of, borne, hinted
from entities.search import proposed
from entities.vocabulary import CandidateReason, EntityKind, ValueType
from evidence.queries import FragmentView
from placement.contract import Accepts, Draft, Extraction
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

    def allowed(self) -> dict[str, tuple[Candidate, ...]]:
        """Return, by mention, what the answer may choose from."""
        return {
            ref: tuple(Candidate(view.entity_id, view.kind, CandidateReason(view.reason)) for view in views)
            for ref, views in self.candidates.items()
        }


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
) -> Offer:
    """Read the candidates that the verifier may choose from, beside the registry; a failed read fails the item.

    Whoever bears the very name of a mention comes first, then whom the client means. Where nobody of its kind bears the
    name, those whose names are like it are proposed.

    :param proposal: of the client; an id in it is a hint, read again: another team's, or a retired one, is passed over
    """
    keys = {m.ref: _key(m.surface) for m in extraction.mentions}
    bearers = bearers_of(team_id=fragment.team_id, keys=set(keys.values()))
    hints = _hints(extraction, keys, proposal)
    views = hinted(team_id=fragment.team_id, entity_ids={entity for ids in hints.values() for entity in ids})
    bore = {m.ref: bearers[keys[m.ref]].count(m.kind) for m in extraction.mentions}
    unknown = {m.ref: (m.surface, m.kind) for m in extraction.mentions if not bore[m.ref]}
    alike = proposed(team_id=fragment.team_id, mentions=unknown)
    return Offer(
        keys=keys,
        candidates={
            m.ref: _offered(
                (m.kind, keys[m.ref]),
                bearers[keys[m.ref]],
                [views[e] for e in sorted(hints[m.ref]) if e in views],
                alike.get(m.ref, ()),
            )
            for m in extraction.mentions
        },
        bearers=bore,
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
    for row in proposal.get("entities", []):
        if not row.get("known_entity_id"):
            continue
        names = {_key(name) for name in (row["name"], *row.get("aliases", []))}
        spans = {(span["start"], span["end"]) for span in row.get("mentions", [])}
        for mention in extraction.mentions:
            if keys[mention.ref] in names or (mention.start, mention.end) in spans:
                found[mention.ref].add(UUID(row["known_entity_id"]))
    return found


def _offered(
    wanted: tuple[EntityKind, str],
    bearers: Bearers,
    hints: Sequence[CandidateView],
    alike: Sequence[CandidateView],
) -> tuple[CandidateView, ...]:
    """Return the candidates of a mention within the cap: bearers of its name, hinted ones first, hints, likenesses.

    :param wanted: kind and lookup key of the mention
    """
    kind, key = wanted
    named = [borne(view, key) for view in hints if view.entity_id in bearers.kinds]
    found: dict[UUID, CandidateView] = {}
    for view in (*named, *bearers.nearest(kind), *hints, *alike):
        found.setdefault(view.entity_id, view)
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
