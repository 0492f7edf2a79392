"""What an owner holds back, and lifts."""

import pytest

from densemem.auth import Principal
from densemem.core.faults import NotThere, Refused
from placement.decide import dispute, lift
from placement.models import Item
from relationships.models import RelationshipRecord, SearchDocument, SemanticEdge, Transition
from review.models import Decision, Task
from tests.deciding import (
    GRAZ,
    PORTO,
    PROOF,
    TEXT,
    WORKS,
    answer,
    hold,
    hold_back,
    nobody,
    open_task,
    place,
    retracted,
)
from tests.said import Fact, say

pytestmark = pytest.mark.usefixtures("sound")
ENDED = Fact("Mara Lind", "works on", "Harbor", "works_on", valid_to="2027-03-01")


def the_record(**fields: object) -> RelationshipRecord:
    return RelationshipRecord.objects.get(**fields)


class TestDispute:
    def test_holds_a_record_back_and_its_search_document_follows(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)

        done = hold_back(dispute, ada, the_record())

        record = the_record()
        assert (record.status, record.tier, record.held_by_person) == ("disputed", "validated_claim", True)
        assert not SemanticEdge.objects.exists()
        assert not SearchDocument.objects.get().eligible
        assert (done.compensation, done.changes[0].status) == ("lift", "disputed")
        assert Decision.objects.get().message == "I doubt it."

    def test_is_cleared_by_no_recount(self, ada: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS)
        second = say(ada, "Mara Lind still works on Harbor.", WORKS, source_key="wiki", source_revision="1")
        hold_back(dispute, ada, the_record())

        hold(cy, second.items[0].evidence_id)

        record = the_record()
        assert (record.status, record.support_count, record.held_by_person) == ("disputed", 1, True)

    def test_stays_when_it_is_said_again_and_asks_the_owner(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        hold_back(dispute, ada, the_record())

        say(ada, "Mara Lind still works on Harbor.", WORKS, source_key="wiki", source_revision="1")

        assert (the_record().status, open_task().reason) == ("disputed", "stated_again_after_disputed")

    def test_twice_is_refused(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        hold_back(dispute, ada, the_record())

        with pytest.raises(Refused) as refused:
            hold_back(dispute, ada, the_record())

        assert (refused.value.code, refused.value.because.value) == ("step_refused", 409)

    def test_overrules_a_yes_that_waits_for_its_worker(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        retracted(ada, the_record())
        say(ada, "Mara Lind still works on Harbor.", WORKS, source_key="wiki", source_revision="1")
        done = answer(ada, open_task(), "accept", evidence=PROOF)
        hold_back(lift, ada, the_record())
        hold_back(dispute, ada, the_record())

        place(done, ada)

        assert the_record().status == "disputed"

    @pytest.mark.parametrize("done", [dispute, lift])
    def test_and_lifting_are_the_owners_alone(self, ada: Principal, bo: Principal, cy: Principal, done: object) -> None:
        say(ada, TEXT, WORKS)

        for other in (bo, cy):
            with pytest.raises(Refused) as refused:
                hold_back(done, other, the_record())
            assert (refused.value.code, refused.value.because.value) == ("not_owner", 403)

    @pytest.mark.parametrize("done", [dispute, lift])
    def test_and_lifting_find_nothing_of_another_team(self, ada: Principal, stranger: Principal, done: object) -> None:
        say(ada, TEXT, WORKS)

        with pytest.raises(NotThere):
            hold_back(done, stranger, the_record())

    @pytest.mark.parametrize("done", [dispute, lift])
    def test_and_lifting_refuse_an_older_version(self, ada: Principal, done: object) -> None:
        say(ada, TEXT, WORKS)

        with pytest.raises(Refused) as refused:
            hold_back(done, ada, the_record(), expected_version=7)

        assert (refused.value.code, refused.value.because.value) == ("version_stale", 412)


class TestLift:
    @pytest.mark.parametrize("take_out", ["dispute", "forget"])
    def test_judges_the_record_by_the_support_that_counts(self, ada: Principal, cy: Principal, take_out: str) -> None:
        say(ada, TEXT, WORKS)
        second = say(ada, "Mara Lind still works on Harbor.", WORKS, source_key="wiki", source_revision="1")
        assert the_record().tier == "fact"
        retracted(ada, the_record()) if take_out == "forget" else hold_back(dispute, ada, the_record())
        hold(cy, second.items[0].evidence_id)

        done = hold_back(lift, ada, the_record())

        record = the_record()
        assert (record.status, record.tier, record.held_by_person) == ("active", "validated_claim", False)
        assert SearchDocument.objects.get().eligible
        assert done.compensation == "dispute"
        step = Transition.objects.latest("seq")
        assert (step.reason, step.actor_id) == ("lifted_by_owner", ada.profile_id)

    def test_leaves_a_record_without_support_waiting_for_evidence(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, TEXT, WORKS)
        hold_back(dispute, ada, the_record())
        hold(cy, view.items[0].evidence_id)

        hold_back(lift, ada, the_record())

        assert (the_record().status, the_record().tier) == ("pending_evidence", "candidate")

    def test_answers_what_was_asked_about_the_hold(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        retracted(ada, the_record())
        say(ada, "Mara Lind still works on Harbor.", WORKS, source_key="wiki", source_revision="1")
        task = open_task()

        hold_back(lift, ada, the_record())

        assert (the_record().status, the_record().tier) == ("active", "fact")
        assert Task.objects.get(pk=task.id).status == "canceled"
        assert Item.objects.get(pk=task.item_id).state == "completed"

    def test_undoes_a_persons_rejection(self, ada: Principal, conflict: Task) -> None:
        place(answer(ada, conflict, "reject", message="Wrong."), ada, using=nobody())
        record = the_record(pk=conflict.relationship_id)
        assert record.status == "rejected"

        hold_back(lift, ada, record)

        record.refresh_from_db()
        assert (record.status, record.held_by_person) == ("pending_evidence", False)

    def test_of_what_nobody_took_out_is_refused(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)

        with pytest.raises(Refused) as refused:
            hold_back(lift, ada, the_record())

        assert (refused.value.code, refused.value.because.value) == ("nothing_to_lift", 409)

    def test_makes_no_second_current_value(self, ada: Principal) -> None:
        say(ada, "Ivo lives in Graz.", GRAZ)
        graz = the_record()
        hold_back(dispute, ada, graz)
        say(ada, "Ivo lives in Porto.", PORTO)

        with pytest.raises(Refused) as refused:
            hold_back(lift, ada, graz)

        assert (refused.value.code, refused.value.because.value) == ("meets_active_relationship", 409)
        assert the_record(status="active").id != graz.id

    def test_brings_nothing_back_that_was_closed_meanwhile(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        hold_back(dispute, ada, the_record())
        say(ada, f"Until March: {TEXT}", ENDED)

        with pytest.raises(Refused) as refused:
            hold_back(lift, ada, the_record(status="disputed"))

        assert [f.code for f in refused.value.faults] == ["period_closed"]

    def test_brings_nothing_back_whose_place_was_taken_before(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        say(ada, f"Until March: {TEXT}", ENDED)
        retracted(ada, the_record(status="superseded"))

        with pytest.raises(Refused) as refused:
            hold_back(lift, ada, the_record(status="retracted"))

        assert refused.value.code == "place_taken"
