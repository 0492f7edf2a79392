"""The values of the injection scan: rules, signals and the assessment ("Stage 2: Deterministic Injection Scan")."""

import re
from dataclasses import dataclass

from evidence.vocabulary import ScanDecision, Severity, SignalKind


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
    """
    One lexical pattern, tried only where one of its heads begins.

    A head is a word, the beginning of words (`ignor*`), or a plain string where `anywhere` is set (scripts
    without spaces).
    """

    kind: SignalKind
    severity: Severity
    heads: tuple[str, ...]
    pattern: re.Pattern[str]
    anywhere: bool = False
