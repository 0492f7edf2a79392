"""What an audit finds."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Difference:
    """One row that does not say what its history says. Holds ids and states, never text of evidence."""

    row: UUID
    detail: str

    def as_dict(self) -> dict[str, str]:
        """Return the public form."""
        return {"row": str(self.row), "detail": self.detail}


@dataclass(frozen=True, slots=True)
class Check:
    """
    One rule and how it is tested.

    :param name: stable, in words joined by `_`
    :param table: `app.Model` of the rows that are compared
    :param compare: takes up to AUDIT_ROWS rows, all of one table, and yields what differs
    """

    name: str
    table: str
    compare: Callable[[Sequence[Any]], Iterable[Difference]]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check compared; `differences` lists the first of them, `count` counts all."""

    name: str
    compared: int
    count: int
    differences: tuple[Difference, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the public form."""
        return {
            "name": self.name,
            "compared": self.compared,
            "count": self.count,
            "differences": [d.as_dict() for d in self.differences],
        }


@dataclass(frozen=True, slots=True)
class Report:
    """All checks of one audit."""

    checks: tuple[CheckResult, ...]

    @property
    def differences(self) -> int:
        """How many rows differ, over all checks."""
        return sum(check.count for check in self.checks)

    def as_dict(self) -> dict[str, Any]:
        """Return the public form."""
        return {"checks": [check.as_dict() for check in self.checks], "differences": self.differences}
