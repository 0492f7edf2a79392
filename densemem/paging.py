"""Pages of a long list: opaque cursors over (time, id), so that nothing is shown twice or left out ("Interfaces").

A cursor names the row at the edge of a page, not a count: rows that come or go meanwhile shift no page.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Generic, Self, TypeVar
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import Q, QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from densemem.core import limits
from densemem.core.faults import Because, Fault, Refused

T = TypeVar("T")
R = TypeVar("R")
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)
BEGINNING: Final = 2**63 - 1  # no row of a ledger has a greater number
PARAMETERS: Final = ("cursor", "limit")
DOCUMENTED: Final = (
    OpenApiParameter("cursor", str, description="from `next` or `previous`; without it the list begins"),
    OpenApiParameter("limit", int, description=f"rows of a page, 1 to {limits.PAGE_ITEMS}; {limits.PAGE_DEFAULT}"),
    OpenApiParameter("Link", str, OpenApiParameter.HEADER, response=True, description="next and prev (RFC 8288)"),
)


class CursorInvalid(Refused):
    """A cursor that no page gave out."""

    code = "cursor_invalid"
    because = Because.MALFORMED

    def __init__(self) -> None:
        detail = "Take it unchanged from `next` or `previous` of a page, or leave it out to begin again."
        super().__init__("The cursor is none of ours.", faults=[Fault("/cursor", self.code, detail)])


class Step(StrEnum):
    """From a row, in the order of the list, on or back; with an equals sign the row itself is part of the page."""

    AFTER = ">"
    FROM = ">="
    BEFORE = "<"
    UP_TO = "<="

    @property
    def back(self) -> bool:
        """Whether it goes towards the beginning."""
        return self in (Step.BEFORE, Step.UP_TO)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page begins, and which way it goes."""

    step: Step
    at: datetime
    row_id: UUID

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Read what `str` wrote; an empty text is no cursor.

        :raises CursorInvalid: for anything else
        """
        if not text:
            return None
        try:
            step, micros, row_id = _unpacked(text).split(" ")
            return cls(Step(step), EPOCH + int(micros) * MICROSECOND, UUID(row_id))
        except (ValueError, OverflowError):
            raise CursorInvalid from None

    def __str__(self) -> str:
        return _packed(f"{self.step} {(self.at - EPOCH) // MICROSECOND} {self.row_id.hex}")


@dataclass(frozen=True, slots=True)
class Before:
    """Where the next page of a ledger begins, the newest row first: before a number of the ledgers' sequence."""

    seq: int

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Read what `str` wrote; an empty text is no cursor.

        :raises CursorInvalid: for anything else
        """
        if not text:
            return None
        try:
            word, number = _unpacked(text).split(" ")
            seq = int(number)
        except ValueError:
            raise CursorInvalid from None
        if word != "seq" or not 0 < seq <= BEGINNING:
            raise CursorInvalid
        return cls(seq)

    def __str__(self) -> str:
        return _packed(f"seq {self.seq}")


@dataclass(frozen=True, slots=True)
class Order:
    """How a list is ordered: by the time in a column, rows of the same time by id."""

    column: str
    newest_first: bool

    def columns(self, *, back: bool) -> tuple[str, str]:
        """Return what to order by to walk on, or back."""
        sign = "-" if self.newest_first != back else ""
        return f"{sign}{self.column}", f"{sign}id"

    def condition(self, cursor: Cursor) -> Q:
        """Return the condition that a row lies where the cursor points."""
        compare = "lt" if self.newest_first != cursor.step.back else "gt"
        tie = f"{compare}e" if cursor.step.value.endswith("=") else compare
        within = Q(**{f"{self.column}__{compare}e": cursor.at})  # what an index can follow
        return within & (Q(**{f"{self.column}__{compare}": cursor.at}) | Q(**{f"id__{tie}": cursor.row_id}))


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some rows of a list in its order, and where it goes on both ways; None where there is nothing."""

    rows: tuple[T, ...]
    next: Cursor | None
    previous: Cursor | None

    def of(self, rows: Sequence[R]) -> "Page[R]":
        """Return the same page with other rows."""
        return Page(tuple(rows), self.next, self.previous)


def page_of(rows: QuerySet[Any], *, order: Order, cursor: Cursor | None, limit: int) -> Page[Any]:
    """Return one page of these rows; at most two queries, besides what the rows prefetch.

    :param limit: of rows; more than `limits.PAGE_ITEMS` means as many
    """
    limit = min(limit, limits.PAGE_ITEMS)
    back = cursor is not None and cursor.step.back
    asked = rows.filter(order.condition(cursor)) if cursor else rows
    found = list(asked.order_by(*order.columns(back=back))[: limit + 1])
    more, found = len(found) > limit, found[:limit]
    if back:
        found.reverse()
    if not found:
        return _emptied(cursor)
    before, after = _edge(Step.BEFORE, found[0], order), _edge(Step.AFTER, found[-1], order)
    behind = cursor is not None and rows.filter(order.condition(after if back else before)).exists()
    goes_on, goes_back = (behind, more) if back else (more, behind)
    return Page(tuple(found), after if goes_on else None, before if goes_back else None)


def _edge(step: Step, row: Any, order: Order) -> Cursor:
    return Cursor(step, getattr(row, order.column), row.id)


def _emptied(cursor: Cursor | None) -> Page[Any]:
    """Return the page whose rows went away since it was linked: only the way back is left, with the row itself."""
    if cursor is None:
        return Page((), None, None)
    turned = Cursor(Step.FROM if cursor.step.back else Step.UP_TO, cursor.at, cursor.row_id)
    return Page((), turned, None) if cursor.step.back else Page((), None, turned)


def read_page(given: Mapping[str, str], faults: list[Fault]) -> tuple[Cursor | None, int]:
    """Return cursor and limit of a request, or add a fault.

    :raises CursorInvalid: the cursor is none of ours
    """
    limit = read_length(given, faults)
    return Cursor.read(given.get("cursor", "")), limit


def read_length(given: Mapping[str, str], faults: list[Fault]) -> int:
    """Return the rows that a page may have, or add a fault."""
    text = given.get("limit", str(limits.PAGE_DEFAULT))
    if not (text.isascii() and text.isdecimal() and int(text[:9]) > 0):
        faults.append(Fault("/limit", "limit_out_of_range", f"Ask for 1 to {limits.PAGE_ITEMS} rows."))
        text = str(limits.PAGE_DEFAULT)
    return min(int(text[:9]), limits.PAGE_ITEMS)


def listed(request: Request, page: Page[Any], *, limit: int) -> Response:
    """Answer a page: its rows, frozen dataclasses, and the addresses on both sides with the filters of the request."""
    links = {"next": _address(request, page.next, limit), "previous": _address(request, page.previous, limit)}
    response = Response({"results": [asdict(row) for row in page.rows], **links})
    named = [f'<{links[name]}>; rel="{rel}"' for name, rel in (("next", "next"), ("previous", "prev")) if links[name]]
    if named:
        response["Link"] = ", ".join(named)
    return response


def _address(request: Request, cursor: Cursor | None, limit: int) -> str | None:
    if cursor is None:
        return None
    filters = {name: value for name, value in request.query_params.items() if name not in PARAMETERS}
    return f"{request.path}?{urlencode({**filters, 'limit': limit, 'cursor': str(cursor)})}"


def _packed(raw: str) -> str:
    return base64.urlsafe_b64encode(raw.encode()).decode().rstrip("=")


def _unpacked(text: str) -> str:
    """Return what was packed.

    :raises ValueError: nothing was
    """
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode("ascii")
