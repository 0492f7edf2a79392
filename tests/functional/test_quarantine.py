"""Held texts: released by managers alone, and held after all when they prove poisoned."""

from dataclasses import replace

import pytest
from django.utils import timezone

from densemem.auth import Principal, ScopeMissing
from densemem.core import limits
from densemem.core.faults import NotThere, Refused
from densemem.models import Team
from evidence.models import Fragment, Quarantine, SecurityEvent
from placement.models import Item
from placement.tasks import drain
from relationships.models import (
    EvidenceSupport,
    RelationshipRecord,
    SearchDocument,
    SemanticEdge,
    SupportDecision,
)
from relationships.recall import recall
from relationships.trace import trace
from review.models import Decision, Task
from tests.database import counts
from tests.deciding import (
    ATTACK,
    GRAZ,
    TEXT,
    WORKS,
    adopted,
    answer,
    hold,
    nobody,
    open_task,
    place,
    record_of,
)
from tests.said import Fact, model, say, send, someone

pytestmark = pytest.mark.usefixtures("sound")


class TestRelease:
    def test_is_a_managers_with_write_and_reenters_as_guarded(self, ada: Principal, cy: Principal) -> None:
        held = say(ada, f"{TEXT} {ATTACK}", WORKS)
        task = open_task(kind="policy_needs_review")

        done = answer(cy, task, "release_quarantine", message="A copy of a talk.")

        item = Item.objects.get(pk=task.item_id)
        assert (item.state, done.processing_state, done.compensation) == ("guarded", "guarded", "quarantine")
        event = SecurityEvent.objects.order_by("-seq").first()
        assert event is not None
        assert (event.kind, event.actor_id, event.reason) == (
            "quarantine_release",
            cy.profile_id,
            "A copy of a talk.",
        )
        view = place(held, ada, WORKS)
        assert view.processing_state == "awaiting_review"  # its span overlaps what the scan marked
        assert not SemanticEdge.objects.exists()

    def test_is_refused_to_the_owner_and_to_a_manager_who_only_reads(self, team: Team, ada: Principal) -> None:
        say(ada, f"{TEXT} {ATTACK}", WORKS)
        task = open_task(kind="policy_needs_review")

        with pytest.raises(Refused) as refused:
            answer(ada, task, "release_quarantine", message="Mine.")
        with pytest.raises(ScopeMissing):
            answer(
                someone(team, "Rita", role="manager", scopes="read"), task, "release_quarantine", message="Let it go."
            )

        assert refused.value.code == "not_manager"
        assert Item.objects.get(pk=task.item_id).state == "quarantined"

    def test_may_be_asked_for_by_any_member(self, ada: Principal, bo: Principal) -> None:
        say(ada, f"{TEXT} {ATTACK}", WORKS)
        task = open_task(kind="policy_needs_review")

        answer(bo, task, "acknowledge", message="Please look: it is our handbook.")

        assert Decision.objects.get().message.startswith("Please look")

    def test_does_not_keep_a_model_from_holding_the_text_again(self, ada: Principal, cy: Principal) -> None:
        held = say(ada, f"{TEXT} {ATTACK}", WORKS)
        answer(cy, open_task(kind="policy_needs_review"), "release_quarantine", message="Let it go.")
        signal = {"kind": "instruction_override", "start": 0, "end": 4}

        view = place(held, ada, using=model(WORKS, signals={"extract": [signal]}))

        assert view.processing_state == "quarantined"
        assert Quarantine.objects.get().status == "active"
        assert open_task(kind="policy_needs_review").status == "open"

    def test_of_an_outdated_revision_is_refused(self, ada: Principal, cy: Principal) -> None:
        say(ada, f"{TEXT} {ATTACK}", source_key="wiki", source_revision="1")
        task = open_task(kind="policy_needs_review")
        say(ada, TEXT, WORKS, source_key="wiki", source_revision="2", previous_source_revision="1")

        with pytest.raises(Refused) as refused:
            answer(cy, task, "release_quarantine", message="Late.")

        assert refused.value.code == "task_settled"
        assert Item.objects.get(pk=task.item_id).state == "superseded"

    def test_refused_by_a_manager_keeps_the_text_held(self, ada: Principal, cy: Principal) -> None:
        say(ada, f"{TEXT} {ATTACK}")
        task = open_task(kind="policy_needs_review")

        answer(cy, task, "reject", message="An attack.")
        drain(using=nobody(), linger=False)

        assert Item.objects.get(pk=task.item_id).state == "quarantined"
        assert Task.objects.get(pk=task.id).status == "resolved"


