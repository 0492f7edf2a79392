"""The answers of the offline reviewer keep the closed schemas, quote literally and name their gates."""

import json
from pathlib import Path

import jsonschema
import pytest

from densemem.evals.offline import ask, extraction_request, verifier_request, wording_table
from densemem.providers.base import Call, Provider, Role, Stage, Turn
from densemem.providers.rules import Rules

ROOT = Path(__file__).parents[2]
PREDICATES = json.loads((ROOT / "relationships" / "predicates.json").read_text(encoding="utf-8"))
SCHEMAS = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "placement" / "schemas").glob("*.json")
}
KEYS_OF = wording_table(PREDICATES)
TEXT = "Ana Ruiz leads Project Harbor. Does Ana Ruiz work for Brightwater? Ana Ruiz worked for Kelp Systems until May 2024."
NAMES = [("Ana Ruiz", "person", 0, 8), ("Project Harbor", "project", 15, 29)]


def extract(text: str = TEXT, **proposal: object) -> dict:
    """Return the bundle of a text."""
    request = extraction_request(text, NAMES if text == TEXT else (), PREDICATES)
    request["proposal"] |= proposal
    jsonschema.validate(request, SCHEMAS["extraction_request"])
    return ask(Rules(), Stage.EXTRACT, request)


def verify(change: dict | None = None, place: int = 0, *, candidates: list[dict] | None = None) -> dict:
    """Return the verdicts on the bundle of the text, with one observation changed."""
    request = verifier_request(TEXT, extract(), KEYS_OF)
    request["relationship_observations"][place] |= change or {}
    request["entity_mentions"][0]["candidates"] = candidates or []
    jsonschema.validate(request, SCHEMAS["verifier_request"])
    answer = ask(Rules(), Stage.VERIFY, request)
    jsonschema.validate(answer, SCHEMAS["verifier_response"])
    return answer


def candidate(entity_id: str, kind: str = "person") -> dict:
    """Return a known entity."""
    return {"entity_id": entity_id, "canonical_name": "Ana Ruiz", "kind": kind, "identity_context": {}}


class TestRules:
    def test_is_a_provider(self):
        assert isinstance(Rules(), Provider)

    def test_answers_alike_every_time(self):
        call = Call(Stage.EXTRACT, "", (Turn(Role.USER, json.dumps(extraction_request(TEXT, NAMES, PREDICATES))),), {})

        assert Rules().complete(call) == Rules().complete(call)


class TestExtraction:
    def test_keeps_the_schema_and_quotes_literally(self):
        bundle = extract()

        jsonschema.validate(bundle, SCHEMAS["extraction"])
        assert all(row["quote"] in TEXT for row in (*bundle["mentions"], *bundle["values"]))

    def test_counts_occurrences_of_a_repeated_name(self):
        places = [(row["quote"], row["occurrence"]) for row in extract()["mentions"]]

        assert ("Ana Ruiz", 1) in places
        assert ("Project Harbor", None) in places

    def test_marks_a_question_and_an_ended_state(self):
        found = {
            (row["predicate"], row["modality"], row["ended"], row["valid_to"]) for row in extract()["observations"]
        }

        assert ("work for", "question", False, None) in found
        assert ("worked for", "statement", True, None) in found  # a month alone is no bound

    def test_carries_the_clients_observation_under_its_id(self):
        draft = {
            "proposal_id": "p1", "subject_ref": "e0", "predicate": "mentors", "object_ref": "e1", "object_value": None, "polarity": "+",
            "modality": "statement", "valid_from": None, "valid_to": None, "scope": None, "spans": [{"start": 0, "end": 30}],
        }  # fmt: skip

        (row,) = [row for row in extract(observations=[draft])["observations"] if row["proposal_id"]]

        assert (row["proposal_id"], row["predicate"]) == ("p1", "mentors")

    def test_names_no_unused_capitalised_word(self):
        assert extract("Coffee is ready. Yesterday Berlin was cold.")["mentions"] == []


class TestVerification:
    def test_entails_a_plain_statement(self):
        result = verify()["relationship_results"][0]

        assert (result["predicate_key"], result["evidence_verdict"]) == ("leads", "entailed")

    @pytest.mark.parametrize(
        "place, change, gate",
        [
            (0, {"modality": "proposal"}, "modality"),
            (0, {"polarity": "-"}, "polarity"),
            (0, {"valid_to": "2024-01-01"}, "tense"),
            (0, {"valid_from": "2019-01-01"}, "validity"),
            (0, {"scope": "environment=staging"}, "scope"),
            (0, {"predicate_candidates": ["owns"]}, "pattern"),
            (1, {"modality": "statement"}, "verb_form"),
            (2, {"valid_to": None}, "tense"),
        ],
    )
    def test_names_the_failed_gate(self, place, change, gate):
        result = verify(change, place)["relationship_results"][place]

        assert result["evidence_verdict"] == "insufficient"
        assert result["rationale"].startswith(f"gate: {gate} ")

    @pytest.mark.parametrize(
        "candidates, action, chosen",
        [
            ([], "create", None),
            ([candidate("1")], "reuse", "1"),
            ([candidate("1", "place")], "create", None),
            ([candidate("1", "other")], "reuse", "1"),
            ([candidate("1"), candidate("2")], "ambiguous", None),
        ],
    )
    def test_resolves_a_mention_by_its_plausible_candidates(self, candidates, action, chosen):
        result = verify(candidates=candidates)["entity_results"][0]

        assert (result["action"], result["candidate_entity_id"]) == (action, chosen)

    def test_contradicts_what_the_text_denies(self):
        text = "Ledger does not use PostgreSQL."
        request = verifier_request(text, extract(text), KEYS_OF)
        request["relationship_observations"][0]["polarity"] = "+"

        assert ask(Rules(), Stage.VERIFY, request)["relationship_results"][0]["evidence_verdict"] == "contradicted"


@pytest.mark.parametrize(
    ("text", "valid_from", "valid_to", "ended"),
    [
        ("Mara Lind joined Kelp Systems in March 2026.", None, None, False),
        ("Mara Lind joined Kelp Systems on 4 March 2026.", "2026-03-04", None, False),
        ("Otto Lang worked for Kelp Systems from 2018 to 2021.", None, None, True),
        ("Otto Lang works for Kelp Systems since 2018.", None, None, False),
    ],
)
def test_a_bound_is_a_whole_day_or_left_open(
    text: str, valid_from: str | None, valid_to: str | None, ended: bool
) -> None:
    (found,) = extract(text)["observations"]

    assert (found["valid_from"], found["valid_to"], found["ended"]) == (valid_from, valid_to, ended)
