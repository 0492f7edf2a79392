"""The remember request, checked as one unit before anything is stored ("Memory Write Pipeline", stage 1)."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator
from jsonschema.validators import extend

from densemem.core.faults import Fault, Refused
from densemem.core.names import NameRefused, lookup_key
from densemem.core.spans import Boundaries, SpanRefused, check_span, check_text
from densemem.core.times import TimeRefused, check_window, format_instant, parse_bound, parse_instant
from entities.policy import IdentifierRefused, ValueRefused, canonical_identifier, canonical_value
from entities.vocabulary import ValueType
from evidence.policy import AuthorityRefused, EvidenceIn, SourceClaim, check_authority
from evidence.vocabulary import Authority, SourceType
from placement.contract import first, pointer, sentence
from relationships.identity import ScopeRefused, scope_key

SCHEMA: Mapping[str, Any] = json.loads((Path(__file__).parent / "schemas" / "remember.json").read_text("utf-8"))
FORMATS = Draft202012Validator.FORMAT_CHECKER
# JSON Schema takes 1.0 for an integer; an offset or a version that is written so is a mistake.
TYPES = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
STRICT = extend(Draft202012Validator, type_checker=TYPES)
VALIDATOR = STRICT(SCHEMA, format_checker=FORMATS)
SURROGATE = re.compile("[\ud800-\udfff]")
REVISION_FIELDS = ("source_key", "source_revision", "previous_source_revision", "supersedes_fragment_ids")
OWNED_BY_SERVER = frozenset(
    {"team_id", "owner_profile_id", "profile_id", "entity_id", "tier", "status", "support", "promotion"}
)


class RequestInvalid(Refused):
    """The request breaks its contract; every fault is listed."""

    code = "invalid_request"


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """A request that keeps its contract; `proposals` holds, by evidence item, what of the proposal cites it."""

    evidence: tuple[EvidenceIn, ...]
    proposals: tuple[Mapping[str, Any] | None, ...]


def read_request(body: object) -> RememberRequest:
    """Check a remember request whole and return it in our own words.

    :raises RequestInvalid: with every fault, each at its JSON Pointer
    """
    faults = faults_of_shape(body, VALIDATOR)
    if not faults:
        assert isinstance(body, dict)
        faults = first(_faults_of_content(body))
    if faults:
        raise RequestInvalid("The request was not stored. Mend each place and send it again.", faults=faults)
    assert isinstance(body, dict)
    evidence = tuple(_evidence(item) for item in body["evidence"])
    proposal = body.get("proposal") or {}
    return RememberRequest(
        evidence, tuple(slice_proposal(proposal, i, item.content) for i, item in enumerate(evidence))
    )


TIMES = ("observed_at", "valid_from", "valid_to")
OPAQUE = ("metadata", "identity_context")  # the client's own words


def same_meaning(body: object) -> object:
    """Return a checked body with each time in UTC: what means the same is recognised as a retry of the same."""
    if isinstance(body, list):
        return [same_meaning(item) for item in body]
    if isinstance(body, dict):
        return {k: v if k in OPAQUE else _meaning(k, v) for k, v in body.items()}
    return body


def _meaning(name: str, value: object) -> object:
    return _in_utc(value) if name in TIMES and isinstance(value, str) else same_meaning(value)


def _in_utc(text: str) -> str:
    """Return a time in UTC, and a plain date as it is."""
    bound = parse_bound(text)
    return format_instant(bound.at) if bound.precision == "instant" else text


def check_authorities(request: RememberRequest, *, grants: frozenset[str]) -> None:
    """Refuse a claim of authority that was not granted for its source type; it is never downgraded.

    :raises AuthorityRefused: naming each item
    """
    faults = []
    for index, item in enumerate(request.evidence):
        try:
            check_authority(authority=item.authority, source_type=item.source_type, granted=grants)
        except AuthorityRefused as refused:
            faults.append(Fault(f"/evidence/{index}/authority", refused.code, refused.detail))
    if faults:
        raise AuthorityRefused("The request claims authority that this profile does not have.", faults=faults)


def slice_proposal(proposal: Mapping[str, Any], index: int, text: str) -> dict[str, Any] | None:
    """Return the part of a proposal that cites one evidence item, or names something that is written in it; or None."""
    relationships = [r for r in proposal.get("relationships", []) if _cites(r["evidence"], index)]
    wanted = {r["subject_ref"] for r in relationships} | {r["object_ref"] for r in relationships if "object_ref" in r}
    entities = [
        entity
        for entity in proposal.get("entities", [])
        if entity["ref"] in wanted
        or _cites(entity.get("mentions", []), index)
        or (not entity.get("mentions") and any(name in text for name in (entity["name"], *entity.get("aliases", []))))
    ]
    if not relationships and not entities:
        return None
    return {
        "entities": [{**e, "mentions": _spans(e.get("mentions", []), index)} for e in entities],
        "relationships": [{**r, "evidence": _spans(r["evidence"], index)} for r in relationships],
    }


def proposal_about(text: str, proposal: Mapping[str, Any]) -> dict[str, Any] | None:
    """Check a proposal about one text, and return the part of it that cites the text.

    :raises RequestInvalid: with every fault, each at its JSON Pointer
    """
    faults = first(_faults_of_proposal(proposal, [text]))
    if faults:
        raise RequestInvalid("The proposal does not fit the text. Mend each place and send it again.", faults=faults)
    return slice_proposal(proposal, 0, text)


def _cites(spans: Sequence[Mapping[str, Any]], index: int) -> bool:
    return any(span["evidence_index"] == index for span in spans)


def _spans(spans: Sequence[Mapping[str, Any]], index: int) -> list[dict[str, int]]:
    return [{"start": s["start"], "end": s["end"]} for s in spans if s["evidence_index"] == index]


CODES: Mapping[str, str] = {
    "additionalProperties": "unknown_field",
    "enum": "unknown_word",
    "required": "missing_field",
    "type": "wrong_type",
}


def faults_of_shape(body: object, validator: Validator) -> list[Fault]:
    """Return what keeps a body from being read at all: characters that no table can hold, else a broken schema."""
    # Characters first: a name that no table can hold must not reach a pointer either.
    return first(_faults_of_characters(body)) or first(_broken_rules(body, validator))


def _broken_rules(body: Any, validator: Validator) -> Iterator[Fault]:
    """Translate what a schema finds, without quoting a value: it may be evidence."""
    for error in validator.iter_errors(body):
        place, rule = pointer(*error.absolute_path), str(error.validator)
        given: Any = error.instance
        schema: Any = error.schema
        extra = set(given) - set(schema["properties"]) if rule == "additionalProperties" else set()
        if owned := sorted(extra & OWNED_BY_SERVER):
            detail = f"Leave out {', '.join(owned)}: the server decides that by itself."
            yield Fault(place, "field_is_set_by_server", detail)
        if not owned or extra - OWNED_BY_SERVER:
            yield Fault(place, CODES.get(rule, f"broken_{rule}"), sentence(error))


def _faults_of_characters(value: object, *path: str | int) -> Iterator[Fault]:
    """Find, in every name and text, the characters that no table can hold."""
    if isinstance(value, str):
        if "\0" in value or SURROGATE.search(value):
            yield Fault(pointer(*path), "bad_character", "NUL and lone surrogates cannot be stored.")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _faults_of_characters(item, *path, index)
    elif isinstance(value, dict):
        for name, item in value.items():
            bad_name = list(_faults_of_characters(name, *path))
            yield from bad_name or _faults_of_characters(item, *path, name)


def _faults_of_content(body: Mapping[str, Any]) -> Iterator[Fault]:
    texts = [item["content"] for item in body["evidence"]]
    for index, item in enumerate(body["evidence"]):
        yield from _faults_of_evidence(item, index)
    yield from _faults_of_sources(body["evidence"])
    yield from _faults_of_proposal(body.get("proposal") or {}, texts)


def _faults_of_proposal(proposal: Mapping[str, Any], texts: Sequence[str]) -> Iterator[Fault]:
    borders = [Boundaries(text) for text in texts]
    entities, relationships = proposal.get("entities", []), proposal.get("relationships", [])
    yield from _twice(entities, "ref", "entities")
    yield from _twice(relationships, "proposal_id", "relationships")
    for index, entity in enumerate(entities):
        yield from _faults_of_entity(entity, f"/proposal/entities/{index}", texts, borders)
    refs = {entity["ref"] for entity in entities}
    for index, relationship in enumerate(relationships):
        at = f"/proposal/relationships/{index}"
        yield from _faults_of_relationship(relationship, at, refs)
        yield from _faults_of_spans(relationship["evidence"], f"{at}/evidence", texts, borders)


def _faults_of_evidence(item: Mapping[str, Any], index: int) -> Iterator[Fault]:
    at = f"/evidence/{index}"
    try:
        check_text(item["content"])
    except SpanRefused as refused:
        yield Fault(f"{at}/content", refused.code, refused.message)
    if "observed_at" in item:
        yield from _fault_of_time(parse_instant, item["observed_at"], f"{at}/observed_at")


def _fault_of_time(read: Any, text: str, at: str) -> Iterator[Fault]:
    try:
        read(text)
    except TimeRefused as refused:
        yield Fault(at, refused.code, refused.detail)


def _faults_of_sources(items: Sequence[Mapping[str, Any]]) -> Iterator[Fault]:
    """All or none of the revision fields, and one revision of one source in one request."""
    seen: dict[str, dict[str, Any]] = {}
    for index, item in enumerate(items):
        at = f"/evidence/{index}"
        keyed = "source_key" in item and "source_revision" in item
        if not keyed and any(name in item for name in REVISION_FIELDS):
            detail = "source_key and source_revision go together; the other revision fields need both."
            yield Fault(at, "source_fields_incomplete", detail)
        elif keyed:
            claim = {name: item.get(name) for name in REVISION_FIELDS}
            if seen.setdefault(item["source_key"], claim) != claim:
                detail = "All items of one source in a request carry the same revision fields."
                yield Fault(f"{at}/source_revision", "source_fields_differ", detail)


def _twice(rows: Sequence[Mapping[str, Any]], name: str, where: str) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, row in enumerate(rows):
        if row[name] in seen:
            yield Fault(f"/proposal/{where}/{index}/{name}", "duplicate_ref", "This ref is used twice.")
        seen.add(row[name])


def _faults_of_entity(
    entity: Mapping[str, Any], at: str, texts: Sequence[str], borders: Sequence[Boundaries]
) -> Iterator[Fault]:
    for place, name in [
        ("name", entity["name"]),
        *((f"aliases/{i}", a) for i, a in enumerate(entity.get("aliases", []))),
    ]:
        try:
            lookup_key(name)
        except NameRefused as refused:
            yield Fault(f"{at}/{place}", refused.code, refused.detail)
    for index, given in enumerate(entity.get("identifiers", [])):
        try:
            canonical_identifier(given["scheme"], given["value"])
        except IdentifierRefused as unreadable:
            yield Fault(f"{at}/identifiers/{index}", unreadable.code, unreadable.detail)
    yield from _faults_of_spans(entity.get("mentions", []), f"{at}/mentions", texts, borders)


def _faults_of_spans(
    spans: Sequence[Mapping[str, Any]], at: str, texts: Sequence[str], borders: Sequence[Boundaries]
) -> Iterator[Fault]:
    for place, span in enumerate(spans):
        index = span["evidence_index"]
        if index >= len(texts):
            yield Fault(f"{at}/{place}/evidence_index", "unknown_evidence", "There is no evidence item of this index.")
            continue
        try:
            check_span(texts[index], span["start"], span["end"], boundaries=borders[index])
        except SpanRefused as refused:
            yield Fault(f"{at}/{place}", refused.code, refused.message)
            continue
        if "surface" in span and span["surface"] != texts[index][span["start"] : span["end"]]:
            yield Fault(f"{at}/{place}/surface", "span_surface_mismatch", "The text at this span is another one.")


NO_OBJECT = (
    "Set object_ref to the ref of an entity for a named thing, or set object_value for a number, date or text, "
    "or remove this relationship."
)
TWO_OBJECTS = "Keep only one of object_ref and object_value; leave the other out."


def _faults_of_relationship(row: Mapping[str, Any], at: str, refs: set[str]) -> Iterator[Fault]:
    for name in ("subject_ref", "object_ref"):
        if name in row and row[name] not in refs:
            yield Fault(f"{at}/{name}", "unknown_ref", "No entity of the proposal has this ref.")
    if ("object_ref" in row) == ("object_value" in row):
        yield Fault(at, "one_object_form", TWO_OBJECTS if "object_ref" in row else NO_OBJECT)
    if "object_value" in row:
        yield from _fault_of_value(row["object_value"], f"{at}/object_value")
    if row.get("scope"):
        try:
            scope_key(row["scope"])
        except ScopeRefused as refused:
            yield Fault(f"{at}/scope", refused.code, refused.detail)
    yield from _faults_of_validity(row, at)


def _fault_of_value(value: Mapping[str, Any], at: str) -> Iterator[Fault]:
    try:
        canonical_value(ValueType(value["type"]), plain_value(value["value"]), value.get("unit"))
    except ValueRefused as refused:
        yield Fault(at, refused.code, refused.detail)


def plain_value(value: object) -> str:
    """Return a JSON literal as the text that value rules read."""
    return json.dumps(value) if isinstance(value, bool | int | float) else str(value)


def _faults_of_validity(row: Mapping[str, Any], at: str) -> Iterator[Fault]:
    bounds = {name: row.get(name) for name in ("valid_from", "valid_to")}
    faults = [f for name, text in bounds.items() if text for f in _fault_of_time(parse_bound, text, f"{at}/{name}")]
    yield from faults
    if all(bounds.values()) and not faults:
        try:
            check_window(parse_bound(str(bounds["valid_from"])).at, parse_bound(str(bounds["valid_to"])).at)
        except TimeRefused as refused:
            yield Fault(f"{at}/valid_to", refused.code, refused.detail)


def _evidence(item: Mapping[str, Any]) -> EvidenceIn:
    claim = None
    if "source_key" in item:
        supersedes = tuple(UUID(text) for text in item.get("supersedes_fragment_ids", []))
        claim = SourceClaim(
            item["source_key"], item["source_revision"], item.get("previous_source_revision"), supersedes
        )
    return EvidenceIn(
        content=item["content"],
        source_type=SourceType(item["source_type"]),
        authority=Authority(item.get("authority", Authority.UNKNOWN)),
        source_label=item.get("source", ""),
        group_hint=item.get("source_group"),
        source=claim,
        derived_from=tuple(UUID(text) for text in item.get("derived_from_fragment_ids", [])),
        observed_at=parse_instant(item["observed_at"]) if "observed_at" in item else None,
        labels=tuple(item.get("labels", [])),
        metadata=item.get("metadata", {}),
    )
