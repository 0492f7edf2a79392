"""A text that its owner withdraws, and a support that a manager lets count again."""

import pytest

from densemem.auth import Principal
from densemem.core import limits
from densemem.core.faults import NotThere, Refused
from evidence.models import FragmentRetirement
from placement.decide import dispute, reinstate_support, retire_evidence
from placement.models import Item
from placement.tasks import drain
from relationships.models import (
    ConflictCase,
    CrossReference,
    EvidenceSupport,
    RelationshipRecord,
    SearchDocument,
    SupportDecision,
)
from review.models import Decision, Task
from tests.deciding import GRAZ, PORTO, TEXT, WORKS, answer, hold, hold_back, open_task, reasoned
from tests.said import Fact, model, say, send

pytestmark = pytest.mark.usefixtures("sound")


def the_record(**fields: object) -> RelationshipRecord:
    return RelationshipRecord.objects.get(**fields)


class TestRetireEvidence:
    def test_judges_what_rests_on_the_text_again_without_it(self, ada: Principal) -> None:
        view = say(ada, TEXT, WORKS)

        done = reasoned(retire_evidence, ada, fragment_id=view.items[0].evidence_id)

        assert (the_record().status, the_record().support_count) == ("pending_evidence", 0)
        assert not SearchDocument.objects.get().eligible
        step = SupportDecision.objects.latest("seq")
        assert (step.action, step.reason, step.actor_id) == ("revoke", "evidence_retired", ada.profile_id)
        assert FragmentRetirement.objects.get().by_profile_id == ada.profile_id
        assert (done.compensation, [c.status for c in done.changes]) == (None, ["pending_evidence"])

    def test_ends_the_work_on_it_and_what_is_asked_about_it(self, ada: Principal, conflict: Task) -> None:
        item = Item.objects.get(pk=conflict.item_id)

        reasoned(retire_evidence, ada, fragment_id=item.fragment_id)

        item.refresh_from_db()
        assert (item.state, item.reason) == ("superseded", "evidence_retired")
        assert Task.objects.get(pk=conflict.id).status == "canceled"

    def test_ends_what_still_waits_for_its_worker(self, ada: Principal) -> None:
        send(ada, TEXT)
        item = Item.objects.get()

        reasoned(retire_evidence, ada, fragment_id=item.fragment_id)

        item.refresh_from_db()
        assert (item.state, RelationshipRecord.objects.count()) == ("superseded", 0)

    def test_is_its_owners_alone(self, ada: Principal, bo: Principal, cy: Principal) -> None:
        view = say(ada, TEXT, WORKS)

        for other in (bo, cy):
            with pytest.raises(Refused) as refused:
                reasoned(retire_evidence, other, fragment_id=view.items[0].evidence_id)
            assert (refused.value.code, refused.value.because.value) == ("not_owner", 403)

    def test_of_another_team_finds_nothing(self, ada: Principal, stranger: Principal) -> None:
        view = say(ada, TEXT, WORKS)

        with pytest.raises(NotThere):
            reasoned(retire_evidence, stranger, fragment_id=view.items[0].evidence_id)

    def test_twice_is_refused(self, ada: Principal) -> None:
        view = say(ada, TEXT, WORKS)
        reasoned(retire_evidence, ada, fragment_id=view.items[0].evidence_id)

        with pytest.raises(Refused) as refused:
            reasoned(retire_evidence, ada, fragment_id=view.items[0].evidence_id)

        assert (refused.value.code, refused.value.because.value) == ("evidence_retired", 409)

    def test_of_an_outdated_revision_is_refused(self, ada: Principal) -> None:
        view = say(ada, TEXT, WORKS, source_key="wiki", source_revision="1")
        say(ada, "Nothing.", source_key="wiki", source_revision="2", previous_source_revision="1")

        with pytest.raises(Refused) as refused:
            reasoned(retire_evidence, ada, fragment_id=view.items[0].evidence_id)

        assert refused.value.code == "revision_not_current"

    def test_that_changes_too_much_at_once_is_refused_whole(
        self, ada: Principal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        view = say(ada, TEXT, WORKS)
        monkeypatch.setattr(limits, "FANOUT_RECORDS", 0)

        with pytest.raises(Refused) as refused:
            reasoned(retire_evidence, ada, fragment_id=view.items[0].evidence_id)

        assert refused.value.code == "source_fanout_exceeded"
        assert (the_record().status, FragmentRetirement.objects.count()) == ("active", 0)


def held_and_released(who: Principal, manager: Principal, text: str = TEXT, fact: Fact = WORKS) -> EvidenceSupport:
    """Return the support of a text that was held after it was placed, and released; nothing is placed again yet."""

    view = say(who, text, fact)
    hold(manager, view.items[0].evidence_id)
    answer(manager, open_task(kind="policy_needs_review"), "release_quarantine", message="It is harmless.")
    return EvidenceSupport.objects.get(fragment_id=view.items[0].evidence_id)


class TestReinstateSupport:
    def test_lets_it_count_again_and_judges_the_record(self, ada: Principal, cy: Principal) -> None:
        support = held_and_released(ada, cy)
        assert the_record().status == "pending_evidence"

        done = reasoned(reinstate_support, cy, support_id=support.id)

        record = the_record()
        assert (record.status, record.tier, record.support_count) == ("active", "validated_claim", 1)
        assert SearchDocument.objects.get().eligible
        step = SupportDecision.objects.latest("seq")
        assert (step.action, step.actor_id) == ("reinstate", cy.profile_id)
        assert (done.relationship_id, done.compensation) == (record.id, "quarantine")
        assert Decision.objects.latest("seq").support_id == support.id

    def test_changes_nothing_more_when_the_text_is_placed_again(self, ada: Principal, cy: Principal) -> None:
        support = held_and_released(ada, cy)
        reasoned(reinstate_support, cy, support_id=support.id)

        drain(using=model(WORKS), linger=False)

        assert (the_record().status, the_record().support_count) == ("active", 1)

    def test_keeps_a_hold_of_the_owner(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, TEXT, WORKS)
        say(ada, f"Yes. {TEXT}", WORKS)
        support = EvidenceSupport.objects.get(fragment_id=view.items[0].evidence_id)
        hold_back(dispute, ada, the_record())
        hold(cy, view.items[0].evidence_id)

        answer(cy, open_task(kind="policy_needs_review"), "release_quarantine", message="It is harmless.")

        reasoned(reinstate_support, cy, support_id=support.id)

        record = the_record()
        assert (record.status, record.support_count, record.held_by_person) == ("disputed", 2, True)

    def test_meets_what_others_hold_by_now(self, ada: Principal, bo: Principal, cy: Principal) -> None:
        support = held_and_released(ada, cy, "Ivo lives in Graz.", GRAZ)
        Item.objects.update(available_at="2030-01-01T00:00:00Z")
        say(bo, "Ivo lives in Porto.", PORTO)

        reasoned(reinstate_support, cy, support_id=support.id)

        told = CrossReference.objects.get()
        assert (told.kind, told.author_id, told.source_relationship_id) == (
            "challenges",
            ada.profile_id,
            support.relationship_id,
        )
        case = ConflictCase.objects.get()
        assert (case.status, case.positions.count()) == ("open", 2)
        Item.objects.update(available_at="2026-01-01T00:00:00Z")

    def test_is_a_managers(self, ada: Principal, bo: Principal, cy: Principal) -> None:
        support = held_and_released(ada, cy)

        for other in (ada, bo):
            with pytest.raises(Refused) as refused:
                reasoned(reinstate_support, other, support_id=support.id)
            assert (refused.value.code, refused.value.because.value) == ("not_manager", 403)

    def test_of_another_team_finds_nothing(self, ada: Principal, cy: Principal, stranger: Principal) -> None:
        support = held_and_released(ada, cy)

        with pytest.raises(NotThere):
            reasoned(reinstate_support, stranger, support_id=support.id)

    def test_of_a_text_that_is_held_is_refused(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, TEXT, WORKS)
        hold(cy, view.items[0].evidence_id)

        with pytest.raises(Refused) as refused:
            reasoned(reinstate_support, cy, support_id=EvidenceSupport.objects.get().id)

        assert refused.value.code == "evidence_held"

    def test_of_a_withdrawn_text_is_refused(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, TEXT, WORKS)
        reasoned(retire_evidence, ada, fragment_id=view.items[0].evidence_id)

        with pytest.raises(Refused) as refused:
            reasoned(reinstate_support, cy, support_id=EvidenceSupport.objects.get().id)

        assert refused.value.code == "evidence_retired"

    def test_of_an_outdated_revision_is_refused(self, ada: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS, source_key="wiki", source_revision="1")
        say(ada, "Nothing.", source_key="wiki", source_revision="2", previous_source_revision="1")

        with pytest.raises(Refused) as refused:
            reasoned(reinstate_support, cy, support_id=EvidenceSupport.objects.get().id)

        assert refused.value.code == "revision_not_current"

    def test_of_what_counts_is_refused(self, ada: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS)

        with pytest.raises(Refused) as refused:
            reasoned(reinstate_support, cy, support_id=EvidenceSupport.objects.get().id)

        assert (refused.value.code, refused.value.because.value) == ("support_counts", 409)

    def test_makes_no_second_current_value(self, ada: Principal, cy: Principal) -> None:

        view = say(ada, "Ivo lives in Graz.", GRAZ)
        hold(cy, view.items[0].evidence_id)
        answer(cy, open_task(kind="policy_needs_review"), "release_quarantine", message="It is harmless.")
        support = EvidenceSupport.objects.get()
        Item.objects.filter(pk=Item.objects.get().pk).update(available_at="2030-01-01T00:00:00Z")
        say(ada, "Ivo lives in Porto.", PORTO)

        with pytest.raises(Refused) as refused:
            reasoned(reinstate_support, cy, support_id=support.id)

        assert refused.value.code == "meets_active_relationship"
        Item.objects.update(available_at="2026-01-01T00:00:00Z")
