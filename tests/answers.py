"""Questions to models and answers without fault, to be spoiled in one place at a time."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from placement import contract
from placement.contract import AnswerRefused

TEXT = "Ana leads Harbor. Ana has 3 cats\u00a0at home, no\u0308."
Change = Callable[[dict[str, Any]], object]


def extraction_request() -> dict[str, Any]:
    """Return a legal question with one proposal."""
    proposed = {
        "proposal_id": "p1",
        "subject_ref": "a",
        "predicate": "leads",
        "object_ref": "h",
        "object_value": None,
        "polarity": "+",
        "modality": "statement",
        "valid_from": None,
        "valid_to": None,
        "scope": None,
        "spans": [{"start": 0, "end": 17}],
    }
    return {
        "request_id": "extract_1",
        "evidence": [{"evidence_id": "ev_1", "content": TEXT}],
        "proposal": {"entities": [], "observations": [proposed]},
        "known_names": [],
        "entity_kinds": [],
        "value_types": [],
        "predicates": [],
        "signals": [],
    }


def extraction() -> dict[str, Any]:
    """Return an answer without fault: one relation to a thing and one to a value."""
    plain = {"polarity": "+", "modality": "statement", "ended": False, "valid_from": None, "valid_to": None}
    open_ = {**plain, "scope": None, "proposal_id": None, "evidence_id": "ev_1", "subject_ref": "m1"}
    cited = {"evidence_id": "ev_1"}
    leads = {"ref": "o1", "predicate": "leads", "object_ref": "m2", "value_ref": None, "proposal_id": "p1"}
    owns = {"ref": "o2", "predicate": "has", "object_ref": None, "value_ref": "v1"}
    return {
        "security_signals": [],
        "mentions": [
            {"ref": "m1", **cited, "quote": "Ana", "occurrence": 2, "kind": "person"},
            {"ref": "m2", **cited, "quote": "Harbor", "occurrence": None, "kind": "project"},
        ],
        "values": [
            {"ref": "v1", **cited, "quote": "3 cats at", "occurrence": None}
            | {"type": "number", "value": "3", "unit": "cats"}
        ],
        "observations": [
            {**open_, **leads, "quotes": [{"quote": "Ana leads Harbor.", "occurrence": None}]},
            {**open_, **owns, "quotes": [{"quote": "has 3 cats", "occurrence": 1}]},
        ],
    }


def read(answer: Any, **options: Any) -> contract.Extraction:
    """Read an answer, given as data or as raw text."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return contract.read_extraction(text, request=extraction_request(), **options)


def faults(reading: Callable[[], object]) -> list[tuple[str, str]]:
    """Return place and code of every fault."""
    with pytest.raises(AnswerRefused) as refused:
        reading()
    return [(fault.pointer, fault.code) for fault in refused.value.faults]


def changed(answer: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy of an answer with one place changed."""
    copied = copy.deepcopy(answer)
    *way, last = [int(part) if part.isdigit() else part for part in path.split("/")[1:]]
    place: Any = copied
    for part in way:
        place = place[part]
    place[last] = value
    return copied


def verifier_request() -> dict[str, Any]:
    """Return a legal question about two mentions, a relation and a value."""
    place = {"evidence_id": "ev_1", "start": 0, "end": 3}
    ana = {"entity_id": "e1", "canonical_name": "Ana", "kind": "person", "identity_context": {}}
    boat = {"entity_id": "e2", "canonical_name": "Harbor", "kind": "place", "identity_context": {}}
    text = {"type": "number", "value": "3", "unit": None, "surface": "3", "start": 26, "end": 27}
    plain = {"polarity": "+", "modality": "statement", "valid_from": None, "valid_to": None, "scope": None, **place}
    leads = {"ref": "o1", "original_predicate": "leads", "predicate_candidates": ["leads", "owns"], "object_ref": "m2"}
    counts = {"ref": "o2", "original_predicate": "has", "predicate_candidates": ["count"], "object_ref": None}
    return {
        "request_id": "verify_1",
        "evidence": [{"evidence_id": "ev_1", "content": TEXT}],
        "entity_mentions": [
            {"ref": "m1", "surface": "Ana", "kind": "other", **place, "candidates": [ana]},
            {"ref": "m2", "surface": "Harbor", "kind": "project", **place, "candidates": [boat]},
        ],
        "relationship_observations": [
            {**plain, **leads, "subject_ref": "m1", "object_value": None},
            {**plain, **counts, "subject_ref": "m2", "object_value": text},
        ],
        "signals": [],
    }


ACCEPTS = {
    "leads": ({"person"}, {"project"}),
    "owns": ({"person", "other"}, {"place"}),
    "count": ({"project", "place"}, {"number"}),
    "unasked": ({"person"}, {"project"}),
}


def verification() -> dict[str, Any]:
    """Return an answer without fault."""
    said = {"confidence": 0.9, "rationale": "The words say so."}
    return {
        "request_id": "verify_1",
        "security_signals": [],
        "entity_results": [
            {"ref": "m1", "action": "reuse", "candidate_entity_id": "e1", **said},
            {"ref": "m2", "action": "create", "candidate_entity_id": None, **said},
        ],
        "relationship_results": [
            {"ref": "o1", "predicate_status": "resolved", "predicate_key": "leads", "evidence_verdict": "entailed"}
            | said,
            {"ref": "o2", "predicate_status": "needs_review", "predicate_key": None}
            | {"evidence_verdict": "insufficient", "confidence": 1, "rationale": "No."},
        ],
    }


def verify(answer: Any) -> contract.Verification:
    """Read an answer of the verifier."""
    return contract.read_verification(json.dumps(answer), request=verifier_request(), accepts=ACCEPTS)
