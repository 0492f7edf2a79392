"""Reading tables of every app, in steps of bounded size."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.apps import apps

from densemem.audit.report import Difference
from densemem.core.limits import AUDIT_ROWS


def rows(table: str) -> Any:
    """Return all rows of `app.Model` as a query that can be narrowed."""
    return apps.get_model(table)._default_manager.all()


def chunks(table: str, *, team_id: UUID | None) -> Iterator[list[Any]]:
    """Walk through a table in the order of its ids, at most AUDIT_ROWS rows at a time."""
    query = rows(table).order_by("pk")
    query = query if team_id is None else query.filter(team_id=team_id)
    chunk = list(query[:AUDIT_ROWS])
    while chunk:
        yield chunk
        chunk = list(query.filter(pk__gt=chunk[-1].pk)[:AUDIT_ROWS]) if len(chunk) == AUDIT_ROWS else []


def ids(chunk: Sequence[Any]) -> list[UUID]:
    """Return the ids of rows."""
    return [row.id for row in chunk]


def newest(table: str, of: str, owners: Iterable[UUID]) -> dict[UUID, Any]:
    """Return the ledger row with the highest sequence of each owner; `of` names the column that refers to it."""
    found = rows(table).filter(**{f"{of}__in": list(owners)}).order_by(of, "-seq").distinct(of)
    return {getattr(row, of): row for row in found}


def grouped(pairs: Iterable[tuple[UUID, Any]]) -> Mapping[UUID, list[Any]]:
    """Collect values by their owner, keeping their order."""
    found: dict[UUID, list[Any]] = defaultdict(list)
    for owner, value in pairs:
        found[owner].append(value)
    return found


def unequal(row: Any, event: Any, columns: Iterable[str]) -> Iterator[Difference]:
    """Compare a current row with the newest row of its ledger."""
    if event is None:
        yield Difference(row.id, "has no history")
        return
    for column in columns:
        now, then = getattr(row, column), getattr(event, column)
        if now != then:
            yield Difference(row.id, f"{column} is {now!r}, its newest history says {then!r}")
