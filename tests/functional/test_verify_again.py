"""An observation that its owner has verified once more."""

from dataclasses import replace
from typing import Any

import pytest
from django.utils import timezone

from densemem.auth import Principal
from densemem.core.faults import NotThere, Refused
from densemem.providers.base import Stage
from entities.models import Value
from placement.decide import dispute, retire_evidence, verify_again
from placement.models import Item
from placement.tasks import drain
from relationships.models import (
    Observation,
    ObservationResolution,
    RelationshipRecord,
    SearchDocument,
    SupportDecision,
    VerificationEvent,
)
from tests.deciding import TEXT, WORKS, answer, corrected, hold, hold_back, open_task, place, reasoned
from tests.said import Fact, model, say

pytestmark = pytest.mark.usefixtures("sound")
COSTS = Fact(
    "Harbor",
    "costs",
    "40",
    "costs",
    subject_kind="project",
    value={"type": "number", "value": "40", "unit": "km"},
)


def the_record(**fields: Any) -> RelationshipRecord:
    return RelationshipRecord.objects.get(**fields)


def judged_anew(who: Principal, observation: Observation, verdict: str, *facts: Fact) -> None:
    """Have an observation verified once more, by a model that finds what the verdict says."""
    done = reasoned(verify_again, who, observation_id=observation.id)
    place(done, who, *(replace(f, verdict=verdict) for f in facts or (WORKS,)))


