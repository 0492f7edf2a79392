"""The values of the injection scan: rules, signals and the assessment ("Stage 2: Deterministic Injection Scan")."""

from dataclasses import dataclass

from evidence.vocabulary import ScanDecision, Severity, SignalKind

RANK = {Severity.LOW: 0, Severity.MEDIUM: 1, Severity.HIGH: 2, Severity.CRITICAL: 3}


class ScanFailed(Exception):
    """The scan could not be done; the intake is refused instead of passing unseen."""


@dataclass(frozen=True, slots=True, order=True)
class Signal:
    """Suspected control text: `[start, end)` in code points of the original text."""

    start: int
    end: int
    kind: SignalKind
    severity: Severity


@dataclass(frozen=True, slots=True)
class Assessment:
    """What the scan saw in one text and decides about it."""

    decision: ScanDecision
    policy_hash: str
    signals: tuple[Signal, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """What one pattern says when it is found; how the pattern reads is told where it is written."""

    kind: SignalKind
    severity: Severity
    pattern: str


@dataclass(frozen=True, slots=True)
class Match:
    """A rule that holds at `[start, end)` of a view."""

    start: int
    end: int
    rule: Rule


@dataclass(slots=True)
class Budget:
    """What one scan may still take; at zero it stops looking and the text is quarantined."""

    matches: int
    decoded_chars: int

    @property
    def spent(self) -> bool:
        """Answer whether matches were left unread."""
        return self.matches < 0
