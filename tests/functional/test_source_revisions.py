"""A source moves on: what rested on its old words is judged again at once, whoever owns it, or nothing moves at all."""

import pytest

from densemem.auth import Principal
from densemem.core import limits
from evidence.models import Fragment, Source
from evidence.operations import FragmentUnknown
from evidence.policy import RevisionConflict
from placement.models import Item
from placement.request import RequestInvalid
from relationships.models import EvidenceSupport, RelationshipRecord, SearchDocument, Transition
from relationships.operations import FanoutExceeded
from tests import factories
from tests.database import counts
from tests.said import Fact, say, send

WORKS = Fact("Mara Lind", "works on", "Harbor", "works_on")
TEXT = "Mara Lind works on Harbor."
FIRST = {"source_key": "hr", "source_revision": "1"}
SECOND = {"source_key": "hr", "source_revision": "2", "previous_source_revision": "1"}


class TestActivation:
    def test_reaches_every_profile_that_adopted_the_old_words(self, ada: Principal, bo: Principal) -> None:
        say(ada, TEXT, WORKS, **FIRST)
        theirs = factories.adopted(EvidenceSupport.objects.get(), by=bo.profile_id)

        send(ada, "The list is empty.", **SECOND)

        theirs.refresh_from_db()
        assert (theirs.tier, theirs.status, theirs.support_count) == ("candidate", "pending_evidence", 0)
        step = Transition.objects.filter(relationship=theirs).latest("seq")
        assert (step.reason, step.actor_id) == ("source_revision_advanced", None)
        assert not SearchDocument.objects.filter(eligible=True).exists()

    def test_leaves_what_the_adopter_rests_on_besides(self, ada: Principal, bo: Principal) -> None:
        say(ada, TEXT, WORKS, **FIRST)
        say(bo, f"I know: {TEXT}", WORKS)
        mine = RelationshipRecord.objects.get(owner_id=bo.profile_id)

        send(ada, "The list is empty.", **SECOND)

        mine.refresh_from_db()
        assert (mine.status, mine.support_count) == ("active", 1)

    def test_clears_no_hold(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS, **FIRST)
        RelationshipRecord.objects.update(status="disputed", held_by_person=True)

        send(ada, "The list is empty.", **SECOND)

        record = RelationshipRecord.objects.get()
        assert (record.status, record.support_count) == ("disputed", 0)

    @pytest.mark.parametrize("limit", ["FANOUT_SUPPORTS", "FANOUT_RECORDS"])
    def test_beyond_its_bound_moves_nothing(self, ada: Principal, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
        say(ada, TEXT, WORKS, **FIRST)
        before, source = counts(), Source.objects.values().get()
        monkeypatch.setattr(limits, limit, 0)

        with pytest.raises(FanoutExceeded):
            send(ada, "The list is empty.", **SECOND)

        assert counts() == before
        assert Source.objects.values().get() == source
        assert RelationshipRecord.objects.get().status == "active"

    def test_ends_the_work_on_what_it_replaces(self, ada: Principal) -> None:
        send(ada, TEXT, **FIRST)

        send(ada, "The list is empty.", **SECOND)

        assert [i.state for i in Item.objects.order_by("id")] == ["superseded", "queued"]


class TestReplay:
    def test_of_the_current_revision_is_the_earlier_intake_under_any_key(self, ada: Principal) -> None:
        first = send(ada, TEXT, key="a", **FIRST)

        assert send(ada, TEXT, key="b", **FIRST) == first
        assert Fragment.objects.count() == 1

    def test_of_a_former_revision_is_a_conflict(self, ada: Principal) -> None:
        send(ada, TEXT, **FIRST)
        send(ada, "The list is empty.", **SECOND)

        with pytest.raises(RevisionConflict):
            send(ada, TEXT, key="c", **FIRST)


class TestWithdrawal:
    def test_of_fragments_revokes_what_rests_on_them(self, ada: Principal) -> None:
        view = say(ada, TEXT, WORKS)

        send(ada, "A new list.", supersedes_fragment_ids=[str(view.items[0].evidence_id)], **FIRST)

        assert RelationshipRecord.objects.get().status == "pending_evidence"

    def test_of_anothers_fragments_is_refused_whole(self, ada: Principal, bo: Principal) -> None:
        view = say(ada, TEXT, WORKS)
        before = counts()

        with pytest.raises(FragmentUnknown):
            send(bo, "A new list.", supersedes_fragment_ids=[str(view.items[0].evidence_id)], **FIRST)

        assert counts() == before

    @pytest.mark.parametrize("field", [{"source_key": "hr"}, {"source_revision": "1"}, {"supersedes_fragment_ids": []}])
    def test_needs_key_and_revision_together(self, ada: Principal, field: dict[str, object]) -> None:
        with pytest.raises(RequestInvalid) as refused:
            send(ada, TEXT, **field)

        assert refused.value.faults[0].code == "source_fields_incomplete"
