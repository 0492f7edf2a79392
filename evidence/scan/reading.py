"""One reading of a text: which rules hold where, in the text itself and in its bounded decoded views ("Stage 2")."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from densemem.core import limits
from evidence.scan import decode, markup, views
from evidence.scan.automaton import presence
from evidence.scan.lexicon import COMPACT, ENGLISH
from evidence.scan.lexicon import LISTS as ENGLISH_LISTS
from evidence.scan.model import RANK, Budget, Match, Signal
from evidence.scan.phrases import Phrases
from evidence.scan.telling import BEFORE, is_negated, is_told
from evidence.scan.tongues import LISTS as OTHER_LISTS
from evidence.scan.tongues import SPACED, UNSPACED
from evidence.vocabulary import Severity, SignalKind

OBSCURE: Final = SignalKind.OBFUSCATED_INSTRUCTION
WINDOW: Final = 400  # characters read on each side of a word that tells of a shifted or turned text
WINDOWS: Final = 16

PHRASES: Final = Phrases((*ENGLISH, *SPACED), ENGLISH_LISTS | OTHER_LISTS)
SHAPES: Final = (*markup.SHAPES, *UNSPACED)
_COMPACT: Final = tuple((rule, re.compile(rule.pattern)) for rule in COMPACT)
_SHAPES: Final = tuple((rule, re.compile(rule.pattern)) for rule in SHAPES)

# Which of these occur at all is told by one pass; only those are looked for.
_TELLING: Final = tuple((by, word) for by, words in decode.SHIFTED.items() for word in words) + tuple(
    (0, word) for word in decode.TURNED
)
_TOLD_BY: Final = range(len(SHAPES), len(SHAPES) + len(_TELLING))
_APART: Final = _TOLD_BY.stop
_DISGUISED: Final = range(_APART + 1, _APART + 1 + len(views.DISGUISED))
PATTERNS: Final = (
    *(rule.pattern for rule in SHAPES),
    *(word for _, word in _TELLING),
    views.APART,
    *views.DISGUISED,
)
_PRESENCE: Final = presence(PATTERNS)
_BLOCKS: Final = presence([pattern for pattern, _ in decode.ALPHABETS])  # on the original text: capitals count


def signals(text: str, budget: Budget) -> Iterator[Signal]:
    """Yield the signals of every view of a text, some of them more than once."""
    view = views.normalised(text)
    present = _PRESENCE.present(view.text)
    yield from markup.hidden(text)
    for match in _shapes(view.text, present, budget):
        yield _signal(view, match, _shown(view.text, match))
    plain = list(_lexical(view, budget))
    yield from plain
    if budget.spent:
        return
    yield from _in_comments(text, plain)
    yield from _undisguised(view, present, budget)
    for other in _decoded_views(view, present, budget):
        yield from _hidden_orders(other, budget)
    yield from _encoded(text, budget)


def _shapes(text: str, present: frozenset[int], budget: Budget) -> Iterator[Match]:
    """Yield the shapes that a normalised text holds."""
    for number in sorted(present.intersection(range(len(SHAPES)))):
        rule, pattern = _SHAPES[number]
        for found in islice(pattern.finditer(text), limits.SIGNALS):
            budget.matches -= 1
            yield Match(*found.span(), rule)


def _shown(text: str, match: Match) -> Severity:
    """Give the severity of a shape; a critical one that is shown in quotes speaks lower."""
    critical = match.rule.severity is Severity.CRITICAL
    return Severity.MEDIUM if critical and markup.is_shown(text, match.start, match.end) else match.rule.severity


def _lexical(view: views.View, budget: Budget) -> Iterator[Signal]:
    """Yield the phrases of a view; what is only quoted or reported speaks low, what is denied not at all."""
    for match in PHRASES.matches(view.text, budget):
        if match.rule.kind is SignalKind.INSTRUCTION_OVERRIDE and is_negated(view.text, match.start):
            continue
        told = is_told(view.text, match.start)
        yield _signal(view, match, Severity.LOW if told else match.rule.severity)


def _signal(view: views.View, match: Match, severity: Severity) -> Signal:
    """Give a match as a signal of the original text."""
    return Signal(*view.span(match.start, match.end), match.rule.kind, severity)


def _in_comments(text: str, plain: list[Signal]) -> Iterator[Signal]:
    """Yield the comments of a page that hold a lexical signal."""
    if "<!--" not in text or not plain:
        return
    starts = sorted(signal.start for signal in plain)
    at = 0
    for start, end in markup.comments(text):
        while at < len(starts) and starts[at] < start:
            at += 1
        if at < len(starts) and starts[at] < end:
            yield Signal(start, end, SignalKind.HIDDEN_CONTROL_MARKUP, Severity.HIGH)


def _decoded_views(view: views.View, present: frozenset[int], budget: Budget) -> Iterator[views.View]:
    """Yield the readings of a text whose words may be disguised, each for a reason, and no more than is allowed."""
    if _APART in present:
        yield views.joined(view, budget.decoded_chars)
    telling = [_TELLING[number - _TOLD_BY.start] for number in sorted(present.intersection(_TOLD_BY))]
    for by, word in telling[:WINDOWS]:
        for at in islice(re.finditer(re.escape(word), view.text), WINDOWS):
            start, end = max(0, at.start() - WINDOW), min(len(view.text), at.end() + WINDOW)
            yield views.shifted(view, start, end, decode.SHIFTS[by]) if by else views.turned(view, start, end)


def _undisguised(view: views.View, present: frozenset[int], budget: Budget) -> Iterator[Signal]:
    """Yield what appears when digits and look-alikes are read as letters, as what it says and as obfuscated."""
    if not present.intersection(_DISGUISED):
        return
    piece, other = views.undisguised(view, budget.decoded_chars)
    for match in PHRASES.matches(other.text, budget):
        where = slice(match.start, match.end)
        if match.rule.severity is not Severity.LOW and other.text[where] != piece[where]:
            severity = Severity.LOW if is_told(piece, match.start) else match.rule.severity
            yield _signal(other, match, severity)
            yield Signal(*other.span(match.start, match.end), OBSCURE, severity)


def _hidden_orders(other: views.View, budget: Budget) -> Iterator[Signal]:
    """Yield what a decoded view orders, as obfuscated."""
    for match in (*PHRASES.matches(other.text, budget), *_compact(other.text)):
        if match.rule.severity is not Severity.LOW:
            yield Signal(*other.span(match.start, match.end), OBSCURE, match.rule.severity)


def _compact(text: str) -> Iterator[Match]:
    """Yield the matches of the rules for words written together."""
    for rule, pattern in _COMPACT:
        for found in islice(pattern.finditer(text), limits.SIGNALS):
            yield Match(*found.span(), rule)


def _encoded(text: str, budget: Budget) -> Iterator[Signal]:
    """Yield the encoded blocks whose decoded text gives an order, and the order itself at the same place."""
    for alphabet in sorted(_BLOCKS.present(text)):
        for start, end, decoded in decode.blocks(text, alphabet, budget.decoded_chars):
            budget.decoded_chars -= end - start
            yield from _in_block(text, start, end, decoded, budget)


def _in_block(text: str, start: int, end: int, decoded: str, budget: Budget) -> Iterator[Signal]:
    """Yield the signals of one decoded block, all at the place of the block."""
    plain = views.normalised(decoded)
    found = [*PHRASES.matches(plain.text, budget), *_shapes(plain.text, _PRESENCE.present(plain.text), budget)]
    if not found:
        return
    before = views.fold_text(text[max(0, start - BEFORE) : start])
    told = is_told(before, len(before))
    worst = max((match.rule.severity for match in found), key=RANK.__getitem__)
    grave = RANK[worst] >= RANK[Severity.HIGH] and not told
    yield Signal(start, end, OBSCURE, Severity.HIGH if grave else Severity.MEDIUM)
    for kind in {match.rule.kind: None for match in found}:
        most = max((match.rule.severity for match in found if match.rule.kind is kind), key=RANK.__getitem__)
        yield Signal(start, end, kind, Severity.LOW if told else min(most, Severity.HIGH, key=RANK.__getitem__))
