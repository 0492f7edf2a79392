"""Rows added in one trip: each table's as one JSON text, so a statement reads the same however many rows it brings.

The driver and the server know such a statement again, and neither takes it apart twice.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any, Final, TypeAlias
from uuid import UUID

from django.db import connection, models
from django.db.models.expressions import DatabaseDefault

Table: TypeAlias = tuple[type[models.Model], tuple[str, ...], bool]  # attributes that are given; ignore_conflicts
Batch: TypeAlias = dict[Table, list[models.Model]]

_open: Final[ContextVar[Batch | None]] = ContextVar("open", default=None)


def insert(rows: Iterable[models.Model], *, ignore_conflicts: bool = False) -> None:
    """Insert rows, those of a table in their order; what the database gives by itself is not read back.

    :param ignore_conflicts: a row that is there already stays as it is
    """
    with together() as batch:
        for row in rows:
            batch.setdefault((type(row), _given(row), ignore_conflicts), []).append(row)


@contextmanager
def together() -> Iterator[Batch]:
    """Insert everything that is inserted inside by one statement at the end; until then nothing of it can be read.

    Which table comes first is left to the server: foreign keys are checked when the transaction ends, and `seq` orders
    the rows of one table alone. Catch no fault of the database inside: what waits would still be sent.
    """
    outer = _open.get()
    if outer is not None:
        yield outer
        return
    batch: Batch = {}
    before = _open.set(batch)
    try:
        yield batch
    finally:
        _open.reset(before)
    if batch:
        with connection.cursor() as cursor:
            cursor.execute(_statement(tuple(batch)), [_text(rows, names) for (_, names, _), rows in batch.items()])


def nothing_waits() -> bool:
    """Tell if everything that was inserted can be read: no `together` is open."""
    return _open.get() is None


def _given(row: models.Model) -> tuple[str, ...]:
    """Return the attributes that a row brings; the database gives the others."""
    names = (f.attname for f in row._meta.concrete_fields)
    return tuple(name for name in names if not isinstance(getattr(row, name), DatabaseDefault))


def _text(rows: Sequence[models.Model], names: Sequence[str]) -> str:
    values = [{n: getattr(row, n) for n in names} for row in rows]
    return json.dumps(values, ensure_ascii=False, allow_nan=False, default=_leaf)


def _leaf(value: object) -> str:
    """Return as text what JSON has no form for, and a column has."""
    if isinstance(value, date):  # a datetime is one, too
        return value.isoformat()
    if isinstance(value, UUID | Decimal):
        return str(value)
    raise TypeError(f"{type(value).__name__} is no value of a row")


@cache
def _statement(tables: tuple[Table, ...]) -> str:
    *others, last = [_insert(*table) for table in tables]
    beside = ", ".join(f"t{number} AS ({sql})" for number, sql in enumerate(others))
    return f"WITH {beside} {last}" if beside else last


def _insert(model: type[models.Model], names: Sequence[str], ignore_conflicts: bool) -> str:
    quote = connection.ops.quote_name
    fields: dict[str, Any] = {f.attname: f for f in model._meta.concrete_fields}
    columns = ", ".join(quote(fields[name].column) for name in names)
    given = ", ".join(quote(name) for name in names)
    types = ", ".join(f"{quote(name)} {fields[name].db_type(connection)}" for name in names)
    conflict = " ON CONFLICT DO NOTHING" if ignore_conflicts else ""
    table = quote(model._meta.db_table)
    source = f"json_to_recordset(%s) AS given({types})"
    return f"INSERT INTO {table} ({columns}) SELECT {given} FROM {source}{conflict}"  # noqa: S608 - names of our models
