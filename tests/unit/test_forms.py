"""Other ways to write a name: which meet, for which reason, and that they stay few."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densemem.core import limits
from densemem.core.names import NameRefused, fold, lookup_key
from entities.policy import BEARING, asked_forms, kept_forms
from entities.policy.resolution import DECIDING
from entities.vocabulary import EntityKind

NAMES = st.text(max_size=40)
FEW = st.lists(st.sampled_from(["mark", "m.", "Zoë", "o'neil", "李", "van", "ИВАН", "🦀", "-"]), max_size=9).map(
    " ".join
)


def met(kept: str, asked: str, kind: EntityKind = EntityKind.PERSON, *, canonical: bool = True) -> set[str]:
    """Return the reasons for which a stored name is proposed for a mention."""
    return {form.reason.value for form in set(kept_forms(kept, canonical=canonical)) & set(asked_forms(asked, kind))}


class TestSpellings:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Zoë", "Zoe"),
            ("Łukasz Żak", "Lukasz Zak"),
            ("İpek", "Ipek"),
            ("Irmak", "Irmak".replace("I", "I\N{COMBINING DOT ABOVE}")),
            ("Müller", "Mueller"),
            ("Müller", "Muller"),
            ("Søren", "Soeren"),
            ("Nguyễn", "Nguyen"),
            ("Thúy", "Thuy"),
            ("Þór", "Thor"),
            ("Œuvre", "Oeuvre"),
            ("Иван Щукин", "Ivan Shchukin"),
            ("Фёдор", "Федор"),
            ("Γιώργος", "Giorgos"),
            ("한빛", "Hanbic"),
            ("ヤマダ", "やまだ"),
            ("Jean-Luc Picard", "Jean Luc Picard"),
            ("O’Brien", "O'Brien"),
            ("M. Huang", "M Huang"),
            ("Mara Lind", "MaraLind"),
            ("מֹשֶׁה", "משה"),
            ("مُحَمَّد", "محمد"),
            ("محـــمد", "محمد"),
            ("क़लम", "कलम"),
            ("क्\N{ZERO WIDTH JOINER}ष", "क्ष"),
            ("می\N{ZERO WIDTH NON-JOINER}خوانم", "میخوانم"),
        ],
    )
    def test_meet_without_accents_or_in_latin_letters(self, one, other):
        assert "accent_folded" in met(one, other)
        assert "accent_folded" in met(other, one)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Paypal", "PaypaI"),
            ("Paypal", "Раураl"),
            ("Harbor", "Harb0r"),
            ("Harbor", "Hаrbоr"),
            ("modern", "modem"),
            ("Apple", "Αpple"),
            ("Scope", "ѕсоре"),
            ("علی", "على"),
        ],
    )
    def test_meet_when_they_look_alike(self, one, other):
        assert lookup_key(one) != lookup_key(other)
        assert "look_alike" in met(one, other, EntityKind.PROJECT)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("C", "C++"),
            ("C#", "C++"),
            ("राम", "रम"),
            ("กา", "ก้า"),
            ("王植", "王質"),
            ("Mark", "Mara"),
            ("Atlas 1", "Atlas 2"),
            ("🦀", "🐍"),
        ],
    )
    def test_keep_apart_what_letters_tell_apart(self, one, other):
        assert met(one, other, EntityKind.TECHNOLOGY) == set()


class TestOfPeople:
    @pytest.mark.parametrize(
        ("kept", "asked", "reason"),
        [
            ("Robert Smith", "Bob Smith", "nickname"),
            ("Bob Smith", "Robert Smith", "nickname"),
            ("Bob Smith", "Rob Smith", "nickname"),
            ("William", "Bill", "nickname"),
            ("Mark Huang", "M. Huang", "initials"),
            ("M. Huang", "Mark Huang", "initials"),
            ("Mark Huang", "Huang, M.", "initials"),
            ("John Ronald Tolkien", "J. R. R. Tolkien", "initials"),
            ("Mark Huang", "Mark", "token_subset"),
            ("Mark Huang", "Huang", "token_subset"),
            ("Mark", "Mark Huang", "token_subset"),
            ("Ana Maria Ruiz", "Ana Ruiz", "token_subset"),
        ],
    )
    def test_meet_by_what_they_are_called_for_short(self, kept, asked, reason):
        assert reason in met(kept, asked)
        assert lookup_key(kept) != lookup_key(asked)

    @pytest.mark.parametrize(
        ("kept", "asked"),
        [
            ("Mark Huang", "Mike Huang"),
            ("M. Huang", "N. Huang"),
            ("Mark Huang", "Mark Twain"),
            ("Mark Huang", "Marki"),
            ("Mark Huang", "M."),
            ("Robert Smith", "Bob Jones"),
        ],
    )
    def test_stay_apart_where_a_whole_word_differs(self, kept, asked):
        assert met(kept, asked) == set()

    def test_an_alias_does_not_stand_for_every_longer_name(self):
        assert met("Mark", "Mark Twain", canonical=False) == set()

    def test_nothing_else_is_called_by_a_part_of_its_name(self):
        assert met("Porto Alegre", "Porto", EntityKind.PLACE) == set()
        assert met("Bob Smith", "Robert Smith", EntityKind.PRODUCT) == set()
        assert met("Northwind Traders", "Northwind", EntityKind.ORGANIZATION) == {"token_subset"}


class TestForms:
    @given(NAMES | FEW, st.sampled_from(EntityKind), st.booleans())
    def test_are_bounded(self, name, kind, canonical):
        assert len(kept_forms(name, canonical=canonical)) <= limits.NAME_FORMS
        assert len(asked_forms(name, kind)) <= limits.NAME_FORMS

    @given(NAMES | FEW, st.sampled_from(EntityKind))
    def test_do_not_depend_on_what_the_key_folds(self, name, kind):
        assert asked_forms(name, kind) == asked_forms(fold(name), kind)

    @given(NAMES | FEW)
    def test_of_one_spelling_meet_themselves(self, name):
        try:
            lookup_key(name)
        except NameRefused:
            return
        assert met(name, name, EntityKind.OTHER)

    @given(NAMES | FEW, st.sampled_from(EntityKind))
    def test_never_give_a_reason_to_reuse(self, name, kind):
        reasons = {form.reason for form in (*kept_forms(name, canonical=True), *asked_forms(name, kind))}

        assert not reasons & (DECIDING | BEARING)
