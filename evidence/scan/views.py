"""The views of a text that the scan reads: one Unicode-normalised view and a bounded number of decoded ones.

A view knows where each of its characters came from, so that a match is reported in the original text.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate, chain, count, repeat
from typing import Final

# Look-alikes of Latin letters.
LOOK_ALIKES: Final = {
    "a": "аαɑ", "b": "вʙ", "c": "сϲᴄ", "d": "дԁɗ", "e": "еɛє", "g": "ɡց", "h": "нһհ", "i": "іιıɩɪ",
    "j": "јϳ", "k": "кκᴋ", "l": "ӏʟ", "m": "мᴍ", "n": "пոɴη", "o": "оοօᴏ", "p": "рρ", "q": "ԛզ",
    "r": "гʀᴦ", "s": "ѕꜱ", "t": "тτᴛ", "u": "иυսᴜ", "v": "νѵᴠ", "w": "ԝωᴡ", "x": "хχ", "y": "уγʏ", "z": "ᴢ",
}  # fmt: skip
LEET: Final = dict(zip("0134578@$", "oieastbas", strict=True))
PUNCTUATION: Final = {
    ".": "。．｡！？；؟।…‼⁇", "\"": "“”„‟«»‹›「」『』＂", "'": "‘’‚‛ʼ", "-": "‐‑‒–—―−", ",": "、，،", ":": "：", " ": "¿¡",
}  # fmt: skip

_DISGUISES: Final = str.maketrans(LEET | {alike: letter for letter, alikes in LOOK_ALIKES.items() for alike in alikes})
# What shows that a word is disguised: a digit among letters, or letters of two scripts side by side.
DISGUISED: Final = (
    r"[a-z][0134578@$]|[0134578@$][a-z]",
    "[a-z][{0}]|[{0}][a-z]".format("".join(LOOK_ALIKES.values())),
)
_DISGUISED: Final = re.compile("|".join(DISGUISED))
BEFORE: Final = 400  # characters before the first disguised word that are read again with it
_MARKS: Final = {mark: plain for plain, marks in PUNCTUATION.items() for mark in marks}
_CHUNK: Final = 512


@lru_cache(maxsize=16384)
def fold(char: str) -> str:
    """Give the plain lower-case form of one character: compatibility form, no accents, nothing invisible."""
    code = ord(char)
    if code < 0x80:
        return char.lower()
    if char in _MARKS:
        return _MARKS[char]
    if 0xE0020 <= code <= 0xE007E:
        return chr(code - 0xE0000).lower()
    if unicodedata.category(char) in ("Cf", "Cs") or 0x300 <= code <= 0x36F or 0xFE00 <= code <= 0xFE0F:
        return ""
    if code >= 0xE0000:
        return ""
    plain = unicodedata.normalize("NFKC", char).casefold()
    if any(0x370 <= ord(one) < 0x530 or ord(one) < 0x250 or 0x1E00 <= ord(one) < 0x2000 for one in plain):
        plain = "".join(one for one in unicodedata.normalize("NFKD", plain) if not 0x300 <= ord(one) <= 0x36F)
    return "".join(" " if one.isspace() else one for one in plain)


class _Folds(dict[int, str]):
    """The plain forms of the characters met so far, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        plain = fold(chr(code))
        if len(self) < 1 << 16:
            self[code] = plain
        return plain


_FOLDS: Final = _Folds()
Spans = Callable[[int, int], tuple[int, int]]


class View:
    """A text to scan, and the way back to the original: `span(start, end)` gives the span there."""

    def __init__(self, text: str, span: Spans) -> None:
        self.text = text
        self.span = span


def same_span(start: int, end: int) -> tuple[int, int]:
    """Give the span of a view in which nothing moved."""
    return start, end


def fold_text(text: str) -> str:
    """Fold every character, as `normalised` does; used for the words of the rules themselves."""
    return text.translate(_FOLDS)


def normalised(text: str) -> View:
    """Give the one Unicode-normalised, lower-case view of the text."""
    if text.isascii():
        return View(text.lower(), same_span)
    chunks = [text[at : at + _CHUNK].translate(_FOLDS) for at in range(0, len(text), _CHUNK)]
    view = "".join(chunks)
    starts = [0, *accumulate(map(len, chunks))]

    @lru_cache(maxsize=256)
    def origin(chunk: int) -> Sequence[int]:
        first = chunk * _CHUNK
        sizes = map(len, map(_FOLDS.__getitem__, map(ord, text[first : first + _CHUNK])))
        return list(chain.from_iterable(map(repeat, count(first), sizes)))

    def place(at: int) -> int:
        chunk = bisect_right(starts, at) - 1
        return origin(chunk)[at - starts[chunk]]

    return View(view, lambda start, end: (place(start), place(end - 1) + 1))


def undisguised(view: View, chars: int) -> tuple[str, View]:
    """Give a piece of a view from its first disguised word on, plain and with its disguised letters read as Latin."""
    first = _DISGUISED.search(view.text)
    start = max(0, first.start() - BEFORE) if first else len(view.text)
    piece = view.text[start : start + chars]
    return piece, View(piece.translate(_DISGUISES), lambda begin, end: view.span(start + begin, start + end))


# Letters that are kept apart: `i g n o r e`, `i-g-n-o-r-e`.
APART: Final = r"(?<!\w)\w(?:([ .\-_*|])\w(?:\1\w){3,200})(?!\w)"
WORD_GAP: Final = 10  # characters between two words whose letters are kept apart; a shorter word may stand there
_APART: Final = re.compile(APART.replace("{3,200}", "{1,200}"))  # where there is a long one, the short ones count


def joined(view: View, chars: int) -> View:
    """Give a view of the first runs of single letters, each run written together; reads at most `chars`."""
    pieces: list[str] = []
    origin: list[int] = []
    last = 0
    for run in _APART.finditer(view.text):
        if len(origin) + len(run.group()) > chars:
            break
        near = run.start() - last <= WORD_GAP
        pieces.append((" " if near else ".") + run.group()[::2])
        origin.extend((max(run.start() - 1, 0), *range(run.start(), run.end(), 2)))
        last = run.end()
    return View("".join(pieces), lambda start, end: view.span(origin[start], origin[end - 1] + 1))


def turned(view: View, start: int, end: int) -> View:
    """Give a piece of a view read backwards."""
    return View(view.text[start:end][::-1], lambda first, last: view.span(end - last, end - first))


def shifted(view: View, start: int, end: int, table: dict[int, int]) -> View:
    """Give a piece of a view with its letters replaced."""
    return View(view.text[start:end].translate(table), lambda first, last: view.span(start + first, start + last))
