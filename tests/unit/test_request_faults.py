"""What is wrong with a remember request: the exact place, a stable code, and the mend in a sentence (stage 1)."""

from typing import Any

import pytest

from densemem.core import limits
from placement.request import RequestInvalid, read_request

TEXT = "Anna met Bo."
EVIDENCE = {"content": TEXT, "source_type": "document"}
ENTITIES = [{"ref": "a", "name": "Anna"}, {"ref": "b", "name": "Bo"}]
MET: dict[str, Any] = {
    "proposal_id": "p1",
    "subject_ref": "a",
    "predicate": "met",
    "object_ref": "b",
    "evidence": [{"evidence_index": 0, "start": 0, "end": 12}],
}


def told(body: object) -> list[tuple[str, str, str]]:
    """Return every fault of a body."""
    with pytest.raises(RequestInvalid) as refused:
        read_request(body)
    return [(fault.pointer, fault.code, fault.detail) for fault in refused.value.faults]


def with_evidence(**fields: Any) -> dict[str, Any]:
    """Return a request with one evidence item changed."""
    return {"evidence": [{**EVIDENCE, **fields}]}


def with_relationship(**fields: Any) -> dict[str, Any]:
    """Return a request with one proposed relationship changed; None leaves a field out."""
    row = {name: value for name, value in {**MET, **fields}.items() if value is not None}
    return {"evidence": [EVIDENCE], "proposal": {"entities": ENTITIES, "relationships": [row]}}


class TestFaults:
    """read_request."""

    @pytest.mark.parametrize(
        ("body", "pointer", "code", "detail"),
        [
            ([], "", "wrong_type", "The whole document must be an object, and is a list."),
            ({}, "", "missing_field", "The whole document lacks `evidence`: add what is missing."),
            ({"evidence": []}, "/evidence", "broken_minItems", "`evidence` must not be empty."),
            (
                {"evidence": [EVIDENCE] * 21},
                "/evidence",
                "broken_maxItems",
                "`evidence` may hold at most 20 entries, and holds 21: leave some out.",
            ),
            (
                with_evidence(content="x" * 20_001),
                "/evidence/0/content",
                "broken_maxLength",
                "`content` must be at most 20000 characters long, and has 20001: shorten it.",
            ),
            (
                with_evidence(source_type="mail"),
                "/evidence/0/source_type",
                "unknown_word",
                "`source_type` must be one of: conversation, document, observation, manual.",
            ),
            (
                with_evidence(labels=["a", "a"]),
                "/evidence/0/labels",
                "broken_uniqueItems",
                "`labels` must list each entry once.",
            ),
            (
                with_evidence(metadata={"a": [1]}),
                "/evidence/0/metadata/a",
                "wrong_type",
                "`a` must be a text or a number or true or false or null, and is a list.",
            ),
            (
                with_evidence(metadata={"": 1}),
                "/evidence/0/metadata",
                "broken_minLength",
                "Each field name in `metadata` must not be empty.",
            ),
            (
                with_evidence(derived_from_fragment_ids=["x"]),
                "/evidence/0/derived_from_fragment_ids/0",
                "broken_format",
                "Entry 0 of `derived_from_fragment_ids` must have the form of a UUID.",
            ),
            (
                with_evidence(tier="fact", status="active"),
                "/evidence/0",
                "field_is_set_by_server",
                "Leave out status, tier: the server decides that by itself.",
            ),
            (
                with_relationship(object_ref=None),
                "/proposal/relationships/0",
                "one_object_form",
                "Set object_ref to the ref of an entity for a named thing, or set object_value for a number, "
                "date or text, or remove this relationship.",
            ),
            (
                with_relationship(object_value={"type": "text", "value": "x"}),
                "/proposal/relationships/0",
                "one_object_form",
                "Keep only one of object_ref and object_value; leave the other out.",
            ),
            (
                with_relationship(evidence=[{"evidence_index": 0, "start": 0, "end": 4.0}]),
                "/proposal/relationships/0/evidence/0/end",
                "wrong_type",
                "`end` must be a whole number, and is a number with a point.",
            ),
        ],
    )
    def test_name_the_place_and_the_mend(self, body: object, pointer: str, code: str, detail: str) -> None:
        (fault,) = told(body)

        assert fault[:2] == (pointer, code)
        assert fault[2].startswith(detail)

    def test_name_what_the_server_sets_and_what_nobody_knows_apart(self) -> None:
        extra = dict.fromkeys(("a", "b", "c", "d", "e", "f", "team_id"), 1)

        first, second = told({"evidence": [EVIDENCE], **extra})

        assert first[1:] == ("field_is_set_by_server", "Leave out team_id: the server decides that by itself.")
        assert second[1] == "unknown_field"
        assert "remove `a`, `b`, `c`, `d`, `e` and 2 more; known are `evidence`, `proposal`" in second[2]

    def test_name_each_missing_field_once(self) -> None:
        assert [fault[2] for fault in told({"evidence": [{}]})] == [
            "Entry 0 of `evidence` lacks `content`, `source_type`: add what is missing."
        ]

    def test_never_quote_a_value(self) -> None:
        secret = "secret-phrase"
        bodies = [
            with_evidence(source_type=secret, authority=[secret], labels=[secret * 9], observed_at=secret),
            with_relationship(modality=secret, polarity=secret, predicate=secret * 20),
            {"evidence": secret},
        ]

        assert secret not in str([told(body) for body in bodies])

    def test_are_bounded(self) -> None:
        rows = [{**MET, "proposal_id": f"p{number}", "subject_ref": "x"} for number in range(200)]
        body = {"evidence": [EVIDENCE], "proposal": {"entities": ENTITIES, "relationships": rows}}

        assert len(told(body)) == limits.FAULTS
        assert max(len(detail) for _, _, detail in told(with_evidence(**{"x" * 9999: 1}))) < 600


class TestSlices:
    """read_request: each item is shown what of the proposal is about it."""

    @pytest.mark.parametrize(
        ("entity", "shown"),
        [
            ({"name": "Anna"}, True),
            ({"name": "Ann-Marie", "aliases": ["Anna"]}, True),
            ({"name": "Ann-Marie", "aliases": ["Annie"]}, False),
            ({"name": "A.", "mentions": [{"evidence_index": 0, "start": 0, "end": 4}]}, True),
            ({"name": "Anna", "mentions": [{"evidence_index": 1, "start": 0, "end": 4}]}, False),
        ],
    )
    def test_name_what_is_written_in_the_item(self, entity: dict[str, Any], shown: bool) -> None:
        evidence = [EVIDENCE, {**EVIDENCE, "content": "Other text."}]

        found = read_request({"evidence": evidence, "proposal": {"entities": [{"ref": "e", **entity}]}})

        assert (found.proposals[0] is not None) is shown
