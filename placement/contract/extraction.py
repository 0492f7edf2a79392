"""The reviewer's answer: quotes grounded in the evidence, refs that resolve ("Memory Write Pipeline", stage 4)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from densemem.core import limits
from densemem.core.faults import Fault
from densemem.core.times import Bound, TimeRefused, check_window, parse_bound
from entities.vocabulary import EntityKind, ValueType
from placement.contract.faults import AnswerRefused, clipped, first, pointer
from placement.contract.grounds import (
    Grounds,
    Place,
    Signal,
    Span,
    evidence_faults,
    quote_faults,
    signal_faults,
    signals_of,
)
from placement.contract.strict import EXTRACTION, read_closed
from relationships.vocabulary import Modality, Polarity

ValueRule = Callable[[ValueType, str, str | None], object]


@dataclass(frozen=True, slots=True)
class Mention:
    """One place where the evidence names something; `surface` is the evidence's own text at `[start, end)`."""

    ref: str
    kind: EntityKind
    start: int
    end: int
    surface: str


@dataclass(frozen=True, slots=True)
class ValueDraft:
    """One typed literal; `value` is the model's reading of `surface`, in the canonical form of its type."""

    ref: str
    type: ValueType
    value: str
    unit: str | None
    start: int
    end: int
    surface: str


@dataclass(frozen=True, slots=True)
class Draft:
    """One atomic statement: exactly one of `object_ref` and `value_ref` is set; bounds are RFC 3339 or plain dates."""

    ref: str
    subject_ref: str
    predicate: str
    object_ref: str | None
    value_ref: str | None
    polarity: Polarity
    modality: Modality
    ended: bool
    valid_from: str | None
    valid_to: str | None
    scope: str | None
    proposal_id: str | None
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Extraction:
    """One whole accepted answer; with any signal it is security history, never semantic input."""

    signals: tuple[Signal, ...]
    mentions: tuple[Mention, ...]
    values: tuple[ValueDraft, ...]
    observations: tuple[Draft, ...]


def read_extraction(text: str, *, request: Mapping[str, Any], check_value: ValueRule | None = None) -> Extraction:
    """Return the reviewer's answer about one evidence item.

    :param request: the extraction request that was sent (`extraction_request.json`)
    :param check_value: raises ValueError when (type, value, unit) has no canonical form; its text goes to the model
    :raises AnswerRefused: the answer has faults; none of it may be used
    """
    data = read_closed(text, schema=EXTRACTION)
    grounds = Grounds(request)
    offered = {item["proposal_id"] for item in request["proposal"]["observations"]}
    faults = first(
        chain(
            signal_faults(data["security_signals"], grounds=grounds),
            _named_faults(data, grounds=grounds, check_value=check_value),
            _observation_faults(data, grounds=grounds, offered=offered),
        )
    )
    if faults:
        raise AnswerRefused(faults)
    return _built(data, grounds)


def _named_faults(data: Mapping[str, Any], *, grounds: Grounds, check_value: ValueRule | None) -> Iterator[Fault]:
    """Yield every fault of mentions and values: their refs share one space of names."""
    yield from _repeated_refs(data, ("mentions", "values"))
    for name, most in (("mentions", limits.NAME_CHARS), ("values", limits.VALUE_CHARS)):
        yield from evidence_faults(data[name], name=name, grounds=grounds)
        for index, item in enumerate(data[name]):
            yield from quote_faults(item, grounds=grounds, at=(name, index), most=most)
    for index, item in enumerate(data["values"]):
        yield from _value_faults(item, check_value=check_value, at=("values", index))


def _observation_faults(data: Mapping[str, Any], *, grounds: Grounds, offered: set[str]) -> Iterator[Fault]:
    """Yield every fault of the observations."""
    mentions = {item["ref"] for item in data["mentions"]}
    values = {item["ref"] for item in data["values"]}
    yield from _repeated_refs(data, ("observations",))
    yield from evidence_faults(data["observations"], name="observations", grounds=grounds)
    for index, item in enumerate(data["observations"]):
        at = ("observations", index)
        yield from _ends_faults(item, mentions=mentions, values=values, at=at)
        yield from _time_faults(item, at=at)
        yield from _wording_faults(item, offered=offered, at=at)
        yield from _support_faults(item["quotes"], grounds=grounds, at=(*at, "quotes"))


def _repeated_refs(data: Mapping[str, Any], names: Sequence[str]) -> Iterator[Fault]:
    """Yield a fault for each ref that was already given in the same space of names."""
    seen: set[str] = set()
    for name in names:
        for index, item in enumerate(data[name]):
            if item["ref"] in seen:
                yield Fault(
                    pointer(name, index, "ref"), "ref_repeated", f"Each ref of {' and '.join(names)} is unique."
                )
            seen.add(item["ref"])


def _value_faults(item: Mapping[str, Any], *, check_value: ValueRule | None, at: Place) -> Iterator[Fault]:
    """Yield a fault when a typed literal has no canonical form."""
    if check_value is None:
        return
    try:
        check_value(ValueType(item["type"]), item["value"], item["unit"])
    except ValueError as refused:
        yield Fault(pointer(*at, "value"), "value_not_typed", clipped(f"Not a valid {item['type']}: {refused}"))


