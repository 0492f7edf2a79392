"""The verifier's answer: one result for each mention and observation ("Strict Verifier Contract", checks 1-10)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from json import dumps
from typing import Any

from densemem.core.faults import Fault
from entities.vocabulary import ResolutionAction
from placement.contract.faults import AnswerRefused, first, pointer
from placement.contract.grounds import Grounds, Place, Signal, signal_faults, signals_of
from placement.contract.strict import VERIFIER_RESPONSE, read_closed
from relationships.vocabulary import PredicateStatus, Verdict

Accepts = Mapping[str, tuple[Collection[str], Collection[str]]]
"""Predicate key -> (subject kinds, object kinds and value types) of the registry; `other` fits where it is listed."""


@dataclass(frozen=True, slots=True)
class EntityResult:
    """What to do with one mention; `candidate_id` is set for `reuse` alone."""

    action: ResolutionAction
    candidate_id: str | None
    confidence: Decimal
    rationale: str


@dataclass(frozen=True, slots=True)
class ObservationResult:
    """What the evidence says of one observation; `predicate_key` is None while the predicate needs review."""

    predicate_key: str | None
    verdict: Verdict
    confidence: Decimal
    rationale: str


@dataclass(frozen=True, slots=True)
class Verification:
    """One whole accepted answer, by ref; with any signal it is security history, never semantic input."""

    signals: tuple[Signal, ...]
    entities: dict[str, EntityResult]
    observations: dict[str, ObservationResult]


def read_verification(text: str, *, request: Mapping[str, Any], accepts: Accepts) -> Verification:
    """Return the verifier's answer to one immutable request.

    :param request: the verifier request that was sent (`verifier_request.json`); its candidates are the allow-lists
    :param accepts: the registry's endpoint kinds of every predicate that the request offers
    :raises AnswerRefused: the answer has faults; none of it may be used
    """
    data = read_closed(text, schema=VERIFIER_RESPONSE)
    faults = first(_faults(data, request=request, accepts=accepts))
    if faults:
        raise AnswerRefused(faults)
    return Verification(
        signals=signals_of(data["security_signals"]),
        entities={item["ref"]: _entity(item) for item in data["entity_results"]},
        observations={item["ref"]: _observation(item) for item in data["relationship_results"]},
    )


def _faults(data: Mapping[str, Any], *, request: Mapping[str, Any], accepts: Accepts) -> Iterator[Fault]:
    """Yield every fault that needs the request to see; the null rules of checks 6 and 8 are in the schema."""
    mentions = {item["ref"]: item for item in request["entity_mentions"]}
    asked = {item["ref"]: item for item in request["relationship_observations"]}
    if data["request_id"] != request["request_id"]:
        yield Fault("/request_id", "request_id_wrong", "Repeat the request_id of the request exactly.")
    yield from signal_faults(data["security_signals"], grounds=Grounds(request))
    yield from _coverage(data["entity_results"], name="entity_results", asked=mentions)
    yield from _coverage(data["relationship_results"], name="relationship_results", asked=asked)
    yield from _reuse_faults(data["entity_results"], mentions=mentions)
    kinds = _resolved_kinds(data["entity_results"], mentions=mentions)
    for index, item in enumerate(data["relationship_results"]):
        observation = asked.get(item["ref"])
        if observation is not None:
            at = ("relationship_results", index)
            yield from _endpoint_faults(observation, kinds=kinds, at=at)
            yield from _predicate_faults(item, observation, kinds=kinds, accepts=accepts, at=at)


def _coverage(items: Sequence[Mapping[str, Any]], *, name: str, asked: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for each ref that is unknown, answered twice, or missing (checks 3 and 4)."""
    seen: set[str] = set()
    for index, item in enumerate(items):
        ref = item["ref"]
        if ref not in asked:
            yield Fault(pointer(name, index, "ref"), "ref_unknown", f"The request has no ref {dumps(ref)} here.")
        elif ref in seen:
            yield Fault(pointer(name, index, "ref"), "ref_repeated", f"The ref {dumps(ref)} is answered twice.")
        seen.add(ref)
    for ref in asked:
        if ref not in seen:
            yield Fault(pointer(name), "result_missing", f"There is no result for the ref {dumps(ref)}.")


