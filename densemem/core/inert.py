"""Untrusted text as plain, visible signs: what cannot be seen gets a name, and marks stand at exact code points."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import regex

from densemem.core.limits import TRACE_CONTEXT_CHARS
from densemem.core.spans import is_boundary

# Everything a reader would not see, or that would move other characters; a line's end and a tab may work.
_UNSEEN: Final = regex.compile(
    r"(?!\r\n)[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800--[\n\t]]", regex.V1
)
_SHORT: Final = {
    0x0D: "CR",
    0xAD: "SHY",
    0x61C: "ALM",
    0x200B: "ZWSP",
    0x200C: "ZWNJ",
    0x200D: "ZWJ",
    0x200E: "LRM",
    0x200F: "RLM",
    0x2028: "LS",
    0x2029: "PS",
    0x202A: "LRE",
    0x202B: "RLE",
    0x202C: "PDF",
    0x202D: "LRO",
    0x202E: "RLO",
    0x2060: "WJ",
    0x2066: "LRI",
    0x2067: "RLI",
    0x2068: "FSI",
    0x2069: "PDI",
    0xFEFF: "BOM",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of seen characters, or, with a `glyph`, one unseen character and its names."""

    text: str
    glyph: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A run of an excerpt; `start` and `end` are code points of the whole text."""

    text: str
    start: int
    end: int
    marked: bool


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Exact spans in their surroundings; the flags say that the text goes on before or after."""

    parts: tuple[Part, ...]
    more_before: bool
    more_after: bool


def pieces(text: str) -> list[Piece]:
    """Cut a text into runs that are seen and single characters that are not; joined, they are the text again."""
    found: list[Piece] = []
    place = 0
    for unseen in _UNSEEN.finditer(text):
        if unseen.start() > place:
            found.append(Piece(text[place : unseen.start()]))
        found.append(_glyph(unseen.group()))
        place = unseen.end()
    return [*found, Piece(text[place:])] if place < len(text) else found


def visible(text: str) -> str:
    """Return a text with each unseen character as its name in brackets, for places that hold no markup."""
    return "".join(f"[{p.glyph}]" if p.glyph else p.text for p in pieces(text))


def excerpt(text: str, spans: Iterable[tuple[int, int]], *, around: int = TRACE_CONTEXT_CHARS) -> Excerpt:
    """Mark spans, half-open in code points, with `around` characters on both sides; spans are never shortened.

    Spans that overlap are one mark. Without a span the text is given from its beginning, four times `around` long.
    """
    marks = merge(spans)
    if not marks:
        end = _outward(text, min(len(text), 4 * around), step=1)
        return Excerpt((Part(text[:end], 0, end, marked=False),), more_before=False, more_after=end < len(text))
    first = _outward(text, max(0, marks[0][0] - around), step=-1)
    last = _outward(text, min(len(text), marks[-1][1] + around), step=1)
    parts = tuple(_parts(text, marks, first, last))
    return Excerpt(parts, more_before=first > 0, more_after=last < len(text))


def merge(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in order, those that overlap as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _parts(text: str, marks: Sequence[tuple[int, int]], first: int, last: int) -> Iterable[Part]:
    place = first
    for start, end in marks:
        if start > place:
            yield Part(text[place:start], place, start, marked=False)
        yield Part(text[start:end], start, end, marked=True)
        place = end
    if place < last:
        yield Part(text[place:last], place, last, marked=False)


def _outward(text: str, offset: int, *, step: int) -> int:
    while not is_boundary(text, offset):
        offset += step
    return offset


def _glyph(character: str) -> Piece:
    code = ord(character)
    point = f"U+{code:04X}"
    full = unicodedata.name(character, "")
    return Piece(character, _SHORT.get(code, point), f"{point} {full}".strip())
