"""What a benchmark says: figures, each beside what the machine can do at all, and against its bar."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from statistics import median, quantiles
from typing import Any


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What the machine did a moment ago, with nothing of the product in the way."""

    name: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number; `least` and `most` are its bar, `beside` the yardstick that it is divided by."""

    bar: str
    name: str
    value: float
    unit: str = ""
    least: float | None = None
    most: float | None = None
    beside: Yardstick | None = None

    @property
    def ratio(self) -> float | None:
        """The figure in units of its yardstick: this moves less from machine to machine."""
        return self.value / self.beside.value if self.beside and self.beside.value else None

    @property
    def passed(self) -> bool | None:
        """Whether the bar is held; None where there is none."""
        if self.least is None and self.most is None:
            return None
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)

    @property
    def wanted(self) -> str:
        """The bar in words."""
        bounds = ((">=", self.least), ("<=", self.most))
        return " and ".join(f"{sign} {bound:g}" for sign, bound in bounds if bound is not None)

    def as_dict(self) -> dict[str, Any]:
        """Return the public form."""
        return {**asdict(self), "ratio": self.ratio, "passed": self.passed}


def middle(seconds: Sequence[float]) -> float:
    """Return the median of times, in milliseconds."""
    return median(seconds) * 1000 if seconds else 0.0


def slow(seconds: Sequence[float]) -> float:
    """Return the 95th percentile of times, in milliseconds."""
    if len(seconds) < 2:
        return middle(seconds)
    return quantiles(seconds, n=100, method="inclusive")[94] * 1000


def verdicts(figures: Sequence[Figure]) -> list[str]:
    """Return one line for each bar: passed, or which of its figures are not held."""
    return [_verdict(bar, list(of_bar)) for bar, of_bar in groupby(figures, key=lambda f: f.bar)]


def _verdict(bar: str, figures: Sequence[Figure]) -> str:
    missed = [f"{f.name} {f.value:.4g}{f.unit}, wanted {f.wanted}" for f in figures if f.passed is False]
    return f"{bar} FAILED: {'; '.join(missed)}" if missed else f"{bar} passed"
