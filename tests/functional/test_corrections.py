"""A typed value, a unit or a validity that was wrong, and that its owner corrects."""

from dataclasses import replace
from typing import Any

import pytest

from densemem.auth import Principal
from densemem.core.faults import NotThere, Refused
from entities.models import Value
from placement.decide import dispute, retire_evidence, verify_again
from placement.status import IngestView
from relationships.models import (
    CrossReference,
    EvidenceSupport,
    Lineage,
    ObservationResolution,
    RelationshipRecord,
    SearchDocument,
    SupportDecision,
)
from review.models import Decision
from tests.deciding import PROOF, TEXT, WORKS, answer, corrected, hold, hold_back, open_task, place, reasoned, retracted
from tests.said import Fact, say

pytestmark = pytest.mark.usefixtures("sound")
COSTS = Fact(
    "Harbor",
    "costs",
    "40",
    "costs",
    subject_kind="project",
    value={"type": "number", "value": "40", "unit": "km"},
)
COST = "Harbor costs 40."
RIGHT = {"type": "money", "value": 40, "unit": "EUR"}
MONEY = Fact(
    "Harbor",
    "costs",
    "40",
    "costs",
    subject_kind="project",
    value={"type": "money", "value": "40", "unit": "EUR"},
)


def the_record(**fields: object) -> RelationshipRecord:
    return RelationshipRecord.objects.get(**fields)


def refusal(who: Principal, record: RelationshipRecord, **fields: Any) -> Refused:
    """Return why a correction is refused."""
    with pytest.raises(Refused) as refused:
        corrected(who, record, **fields)
    return refused.value


