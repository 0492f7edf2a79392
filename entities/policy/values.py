"""One deterministic form for each typed value ("Decisions", identity of records).

Exact decimals, never floats. What can be read in two ways is refused, not guessed.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Final

from densemem.core.faults import Refused
from densemem.core.limits import UNIT_CHARS, VALUE_CHARS, VALUE_DIGITS
from densemem.core.times import TimeRefused, format_instant, parse_day, parse_instant
from entities.vocabulary import ValueType

PLAIN_NUMBER: Final = re.compile(r"[+-]?(\d+(\.\d+)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
GROUPED_NUMBER: Final = re.compile(r"[+-]?\d{1,3}([,.'_ ]\d{3})+([.,]\d+)?", re.ASCII)
REDUCED_DATE: Final = re.compile(r"\d{4}(-\d{2})?", re.ASCII)
ISO_DURATION: Final = re.compile(
    r"P(?=[\dT])(?:(?P<w>\d+(?:\.\d+)?)W)?(?:(?P<d>\d+(?:\.\d+)?)D)?"
    r"(?:T(?=\d)(?:(?P<h>\d+(?:\.\d+)?)H)?(?:(?P<m>\d+(?:\.\d+)?)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?",
    re.ASCII,
)
ISO_CALENDAR_DURATION: Final = re.compile(r"P[\d.]+[YM].*|P[\d.]+W?[\d.]*M.*", re.ASCII)
AMOUNT_AND_WORD: Final = re.compile(r"(?P<amount>[+-]?[\d.,'_]+) ?(?P<word>[^\W\d_]+)")
CURRENCY: Final = re.compile(r"[A-Z]{3}", re.ASCII)
SECONDS: Final = "s"
# Fixed lengths only: a month or a year has none.
DURATION_UNITS: Final[dict[str, Decimal]] = {
    word: Decimal(seconds)
    for seconds, words in (
        ("0.001", "ms msec millisecond milliseconds"),
        ("1", "s sec secs second seconds"),
        ("60", "min mins minute minutes"),
        ("3600", "h hr hrs hour hours"),
        ("86400", "d day days"),
        ("604800", "w wk week weeks"),
    )
    for word in words.split()
}
ISO_UNITS: Final = {"w": "w", "d": "d", "h": "h", "m": "min", "s": "s"}
# 03/04/2026: nobody can tell the day from the month. 1.500: grouped in one land, a decimal in another.
TWO_WAY_DATE: Final = re.compile(r"(?<!\d)(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})(?!\d)", re.ASCII)
TWO_WAY_NUMBER: Final = re.compile(r"(?<![\d.,])[1-9]\d{0,2}[.,]\d{3}(?![\d.,]*\d)", re.ASCII)
MONTHS: Final = 12


class ValueRefused(Refused):
    """A value that is not of its type, or that could be read in more than one way."""

    code = "value_refused"


@dataclass(frozen=True, slots=True)
class CanonicalValue:
    """A typed literal in the only form that is stored; `unit` is None where the type has none."""

    type: ValueType
    canonical: str
    unit: str | None


def canonical_value(type: ValueType, value: str, unit: str | None) -> CanonicalValue:  # noqa: A002 - the word of the page
    """
    Return the canonical form of a typed value.

    :param value: text, "1800.5", "true", "2026-03", an RFC 3339 time, "PT30M", "30 minutes" or "40000 EUR"
    :param unit: of a number: any; of a duration: a unit of fixed length; of money: a code of three letters; else None
    :raises ValueRefused: not of that type, ambiguous, or without its unit
    """
    text, unit = _clean(value, most=VALUE_CHARS), _clean(unit, most=UNIT_CHARS) if unit is not None else None
    if type in UNITLESS and unit is not None:
        raise ValueRefused(f"A {type} has no unit.", code="unit_not_allowed")
    return FORMS[type](text, unit)


def reads_two_ways(type: ValueType, surface: str) -> bool:  # noqa: A002 - the word of the page
    """Tell if the words of the evidence allow two readings as a date or a number, so that no value may pick one."""
    if type in (ValueType.DATE, ValueType.DATE_TIME):
        return any(_day_and_month_swap(found) for found in TWO_WAY_DATE.finditer(surface))
    if type in (ValueType.NUMBER, ValueType.MONEY, ValueType.DURATION):
        return any(_decimal_or_group(found.group()) for found in TWO_WAY_NUMBER.finditer(surface))
    return False


def _day_and_month_swap(found: re.Match[str]) -> bool:
    """Tell if both numbers could be the month, and differ."""
    first, second = int(found[1]), int(found[2])
    return first != second and max(first, second) <= MONTHS


def _decimal_or_group(number: str) -> bool:
    """Tell if the only mark of a number is a full stop; a comma before three digits is a group in English text."""
    return "." in number


def _clean(text: str, *, most: int) -> str:
    """Return the text in NFC, trimmed, white space collapsed; refuse what no table can hold."""
    if any(char == "\0" or unicodedata.category(char) == "Cs" for char in text):
        raise ValueRefused("A value must not hold NUL or a lone surrogate.", code="value_has_bad_character")
    clean = " ".join(unicodedata.normalize("NFC", text).split())
    if not clean:
        raise ValueRefused("A value or unit must not be blank.", code="value_is_blank")
    if len(clean) > most:
        raise ValueRefused(f"At most {most} characters are kept.", code="value_is_too_long")
    return clean


def _text(text: str, unit: str | None) -> CanonicalValue:
    """Keep case: a name of a branch or a zone may depend on it."""
    return CanonicalValue(ValueType.TEXT, text, unit)


def _number(text: str, unit: str | None) -> CanonicalValue:
    """Write a number without exponent, sign of zero or idle zeros."""
    return CanonicalValue(ValueType.NUMBER, _write(_decimal(text)), unit)


def _boolean(text: str, unit: str | None) -> CanonicalValue:
    """Accept only the two words."""
    if text.casefold() not in ("true", "false"):
        raise ValueRefused("A boolean is true or false.", code="value_is_no_boolean")
    return CanonicalValue(ValueType.BOOLEAN, text.casefold(), unit)


def _date(text: str, unit: str | None) -> CanonicalValue:
    """Keep a date as exact as it was given: a year, a month or a day."""
    whole = text + "-01-01"[len(text) - 4 :] if REDUCED_DATE.fullmatch(text) else text
    try:
        parse_day(whole)
    except TimeRefused as refused:
        raise ValueRefused("A date reads 2026-03-31, 2026-03 or 2026.", code=refused.code) from None
    return CanonicalValue(ValueType.DATE, text, unit)


def _date_time(text: str, unit: str | None) -> CanonicalValue:
    """Move a time to UTC; one without an offset is refused."""
    try:
        return CanonicalValue(ValueType.DATE_TIME, format_instant(parse_instant(text)), unit)
    except TimeRefused as refused:
        raise ValueRefused(refused.detail, code=refused.code) from None


def _duration(text: str, unit: str | None) -> CanonicalValue:
    """Write a duration in seconds, whatever it was given in."""
    if text.startswith("P") and unit in (None, SECONDS):
        return CanonicalValue(ValueType.DURATION, _write(_iso_seconds(text)), SECONDS)
    amount, word = _amount_and_word(text, unit)
    length = DURATION_UNITS.get((word or "").casefold())
    if length is None:
        raise ValueRefused("A duration needs a unit of fixed length, weeks at most.", code="duration_unit")
    number = _decimal(amount)
    if number < 0:
        raise ValueRefused("A duration is not negative.", code="duration_is_negative")
    return CanonicalValue(ValueType.DURATION, _write(_times(number, length)), SECONDS)


def _money(text: str, unit: str | None) -> CanonicalValue:
    """Write an amount of one currency; a sign such as $ names several."""
    amount, word = _amount_and_word(text, unit)
    currency = (word or "").upper()
    if not CURRENCY.fullmatch(currency):
        raise ValueRefused("Money needs a currency code of three letters, such as EUR.", code="money_currency")
    return CanonicalValue(ValueType.MONEY, _write(_decimal(amount)), currency)


def _amount_and_word(text: str, unit: str | None) -> tuple[str, str | None]:
    """Split "30 minutes"; a unit given apart must be the only one."""
    found = AMOUNT_AND_WORD.fullmatch(text)
    if found is None:
        return text, unit
    if unit is not None and unit.casefold() != found["word"].casefold():
        raise ValueRefused("The value and the unit name different units.", code="unit_given_twice")
    return found["amount"], found["word"]


def _iso_seconds(text: str) -> Decimal:
    """Add up an ISO 8601 duration."""
    if ISO_CALENDAR_DURATION.fullmatch(text):
        raise ValueRefused("Months and years have no fixed length.", code="duration_not_fixed")
    found = ISO_DURATION.fullmatch(text)
    if found is None:
        raise ValueRefused("A duration reads like PT30M.", code="duration_malformed")
    with localcontext(prec=4 * VALUE_DIGITS):
        parts = (
            _decimal(amount) * DURATION_UNITS[ISO_UNITS[name]] for name, amount in found.groupdict().items() if amount
        )
        return sum(parts, Decimal(0))


def _decimal(text: str) -> Decimal:
    """Read a plain decimal; grouped digits are refused, as a comma is no sure sign."""
    text = text.replace("\N{MINUS SIGN}", "-")
    if PLAIN_NUMBER.fullmatch(text):
        return Decimal(text)
    if GROUPED_NUMBER.fullmatch(text):
        raise ValueRefused("Write a number without grouping marks: 1500, not 1,500.", code="number_is_grouped")
    raise ValueRefused("A number is plain decimal digits with an optional point.", code="value_is_no_number")


def _times(one: Decimal, other: Decimal) -> Decimal:
    """Multiply without rounding."""
    with localcontext(prec=4 * VALUE_DIGITS):
        return one * other


def _write(number: Decimal) -> str:
    """Write a decimal out; refuse one with more digits than are kept."""
    if number == 0:
        return "0"
    whole_digits = max(number.adjusted() + 1, 0)
    digits = f"{number:f}" if abs(number.adjusted()) <= VALUE_DIGITS else ""
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    if not digits or max(whole_digits, sum(map(str.isdigit, digits))) > VALUE_DIGITS:
        raise ValueRefused(f"A number has at most {VALUE_DIGITS} digits.", code="number_is_too_long")
    return digits


UNITLESS: Final = frozenset({ValueType.TEXT, ValueType.BOOLEAN, ValueType.DATE, ValueType.DATE_TIME})
FORMS: Final[dict[ValueType, Callable[[str, str | None], CanonicalValue]]] = {
    ValueType.TEXT: _text,
    ValueType.NUMBER: _number,
    ValueType.BOOLEAN: _boolean,
    ValueType.DATE: _date,
    ValueType.DATE_TIME: _date_time,
    ValueType.DURATION: _duration,
    ValueType.MONEY: _money,
}
