"""The one evidence text that an answer must be grounded in, and the spans of it that a model may cite."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from densemem.core.faults import Fault
from densemem.core.spans import Boundaries, Quotes, SpanRefused, check_span
from evidence.vocabulary import SignalKind
from placement.contract.faults import clipped, pointer

Place = tuple[str | int, ...]
Span = tuple[int, int]

QUOTE_RULE: Final = (
    "Copy the quote exactly from the evidence content, whole visible characters only, "
    "and give its 1-based occurrence when it occurs more than once."
)


@dataclass(frozen=True, slots=True)
class Signal:
    """A half-open span of the evidence, in code points, that looks like control text."""

    kind: SignalKind
    start: int
    end: int


class Grounds:
    """The evidence of one request, read once for all the spans and quotes of an answer."""

    __slots__ = ("_boundaries", "_quotes", "evidence_id", "text")

    def __init__(self, request: Mapping[str, Any]) -> None:
        """Take the one evidence item that a request asks about."""
        (item,) = request["evidence"]
        self.evidence_id: str = item["evidence_id"]
        self.text: str = item["content"]
        self._boundaries = Boundaries(self.text)
        self._quotes = Quotes(self.text)

    def check(self, start: int, end: int) -> None:
        """Refuse offsets that are no exact, readable span of the evidence.

        :raises SpanRefused: out of bounds, empty, or inside a visible character
        """
        check_span(self.text, start, end, boundaries=self._boundaries)

    def locate(self, quote: Mapping[str, Any]) -> Span:
        """Return the exact span of something with `quote` and `occurrence`.

        :raises SpanRefused: not found, not told which, or not on the borders of visible characters
        """
        start, end = self._quotes.locate(quote["quote"], quote["occurrence"])
        self.check(start, end)
        return start, end


def evidence_faults(items: Sequence[Mapping[str, Any]], *, name: str, grounds: Grounds) -> Iterator[Fault]:
    """Yield a fault for each item that cites evidence which was not supplied."""
    for index, item in enumerate(items):
        if item["evidence_id"] != grounds.evidence_id:
            detail = "Use the evidence_id that the request supplies."
            yield Fault(pointer(name, index, "evidence_id"), "evidence_unknown", detail)


def quote_faults(item: Mapping[str, Any], *, grounds: Grounds, at: Place, most: int) -> Iterator[Fault]:
    """Yield a fault when a quote is not an exact substring of the evidence, or does not say which one.

    :param most: characters that the evidence may write there; white space may make them more than the quote has
    """
    try:
        start, end = grounds.locate(item)
    except SpanRefused as refused:
        yield Fault(pointer(*at, "quote"), refused.code, clipped(f"{refused} {QUOTE_RULE}"))
        return
    if end - start > most:
        detail = f"The evidence writes this with {end - start} characters; quote at most {most} of them."
        yield Fault(pointer(*at, "quote"), "quote_too_long", detail)


def signal_faults(signals: Sequence[Mapping[str, Any]], *, grounds: Grounds) -> Iterator[Fault]:
    """Yield every fault of the security signals ("Strict Verifier Contract", check 2)."""
    yield from evidence_faults(signals, name="security_signals", grounds=grounds)
    for index, signal in enumerate(signals):
        try:
            grounds.check(signal["start"], signal["end"])
        except SpanRefused as refused:
            yield Fault(pointer("security_signals", index), refused.code, clipped(str(refused)))


def signals_of(signals: Sequence[Mapping[str, Any]]) -> tuple[Signal, ...]:
    """Return checked signals as values."""
    return tuple(Signal(SignalKind(item["kind"]), item["start"], item["end"]) for item in signals)
