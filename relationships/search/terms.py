"""The words that search compares, for every script ("Normal Recall And Trace").

Text is folded as names are, and Latin letters lose their accents: a search finds more than an identity would accept.
Scripts that put no space between words are cut into pairs of neighbouring signs.
"""

import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import regex

from densemem.core import limits
from densemem.core.names import fold

# Han, kana, the scripts of South-East Asia, and Hangul, whose particles stand at the word.
_UNSPACED: Final = r"\p{Han}\p{Hiragana}\p{Katakana}ー\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Hangul}"
_RUN: Final = regex.compile(
    rf"(?P<signs>[{_UNSPACED}][{_UNSPACED}\p{{M}}]*)|(?P<word>[\p{{L}}\p{{N}}\p{{M}}--[{_UNSPACED}]]+)", regex.V1
)
_SIGN: Final = regex.compile(r"\X")
_ACCENT: Final = regex.compile(r"(?<=\p{Latin})\p{Mn}+")
_JOINED: Final = regex.compile(r"[\p{L}\p{N}\p{M}]+(?:[-'’._/][\p{L}\p{N}\p{M}]+)+")
_JOINT: Final = regex.compile(r"[-'’._/]")


def search_terms(text: str) -> tuple[str, ...]:
    """Return the terms that a question asks for, in order, each once.

    A term holds letters, digits and marks alone, and at most `limits.TERM_CHARS` characters.
    """
    return tuple(dict.fromkeys(_terms(_plain(text))))


def document_terms(text: str) -> tuple[str, ...]:
    """Return the terms under which a text is found: those of `search_terms`, and forms that a question may use.

    These are each sign of an unspaced script alone, and compounds written as one word (`Dense-Mem` as `densemem`).
    """
    plain = _plain(text)
    signs = [sign for run in _RUN.finditer(plain) if run["signs"] for sign in _SIGN.findall(run["signs"])]
    compounds = [_JOINT.sub("", found)[: limits.TERM_CHARS] for found in _JOINED.findall(plain)]
    return tuple(dict.fromkeys((*_terms(plain), *compounds, *signs)))


def _terms(plain: str) -> Iterator[str]:
    for run in _RUN.finditer(plain):
        if run["word"]:
            yield run["word"][: limits.TERM_CHARS]
        else:
            yield from _pairs(_SIGN.findall(run["signs"]))


def _pairs(signs: list[str]) -> Iterator[str]:
    """Give each two neighbouring signs; a sign that stands alone stays alone."""
    if len(signs) == 1:
        yield signs[0][: limits.TERM_CHARS]
    for one, other in pairwise(signs):
        yield (one + other)[: limits.TERM_CHARS]


def _plain(text: str) -> str:
    """Fold a text and take the accents off its Latin letters."""
    apart = unicodedata.normalize("NFD", fold(text))
    return unicodedata.normalize("NFC", _ACCENT.sub("", apart))
