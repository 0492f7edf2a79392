"""Find the few patterns that can fit a gap: most patterns hold a word that must be there."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import regex

from densemem.providers.rules.forms import Form
from densemem.providers.rules.patterns import forms

_WORDS = regex.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class Index:
    """Patterns by a word they need, with their order, and those that need none."""

    by_word: dict[str, tuple[tuple[int, Form], ...]]
    free: tuple[tuple[int, Form], ...]


def anchor(source: str) -> str | None:
    """Return a plain word that every match of this expression holds, or None when there is none for certain."""
    source = regex.sub(r"\(\?P<\w+>", "(?:", source)
    source = regex.sub(r"\[[^\]]*\]", "_", source)
    source = regex.sub(r"\\[sS][+?*]*", " ", source)
    source = regex.sub(r"\\.(?:\{[^}]*\})?", "_", source)
    before = None
    while before != source:
        before = source
        source = regex.sub(r"\(\?:([^()|]*)\)(?![?*{])", r"\1", source)
        source = regex.sub(r"\([^()]*\)[?*+]*", "_", source) if source == before else source
    if "|" in source:
        return None
    words = [m.group() for m in regex.finditer(r"(?<![\p{L}_'’-])[a-z]{2,}(?![\p{L}_?*+{'’-])", source)]
    return max(words, key=len, default=None)


def _build(chosen: Iterable[Form]) -> Index:
    """Sort patterns under their words."""
    by_word: dict[str, list[tuple[int, Form]]] = {}
    free = []
    for place, form in enumerate(chosen):
        word = anchor(form.source)
        if word is None:
            free.append((place, form))
        else:
            by_word.setdefault(word, []).append((place, form))
    return Index({word: tuple(rows) for word, rows in by_word.items()}, tuple(free))


@cache
def pair_index() -> Index:
    """Return the patterns between two names or a name and a date or amount."""
    return _build(form for form in forms() if form.slot is None)


@cache
def slot_index() -> Index:
    """Return the patterns that capture a text value."""
    return _build(form for form in forms() if form.slot is not None)


def fitting(index: Index, text: str) -> Iterator[Form]:
    """Return the patterns whose word stands in the text, in their fixed order."""
    words = set(_WORDS.findall(text.casefold()))
    rows = [row for word in words & index.by_word.keys() for row in index.by_word[word]]
    return (form for _, form in sorted([*rows, *index.free], key=lambda row: row[0]))
