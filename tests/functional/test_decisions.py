"""A person settles what policy held: each answer goes back to policy and comes out as knowledge, or does not."""

from uuid import UUID

import pytest
from django.utils import timezone

from densemem.auth import Principal, ScopeMissing
from densemem.core.faults import NotThere, Refused
from densemem.models import Team
from densemem.providers.base import Stage
from densemem.providers.scripted import Scripted
from entities.models import Entity, ResolutionEvent
from evidence.models import Fragment
from placement.decide import decide, retry
from placement.models import Item, ItemEvent
from placement.status import get_placement
from placement.tasks import drain
from relationships.models import (
    Lineage,
    Observation,
    RelationshipRecord,
    Transition,
    VerificationEvent,
)
from review.models import Decision, DecisionEvidence, DecisionUse, Task, TaskEvent
from review.queries import unused_answer
from tests.deciding import ALEX, ATTACK, HACKING, HACKS, PORTO, PROOF, answer, nobody, open_task, place, two_alexes
from tests.said import Fact, model, say, someone

pytestmark = pytest.mark.usefixtures("sound")


class TestSelectEntity:
    def test_settles_the_mention_and_makes_the_relationship_without_asking_a_model(self, ada: Principal) -> None:
        one, _ = two_alexes(ada)
        say(ada, "Alex works on Harbor.", ALEX)
        task = open_task()

        done = answer(ada, task, "select_entity", entity_ref="Alex", candidate_entity_id=str(one.id))
        view = place(done, ada, using=nobody())

        record = RelationshipRecord.objects.get(predicate_key="works_on")
        assert (record.subject_entity_id, record.status, record.tier) == (one.id, "active", "validated_claim")
        assert view.processing_state == "completed"
        assert Task.objects.get(pk=task.id).status == "resolved"
        assert done.compensation == "withdraw"

    def test_keeps_the_history_of_the_item_and_of_the_mention(self, ada: Principal) -> None:
        one, _ = two_alexes(ada)
        view = say(ada, "Alex works on Harbor.", ALEX)
        done = answer(ada, open_task(), "select_entity", entity_ref="Alex", candidate_entity_id=str(one.id))
        place(done, ada, using=nobody())

        item = view.items[0].item_id
        assert [e.state for e in ItemEvent.objects.filter(item_id=item).order_by("version")] == [
            "queued",
            "awaiting_review",
            "queued",
            "completed",
        ]
        assert ItemEvent.objects.get(item_id=item, version=3).actor_id == ada.profile_id
        events = ResolutionEvent.objects.filter(item_id=item, mention_ref="Alex").order_by("seq")
        assert [(e.action, e.reason) for e in events] == [
            ("ambiguous", "not_told_apart"),
            ("reuse", "selected_by_owner"),
        ]
        assert Observation.objects.filter(item_id=item).count() == 1
        assert VerificationEvent.objects.filter(observation__item_id=item).count() == 1

    def test_of_somebody_who_was_not_offered_is_refused(self, ada: Principal) -> None:
        two_alexes(ada)
        say(ada, "Alex works on Harbor.", ALEX)
        place_id = Entity.objects.filter(kind="place").first()
        assert place_id is not None

        with pytest.raises(Refused) as refused:
            answer(ada, open_task(), "select_entity", entity_ref="Alex", candidate_entity_id=str(place_id.id))

        assert refused.value.code == "candidate_not_offered"
        assert refused.value.faults[0].pointer == "/candidate_entity_id"
        assert not Decision.objects.exists()

    def test_of_an_entity_that_was_retired_meanwhile_asks_again(self, ada: Principal) -> None:
        one, _ = two_alexes(ada)
        say(ada, "Alex works on Harbor.", ALEX)
        done = answer(ada, open_task(), "select_entity", entity_ref="Alex", candidate_entity_id=str(one.id))
        Entity.objects.filter(pk=one.id).update(status="retired")

        view = place(done, ada, using=nobody())

        assert view.processing_state == "awaiting_review"
        assert open_task().kind == "identity_needs_review"
        assert not RelationshipRecord.objects.filter(predicate_key="works_on").exists()


