"""The views of a text that the scan reads: one Unicode-normalised view and a bounded number of decoded ones.

Every view remembers where each of its characters came from, so that a match is reported in the original text.
"""

import re
import unicodedata
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

# Look-alikes of Latin letters, folded only inside words that also hold Latin letters.
LOOK_ALIKES: Final = {
    "a": "аαɑ", "b": "вʙ", "c": "сϲᴄ", "d": "дԁɗ", "e": "еɛє", "g": "ɡց", "h": "нһհ", "i": "іιıɩɪ",
    "j": "јϳ", "k": "кκᴋ", "l": "ӏʟ", "m": "мᴍ", "n": "пոɴη", "o": "оοօᴏ", "p": "рρ", "q": "ԛզ",
    "r": "гʀᴦ", "s": "ѕꜱ", "t": "тτᴛ", "u": "иυսᴜ", "v": "νѵᴠ", "w": "ԝωᴡ", "x": "хχ", "y": "уγʏ", "z": "ᴢ",
}  # fmt: skip
CONFUSABLE: Final = {alike: letter for letter, alikes in LOOK_ALIKES.items() for alike in alikes}
LEET: Final = str.maketrans("0134578@$", "oieastbas")

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_LEET_WORD = re.compile(r"(?<![\w/.:=+-])(?=\w{0,30}[0-9@$])[a-z0-9@$]{2,30}(?![\w/=:+-])")
_SPACED = re.compile(r"(?<!\w)\w(?:([ .\-_*|])\w(?:\1\w){3,200})(?!\w)")


@dataclass(frozen=True, slots=True)
class View:
    """A text to scan; `origin[i]` is the original offset of character i, None when nothing moved."""

    text: str
    origin: Sequence[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Give the span in the original text of the match `[start, end)` in this view."""
        if self.origin is None:
            return start, end
        return self.origin[start], self.origin[end - 1] + 1


@lru_cache(maxsize=8192)
def fold(char: str) -> str:
    """Give the plain lower-case form of one character: compatibility form, no accents, nothing invisible."""
    code = ord(char)
    if 0xE0020 <= code <= 0xE007E:
        return chr(code - 0xE0000).lower()
    if unicodedata.category(char) == "Cf" or 0x300 <= code <= 0x36F or 0xFE00 <= code <= 0xFE0F or code >= 0xE0000:
        return ""
    plain = unicodedata.normalize("NFKC", char).casefold()
    if not any(0x370 <= ord(one) < 0x530 or ord(one) < 0x250 or 0x1E00 <= ord(one) < 0x2000 for one in plain):
        return plain
    parts = unicodedata.normalize("NFKD", plain)
    return "".join(one for one in parts if not 0x300 <= ord(one) <= 0x36F)


def fold_text(text: str) -> str:
    """Fold the characters beyond ASCII, as `normalised` does; used for the patterns themselves."""
    return _NOT_ASCII.sub(lambda run: "".join(map(fold, run.group())), text)


def normalised(text: str) -> View:
    """Give the one Unicode-normalised, lower-case view of the text."""
    if text.isascii():
        return View(text.lower())
    origin = array("l")
    pieces: list[str] = []
    place = 0
    for run in _NOT_ASCII.finditer(text):
        pieces.append(text[place : run.start()].lower())
        origin.extend(range(place, run.start()))
        for offset, char in enumerate(run.group(), run.start()):
            plain = fold(char)
            pieces.append(plain)
            origin.extend([offset] * len(plain))
        place = run.end()
    pieces.append(text[place:].lower())
    origin.extend(range(place, len(text)))
    return View(_unmask("".join(pieces)), origin)


def _unmask(text: str) -> str:
    """Fold look-alikes inside words that mix them with Latin letters; the length stays."""
    if not any(char in text for char in CONFUSABLE):
        return text
    return re.sub(r"\w{2,80}", lambda word: _unmask_word(word.group()), text)


def _unmask_word(word: str) -> str:
    """Fold one word when it holds both Latin letters and look-alikes."""
    if word.isascii() or not any("a" <= char <= "z" for char in word):
        return word
    return "".join(CONFUSABLE.get(char, char) for char in word)


def leet(view: View) -> View | None:
    """Read digits as letters when several words mix both; None when there are too few."""
    words = list(_LEET_WORD.finditer(view.text))
    if len(words) < 3:
        return None
    return View(_LEET_WORD.sub(lambda word: word.group().translate(LEET), view.text), view.origin)


def joined(view: View) -> View | None:
    """Join letters that stand apart (`i g n o r e`); None when there are none."""
    pieces: list[str] = []
    kept = array("l")
    place = 0
    for run in _SPACED.finditer(view.text):
        pieces.append(view.text[place : run.start()] + run.group()[::2])
        kept.extend(range(place, run.start()))
        kept.extend(range(run.start(), run.end(), 2))
        place = run.end()
    if not pieces:
        return None
    pieces.append(view.text[place:])
    kept.extend(range(place, len(view.text)))
    origin = kept if view.origin is None else array("l", (view.origin[offset] for offset in kept))
    return View("".join(pieces), origin)


def backwards(view: View) -> View:
    """Read the text from its end."""
    size = len(view.text)
    origin = view.origin if view.origin is not None else range(size)
    return View(view.text[::-1], array("l", reversed(origin)))