class TestCorrectRelationship:
    def test_lets_a_corrected_value_take_the_place_of_the_wrong_one(self, ada: Principal) -> None:
        say(ada, COST, COSTS)
        wrong = the_record()

        done = corrected(ada, wrong, object_value=RIGHT)

        wrong.refresh_from_db()
        right = the_record(status="active")
        value = Value.objects.get(pk=right.object_value_id)
        assert (value.type, value.canonical, value.unit, value.display) == ("money", "40", "EUR", "40 EUR")
        assert (right.tier, right.support_count, right.version) == ("validated_claim", 1, 1)
        assert (wrong.status, wrong.support_count) == ("superseded", 0)
        assert {(c.relationship_id, c.status) for c in done.changes} == {
            (wrong.id, "superseded"),
            (right.id, "active"),
        }
        assert done.compensation == "correct_relationship"

    def test_carries_each_support_over_as_it_is(self, ada: Principal) -> None:
        say(ada, COST, COSTS)
        say(ada, f"Yes. {COST}", COSTS, source_key="wiki", source_revision="1")
        wrong = the_record()

        corrected(ada, wrong, object_value=RIGHT)

        kept = ("observation_id", "verification_id", "fragment_id", "group_id", "authoritative", "start", "end")
        old = EvidenceSupport.objects.filter(relationship=wrong).order_by("fragment_id").values_list(*kept)
        new = EvidenceSupport.objects.exclude(relationship=wrong).order_by("fragment_id").values_list(*kept)
        assert (list(new), len(new)) == (list(old), 2)
        assert the_record(status="active").tier == "fact"
        steps = SupportDecision.objects.filter(reason="corrected_by_owner").values_list("action", "actor_id")
        assert sorted(steps) == sorted([("grant", ada.profile_id), ("revoke", ada.profile_id)] * 2)

    def test_says_what_took_its_place_and_where_the_observation_belongs(self, ada: Principal) -> None:
        say(ada, COST, COSTS)
        wrong = the_record()

        corrected(ada, wrong, object_value=RIGHT)

        right = the_record(status="active")
        assert Lineage.objects.values_list("kind", "predecessor_id", "successor_id").get() == (
            "corrected",
            wrong.id,
            right.id,
        )
        assert ObservationResolution.objects.latest("seq").relationship_id == right.id

    def test_moves_the_search_document(self, ada: Principal) -> None:
        say(ada, COST, COSTS)

        corrected(ada, the_record(), object_value=RIGHT)

        found = SearchDocument.objects.get(eligible=True)
        assert "40 EUR" in found.text
        assert SearchDocument.objects.get(eligible=False).relationship.status == "superseded"

    def test_of_the_unit_alone_keeps_the_value(self, ada: Principal) -> None:
        say(ada, COST, COSTS)

        corrected(ada, the_record(), unit="mi")

        value = Value.objects.get(pk=the_record(status="active").object_value_id)
        assert (value.type, value.canonical, value.unit) == ("number", "40", "mi")

    def test_of_a_bound_opens_or_sets_it(self, ada: Principal) -> None:
        say(ada, TEXT, Fact("Mara Lind", "works on", "Harbor", "works_on", valid_from="2026-01-01"))

        corrected(ada, the_record(), valid_from=None, valid_to="2027-01-01")

        right = the_record(status="active")
        assert (right.valid_from, right.valid_from_precision) == (None, None)
        assert (right.valid_to.year, right.valid_to_precision) == (2027, "day")

    def test_refers_to_what_others_say(self, ada: Principal, bo: Principal) -> None:
        say(bo, COST, MONEY)
        say(ada, COST, COSTS)

        corrected(ada, the_record(owner_id=ada.profile_id), object_value=RIGHT)

        mine = the_record(owner_id=ada.profile_id, status="active")
        kinds = CrossReference.objects.filter(source_relationship=mine).values_list("kind", flat=True)
        assert list(kinds) == ["confirms"]

    def test_reuses_the_owners_record_of_that_identity(self, ada: Principal) -> None:
        say(ada, COST, COSTS)
        wrong = the_record()
        corrected(ada, wrong, object_value=RIGHT)

        corrected(ada, the_record(status="active"), object_value={"type": "number", "value": "40", "unit": "km"})

        wrong.refresh_from_db()
        assert (wrong.status, wrong.support_count, RelationshipRecord.objects.count()) == ("active", 1, 2)
        corrected(ada, wrong, object_value=RIGHT)
        wrong.refresh_from_db()
        assert (wrong.status, Lineage.objects.count()) == ("superseded", 3)  # each time it was replaced

    def test_is_not_undone_when_the_same_is_misread_again(self, ada: Principal) -> None:
        say(ada, COST, COSTS)
        wrong = the_record()
        corrected(ada, wrong, object_value=RIGHT)

        say(ada, f"Yes. {COST}", COSTS)

        wrong.refresh_from_db()
        assert wrong.status == "superseded"
        assert the_record(status="active").id != wrong.id

    def test_may_bring_evidence_of_its_own(self, ada: Principal) -> None:
        say(ada, COST, COSTS)

        done = corrected(ada, the_record(), object_value=RIGHT, evidence=PROOF)

        assert done.evidence_ingest_id is not None
        assert Decision.objects.get().evidence.count() == 1

    def test_that_corrects_nothing_is_refused(self, ada: Principal) -> None:
        say(ada, COST, COSTS)

        refused = refusal(ada, the_record(), object_value={"type": "number", "value": "40.0", "unit": "km"})

        assert (refused.code, refused.because.value) == ("nothing_corrected", 409)

    @pytest.mark.parametrize(
        ("fields", "place", "code"),
        [
            ({}, "", "nothing_to_correct"),
            ({"object_value": {"type": "date", "value": "soon"}}, "/object_value", "date_malformed"),
            ({"object_value": RIGHT, "unit": "EUR"}, "/unit", "field_not_used"),
            ({"valid_to": "tomorrow"}, "/valid_to", "time_malformed"),
            ({"valid_from": "2026-03-01", "valid_to": "2026-02-01"}, "/valid_to", "window_is_empty"),
            ({"tier": "fact"}, "", "field_is_set_by_server"),
        ],
    )
    def test_names_the_place_of_every_fault(self, ada: Principal, fields: Any, place: str, code: str) -> None:
        say(ada, COST, COSTS)

        refused = refusal(ada, the_record(), **fields)

        assert refused.because.value == 422
        assert (place, code) in [(f.pointer, f.code) for f in refused.faults]

    def test_of_a_value_where_the_object_is_an_entity_is_refused(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)

        assert refusal(ada, the_record(), object_value=RIGHT).code == "object_is_entity"

    def test_to_a_type_that_the_predicate_has_not_is_refused(self, ada: Principal) -> None:
        say(ada, COST, COSTS)

        refused = refusal(ada, the_record(), object_value={"type": "date", "value": "2026-03-01"})

        assert refused.code == "type_does_not_fit"

    def test_of_what_is_not_active_is_refused(self, ada: Principal) -> None:
        say(ada, COST, COSTS)
        hold_back(dispute, ada, the_record())

        assert refusal(ada, the_record(), object_value=RIGHT).code == "not_active"

    def test_to_what_its_owner_took_out_is_refused(self, ada: Principal) -> None:
        view = say(ada, COST, MONEY)
        hold_back(dispute, ada, the_record())
        say(ada, COST, COSTS)

        assert refusal(ada, the_record(status="active"), object_value=RIGHT).code == "corrected_is_held"
        reasoned(retire_evidence, ada, fragment_id=view.items[0].evidence_id)

    def test_supersedes_nothing_beside_the_record(self, ada: Principal) -> None:
        first = Fact(
            "Harbor",
            "costs",
            "40",
            "costs",
            subject_kind="project",
            valid_to="2026-03-01",
            value=dict(COSTS.value or {}),
        )
        second = Fact(
            "Harbor",
            "costs",
            "50",
            "costs",
            subject_kind="project",
            valid_from="2026-03-01",
            value={"type": "number", "value": "50", "unit": "km"},
        )
        say(ada, COST, first)
        wrong = the_record()
        say(ada, "Harbor costs 50.", second)

        refused = refusal(ada, wrong, valid_to=None)

        assert (refused.code, refused.because.value) == ("meets_active_relationship", 409)
        assert RelationshipRecord.objects.filter(status="active").count() == 2

    def test_is_the_owners_alone(self, ada: Principal, bo: Principal, cy: Principal) -> None:
        say(ada, COST, COSTS)

        for other in (bo, cy):
            refused = refusal(other, the_record(), object_value=RIGHT)
            assert (refused.code, refused.because.value) == ("not_owner", 403)

    def test_of_another_team_finds_nothing(self, ada: Principal, stranger: Principal) -> None:
        say(ada, COST, COSTS)

        with pytest.raises(NotThere):
            corrected(stranger, the_record(), object_value=RIGHT)

    def test_of_an_older_version_is_refused(self, ada: Principal) -> None:
        say(ada, COST, COSTS)
        record = the_record()
        say(ada, f"Yes. {COST}", COSTS)

        refused = refusal(ada, record, expected=1, object_value=RIGHT)

        assert (refused.code, refused.because.value) == ("version_stale", 412)


