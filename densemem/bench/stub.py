"""A model that answers from the request alone, after a wait: what is measured is then the product."""

import json
import re
import time
from collections.abc import Mapping
from typing import Any

from densemem.bench.notes import STATEMENT
from densemem.providers.base import Answer, Call, Stage


class Stub:
    """Finds the one statement of a note, creates whom it does not know, and finds everything entailed."""

    name = "stub"

    def __init__(self, *, latency: float = 0.0) -> None:
        """Take how long an answer lets wait, in seconds."""
        self.latency = latency

    def complete(self, call: Call) -> Answer:
        """Return the answer of the call's stage."""
        if self.latency:
            time.sleep(self.latency)
        request = json.loads(call.turns[0].text)
        made = _extraction(request) if call.stage is Stage.EXTRACT else _verification(request)
        return Answer(text=json.dumps(made), model=self.name)


def _extraction(request: Mapping[str, Any]) -> dict[str, Any]:
    evidence = request["evidence"][0]
    cited = {"evidence_id": evidence["evidence_id"], "occurrence": 1}
    found = re.search(STATEMENT, evidence["content"])
    assert found is not None, "the stub reads notes of the benchmark only"
    statement = {
        "ref": "o1",
        "evidence_id": evidence["evidence_id"],
        "subject_ref": "m1",
        "predicate": "works on",
        "object_ref": "m2",
        "polarity": "+",
        "modality": "statement",
        "ended": False,
        "quotes": [{"quote": found.group(), "occurrence": 1}],
        **dict.fromkeys(("value_ref", "valid_from", "valid_to", "scope", "proposal_id")),
    }
    return {
        "security_signals": [],
        "mentions": [
            {**cited, "ref": "m1", "quote": found.group(1), "kind": "person"},
            {**cited, "ref": "m2", "quote": found.group(2), "kind": "project"},
        ],
        "values": [],
        "observations": [statement],
    }


def _verification(request: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "request_id": request["request_id"],
        "security_signals": [],
        "entity_results": [_choice(m) for m in request["entity_mentions"]],
        "relationship_results": [_judgment(o) for o in request["relationship_observations"]],
    }


def _choice(mention: Mapping[str, Any]) -> dict[str, Any]:
    known = [c["entity_id"] for c in mention["candidates"]]
    return {
        "ref": mention["ref"],
        "action": "reuse" if known else "create",
        "candidate_entity_id": known[0] if known else None,
        "confidence": 0.9,
        "rationale": "The stub says so.",
    }


def _judgment(observation: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "ref": observation["ref"],
        "predicate_status": "resolved",
        "predicate_key": observation["predicate_candidates"][0],
        "evidence_verdict": "entailed",
        "confidence": 0.9,
        "rationale": "The stub says so.",
    }
