"""Advisory locks that live as long as the transaction."""

from collections.abc import Collection, Iterable
from typing import Final

from django.db import connection

from densemem.core.canonical import digest

EACH: Final = "SELECT pg_advisory_xact_lock(number) FROM unnest(%s::bigint[]) AS number"


def lock(*parts: object) -> None:
    """Wait for the lock named by `parts` and hold it alone until the transaction ends.

    Lock several names with `lock_all`, or in sorted order, or two transactions may wait for each other.
    """
    _take("SELECT pg_advisory_xact_lock(%s)", number(parts))


def lock_all(
    names: Iterable[tuple[object, ...]],
    *,
    sharing: tuple[object, ...] | None = None,
    numbers: Collection[int] = (),
) -> None:
    """Do the same for several names, in an order that is the same for everyone.

    :param sharing: a lock that is shared with others, and taken first
    :param numbers: names that are signed numbers of 64 bits already, and meant by nobody else
    """
    wanted = sorted({*map(number, names), *numbers})
    if sharing:
        sql = "SELECT pg_advisory_xact_lock_shared(%s) UNION ALL " + EACH
        _take(sql, number(sharing), wanted)
    else:
        _take(EACH, wanted)


def share(*parts: object) -> None:
    """Wait for the lock named by `parts` and hold it, with others that share it, until the transaction ends."""
    _take("SELECT pg_advisory_xact_lock_shared(%s)", number(parts))


def share_both(one: tuple[object, ...], other: tuple[object, ...]) -> None:
    """Share two locks, the first one first."""
    _take("SELECT pg_advisory_xact_lock_shared(%s), pg_advisory_xact_lock_shared(%s)", number(one), number(other))


def number(parts: tuple[object, ...]) -> int:
    """Return the number by which the database knows a lock."""
    return int(digest("\x1f".join(map(str, parts)))[:15], 16)


def _take(sql: str, *numbers: int | list[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, numbers)
