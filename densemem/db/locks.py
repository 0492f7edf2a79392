"""Advisory locks that live as long as the transaction."""

from django.db import connection

from densemem.core.canonical import digest


def lock(*parts: object) -> None:
    """Wait for the lock named by `parts` and hold it alone until the transaction ends.

    Lock several names in sorted order, or two transactions may wait for each other.
    """
    _take("SELECT pg_advisory_xact_lock(%s)", parts)


def share(*parts: object) -> None:
    """Wait for the lock named by `parts` and hold it, with others that share it, until the transaction ends."""
    _take("SELECT pg_advisory_xact_lock_shared(%s)", parts)


def _take(sql: str, parts: tuple[object, ...]) -> None:
    number = int(digest("\x1f".join(map(str, parts)))[:15], 16)
    with connection.cursor() as cursor:
        cursor.execute(sql, [number])
