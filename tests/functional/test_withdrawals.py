"""An answer that its author takes back."""

import pytest

from densemem.auth import Principal
from densemem.core.faults import NotThere, Refused
from entities.models import Entity, ResolutionEvent
from placement.decide import withdraw_decision
from placement.models import Item
from relationships.models import ObservationResolution, RelationshipRecord, SearchDocument, SupportDecision
from review.models import Decision, Task
from tests.deciding import (
    ALEX,
    GRAZ,
    HACKING,
    HACKS,
    PROOF,
    answer,
    corrected,
    nobody,
    open_task,
    place,
    reasoned,
    two_alexes,
)
from tests.said import Fact, say

pytestmark = pytest.mark.usefixtures("sound")


def the_record(**fields: object) -> RelationshipRecord:
    return RelationshipRecord.objects.get(**fields)


def accepted(who: Principal, conflict: Task) -> Decision:
    """Accept what is held, and return the decision once it was carried out."""
    place(answer(who, conflict, "accept", evidence=PROOF), who)
    return Decision.objects.get(task=conflict)


def choose(who: Principal, task: Task, *facts: Fact) -> Decision:
    """Choose what a wording means, and return the decision once it was carried out."""
    chosen = {"observation_id": str(task.observation_id), "predicate_key": facts[0].key, "predicate_version": 1}
    place(answer(who, task, "select_predicate", **chosen), who, *facts)
    return Decision.objects.get(task=task)


def outcome_of(made: Decision) -> object:
    """Return the record that the observation of a decision belongs to."""
    return ObservationResolution.objects.filter(observation=made.observation_id).latest("seq").relationship_id


