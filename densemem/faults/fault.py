"""What a fault is, and what a run of it found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

Figures = Mapping[str, float]
"""Counts, which add up over the rounds; a name that ends in `_seconds` is a time, of which the longest is kept."""


class Broken(Exception):
    """Something did not hold; the text says what, with ids and counts and no words of evidence."""


@dataclass(frozen=True, slots=True)
class Fault:
    """
    One kind of fault.

    :param name: its name on the page, such as `F1`
    :param play: plays one round from its own source of chance, and raises `Broken`
    """

    name: str
    title: str
    bar: str
    play: Callable[[Random], Figures]


@dataclass(frozen=True, slots=True)
class Failure:
    """What did not hold in one round."""

    round: int
    detail: str


@dataclass(slots=True)
class Report:
    """A run of one fault; `seconds` is its wall-clock time."""

    fault: Fault
    seed: int
    rounds: int = 0
    seconds: float = 0.0
    figures: dict[str, float] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Tell if every round held."""
        return self.rounds > 0 and not self.failures

    def add(self, figures: Figures) -> None:
        """Take the figures of one more round."""
        for name, figure in figures.items():
            known = self.figures.get(name, 0)
            self.figures[name] = max(known, round(figure, 3)) if name.endswith("_seconds") else known + figure

    def replay(self, failure: Failure) -> str:
        """Return the command that plays a round again."""
        return f"manage.py faults {self.fault.name} --seed {self.seed} --only {failure.round}"

    def as_dict(self) -> dict[str, Any]:
        """Return the public form."""
        return {
            "fault": self.fault.name,
            "title": self.fault.title,
            "bar": self.fault.bar,
            "passed": self.passed,
            "seed": self.seed,
            "rounds": self.rounds,
            "seconds": round(self.seconds, 1),
            "figures": self.figures,
            "failures": [{"round": f.round, "detail": f.detail, "replay": self.replay(f)} for f in self.failures],
        }
