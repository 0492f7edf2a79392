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
            ("Mara\0", "name_has_bad_character"),
            ("Mara\ud800", "name_has_bad_character"),
            ("\ufdfa" * 256, "name_is_too_long"),
        ],
    )
    def test_refuses_what_cannot_be_looked_up(self, name, code):
        with pytest.raises(NameRefused) as refused:
            lookup_key(name)

        assert refused.value.code == code

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
