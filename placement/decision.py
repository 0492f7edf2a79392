"""What a person decides, checked as one unit before anything is stored ("Client Review")."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from densemem.core.faults import Fault
from densemem.core.names import NameRefused, lookup_key
from densemem.core.times import TimeRefused, parse_bound
from entities.policy import CanonicalValue, ValueRefused, canonical_value
from entities.vocabulary import BasisKind, IdentityKind, ValueType
from placement.request import FORMATS, SCHEMA, STRICT, RequestInvalid, faults_of_shape, plain_value
from relationships.policy import PredicateView
from relationships.vocabulary import Cardinality, Lifecycle, RelationshipKind, TimePrecision
from review.policy import REQUIRED
from review.vocabulary import DecisionAction

SCHEMAS: Final = Path(__file__).parent / "schemas"
EVIDENCE: Final = {"evidence": SCHEMA["properties"]["evidence"]}
ACTION_FIELDS: Final = frozenset(
    {"entity_ref", "candidate_entity_id", "observation_id", "predicate_key", "predicate_version"}
)


def _schema(name: str, *, with_evidence: bool) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))
    return _with(read, EVIDENCE) if with_evidence else read


def _with(schema: dict[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """Add fields of the remember request to a schema."""
    return {**schema, "$defs": SCHEMA["$defs"], "properties": {**schema["properties"], **shared}}


DECISION: Final = _schema("decision", with_evidence=True)
RETRACTION: Final = _schema("retraction", with_evidence=True)
STATEMENT: Final = _schema("statement", with_evidence=True)
CORRECTION: Final = _schema("correction", with_evidence=True)
HOLD: Final = _schema("hold", with_evidence=False)
RENAME: Final = _schema("rename", with_evidence=False)
REASON: Final = _schema("reason", with_evidence=False)
PROPOSAL: Final = {"proposal": SCHEMA["properties"]["proposal"]}
ADOPTION: Final = _with(_schema("adoption", with_evidence=False), PROPOSAL)
PREDICATE: Final = _schema("predicate", with_evidence=False)
WORDING: Final = _schema("wording", with_evidence=False)
LIFECYCLE: Final = _schema("lifecycle", with_evidence=False)
IDENTITY: Final = _schema("identity", with_evidence=False)
VALIDATORS: Final = {
    name: STRICT(schema, format_checker=FORMATS)
    for name, schema in (
        ("decision", DECISION),
        ("retraction", RETRACTION),
        ("reason", REASON),
        ("adoption", ADOPTION),
        ("predicate", PREDICATE),
        ("wording", WORDING),
        ("lifecycle", LIFECYCLE),
        ("statement", STATEMENT),
        ("correction", CORRECTION),
        ("hold", HOLD),
        ("identity", IDENTITY),
        ("rename", RENAME),
    )
}
BOUNDS: Final = ("valid_from", "valid_to")
OF_IDENTITY: Final[Mapping[IdentityKind, frozenset[str]]] = {
    IdentityKind.MERGE: frozenset({"survivor_id", "absorbed_ids", "basis"}),
    IdentityKind.SPLIT: frozenset({"entity_id", "children"}),
    IdentityKind.DISTINCT: frozenset({"entity_ids"}),
    IdentityKind.WITHDRAW: frozenset({"identity_id"}),
}
ACTION_OF: Final[Mapping[IdentityKind, DecisionAction]] = {
    IdentityKind.MERGE: DecisionAction.MERGE,
    IdentityKind.SPLIT: DecisionAction.SPLIT,
    IdentityKind.DISTINCT: DecisionAction.DISTINCT,
    IdentityKind.WITHDRAW: DecisionAction.WITHDRAW_IDENTITY,
}
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
class GivenBasis:
    """What the caller says that a decision about identity rests on, for one of its entities."""

    kind: BasisKind
    entity_id: UUID | None
    scheme: str
    value: str
    fragment_id: UUID | None
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class IdentityRequest:
    """
    A decision about who is who.

    :param entities: of a merge the survivor, then what it absorbs; of a split the parent; of two kept apart, both
    :param children: of a split, for each child the observations that speak of it
    :param identity_id: the decision that is withdrawn
    :param token: of the preview; empty where it is previewed
    """

    kind: IdentityKind
    entities: tuple[UUID, ...] = ()
    children: tuple[tuple[UUID, ...], ...] = ()
    basis: tuple[GivenBasis, ...] = ()
    identity_id: UUID | None = None
    token: str = ""


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
    fragment_id: UUID | None = None
    spans: tuple[tuple[int, int], ...] = ()
    proposal: Mapping[str, Any] | None = None
    evidence: Mapping[str, Any] | None = None
    correction: Correction | None = None
    identity: IdentityRequest | None = None


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


def read_adoption(body: object) -> DecisionRequest:
    """Check an adoption, but for what its text must tell.

    :raises RequestInvalid: with every fault
    """
    given = _checked(body, "adoption")
    return DecisionRequest(
        action=DecisionAction.ADOPT,
        message=given.get("message", ""),
        fragment_id=UUID(given["fragment_id"]),
        spans=tuple((span["start"], span["end"]) for span in given["spans"]),
        proposal=given.get("proposal"),
    )


def read_statement(body: object) -> DecisionRequest:
    """Check a statement that positions do not compete whole.

    :raises RequestInvalid: with every fault
    """
    return _request(DecisionAction.NOT_COMPETING, _checked(body, "statement"))


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


def read_identity(body: object) -> DecisionRequest:
    """Check a decision about who is who whole.

    :raises RequestInvalid: with every fault
    """
    given = _checked(body, "identity")
    kind = IdentityKind(given["kind"])
    wanted = OF_IDENTITY[kind]
    faults = [Fault(f"/{name}", "missing_field", f"A {kind} needs {name}.") for name in sorted(wanted - set(given))]
    faults += [
        Fault(f"/{name}", "field_not_used", f"A {kind} has no use for {name}: leave it out.")
        for name in sorted(frozenset().union(*OF_IDENTITY.values()) & set(given) - wanted)
    ]
    faults += [f for i, row in enumerate(given.get("basis", [])) for f in _faults_of_basis(i, row)]
    if faults:
        raise RequestInvalid("Nothing was decided. Mend each place and send it again.", faults=faults)
    named = [given.get("survivor_id") or given.get("entity_id"), *given.get("absorbed_ids", ())]
    identity = IdentityRequest(
        kind=kind,
        entities=tuple(UUID(text) for text in [*named, *given.get("entity_ids", ())] if text),
        children=tuple(tuple(map(UUID, child["observation_ids"])) for child in given.get("children", [])),
        basis=tuple(map(_basis, given.get("basis", []))),
        identity_id=_id(given.get("identity_id")),
        token=given.get("token", ""),
    )
    return DecisionRequest(action=ACTION_OF[kind], message=given["reason"], identity=identity)


def _faults_of_basis(index: int, row: Mapping[str, Any]) -> Iterator[Fault]:
    cited = {"fragment_id", "start", "end"}
    wanted = {"scheme", "value"} if row["kind"] == BasisKind.IDENTIFIER else cited
    for name in sorted(wanted - set(row)):
        yield Fault(f"/basis/{index}/{name}", "missing_field", f"A basis of the kind {row['kind']} needs {name}.")
    for name in sorted((cited | {"scheme", "value"}) & set(row) - wanted):
        yield Fault(f"/basis/{index}/{name}", "field_not_used", f"A basis of the kind {row['kind']} has no {name}.")
    if wanted is cited and not wanted - set(row) and row["end"] <= row["start"]:
        yield Fault(f"/basis/{index}/end", "span_is_empty", "A span ends after it begins.")


def _basis(row: Mapping[str, Any]) -> GivenBasis:
    return GivenBasis(
        kind=BasisKind(row["kind"]),
        entity_id=_id(row.get("entity_id")),
        scheme=row.get("scheme", ""),
        value=row.get("value", ""),
        fragment_id=_id(row.get("fragment_id")),
        start=row.get("start"),
        end=row.get("end"),
    )


def read_hold(body: object, action: DecisionAction) -> DecisionRequest:
    """Check a body that says why something is held back, or no longer.

    :raises RequestInvalid: with every fault
    """
    return _request(action, _checked(body, "hold"))


def read_rename(body: object) -> tuple[DecisionRequest, str]:
    """Check a renaming, but for what its text must tell, and return it with the name.

    :raises RequestInvalid: with every fault
    """
    given = _checked(body, "rename")
    try:
        lookup_key(given["name"])
    except NameRefused as refused:
        faults = [Fault("/name", refused.code, refused.detail)]
        raise RequestInvalid("Nothing was decided. Mend each place and send it again.", faults=faults) from None
    asked = DecisionRequest(
        action=DecisionAction.RENAME,
        message=given["reason"],
        fragment_id=UUID(given["fragment_id"]),
        fragment_ids=(UUID(given["fragment_id"]),),
        spans=((given["start"], given["end"]),),
    )
    return asked, given["name"]


def read_reason(body: object, action: DecisionAction) -> DecisionRequest:
    """Check a body that gives nothing but a reason.

    :raises RequestInvalid: with every fault
    """
    given = _checked(body, "reason")
    return _request(action, {"message": given["reason"]})


def read_predicate(body: object) -> tuple[DecisionRequest, PredicateView]:
    """Check the registration of a predicate whole, and return the first version of it.

    :raises RequestInvalid: with every fault
    """
    given = _checked(body, "predicate")
    aliases, inverse = given["aliases"], given.get("inverse_aliases", [])
    places = [(f"/aliases/{i}", wording) for i, wording in enumerate(aliases)]
    places += [(f"/inverse_aliases/{i}", wording) for i, wording in enumerate(inverse)]
    _check_wordings(places)
    new = PredicateView(
        key=given["key"],
        version=1,
        active=tuple(map(_plain, aliases)),
        inverse=tuple(map(_plain, inverse)),
        symmetric=given.get("symmetric", False),
        subject_kinds=frozenset(given["subject_kinds"]),
        object_kinds=frozenset(given["object_kinds"]),
        kind=RelationshipKind(given["relationship_kind"]),
        cardinality=Cardinality(given["cardinality"]),
        shelf_days=given.get("shelf_days"),
        example=given.get("example", ""),
    )
    return _request(DecisionAction.REGISTER, {"message": given["reason"]}), new


def read_wording(body: object) -> tuple[DecisionRequest, str]:
    """Check a wording that is to mean a predicate.

    :raises RequestInvalid: with every fault
    """
    given = _checked(body, "wording")
    _check_wordings([("/wording", given["wording"])])
    return _request(DecisionAction.REGISTER, {"message": given["reason"]}), _plain(given["wording"])


def read_lifecycle(body: object) -> tuple[DecisionRequest, Lifecycle]:
    """Check what is to become of a predicate: to take it back into use is to register it.

    :raises RequestInvalid: with every fault
    """
    given = _checked(body, "lifecycle")
    state = Lifecycle(given["state"])
    action = DecisionAction.REGISTER if state is Lifecycle.ACTIVE else DecisionAction.RETIRE_PREDICATE
    return _request(action, {"message": given["reason"]}), state


def _plain(wording: str) -> str:
    return " ".join(wording.split())


def _check_wordings(places: Sequence[tuple[str, str]]) -> None:
    """Refuse wordings in which nothing can be read, and those that are given twice.

    :param places: (JSON Pointer, wording)
    """
    faults, seen = [], set[str]()
    for place, wording in places:
        try:
            key = lookup_key(wording)
        except NameRefused as refused:
            faults.append(Fault(place, refused.code, "Give the words as they stand in texts."))
            continue
        if key in seen:
            faults.append(Fault(place, "wording_repeated", "Give each wording once, whatever its case and spacing."))
        seen.add(key)
    if faults:
        raise RequestInvalid("Nothing was decided. Mend each place and send it again.", faults=faults)


def _checked(body: object, name: str) -> Mapping[str, Any]:
    faults = faults_of_shape(body, VALIDATORS[name])
    if not faults:
        assert isinstance(body, dict)
        name = "message" if "message" in body else "reason"
        blank = name in body and not body[name].strip()
        faults = [Fault(f"/{name}", "blank_text", "Say why, in words.")] if blank else []
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
