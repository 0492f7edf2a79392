"""The lists of a trace, page by page: the newest entry first, by the ledgers' sequence.

A page ends before a number and not after a count, so rows that are added meanwhile shift nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import Count, QuerySet, Value

from densemem.paging import BEGINNING, Before
from relationships.models import RelationshipRecord
from relationships.trace.shapes import Listed

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked:
    """The record that is traced, and the moment by which all of it had to be recorded; None for now."""

    record: RelationshipRecord
    known_at: datetime | None

    @property
    def team_id(self) -> UUID:
        """The team of the record."""
        return self.record.team_id


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """
    What one list holds.

    :param rows: the rows that were known, in no order
    :param shown: puts the rows of a page into their public shape; its queries do not grow with them
    :param order: the way from a row to the number of the sequence by which it stands in the list
    """

    rows: Callable[[Asked], QuerySet[Any]]
    shown: Callable[[Asked, Sequence[Any]], list[T]]
    order: str = "seq"

    def page(self, asked: Asked, *, before: Before | None, limit: int, count: int) -> Listed[T]:
        """Return the newest entries before a number, at most `limit`."""
        rows = self.rows(asked)
        if before is not None:
            rows = rows.filter(**{f"{self.order}__lt": before.seq})
        found = list(rows.order_by(f"-{self.order}")[: limit + 1])
        page, more = found[:limit], len(found) > limit
        last = attrgetter(self.order.replace("__", "."))
        return Listed(tuple(self.shown(asked, page)), count, str(Before(last(page[-1]))) if more else None)


def counted(asked: Asked, kinds: Mapping[str, Kind[Any]]) -> dict[str, int]:
    """Return how many entries each list has, in one query."""
    one, *others = [_count(name, kind.rows(asked)) for name, kind in kinds.items()]
    return dict.fromkeys(kinds, 0) | dict(one.union(*others, all=True))


def unsent(count: int) -> Listed[Any]:
    """Return a list of which nothing was asked for: how long it is, and where to begin."""
    return Listed((), count, str(Before(BEGINNING)) if count else None)


def _count(name: str, rows: QuerySet[Any]) -> QuerySet[Any, Any]:
    named = rows.select_related(None).order_by().annotate(of=Value(name)).values("of")
    return named.annotate(entries=Count("pk")).values_list("of", "entries")
