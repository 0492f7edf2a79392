"""What a person decides, checked as one unit before anything is stored ("Client Review")."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from densemem.core.faults import Fault
from placement.request import FORMATS, SCHEMA, STRICT, RequestInvalid, faults_of_shape
from review.policy import REQUIRED
from review.vocabulary import DecisionAction

SCHEMAS: Final = Path(__file__).parent / "schemas"
EVIDENCE: Final = {"evidence": SCHEMA["properties"]["evidence"]}
ACTION_FIELDS: Final = frozenset(
    {"entity_ref", "candidate_entity_id", "observation_id", "predicate_key", "predicate_version"}
)


def _schema(name: str, *, with_evidence: bool) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))
    if not with_evidence:
        return read
    return {**read, "$defs": SCHEMA["$defs"], "properties": {**read["properties"], **EVIDENCE}}


DECISION: Final = _schema("decision", with_evidence=True)
RETRACTION: Final = _schema("retraction", with_evidence=True)
STATEMENT: Final = _schema("statement", with_evidence=True)
REASON: Final = _schema("reason", with_evidence=False)
VALIDATORS: Final = {
    name: STRICT(schema, format_checker=FORMATS)
    for name, schema in (
        ("decision", DECISION),
        ("retraction", RETRACTION),
        ("statement", STATEMENT),
        ("reason", REASON),
    )
}


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """A decision that keeps its contract; `evidence` is a remember request of its own, checked when it is staged."""

    action: DecisionAction
    message: str = ""
    item_id: UUID | None = None
    item_version: int | None = None
    entity_ref: str = ""
    entity_id: UUID | None = None
    observation_id: UUID | None = None
    predicate_key: str = ""
    predicate_version: int | None = None
    fragment_ids: tuple[UUID, ...] = ()
    evidence: Mapping[str, Any] | None = None


def read_decision(body: object) -> DecisionRequest:
    """Check a decision whole and return it in our own words.

    :raises RequestInvalid: with every fault, each at its JSON Pointer
    """
    given = _checked(body, "decision")
    action = DecisionAction(given["action"])
    if faults := list(_faults_of_action(action, given)):
        raise RequestInvalid("The decision was not taken. Mend each place and send it again.", faults=faults)
    return _request(action, given)


def read_retraction(body: object) -> DecisionRequest:
    """Check a retraction whole.

    :raises RequestInvalid: with every fault
    """
    return _request(DecisionAction.FORGET, _checked(body, "retraction"))


def read_statement(body: object) -> DecisionRequest:
    """Check a statement that positions do not compete whole.

    :raises RequestInvalid: with every fault
    """
    return _request(DecisionAction.NOT_COMPETING, _checked(body, "statement"))


def read_reason(body: object, action: DecisionAction) -> DecisionRequest:
    """Check a body that gives nothing but a reason.

    :raises RequestInvalid: with every fault
    """
    given = _checked(body, "reason")
    return _request(action, {"message": given["reason"]})


def _checked(body: object, name: str) -> Mapping[str, Any]:
    faults = faults_of_shape(body, VALIDATORS[name])
    if not faults:
        assert isinstance(body, dict)
        text = body.get("message", body.get("reason"))
        faults = [] if text is None or text.strip() else [Fault("/message", "blank_text", "Say why, in words.")]
    if faults:
        raise RequestInvalid("Nothing was decided. Mend each place and send it again.", faults=faults)
    assert isinstance(body, dict)
    return body


def _faults_of_action(action: DecisionAction, given: Mapping[str, Any]) -> Iterator[Fault]:
    """Find the fields that the action lacks, and those that it has no use for."""
    present = set(given) | ({"evidence"} if "fragment_ids" in given else set())
    for name in sorted(REQUIRED[action] - present):
        more = ", or fragment_ids of evidence that the team has" if name == "evidence" else ""
        yield Fault(f"/{name}", "missing_field", f"The action {action} needs {name}{more}.")
    for name in sorted((set(given) & ACTION_FIELDS) - REQUIRED[action]):
        yield Fault(f"/{name}", "field_not_used", f"The action {action} has no use for {name}: leave it out.")


def _request(action: DecisionAction, given: Mapping[str, Any]) -> DecisionRequest:
    return DecisionRequest(
        action=action,
        message=given.get("message", ""),
        item_id=_id(given.get("item_id")),
        item_version=given.get("item_version"),
        entity_ref=given.get("entity_ref", ""),
        entity_id=_id(given.get("candidate_entity_id")),
        observation_id=_id(given.get("observation_id")),
        predicate_key=given.get("predicate_key", ""),
        predicate_version=given.get("predicate_version"),
        fragment_ids=tuple(UUID(text) for text in given.get("fragment_ids", [])),
        evidence={"evidence": given["evidence"]} if "evidence" in given else None,
    )


def _id(text: str | None) -> UUID | None:
    return UUID(text) if text else None
