"""The SQL statements that a piece of work makes on this connection."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

Statement = tuple[str, Any]


@contextmanager
def counted() -> Iterator[list[Statement]]:
    """Collect each statement with its parameters; those that begin and end transactions are not among them."""
    seen: list[Statement] = []

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        seen.append((sql, params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield seen