def _ends_faults(item: Mapping[str, Any], *, mentions: set[str], values: set[str], at: Place) -> Iterator[Fault]:
    """Yield every fault of the ends: a subject that is a mention, and exactly one object."""
    object_ref, value_ref = item["object_ref"], item["value_ref"]
    if item["subject_ref"] not in mentions:
        yield Fault(pointer(*at, "subject_ref"), "ref_unknown", "subject_ref must be the ref of a mention.")
    if object_ref is None and value_ref is None:
        yield Fault(pointer(*at), "object_missing", NO_OBJECT)
    if object_ref is not None and value_ref is not None:
        yield Fault(pointer(*at), "object_twice", "Keep only one of object_ref and value_ref; set the other to null.")
    if object_ref is not None and object_ref not in mentions:
        yield Fault(pointer(*at, "object_ref"), "ref_unknown", "object_ref must be the ref of a mention.")
    if value_ref is not None and value_ref not in values:
        yield Fault(pointer(*at, "value_ref"), "ref_unknown", "value_ref must be the ref of a value.")


NO_OBJECT: Final = (
    "Set object_ref to the ref of a mention for a named entity, or set value_ref to the ref of a value "
    "for a scalar or text value, or remove this observation."
)


def _time_faults(item: Mapping[str, Any], *, at: Place) -> Iterator[Fault]:
    """Yield every fault of the validity: bounds that do not parse, or a period that ends before it begins."""
    bounds: dict[str, Bound] = {}
    for name in ("valid_from", "valid_to"):
        try:
            if item[name] is not None:
                bounds[name] = parse_bound(item[name])
        except TimeRefused as refused:
            yield Fault(pointer(*at, name), refused.code, clipped(f"{refused} {TIME_RULE}"))
    try:
        if len(bounds) == 2:
            check_window(bounds["valid_from"].at, bounds["valid_to"].at)
    except TimeRefused as refused:
        yield Fault(pointer(*at, "valid_to"), refused.code, clipped(str(refused)))


TIME_RULE: Final = "Give a plain date (2026-03-01), an RFC 3339 time with its offset, or null."


def _wording_faults(item: Mapping[str, Any], *, offered: set[str], at: Place) -> Iterator[Fault]:
    """Yield a fault for blank wording, and for a proposal that was never made."""
    if not item["predicate"].strip():
        yield Fault(pointer(*at, "predicate"), "blank", "Give the evidence's own wording of the predicate.")
    if item["proposal_id"] is not None and item["proposal_id"] not in offered:
        detail = "Use a proposal_id of the request, or null when the observation realises no proposal."
        yield Fault(pointer(*at, "proposal_id"), "proposal_unknown", detail)


def _support_faults(quotes: Sequence[Mapping[str, Any]], *, grounds: Grounds, at: Place) -> Iterator[Fault]:
    """Yield every fault of the spans that support one observation."""
    seen: set[Span] = set()
    for index, quote in enumerate(quotes):
        faults = list(quote_faults(quote, grounds=grounds, at=(*at, index), most=limits.EVIDENCE_CHARS))
        yield from faults
        if not faults:
            span = grounds.locate(quote)
            if span in seen:
                yield Fault(pointer(*at, index), "span_repeated", "Each supporting span is given once.")
            seen.add(span)


def _built(data: Mapping[str, Any], grounds: Grounds) -> Extraction:
    """Return checked data as values; every offset points into the original evidence."""
    return Extraction(
        signals=signals_of(data["security_signals"]),
        mentions=tuple(_mention(item, grounds) for item in data["mentions"]),
        values=tuple(_value(item, grounds) for item in data["values"]),
        observations=tuple(_draft(item, grounds) for item in data["observations"]),
    )


def _mention(item: Mapping[str, Any], grounds: Grounds) -> Mention:
    start, end = grounds.locate(item)
    return Mention(item["ref"], EntityKind(item["kind"]), start, end, grounds.text[start:end])


def _value(item: Mapping[str, Any], grounds: Grounds) -> ValueDraft:
    start, end = grounds.locate(item)
    return ValueDraft(
        item["ref"], ValueType(item["type"]), item["value"], item["unit"], start, end, grounds.text[start:end]
    )


def _draft(item: Mapping[str, Any], grounds: Grounds) -> Draft:
    return Draft(
        ref=item["ref"],
        subject_ref=item["subject_ref"],
        predicate=item["predicate"],
        object_ref=item["object_ref"],
        value_ref=item["value_ref"],
        polarity=Polarity(item["polarity"]),
        modality=Modality(item["modality"]),
        ended=item["ended"],
        valid_from=item["valid_from"],
        valid_to=item["valid_to"],
        scope=item["scope"],
        proposal_id=item["proposal_id"],
        spans=tuple(grounds.locate(quote) for quote in item["quotes"]),
    )
