"""The verifier's answer: checks 1 to 10 of the page ("Strict Verifier Contract")."""

import json
from decimal import Decimal

import pytest

from densemem.core import limits
from entities.vocabulary import ResolutionAction
from evidence.vocabulary import SignalKind
from placement import contract
from placement.contract import AnswerRefused
from relationships.vocabulary import Verdict
from tests.answers import ACCEPTS, TEXT, changed, faults, verification, verifier_request, verify


class TestReadVerification:
    """contract.read_verification."""

    def test_gives_a_typed_result_for_every_ref(self) -> None:
        found = verify(verification())

        assert found.entities.keys() == {"m1", "m2"} and found.observations.keys() == {"o1", "o2"}
        assert (found.entities["m1"].action, found.entities["m1"].candidate_id) == (ResolutionAction.REUSE, "e1")
        assert found.entities["m1"].confidence == Decimal("0.9")
        assert (found.observations["o1"].predicate_key, found.observations["o1"].verdict) == ("leads", Verdict.ENTAILED)
        assert (found.observations["o2"].predicate_key, found.observations["o2"].confidence) == (None, Decimal(1))

    @pytest.mark.parametrize(
        ("path", "value", "place", "code"),
        [
            ("/request_id", "verify_2", "/request_id", "request_id_wrong"),
            ("/predicate_results", [], "", "schema_additionalProperties"),
            ("/entity_results/1/ref", "m1", "/entity_results/1/ref", "ref_repeated"),
            ("/entity_results/1/ref", "m1", "/entity_results", "result_missing"),
            ("/entity_results/1/ref", "m9", "/entity_results/1/ref", "ref_unknown"),
            ("/entity_results", [], "/entity_results", "result_missing"),
            ("/relationship_results/1/ref", "o1", "/relationship_results/1/ref", "ref_repeated"),
            ("/relationship_results/1/ref", "m1", "/relationship_results/1/ref", "ref_unknown"),
            ("/relationship_results/1/ref", "o9", "/relationship_results", "result_missing"),
            (
                "/entity_results/0/candidate_entity_id",
                "e2",
                "/entity_results/0/candidate_entity_id",
                "candidate_not_offered",
            ),
            ("/entity_results/0/candidate_entity_id", None, "/entity_results/0/candidate_entity_id", "schema_type"),
            ("/entity_results/0/candidate_entity_id", "", "/entity_results/0/candidate_entity_id", "schema_minLength"),
            ("/entity_results/1/candidate_entity_id", "e2", "/entity_results/1/candidate_entity_id", "schema_type"),
            ("/entity_results/0/action", "ambiguous", "/entity_results/0/candidate_entity_id", "schema_type"),
            ("/entity_results/0/action", "merge", "/entity_results/0/action", "schema_enum"),
            ("/entity_results/0/confidence", 1.01, "/entity_results/0/confidence", "schema_maximum"),
            ("/entity_results/0/confidence", "0.9", "/entity_results/0/confidence", "schema_type"),
            ("/entity_results/0/confidence", True, "/entity_results/0/confidence", "schema_type"),
            ("/entity_results/0/rationale", "x" * 1001, "/entity_results/0/rationale", "schema_maxLength"),
            (
                "/relationship_results/0/predicate_key",
                "unasked",
                "/relationship_results/0/predicate_key",
                "predicate_not_offered",
            ),
            (
                "/relationship_results/0/predicate_key",
                "owns",
                "/relationship_results/0/predicate_key",
                "object_kind_not_accepted",
            ),
            ("/relationship_results/0/predicate_key", None, "/relationship_results/0/predicate_key", "schema_type"),
            ("/relationship_results/1/predicate_key", "count", "/relationship_results/1/predicate_key", "schema_type"),
            (
                "/relationship_results/0/evidence_verdict",
                "true",
                "/relationship_results/0/evidence_verdict",
                "schema_enum",
            ),
            ("/relationship_results/0/tier", "fact", "/relationship_results/0", "schema_additionalProperties"),
        ],
    )
    def test_refuses_what_the_request_does_not_allow(self, path: str, value: object, place: str, code: str) -> None:
        assert (place, code) in faults(lambda: verify(changed(verification(), path, value)))

    def test_takes_the_kind_of_the_reused_entity_at_an_end(self) -> None:
        reused = {"ref": "m2", "action": "reuse", "candidate_entity_id": "e2", "confidence": 1, "rationale": "Same."}
        answer = changed(verification(), "/entity_results/1", reused)

        assert faults(lambda: verify(answer)) == [("/relationship_results/0/predicate_key", "object_kind_not_accepted")]
        assert verify(changed(answer, "/relationship_results/0/predicate_key", "owns")).observations

    def test_fits_the_kind_other_only_where_it_is_listed(self) -> None:
        made = {"ref": "m1", "action": "create", "candidate_entity_id": None, "confidence": 1, "rationale": "New."}
        answer = changed(verification(), "/entity_results/0", made)

        assert faults(lambda: verify(answer)) == [
            ("/relationship_results/0/predicate_key", "subject_kind_not_accepted")
        ]

    def test_fits_a_value_by_its_type(self) -> None:
        answer = changed(verification(), "/relationship_results/1/predicate_status", "resolved")
        answer = changed(answer, "/relationship_results/1/predicate_key", "count")
        text = json.dumps(answer)
        wrong = {**ACCEPTS, "count": ({"project"}, {"text"})}

        assert verify(answer).observations["o2"].predicate_key == "count"
        assert faults(lambda: contract.read_verification(text, request=verifier_request(), accepts=wrong)) == [
            ("/relationship_results/1/predicate_key", "object_kind_not_accepted")
        ]

    def test_refuses_a_predicate_that_the_registry_does_not_know(self) -> None:
        known = {key: kinds for key, kinds in ACCEPTS.items() if key != "leads"}
        text = json.dumps(verification())

        assert faults(lambda: contract.read_verification(text, request=verifier_request(), accepts=known)) == [
            ("/relationship_results/0/predicate_key", "predicate_not_offered")
        ]

    def test_refuses_an_end_that_no_mention_covers(self) -> None:
        request = changed(verifier_request(), "/relationship_observations/0/subject_ref", "m7")
        text = json.dumps(verification())

        assert faults(lambda: contract.read_verification(text, request=request, accepts=ACCEPTS)) == [
            ("/relationship_results/0", "endpoint_unresolved")
        ]

    def test_gives_exact_signals(self) -> None:
        signal = {"evidence_id": "ev_1", "kind": "hidden_control_markup", "start": 4, "end": 9}
        answer = changed(verification(), "/security_signals", [signal])

        assert verify(answer).signals == (contract.Signal(SignalKind.HIDDEN_CONTROL_MARKUP, 4, 9),)
        unknown = changed(answer, "/security_signals/0/evidence_id", "ev_2")
        assert faults(lambda: verify(unknown)) == [("/security_signals/0/evidence_id", "evidence_unknown")]

    @pytest.mark.parametrize(
        ("start", "end", "code"),
        [(0, 0, "span_is_empty"), (0, 10**6, "span_out_of_bounds"), (0, len(TEXT) - 2, "span_splits_grapheme")],
    )
    def test_refuses_signals_outside_the_text(self, start: int, end: int, code: str) -> None:
        signal = {"evidence_id": "ev_1", "kind": "tool_exfiltration", "start": start, "end": end}

        assert faults(lambda: verify(changed(verification(), "/security_signals", [signal]))) == [
            ("/security_signals/0", code)
        ]

    def test_refuses_more_than_any_answer_may_hold(self) -> None:
        signal = {"evidence_id": "ev_1", "kind": "tool_exfiltration", "start": 0, "end": 3}
        many = changed(verification(), "/security_signals", [signal] * (limits.SIGNALS + 1))
        large = changed(verification(), "/request_id", "x" * limits.ANSWER_BYTES)

        assert faults(lambda: verify(many)) == [("/security_signals", "schema_maxItems")]
        assert faults(lambda: verify(large)) == [("", "too_large")]

    @pytest.mark.parametrize(
        ("path", "value", "words"),
        [
            ("/entity_results/0/candidate_entity_id", None, "one candidate of this mention"),
            ("/entity_results/1/candidate_entity_id", "e2", "Only reuse names a candidate"),
            ("/relationship_results/1/predicate_key", "count", "needs_review names no predicate"),
            ("/relationship_results/0/predicate_key", "closest", "answer needs_review with null"),
            ("/entity_results/0/candidate_entity_id", "e7", "answer create or ambiguous with null"),
            ("/entity_results/0/confidence", 7, "`confidence` must be 1 or less"),
            ("/entity_results/1/ref", "m9", 'no result for the ref "m2"'),
        ],
    )
    def test_tells_the_model_how_to_mend_it(self, path: str, value: object, words: str) -> None:
        with pytest.raises(AnswerRefused) as refused:
            verify(changed(verification(), path, value))

        assert any(words in fault.detail for fault in refused.value.faults)
        assert all(fault.detail.endswith(".") for fault in refused.value.faults)
