"""Rows added in one trip: each table's as one JSON text, so a statement reads the same however many rows it brings.

The driver and the server know such a statement again, and neither takes it apart twice.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Final, TypeAlias

from django.db import connection, models
from django.db.models.expressions import DatabaseDefault

Table: TypeAlias = tuple[type[models.Model], bool]  # with whether a row that is there already stays as it is
Columns: TypeAlias = tuple[str, ...]


@dataclass(slots=True)
class Waiting:
    """Rows that go out together, table by table."""

    rows: dict[Table, list[models.Model]] = field(default_factory=dict)

    def add(self, rows: Iterable[models.Model], *, ignore_conflicts: bool) -> None:
        """Let rows of one table wait with the others."""
        for row in rows:
            self.rows.setdefault((type(row), ignore_conflicts), []).append(row)


_waiting: Final[ContextVar[Waiting | None]] = ContextVar("waiting", default=None)


def insert(rows: Iterable[models.Model], *, ignore_conflicts: bool = False) -> None:
    """Insert rows of one table, in their order; what the database gives by itself is not read back.

    :param ignore_conflicts: a row that is there already stays as it is
    """
    waiting = _waiting.get()
    if waiting is None:
        with together():
            insert(rows, ignore_conflicts=ignore_conflicts)
    else:
        waiting.add(rows, ignore_conflicts=ignore_conflicts)


@contextmanager
def together() -> Iterator[None]:
    """Insert everything that is inserted inside by one statement at the end; until then nothing of it can be read.

    Which table comes first does not matter, as foreign keys are checked when the transaction ends.
    """
    waiting = Waiting()
    before = _waiting.set(waiting)
    try:
        yield
    finally:
        _waiting.reset(before)
    if waiting.rows:
        _send(waiting.rows)


def _send(tables: dict[Table, list[models.Model]]) -> None:
    columns = [(table, _given(rows[0])) for table, rows in tables.items()]
    texts = [_text(rows, names) for rows, (_, names) in zip(tables.values(), columns, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(_statement(tuple(columns)), texts)


def _given(row: models.Model) -> Columns:
    """Return the attributes that a row brings; the database gives the others."""
    names = (f.attname for f in row._meta.concrete_fields)
    return tuple(name for name in names if not isinstance(getattr(row, name), DatabaseDefault))


def _text(rows: Sequence[models.Model], names: Columns) -> str:
    return json.dumps([{n: getattr(row, n) for n in names} for row in rows], ensure_ascii=False, default=_leaf)


def _leaf(value: object) -> str:
    """Return as text what JSON has no form for: ids, times, decimals."""
    return value.isoformat() if isinstance(value, datetime) else str(value)


@cache
def _statement(tables: tuple[tuple[Table, Columns], ...]) -> str:
    *others, last = [_insert(*table, names) for table, names in tables]
    beside = ", ".join(f"t{number} AS ({sql})" for number, sql in enumerate(others))
    return f"WITH {beside} {last}" if beside else last


def _insert(model: type[models.Model], ignore_conflicts: bool, names: Columns) -> str:
    quote = connection.ops.quote_name
    fields: dict[str, Any] = {f.attname: f for f in model._meta.concrete_fields}
    columns = ", ".join(quote(fields[name].column) for name in names)
    given = ", ".join(quote(name) for name in names)
    types = ", ".join(f"{quote(name)} {fields[name].db_type(connection)}" for name in names)
    conflict = " ON CONFLICT DO NOTHING" if ignore_conflicts else ""
    table = quote(model._meta.db_table)
    source = f"json_to_recordset(%s) AS given({types})"
    return f"INSERT INTO {table} ({columns}) SELECT {given} FROM {source}{conflict}"  # noqa: S608 - names of our models
