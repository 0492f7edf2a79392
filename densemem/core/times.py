"""Times: read with an offset, kept in UTC, compared half-open ("Decisions", text, requests, spans)."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Final, Literal

from densemem.core.faults import Refused

INSTANT: Final = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)
WITHOUT_OFFSET: Final = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?", re.ASCII)
DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


class TimeRefused(Refused):
    """A time that is no time, has no offset, or ends before it begins."""

    code = "time_refused"


def known(recorded_at: datetime, *, by: datetime | None) -> bool:
    """Tell if a ledger row was known by a moment; None means now. Rows of one moment follow their sequence."""
    return by is None or recorded_at <= by


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a validity: a moment in UTC, and how exactly it was given (a word of `TimePrecision`)."""

    at: datetime
    precision: Literal["instant", "day"]


def parse_instant(text: str) -> datetime:
    """
    Read an RFC 3339 time and return it in UTC; digits below the microsecond are cut off.

    :raises TimeRefused: no offset, no such day or hour, or outside the years 1 to 9999
    """
    if WITHOUT_OFFSET.fullmatch(text):
        raise TimeRefused("A time needs an offset, such as Z or +02:00.", code="time_without_offset")
    if not INSTANT.fullmatch(text):
        raise TimeRefused("A time must read like 2026-03-31T14:30:00+02:00.", code="time_malformed")
    try:
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        raise TimeRefused("There is no such time.", code="time_impossible") from None


def parse_day(text: str) -> date:
    """
    Read a plain date, YYYY-MM-DD.

    :raises TimeRefused: malformed, or no such day
    """
    if not DAY.fullmatch(text):
        raise TimeRefused("A date must read like 2026-03-31.", code="date_malformed")
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise TimeRefused("There is no such day.", code="date_impossible") from None


def parse_bound(text: str) -> Bound:
    """
    Read a validity bound: a time with an offset, or a plain date, which means 00:00 UTC of that day.

    :raises TimeRefused: neither of them
    """
    if DAY.fullmatch(text):
        return Bound(datetime.combine(parse_day(text), time.min, UTC), "day")
    return Bound(parse_instant(text), "instant")


def format_instant(at: datetime) -> str:
    """
    Write a time as RFC 3339 in UTC, with only the fraction digits it needs.

    :raises TimeRefused: the time has no zone
    """
    if at.utcoffset() is None:
        raise TimeRefused("A time needs an offset, such as Z or +02:00.", code="time_without_offset")
    utc = at.astimezone(UTC).replace(tzinfo=None)
    whole = utc.replace(microsecond=0).isoformat()
    fraction = f".{utc.microsecond:06d}".rstrip("0").rstrip(".")
    return f"{whole}{fraction}Z"


def check_window(start: datetime | None, end: datetime | None) -> None:
    """
    Refuse a validity that holds at no moment. None means open.

    :raises TimeRefused: it ends at or before its start
    """
    if start is not None and end is not None and end <= start:
        raise TimeRefused("A validity must end after it begins.", code="window_is_empty")


def overlapping(a_from: datetime | None, a_to: datetime | None, b_from: datetime | None, b_to: datetime | None) -> bool:
    """Tell if two half-open periods share a moment. None means unbounded; an empty period shares none."""
    starts = [start for start in (a_from, b_from) if start is not None]
    ends = [end for end in (a_to, b_to) if end is not None]
    return not starts or not ends or max(starts) < min(ends)
