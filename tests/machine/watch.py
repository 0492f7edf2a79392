"""The audit after every step: a check is done again when a table that it reads was written to since it was done last.

What a check finds follows from the rows that it reads, so that leaving it out otherwise loses nothing.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final

from django.db import connection

from densemem.audit import CHECKS, Difference, audit
from densemem.audit.report import Check

# Counters of the open transaction, which only grow: also by what a savepoint took back.
WRITTEN: Final = """
    SELECT relname, pg_stat_get_xact_tuples_inserted(oid) + pg_stat_get_xact_tuples_updated(oid)
                  + pg_stat_get_xact_tuples_deleted(oid)
    FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
      AND relname ~ '^(evidence|entities|relationships|review|placement)_'"""
TABLE: Final = re.compile(r'"?\b((?:evidence|entities|relationships|review|placement)_[a-z]+)\b"?')

Finding = tuple[str, tuple[Difference, ...]]


class Watch:
    """Which tables each check reads, and how often each of them had been written to when the check was done last."""

    def __init__(self) -> None:
        self.reads: dict[str, set[str]] = defaultdict(set)
        self.seen: dict[str, dict[str, int]] = {}

    def differing(self) -> list[Finding]:
        """Do every check whose answer may have changed, and return what differs. The invariants are no part of it."""
        written = _written()
        due = [c for c in CHECKS if isinstance(c, Check) and self._is_due(c.name, written)]
        found = audit(checks=[self._noting(check) for check in due])
        self.seen |= dict.fromkeys((check.name for check in due), written)
        return [(check.name, check.differences) for check in found.checks if check.differences]

    def _is_due(self, name: str, written: dict[str, int]) -> bool:
        seen = self.seen.get(name)
        return seen is None or any(written[table] != seen[table] for table in self.reads[name])

    def _noting(self, check: Check) -> Check:
        """Return the check, which notes what it reads while it compares."""
        reads = self.reads[check.name]
        reads.add(check.table.replace(".", "_").lower())

        def note(execute: Callable[..., Any], statement: Any, *rest: Any) -> Any:
            reads.update(TABLE.findall(str(statement)))
            return execute(statement, *rest)

        def compare(chunk: Sequence[Any]) -> list[Difference]:
            with connection.execute_wrapper(note):
                return list(check.compare(chunk))

        return Check(check.name, check.table, compare)


def _written() -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(WRITTEN)
        return dict(cursor.fetchall())
