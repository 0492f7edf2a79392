"""Histories against the clock: what follows carries no earlier moment than what it follows.

Answers about the past rest on it ("Relationship Model And Lifecycle", Lifecycle And History).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final
from uuid import UUID

from densemem.audit.report import Check, Difference
from densemem.audit.tables import grouped, ids, rows

# By the row that has a history: the ledgers of it, and the column of each that names the row.
HISTORIES: Final[Mapping[str, Mapping[str, str]]] = {
    "relationships.RelationshipRecord": {
        "relationships.Transition": "relationship_id",
        "relationships.SupportDecision": "support__relationship_id",
    },
    "relationships.ConflictCase": {"relationships.ConflictEvent": "case_id"},
    "evidence.Fragment": {"evidence.SecurityEvent": "fragment_id"},
    "evidence.Source": {"evidence.SourceRevision": "source_id"},
    "placement.Item": {"placement.ItemEvent": "item_id"},
    "review.Task": {"review.TaskEvent": "task_id"},
}


def _in_order(ledgers: Mapping[str, str], chunk: Sequence[Any]) -> Iterator[Difference]:
    for ledger, column in ledgers.items():
        history = rows(ledger).filter(**{f"{column}__in": ids(chunk)}).order_by("seq")
        for row, moments in grouped(history.values_list(column, "recorded_at")).items():
            yield from _backwards(row, ledger, moments)


def _backwards(row: UUID, ledger: str, moments: Sequence[Any]) -> Iterator[Difference]:
    for before, after in zip(moments, moments[1:], strict=False):
        if after < before:
            yield Difference(row, f"{ledger} of {after.isoformat()} follows one of {before.isoformat()}")


def _check(table: str) -> Check:
    compare: Callable[[Sequence[Any]], Iterator[Difference]] = partial(_in_order, HISTORIES[table])
    return Check(f"{table.split('.')[1].lower()}_history_runs_forward", table, compare)


CHECKS: Final = tuple(_check(table) for table in HISTORIES)
