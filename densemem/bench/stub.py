"""A model that answers from the request alone, after a wait: what is measured is then the product."""

import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from densemem.bench.notes import STATEMENT
from densemem.providers.base import Answer, Call, Stage


class Stub:
    """Finds the statements of a note, creates whom it does not know, and finds everything entailed."""

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
    found = list(re.finditer(STATEMENT, evidence["content"]))
    assert found, "the stub reads notes of the benchmark only"
    refs: dict[tuple[str, str], str] = {}
    for statement in found:
        for kind, place in (("person", 1), ("project", 2)):
            refs.setdefault((kind, statement.group(place)), f"m{len(refs) + 1}")
    return {
        "security_signals": [],
        "mentions": [{**cited, "ref": ref, "quote": quote, "kind": kind} for (kind, quote), ref in refs.items()],
        "values": [],
        "observations": list(_observations(evidence, found, refs)),
    }


def _observations(
    evidence: Mapping[str, Any], found: Sequence[re.Match[str]], refs: Mapping[tuple[str, str], str]
) -> Iterator[dict[str, Any]]:
    """Yield what each statement says; one that is said again is the next occurrence of its words."""
    times: Counter[str] = Counter()
    for number, statement in enumerate(found, 1):
        times[statement.group()] += 1
        yield {
            "ref": f"o{number}",
            "evidence_id": evidence["evidence_id"],
            "subject_ref": refs["person", statement.group(1)],
            "predicate": "works on",
            "object_ref": refs["project", statement.group(2)],
            "polarity": "+",
            "modality": "statement",
            "ended": False,
            "quotes": [{"quote": statement.group(), "occurrence": times[statement.group()]}],
            **dict.fromkeys(("value_ref", "valid_from", "valid_to", "scope", "proposal_id")),
        }


def _verification(request: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "request_id": request["request_id"],
        "security_signals": [],
        "entity_results": [_choice(m) for m in request["entity_mentions"]],
        "relationship_results": [_judgment(o) for o in request["relationship_observations"]],
    }


def _choice(mention: Mapping[str, Any]) -> dict[str, Any]:
    known = [c["entity_id"] for c in mention["candidates"] if c["canonical_name"] == mention["surface"]]
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
