"""Exact places in a text: spans, quotes and the texts that may carry them ("Decisions", text, requests, spans).

An offset counts Unicode code points of the original text; a span is half-open, `[start, end)`.
"""

import re
from itertools import islice
from typing import Final

import regex

from densemem.core import limits

QUOTE_MATCHES: Final = 10_000

_CLUSTER = regex.compile(r"\X")
# Between these two kinds of characters no rule of Unicode text segmentation joins.
_SURE_BREAK = regex.compile(r"[\p{GCB=Other}\p{GCB=Control}\p{GCB=CR}\p{GCB=LF}]\p{GCB=Other}")
_INVISIBLE = regex.compile(r"[\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*+")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class SpanRefused(ValueError):
    """A text, span or quote that cannot be taken; `code` is for programs, the message for people."""

    def __init__(self, code: str, message: str) -> None:
        """Keep the code beside the message."""
        super().__init__(message)
        self.code = code
        self.message = message


class Boundaries:
    """The grapheme boundaries of one text, found once so that many spans can be checked in constant time."""

    __slots__ = ("_edge", "_size")

    def __init__(self, text: str) -> None:
        """Walk the clusters of `text` once."""
        self._size = len(text)
        self._edge = bytearray(self._size + 1)
        self._edge[0] = 1
        for cluster in _CLUSTER.finditer(text):
            self._edge[cluster.end()] = 1

    def __contains__(self, offset: int) -> bool:
        """Answer whether `offset` lies between two clusters or at an end of the text."""
        return 0 <= offset <= self._size and self._edge[offset] == 1


def check_text(text: str, *, most: int = limits.EVIDENCE_CHARS) -> None:
    """
    Refuse a text that cannot be stored and cited exactly.

    :raises SpanRefused: text_too_long, text_has_nul, text_has_surrogate, text_is_blank
    """
    if len(text) > most:
        raise SpanRefused("text_too_long", f"The text has {len(text)} characters; at most {most} are taken.")
    if "\0" in text:
        raise SpanRefused("text_has_nul", f"The text holds a NUL character at {text.index(chr(0))}.")
    if found := _SURROGATE.search(text):
        raise SpanRefused("text_has_surrogate", f"The text holds a lone surrogate at {found.start()}.")
    if _INVISIBLE.fullmatch(text):
        raise SpanRefused("text_is_blank", "The text holds nothing that can be seen.")


def check_span(text: str, start: int, end: int, *, boundaries: Boundaries | None = None) -> None:
    """
    Refuse a span that is not an exact, readable part of `text`.

    Pass `boundaries` of the same text when many spans are checked.

    :raises SpanRefused: span_out_of_bounds, span_is_empty, span_splits_grapheme
    """
    if not 0 <= start <= len(text) or not 0 <= end <= len(text):
        raise SpanRefused("span_out_of_bounds", f"The span {start}-{end} is not inside a text of {len(text)}.")
    if start >= end:
        raise SpanRefused("span_is_empty", f"The span {start}-{end} holds nothing.")
    for offset in (start, end):
        whole = offset in boundaries if boundaries else is_boundary(text, offset)
        if not whole:
            raise SpanRefused("span_splits_grapheme", f"The offset {offset} lies inside one visible character.")


def is_boundary(text: str, offset: int) -> bool:
    """Answer whether `offset` lies between two grapheme clusters, reading only its neighbourhood."""
    if offset in (0, len(text)):
        return True
    place = offset
    while place > 0 and not _SURE_BREAK.match(text, place - 1):
        place -= 1
    while place < offset:
        cluster = _CLUSTER.match(text, place)
        assert cluster is not None
        place = cluster.end()
    return place == offset


def locate_quote(text: str, quote: str, occurrence: int | None = None) -> tuple[int, int]:
    """
    Find a quote in the original text and give its exact offsets.

    The quote is found letter for letter or, failing that, with any run of white space equal to any other.
    `occurrence` counts from 1 and is needed when the quote occurs more than once.

    :raises SpanRefused: quote_not_found, quote_ambiguous, occurrence_out_of_range
    """
    found = _exact(text, quote) or _spaced(text, quote)
    if not found:
        raise SpanRefused("quote_not_found", "The quote is not in the text.")
    if occurrence is None:
        if len(found) > 1:
            raise SpanRefused("quote_ambiguous", f"The quote occurs {len(found)} times; say which occurrence is meant.")
        return found[0]
    if not 1 <= occurrence <= len(found):
        raise SpanRefused("occurrence_out_of_range", f"The quote occurs {len(found)} times, not {occurrence}.")
    return found[occurrence - 1]


def _exact(text: str, quote: str) -> list[tuple[int, int]]:
    """List the places of the quote, letter for letter; overlapping places count."""
    found: list[tuple[int, int]] = []
    start = text.find(quote) if quote else -1
    while start >= 0 and len(found) < QUOTE_MATCHES:
        found.append((start, start + len(quote)))
        start = text.find(quote, start + 1)
    return found


def _spaced(text: str, quote: str) -> list[tuple[int, int]]:
    """List the places of the quote when any run of white space equals any other."""
    if not quote.strip():
        return []
    words = [re.escape(word) for word in re.split(r"\s+", quote)]
    # The look-behind keeps a leading run of white space from being tried at each of its characters.
    pattern = re.compile((r"(?<!\s)" if not words[0] else "") + r"\s++".join(words))
    return [match.span() for match in islice(pattern.finditer(text), QUOTE_MATCHES)]
