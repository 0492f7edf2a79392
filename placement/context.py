"""The two requests that models are asked: built by the server alone, closed, and frozen once sent (stages 4 and 5)."""

from collections.abc import Mapping, Sequence
from typing import Any

import regex

from densemem.core import limits
from densemem.core.names import NameRefused, fold, lookup_key
from entities.queries import CandidateView, known_names
from entities.vocabulary import EntityKind, ValueType
from evidence.queries import FragmentView, SignalView
from placement.contract import (
    EXTRACTION_REQUEST,
    VERIFIER_REQUEST,
    Draft,
    Extraction,
    Mention,
    ValueDraft,
    check_request,
)
from placement.offers import Offer
from placement.plan.given import ended_by
from placement.request import plain_value
from relationships.queries import registry

WORD = regex.compile(r"[\p{L}\p{N}\p{M}][\p{L}\p{N}\p{M}'’.&+#-]*")
UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]+")
NAME_WORDS = 5  # the longest run of words that is looked up as a known name
KEYS_LOOKED_UP = 20_000
ALSO_CALLED = "also_called"  # of the server alone, whatever a client calls its own context


def extraction_request(
    fragment: FragmentView, *, proposal: Mapping[str, Any], signals: Sequence[SignalView], request_id: str
) -> dict[str, Any]:
    """Return what the structure reviewer is asked about one fragment."""
    names = known_names(team_id=fragment.team_id, keys=_possible_keys(fragment.text))
    vocabulary = registry(team_id=fragment.team_id)
    request = {
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
        ],
        "signals": [_signal(s) for s in signals],
    }
    check_request(request, schema=EXTRACTION_REQUEST)
    return request


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
    request = {
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
    check_request(request, schema=VERIFIER_REQUEST)
    return request


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
    words = [m.span() for m in WORD.finditer(text)]
    keys: set[str] = set()
    for index in range(len(words)):
        for last in words[index : index + NAME_WORDS]:
            _add(keys, text[words[index][0] : last[1]])
            _add(keys, text[words[index][0] : last[1]].rstrip("."))
    for run in UNSPACED.finditer(text):
        piece = run.group()
        for start in range(len(piece)):
            for size in range(2, 2 * NAME_WORDS):
                _add(keys, piece[start : start + size])
        if len(keys) > KEYS_LOOKED_UP:
            break
    return keys


def _add(keys: set[str], surface: str) -> None:
    if surface and len(surface) <= limits.NAME_CHARS:
        try:
            keys.add(lookup_key(surface))
        except NameRefused:
            return
