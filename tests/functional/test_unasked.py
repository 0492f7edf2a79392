"""What is decided without a question: to forget a Relationship, to try a failed text again."""

import pytest
from django.utils import timezone

from densemem.auth import Principal
from densemem.core.faults import NotThere, Refused
from densemem.providers.scripted import Scripted
from entities.models import Entity
from placement.decide import retry
from placement.models import Item
from placement.tasks import drain
from relationships.models import (
    EvidenceSupport,
    RelationshipRecord,
    SemanticEdge,
    Transition,
)
from review.models import Decision, Task
from tests.deciding import PROOF, TEXT, WORKS, answer, open_task, place, retracted
from tests.said import model, say, send

pytestmark = pytest.mark.usefixtures("sound")


class TestForget:
    def test_takes_the_edge_out_and_keeps_nodes_and_history(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        record = RelationshipRecord.objects.get()

        done = retracted(ada, record)

        record.refresh_from_db()
        assert (record.status, record.held_by_person) == ("retracted", True)
        assert not SemanticEdge.objects.exists()
        assert (Entity.objects.count(), EvidenceSupport.objects.count()) == (2, 1)
        step = Transition.objects.order_by("-version").first()
        assert step is not None
        assert (step.reason, step.actor_id) == ("forgotten_by_owner", ada.profile_id)
        assert (done.compensation, done.relationship_id) == ("lift", record.id)

    def test_is_the_owners_alone(self, ada: Principal, bo: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS)
        record = RelationshipRecord.objects.get()

        for other in (bo, cy):
            with pytest.raises(Refused) as refused:
                retracted(other, record)
            assert refused.value.code == "not_owner"
        record.refresh_from_db()
        assert record.status == "active"

    def test_of_another_team_finds_nothing(self, ada: Principal, stranger: Principal) -> None:
        say(ada, TEXT, WORKS)

        with pytest.raises(NotThere):
            retracted(stranger, RelationshipRecord.objects.get())

    def test_of_an_older_version_is_refused(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        record = RelationshipRecord.objects.get()
        say(ada, f"Yes. {TEXT}", WORKS)

        with pytest.raises(Refused) as refused:
            retracted(ada, record)

        assert refused.value.code == "version_stale"

    def test_stays_when_it_is_said_again_and_asks_the_owner(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        retracted(ada, RelationshipRecord.objects.get())

        say(ada, "Mara Lind still works on Harbor.", WORKS, source_key="wiki", source_revision="1")

        record = RelationshipRecord.objects.get()
        assert (record.status, record.support_count) == ("retracted", 2)
        assert open_task().reason == "stated_again_after_retracted"

    def test_is_lifted_when_the_owner_accepts_what_was_said_again(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        retracted(ada, RelationshipRecord.objects.get())
        say(ada, "Mara Lind still works on Harbor.", WORKS, source_key="wiki", source_revision="1")

        answer(ada, open_task(), "accept", evidence=PROOF)
        drain(using=model(), linger=False)

        record = RelationshipRecord.objects.get()
        assert (record.status, record.tier, record.held_by_person) == ("active", "fact", False)

    def test_closes_the_questions_about_the_record(self, ada: Principal, conflict: Task) -> None:
        record = RelationshipRecord.objects.get(pk=conflict.relationship_id)

        retracted(ada, record)

        assert Task.objects.get(pk=conflict.id).status == "canceled"
        assert Item.objects.get(pk=conflict.item_id).state == "completed"


class TestRetry:
    def test_places_a_failed_text_again_and_is_recorded(self, ada: Principal) -> None:
        failed = say(ada, TEXT, using=Scripted(lambda call: "no JSON"))
        assert failed.processing_state == "failed"

        done = retry(
            principal=ada,
            ingest_id=failed.ingest_id,
            body={"reason": "The model is back."},
            idempotency_key="r",
            now=timezone.now(),
        )
        view = place(done, ada, WORKS)

        assert view.processing_state == "completed"
        made = Decision.objects.get()
        assert (made.action, made.owner_id, made.message) == ("retry", ada.profile_id, "The model is back.")

    @pytest.mark.parametrize("who", ["bo", "cy"])
    def test_is_the_owners_or_a_managers(self, ada: Principal, bo: Principal, cy: Principal, who: str) -> None:
        failed = say(ada, TEXT, using=Scripted(lambda call: "no JSON"))
        asked = {"ingest_id": failed.ingest_id, "body": {"reason": "Again."}, "idempotency_key": "r"}

        if who == "cy":
            assert retry(principal=cy, now=timezone.now(), **asked).processing_state == "queued"
        else:
            with pytest.raises(Refused) as refused:
                retry(principal=bo, now=timezone.now(), **asked)
            assert refused.value.code == "not_owner"

    def test_of_what_did_not_fail_is_refused(self, ada: Principal) -> None:
        ingest_id = send(ada, TEXT)

        with pytest.raises(Refused) as refused:
            retry(
                principal=ada,
                ingest_id=ingest_id,
                body={"reason": "Again."},
                idempotency_key="r",
                now=timezone.now(),
            )

        assert refused.value.code == "nothing_failed"
