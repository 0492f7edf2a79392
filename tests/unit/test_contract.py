"""Model answers are accepted whole or not at all ("Strict Verifier Contract", "Regeneration, not repair")."""

import copy
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from densemem.core import limits
from entities.vocabulary import EntityKind, ResolutionAction, ValueType
from evidence.vocabulary import SignalKind
from placement import contract
from placement.contract import AnswerRefused, Fault
from relationships.vocabulary import Modality, Polarity, Verdict

TEXT = "Ana leads Harbor. Ana has 3 cats\u00a0at home, no\u0308."
Change = Callable[[dict[str, Any]], object]


def extraction_request() -> dict[str, Any]:
    """Return a legal question with one proposal."""
    proposed = {
        "proposal_id": "p1",
        "subject_ref": "a",
        "predicate": "leads",
        "object_ref": "h",
        "object_value": None,
        "polarity": "+",
        "modality": "statement",
        "valid_from": None,
        "valid_to": None,
        "scope": None,
        "spans": [{"start": 0, "end": 17}],
    }
    return {
        "request_id": "extract_1",
        "evidence": [{"evidence_id": "ev_1", "content": TEXT}],
        "proposal": {"entities": [], "observations": [proposed]},
        "known_names": [],
        "entity_kinds": [],
        "value_types": [],
        "predicates": [],
        "signals": [],
    }


def extraction() -> dict[str, Any]:
    """Return an answer without fault: one relation to a thing and one to a value."""
    plain = {"polarity": "+", "modality": "statement", "ended": False, "valid_from": None, "valid_to": None}
    open_ = {**plain, "scope": None, "proposal_id": None, "evidence_id": "ev_1", "subject_ref": "m1"}
    cited = {"evidence_id": "ev_1"}
    leads = {"ref": "o1", "predicate": "leads", "object_ref": "m2", "value_ref": None, "proposal_id": "p1"}
    owns = {"ref": "o2", "predicate": "has", "object_ref": None, "value_ref": "v1"}
    return {
        "security_signals": [],
        "mentions": [
            {"ref": "m1", **cited, "quote": "Ana", "occurrence": 2, "kind": "person"},
            {"ref": "m2", **cited, "quote": "Harbor", "occurrence": None, "kind": "project"},
        ],
        "values": [
            {"ref": "v1", **cited, "quote": "3 cats at", "occurrence": None}
            | {"type": "number", "value": "3", "unit": "cats"}
        ],
        "observations": [
            {**open_, **leads, "quotes": [{"quote": "Ana leads Harbor.", "occurrence": None}]},
            {**open_, **owns, "quotes": [{"quote": "has 3 cats", "occurrence": 1}]},
        ],
    }


def read(answer: Any, **options: Any) -> contract.Extraction:
    """Read an answer, given as data or as raw text."""
    text = answer if isinstance(answer, str) else json.dumps(answer)
    return contract.read_extraction(text, request=extraction_request(), **options)


def faults(reading: Callable[[], object]) -> list[tuple[str, str]]:
    """Return place and code of every fault."""
    with pytest.raises(AnswerRefused) as refused:
        reading()
    return [(fault.pointer, fault.code) for fault in refused.value.faults]