def held_and_read_again(who: Principal, manager: Principal, view: IngestView, *facts: Fact) -> None:
    """Hold a text, release it, and let it say these facts when it is read anew."""
    hold(manager, view.items[0].evidence_id)
    answer(manager, open_task(kind="policy_needs_review"), "release_quarantine", message="It is harmless.")
    place(view, who, *facts)


class TestRelease:
    """Of a text in which its owner has corrected what was misread."""

    def test_leaves_the_correction_standing_when_the_same_is_misread_again(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, COST, COSTS)
        wrong = the_record()
        corrected(ada, wrong, object_value=RIGHT)
        right = the_record(status="active")

        held_and_read_again(ada, cy, view, COSTS)

        right.refresh_from_db()
        wrong.refresh_from_db()
        assert (right.status, right.tier, right.support_count) == ("active", "validated_claim", 1)
        assert (wrong.status, wrong.support_count) == ("superseded", 0)
        meant = ObservationResolution.objects.latest("seq")
        assert (meant.relationship_id, meant.object_value_id) == (right.id, right.object_value_id)
        with pytest.raises(Refused) as refused:
            reasoned(verify_again, ada, observation_id=meant.observation_id)
        assert refused.value.code == "corrected"

    def test_follows_a_correction_of_the_correction(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, COST, COSTS)
        corrected(ada, the_record(), object_value=RIGHT)
        corrected(ada, the_record(status="active"), valid_from="2026-01-01")
        last = the_record(status="active")

        held_and_read_again(ada, cy, view, COSTS)

        assert the_record(status="active").id == last.id

    def test_follows_an_owner_who_corrected_it_back(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, COST, COSTS)
        first = the_record()
        corrected(ada, first, object_value=RIGHT)
        corrected(ada, the_record(status="active"), object_value={"type": "number", "value": 40, "unit": "km"})
        assert the_record(status="active").id == first.id

        held_and_read_again(ada, cy, view, COSTS)

        assert the_record(status="active").id == first.id

    def test_keeps_what_the_owner_forgot_since(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, COST, COSTS)
        corrected(ada, the_record(), object_value=RIGHT)
        retracted(ada, the_record(status="active"))

        held_and_read_again(ada, cy, view, COSTS)

        assert sorted(RelationshipRecord.objects.values_list("status", flat=True)) == ["retracted", "superseded"]

    def test_gives_a_judgment_that_denies_the_misreading_no_power_over_what_is_right(
        self, ada: Principal, cy: Principal
    ) -> None:
        view = say(ada, COST, COSTS)
        wrong = the_record()
        corrected(ada, wrong, object_value=RIGHT)
        right = the_record(status="active")

        held_and_read_again(ada, cy, view, replace(COSTS, verdict="contradicted"))

        assert the_record(pk=wrong.id).status == "superseded"
        assert the_record(pk=right.id).status == "pending_evidence"

    def test_of_another_text_says_what_it_says(self, ada: Principal, cy: Principal) -> None:
        say(ada, COST, COSTS)
        wrong = the_record()
        corrected(ada, wrong, object_value=RIGHT)

        say(ada, f"Yes. {COST}", COSTS)

        assert (the_record(pk=wrong.id).status, the_record(pk=wrong.id).support_count) == ("superseded", 1)
