"""Canonical JSON and digests."""

import json
from datetime import UTC, date, datetime, timedelta, timezone
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from densemem.core.canonical import CanonicalRefused, canonical_json, digest, keyed_digest

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
CONTENT = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)


class TestCanonicalJson:
    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            ({"b": 1, "a": [1, 2]}, '{"a":[1,2],"b":1}'),
            ({"é": "ü"}, '{"é":"ü"}'),
            (1.0, "1"),
            (-0.0, "0"),
            (0.1, "0.1"),
            (9223372036854775807, "9223372036854775807"),
            ((1, None, True), "[1,null,true]"),
            (UUID(int=5), '"00000000-0000-0000-0000-000000000005"'),
            (date(2026, 3, 1), '"2026-03-01"'),
            (datetime(2026, 3, 1, 2, tzinfo=timezone(timedelta(hours=2))), '"2026-03-01T00:00:00Z"'),
        ],
    )
    def test_writes_one_form(self, content, expected):
        assert canonical_json(content) == expected.encode()

    @pytest.mark.parametrize(
        ("content", "code"),
        [
            (float("nan"), "number_is_not_finite"),
            ([float("inf")], "number_is_not_finite"),
            ({1: "a"}, "key_is_not_text"),
            ("\ud800", "lone_surrogate"),
            ({"a": object()}, "type_unknown"),
            ({"a": {1, 2}}, "type_unknown"),
        ],
    )
    def test_refuses_what_has_no_single_form(self, content, code):
        with pytest.raises(CanonicalRefused) as refused:
            canonical_json(content)

        assert refused.value.code == code

    def test_refuses_endless_nesting(self):
        deep: list[object] = []
        for _ in range(5_000):
            deep = [deep]

        with pytest.raises(CanonicalRefused) as refused:
            canonical_json(deep)

        assert refused.value.code == "too_deep"

    @given(CONTENT)
    def test_reads_back_as_the_same_content(self, content):
        try:
            written = canonical_json(content)
        except CanonicalRefused:
            assert "\\ud" in json.dumps(content)  # only a lone surrogate is refused here
            return

        assert json.loads(written) == content
        assert canonical_json(json.loads(written)) == written

    @given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.integers(), min_size=2))
    def test_does_not_depend_on_the_order_of_keys(self, content):
        turned = dict(reversed(content.items()))

        assert canonical_json(turned) == canonical_json(content)


class TestDigest:
    def test_is_sha256_of_the_bytes(self):
        assert digest(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    def test_takes_text_and_bytes_alike(self):
        assert digest("abc") == digest(b"abc")

    def test_is_one_for_equal_contents(self):
        assert digest({"a": 1, "b": 2}) == digest({"b": 2.0, "a": 1})

    def test_refuses_a_lone_surrogate(self):
        with pytest.raises(CanonicalRefused):
            digest("\udfff")


class TestKeyedDigest:
    def test_is_hmac_sha256(self):
        expected = "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8"

        assert keyed_digest(b"key", "The quick brown fox jumps over the lazy dog") == expected

    def test_needs_the_key(self):
        assert keyed_digest(b"one", "text") != keyed_digest(b"two", "text")

    def test_refuses_an_empty_key(self):
        with pytest.raises(CanonicalRefused):
            keyed_digest(b"", "text")


def test_utc_is_the_zone_of_every_written_time():
    assert canonical_json(datetime(2026, 1, 1, tzinfo=UTC)) == b'"2026-01-01T00:00:00Z"'
