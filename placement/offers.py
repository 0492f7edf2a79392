"""What the verifier is offered: candidates for each mention, predicates for each observation (stage 5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from densemem.core import limits
from densemem.core.names import NameRefused, fold, lookup_key
from densemem.providers.rules.patterns import wordings
from entities.policy import Candidate, canonical_value
from entities.queries import CandidateView, bearers_of
from entities.vocabulary import ValueType
from evidence.queries import FragmentView
from placement.contract import Accepts, Draft, Extraction
from relationships.policy import Behaviour
from relationships.queries import PredicateView, registry


@dataclass(frozen=True, slots=True)
class Offer:
    """The frozen context of one verifier request."""

    keys: Mapping[str, str]
    candidates: Mapping[str, tuple[CandidateView, ...]]
    seen: Mapping[str, frozenset[UUID]]  # by lookup key, everybody who bore it then, offered or not
    predicates: Mapping[str, tuple[str, ...]]
    accepts: Accepts
    behaviours: Mapping[str, Behaviour]

    def allowed(self) -> dict[str, tuple[Candidate, ...]]:
        """Return, by mention, what the answer may choose from."""
        return {
            ref: tuple(Candidate(v.entity_id, v.kind, exact=True) for v in views)
            for ref, views in self.candidates.items()
        }


def check_value(value_type: ValueType, value: str, unit: str | None) -> None:
    """Refuse a value without a canonical form.

    :raises ValueError: with the mend in words
    """
    try:
        canonical_value(value_type, value, unit)
    except Exception as refused:
        raise ValueError(str(refused)) from refused


def make(fragment: FragmentView, extraction: Extraction) -> Offer:
    """Read the candidates and the registry that the verifier may choose from; a failed read fails the item."""
    keys = {m.ref: _key(m.surface) for m in extraction.mentions}
    bearers = bearers_of(team_id=fragment.team_id, keys=set(keys.values()))
    known = registry(team_id=fragment.team_id)
    kinds = _kinds(extraction)
    return Offer(
        keys=keys,
        candidates={m.ref: bearers[keys[m.ref]].nearest(m.kind) for m in extraction.mentions},
        seen={key: bearer.all for key, bearer in bearers.items()},
        predicates={d.ref: _predicates(d, known, kinds) for d in extraction.observations},
        accepts={key: (view.subject_kinds, view.object_kinds) for key, view in known.items()},
        behaviours={key: view.behaviour() for key, view in known.items()},
    )


def _key(surface: str) -> str:
    """Return the lookup key of a surface; one without visible characters finds nothing but itself."""
    try:
        return lookup_key(surface)
    except NameRefused:
        return surface


def _kinds(extraction: Extraction) -> dict[str, str]:
    return {m.ref: m.kind.value for m in extraction.mentions} | {v.ref: v.type.value for v in extraction.values}


def _predicates(draft: Draft, known: Mapping[str, PredicateView], kinds: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys whose wording this is; failing that, nothing is offered and a person is asked."""
    wording = fold(draft.predicate)
    variants = wordings()
    named = [
        key
        for key, view in known.items()
        if wording in view.wordings() or wording in {fold(w) for w in variants.get(key, [])}
    ]
    return tuple(sorted(named))[: limits.PREDICATE_OPTIONS]
