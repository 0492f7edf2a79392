"""How quality is counted."""

import pytest

from densemem.evals.scoring import ActiveFact, rate, score_knowledgenet, score_notes, wilson

FACT = {
    "subject": "Ana", "subject_kind": "person", "predicate": "leads", "object": "Harbor", "object_kind": "project", "polarity": "+",
    "ended": False, "must": True, "plain": True,
}  # fmt: skip
NOTE = {"id": "n1", "lang": "en", "trap": "plain", "text": "Ana leads Harbor.", "facts": [FACT], "must_not": []}


class TestWilson:
    def test_of_nothing_is_the_whole_range(self):
        assert wilson(0, 0) == (0.0, 1.0)

    def test_holds_the_share(self):
        low, high = wilson(95, 100)

        assert 0.88 < low < 0.95 < high < 0.98

    def test_rate_of_nothing_is_none(self):
        assert rate(0, 0)["rate"] is None


class TestScoreNotes:
    @pytest.mark.parametrize(
        "record, right",
        [
            (ActiveFact("ana ", "leads", "HARBOR"), 1),
            (ActiveFact("Harbor", "leads", "Ana"), 0),
            (ActiveFact("Ana", "leads", "Harbor", polarity="-"), 0),
            (ActiveFact("Ana", "leads", "Harbor", ended=True), 0),
            (ActiveFact("Ana", "owns", "Harbor"), 0),
        ],
    )
    def test_compares_ends_predicate_sign_and_time(self, record, right):
        report = score_notes([NOTE], {"n1": [record]})

        assert report["precision"]["hits"] == right
        assert report["recall_plain"]["hits"] == right
        assert len(report["wrong"]) == 1 - right

    def test_counts_a_silent_note_as_missed(self):
        report = score_notes([NOTE], {})

        assert report["recall_must"] == {
            "hits": 0,
            "of": 1,
            "rate": 0.0,
            "low": 0.0,
            "high": pytest.approx(0.7935, abs=1e-3),
        }
        assert report["missed_plain"][0]["fact"] == ["Ana", "leads", "Harbor"]

    def test_takes_symmetric_predicates_in_both_orders(self):
        note = NOTE | {"facts": [FACT | {"predicate": "married_to", "object": "Ben"}]}

        assert score_notes([note], {"n1": [ActiveFact("Ben", "married_to", "Ana")]})["precision"]["hits"] == 1

    @pytest.mark.parametrize("ended, hits", [(False, 1), (True, 0)])
    def test_forgives_an_ended_record_where_only_the_present_is_forbidden(self, ended, hits):
        forbidden = {key: FACT[key] for key in ("subject", "subject_kind", "predicate", "object", "polarity")}
        note = NOTE | {"facts": [], "must_not": [forbidden | {"why": "over", "only_if_current": True}]}

        assert (
            len(score_notes([note], {"n1": [ActiveFact("Ana", "leads", "Harbor", ended=ended)]})["forbidden"]) == hits
        )

    def test_matches_a_value_by_its_norm(self):
        label = FACT | {"predicate": "due_on", "value": "30 June 2025", "value_norm": "2025-06-30"}
        del label["object"]
        record = ActiveFact("Ana", "due_on", "June 30th", norm="2025-06-30")

        assert score_notes([NOTE | {"facts": [label]}], {"n1": [record]})["precision"]["hits"] == 1


class TestScoreKnowledgenet:
    PASSAGE = "Ana founded Kelp."
    ROW = {
        "passage": PASSAGE, "property": "FOUNDED_BY", "subject": {"start": 12, "end": 16, "text": "Kelp"},
        "object": {"start": 0, "end": 3, "text": "Ana"},
    }  # fmt: skip

    def test_turns_a_property_that_names_the_object_first(self):
        record = ActiveFact("Ana", "founded", "Kelp", subject_at=(0, 3), object_at=(12, 16))

        report = score_knowledgenet([self.ROW], {self.PASSAGE: [record]})

        assert (report["precision"]["hits"], report["recall_all"]["hits"], report["wrong"]) == (1, 1, [])

    def test_calls_swapped_ends_wrong(self):
        record = ActiveFact("Kelp", "founded", "Ana", subject_at=(12, 16), object_at=(0, 3))

        assert score_knowledgenet([self.ROW], {self.PASSAGE: [record]})["precision"]["hits"] == 0

    def test_judges_only_labelled_properties(self):
        record = ActiveFact("Ana", "lives_in", "Kelp", subject_at=(0, 3), object_at=(12, 16))

        report = score_knowledgenet([self.ROW], {self.PASSAGE: [record]})

        assert (report["active"], report["precision"]["of"]) == (1, 0)

    def test_counts_a_property_without_a_predicate_among_all_facts(self):
        report = score_knowledgenet([self.ROW | {"property": "CHILD_OF"}], {})

        assert (report["recall_all"]["of"], report["recall_mapped"]["of"]) == (1, 0)
