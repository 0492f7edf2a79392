"""Sentences that stand before a case, and the model answers that find them."""

from collections.abc import Mapping
from typing import Any

from densemem.cases.play import Play
from densemem.cases.script import Entry

Entries = list[Entry]


def statement(play: Play, prior: Mapping[str, Any], text: str = "", between: str = "") -> tuple[str, Entries]:
    """Return a sentence for a triple, and the model answers that find it in the sentence.

    :param between: words before the verb, so that the same is said in other words
    """
    world = play.world
    subject, wording = world.thing(prior["s"]), world.wording(prior["p"])
    target = world.thing(prior["o"]) if "o" in prior else None
    object_name = target.name if target else str(prior["value"])
    said = f"{subject.name} {between}{wording} {object_name}."
    text = text or said
    place = len(subject.name) + len(between) + len(wording) + 2
    mentions = [_mention("s", subject.name, subject.kind, 0)]
    values = []
    if target:
        mentions.append(_mention("o", target.name, target.kind, place))
    else:
        cited = {"evidence_id": "$ev1", "start": place, "end": place + len(object_name), "surface": object_name}
        kind = world.value_type(prior["p"])
        values.append({"ref": "v", "value_type": kind, "normalized": {"text": object_name}, **cited})
    row = {
        "ref": "r",
        "subject_ref": "s",
        "original_predicate": wording,
        "object_ref": "o" if target else None,
        "object_value_ref": None if target else "v",
        "evidence_id": "$ev1",
        "polarity": prior.get("polarity", "+"),
        "start": 0,
        "end": len(said),
        **{name: prior[name] for name in ("valid_from", "valid_to", "scope") if name in prior},
    }
    bundle = {"security_signals": [], "mentions": mentions, "values": values, "observations": [row]}
    keys = {"s": subject.key, **({"o": target.key} if target else {})}
    return text, [{"stage": "extract", "response": bundle}, {"stage": "verify", "response": judged(keys, prior["p"])}]


def judged(keys: Mapping[str, str], predicate: str, verdict: str = "entailed") -> dict[str, Any]:
    """Return the verifier's answer that these mentions are these things and that the one statement holds."""
    base = {"confidence": 0.95, "rationale": "Scripted."}
    return {
        "request_id": "$req",
        "security_signals": [],
        "entity_results": [
            {"ref": ref, "action": "reuse", "candidate_entity_id": f"$cand:{key}", **base} for ref, key in keys.items()
        ],
        "relationship_results": [
            {
                "ref": "r",
                "predicate_status": "resolved",
                "predicate_key": predicate,
                "evidence_verdict": verdict,
                **base,
            }
        ],
    }


def _mention(ref: str, name: str, kind: str, at: int) -> dict[str, Any]:
    cited = {"evidence_id": "$ev1", "start": at, "end": at + len(name)}
    return {"ref": ref, "surface": name, "kind": kind, **cited}