class TestConfirmNewEntity:
    def test_makes_one_beside_those_of_the_same_name(self, ada: Principal) -> None:
        known = two_alexes(ada)
        say(ada, "Alex works on Harbor.", ALEX)

        done = answer(ada, open_task(), "confirm_new_entity", entity_ref="Alex", evidence=PROOF)
        drain(using=model(), linger=False)

        record = RelationshipRecord.objects.get(predicate_key="works_on")
        assert record.subject_entity_id not in {e.id for e in known}
        assert Entity.objects.filter(names__key="alex").distinct().count() == 3
        assert done.evidence_ingest_id is not None

    def test_stages_and_scans_its_evidence_as_any_other(self, ada: Principal) -> None:
        two_alexes(ada)
        say(ada, "Alex works on Harbor.", ALEX)

        evidence = [{"content": f"New. {ATTACK}", "source_type": "manual"}]
        done = answer(ada, open_task(), "confirm_new_entity", entity_ref="Alex", evidence=evidence)

        fragment = Fragment.objects.get(ingest_id=done.evidence_ingest_id)
        assert Item.objects.get(fragment=fragment).state == "quarantined"
        assert DecisionEvidence.objects.get().fragment_id == fragment.id

    def test_may_cite_evidence_that_the_team_has(self, ada: Principal) -> None:
        two_alexes(ada)
        say(ada, "Alex works on Harbor.", ALEX)
        known = Fragment.objects.first()
        assert known is not None

        answer(ada, open_task(), "confirm_new_entity", entity_ref="Alex", fragment_ids=[str(known.id)])

        assert DecisionEvidence.objects.get().fragment_id == known.id

    def test_cannot_cite_what_is_held(self, ada: Principal) -> None:
        two_alexes(ada)
        say(ada, "Alex works on Harbor.", ALEX)
        held = say(ada, f"Hello. {ATTACK}")

        with pytest.raises(Refused) as refused:
            answer(
                ada,
                open_task(kind="identity_needs_review"),
                "confirm_new_entity",
                entity_ref="Alex",
                fragment_ids=[str(held.items[0].evidence_id)],
            )

        assert refused.value.code == "evidence_not_usable"


class TestSelectPredicate:
    def test_asks_the_verifier_once_more_and_binds_the_predicate(self, ada: Principal) -> None:
        say(ada, HACKING, HACKS)
        task = open_task()
        provider = model(HACKS)

        done = answer(
            ada,
            task,
            "select_predicate",
            observation_id=str(task.observation_id),
            predicate_key="works_on",
            predicate_version=1,
        )
        place(done, ada, using=provider)

        record = RelationshipRecord.objects.get()
        assert (record.predicate_key, record.status) == ("works_on", "active")
        assert [c.stage for c in provider.calls] == [Stage.VERIFY]
        assert VerificationEvent.objects.filter(observation_id=task.observation_id).count() == 2
        assert Observation.objects.count() == 1

    def test_answers_the_named_observation_alone_and_asks_about_the_rest(self, ada: Principal) -> None:
        say(ada, HACKING, HACKS)
        say(ada, f"Again: {HACKING}", HACKS)
        task = open_task()

        done = answer(
            ada,
            task,
            "select_predicate",
            observation_id=str(task.observation_id),
            predicate_key="works_on",
            predicate_version=1,
        )
        place(done, ada, HACKS)

        left = open_task()
        assert left.observation_id != task.observation_id
        assert RelationshipRecord.objects.get().support_count == 1

    def test_that_does_not_fit_its_ends_is_refused(self, ada: Principal) -> None:
        say(ada, HACKING, HACKS)
        task = open_task()

        with pytest.raises(Refused) as refused:
            answer(
                ada,
                task,
                "select_predicate",
                observation_id=str(task.observation_id),
                predicate_key="lives_in",
                predicate_version=1,
            )

        assert refused.value.code == "predicate_does_not_fit"

    def test_that_is_not_registered_is_refused(self, ada: Principal) -> None:
        say(ada, HACKING, HACKS)
        task = open_task()

        with pytest.raises(Refused) as refused:
            answer(
                ada,
                task,
                "select_predicate",
                observation_id=str(task.observation_id),
                predicate_key="haunts",
                predicate_version=1,
            )

        assert refused.value.code == "predicate_not_registered"