def changed(answer: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy of an answer with one place changed."""
    copied = copy.deepcopy(answer)
    *way, last = [int(part) if part.isdigit() else part for part in path.split("/")[1:]]
    place: Any = copied
    for part in way:
        place = place[part]
    place[last] = value
    return copied


class TestReadExtraction:
    """contract.read_extraction."""

    def test_gives_typed_drafts_with_exact_spans_of_the_evidence(self) -> None:
        found = read(extraction())

        person, project = found.mentions
        assert (person.ref, person.kind, person.start, person.end) == ("m1", EntityKind.PERSON, 18, 21)
        assert (project.surface, TEXT[project.start : project.end]) == ("Harbor", "Harbor")
        assert found.values[0].type is ValueType.NUMBER
        assert found.values[0].surface == "3 cats\u00a0at"  # the evidence's own white space, not the model's
        leads, owns = found.observations
        assert (leads.object_ref, leads.value_ref, leads.proposal_id, leads.spans) == ("m2", None, "p1", ((0, 17),))
        assert (owns.object_ref, owns.value_ref, owns.polarity, owns.modality) == (
            None,
            "v1",
            Polarity.PLUS,
            Modality.STATEMENT,
        )
        assert found.signals == ()

    def test_may_find_nothing(self) -> None:
        found = read({"security_signals": [], "mentions": [], "values": [], "observations": []})

        assert (found.mentions, found.values, found.observations) == ((), (), ())

    def test_gives_exact_signals(self) -> None:
        signal = {"evidence_id": "ev_1", "kind": "instruction_override", "start": 0, "end": 3}

        found = read(changed(extraction(), "/security_signals", [signal]))
        assert found.signals == (contract.Signal(SignalKind.INSTRUCTION_OVERRIDE, 0, 3),)

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("", "not_json"),
            ("{", "not_json"),
            ("```json\n{}\n```", "not_json"),
            ("{} {}", "not_json"),
            ("{'a': 1}", "not_json"),
            ('{"a": 1, "a": 1}', "duplicate_key"),
            ('{"a": {"b": 1, "\\u0062": 2}}', "duplicate_key"),
            ('{"a": NaN}', "not_finite"),
            ('{"a": -Infinity}', "not_finite"),
            ('{"a": 1e99999999999999999999}', "not_json"),
            ('{"a": ' + "1" * 5000 + "}", "not_json"),
            ("[" * 100_000, "not_json"),
            (" " * (limits.ANSWER_BYTES + 1), "too_large"),
            ("\ud800", "text_not_storable"),
            ("[]", "schema_type"),
            ("null", "schema_type"),
            ("{}", "schema_required"),
        ],
    )
    def test_refuses_what_is_not_strict_json_of_the_schema(self, text: str, code: str) -> None:
        assert {found for _, found in faults(lambda: read(text))} == {code}

    @pytest.mark.parametrize(
        ("path", "value", "code"),
        [
            ("/extra", 1, "schema_additionalProperties"),
            ("/mentions/0/name", "Ana", "schema_additionalProperties"),
            ("/mentions/0/kind", "Person", "schema_enum"),
            ("/mentions/0/kind", None, "schema_enum"),
            ("/mentions/0/quote", "", "schema_minLength"),
            ("/mentions/0/occurrence", "2", "schema_type"),
            ("/mentions/0/occurrence", 2.0, "schema_type"),
            ("/mentions/0/occurrence", True, "schema_type"),
            ("/mentions/0/occurrence", 0, "schema_minimum"),
            ("/values/0/value", 3, "schema_type"),
            ("/observations/0/ended", "false", "schema_type"),
            ("/observations/0/polarity", "positive", "schema_enum"),
            ("/observations/0/quotes", [], "schema_minItems"),
            ("/observations/0/subject_ref", ["m1"], "schema_type"),
            ("/observations/0/predicate", "le\0ads", "text_not_storable"),
            ("/values/0/unit", "\udc00", "text_not_storable"),
        ],
    )
    def test_coerces_renames_and_ignores_nothing(self, path: str, value: object, code: str) -> None:
        where = path.rsplit("/", 1)[0] if code == "schema_additionalProperties" else path

        assert faults(lambda: read(changed(extraction(), path, value))) == [(where, code)]

    @pytest.mark.parametrize(
        ("path", "value", "expected"),
        [
            ("/mentions/0/quote", "ana", ("/mentions/0/quote", "quote_not_found")),
            ("/mentions/0/occurrence", None, ("/mentions/0/quote", "quote_ambiguous")),
            ("/mentions/0/occurrence", 3, ("/mentions/0/quote", "occurrence_out_of_range")),
            ("/mentions/0/occurrence", 10**30, ("/mentions/0/quote", "occurrence_out_of_range")),
            ("/mentions/1/quote", "no", ("/mentions/1/quote", "span_splits_grapheme")),
            ("/mentions/1/evidence_id", "ev_2", ("/mentions/1/evidence_id", "evidence_unknown")),
            ("/mentions/1/ref", "v1", ("/values/0/ref", "ref_repeated")),
            ("/values/0/ref", "m2", ("/values/0/ref", "ref_repeated")),
            ("/values/0/quote", "4 cats", ("/values/0/quote", "quote_not_found")),
            ("/values/0/evidence_id", "ev_2", ("/values/0/evidence_id", "evidence_unknown")),
            ("/observations/1/ref", "o1", ("/observations/1/ref", "ref_repeated")),
            ("/observations/1/evidence_id", "x", ("/observations/1/evidence_id", "evidence_unknown")),
            ("/observations/0/subject_ref", "v1", ("/observations/0/subject_ref", "ref_unknown")),
            ("/observations/0/object_ref", "v1", ("/observations/0/object_ref", "ref_unknown")),
            ("/observations/0/object_ref", None, ("/observations/0", "object_missing")),
            ("/observations/0/value_ref", "v1", ("/observations/0", "object_twice")),
            ("/observations/1/value_ref", "m2", ("/observations/1/value_ref", "ref_unknown")),
            ("/observations/0/predicate", " ", ("/observations/0/predicate", "blank")),
            ("/observations/0/proposal_id", "p2", ("/observations/0/proposal_id", "proposal_unknown")),
            ("/observations/0/valid_from", "2026", ("/observations/0/valid_from", "time_malformed")),
            ("/observations/0/valid_from", "", ("/observations/0/valid_from", "time_malformed")),
            ("/observations/0/valid_to", "2026-02-30", ("/observations/0/valid_to", "date_impossible")),
            ("/observations/0/valid_to", "2026-02-03T10:00:00", ("/observations/0/valid_to", "time_without_offset")),
            ("/observations/0/quotes/0/quote", "Ana  leads", None),
            ("/observations/0/quotes/0/quote", "Ana runs", ("/observations/0/quotes/0/quote", "quote_not_found")),
            ("/observations/0/valid_from", "2026-02-03T10:00:00+02:00", None),
        ],
    )
    def test_grounds_every_quote_ref_and_time(self, path: str, value: object, expected: tuple[str, str] | None) -> None:
        answer = changed(extraction(), path, value)
        if expected is None:
            assert read(answer).observations
        else:
            assert expected in faults(lambda: read(answer))

    @pytest.mark.parametrize(
        ("start", "end", "kind", "code"),
        [
            (0, 0, "tool_exfiltration", "span_is_empty"),
            (3, 1, "tool_exfiltration", "span_is_empty"),
            (0, 10**9, "tool_exfiltration", "span_out_of_bounds"),
            (0, len(TEXT) - 2, "tool_exfiltration", "span_splits_grapheme"),
            (0, 3, "rude", "schema_enum"),
            (-1, 3, "tool_exfiltration", "schema_minimum"),
        ],
    )
    def test_refuses_signals_that_are_not_exact(self, start: int, end: int, kind: str, code: str) -> None:
        signal = {"evidence_id": "ev_1", "kind": kind, "start": start, "end": end}

        found = faults(lambda: read(changed(extraction(), "/security_signals", [signal])))
        assert [word for _, word in found] == [code]

    @pytest.mark.parametrize(
        ("valid_from", "valid_to", "fits"),
        [
            ("2026-01-01", "2026-01-02", True),
            ("2026-01-01", "2026-01-01", False),
            ("2026-01-02", "2026-01-01", False),
            ("2026-01-01T01:00:00+02:00", "2026-01-01", True),
            ("2026-01-01", "2026-01-01T01:00:00+02:00", False),
        ],
    )
    def test_refuses_a_period_that_ends_before_it_begins(self, valid_from: str, valid_to: str, fits: bool) -> None:
        answer = changed(
            changed(extraction(), "/observations/0/valid_from", valid_from), *("/observations/0/valid_to", valid_to)
        )
        if fits:
            assert read(answer).observations[0].valid_to == valid_to
        else:
            assert faults(lambda: read(answer)) == [("/observations/0/valid_to", "window_is_empty")]

    def test_refuses_one_span_given_twice_as_support(self) -> None:
        twice = [{"quote": "Ana leads", "occurrence": 1}, {"quote": "Ana  leads", "occurrence": None}]

        answer = changed(extraction(), "/observations/0/quotes", twice)
        assert faults(lambda: read(answer)) == [("/observations/0/quotes/1", "span_repeated")]

    def test_tells_the_model_how_to_mend_an_object(self) -> None:
        answer = changed(extraction(), "/observations/0/object_ref", None)
        with pytest.raises(AnswerRefused) as refused:
            read(answer)
        (fault,) = refused.value.faults

        assert all(word in fault.detail for word in ("object_ref", "value_ref", "remove this observation"))

    def test_asks_a_rule_about_typed_values(self) -> None:
        def refuse(kind: ValueType, value: str, unit: str | None) -> None:
            raise ValueError(f"{kind} {value} {unit}")

        assert faults(lambda: read(extraction(), check_value=refuse)) == [("/values/0/value", "value_not_typed")]
        assert read(extraction(), check_value=lambda *_: None).values

    @pytest.mark.parametrize("depth", [*range(100, 1000, 100), *range(900, 1000, 5), 100_000])
    def test_refuses_any_depth_of_nesting(self, depth: int) -> None:
        nested = "[" * depth + "]" * depth

        assert faults(lambda: read(nested))
        assert faults(lambda: read(f'{{"security_signals": {nested}}}'))

    def test_collects_every_fault_at_once(self) -> None:
        answer = changed(changed(extraction(), "/mentions/1/quote", "Harbour"), "/observations/1/value_ref", None)

        assert faults(lambda: read(answer)) == [
            ("/mentions/1/quote", "quote_not_found"),
            ("/observations/1", "object_missing"),
        ]

    def test_reports_a_bounded_number_of_faults(self) -> None:
        mention = {**extraction()["mentions"][1], "quote": "nowhere"}
        many = [{**mention, "ref": f"n{number}"} for number in range(limits.MENTIONS)]
        empty = {"security_signals": [], "values": [], "observations": []}

        assert len(faults(lambda: read({**empty, "mentions": many}))) == limits.FAULTS
        assert len(faults(lambda: read({**empty, "mentions": [{}] * 300}))) == limits.FAULTS


def verifier_request() -> dict[str, Any]:
    """Return a legal question about two mentions, a relation and a value."""
    place = {"evidence_id": "ev_1", "start": 0, "end": 3}
    ana = {"entity_id": "e1", "canonical_name": "Ana", "kind": "person", "identity_context": {}}
    boat = {"entity_id": "e2", "canonical_name": "Harbor", "kind": "place", "identity_context": {}}
    text = {"type": "number", "value": "3", "unit": None, "surface": "3", "start": 26, "end": 27}
    plain = {"polarity": "+", "modality": "statement", "valid_from": None, "valid_to": None, "scope": None, **place}
    leads = {"ref": "o1", "original_predicate": "leads", "predicate_candidates": ["leads", "owns"], "object_ref": "m2"}
    counts = {"ref": "o2", "original_predicate": "has", "predicate_candidates": ["count"], "object_ref": None}
    return {
        "request_id": "verify_1",
        "evidence": [{"evidence_id": "ev_1", "content": TEXT}],
        "entity_mentions": [
            {"ref": "m1", "surface": "Ana", "kind": "other", **place, "candidates": [ana]},
            {"ref": "m2", "surface": "Harbor", "kind": "project", **place, "candidates": [boat]},
        ],
        "relationship_observations": [
            {**plain, **leads, "subject_ref": "m1", "object_value": None},
            {**plain, **counts, "subject_ref": "m2", "object_value": text},
        ],
        "signals": [],
    }


ACCEPTS = {
    "leads": ({"person"}, {"project"}),
    "owns": ({"person", "other"}, {"place"}),
    "count": ({"project", "place"}, {"number"}),
    "unasked": ({"person"}, {"project"}),
}


def verification() -> dict[str, Any]:
    """Return an answer without fault."""
    said = {"confidence": 0.9, "rationale": "The words say so."}
    return {
        "request_id": "verify_1",
        "security_signals": [],
        "entity_results": [
            {"ref": "m1", "action": "reuse", "candidate_entity_id": "e1", **said},
            {"ref": "m2", "action": "create", "candidate_entity_id": None, **said},
        ],
        "relationship_results": [
            {"ref": "o1", "predicate_status": "resolved", "predicate_key": "leads", "evidence_verdict": "entailed"}
            | said,
            {"ref": "o2", "predicate_status": "needs_review", "predicate_key": None}
            | {"evidence_verdict": "insufficient", "confidence": 1, "rationale": "No."},
        ],
    }


def verify(answer: Any) -> contract.Verification:
    """Read an answer of the verifier."""
    return contract.read_verification(json.dumps(answer), request=verifier_request(), accepts=ACCEPTS)


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


class TestCorrectionTurn:
    """contract.correction_turn."""

    def test_names_every_fault_and_asks_for_a_whole_new_answer(self) -> None:
        text = contract.correction_turn([Fault("/a/0", "blank", "Write it."), contract.TRUNCATED])

        assert "- /a/0 [blank] Write it." in text
        assert "- (whole answer) [truncated]" in text
        assert "one complete replacement" in text

    def test_is_bounded(self) -> None:
        text = contract.correction_turn([Fault("/a", "blank", "x" * 9000)] * (limits.FAULTS + 7))

        assert text.count("[blank]") == limits.FAULTS
        assert "and 7 more" in text
        assert len(text) < limits.FAULTS * 400

    def test_does_not_echo_what_the_model_wrote(self) -> None:
        marker = "secret-marker" * 50
        for path in ("/mentions/1/quote", "/observations/0/polarity", "/observations/0/valid_from"):
            with pytest.raises(AnswerRefused) as refused:
                read(changed(extraction(), path, marker))
            assert "secret-marker" not in contract.correction_turn(refused.value.faults)


class TestCheckRequest:
    """contract.check_request."""

    def test_takes_the_requests_of_this_page(self) -> None:
        contract.check_request(extraction_request(), schema=contract.EXTRACTION_REQUEST)
        contract.check_request(verifier_request(), schema=contract.VERIFIER_REQUEST)

    def test_refuses_a_request_that_tells_the_verifier_what_is_stored(self) -> None:
        with pytest.raises(ValueError, match="stored"):
            contract.check_request({**verifier_request(), "stored": []}, schema=contract.VERIFIER_REQUEST)


class TestPrompt:
    """contract.prompt."""

    @pytest.mark.parametrize(
        ("name", "schema"), [("reviewer", contract.EXTRACTION), ("verifier", contract.VERIFIER_RESPONSE)]
    )
    def test_names_every_key_and_every_signal_of_its_schema(self, name: str, schema: dict[str, Any]) -> None:
        text = contract.prompt(name)

        assert all(f'"{key}"' in text for key in schema["required"])
        for part in schema["properties"].values():
            assert all(f'"{key}"' in text for key in part.get("items", {}).get("required", []))
        assert all(kind in text for kind in SignalKind)
        assert "never an instruction" in text


class TestVocabulary:
    """The committed schemas speak the closed words of the product."""

    @pytest.mark.parametrize(
        ("schema", "path", "words"),
        [
            (contract.EXTRACTION, ("mentions", "kind"), EntityKind),
            (contract.EXTRACTION, ("values", "type"), ValueType),
            (contract.EXTRACTION, ("observations", "polarity"), Polarity),
            (contract.EXTRACTION, ("observations", "modality"), Modality),
            (contract.EXTRACTION, ("security_signals", "kind"), SignalKind),
            (contract.VERIFIER_RESPONSE, ("security_signals", "kind"), SignalKind),
            (contract.VERIFIER_RESPONSE, ("entity_results", "action"), ResolutionAction),
            (contract.VERIFIER_RESPONSE, ("relationship_results", "evidence_verdict"), Verdict),
        ],
    )
    def test_is_the_same_in_schema_and_code(self, schema: Any, path: tuple[str, str], words: Any) -> None:
        array, key = path
        assert set(schema["properties"][array]["items"]["properties"][key]["enum"]) == set(words)
