"""Canonical forms of typed values."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entities.policy import CanonicalValue, ValueRefused, canonical_value, reads_two_ways
from entities.vocabulary import ValueType

TEXT, NUMBER, BOOLEAN, DATE, DATE_TIME, DURATION, MONEY = ValueType


class TestCanonicalValue:
    @pytest.mark.parametrize(
        ("type_", "value", "unit", "canonical", "canonical_unit"),
        [
            (TEXT, "  Europe/Vienna\t", None, "Europe/Vienna", None),
            (TEXT, "release  manager", None, "release manager", None),
            (TEXT, "e\N{COMBINING ACUTE ACCENT}", None, "é", None),
            (NUMBER, "1800", None, "1800", None),
            (NUMBER, "+1800.50", None, "1800.5", None),
            (NUMBER, "-0.0", None, "0", None),
            (NUMBER, ".5", None, "0.5", None),
            (NUMBER, "1e3", None, "1000", None),
            (NUMBER, "\N{MINUS SIGN}3", None, "-3", None),
            (NUMBER, "0.1", " MB ", "0.1", "MB"),
            (NUMBER, "9223372036854775807", None, "9223372036854775807", None),
            (NUMBER, "-9223372036854775808", None, "-9223372036854775808", None),
            (NUMBER, "9007199254740993", None, "9007199254740993", None),
            (BOOLEAN, "true", None, "true", None),
            (BOOLEAN, "False", None, "false", None),
            (DATE, "2026-08-31", None, "2026-08-31", None),
            (DATE, "2026-08", None, "2026-08", None),
            (DATE, "2026", None, "2026", None),
            (DATE_TIME, "2026-08-31T23:30:00-07:00", None, "2026-09-01T06:30:00Z", None),
            (DURATION, "30 minutes", None, "1800", "s"),
            (DURATION, "1800", "seconds", "1800", "s"),
            (DURATION, "PT1800S", None, "1800", "s"),
            (DURATION, "PT30M", None, "1800", "s"),
            (DURATION, "0.5", "h", "1800", "s"),
            (DURATION, "P1W2DT3H4M5.5S", None, "788645.5", "s"),
            (DURATION, "250ms", None, "0.25", "s"),
            (MONEY, "40000", "EUR", "40000", "EUR"),
            (MONEY, "40000.00 eur", None, "40000", "EUR"),
            (MONEY, "-3.50", "usd", "-3.5", "USD"),
            (MONEY, "5 CHF", "chf", "5", "CHF"),
            (TEXT, "a" * 1024, None, "a" * 1024, None),
            (NUMBER, "1" * 38, None, "1" * 38, None),
            (DURATION, "0 s", None, "0", "s"),
            (DURATION, f"PT{'1' * 35}S", None, "1" * 35, "s"),
            (DURATION, f"{'1' * 35} minutes", None, str(60 * int("1" * 35)), "s"),
        ],
    )
    def test_has_one_form(self, type_, value, unit, canonical, canonical_unit):
        assert canonical_value(type_, value, unit) == CanonicalValue(type_, canonical, canonical_unit)

    @pytest.mark.parametrize(
        ("type_", "value", "unit", "code"),
        [
            (TEXT, " ", None, "value_is_blank"),
            (TEXT, "a", "", "value_is_blank"),
            (TEXT, "a", "m", "unit_not_allowed"),
            (TEXT, "a\0", None, "value_has_bad_character"),
            (TEXT, "\ud800", None, "value_has_bad_character"),
            (TEXT, "a" * 1025, None, "value_is_too_long"),
            (NUMBER, "1,000", None, "number_is_grouped"),
            (NUMBER, "1.000.000", None, "number_is_grouped"),
            (NUMBER, "1 000", None, "number_is_grouped"),
            (NUMBER, "1,5", None, "value_is_no_number"),
            (NUMBER, "NaN", None, "value_is_no_number"),
            (NUMBER, "Infinity", None, "value_is_no_number"),
            (NUMBER, "1_0", None, "value_is_no_number"),
            (NUMBER, "ten", None, "value_is_no_number"),
            (NUMBER, "1e39", None, "number_is_too_long"),
            (NUMBER, "1e-39", None, "number_is_too_long"),
            (NUMBER, "1" * 39, None, "number_is_too_long"),
            (BOOLEAN, "yes", None, "value_is_no_boolean"),
            (BOOLEAN, "1", None, "value_is_no_boolean"),
            (DATE, "03/04/2026", None, "date_malformed"),
            (DATE, "2026-02-29", None, "date_impossible"),
            (DATE, "2026-13", None, "date_impossible"),
            (DATE, "2026-08-31T00:00:00Z", None, "date_malformed"),
            (DATE_TIME, "2026-08-31T23:30:00", None, "time_without_offset"),
            (DATE_TIME, "2026-08-31", None, "time_malformed"),
            (DURATION, "30", None, "duration_unit"),
            (DURATION, "2 months", None, "duration_unit"),
            (DURATION, "P1M", None, "duration_not_fixed"),
            (DURATION, "P1Y2D", None, "duration_not_fixed"),
            (DURATION, "PT", None, "duration_malformed"),
            (DURATION, "-5 s", None, "duration_is_negative"),
            (DURATION, "30 minutes", "hours", "unit_given_twice"),
            (DURATION, "1,000 s", None, "number_is_grouped"),
            (MONEY, "5", None, "money_currency"),
            (MONEY, "$5", None, "money_currency"),
            (MONEY, "5 euros", None, "money_currency"),
            (MONEY, "5 EUR", "USD", "unit_given_twice"),
            (MONEY, "40,000 EUR", None, "number_is_grouped"),
        ],
    )
    def test_refuses_what_it_would_have_to_guess(self, type_, value, unit, code):
        with pytest.raises(ValueRefused) as refused:
            canonical_value(type_, value, unit)

        assert refused.value.code == code
        assert str(refused.value.detail).endswith(".")

    @given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**30), max_value=10**30))
    def test_keeps_a_decimal_exact(self, number):
        written = canonical_value(NUMBER, f"{number:f}", None).canonical

        assert Decimal(written) == number
        assert canonical_value(NUMBER, written, None).canonical == written

    @given(st.integers(0, 10**12), st.sampled_from([("W", 604800), ("D", 86400)]))
    def test_reads_days_and_weeks_as_seconds(self, count, unit):
        assert canonical_value(DURATION, f"P{count}{unit[0]}", None).canonical == str(count * unit[1])

    @given(st.text(min_size=1, max_size=60), st.sampled_from(list(ValueType)), st.none() | st.text(max_size=5))
    def test_is_its_own_form_or_refused(self, value, type_, unit):
        try:
            form = canonical_value(type_, value, unit)
        except ValueRefused:
            return

        assert canonical_value(type_, form.canonical, form.unit) == form

    @pytest.mark.parametrize("type_", list(ValueType))
    def test_has_a_form_for_every_type(self, type_):
        given_forms = {BOOLEAN: "true", DATE: "2026-01-01", DATE_TIME: "2026-01-01T00:00:00Z", MONEY: "1 EUR"}

        assert canonical_value(type_, given_forms.get(type_, "1"), "s" if type_ is DURATION else None).type is type_


class TestReadsTwoWays:
    @pytest.mark.parametrize(
        ("type_", "surface", "expected"),
        [
            (DATE, "03/04/2026", True),
            (DATE, "3.4.26", True),
            (DATE, "12/11/2026", True),
            (DATE, "13/04/2026", False),
            (DATE, "04/04/2026", False),
            (DATE, "2012-03-04", False),
            (DATE, "4 March 2026", False),
            (DATE_TIME, "03/04/2026 12:00", True),
            (NUMBER, "1.500", True),
            (NUMBER, "0.125", False),
            (NUMBER, "12.5", False),
            (NUMBER, "1,500", False),
            (NUMBER, "1.500,00", False),
            (NUMBER, "1.500.000", False),
            (MONEY, "1.500 EUR", True),
            (MONEY, "15,000 EUR", False),
            (TEXT, "1.500", False),
        ],
    )
    def test_names_the_surfaces_that_no_value_may_be_made_of(self, type_, surface, expected):
        assert reads_two_ways(type_, surface) is expected
