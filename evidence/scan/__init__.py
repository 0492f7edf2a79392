"""The deterministic injection scan of evidence ("Stage 2: Deterministic Injection Scan").

It signals risk and proves nothing: the same text and the same rules give the same signals, spans and decision.
No network, clock, model or database; the text itself is never changed.
"""

import hashlib
from collections.abc import Iterable, Iterator
from typing import Final

from densemem.core import limits
from evidence.scan import decode, lexical, markup, views
from evidence.scan.model import Assessment, Rule, ScanFailed, Signal
from evidence.vocabulary import ScanDecision, Severity, SignalKind

__all__ = ["POLICY_HASH", "Assessment", "ScanFailed", "Signal", "decide", "scan_text"]

VERSION: Final = "1"  # raised when the code changes what the tables mean
_RANK: Final = {Severity.LOW: 0, Severity.MEDIUM: 1, Severity.HIGH: 2, Severity.CRITICAL: 3}


def _policy_hash() -> str:
    """Hash every table that decides what is signalled."""
    digest = hashlib.sha256(VERSION.encode())
    for rule in lexical.RULES:
        digest.update(_line(rule))
    tables = (markup.SHAPES, views.LOOK_ALIKES, views.LEET, [one for one, _ in decode.ALPHABETS], decode.SHIFT_WORDS)
    for table in tables:
        digest.update(repr(table).encode())
    return digest.hexdigest()


def _line(rule: Rule) -> bytes:
    """Give one rule as bytes to hash."""
    return repr((rule.kind.value, rule.severity.value, rule.heads, rule.pattern.pattern, rule.anywhere)).encode()


POLICY_HASH: Final = _policy_hash()


def scan_text(text: str) -> Assessment:
    """
    Scan one text and decide whether it passes, is guarded or is quarantined.

    Signals carry spans in code points of `text`, worst first where there are more than `limits.SIGNALS`.

    :raises ScanFailed: the text is longer than `limits.SCAN_CHARS`, or the scan broke; never a silent pass
    """
    if len(text) > limits.SCAN_CHARS:
        raise ScanFailed(f"The text has {len(text)} characters; at most {limits.SCAN_CHARS} are scanned.")
    try:
        found = _distinct(_all_signals(text))
    except Exception as error:
        raise ScanFailed("The scan could not be completed.") from error
    return Assessment(decide(found), POLICY_HASH, _kept(found))


def decide(signals: Iterable[Signal]) -> ScanDecision:
    """
    Decide from the signals alone.

    None passes. A critical signal, or two high ones of different kinds, is quarantined. Everything else is guarded.
    """
    found = list(signals)
    if not found:
        return ScanDecision.PASS
    high = {signal.kind for signal in found if signal.severity is Severity.HIGH}
    if len(high) >= 2 or any(signal.severity is Severity.CRITICAL for signal in found):
        return ScanDecision.QUARANTINE
    return ScanDecision.GUARDED


def _all_signals(text: str) -> Iterator[Signal]:
    """Yield the signals of every view, some of them more than once."""
    view = views.normalised(text)
    yield from markup.hidden(text)
    for start, end, kind, severity in markup.shapes(view.text):
        yield Signal(*view.span(start, end), kind, severity)
    plain = list(lexical.signals(view))
    yield from plain
    yield from _in_comments(text, plain)
    yield from _disguised(view)
    yield from _encoded(text)


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


def _disguised(view: views.View) -> Iterator[Signal]:
    """Yield what appears only when digits are read as letters, letters are joined, or the text is turned."""
    together = views.joined(view)
    if together is not None:
        for start, end, kind, severity in lexical.compact(together.text):
            yield Signal(*together.span(start, end), kind, severity)
    turned = views.backwards(view) if decode.reads_backwards(view.text) else None
    shifted = [views.View(text, view.origin) for text in decode.shifted(view.text)]
    for other in (together, views.leet(view), turned, *shifted):
        if other is not None:
            yield from _new_in(other, view)


def _new_in(other: views.View, view: views.View) -> Iterator[Signal]:
    """Yield, as obfuscated, the matches of another view that touch changed text."""
    for start, end, _, severity in lexical.matches(other.text):
        first, last = other.span(start, end)
        if other.text[start:end] not in view.text and severity is not Severity.LOW:
            yield Signal(min(first, last - 1), max(first + 1, last), SignalKind.OBFUSCATED_INSTRUCTION, severity)


def _encoded(text: str) -> Iterator[Signal]:
    """Yield the encoded blocks whose decoded text gives an order, and the order itself at the same place."""
    for start, end, decoded in decode.blocks(text):
        plain = views.normalised(decoded)
        found = [
            (kind, severity) for _, _, kind, severity in (*lexical.matches(plain.text), *markup.shapes(plain.text))
        ]
        if not found:
            continue
        before = text[max(0, start - lexical.BEFORE) : start].lower()
        told = lexical.is_told(before, len(before))
        worst = max((severity for _, severity in found), key=_RANK.__getitem__)
        grave = _RANK[worst] >= _RANK[Severity.HIGH] and not told
        yield Signal(start, end, SignalKind.OBFUSCATED_INSTRUCTION, Severity.HIGH if grave else Severity.MEDIUM)
        for kind, severity in found:
            yield Signal(
                start, end, kind, Severity.LOW if told else min(severity, Severity.HIGH, key=_RANK.__getitem__)
            )


def _distinct(signals: Iterable[Signal]) -> list[Signal]:
    """Merge signals of one kind that overlap; the merged one spans them all and takes the worst severity."""
    merged: list[Signal] = []
    for signal in sorted(signals, key=lambda one: (one.kind.value, one.start, one.end)):
        last = merged[-1] if merged else None
        if last is None or last.kind is not signal.kind or signal.start >= last.end:
            merged.append(signal)
            continue
        worst = max(last.severity, signal.severity, key=_RANK.__getitem__)
        merged[-1] = Signal(last.start, max(last.end, signal.end), signal.kind, worst)
    return merged


def _kept(signals: list[Signal]) -> tuple[Signal, ...]:
    """Keep the worst signals up to the limit, in the order of the text."""
    worst = sorted(signals, key=lambda one: (-_RANK[one.severity], one.start, one.end, one.kind.value))
    return tuple(sorted(worst[: limits.SIGNALS], key=lambda one: (one.start, one.end, one.kind.value)))
