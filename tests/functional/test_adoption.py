"""Another profile's evidence, adopted: whose it stays, whose it becomes, and what holds for both."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from densemem.audit.run import audit
from densemem.auth import Principal
from densemem.core import limits
from densemem.core.faults import NotThere, Refused
from densemem.models import Team
from evidence.models import Fragment
from placement.decide import adopt
from placement.models import Item
from placement.tasks import drain
from relationships.models import CrossReference, EvidenceSupport, RelationshipRecord, Transition
from review.models import Task
from tests.deciding import TEXT, WORKS, adopted, answer, hold, place, record_of
from tests.said import Fact, model, say, send, someone

pytestmark = pytest.mark.django_db

OTHER = Fact("Mara Lind", "works on", "Beacon", "works_on")


@pytest.fixture
def team() -> Team:
    return Team.objects.create(name="Northwind (sample)")


@pytest.fixture
def ada(team: Team) -> Principal:
    return someone(team, "Ada")


@pytest.fixture
def ben(team: Team) -> Principal:
    return someone(team, "Ben")


def refused(who: Principal, text: Fragment, **given: Any) -> str:
    """Return the code by which an adoption is refused."""
    with pytest.raises(Refused) as caught:
        adopted(who, text, **given)
    return caught.value.code


class TestAdoption:
    def test_makes_a_record_of_the_adopter_on_the_same_fragment_and_group(self, ada: Principal, ben: Principal) -> None:
        say(ada, TEXT, WORKS)
        text = Fragment.objects.get()

        done = adopted(ben, text)
        placed = place(done, ben, WORKS)

        assert placed.owner_profile_id == ben.profile_id
        theirs, mine = (EvidenceSupport.objects.get(owner_id=w.profile_id) for w in (ada, ben))
        assert (mine.fragment_id, mine.group_id) == (theirs.fragment_id, theirs.group_id)
        assert Fragment.objects.get().owner_id == ada.profile_id
        assert (record_of(ben).tier, record_of(ben).status) == ("validated_claim", "active")
        assert audit().differences == 0

    def test_is_said_by_a_reference_and_is_no_confirmation(self, ada: Principal, ben: Principal) -> None:
        say(ada, TEXT, WORKS)

        place(adopted(ben, Fragment.objects.get()), ben, WORKS)

        (reference,) = CrossReference.objects.all()
        assert (reference.kind, reference.author_id) == ("adopts_evidence_from", ben.profile_id)
        assert reference.target_relationship_id == record_of(ada).id

    def test_changes_nothing_of_its_author(self, ada: Principal, ben: Principal) -> None:
        say(ada, TEXT, WORKS)
        before = RelationshipRecord.objects.values().get()
        steps = Transition.objects.count()

        place(adopted(ben, Fragment.objects.get()), ben, WORKS)

        assert RelationshipRecord.objects.values().get(owner_id=ada.profile_id) == before
        assert Transition.objects.filter(relationship=before["id"]).count() == steps

    def test_promotes_only_beside_a_voice_of_the_adopters_own(self, ada: Principal, ben: Principal) -> None:
        say(ada, TEXT, WORKS)
        say(ben, "Mara Lind still works on Harbor.", WORKS)
        assert record_of(ben).tier == "validated_claim"

        place(adopted(ben, Fragment.objects.get(owner_id=ada.profile_id)), ben, WORKS)

        assert (record_of(ben).tier, record_of(ben).source_group_count) == ("fact", 2)
        assert record_of(ada).tier == "validated_claim"

    def test_twice_counts_once(self, ada: Principal, ben: Principal) -> None:
        say(ada, TEXT, WORKS)
        text = Fragment.objects.get()

        for _ in range(2):
            place(adopted(ben, text), ben, WORKS)

        assert record_of(ben).support_count == 1

    def test_takes_up_only_what_lies_in_the_spans(self, ada: Principal, ben: Principal) -> None:
        say(ada, TEXT, WORKS)

        placed = place(adopted(ben, Fragment.objects.get(), spans=[{"start": 0, "end": 9}]), ben, WORKS)

        assert placed.items[0].outcomes == ()
        assert not RelationshipRecord.objects.filter(owner_id=ben.profile_id).exists()

    def test_waits_for_its_worker_as_an_ingest_of_the_adopter(self, ada: Principal, ben: Principal) -> None:
        say(ada, TEXT, WORKS)

        done = adopted(ben, Fragment.objects.get())

        assert (done.processing_state, done.compensation) == ("queued", "forget")
        assert done.ingest_id != Fragment.objects.get().ingest_id

    def test_under_one_key_is_one(self, ada: Principal, ben: Principal) -> None:
        say(ada, TEXT, WORKS)
        text = Fragment.objects.get()
        body = {"fragment_id": str(text.id), "spans": [{"start": 0, "end": 5}]}

        one, two = (adopt(principal=ben, body=body, idempotency_key="k", now=timezone.now()) for _ in range(2))

        assert (two.decision_id, two.ingest_id, two.replayed) == (one.decision_id, one.ingest_id, True)

    def test_of_the_same_words_is_answered_with_the_earlier_one(self, ada: Principal, ben: Principal) -> None:
        say(ada, TEXT, WORKS)
        text, proposal = Fragment.objects.get(), {"entities": [{"ref": "m", "name": "Mara Lind"}]}
        one, other = adopted(ben, text), adopted(ben, text, proposal=proposal)

        again = [adopted(ben, text), adopted(ben, text, proposal=proposal)]

        assert [a.item_id for a in again] == [one.item_id, other.item_id]
        assert all(a.replayed for a in again)
        assert one.item_id != other.item_id

    def test_of_the_same_words_that_failed_is_made_anew(self, ada: Principal, ben: Principal) -> None:
        say(ada, TEXT, WORKS)
        text = Fragment.objects.get()
        one = adopted(ben, text)
        Item.objects.filter(pk=one.item_id).update(state="failed")

        assert adopted(ben, text).item_id != one.item_id

    def test_of_one_text_is_bounded_for_each_profile(
        self, ada: Principal, ben: Principal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(limits, "ADOPTIONS", 2)
        say(ada, TEXT, WORKS)
        text = Fragment.objects.get()
        for end in (4, 9):
            adopted(ben, text, spans=[{"start": 0, "end": end}])

        assert refused(ben, text) == "adopted_often"
        assert adopted(ben, text, spans=[{"start": 0, "end": 9}]).replayed

    def test_takes_no_proposal_that_the_text_does_not_bear_out(self, ada: Principal, ben: Principal) -> None:
        say(ada, TEXT, WORKS)
        entity = {
            "ref": "m",
            "name": "Mara Lind",
            "mentions": [{"evidence_index": 0, "start": 0, "end": 9, "surface": "Mara"}],
        }

        assert refused(ben, Fragment.objects.get(), proposal={"entities": [entity]}) == "invalid_request"


class TestRefusal:
    def test_of_a_fragment_of_another_team_tells_nothing(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        stranger = someone(Team.objects.create(name="Elsewhere (sample)"), "Eve")

        with pytest.raises(NotThere):
            adopted(stranger, Fragment.objects.get())

    def test_of_ones_own(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)

        assert refused(ada, Fragment.objects.get()) == "own_evidence"

    def test_of_a_text_that_is_held(self, ada: Principal, ben: Principal, team: Team) -> None:
        say(ada, TEXT, WORKS)
        hold(someone(team, "Cy", role="manager"), Fragment.objects.get().id)

        assert refused(ben, Fragment.objects.get()) == "evidence_held"

    def test_of_a_revision_that_was_replaced(self, ada: Principal, ben: Principal) -> None:
        say(ada, TEXT, WORKS, source_key="wiki", source_revision="1")
        text = Fragment.objects.get()
        send(ada, "All new.", source_key="wiki", source_revision="2", previous_source_revision="1")

        assert refused(ben, text) == "revision_not_current"

    def test_of_spans_that_are_not_in_the_text(self, ada: Principal, ben: Principal) -> None:
        say(ada, TEXT, WORKS)

        assert refused(ben, Fragment.objects.get(), spans=[{"start": 5, "end": 500}]) == "invalid_request"


class TestAfterwards:
    def test_a_new_revision_ends_it_for_everybody(self, ada: Principal, ben: Principal) -> None:
        say(ada, TEXT, WORKS, source_key="wiki", source_revision="1")
        place(adopted(ben, Fragment.objects.get()), ben, WORKS)

        send(ada, "All new.", source_key="wiki", source_revision="2", previous_source_revision="1")

        assert {(r.tier, r.status) for r in RelationshipRecord.objects.all()} == {("candidate", "pending_evidence")}
        assert audit().differences == 0

    def test_a_text_that_is_held_leaves_both_without_it_and_its_release_gives_it_back_to_both(
        self, ada: Principal, ben: Principal, team: Team
    ) -> None:
        say(ada, TEXT, WORKS)
        place(adopted(ben, Fragment.objects.get()), ben, WORKS)
        cy = someone(team, "Cy", role="manager")

        hold(cy, Fragment.objects.get().id)
        assert {r.status for r in RelationshipRecord.objects.all()} == {"quarantined"}

        task = Task.objects.get(kind="policy_needs_review", status="open")
        place(answer(cy, task, "release_quarantine", message="Fine."), cy, WORKS)
        assert {r.status for r in RelationshipRecord.objects.all()} == {"active"}
        assert audit().differences == 0

    def test_a_release_costs_the_same_for_one_adopter_and_for_many(
        self, ada: Principal, ben: Principal, team: Team
    ) -> None:
        cy = someone(team, "Cy", role="manager")

        def cost(number: int, adopters: list[Principal]) -> int:
            view = say(ada, f"{TEXT} {number}", WORKS)
            for who in adopters:
                place(adopted(who, Fragment.objects.get(ingest_id=view.ingest_id)), who, WORKS)
            hold(cy, view.items[0].evidence_id)
            with CaptureQueriesContext(connection) as queries:
                answer(cy, Task.objects.get(status="open"), "release_quarantine", message="Fine.")
            drain(using=model(WORKS), linger=False)
            return len(queries)

        assert cost(1, [ben]) == cost(2, [ben, *(someone(team, f"Dee {n}") for n in range(3))])

    def test_no_text_is_adopted_more_often_than_one_hold_can_change(
        self, ada: Principal, ben: Principal, team: Team, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        say(ada, TEXT, WORKS)
        monkeypatch.setattr(limits, "FANOUT_ITEMS", 2)
        adopted(ben, Fragment.objects.get())

        assert refused(someone(team, "Dee"), Fragment.objects.get()) == "adopted_too_often"

    def test_control_text_that_the_adopters_model_sees_takes_the_text_from_its_author_too(
        self, ada: Principal, ben: Principal
    ) -> None:
        say(ada, TEXT, WORKS)
        done = adopted(ben, Fragment.objects.get())
        seen = [{"kind": "instruction_override", "start": 0, "end": 4}]

        place(done, ben, using=model(WORKS, signals={"extract": seen}))

        assert record_of(ada).status == "quarantined"

    def test_what_it_finds_out_about_a_wording_is_asked_of_the_adopter(self, ada: Principal, ben: Principal) -> None:
        strange = Fact("Mara Lind", "is hacking on", "Harbor", None)
        say(ada, "Mara Lind is hacking on Harbor.", strange)

        place(adopted(ben, Fragment.objects.get()), ben, strange)

        assert {t.owner_id for t in Task.objects.all()} == {ada.profile_id, ben.profile_id}
