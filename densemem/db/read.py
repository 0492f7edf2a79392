"""Reads of plain rows: what every request and every item asks is one statement that the server plans once."""

from typing import Any

from django.db import connection


def fetch(sql: str, **given: Any) -> list[tuple[Any, ...]]:
    """Return the rows that a statement finds, with its values by name."""
    with connection.cursor() as cursor:
        cursor.execute(sql, given)
        return list(cursor.fetchall())
