"""Other ways to write a name, by which Entities are proposed ("Entity Identity And Resolution"; "Decisions", 8).

A stored name keeps some forms and a mention asks for some; where the two meet, the Entity is proposed with the reason
of the form. A form decides nothing, and no form is a lookup key.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import regex

from densemem.core.limits import FORM_WORDS
from densemem.core.names import fold
from entities.vocabulary import CandidateReason, EntityKind

TABLES: Final = Path(__file__).parent / "tables"
ABBREVIATED: Final = frozenset({EntityKind.PERSON, EntityKind.ORGANIZATION, EntityKind.TEAM})  # called by a part
GAPS: Final = frozenset("-‐‑–—.,·・_")
SILENT: Final = frozenset("'’‘ʼʻ`´\u200c\u200d\u0640")  # apostrophes, joiners, tatweel
NUKTA: Final = 7  # the combining class of the dot that makes one Indic letter another
POINTS: Final = range(10, 37)  # of Hebrew and Arabic: vowels that are mostly left out
ACCENTS: Final = range(200, 241)
LATIN: Final = regex.compile(r"LATIN SMALL (?:LETTER|LIGATURE) ([A-Z]{1,2})(?: WITH .+)?")
UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})


@dataclass(frozen=True, slots=True)
class Form:
    """One other way to write a name, and why an Entity that meets it is proposed."""

    reason: CandidateReason
    text: str


def kept_forms(name: str, *, canonical: bool) -> tuple[Form, ...]:
    """
    Return the forms that a stored name is found by.

    :param canonical: an alias is no sign that a longer name is meant: a fuller one is known
    """
    key = fold(name)
    words = _words(key)
    runs = [Form(CandidateReason.TOKENS, f"part {run}") for run in _parts(words)]
    whole = [Form(CandidateReason.TOKENS, f"whole {' '.join(words)}")] if canonical and _tells(words) else []
    return (*_spellings(key), *_nicknames(words), *_initials(words, asked=False), *runs, *whole)


def asked_forms(name: str, kind: EntityKind) -> tuple[Form, ...]:
    """Return the forms that a mention of a kind asks for: only people and groups of them are called by a part."""
    key = fold(name)
    words = _words(key)
    personal = (*_nicknames(words), *_initials(words, asked=True)) if kind is EntityKind.PERSON else ()
    if kind not in ABBREVIATED or not _tells(words):
        return (*_spellings(key), *personal)
    parts = [Form(CandidateReason.TOKENS, f"whole {run}") for run in _parts(words)]
    return (*_spellings(key), *personal, Form(CandidateReason.TOKENS, f"part {' '.join(words)}"), *parts)


def _spellings(key: str) -> Iterator[Form]:
    """Yield the key without accents, in Latin letters where there is a table, and what it looks like."""
    variants = (key,) if key.isascii() else dict.fromkeys((key, key.translate(UMLAUTS)))
    for variant in variants:
        if text := "".join(_words(variant)):
            yield Form(CandidateReason.ACCENTS, text)
    yield Form(CandidateReason.LOOK_ALIKE, "".join(_looks().get(char, char) for char in key if not char.isspace()))


def _nicknames(words: list[str]) -> Iterator[Form]:
    """Yield the name under each given name that its first word may be short for."""
    for given in _given_names().get(words[0], ()) if words else ():
        yield Form(CandidateReason.NICKNAME, " ".join((given, *words[1:])))


def _initials(words: list[str], *, asked: bool) -> Iterator[Form]:
    """Yield first letter and last name: an initial meets a name written out, and not another one."""
    if len(words) < 2:
        return
    first, last = (words[0], words[-1]) if len(words[-1]) > 1 else (words[1], words[0])
    if len(last) > 1:
        short = (len(first) == 1) is not asked
        yield Form(CandidateReason.INITIALS, f"{'short' if short else 'full'} {first[0]} {last}")


def _parts(words: list[str]) -> list[str]:
    """Return the runs of whole words inside a name, and its first with its last; none of a very long one."""
    size = len(words)
    if not 2 <= size <= FORM_WORDS:
        return []
    runs = [words[at : at + n] for n in range(1, size) for at in range(size - n + 1)]
    ends = [[words[0], words[-1]]] if size > 2 else []
    return list(dict.fromkeys(" ".join(run) for run in (*runs, *ends) if _tells(run)))


def _tells(words: list[str]) -> bool:
    """Tell if there is more than an initial in these words."""
    return any(len(word) > 1 for word in words)


def _words(key: str) -> list[str]:
    return "".join(map(_plain, key)).split()


@cache
def _plain(char: str) -> str:
    """Return a character without accents, in Latin letters where its name or a table gives them."""
    if char.isascii() and char.isalnum() or char.isspace():
        return char
    if char in SILENT or char in GAPS:
        return " " if char in GAPS else ""
    if char in _roman():
        return _roman()[char]
    name = unicodedata.name(char, "")
    if name.startswith("HANGUL SYLLABLE "):
        return name.split()[-1].lower()
    if name.startswith("KATAKANA LETTER "):
        return unicodedata.lookup(name.replace("KATAKANA", "HIRAGANA")) if "ァ" <= char <= "ヶ" else char
    if found := LATIN.fullmatch(name):
        return str(found[1]).lower()
    bare = "".join(part for part in unicodedata.normalize("NFD", char) if not _is_accent(part))
    bare = unicodedata.normalize("NFC", bare)
    return char if bare == char else "".join(map(_plain, bare))


def _is_accent(char: str) -> bool:
    """Tell if a mark is left out by those who cannot type it; vowel signs and tones of other scripts are letters."""
    mark = unicodedata.combining(char)
    return mark == NUKTA or mark in POINTS or mark in ACCENTS


@cache
def _roman() -> dict[str, str]:
    return dict(_rows("roman.txt"))


@cache
def _looks() -> dict[str, str]:
    """Return, by character, the look that it shares with others."""
    return {char: look for look, chars in _rows("look_alikes.txt") for char in chars}


@cache
def _given_names() -> dict[str, tuple[str, ...]]:
    """Return, by given name or nickname, itself and every given name that it is short for."""
    found: dict[str, set[str]] = {}
    for given, nicknames in _rows("nicknames.txt"):
        for word in (given, *nicknames.split()):
            found.setdefault(word, {word}).add(given)
    return {word: tuple(sorted(given)) for word, given in found.items()}


def _rows(name: str) -> Iterator[tuple[str, str]]:
    for line in (TABLES / name).read_text("utf-8").splitlines():
        if not line.startswith("#"):
            first, _, rest = line.partition(" ")
            yield first, rest
