"""What a person decides, checked as one unit before anything is stored ("Client Review")."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from densemem.core.faults import Fault
from densemem.core.times import TimeRefused, parse_bound
from entities.policy import CanonicalValue, ValueRefused, canonical_value
from entities.vocabulary import ValueType
from placement.request import FORMATS, SCHEMA, STRICT, RequestInvalid, faults_of_shape, plain_value
from relationships.vocabulary import TimePrecision
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
CORRECTION: Final = _schema("correction", with_evidence=True)
HOLD: Final = _schema("hold", with_evidence=False)
REASON: Final = _schema("reason", with_evidence=False)
VALIDATORS: Final = {
    name: STRICT(schema, format_checker=FORMATS)
    for name, schema in (
        ("decision", DECISION),
        ("retraction", RETRACTION),
        ("correction", CORRECTION),
        ("hold", HOLD),
        ("reason", REASON),
    )
}
BOUNDS: Final = ("valid_from", "valid_to")
CORRECTABLE: Final = frozenset({"object_value", "unit", *BOUNDS})


@dataclass(frozen=True, slots=True)
class Correction:
    """
    What was wrong of a Relationship; what is not named stays.

    :param value: in place of the typed value
    :param unit: in place of its unit alone, where `unit_alone`; None takes it away
    :param bounds: by `valid_from` or `valid_to`, the moment and how exactly it is known; two None for an open end
    """

    value: CanonicalValue | None
    unit_alone: bool
    unit: str | None
    bounds: Mapping[str, tuple[datetime | None, TimePrecision | None]]


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
    correction: Correction | None = None


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


def read_correction(body: object) -> DecisionRequest:
    """Check a correction whole; values and bounds are read into their one form.

    :raises RequestInvalid: with every fault
    """
    given = _checked(body, "correction")
    faults: list[Fault] = []
    if not CORRECTABLE & set(given):
        faults.append(Fault("", "nothing_to_correct", f"Name what was wrong: {', '.join(sorted(CORRECTABLE))}."))
    if "object_value" in given and "unit" in given:
        faults.append(Fault("/unit", "field_not_used", "Give the unit inside object_value."))
    correction = Correction(
        value=_value(given["object_value"], faults) if "object_value" in given else None,
        unit_alone="unit" in given,
        unit=given.get("unit"),
        bounds={name: _bound(given[name], name, faults) for name in BOUNDS if name in given},
    )
    if faults:
        raise RequestInvalid("Nothing was corrected. Mend each place and send it again.", faults=faults)
    return replace(_request(DecisionAction.AMEND, given), correction=correction)


def read_hold(body: object, action: DecisionAction) -> DecisionRequest:
    """Check a body that says why something is held back, or no longer.

    :raises RequestInvalid: with every fault
    """
    return _request(action, _checked(body, "hold"))


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


def _value(given: Mapping[str, Any], faults: list[Fault]) -> CanonicalValue | None:
    """Return a typed value in its one form, or add a fault."""
    try:
        return canonical_value(ValueType(given["type"]), plain_value(given["value"]), given.get("unit"))
    except ValueRefused as refused:
        faults.append(Fault("/object_value", refused.code, refused.detail))
        return None


def _bound(text: str | None, name: str, faults: list[Fault]) -> tuple[datetime | None, TimePrecision | None]:
    """Return a bound of validity, or add a fault."""
    if text is None:
        return None, None
    try:
        bound = parse_bound(text)
    except TimeRefused as refused:
        faults.append(Fault(f"/{name}", refused.code, refused.detail))
        return None, None
    return bound.at, TimePrecision(bound.precision)


def _id(text: str | None) -> UUID | None:
    return UUID(text) if text else None
