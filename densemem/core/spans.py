"""Exact places in a text: spans, quotes and the texts that may carry them ("Decisions", text, requests, spans).

An offset counts Unicode code points of the original text; a span is half-open, `[start, end)`.
"""

import re

import regex

from densemem.core import limits

_CLUSTER = regex.compile(r"\X")
# Between these two kinds of characters no rule of Unicode text segmentation joins.
_SURE_BREAK = regex.compile(r"[\p{GCB=Other}\p{GCB=Control}\p{GCB=CR}\p{GCB=LF}]\p{GCB=Other}")
_INVISIBLE = regex.compile(r"[\s\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*+")
_SPACES = regex.compile(r"\p{White_Space}++")
_PIECE = regex.compile(r"\p{White_Space}++|\P{White_Space}")
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


class Quotes:
    """The places of quotes in one text. Each quote is looked for once, in time that grows with the text alone."""

    __slots__ = ("_found", "_pieces", "_spaced", "_text")

    def __init__(self, text: str) -> None:
        """Take the text; its white space is read once a quote needs it."""
        self._text = text
        self._spaced: str | None = None
        self._pieces: list[int] = []
        self._found: dict[str, list[tuple[int, int]]] = {}

    def locate(self, quote: str, occurrence: int | None = None) -> tuple[int, int]:
        """
        Find a quote in the original text and give its exact offsets.

        The quote is found letter for letter or, failing that, with any run of white space equal to any other.
        `occurrence` counts from 1, overlapping places included, and is needed when the quote occurs more than once.

        :raises SpanRefused: quote_not_found, quote_ambiguous, occurrence_out_of_range
        """
        if quote not in self._found:
            self._found[quote] = self._exact(quote) or self._by_white_space(quote)
        found = self._found[quote]
        if not found:
            raise SpanRefused("quote_not_found", "The quote is not in the text.")
        times = _times(len(found))
        if occurrence is None and len(found) > 1:
            raise SpanRefused("quote_ambiguous", f"The quote occurs {times}; say which occurrence is meant.")
        if occurrence is not None and not 1 <= occurrence <= len(found):
            raise SpanRefused("occurrence_out_of_range", f"The quote occurs {times}; count its occurrences from 1.")
        return found[(occurrence or 1) - 1]

    def _exact(self, quote: str) -> list[tuple[int, int]]:
        """List the places of the quote, letter for letter."""
        return [(start, start + len(quote)) for start in places(self._text, quote)]

    def _by_white_space(self, quote: str) -> list[tuple[int, int]]:
        """List the places of the quote where every run of white space, in both, counts as one blank."""
        plain = _SPACES.sub(" ", quote)
        if plain in ("", " "):
            return []
        if self._spaced is None:
            self._spaced = _SPACES.sub(" ", self._text)
            self._pieces = [piece.start() for piece in _PIECE.finditer(self._text)] + [len(self._text)]
        return [(self._pieces[at], self._pieces[at + len(plain)]) for at in places(self._spaced, plain)]


def _times(count: int) -> str:
    """Say how often something occurs."""
    if count >= limits.QUOTE_PLACES:
        return f"{count} times or more: a longer quote is surer"
    return "once" if count == 1 else f"{count} times"


def places(text: str, words: str, *, most: int = limits.QUOTE_PLACES) -> list[int]:
    """List the first places of the words, overlapping ones too, in time that grows with the text alone."""
    size = len(words)
    found: list[int] = []
    at = text.find(words) if words else -1
    while at >= 0 and len(found) < most:
        step = at - found[-1] if found else size
        found.append(at)
        # Close places follow each other by the period of the words: compare one period instead of all the words.
        if 2 * step <= size and text.startswith(text[at + size - step : at + size], at + size):
            at += step
        else:
            at = text.find(words, at + 1)
    return found
