"""Persistent identifiers: one form for each, and none where it would be a guess."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entities.policy import IdentifierRefused, canonical_identifier, is_exclusive, stated_at, stated_beside

ORCID = "0000-0002-1825-0097"


class TestForm:
    @pytest.mark.parametrize(
        ("scheme", "value", "form"),
        [
            ("email", "Mara.Lind@Example.ORG", "Mara.Lind@example.org"),
            ("email", "mailto:ml@example.org", "ml@example.org"),
            ("email", "ml@Bücher.example", "ml@xn--bcher-kva.example"),
            ("email", "ml@straße.example", "ml@xn--strae-oqa.example"),
            ("email", "李@例子.example", "李@xn--fsqu00a.example"),
            ("url", "HTTPS://Example.org:443/A/b/#top", "https://example.org/A/b"),
            ("url", "http://example.org:80", "http://example.org"),
            ("url", "http://example.org/", "http://example.org"),
            ("url", "https://example.org:8443/x?b=1", "https://example.org:8443/x?b=1"),
            ("url", "https://[2001:DB8::1]/x", "https://[2001:db8::1]/x"),
            ("handle", "@Mara_L", "mara_l"),
            ("handle", "Ｍara", "mara"),
            ("handle", "мара", "мара"),
            ("orcid", "https://orcid.org/0000-0002-1825-0097", ORCID),
            ("orcid", "0000000218250097", ORCID),
            ("orcid", "ORCID:0000-0002-1694-233x", "0000-0002-1694-233X"),
            ("wikidata", "q42", "Q42"),
            ("wikidata", "https://www.wikidata.org/wiki/Q42", "Q42"),
            ("staff-no", "  A 0017 ", "A 0017"),
            ("staff-no", "a 0017", "a 0017"),
        ],
    )
    def test_is_one_for_all_ways_to_write_it(self, scheme: str, value: str, form: str) -> None:
        assert canonical_identifier(scheme, value).value == form
        assert canonical_identifier(scheme, form).value == form

    @pytest.mark.parametrize(
        ("scheme", "value"),
        [
            ("email", "mara"),
            ("email", "mara@localhost"),
            ("email", "ma ra@example.org"),
            ("email", "mara@ex ample.org"),
            ("email", "mara..l@example.org"),
            ("email", f"{'a' * 65}@example.org"),
            ("url", "example.org"),
            ("url", "ftp://example.org"),
            ("url", "javascript:alert(1)"),
            ("url", "https://ml:secret@example.org"),
            ("url", "https://example.org:99999"),
            ("url", "https://example.org/a b"),
            ("url", "https://"),
            ("url", f"https://example.org/{'a' * 512}"),
            ("handle", "@"),
            ("handle", "mara lind"),
            ("handle", "mara@example.org"),
            ("orcid", "0000-0002-1825-0098"),
            ("orcid", "0000-0002-1825"),
            ("wikidata", "Q0"),
            ("wikidata", "P31"),
            ("staff-no", "--"),
            ("staff-no", "a\0b"),
            ("staff-no", "\ud800"),
        ],
    )
    def test_is_refused_where_there_is_none(self, scheme: str, value: str) -> None:
        with pytest.raises(IdentifierRefused) as refused:
            canonical_identifier(scheme, value)
        assert (refused.value.code, refused.value.detail[-1]) == ("identifier_refused", ".")

    @pytest.mark.parametrize("scheme", ["", "E-Mail", "a", "9lives", "a b", "a" * 64, "é-no"])
    def test_needs_a_scheme_that_is_a_lower_case_word(self, scheme: str) -> None:
        with pytest.raises(IdentifierRefused) as refused:
            canonical_identifier(scheme, "1")
        assert refused.value.code == "identifier_scheme_refused"

    @given(scheme=st.sampled_from(["email", "url", "handle", "orcid", "wikidata", "staff-no"]), value=st.text())
    def test_is_stable_or_refused_whatever_is_written(self, scheme: str, value: str) -> None:
        try:
            form = canonical_identifier(scheme, value)
        except IdentifierRefused:
            return
        assert canonical_identifier(scheme, form.value) == form

    def test_tells_things_apart_only_where_each_has_one(self) -> None:
        schemes = ["email", "url", "handle", "orcid", "wikidata", "staff-no"]

        assert [s for s in schemes if is_exclusive(s)] == ["orcid", "wikidata", "staff-no"]


class TestBesideAName:
    @pytest.mark.parametrize(
        ("after", "found"),
        [
            (" <ml@Example.org> wrote", {("email", "ml@example.org")}),
            (" (ml@example.org)", {("email", "ml@example.org")}),
            (" (https://example.org/ml/)", {("url", "https://example.org/ml")}),
            (" (@Mara)", {("handle", "mara")}),
            (f" (ORCID {ORCID})", {("orcid", ORCID)}),
            (f" (ORCID iD: {ORCID})", {("orcid", ORCID)}),
            (f" ({ORCID})", {("orcid", ORCID)}),
            (f" (https://orcid.org/{ORCID})", {("orcid", ORCID)}),
            (" (Q42)", {("wikidata", "Q42")}),
            (" (Wikidata Q4)", {("wikidata", "Q4")}),
            ("（@mara、ml@example.org）", {("handle", "mara"), ("email", "ml@example.org")}),
            (f" (she, @mara; ORCID {ORCID})", {("handle", "mara"), ("orcid", ORCID)}),
            (" (Q3)", set()),
            (" (ORCID 0000-0002-1825-0098)", set()),
            (" (see @mara below)", set()),
            (" (mara)", set()),
            (" and Rex (@rex)", set()),
            (", @mara", set()),
            ("\n(@mara)", set()),
            (" (@mara", set()),
            ("", set()),
        ],
    )
    def test_is_read_where_it_can_be_nothing_else(self, after: str, found: set[tuple[str, str]]) -> None:
        stated = stated_beside(f"Mara Lind{after}", 9)

        assert {(s.identifier.scheme, s.identifier.value) for s in stated} == found

    def test_is_cited_by_its_own_span(self) -> None:
        text = f"Yes: Mara Lind (she, @Mara ; ORCID {ORCID}) leads."

        stated = stated_beside(text, text.index(" (she"))

        assert [text[s.start : s.end] for s in stated] == ["@Mara", ORCID] == [s.display for s in stated]


class TestLiteral:
    @pytest.mark.parametrize(
        ("text", "scheme", "value", "stands"),
        [
            ("Write to ml@example.org.", "email", "ml@example.org", "ml@example.org"),
            ("Write to x.ml@example.org", "email", "ml@example.org", None),
            ("Write to ml@example.org.test", "email", "ml@example.org", None),
            ("Ask @mara, please", "handle", "mara", "@mara"),
            ("Ask mara, please", "handle", "mara", None),
            ("Ask @maral", "handle", "@mara", None),
            ("Badge 0017.", "staff-no", "0017", "0017"),
            ("Badge 90017.", "staff-no", "0017", None),
            ("Badge 0017-2.", "staff-no", "0017", None),
            ("ML@EXAMPLE.ORG", "email", "ml@example.org", None),
        ],
    )
    def test_stands_in_the_text_by_itself_or_not_at_all(
        self, text: str, scheme: str, value: str, stands: str | None
    ) -> None:
        stated = stated_at(text, scheme, value)

        assert (stated and text[stated.start : stated.end]) == stands
