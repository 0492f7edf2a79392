"""The plain words of a case become the product's: requests, and the answers of scripted models."""

import pytest

from densemem.cases.bundles import expanded, extraction, normal, quoted, replaced, request_body, text_of

TEXT = "Ivo said that Ivo works on Skiff."
MENTION = {"ref": "p", "surface": "Ivo", "kind": "person", "evidence_id": "$ev1", "start": 14, "end": 17}
OTHER = {"ref": "q", "surface": "Skiff", "kind": "product", "evidence_id": "$ev1", "start": 27, "end": 32}
ROW = {
    "ref": "r",
    "subject_ref": "p",
    "original_predicate": "works on",
    "object_ref": "q",
    "evidence_id": "$ev1",
    "polarity": "+",
    "start": 14,
    "end": 33,
}


class TestExtraction:
    def test_says_offsets_as_a_quote_and_its_occurrence(self) -> None:
        made = extraction({"security_signals": [], "mentions": [MENTION]}, text=TEXT, evidence="$ev1")

        assert made["mentions"] == [
            {"ref": "p", "kind": "person", "evidence_id": "$ev1", "quote": "Ivo", "occurrence": 2}
        ]

    def test_gives_observations_all_that_the_contract_asks_for(self) -> None:
        made = extraction({"observations": [ROW]}, text=TEXT, evidence="$ev1")

        (row,) = made["observations"]
        assert (row["predicate"], row["modality"], row["ended"], row["value_ref"]) == (
            "works on",
            "statement",
            False,
            None,
        )
        assert row["quotes"] == [{"quote": "Ivo works on Skiff.", "occurrence": 1}]

    def test_keeps_faults_of_the_case(self) -> None:
        wrong = {**MENTION, "surface": "Ivan"}

        made = extraction({"mentions": [wrong], "note": "x"}, text=TEXT, evidence="$ev1")

        assert made["note"] == "x"
        assert made["mentions"][0]["quote"] == "Ivan"

    def test_leaves_out_what_is_about_another_item(self) -> None:
        made = extraction({"mentions": [MENTION, {**OTHER, "evidence_id": "$ev2"}]}, text=TEXT, evidence="$ev1")

        assert [mention["ref"] for mention in made["mentions"]] == ["p"]

    @pytest.mark.parametrize(
        ("given", "value"),
        [
            ({"seconds": 1800}, ("PT1800S", None)),
            ({"amount": "40000", "currency": "EUR"}, ("40000", "EUR")),
            ({"text": "main"}, ("main", None)),
            ({"boolean": True}, ("true", None)),
            ({"number": 3, "unit": "GB"}, ("3", "GB")),
        ],
    )
    def test_writes_a_normalised_literal_as_value_and_unit(self, given: dict, value: tuple) -> None:
        assert normal(given) == value

    def test_takes_a_quote_as_it_is(self) -> None:
        assert quoted({"quote": "Ivo", "surface": "Ivo"}, TEXT) == ("Ivo", None)

    def test_writes_a_text_that_a_bundle_fits(self) -> None:
        moved = [{**MENTION, "start": 0, "end": 3}, {**OTHER, "start": 13, "end": 18}]

        assert text_of({"mentions": moved, "observations": [{**ROW, "start": 0, "end": 19}]}) == "Ivo works on Skiff."


class TestRequest:
    def test_makes_an_entity_of_a_mention_and_a_relationship_of_an_observation(self) -> None:
        body = {"evidence": [{"content": TEXT}], "proposal": {"mentions": [MENTION], "observations": [
            {"ref": "r", "subject_ref": "p", "predicate": "works on", "object": "Skiff"}]}}  # fmt: skip

        made = request_body(body)

        span = {"evidence_index": 0, "surface": "Ivo", "start": 14, "end": 17}
        assert made["evidence"] == [{"content": TEXT, "source_type": "document"}]
        assert made["proposal"]["entities"] == [
            {"ref": "p", "name": "Ivo", "entity_kind": "person", "mentions": [span]},
            {"ref": "n0", "name": "Skiff"},
        ]
        (row,) = made["proposal"]["relationships"]
        assert (row["proposal_id"], row["subject_ref"], row["object_ref"]) == ("r", "p", "n0")
        assert row["evidence"] == [{"evidence_index": 0, "start": 0, "end": len(TEXT)}]

    def test_passes_on_what_has_no_word_of_its_own(self) -> None:
        made = request_body({"evidence": [{"content": "x", "authority": "authoritative_user"}], "tier": "fact"})

        assert (made["tier"], made["evidence"][0]["authority"]) == ("fact", "authoritative")

    def test_writes_out_what_is_repeated(self) -> None:
        assert expanded({"a": [{"$repeat": ["r%d ", 3]}]}) == {"a": ["r0 r1 r2 "]}

    def test_replaces_placeholders_alone(self) -> None:
        assert replaced(["$req", "plain", {"a": "$x"}], str.upper) == ["$REQ", "plain", {"a": "$X"}]