def _candidate(mention: Mapping[str, Any], entity_id: str | None) -> Mapping[str, Any] | None:
    """Return the candidate of that id from the mention's own allow-list, or None."""
    return next((item for item in mention["candidates"] if item["entity_id"] == entity_id), None)


def _reuse_faults(items: Sequence[Mapping[str, Any]], *, mentions: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield a fault for each reuse of an Entity that was not offered for that mention (check 5)."""
    for index, item in enumerate(items):
        mention = mentions.get(item["ref"])
        if mention is None or item["action"] != ResolutionAction.REUSE:
            continue
        if _candidate(mention, item["candidate_entity_id"]) is None:
            detail = "Choose an entity_id from this mention's own candidates, or answer create or ambiguous with null."
            yield Fault(pointer("entity_results", index, "candidate_entity_id"), "candidate_not_offered", detail)


def _resolved_kinds(items: Sequence[Mapping[str, Any]], *, mentions: Mapping[str, Any]) -> dict[str, str]:
    """Return the kind each mention would have: that of the reused Entity, else its own."""
    kinds = {ref: mention["kind"] for ref, mention in mentions.items()}
    for item in items:
        if item["ref"] in mentions and item["action"] == ResolutionAction.REUSE:
            candidate = _candidate(mentions[item["ref"]], item["candidate_entity_id"])
            kinds[item["ref"]] = candidate["kind"] if candidate else kinds[item["ref"]]
    return kinds


def _object_kind(observation: Mapping[str, Any], kinds: Mapping[str, str]) -> str | None:
    """Return the kind of an Entity or the type of a Value at the object's end; None when there is neither."""
    if observation["object_value"] is not None:
        return str(observation["object_value"]["type"])
    return kinds.get(observation["object_ref"] or "")


def _endpoint_faults(observation: Mapping[str, Any], *, kinds: Mapping[str, str], at: Place) -> Iterator[Fault]:
    """Yield a fault when an end of a would-be Relationship is covered by no result (check 10)."""
    if observation["subject_ref"] not in kinds or _object_kind(observation, kinds) is None:
        yield Fault(pointer(*at), "endpoint_unresolved", "An end of this observation has no entity result.")


def _predicate_faults(
    item: Mapping[str, Any],
    observation: Mapping[str, Any],
    *,
    kinds: Mapping[str, str],
    accepts: Accepts,
    at: Place,
) -> Iterator[Fault]:
    """Yield a fault when a resolved predicate was not offered, or does not fit the ends (check 7)."""
    if item["predicate_status"] != PredicateStatus.RESOLVED:
        return
    key, where = item["predicate_key"], pointer(*at, "predicate_key")
    if key not in observation["predicate_candidates"] or key not in accepts:
        detail = "Choose a key from this observation's predicate_candidates, or answer needs_review with null."
        yield Fault(where, "predicate_not_offered", detail)
        return
    ends = kinds.get(observation["subject_ref"]), _object_kind(observation, kinds)
    for side, kind, allowed in zip(("subject", "object"), ends, accepts[key], strict=True):
        if kind is not None and kind not in allowed:
            detail = f"{key} does not accept the kind {kind} as its {side}; choose another key, or needs_review."
            yield Fault(where, f"{side}_kind_not_accepted", detail)


def _entity(item: Mapping[str, Any]) -> EntityResult:
    return EntityResult(
        ResolutionAction(item["action"]), item["candidate_entity_id"], Decimal(item["confidence"]), item["rationale"]
    )


def _observation(item: Mapping[str, Any]) -> ObservationResult:
    return ObservationResult(
        item["predicate_key"], Verdict(item["evidence_verdict"]), Decimal(item["confidence"]), item["rationale"]
    )
