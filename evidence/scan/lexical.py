"""Finds what the rules name in one view of a text ("Stage 2: Deterministic Injection Scan").

A rule is tried only where one of its heads begins, so the time grows with the text and not with the rules.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from evidence.scan.lexicon import COMPACT, ENGLISH
from evidence.scan.model import Rule, Signal
from evidence.scan.tongues import SPACED, UNSPACED
from evidence.scan.views import View
from evidence.vocabulary import Severity, SignalKind

BEFORE: Final = 160  # code points before a match in which its sentence may say that it only quotes
STEM_CHARS: Final = 20

Rules = dict[str, tuple[Rule, ...]]

_WORD = re.compile(r"\w++")
_SENTENCE = re.compile(r"[.!?\n]\s")
_NEGATED = re.compile(r"(?:\bnot|\bn[o']t|n['’]t|\bnever|\bcannot|\bwithout)(?: to| ever| simply)? \Z")
_QUOTE_OPEN = re.compile(r"[\"“„«‘'`「『][^\"”“»’'`」』\n]{0,80}$")
_REPORTED = re.compile(
    r"\b(?:says?|said|reads?|wrote|writes?|written|quot(?:es?|ed|ing)|called|phrases?|words|wording|sentence|text|string|"
    r"examples?|e\.g|such as|attack(?:s|er|ers)?|injections?|jailbreaks?|malicious|adversar\w{2,4}|phishing|"
    r"asked|asks|told|tells|tried|tries|trying|attempt(?:s|ed|ing)?|instructed|instructs|contain(?:s|ed|ing)?|titled|named|"
    r"warn(?:s|ed|ing)?|detect(?:s|ed|ing|or)?|block(?:s|ed)?|flag(?:s|ged)|report(?:s|ed)?|refus(?:es|ed)|where|why|how|"
    r"sagt|steht|lautet|schrieb|angriff|dit|écrit|dice|dijo|disse|scritto|говорит|написано)\b"
)


RULES: Final = (*ENGLISH, *SPACED, *UNSPACED, *COMPACT)


def _by_head(rules: Sequence[Rule], *, stems: bool) -> Rules:
    """Arrange rules by the first word of their heads: either the heads that are stems, or those that are words."""
    table: dict[str, dict[Rule, None]] = {}
    for rule in rules:
        for head in rule.heads:
            if head.endswith("*") is stems:
                table.setdefault(re.split(r"\W", head)[0], {})[rule] = None
    return {head: tuple(found) for head, found in table.items()}


_WORDS: Final = _by_head((*ENGLISH, *SPACED), stems=False)
_STEMS: Final = _by_head((*ENGLISH, *SPACED), stems=True)


@lru_cache(maxsize=16384)
def rules_for(word: str) -> tuple[Rule, ...]:
    """Give the rules that may begin at a word, each once."""
    found = dict.fromkeys(_WORDS.get(word, ()))
    for size in range(1, min(len(word), STEM_CHARS) + 1):
        found |= dict.fromkeys(_STEMS.get(word[:size], ()))
    return tuple(found)


def matches(text: str) -> Iterator[tuple[int, int, SignalKind, Severity]]:
    """Yield (start, end, kind, severity) of every rule that holds in a normalised text."""
    for word in _WORD.finditer(text):
        for rule in rules_for(word.group()):
            if found := rule.pattern.match(text, word.start()):
                yield *found.span(), rule.kind, rule.severity
    if not text.isascii():
        yield from _anywhere(text, UNSPACED)


def compact(text: str) -> Iterator[tuple[int, int, SignalKind, Severity]]:
    """Yield the matches of the rules for words written together."""
    yield from _anywhere(text, COMPACT)


def _anywhere(text: str, rules: Sequence[Rule]) -> Iterator[tuple[int, int, SignalKind, Severity]]:
    """Try each rule where one of its heads occurs."""
    for rule in rules:
        if any(head in text for head in rule.heads):
            for found in rule.pattern.finditer(text):
                yield *found.span(), rule.kind, rule.severity


def signals(view: View) -> Iterator[Signal]:
    """Yield the signals of a view in original offsets; what is only quoted or reported speaks low."""
    for start, end, kind, severity in matches(view.text):
        if kind is SignalKind.INSTRUCTION_OVERRIDE and _NEGATED.search(view.text, max(0, start - 16), start):
            continue
        if is_told(view.text, start):
            severity = Severity.LOW
        first, last = view.span(start, end)
        yield Signal(first, last, kind, severity)


def is_told(text: str, start: int) -> bool:
    """Answer whether the sentence says, before `start`, that what follows is quoted, reported or discussed."""
    before = sentence_before(text, start)
    return _QUOTE_OPEN.search(before) is not None or _REPORTED.search(before) is not None


def sentence_before(text: str, start: int) -> str:
    """Give what stands before `start` in its sentence, at most `BEFORE` code points."""
    before = text[max(0, start - BEFORE) : start]
    ends = [one.end() for one in _SENTENCE.finditer(before)]
    return before[ends[-1] :] if ends else before