class TestQuarantineOfAcceptedEvidence:
    def test_revokes_recomputes_and_hides_in_one_step(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, TEXT, WORKS)

        hold(cy, view.items[0].evidence_id)

        record = RelationshipRecord.objects.get()
        assert (record.tier, record.status, record.support_count) == ("candidate", "quarantined", 0)
        assert SupportDecision.objects.order_by("seq").last().action == "revoke"  # type: ignore[union-attr]
        assert not recall(principal=ada, query="Harbor", now=timezone.now()).results
        assert Item.objects.get().state == "quarantined"
        assert open_task(kind="policy_needs_review").reason == "evidence_held"
        told = repr(trace(principal=ada, relationship_id=record.id))
        assert not any(word in told for word in ("Mara", "Harbor"))
        assert not SearchDocument.objects.get().eligible

    def test_leaves_what_other_evidence_holds_up(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, TEXT, WORKS, source_key="a", source_revision="1")
        say(ada, "Mara Lind also works on Harbor.", WORKS, source_key="b", source_revision="1")
        assert RelationshipRecord.objects.get().tier == "fact"

        hold(cy, view.items[0].evidence_id)

        record = RelationshipRecord.objects.get()
        assert (record.tier, record.status, record.support_count) == ("validated_claim", "active", 1)

    def test_reaches_the_records_of_all_who_rest_on_it(self, ada: Principal, bo: Principal, cy: Principal) -> None:
        view = say(ada, TEXT, WORKS)
        adopted(bo, Fragment.objects.get())
        drain(using=model(WORKS), linger=False)
        theirs = record_of(bo)
        assert theirs.status == "active"

        hold(cy, view.items[0].evidence_id)

        theirs.refresh_from_db()
        assert theirs.status == "quarantined"

    def test_released_counts_again(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, TEXT, WORKS)
        hold(cy, view.items[0].evidence_id)

        answer(cy, open_task(kind="policy_needs_review"), "release_quarantine", message="A mistake of mine.")
        place(view, ada, WORKS)

        record = RelationshipRecord.objects.get()
        assert (record.status, record.support_count) == ("active", 1)
        actions = SupportDecision.objects.order_by("seq").values_list("action", flat=True)
        assert list(actions) == ["grant", "revoke", "reinstate"]
        assert EvidenceSupport.objects.count() == 1

    def test_is_a_managers(self, ada: Principal) -> None:
        view = say(ada, TEXT, WORKS)

        with pytest.raises(Refused) as refused:
            hold(ada, view.items[0].evidence_id)

        assert refused.value.code == "not_manager"

    def test_of_another_team_finds_nothing(self, ada: Principal, stranger: Principal) -> None:
        view = say(ada, TEXT, WORKS)

        with pytest.raises(NotThere):
            hold(stranger, view.items[0].evidence_id)

    def test_twice_is_refused(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, TEXT, WORKS)
        hold(cy, view.items[0].evidence_id)

        with pytest.raises(Refused) as refused:
            hold(cy, view.items[0].evidence_id)

        assert refused.value.code == "already_quarantined"

    def test_of_a_held_text_that_counts_no_more_asks_nobody(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, TEXT, WORKS, source_key="wiki", source_revision="1")
        hold(cy, view.items[0].evidence_id)
        send(ada, "All new.", source_key="wiki", source_revision="2", previous_source_revision="1")

        with pytest.raises(Refused) as refused:
            hold(cy, view.items[0].evidence_id)

        assert refused.value.code == "revision_not_current"


