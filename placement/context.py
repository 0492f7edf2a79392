"""The two requests that models are asked: built by the server alone, closed, and frozen once sent (stages 4 and 5)."""

from collections.abc import Mapping, Sequence
from typing import Any

import regex

from densemem.core import limits
from densemem.core.names import NameRefused, fold, lookup_key
from entities.queries import CandidateView, known_names
from entities.vocabulary import EntityKind, ValueType
from evidence.queries import FragmentView, SignalView
from placement.contract import Draft, Extraction, Mention, ValueDraft
from placement.offers import Offer
from placement.plan.given import ended_by
from placement.request import plain_value
from relationships.queries import PredicateView

WORD = regex.compile(r"[\p{L}\p{N}\p{M}][\p{L}\p{N}\p{M}'’.&+#-]*")
UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]+")
NAME_WORDS = 5  # the longest run of words that is looked up as a known name
NAMES_LOOKED_UP = 20_000
ALSO_CALLED = "also_called"  # of the server alone, whatever a client calls its own context


def extraction_request(
    fragment: FragmentView,
    vocabulary: Mapping[str, PredicateView],
    *,
    proposal: Mapping[str, Any],
    signals: Sequence[SignalView],
    request_id: str,
) -> dict[str, Any]:
    """Return what the structure reviewer is asked about one fragment."""
    names = known_names(team_id=fragment.team_id, keys=_possible_keys(fragment.text))
    return {
        "request_id": request_id,
        "evidence": [{"evidence_id": evidence_id(fragment), "content": fragment.text}],
        "proposal": _proposal(proposal),
        "known_names": [{"name": name, "kind": kind} for name, kind in names if name in fragment.text],
        "entity_kinds": [k.value for k in EntityKind],
        "value_types": [t.value for t in ValueType],
        "predicates": [
            {
                "key": p.key,
                "active": list(p.active),
                "inverse": list(p.inverse),
                "subject_kinds": sorted(p.subject_kinds),
                "object_kinds": sorted(p.object_kinds),
            }
            for _, p in sorted(vocabulary.items())
            if p.proposed
        ],
        "signals": [_signal(s) for s in signals],
    }


def verifier_request(
    fragment: FragmentView,
    extraction: Extraction,
    offer: Offer,
    *,
    signals: Sequence[SignalView],
    request_id: str,
) -> dict[str, Any]:
    """Return the one question about every mention and observation. It holds no stored Relationship."""
    values = {v.ref: v for v in extraction.values}
    return {
        "request_id": request_id,
        "evidence": [{"evidence_id": evidence_id(fragment), "content": fragment.text}],
        "entity_mentions": [
            {
                "ref": m.ref,
                "surface": m.surface,
                "kind": m.kind.value,
                "evidence_id": evidence_id(fragment),
                "start": m.start,
                "end": m.end,
                "candidates": [_candidate(c, m, offer) for c in offer.candidates[m.ref]],
            }
            for m in extraction.mentions
        ],
        "relationship_observations": [
            _observation(d, fragment, values.get(d.value_ref or ""), offer) for d in extraction.observations
        ],
        "signals": [_signal(s) for s in signals],
    }


def evidence_id(fragment: FragmentView) -> str:
    """Return the id under which a model sees a fragment."""
    return f"ev_{fragment.id.hex}"


def _signal(signal: SignalView) -> dict[str, Any]:
    return {"kind": signal.kind, "start": signal.start, "end": signal.end}


def _candidate(view: CandidateView, mention: Mention, offer: Offer) -> dict[str, Any]:
    """Return a candidate as a model may see it. That it bears the mention's name beside its canonical one is told."""
    key = offer.keys[mention.ref]
    context = {name: text for name, text in view.identity_context.items() if name != ALSO_CALLED}
    if view.entity_id in offer.seen[key] and fold(view.canonical_name) != key:
        context[ALSO_CALLED] = mention.surface
    return {
        "entity_id": str(view.entity_id),
        "canonical_name": view.canonical_name,
        "kind": view.kind.value,
        "identity_context": context,
    }


def _observation(draft: Draft, fragment: FragmentView, value: ValueDraft | None, offer: Offer) -> dict[str, Any]:
    start, end = draft.spans[0]
    return {
        "ref": draft.ref,
        "subject_ref": draft.subject_ref,
        "original_predicate": draft.predicate,
        "predicate_candidates": list(offer.predicates[draft.ref]),
        "object_ref": draft.object_ref,
        "object_value": _value(value) if value else None,
        "polarity": draft.polarity.value,
        "modality": draft.modality.value,
        "valid_from": draft.valid_from,
        "valid_to": draft.valid_to or (ended_by(fragment.observed_at) if draft.ended else None),
        "scope": draft.scope,
        "evidence_id": evidence_id(fragment),
        "start": start,
        "end": end,
    }


def _value(value: ValueDraft) -> dict[str, Any]:
    return {
        "type": value.type.value,
        "value": value.value,
        "unit": value.unit,
        "surface": value.surface,
        "start": value.start,
        "end": value.end,
    }


def _proposal(proposal: Mapping[str, Any]) -> dict[str, Any]:
    """Return the client's proposal in the reviewer's words; what policy needs of it stays with the server."""
    return {
        "entities": [
            {
                "ref": e["ref"],
                "name": e["name"],
                "kind": e.get("entity_kind"),
                "aliases": e.get("aliases", []),
                "mentions": e.get("mentions", []),
            }
            for e in proposal.get("entities", [])
        ],
        "observations": [
            {
                "proposal_id": r["proposal_id"],
                "subject_ref": r["subject_ref"],
                "predicate": r["predicate"],
                "object_ref": r.get("object_ref"),
                "object_value": _proposed_value(r.get("object_value")),
                "polarity": r.get("polarity", "+"),
                "modality": r.get("modality", "statement"),
                "valid_from": r.get("valid_from"),
                "valid_to": r.get("valid_to"),
                "scope": r.get("scope"),
                "spans": r["evidence"],
            }
            for r in proposal.get("relationships", [])
            if r["evidence"]
        ],
    }


def _proposed_value(value: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if value is None:
        return None
    return {"type": value["type"], "value": plain_value(value["value"]), "unit": value.get("unit")}


def _possible_keys(text: str) -> set[str]:
    """Return the lookup keys of every short run of words, and of every short piece of unspaced script."""
    return {key for surface in _possible_names(text) if (key := _key(surface))}


def _possible_names(text: str) -> set[str]:
    words = [m.span() for m in WORD.finditer(text)]
    found: set[str] = set()
    for index, (start, _) in enumerate(words):
        for _, end in words[index : index + NAME_WORDS]:
            surface = text[start:end]
            found.update((surface, surface.rstrip(".")))
    for run in UNSPACED.finditer(text):
        piece = run.group()
        found.update(piece[start : start + size] for start in range(len(piece)) for size in range(2, 2 * NAME_WORDS))
        if len(found) > NAMES_LOOKED_UP:
            break
    return found


def _key(surface: str) -> str:
    """Return the lookup key of a surface; none when it is no name."""
    if len(surface) > limits.NAME_CHARS:
        return ""
    try:
        return lookup_key(surface)
    except NameRefused:
        return ""