class TestWithdraw:
    def test_of_an_acceptance_gives_the_old_back_and_asks_again(self, ada: Principal, conflict: Task) -> None:
        new, old = conflict.relationship_id, conflict.rival_id
        made = accepted(ada, conflict)
        assert (the_record(pk=new).status, the_record(pk=old).status) == ("active", "superseded")

        done = reasoned(withdraw_decision, ada, decision_id=made.id)

        assert (the_record(pk=new).status, the_record(pk=new).support_count) == ("needs_review", 0)
        assert (the_record(pk=old).status, the_record(pk=old).tier) == ("active", "validated_claim")
        assert SearchDocument.objects.get(eligible=True).relationship_id == old
        step = SupportDecision.objects.latest("seq")
        assert (step.action, step.reason, step.actor_id) == ("revoke", "decision_withdrawn", ada.profile_id)
        assert open_task().observation_id == conflict.observation_id
        assert (done.action, done.processing_state, done.compensation) == ("withdraw", "awaiting_review", None)

    def test_lets_the_question_be_answered_again(self, ada: Principal, conflict: Task) -> None:
        made = accepted(ada, conflict)
        reasoned(withdraw_decision, ada, decision_id=made.id)

        accepted(ada, open_task())

        assert the_record(pk=conflict.relationship_id).status == "active"
        assert the_record(pk=conflict.rival_id).status == "superseded"

    def test_of_a_predicate_leaves_its_statement_without_support(self, ada: Principal) -> None:
        say(ada, HACKING, HACKS)
        task = open_task(kind="predicate_needs_review")
        chosen = {"observation_id": str(task.observation_id), "predicate_key": "works_on", "predicate_version": 1}
        place(answer(ada, task, "select_predicate", **chosen), ada, HACKS)
        assert the_record().status == "active"

        reasoned(withdraw_decision, ada, decision_id=Decision.objects.get().id)

        assert (the_record().status, the_record().support_count) == ("pending_evidence", 0)
        again = open_task(kind="predicate_needs_review")
        place(answer(ada, again, "select_predicate", **chosen), ada, HACKS)
        assert (the_record().status, the_record().support_count) == ("active", 1)

    def test_of_an_entity_leaves_the_mention_open_for_another(self, ada: Principal) -> None:
        one, two = two_alexes(ada)
        say(ada, "Alex works on Harbor.", ALEX)
        task = open_task(kind="identity_needs_review")
        place(
            answer(ada, task, "select_entity", entity_ref="Alex", candidate_entity_id=str(one.id)), ada, using=nobody()
        )
        assert the_record(subject_entity=one, predicate_key="works_on").status == "active"

        reasoned(withdraw_decision, ada, decision_id=Decision.objects.get().id)
        again = open_task(kind="identity_needs_review")
        place(
            answer(ada, again, "select_entity", entity_ref="Alex", candidate_entity_id=str(two.id)), ada, using=nobody()
        )

        assert the_record(subject_entity=one, predicate_key="works_on").status == "pending_evidence"
        assert the_record(subject_entity=two, predicate_key="works_on").status == "active"
        steps = ResolutionEvent.objects.filter(item=task.item_id, mention_ref="Alex").order_by("seq")
        assert list(steps.values_list("entity_id", flat=True)) == [None, one.id, None, two.id]
        assert Entity.objects.filter(names__key="alex").distinct().count() == 2

    def test_of_a_rejection_reopens_it(self, ada: Principal, conflict: Task) -> None:
        place(answer(ada, conflict, "reject", message="Wrong."), ada, using=nobody())
        record = the_record(pk=conflict.relationship_id)
        assert (record.status, record.held_by_person) == ("rejected", True)

        done = reasoned(withdraw_decision, ada, decision_id=Decision.objects.get().id)

        record.refresh_from_db()
        assert (record.status, record.held_by_person) == ("needs_review", False)
        assert (done.action, Item.objects.get(pk=conflict.item_id).state) == ("reopen", "awaiting_review")
        accepted(ada, open_task())
        record.refresh_from_db()
        assert record.status == "active"

    def test_leaves_what_was_decided_later_about_another_statement(self, ada: Principal) -> None:
        steers = Fact("Mara Lind", "steers", "Beacon", "works_on")
        say(ada, "Mara Lind is hacking on Harbor and steers Beacon.", HACKS, steers)
        first, second = (choose(ada, task, HACKS, steers) for task in Task.objects.order_by("observation__ref"))

        reasoned(withdraw_decision, ada, decision_id=first.id)

        assert the_record(pk=outcome_of(first)).status == "pending_evidence"
        assert the_record(pk=outcome_of(second)).status == "active"
        assert open_task().observation_id == first.observation_id
        reasoned(withdraw_decision, ada, decision_id=second.id)
        assert the_record(pk=outcome_of(second)).status == "pending_evidence"

    def test_waits_for_the_withdrawal_of_what_rests_on_it(self, ada: Principal) -> None:
        homes = Fact("Ivo", "nests in", "Porto", "lives_in", object_kind="place")
        say(ada, "Ivo lives in Graz.", GRAZ, observed_at="2026-05-01T00:00:00Z")
        say(ada, "Ivo nests in Porto.", homes, observed_at="2026-04-01T00:00:00Z")
        first = choose(ada, open_task(), homes)
        second = accepted(ada, open_task(kind="relationship_needs_review"))

        with pytest.raises(Refused) as refused:
            reasoned(withdraw_decision, ada, decision_id=first.id)

        assert (refused.value.code, refused.value.because.value) == ("decided_since", 409)
        assert [str(second.id) in f.detail for f in refused.value.faults] == [True]
        reasoned(withdraw_decision, ada, decision_id=second.id)
        reasoned(withdraw_decision, ada, decision_id=first.id)
        assert open_task().kind == "predicate_needs_review"

    def test_after_a_correction_of_what_it_granted_is_refused_and_names_it(
        self, ada: Principal, conflict: Task
    ) -> None:
        made = accepted(ada, conflict)
        fixed = corrected(ada, the_record(pk=conflict.relationship_id), valid_from="2026-01-01")

        with pytest.raises(Refused) as refused:
            reasoned(withdraw_decision, ada, decision_id=made.id)

        assert (refused.value.code, str(fixed.decision_id) in refused.value.faults[0].detail) == ("decided_since", True)
        assert the_record(status="active").valid_from is not None

    def test_after_a_correction_that_was_corrected_back_takes_the_grant_back(
        self, ada: Principal, conflict: Task
    ) -> None:
        made = accepted(ada, conflict)
        corrected(ada, the_record(pk=conflict.relationship_id), valid_from="2026-01-01")
        corrected(ada, the_record(status="active"), valid_from=None)

        reasoned(withdraw_decision, ada, decision_id=made.id)

        assert the_record(status="active").id == conflict.rival_id

    def test_twice_is_refused(self, ada: Principal, conflict: Task) -> None:
        made = accepted(ada, conflict)
        reasoned(withdraw_decision, ada, decision_id=made.id)

        with pytest.raises(Refused) as refused:
            reasoned(withdraw_decision, ada, decision_id=made.id)

        assert (refused.value.code, refused.value.because.value) == ("withdrawn_already", 409)

    def test_of_what_was_not_carried_out_is_refused(self, ada: Principal, conflict: Task) -> None:
        answer(ada, conflict, "accept", evidence=PROOF)

        with pytest.raises(Refused) as refused:
            reasoned(withdraw_decision, ada, decision_id=Decision.objects.get().id)

        assert refused.value.code == "item_in_work"

    def test_of_an_acknowledgment_is_refused(self, ada: Principal, conflict: Task) -> None:
        answer(ada, conflict, "acknowledge")

        with pytest.raises(Refused) as refused:
            reasoned(withdraw_decision, ada, decision_id=Decision.objects.get().id)

        assert refused.value.code == "not_withdrawable"

    def test_gives_nothing_back_beside_what_became_active_since(self, ada: Principal, conflict: Task) -> None:
        made = accepted(ada, conflict)
        say(ada, "Ivo lives in Oslo.", Fact("Ivo", "lives in", "Oslo", "lives_in", object_kind="place"))

        with pytest.raises(Refused) as refused:
            reasoned(withdraw_decision, ada, decision_id=made.id)

        assert refused.value.code == "meets_active_relationship"

    def test_is_its_authors_alone(self, ada: Principal, bo: Principal, cy: Principal, conflict: Task) -> None:
        made = accepted(ada, conflict)

        for other in (bo, cy):
            with pytest.raises(Refused) as refused:
                reasoned(withdraw_decision, other, decision_id=made.id)
            assert (refused.value.code, refused.value.because.value) == ("not_owner", 403)

    def test_of_another_team_finds_nothing(self, ada: Principal, stranger: Principal, conflict: Task) -> None:
        made = accepted(ada, conflict)

        with pytest.raises(NotThere):
            reasoned(withdraw_decision, stranger, decision_id=made.id)