class TestVerifyAgain:
    def test_asks_the_verifier_alone_and_appends_one_event_with_its_reason(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        seen = Observation.objects.get()
        using = model(WORKS)

        done = reasoned(verify_again, ada, observation_id=seen.id)
        place(done, ada, using=using)

        assert [call.stage for call in using.calls] == [Stage.VERIFY]
        events = VerificationEvent.objects.filter(observation=seen).order_by("seq").values_list("cycle", "reason")
        assert list(events) == [(1, ""), (3, "It was wrong.")]  # the item ended in its second version
        assert (the_record().status, the_record().version, Observation.objects.count()) == ("active", 1, 1)
        assert (done.processing_state, done.check_after_seconds, done.compensation) == ("queued", 1, None)

    @pytest.mark.parametrize("verdict", ["contradicted", "insufficient"])
    def test_revokes_the_support_of_what_the_text_does_not_say(self, ada: Principal, verdict: str) -> None:
        say(ada, TEXT, WORKS)

        judged_anew(ada, Observation.objects.get(), verdict)

        assert (the_record().status, the_record().support_count) == ("pending_evidence", 0)
        step = SupportDecision.objects.latest("seq")
        assert (step.action, step.reason, step.actor_id) == ("revoke", "verified_again", ada.profile_id)
        assert not SearchDocument.objects.get().eligible
        expected = {"contradicted": "relationship_rejected", "insufficient": "relationship_pending_evidence"}
        assert ObservationResolution.objects.latest("seq").outcome == expected[verdict]

    def test_leaves_what_other_evidence_says(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        first = Observation.objects.get()
        say(ada, "Mara Lind still works on Harbor.", WORKS, source_key="wiki", source_revision="1")
        assert the_record().tier == "fact"

        judged_anew(ada, first, "contradicted")

        record = the_record()
        assert (record.status, record.tier, record.support_count) == ("active", "validated_claim", 1)

    def test_keeps_a_hold_and_counts_without_the_support(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        hold_back(dispute, ada, the_record())

        judged_anew(ada, Observation.objects.get(), "contradicted")

        assert (the_record().status, the_record().support_count) == ("disputed", 0)

    def test_reinstates_it_when_the_text_says_so_after_all(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        judged_anew(ada, Observation.objects.get(), "contradicted")

        judged_anew(ada, Observation.objects.get(), "entailed")

        assert (the_record().status, the_record().support_count) == ("active", 1)
        assert SupportDecision.objects.latest("seq").action == "reinstate"
        assert VerificationEvent.objects.count() == 3

    def test_takes_up_that_observation_alone(self, ada: Principal) -> None:
        other = Fact("Mara Lind", "lives in", "Graz", "lives_in", object_kind="place")
        say(ada, f"{TEXT} Mara Lind lives in Graz.", WORKS, other)
        seen = Observation.objects.get(ref="o1")

        judged_anew(ada, seen, "contradicted", WORKS, other)

        assert the_record(predicate_key="works_on").status == "active"
        assert the_record(predicate_key="lives_in").status == "pending_evidence"
        assert VerificationEvent.objects.exclude(reason="").get().observation_id == seen.id

    def test_twice_under_one_key_is_one_decision(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        given = {
            "principal": ada,
            "observation_id": Observation.objects.get().id,
            "body": {"reason": "Again."},
            "idempotency_key": "one",
        }

        first = verify_again(**given, now=timezone.now())
        drain(using=model(WORKS), linger=False)
        again = verify_again(**given, now=timezone.now())

        assert (again.replayed, again.decision_id) == (True, first.decision_id)
        assert Item.objects.get().state == "completed"

    def test_while_it_is_in_work_is_refused(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        seen = Observation.objects.get()
        reasoned(verify_again, ada, observation_id=seen.id)

        with pytest.raises(Refused) as refused:
            reasoned(verify_again, ada, observation_id=seen.id)

        assert (refused.value.code, refused.value.because.value) == ("item_in_work", 409)

    def test_of_a_text_that_is_held_or_withdrawn_is_refused(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, TEXT, WORKS)
        hold(cy, view.items[0].evidence_id)
        with pytest.raises(Refused) as held:
            reasoned(verify_again, ada, observation_id=Observation.objects.get().id)
        reasoned(retire_evidence, ada, fragment_id=view.items[0].evidence_id)

        with pytest.raises(Refused) as gone:
            reasoned(verify_again, ada, observation_id=Observation.objects.get().id)

        assert held.value.code == "evidence_held"
        assert gone.value.because.value == 409

    def test_of_what_was_read_anew_is_refused(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, TEXT, WORKS)
        old = Observation.objects.get()
        hold(cy, view.items[0].evidence_id)
        answer(cy, open_task(kind="policy_needs_review"), "release_quarantine", message="It is harmless.")
        drain(using=model(WORKS), linger=False)

        with pytest.raises(Refused) as refused:
            reasoned(verify_again, ada, observation_id=old.id)

        assert refused.value.code == "read_anew"

    def test_of_what_its_owner_corrected_is_refused(self, ada: Principal) -> None:
        say(ada, "Harbor costs 40.", COSTS)
        corrected(ada, the_record(), unit="mi")
        assert Value.objects.count() == 2

        with pytest.raises(Refused) as refused:
            reasoned(verify_again, ada, observation_id=Observation.objects.get().id)

        assert refused.value.code == "corrected"

    def test_is_its_owners_alone(self, ada: Principal, bo: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS)

        for other in (bo, cy):
            with pytest.raises(Refused) as refused:
                reasoned(verify_again, other, observation_id=Observation.objects.get().id)
            assert (refused.value.code, refused.value.because.value) == ("not_owner", 403)

    def test_of_another_team_finds_nothing(self, ada: Principal, stranger: Principal) -> None:
        say(ada, TEXT, WORKS)

        with pytest.raises(NotThere):
            reasoned(verify_again, stranger, observation_id=Observation.objects.get().id)


class TestReadAnew:
    """A text that was held and released is read anew, and its support is the one that it had."""

    @pytest.fixture
    def released(self, ada: Principal, cy: Principal) -> Observation:
        held = say(ada, "Harbor costs 40 km.", COSTS)
        hold(cy, held.items[0].evidence_id)
        place(answer(cy, open_task(), "release_quarantine", message="Fine."), cy, COSTS)
        return Observation.objects.latest("cycle")

    def test_loses_its_support_by_one_more_judgment(self, ada: Principal, released: Observation) -> None:
        judged_anew(ada, released, "insufficient", COSTS)

        assert (the_record().status, the_record().support_count) == ("pending_evidence", 0)

    def test_is_not_in_question_once_its_owner_corrected_it(self, ada: Principal, released: Observation) -> None:
        corrected(ada, the_record(), object_value={"type": "number", "value": "41", "unit": "km"})

        with pytest.raises(Refused) as refused:
            reasoned(verify_again, ada, observation_id=released.id)

        assert refused.value.code == "corrected"