class TestHeldConflict:
    def test_accepted_activates_the_new_and_replaces_the_old(self, ada: Principal, conflict: Task) -> None:
        done = answer(ada, conflict, "accept", evidence=PROOF)
        drain(using=model(), linger=False)

        new = RelationshipRecord.objects.get(pk=conflict.relationship_id)
        old = RelationshipRecord.objects.get(pk=conflict.rival_id)
        assert (new.status, old.status) == ("active", "superseded")
        assert Lineage.objects.get().kind == "replaced"
        assert Transition.objects.get(relationship=new, status="active").actor_id == ada.profile_id
        assert get_placement(team_id=ada.team_id, ingest_id=done.ingest_id or UUID(int=0)).processing_state in (
            "completed",
        )

    def test_rejected_leaves_the_old_and_is_held_by_the_person(self, ada: Principal, conflict: Task) -> None:
        done = answer(ada, conflict, "reject", message="An old letter.")
        place(done, ada, using=nobody())

        new = RelationshipRecord.objects.get(pk=conflict.relationship_id)
        old = RelationshipRecord.objects.get(pk=conflict.rival_id)
        assert (new.tier, new.status, new.held_by_person) == ("candidate", "rejected", True)
        assert old.status == "active"
        assert done.compensation == "reopen"

    def test_corrected_is_read_anew_and_supersedes_as_a_mistake(self, ada: Principal, conflict: Task) -> None:
        done = answer(ada, conflict, "correct", evidence=PROOF)
        provider = model(PORTO)
        drain(using=provider, linger=False)

        new = RelationshipRecord.objects.get(pk=conflict.relationship_id)
        assert new.status == "active"
        assert Lineage.objects.get().kind == "corrected"
        assert Stage.EXTRACT in [c.stage for c in provider.calls]
        assert done.action == "correct"

    def test_is_answered_for_other_profiles_by_nobody(self, bo: Principal, cy: Principal, conflict: Task) -> None:
        for other in (bo, cy):
            with pytest.raises(Refused) as refused:
                answer(other, conflict, "accept", evidence=PROOF)
            assert refused.value.code == "not_owner"
        assert not Decision.objects.exists()


