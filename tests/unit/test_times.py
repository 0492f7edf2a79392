"""Instants, bounds and periods."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densemem.core.times import (
    Bound,
    TimeRefused,
    check_window,
    format_instant,
    overlapping,
    parse_bound,
    parse_day,
    parse_instant,
)

MOMENT = st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
EDGE = st.none() | MOMENT
OFFSET = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


def day(number: int) -> datetime:
    """Return a day of one month."""
    return datetime(2026, 3, number, tzinfo=UTC)


class TestParseInstant:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("2026-08-31T23:30:00-07:00", datetime(2026, 9, 1, 6, 30, tzinfo=UTC)),
            ("2026-09-01T06:30:00Z", datetime(2026, 9, 1, 6, 30, tzinfo=UTC)),
            ("2026-09-01t06:30:00z", datetime(2026, 9, 1, 6, 30, tzinfo=UTC)),
            ("2026-09-01 06:30:00+00:00", datetime(2026, 9, 1, 6, 30, tzinfo=UTC)),
            ("2026-09-01T06:30:00.5Z", datetime(2026, 9, 1, 6, 30, 0, 500_000, tzinfo=UTC)),
            ("2026-09-01T06:30:00.123456789Z", datetime(2026, 9, 1, 6, 30, 0, 123_456, tzinfo=UTC)),
            ("2999-01-01T00:00:00Z", datetime(2999, 1, 1, tzinfo=UTC)),
        ],
    )
    def test_reads_the_moment_in_utc(self, text, expected):
        assert parse_instant(text) == expected
        assert parse_instant(text).tzinfo is UTC

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("2026-03-29T02:30:00", "time_without_offset"),
            ("2026-03-29 02:30", "time_without_offset"),
            ("2026-03-29", "time_malformed"),
            ("yesterday", "time_malformed"),
            ("", "time_malformed"),
            ("2026-03-29T02:30Z", "time_malformed"),
            ("2026-W13-7T02:30:00Z", "time_malformed"),
            ("2026-03-29T02:30:00Z\n", "time_malformed"),
            ("٢٠٢٦-03-29T02:30:00Z", "time_malformed"),
            ("2026-02-30T00:00:00Z", "time_impossible"),
            ("2026-03-29T25:00:00Z", "time_impossible"),
            ("2026-03-29T00:00:00+25:00", "time_impossible"),
            ("0001-01-01T00:00:00+14:00", "time_impossible"),
            ("9999-12-31T23:59:59-14:00", "time_impossible"),
        ],
    )
    def test_refuses_what_is_no_moment(self, text, code):
        with pytest.raises(TimeRefused) as refused:
            parse_instant(text)

        assert refused.value.code == code

    @given(MOMENT, OFFSET)
    def test_finds_the_same_moment_in_every_zone(self, moment, offset):
        assert parse_instant(moment.astimezone(offset).isoformat()) == moment

    @given(MOMENT)
    def test_reads_what_was_written(self, moment):
        assert parse_instant(format_instant(moment)) == moment


class TestFormatInstant:
    @pytest.mark.parametrize(
        ("moment", "expected"),
        [
            (datetime(2026, 3, 1, tzinfo=UTC), "2026-03-01T00:00:00Z"),
            (datetime(2026, 3, 1, 0, 0, 0, 500_000, tzinfo=UTC), "2026-03-01T00:00:00.5Z"),
            (datetime(2026, 3, 1, 0, 0, 10, tzinfo=UTC), "2026-03-01T00:00:10Z"),
        ],
    )
    def test_writes_only_the_digits_it_needs(self, moment, expected):
        assert format_instant(moment) == expected

    def test_refuses_a_moment_without_zone(self):
        with pytest.raises(TimeRefused):
            format_instant(datetime(2026, 3, 1))  # noqa: DTZ001


class TestParseBound:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("2026-03-05", Bound(day(5), "day")),
            ("2026-03-05T00:00:00Z", Bound(day(5), "instant")),
            ("2026-03-05T02:00:00+02:00", Bound(day(5), "instant")),
        ],
    )
    def test_keeps_how_exact_it_was(self, text, expected):
        assert parse_bound(text) == expected

    @pytest.mark.parametrize("text", ["2026-03", "2026", "2026-02-30", "05/03/2026", "2026-03-05T00:00:00", "now"])
    def test_refuses_everything_else(self, text):
        with pytest.raises(TimeRefused):
            parse_bound(text)


class TestParseDay:
    @pytest.mark.parametrize("text", ["20260305", "2026-3-5", "2026-03-05T00:00:00Z", "2026-13-01"])
    def test_refuses_what_is_no_day(self, text):
        with pytest.raises(TimeRefused):
            parse_day(text)


class TestCheckWindow:
    @pytest.mark.parametrize(("start", "end"), [(None, None), (day(1), None), (None, day(1)), (day(1), day(2))])
    def test_allows_a_period_with_a_moment(self, start, end):
        check_window(start, end)

    @pytest.mark.parametrize(("start", "end"), [(day(2), day(2)), (day(2), day(1))])
    def test_refuses_an_empty_period(self, start, end):
        with pytest.raises(TimeRefused):
            check_window(start, end)


class TestOverlapping:
    @pytest.mark.parametrize(
        ("a", "b", "expected"),
        [
            ((None, None), (None, None), True),
            ((None, None), (day(1), day(2)), True),
            ((day(1), day(3)), (day(2), day(4)), True),
            ((day(1), day(9)), (day(2), day(3)), True),
            ((day(1), day(3)), (day(3), day(4)), False),  # half-open: the end does not belong to it
            ((None, day(3)), (day(3), None), False),
            ((None, day(3)), (day(2), None), True),
            ((day(4), None), (day(1), day(4)), False),
            ((day(4), None), (None, None), True),
            ((day(2), day(2)), (None, None), False),
            ((day(2), day(2)), (day(1), day(3)), False),
        ],
    )
    def test_tells_if_periods_share_a_moment(self, a, b, expected):
        assert overlapping(*a, *b) is expected

    @given(EDGE, EDGE, EDGE, EDGE)
    def test_does_not_depend_on_the_order(self, a_from, a_to, b_from, b_to):
        assert overlapping(a_from, a_to, b_from, b_to) == overlapping(b_from, b_to, a_from, a_to)

    @given(EDGE, EDGE, EDGE, EDGE, MOMENT)
    def test_is_true_when_a_moment_lies_in_both(self, a_from, a_to, b_from, b_to, moment):
        def holds(start, end):
            return (start is None or start <= moment) and (end is None or moment < end)

        if holds(a_from, a_to) and holds(b_from, b_to):
            assert overlapping(a_from, a_to, b_from, b_to)
