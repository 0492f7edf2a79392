"""The verifier's answer: the text is read again between exactly these spans; a failed gate means insufficient, never false."""

from collections.abc import Mapping
from typing import Any

from densemem.core.names import fold
from densemem.providers.rules.mentions import given, merge
from densemem.providers.rules.patterns import wordings
from densemem.providers.rules.reader import read
from densemem.providers.rules.shapes import Finding, Gate
from densemem.providers.rules.slots import SLOTS

Row = Mapping[str, Any]
_REASONS = {
    Gate.SPANS: "A surface is not the text at its span.",
    Gate.SENTENCE: "Subject and object do not stand in one sentence.",
    Gate.KINDS: "The kinds of the two ends leave the predicate open.",
    Gate.PATTERN: "No listed wording links exactly these two names in this direction.",
    Gate.FORM: "The verb is not in a form that states something.",
    Gate.CONTEXT: "The passage declares an example or an invention.",
    Gate.VETO: "A word of the sentence doubts, reports or plans.",
    Gate.LEAD: "What stands before the statement is not a listed opening.",
    Gate.TAIL: "What stands behind the statement is not a listed ending.",
    Gate.QUOTED: "The statement stands inside a quotation.",
    Gate.CODE: "The statement stands inside code, struck or hidden text.",
    Gate.HEADING: "The statement is an item under a heading that may turn it.",
    Gate.QUESTION: "The sentence is a question.",
    Gate.RETRACTED: "The next sentence may take the statement back.",
    Gate.SCOPE: "The text limits the statement to a scope that the draft does not carry.",
    Gate.MODALITY: "The draft is not a statement.",
    Gate.TENSE: "The text speaks of the past and the draft has no end, or the other way round.",
    Gate.VALIDITY: "The text does not give the draft's validity.",
    Gate.POLARITY: "The text denies what the draft affirms, or affirms what it denies.",
}


def verify(request: Row) -> dict[str, Any]:
    """Answer one verifier request with a result for every mention and observation."""
    text = request["evidence"][0]["content"]
    literal = {
        row["ref"]: row for row in request["entity_mentions"] if text[row["start"] : row["end"]] == row["surface"]
    }
    names = merge(
        [mention for row in literal.values() for mention in given(text, [(row["start"], row["end"])], row["kind"])]
    )
    findings = read(text, names, SLOTS)
    return {
        "request_id": request["request_id"],
        "security_signals": [],
        "entity_results": [_entity(row) for row in request["entity_mentions"]],
        "relationship_results": [
            _relationship(row, literal, findings, text) for row in request["relationship_observations"]
        ],
    }


def _entity(row: Row) -> dict[str, Any]:
    """Create without a plausible candidate, reuse the only one that bears the name, and leave the rest to a person."""
    plausible = [
        one for one in row["candidates"] if row["kind"] == one["kind"] or "other" in (row["kind"], one["kind"])
    ]
    if len(plausible) == 1 and _bears(row, plausible[0]):
        return _entity_result(row, "reuse", plausible[0]["entity_id"], 0.9, "One known name of a fitting kind.")
    if plausible:
        return _entity_result(
            row, "ambiguous", None, 0.5, "The evidence does not tell which of the known names is meant, if any."
        )
    return _entity_result(row, "create", None, 0.9, "No known name of a fitting kind.")


def _bears(row: Row, one: Row) -> bool:
    """Say whether a candidate has the mention's name; one that was only suggested has another."""
    return fold(one["canonical_name"]) == fold(row["surface"]) or "also_called" in one["identity_context"]


def _entity_result(row: Row, action: str, entity_id: str | None, confidence: float, rationale: str) -> dict[str, Any]:
    """Shape one entity result."""
    return {
        "ref": row["ref"],
        "action": action,
        "candidate_entity_id": entity_id,
        "confidence": confidence,
        "rationale": rationale,
    }


def _relationship(row: Row, literal: Mapping[str, Row], findings: list[Finding], text: str) -> dict[str, Any]:
    """Judge one observation by the finding between its two spans."""
    if not _is_literal(row, literal, text):
        return _result(row, _named(row), "insufficient", Gate.SPANS)
    finding = _matching(row, literal, findings)
    if finding is None:
        return _result(row, _named(row), "insufficient", _missing(row, literal, findings, text))
    key = finding.key if finding.key in row["predicate_candidates"] else None
    if finding.gate is not None:
        return _result(row, key, "insufficient", finding.gate)
    if finding.negative != (row["polarity"] == "-"):
        return _result(row, key, "contradicted" if finding.negative else "insufficient", Gate.POLARITY)
    return _result(row, key, *_bounds(row, finding))


