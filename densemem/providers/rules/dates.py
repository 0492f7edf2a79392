"""Dates and amounts as they stand in a text, and their normal forms ("Decisions", times and values)."""

import datetime

import regex

from densemem.providers.rules.shapes import Value

_MONTHS = {
    "01": "January Jan Januar janvier enero января",
    "02": "February Feb Februar février febrero февраля",
    "03": "March Mar März mars marzo марта",
    "04": "April Apr avril abril апреля",
    "05": "May Mai mai mayo мая",
    "06": "June Jun Juni juin junio июня",
    "07": "July Jul Juli juillet julio июля",
    "08": "August Aug août agosto августа",
    "09": "September Sep Sept septembre septiembre сентября",
    "10": "October Oct Oktober octobre octubre октября",
    "11": "November Nov novembre noviembre ноября",
    "12": "December Dec Dezember décembre diciembre декабря",
}
MONTH_OF = {name.casefold(): number for number, names in _MONTHS.items() for name in names.split()}
_MONTH = "|".join(
    sorted({regex.escape(name) for names in _MONTHS.values() for name in names.split()}, key=len, reverse=True)
)
_YEAR = r"(?:1[5-9]|20)\d\d"
DATE_TEXT = (
    rf"(?:\b{_YEAR}-\d\d-\d\d\b"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th|\.)?\s(?:de\s|of\s)?(?:{_MONTH})\b\.?,?(?:\s(?:de\s)?{_YEAR}\b)"
    rf"|\b(?:{_MONTH})\b\.?\s\d{{1,2}}(?:st|nd|rd|th)?(?:,\s?|\s){_YEAR}\b"
    rf"|\b(?:{_MONTH})\b\.?,?\s(?:of\s)?{_YEAR}\b"
    rf"|(?<!\p{{N}}){_YEAR}年\d{{1,2}}月\d{{1,2}}日"
    rf"|(?<![\d.,:/-]){_YEAR}(?![\d:/%]|[.,]\d|-\d(?!\d{{3}})|s\b))"
)
DATE = regex.compile(DATE_TEXT)
_CURRENCY = r"(?:EUR|USD|GBP|CHF|JPY|CNY|PLN|SEK|NOK|DKK|CZK|INR|AUD|CAD|euros?|dollars?|pounds?)"
_SIGN = {
    "€": "EUR",
    "$": "USD",
    "£": "GBP",
    "euro": "EUR",
    "euros": "EUR",
    "dollar": "USD",
    "dollars": "USD",
    "pound": "GBP",
    "pounds": "GBP",
}
_AMOUNT = r"\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
MONEY = regex.compile(
    rf"(?P<sign>[€$£])\s?(?P<a>{_AMOUNT})\s?(?P<m>k|m|million|bn|billion)?\b"
    rf"|(?<![\d.,])(?P<b>{_AMOUNT})\s?(?P<n>k|m|million|bn|billion)?\s?(?P<code>{_CURRENCY}\b|€)",
)
_SCALE = {"k": 1_000, "m": 1_000_000, "million": 1_000_000, "bn": 1_000_000_000, "billion": 1_000_000_000}


def iso(surface: str) -> str | None:
    """Normalise a date to ISO with the precision it has: "2014", "2014-05" or "2014-05-04"; None if it is no date."""
    numbers = regex.findall(r"\d+", surface)
    years = [number for number in numbers if len(number) == 4]
    if not years:
        return None
    if regex.fullmatch(r"\d{4}\D\d{1,2}\D\d{1,2}\D?", surface):
        return _real_day(numbers[0], numbers[1].zfill(2), numbers[2])
    words = [word.casefold() for word in regex.findall(r"\p{L}+", surface)]
    month = next((MONTH_OF[word] for word in words if word in MONTH_OF), None)
    day = next((number for number in numbers if len(number) < 3), None)
    if month is None:
        return years[0]
    return _real_day(years[0], month, day) if day else f"{years[0]}-{month}"


def _real_day(year: str, month: str, day: str) -> str | None:
    """Return the ISO day when the calendar has it."""
    try:
        return datetime.date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None


def is_month(text: str) -> bool:
    """Say whether a text begins with the name of a month."""
    word = regex.match(r"\p{L}+", text)
    return bool(word) and word.group().casefold() in MONTH_OF


def find_dates(text: str) -> list[Value]:
    """Return every date in a text, in order."""
    found = ((match, iso(match.group())) for match in DATE.finditer(text))
    return [Value(m.start(), m.end(), m.group(), "date", value) for m, value in found if value]


def find_money(text: str) -> list[Value]:
    """Return every amount of money; `value` is an exact decimal, `unit` the currency code."""
    amounts = []
    for match in MONEY.finditer(text):
        number = regex.sub(r"[, ]", "", match.group("a") or match.group("b"))
        scale = _SCALE.get(match.group("m") or match.group("n") or "", 1)
        unit = match.group("sign") or match.group("code")
        value = number if scale == 1 else _scaled(number, scale)
        amounts.append(Value(match.start(), match.end(), match.group(), "money", value, _SIGN.get(unit, unit)))
    return amounts


def _scaled(number: str, scale: int) -> str:
    """Multiply a decimal text exactly by a power of ten."""
    whole, _, rest = number.partition(".")
    zeros = len(str(scale)) - 1
    digits = (whole + rest.ljust(zeros, "0")[:zeros]).lstrip("0") or "0"
    return digits
