"""The words that search compares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densemem.core import limits
from relationships.search.terms import document_terms, search_terms


class TestSearchTerms:
    @pytest.mark.parametrize(
        ("text", "terms"),
        [
            ("Mark works on Dense-Mem", ("mark", "works", "on", "dense", "mem")),
            ("MARK mark", ("mark",)),
            ("works_on", ("works", "on")),
            ("v2.6.1", ("v2", "6", "1")),
            ("José and Jose", ("jose", "and")),
            ("Ｆｕｌｌ　ｗｉｄｔｈ", ("full", "width")),
            ("Straße", ("strasse",)),
            ("Йод", ("йод",)),
            ("नमस्ते", ("नमस्ते",)),
            ("مرحبا بالعالم", ("مرحبا", "بالعالم")),
            ("???", ()),
            ("", ()),
        ],
    )
    def test_are_folded_words_in_order_each_once(self, text: str, terms: tuple[str, ...]) -> None:
        assert search_terms(text) == terms

    @pytest.mark.parametrize(
        ("text", "terms"),
        [
            ("北京大学", ("北京", "京大", "大学")),
            ("张", ("张",)),
            ("张 伟", ("张", "伟")),
            ("東京タワー", ("東京", "京タ", "タワ", "ワー")),
            ("서울에서", ("서울", "울에", "에서")),
            ("用PostgreSQL数据库", ("用", "postgresql", "数据", "据库")),
        ],
    )
    def test_cut_scripts_without_spaces_into_pairs(self, text: str, terms: tuple[str, ...]) -> None:
        assert search_terms(text) == terms

    def test_keep_a_sign_together_with_its_marks(self) -> None:
        assert search_terms("สวัสดี") == ("สวั", "วัส", "สดี")

    def test_cut_what_is_too_long_to_be_a_word(self) -> None:
        assert search_terms("a" * 5_000) == ("a" * limits.TERM_CHARS,)

    @given(st.text(max_size=60))
    def test_hold_nothing_that_the_language_of_text_search_could_read_as_a_sign(self, text: str) -> None:
        for term in search_terms(text):
            assert not set(term) & set("&|!()<>:*'\\\0 \t\n")


class TestDocumentTerms:
    def test_hold_compounds_as_one_word_too(self) -> None:
        assert {"dense", "mem", "densemem"} <= set(document_terms("Dense-Mem"))

    def test_hold_single_signs_too(self) -> None:
        assert {"北京", "北", "京"} <= set(document_terms("北京"))

    @given(st.text(max_size=60))
    def test_hold_every_term_that_the_same_words_ask_for(self, text: str) -> None:
        assert set(search_terms(text)) <= set(document_terms(text))
