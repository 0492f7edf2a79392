"""Spans, quotes and texts ("Decisions", text, requests, spans)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densemem.core import limits
from densemem.core.spans import (
    Boundaries,
    Quotes,
    SpanRefused,
    check_span,
    check_text,
    is_boundary,
    places,
)

JOINING = st.text(
    alphabet="ab \r\n\u00e9\u0301\u200d\U0001f469\U0001f4bb\U0001f1e9\U0001f1eaक्ष\u0600\u1100가か\u3099", max_size=14
)
ANY = st.text(max_size=40)


def locate_quote(text: str, quote: str, occurrence: int | None = None) -> tuple[int, int]:
    """Return where one quote of a text stands."""
    return Quotes(text).locate(quote, occurrence)


def refusal(call: object, *args: object, **kwargs: object) -> str:
    """Give the code with which a call refuses."""
    with pytest.raises(SpanRefused) as caught:
        call(*args, **kwargs)  # type: ignore[operator]
    assert caught.value.message.endswith(".")
    return caught.value.code


class TestCheckText:
    """A text is stored byte for byte or refused."""

    @pytest.mark.parametrize("text", ["a", " a\n", "汉", "\U0001f469\u200d\U0001f4bb", "x" * limits.EVIDENCE_CHARS])
    def test_takes_what_can_be_read(self, text: str) -> None:
        check_text(text)

    @pytest.mark.parametrize(
        "text, code",
        [
            ("a\0b", "text_has_nul"),
            ("a\ud800b", "text_has_surrogate"),
            ("", "text_is_blank"),
            (" \t\n\u3000", "text_is_blank"),
            ("\u200b\u2060\ufeff\u00ad", "text_is_blank"),
            ("\u3164\u2800\u115f\ufe0f", "text_is_blank"),
            ("\U000e0041", "text_is_blank"),
            ("x" * (limits.EVIDENCE_CHARS + 1), "text_too_long"),
        ],
    )
    def test_refuses_what_cannot(self, text: str, code: str) -> None:
        assert refusal(check_text, text) == code


class TestCheckSpan:
    """A span is inside the text, holds something and splits nothing visible."""

    @pytest.mark.parametrize(
        "text, start, end, code",
        [
            ("abc", -1, 2, "span_out_of_bounds"),
            ("abc", 0, 4, "span_out_of_bounds"),
            ("abc", 1, 1, "span_is_empty"),
            ("abc", 2, 1, "span_is_empty"),
            ("e\u0301x", 0, 1, "span_splits_grapheme"),
            ("e\u0301x", 1, 3, "span_splits_grapheme"),
            ("\r\nx", 1, 3, "span_splits_grapheme"),
            ("\U0001f1e9\U0001f1ea", 0, 1, "span_splits_grapheme"),
            ("\U0001f469\u200d\U0001f4bb", 0, 2, "span_splits_grapheme"),
            ("क्ष", 0, 2, "span_splits_grapheme"),
        ],
    )
    def test_refuses_what_cites_nothing_exact(self, text: str, start: int, end: int, code: str) -> None:
        assert refusal(check_span, text, start, end) == code
        assert refusal(check_span, text, start, end, boundaries=Boundaries(text)) == code

    @given(JOINING)
    def test_reads_only_a_neighbourhood_and_still_agrees_with_the_whole_text(self, text: str) -> None:
        whole = Boundaries(text)
        assert [is_boundary(text, at) for at in range(len(text) + 1)] == [at in whole for at in range(len(text) + 1)]

    @given(ANY.filter(bool))
    def test_takes_every_whole_text(self, text: str) -> None:
        check_span(text, 0, len(text))

    def test_knows_no_boundary_outside(self) -> None:
        assert -1 not in Boundaries("ab")
        assert 3 not in Boundaries("ab")


class TestLocateQuote:
    """A quote is found in the original or refused; it is never guessed."""

    @pytest.mark.parametrize(
        "text, quote, occurrence, span",
        [
            ("Anna met Bo.", "met", None, (5, 8)),
            ("one  two\nthree", "one two three", None, (0, 14)),
            ("one\u00a0two", "one two", None, (0, 7)),
            ("x  a", " a", None, (2, 4)),
            ("x \n a", " \ta", None, (1, 5)),
            ("aXa Xa", "a", 2, (2, 3)),
            ("aaa", "aa", 2, (1, 3)),
            ("a b and a  b", "a b", None, (0, 3)),
            ("a  b, a\u3000b", "a\u2003b", 2, (6, 9)),
            ("one\u2028two ", "one two ", None, (0, 8)),
        ],
    )
    def test_gives_exact_offsets(self, text: str, quote: str, occurrence: int | None, span: tuple[int, int]) -> None:
        assert locate_quote(text, quote, occurrence) == span

    @pytest.mark.parametrize(
        "text, quote, occurrence, code",
        [
            ("Anna met Bo.", "Met", None, "quote_not_found"),
            ("Anna met Bo.", "", None, "quote_not_found"),
            ("a  b", " \n ", None, "quote_not_found"),
            ("ab", "a b", None, "quote_not_found"),
            ("a\u200bb", "a b", None, "quote_not_found"),  # zero width is no white space
            ("a\x1fb", "a b", None, "quote_not_found"),
            ("caf\u00e9", "cafe\u0301", None, "quote_not_found"),
            ("a\u2019b", "a'b", None, "quote_not_found"),
            ("a  b, a\tb", "a b", None, "quote_ambiguous"),
            ("aaa", "aa", None, "quote_ambiguous"),
            ("a a", "a", None, "quote_ambiguous"),
            ("a a", "a", 3, "occurrence_out_of_range"),
            ("a a", "a", 0, "occurrence_out_of_range"),
        ],
    )
    def test_refuses_what_is_not_one_place(self, text: str, quote: str, occurrence: int | None, code: str) -> None:
        assert refusal(locate_quote, text, quote, occurrence) == code

    @given(ANY, st.text(min_size=1, max_size=8), ANY)
    def test_finds_what_is_there(self, before: str, quote: str, after: str) -> None:
        text = before + quote + after
        start, end = locate_quote(text, quote, 1)
        assert text[start:end] == quote

    @given(st.lists(st.text(alphabet="abcé漢", min_size=1, max_size=5), min_size=2, max_size=5), st.data())
    def test_takes_any_white_space_for_any_other(self, words: list[str], data: st.DataObject) -> None:
        gaps = st.text(alphabet=" \t\n\u00a0\u2003", min_size=1, max_size=3)
        text = "".join(word + data.draw(gaps) for word in words) + "end"
        start, end = locate_quote(text, " ".join([*words, "end"]))
        assert (start, end) == (0, len(text))


PIECES = st.text(alphabet="ab", max_size=4)


class Counted(str):
    """A text that counts how often it is searched, and how many characters the searches may have read."""

    searches = 0

    def find(self, *sought: object) -> int:
        """Count one search."""
        self.searches += 1
        return super().find(*sought)  # type: ignore[arg-type]


class TestPlaces:
    """places: a quote of a hostile model costs no more than the text is long."""

    @given(PIECES, st.integers(0, 12), PIECES, st.integers(0, 12), st.data())
    def test_are_those_of_a_search_at_every_offset(
        self, one: str, times: int, other: str, again: int, data: st.DataObject
    ) -> None:
        text = one * times + other + one * again
        start = data.draw(st.integers(0, len(text)))
        words = text[start : start + data.draw(st.integers(1, 12))]
        expected = [at for at in range(len(text)) if words and text.startswith(words, at)]

        assert places(text, words, most=len(text) + 1) == expected

    @pytest.mark.parametrize("unit", ["a", "ab", "ab ab", "a" * 99 + "b"])
    @pytest.mark.parametrize("share", [2, 3, 10])
    def test_are_found_with_few_searches_in_a_text_that_repeats_itself(self, unit: str, share: int) -> None:
        text = Counted((unit * limits.EVIDENCE_CHARS)[: limits.EVIDENCE_CHARS])
        size = len(text) // share

        found = places(text, text[:size], most=len(text))

        assert len(found) == (len(text) - size) // len(unit) + 1
        assert text.searches <= 4 * share

    def test_stop_at_the_limit(self) -> None:
        text = "a" * limits.EVIDENCE_CHARS

        assert len(places(text, "a")) == limits.QUOTE_PLACES
        assert refusal(locate_quote, text, "a", limits.QUOTE_PLACES + 1) == "occurrence_out_of_range"

    def test_are_looked_for_once_however_often_a_quote_is_asked_for(self) -> None:
        text = Counted("Anna met Bo. Anna left.")
        quotes = Quotes(text)

        assert [quotes.locate("Anna", number)[0] for number in (1, 2, 1, 2)] == [0, 13, 0, 13]
        assert text.searches == 3