INSUFFICIENT, CONTRADICTED = (replace(WORKS, verdict=verdict) for verdict in ("insufficient", "contradicted"))


class TestReadAgain:
    """What was quarantined for a text, once the text is released and read anew."""

    @pytest.mark.parametrize(
        ("found", "status"),
        [(INSUFFICIENT, "pending_evidence"), (CONTRADICTED, "rejected"), (None, "pending_evidence")],
    )
    def test_without_support_is_quarantined_no_more(
        self, ada: Principal, bo: Principal, cy: Principal, found: Fact | None, status: str
    ) -> None:
        view = say(ada, TEXT, WORKS)
        place(adopted(bo, Fragment.objects.get()), bo, WORKS)
        hold(cy, view.items[0].evidence_id)

        done = answer(cy, open_task(kind="policy_needs_review"), "release_quarantine", message="A mistake of mine.")
        assert {(c.status_before, c.status) for c in done.changes} == {("quarantined", "pending_evidence")}
        place(view, ada, *[found] if found else [])

        assert [record_of(who).status for who in (ada, bo)] == [status, status]
        assert not SearchDocument.objects.filter(eligible=True).exists()

    def test_is_quarantined_again_with_its_text_and_names_nothing(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, TEXT, WORKS)
        hold(cy, view.items[0].evidence_id)
        answer(cy, open_task(kind="policy_needs_review"), "release_quarantine", message="A mistake of mine.")
        signal = {"kind": "instruction_override", "start": 0, "end": 4}

        place(view, ada, using=model(WORKS, signals={"extract": [signal]}))

        record = record_of(ada)
        assert (record.status, record.tier) == ("quarantined", "candidate")
        assert not any(w in repr(trace(principal=ada, relationship_id=record.id)) for w in ("Mara", "Harbor"))

    def test_waits_for_the_other_text_that_is_held(self, ada: Principal, cy: Principal) -> None:
        views = [say(ada, TEXT, WORKS), say(ada, f"Yes. {TEXT}", WORKS)]
        for view in views:
            hold(cy, view.items[0].evidence_id)

        def released(number: int) -> str:
            task = open_task(kind="policy_needs_review", fragment_id=views[number].items[0].evidence_id)
            answer(cy, task, "release_quarantine", message="A mistake of mine.")
            return str(record_of(ada).status)

        assert (released(0), released(1)) == ("quarantined", "pending_evidence")

    def test_is_not_stuck_beside_a_held_text_that_counts_no_more(self, ada: Principal, cy: Principal) -> None:
        first = say(ada, TEXT, WORKS)
        second = say(ada, f"Yes. {TEXT}", WORKS, source_key="wiki", source_revision="1")
        for view in (first, second):
            hold(cy, view.items[0].evidence_id)
        send(ada, "Nothing.", source_key="wiki", source_revision="2", previous_source_revision="1")

        answer(cy, open_task(kind="policy_needs_review"), "release_quarantine", message="A mistake of mine.")

        assert record_of(ada).status == "pending_evidence"

    def test_is_bounded(self, ada: Principal, cy: Principal, monkeypatch: pytest.MonkeyPatch) -> None:
        view = say(ada, f"{TEXT} She lives in Graz.", WORKS, replace(GRAZ, subject="Mara Lind"))
        hold(cy, view.items[0].evidence_id)
        monkeypatch.setattr(limits, "FANOUT_RECORDS", 1)
        before = counts()

        with pytest.raises(Refused) as refused:
            answer(cy, open_task(kind="policy_needs_review"), "release_quarantine", message="A mistake of mine.")

        assert (refused.value.code, counts()) == ("source_fanout_exceeded", before)
        assert {r.status for r in RelationshipRecord.objects.all()} == {"quarantined"}
