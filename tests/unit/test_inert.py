"""Untrusted text on a page."""

import pytest

from densemem.core.inert import Piece, excerpt, merge, pieces, visible


class TestPieces:
    @pytest.mark.parametrize(
        ("character", "name"),
        [
            ("\u200b", "ZWSP"),
            ("\u200d", "ZWJ"),
            ("\u202e", "RLO"),
            ("\u2066", "LRI"),
            ("\ufeff", "BOM"),
            ("\u00ad", "SHY"),
            ("\x1b", "U+001B"),
            ("\x85", "U+0085"),
            ("\ufe0f", "U+FE0F"),
            ("\u3164", "U+3164"),
            ("\u2800", "U+2800"),
            ("\U000e0041", "U+E0041"),
        ],
    )
    def test_names_a_character_that_cannot_be_seen(self, character: str, name: str) -> None:
        before, unseen, after = pieces(f"a{character}b")

        assert (before.text, unseen.text, unseen.glyph, after.text) == ("a", character, name, "b")

    @pytest.mark.parametrize("text", ["plain", "a\nb\tc", "a\r\nb", "<b>&amp;", "שלום", "林惟安", "é e\u0301", ""])
    def test_leaves_what_can_be_seen(self, text: str) -> None:
        assert [p.text for p in pieces(text)] == ([text] if text else [])
        assert not any(p.glyph for p in pieces(text))

    def test_names_a_return_that_ends_no_line(self) -> None:
        assert pieces("a\rb")[1] == Piece("\r", "CR", "U+000D")

    def test_loses_nothing(self) -> None:
        text = "\u202ea\u200b\u200bb\x00\n\U000e0041"

        assert "".join(p.text for p in pieces(text)) == text


class TestVisible:
    def test_names_unseen_characters_in_brackets(self) -> None:
        assert visible("pay\u202eback") == "pay[RLO]back"


class TestMerge:
    @pytest.mark.parametrize(
        ("spans", "merged"),
        [
            ([], []),
            ([(5, 9), (0, 2)], [(0, 2), (5, 9)]),
            ([(0, 5), (3, 9)], [(0, 9)]),
            ([(0, 9), (3, 5)], [(0, 9)]),
            ([(0, 3), (3, 5)], [(0, 3), (3, 5)]),
            ([(1, 2), (1, 2)], [(1, 2)]),
        ],
    )
    def test_makes_one_of_spans_that_overlap(self, spans: list[tuple[int, int]], merged: list[tuple[int, int]]) -> None:
        assert merge(spans) == merged


class TestExcerpt:
    def test_marks_exact_code_points(self) -> None:
        text = "\U0001f30a Mara works at Corvine."
        start = text.index("Mara")

        shown = excerpt(text, [(start, start + 4)])

        assert [(p.text, p.start, p.end) for p in shown.parts if p.marked] == [("Mara", start, start + 4)]
        assert "".join(p.text for p in shown.parts) == text

    def test_cuts_the_surroundings_and_says_so(self) -> None:
        shown = excerpt("a" * 50 + "SPAN" + "b" * 50, [(50, 54)], around=3)

        assert [p.text for p in shown.parts] == ["aaa", "SPAN", "bbb"]
        assert (shown.more_before, shown.more_after) == (True, True)

    def test_never_cuts_a_span(self) -> None:
        text = "x" * 5_000

        (part,) = excerpt(text, [(0, 5_000)], around=1).parts

        assert part.text == text

    def test_never_cuts_a_visible_character(self) -> None:
        text = "e\u0301e\u0301e\u0301SPAN"

        shown = excerpt(text, [(6, 10)], around=1)

        assert [p.text for p in shown.parts] == ["e\u0301", "SPAN"]

    def test_shows_the_beginning_when_nothing_is_marked(self) -> None:
        shown = excerpt("a" * 100, [], around=10)

        assert [(p.text, p.marked) for p in shown.parts] == [("a" * 40, False)]
        assert shown.more_after
