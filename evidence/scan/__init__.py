"""The deterministic injection scan of evidence ("Stage 2: Deterministic Injection Scan").

It signals risk and proves nothing: the same text and the same rules give the same signals, spans and decision.
No network, clock, model or database; the text itself is never changed.
"""

from collections.abc import Iterable

from densemem.core import limits
from evidence.scan import reading
from evidence.scan.model import RANK, Assessment, Budget, ScanFailed, Signal
from evidence.scan.policy import POLICY_HASH
from evidence.vocabulary import ScanDecision, Severity

__all__ = ["POLICY_HASH", "Assessment", "ScanFailed", "Signal", "decide", "scan_text"]


def scan_text(text: str) -> Assessment:
    """
    Scan one text and decide whether it passes, is guarded or is quarantined.

    Signals carry spans in code points of `text`, the worst where there are more than `limits.SIGNALS`. A text in which
    more than `limits.SCAN_MATCHES` rules hold is read no further and quarantined.

    :raises ScanFailed: the text is longer than `limits.SCAN_CHARS`, or the scan broke; never a silent pass
    """
    if len(text) > limits.SCAN_CHARS:
        raise ScanFailed(f"The text has {len(text)} characters; at most {limits.SCAN_CHARS} are scanned.")
    budget = Budget(limits.SCAN_MATCHES, limits.SCAN_DECODED_CHARS)
    try:
        found = _distinct(reading.signals(text, budget))
    except Exception as error:
        raise ScanFailed("The scan could not be completed.") from error
    decision = ScanDecision.QUARANTINE if budget.spent else decide(found)
    return Assessment(decision, POLICY_HASH, _kept(found))


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


def _distinct(signals: Iterable[Signal]) -> list[Signal]:
    """Merge signals of one kind that overlap; the merged one spans them all and takes the worst severity."""
    merged: list[Signal] = []
    for signal in sorted(signals, key=lambda one: (one.kind.value, one.start, one.end)):
        last = merged[-1] if merged else None
        if last is None or last.kind is not signal.kind or signal.start >= last.end:
            merged.append(signal)
            continue
        worst = max(last.severity, signal.severity, key=RANK.__getitem__)
        merged[-1] = Signal(last.start, max(last.end, signal.end), signal.kind, worst)
    return merged


def _kept(signals: list[Signal]) -> tuple[Signal, ...]:
    """Keep the worst signals up to the limit, in the order of the text."""
    worst = sorted(signals, key=lambda one: (-RANK[one.severity], one.start, one.end, one.kind.value))
    return tuple(sorted(worst[: limits.SIGNALS], key=lambda one: (one.start, one.end, one.kind.value)))