def _is_literal(row: Row, literal: Mapping[str, Row], text: str) -> bool:
    """Say whether both ends are the text at their spans."""
    value = row["object_value"]
    if value is not None:
        return row["subject_ref"] in literal and text[value["start"] : value["end"]] == value["surface"]
    return row["subject_ref"] in literal and row["object_ref"] in literal


def _span(row: Row, literal: Mapping[str, Row]) -> tuple[int, int, int, int]:
    """Return start and end of subject and object."""
    subject = literal[row["subject_ref"]]
    object_ = row["object_value"] or literal[row["object_ref"]]
    return subject["start"], subject["end"], object_["start"], object_["end"]


def _matching(row: Row, literal: Mapping[str, Row], findings: list[Finding]) -> Finding | None:
    """Return the finding between exactly these spans whose predicate is offered; one that passed goes first."""
    place = _span(row, literal)
    fitting = [
        finding
        for finding in findings
        if (finding.subject.start, finding.subject.end, finding.object.start, finding.object.end) == place
        and finding.key in row["predicate_candidates"]
    ]
    return min(
        fitting,
        key=lambda finding: (finding.gate is not None, finding.wording != row["original_predicate"].casefold()),
        default=None,
    )


def _missing(row: Row, literal: Mapping[str, Row], findings: list[Finding], text: str) -> Gate:
    """Name the first gate of an observation that no pattern saw."""
    start, _, other, _ = _span(row, literal)
    low, high = sorted((start, other))
    return Gate.SENTENCE if "\n" in text[low:high] or ". " in text[low:high] else Gate.PATTERN


def _named(row: Row) -> str | None:
    """Return the only candidate whose wording is the observation's own."""
    table = wordings()
    wording = row["original_predicate"].casefold()
    named = [key for key in row["predicate_candidates"] if key == wording or wording in table.get(key, [])]
    if len(row["predicate_candidates"]) == 1:
        return str(row["predicate_candidates"][0])
    return str(named[0]) if len(named) == 1 else None


def _bounds(row: Row, finding: Finding) -> tuple[str, Gate | None]:
    """Compare modality, scope and time of the draft with what the text says."""
    if row["modality"] != "statement":
        return "insufficient", Gate.MODALITY
    if not _same_scope(row["scope"], finding.scope):
        return "insufficient", Gate.SCOPE
    if finding.ended != (row["valid_to"] is not None) and not (finding.valid_to and row["valid_to"]):
        return "insufficient", Gate.TENSE
    if row["valid_from"] is not None and not (finding.valid_from and row["valid_from"].startswith(finding.valid_from)):
        return "insufficient", Gate.VALIDITY
    if row["valid_to"] is not None and not _same_end(row["valid_to"], finding.valid_to):
        return "insufficient", Gate.VALIDITY
    return "entailed", None


def _same_end(asked: str, read_end: str | None) -> bool:
    """Say whether the end is the one that is written; where no day is, the server gives the time of observation."""
    if read_end is not None and asked.startswith(read_end):
        return True
    return "T" in asked and len(read_end or "") < len("2026-03-31")


def _same_scope(asked: str | None, read_scope: str | None) -> bool:
    """Say whether both are free of scope or name the same one."""
    if asked is None or read_scope is None:
        return asked is read_scope
    return read_scope.partition("=")[2].casefold() in asked.casefold()


def _result(row: Row, key: str | None, verdict: str, gate: Gate | None) -> dict[str, Any]:
    """Shape one relationship result; a failed gate is named at the start of the rationale."""
    rationale = (
        f"gate: {gate.value} - {_REASONS[gate]}"
        if gate
        else "All gates passed: a listed wording links both names in one plain statement."
    )
    return {
        "ref": row["ref"],
        "predicate_status": "resolved" if key else "needs_review",
        "predicate_key": key,
        "evidence_verdict": verdict,
        "confidence": 0.95 if gate is None else 0.3,
        "rationale": rationale,
    }
