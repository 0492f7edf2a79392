"""The lookup key of a name."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densemem.core.limits import NAME_KEY_CHARS
from densemem.core.names import NameRefused, fold, lookup_key


class TestLookupKey:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Mara Lind", "MARA  LIND"),
            ("Mara Lind", " mara\tlind\n"),
            ("Mara Lind", "Mara\N{NO-BREAK SPACE}Lind"),
            ("Zo\N{LATIN SMALL LETTER E WITH DIAERESIS}", "Zoe\N{COMBINING DIAERESIS}"),
            ("\N{FULLWIDTH LATIN CAPITAL LETTER A}\N{FULLWIDTH DIGIT ONE}", "a1"),
            ("Stra\N{LATIN SMALL LETTER SHARP S}e", "STRASSE"),
            ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
            ("Mara\N{ZERO WIDTH SPACE} Lind\N{ZERO WIDTH NO-BREAK SPACE}", "Mara Lind"),
        ],
    )
    def test_is_one_for_two_ways_to_write_a_name(self, one, other):
        assert lookup_key(one) == lookup_key(other)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Zoë", "Zoe"),
            ("王植", "王質"),
            ("王植", "Wang Zhi"),
            ("İpek", "Ipek"),
            ("Łukasz", "Lukasz"),
            ("C", "C++"),
            ("Mara Lind", "MaraLind"),
        ],
    )
    def test_keeps_accents_and_scripts_apart(self, one, other):
        assert lookup_key(one) != lookup_key(other)

    @pytest.mark.parametrize(
        ("name", "code"),
        [
            ("", "name_is_empty"),
            (" \t\n", "name_is_empty"),
            ("\N{ZERO WIDTH SPACE}", "name_is_empty"),
            ("\N{ZERO WIDTH JOINER}\N{COMBINING ACUTE ACCENT}", "name_is_empty"),
            ("\N{VARIATION SELECTOR-16}", "name_is_empty"),
            ("\N{HANGUL FILLER}\N{HALFWIDTH HANGUL FILLER}", "name_is_empty"),
            ("Mara\0", "name_has_bad_character"),
            ("Mara\ud800", "name_has_bad_character"),
            ("\ufdfa" * 256, "name_is_too_long"),
        ],
    )
    def test_refuses_what_cannot_be_looked_up(self, name, code):
        with pytest.raises(NameRefused) as refused:
            lookup_key(name)

        assert refused.value.code == code

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            # Chinese, Japanese, Korean: width and compatibility forms
            ("ﾔﾏﾀﾞ", "ヤマダ"),
            ("ヤマタ\N{COMBINING KATAKANA-HIRAGANA VOICED SOUND MARK}", "ヤマダ"),
            ("\N{CJK COMPATIBILITY IDEOGRAPH-F900}", "\N{CJK UNIFIED IDEOGRAPH-8C48}"),
            ("㍿", "株式会社"),
            ("李\N{IDEOGRAPHIC SPACE}明", "李 明"),
            ("ᄒ" + "ᅡ" + "ᆫ", "한"),
            ("\N{HALFWIDTH HANGUL LETTER KIYEOK}", "\N{HANGUL CHOSEONG KIYEOK}"),
            # Arabic: presentation forms
            ("\N{ARABIC LIGATURE LAM WITH ALEF ISOLATED FORM}", "لا"),
            ("\N{ARABIC LETTER MEEM INITIAL FORM}حمد", "محمد"),
            ("ا\N{ARABIC HAMZA ABOVE}حمد", "أحمد"),
            # Cyrillic, its case and its composition
            ("ИВАН", "иван"),
            ("и\N{COMBINING BREVE}", "й"),
            ("ЁЛКА", "е\N{COMBINING DIAERESIS}лка"),
            # Indic: composed nukta and vowel signs
            ("\N{DEVANAGARI LETTER QA}", "क\N{DEVANAGARI SIGN NUKTA}"),
            ("\N{BENGALI LETTER RRA}", "ড\N{BENGALI SIGN NUKTA}"),
            ("க\N{TAMIL VOWEL SIGN E}\N{TAMIL VOWEL SIGN AA}", "க\N{TAMIL VOWEL SIGN O}"),
            # Thai: the two ways to write sara am
            ("น\N{THAI CHARACTER SARA AM}", "น\N{THAI CHARACTER NIKHAHIT}\N{THAI CHARACTER SARA AA}"),
            # Emoji: how it is drawn is no other name
            ("❤\N{VARIATION SELECTOR-16}", "❤"),
            ("❤\N{VARIATION SELECTOR-15}", "❤"),
            ("葛\N{VARIATION SELECTOR-17}", "葛"),
            ("\N{ARABIC LETTER MARK}محمد", "محمد"),
            # Combining marks: order and composition
            ("a\N{COMBINING DOT BELOW}\N{COMBINING CIRCUMFLEX ACCENT}", "ậ"),
            ("a\N{COMBINING CIRCUMFLEX ACCENT}\N{COMBINING DOT BELOW}", "ậ"),
            ("\N{GREEK SMALL LETTER ALPHA WITH TONOS}", "α\N{COMBINING ACUTE ACCENT}"),
            ("\N{OHM SIGN}", "ω"),
            ("ﬁn", "FIN"),
        ],
    )
    def test_is_one_in_every_script_for_what_is_the_same_text(self, one, other):
        assert lookup_key(one) == lookup_key(other)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("ヤマダ", "やまだ"),
            ("ハ", "バ"),
            ("李", "Li"),
            ("龍", "竜"),
            ("محـمد", "محمد"),
            ("مُحمد", "محمد"),
            ("ي", "ی"),
            ("Иван", "Ivan"),
            ("е", "e"),
            ("ё", "е"),
            ("क़", "क"),
            ("क्\N{ZERO WIDTH JOINER}ष", "क्ष"),
            ("می\N{ZERO WIDTH NON-JOINER}خوانم", "میخوانم"),
            ("กา", "ก่า"),
            ("👩\N{ZERO WIDTH JOINER}💻", "👩💻"),
            ("👍🏽", "👍"),
            ("🇦🇹", "🇦🇺"),
            ("é", "e"),
            ("ø", "o"),
        ],
    )
    def test_is_never_folded_to_plain_letters(self, one, other):
        assert lookup_key(one) != lookup_key(other)

    def test_keeps_a_name_of_signs_only(self):
        assert lookup_key("🦀") == "🦀"

    @given(st.text(max_size=40))
    def test_is_its_own_key(self, name):
        once = fold(name)

        assert fold(once) == once

    @given(st.text(st.characters(max_codepoint=127), max_size=40))
    def test_of_plain_letters_is_what_it_is_beside_others(self, name):
        assert fold(f"{name} é") == f"{fold(name)} é".lstrip()

    @given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
    def test_does_not_depend_on_the_normal_form_that_was_sent(self, name):
        keys = {fold(unicodedata.normalize(form, name)) for form in ("NFC", "NFD")}

        assert keys == {fold(name)}

    @given(st.text(max_size=300))
    def test_is_never_empty_nor_too_long(self, name):
        try:
            key = lookup_key(name)
        except NameRefused:
            return

        assert 0 < len(key) <= NAME_KEY_CHARS