class TestDecision:
    def test_is_recorded_with_author_login_evidence_and_is_used_once(self, ada: Principal, conflict: Task) -> None:
        answer(ada, conflict, "accept", evidence=PROOF, message="Checked.")
        drain(using=model(), linger=False)

        made = Decision.objects.get()
        assert (made.owner_id, made.user_id, made.message) == (ada.profile_id, ada.user_id, "Checked.")
        assert made.evidence.count() == 1
        use = DecisionUse.objects.get()
        assert (use.decision_id, use.carried_out) == (made.id, True)
        assert unused_answer(team_id=ada.team_id, item_id=conflict.item_id) is None

    def test_is_the_same_under_the_same_key(self, ada: Principal, conflict: Task) -> None:
        version = Item.objects.get(pk=conflict.item_id).version
        first = answer(ada, conflict, "reject", message="No.", item_version=version, key="k")
        again = answer(ada, conflict, "reject", message="No.", item_version=version, key="k")

        assert again.decision_id == first.decision_id
        assert (first.replayed, again.replayed) == (False, True)
        assert Decision.objects.count() == 1

    def test_of_other_content_under_the_same_key_is_refused(self, ada: Principal, conflict: Task) -> None:
        answer(ada, conflict, "acknowledge", key="k")

        with pytest.raises(Refused) as refused:
            answer(ada, conflict, "reject", message="No.", key="k")

        assert refused.value.code == "idempotency_key_reused"

    def test_about_an_older_version_is_refused(self, ada: Principal, conflict: Task) -> None:
        with pytest.raises(Refused) as refused:
            answer(ada, conflict, "reject", message="No.", item_version=1)

        assert refused.value.code == "item_version_stale"
        assert Task.objects.get(pk=conflict.id).status == "open"

    def test_about_an_item_in_work_is_refused(self, ada: Principal) -> None:
        say(ada, f"{HACKING} Ivo is hacking on Skiff.", HACKS, Fact("Ivo", "is hacking on", "Skiff", "works_on"))
        fields = {"predicate_key": "works_on", "predicate_version": 1}
        first = open_task()
        answer(ada, first, "select_predicate", observation_id=str(first.observation_id), **fields)
        second = open_task()

        with pytest.raises(Refused) as refused:
            answer(ada, second, "select_predicate", observation_id=str(second.observation_id), **fields)

        assert refused.value.code == "item_in_work"

    def test_about_a_settled_question_is_refused(self, ada: Principal, conflict: Task) -> None:
        answer(ada, conflict, "reject", message="No.")
        drain(using=nobody(), linger=False)

        with pytest.raises(Refused) as refused:
            answer(ada, conflict, "reject", message="No.")

        assert refused.value.code == "task_settled"

    def test_that_does_not_fit_the_question_is_refused(self, ada: Principal, conflict: Task) -> None:
        with pytest.raises(Refused) as refused:
            answer(ada, conflict, "release_quarantine", message="No.")

        assert refused.value.code == "action_does_not_fit"

    def test_needs_the_write_scope(self, team: Team, conflict: Task) -> None:
        with pytest.raises(ScopeMissing):
            answer(someone(team, "Rex", scopes="read"), conflict, "acknowledge")

    def test_of_another_team_finds_no_task(self, stranger: Principal, conflict: Task) -> None:
        with pytest.raises(NotThere):
            answer(stranger, conflict, "acknowledge")

    def test_lists_every_missing_field(self, ada: Principal, conflict: Task) -> None:
        body = {"action": "accept", "entity_ref": "x"}
        with pytest.raises(Refused) as refused:
            decide(principal=ada, review_id=conflict.id, body=body, idempotency_key="k", now=timezone.now())

        assert [f.pointer for f in refused.value.faults] == ["/evidence", "/item_version", "/entity_ref"]

    def test_that_is_refused_stores_none_of_its_evidence(self, ada: Principal, conflict: Task) -> None:
        before = Fragment.objects.count()

        with pytest.raises(Refused):
            answer(ada, conflict, "accept", evidence=PROOF, item_version=1)

        assert Fragment.objects.count() == before

    def test_of_an_acknowledgment_keeps_the_question_open(self, ada: Principal, conflict: Task) -> None:
        done = answer(ada, conflict, "acknowledge", message="I look at it tomorrow.")

        assert Task.objects.get(pk=conflict.id).status == "acknowledged"
        assert [e.actor_id for e in TaskEvent.objects.filter(task=conflict).order_by("version")] == [
            None,
            ada.profile_id,
        ]
        assert done.compensation is None
        item = Item.objects.get(pk=conflict.item_id)
        assert (item.state, item.version) == ("awaiting_review", 2)

    def test_survives_a_failed_placement_and_a_retry(self, ada: Principal) -> None:
        say(ada, HACKING, HACKS)
        task = open_task()
        fields = {"observation_id": str(task.observation_id), "predicate_key": "works_on", "predicate_version": 1}
        done = answer(ada, task, "select_predicate", **fields)
        failed = place(done, ada, using=Scripted(lambda call: "no JSON"))
        assert (failed.processing_state, DecisionUse.objects.count()) == ("failed", 0)

        again = retry(
            principal=ada,
            ingest_id=failed.ingest_id,
            body={"reason": "The model is back."},
            idempotency_key="r",
            now=timezone.now(),
        )
        view = place(again, ada, HACKS)

        assert view.processing_state == "completed"
        assert RelationshipRecord.objects.get().predicate_key == "works_on"
        assert DecisionUse.objects.get().decision.action == "select_predicate"
