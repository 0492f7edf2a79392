"""What follows from a decision about who is who: check 21, and what becomes of holds, clashes, conflicts and names."""

from datetime import datetime
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from densemem.auth import Principal
from entities.models import Entity, IdentityDecision, ResolutionCandidate, ResolutionEvent
from placement.decide import dispute, lift
from placement.models import Item
from relationships.models import ConflictCase, Observation, RelationshipRecord
from relationships.recall import recall
from relationships.trace import trace
from review.models import Task
from tests.deciding import PROOF, answer, hold_back, of_source, open_task, place, retracted
from tests.identity import (
    called,
    decided,
    lives,
    marries,
    merging,
    named,
    previewed,
    records,
    report_of,
    splitting,
    withdrawing,
    works,
)
from tests.said import say

pytestmark = pytest.mark.usefixtures("sound")


def of_one_mark(who: Principal, *projects: str) -> list[UUID]:
    """Let a profile say what Mark works on, each by a source of its own; return the observations."""
    for project in projects:
        say(who, f"Mark works on {project}.", works("Mark", project), **of_source(project))
    return list(Observation.objects.filter(owner_id=who.profile_id).order_by("seq").values_list("id", flat=True))


def children(parent: Entity) -> list[Entity]:
    """Return what an Entity was split into, in the order in which they were listed."""
    rows = IdentityDecision.objects.filter(members__entity=parent, kind="split").latest("seq").members.order_by("seq")
    return [row.entity for row in rows if row.role == "child"]


def held_by(who: Principal, subject: Entity) -> dict[str, tuple[str, str]]:
    """Return, by object, status and tier of what a profile holds of a subject."""
    found = RelationshipRecord.objects.filter(owner_id=who.profile_id, subject_entity=subject)
    return {called(r.object_entity): (r.status, r.tier) for r in found}


def merge(who: Principal, **fields: Any) -> Any:
    return decided(who, merging(named("Mark Huang"), named("Mark"), basis=[report_of(who)], **fields))


class TestCheck21OfASplit:
    def test_the_children_have_together_what_was_attributed_and_nothing_twice(self, ada: Principal) -> None:
        mark = ada and of_one_mark(ada, "Harbor", "Skiff", "Dinghy")
        parent = named("Mark")

        done = decided(ada, splitting(parent, mark[:1], mark[1:2]))

        one, two = children(parent)
        assert held_by(ada, one) == {"Harbor": ("active", "validated_claim")}
        assert held_by(ada, two) == {"Skiff": ("active", "validated_claim")}
        assert held_by(ada, parent) == dict.fromkeys(("Harbor", "Skiff", "Dinghy"), ("superseded", "validated_claim"))
        by_children = RelationshipRecord.objects.filter(subject_entity__in=[one, two])
        assert sum(r.support_count for r in by_children) == 2
        assert sum(r.support_count for r in RelationshipRecord.objects.filter(subject_entity=parent)) == 0
        assert (called(one), called(two)) == ("Mark", "Mark")
        assert done.compensation == "withdraw_identity"

    def test_what_was_not_listed_waits_and_the_answer_puts_it_with_a_child(self, ada: Principal) -> None:
        seen = of_one_mark(ada, "Harbor", "Skiff", "Dinghy")
        parent = named("Mark")
        decided(ada, splitting(parent, seen[:1], seen[1:2]))
        one, two = children(parent)

        task = open_task()
        assert (task.kind, task.observation_id, task.reason) == ("identity_needs_review", seen[2], "identity_split")
        assert Item.objects.get(pk=task.item_id).state == "awaiting_review"
        offered = ResolutionCandidate.objects.filter(event_id=task.resolution_id)
        assert {row.entity_id for row in offered} == {one.id, two.id}
        view = place(answer(ada, task, "select_entity", entity_ref="Mark", candidate_entity_id=str(two.id)), ada)

        assert view.items[0].state == "completed"
        assert held_by(ada, two) == {"Skiff": ("active", "validated_claim"), "Dinghy": ("active", "validated_claim")}
        assert not Task.objects.filter(status="open").exists()

    def test_one_question_settles_everything_that_a_text_says_of_the_mention(self, ada: Principal) -> None:
        seen = of_one_mark(ada, "Harbor", "Skiff")
        facts = works("Mark", "Dinghy"), works("Mark", "Yawl")
        say(ada, "Mark works on Dinghy and works on Yawl.", *facts, **of_source("both"))
        parent = named("Mark")
        decided(ada, splitting(parent, seen[:1], seen[1:2]))
        one, _ = children(parent)

        place(answer(ada, open_task(), "select_entity", entity_ref="Mark", candidate_entity_id=str(one.id)), ada)

        active = ("active", "validated_claim")
        assert held_by(ada, one) == {"Harbor": active, "Dinghy": active, "Yawl": active}

    def test_a_new_thing_of_its_own_may_be_the_answer_too(self, ada: Principal) -> None:
        seen = of_one_mark(ada, "Harbor", "Skiff", "Dinghy")
        decided(ada, splitting(named("Mark"), seen[:1], seen[1:2]))

        place(answer(ada, open_task(), "confirm_new_entity", entity_ref="Mark", evidence=PROOF), ada)

        fresh = RelationshipRecord.objects.get(object_entity=named("Dinghy"), status="active")
        assert fresh.subject_entity_id not in {named("Harbor").id, *(c.id for c in children_of_first_split())}

    def test_withdrawn_before_the_answer_everything_is_back_and_nothing_is_asked(self, ada: Principal) -> None:
        seen = of_one_mark(ada, "Harbor", "Skiff", "Dinghy")
        parent = named("Mark")
        done = decided(ada, splitting(parent, seen[:1], seen[1:2]))

        decided(ada, withdrawing(done.identity_id))

        assert set(held_by(ada, parent).values()) == {("active", "validated_claim")}
        assert [held_by(ada, c)[p] for c, p in zip(children(parent), ("Harbor", "Skiff"), strict=True)] == [
            ("pending_evidence", "candidate")
        ] * 2
        assert not Task.objects.filter(status="open").exists()
        assert set(Item.objects.values_list("state", flat=True)) == {"completed"}

    def test_withdrawn_after_the_answer_what_was_answered_stays(self, ada: Principal) -> None:
        seen = of_one_mark(ada, "Harbor", "Skiff", "Dinghy")
        parent = named("Mark")
        done = decided(ada, splitting(parent, seen[:1], seen[1:2]))
        _, two = children(parent)
        place(answer(ada, open_task(), "select_entity", entity_ref="Mark", candidate_entity_id=str(two.id)), ada)

        decided(ada, withdrawing(done.identity_id))

        assert held_by(ada, two)["Dinghy"] == ("active", "validated_claim")
        assert held_by(ada, parent)["Dinghy"] == ("pending_evidence", "candidate")
        assert held_by(ada, parent)["Harbor"] == ("active", "validated_claim")

    def test_what_was_merged_before_is_told_apart_by_the_texts_of_both(self, ada: Principal) -> None:
        say(ada, "Mark works on Harbor.", works("Mark", "Harbor"), **of_source("a"))
        say(ada, "Mark Huang works on Skiff.", works("Mark Huang", "Skiff"), **of_source("b"))
        seen = list(Observation.objects.order_by("seq").values_list("id", flat=True))
        survivor = named("Mark Huang")
        merge(ada)

        done = decided(ada, splitting(survivor, seen[:1], seen[1:]))

        one, two = children(survivor)
        assert (held_by(ada, one), held_by(ada, two)) == (
            {"Harbor": ("active", "validated_claim")},
            {"Skiff": ("active", "validated_claim")},
        )
        assert not Task.objects.filter(status="open").exists()
        decided(ada, withdrawing(done.identity_id))
        assert records_of(survivor) == {"Harbor": "active", "Skiff": "active"}


def children_of_first_split() -> list[Entity]:
    rows = IdentityDecision.objects.get(kind="split").members.filter(role="child")
    return [row.entity for row in rows]


def records_of(subject: Entity) -> dict[str, str]:
    return {called(r.object_entity): r.status for r in RelationshipRecord.objects.filter(subject_entity=subject)}


class TestHolds:
    def test_what_was_forgotten_is_carried_and_said_again_it_is_asked_about(self, ada: Principal) -> None:
        say(ada, "Mark works on Harbor.", works("Mark", "Harbor"), **of_source("a"))
        say(ada, "Mark Huang works on Skiff.", works("Mark Huang", "Skiff"), **of_source("b"))
        retracted(ada, RelationshipRecord.objects.get(subject_entity=named("Mark")))
        merge(ada)
        assert records(ada)["Mark Huang Harbor"][0] == "retracted"

        say(ada, "Mark Huang works on Harbor.", works("Mark Huang", "Harbor"), **of_source("c"))

        assert records(ada)["Mark Huang Harbor"][0] == "retracted"
        assert open_task().reason == "stated_again_after_retracted"

    def test_what_was_disputed_is_not_made_active_by_what_else_is_absorbed(self, ada: Principal) -> None:
        for name, source in (("Mark", "a"), ("Marky", "b")):
            say(ada, f"{name} works on Harbor.", works(name, "Harbor"), **of_source(source))
        say(ada, "Mark Huang works on Skiff.", works("Mark Huang", "Skiff"), **of_source("c"))
        hold_back(dispute, ada, RelationshipRecord.objects.get(subject_entity=named("Mark")))
        basis = [report_of(ada), report_of(ada, "Marky is Mark Huang.")]

        done = decided(ada, merging(named("Mark Huang"), named("Mark"), named("Marky"), basis=basis))

        record = RelationshipRecord.objects.get(subject_entity=named("Mark Huang"), object_entity=named("Harbor"))
        assert (record.status, record.held_by_person, record.support_count) == ("disputed", True, 2)
        assert open_task().reason == "stated_again_after_disputed"
        hold_back(lift, ada, record)
        assert records(ada)["Mark Huang Harbor"] == ("active", 2, 2)
        assert done.identity_id


class TestClashes:
    def test_two_that_exclude_each_other_are_asked_about_and_answered(self, ada: Principal) -> None:
        say(ada, "Mark lives in Graz.", lives("Mark", "Graz"), **of_source("a"))
        say(ada, "Mark Huang lives in Porto.", lives("Mark Huang", "Porto"), **of_source("b"))

        merge(ada)

        assert records(ada) == {
            "Mark Graz": ("superseded", 0, 0),
            "Mark Huang Graz": ("needs_review", 1, 1),
            "Mark Huang Porto": ("active", 1, 1),
        }
        task = open_task()
        assert (task.kind, task.reason) == ("relationship_needs_review", "conflict_held")
        place(answer(ada, task, "accept", evidence=PROOF), ada)
        assert {k: v[0] for k, v in records(ada).items()} == {
            "Mark Graz": "superseded",
            "Mark Huang Graz": "active",
            "Mark Huang Porto": "superseded",
        }

    def test_and_rejected_the_other_stays(self, ada: Principal) -> None:
        say(ada, "Mark lives in Graz.", lives("Mark", "Graz"), **of_source("a"))
        say(ada, "Mark Huang lives in Porto.", lives("Mark Huang", "Porto"), **of_source("b"))
        merge(ada)

        place(answer(ada, open_task(), "reject", message="Not so."), ada)

        assert records(ada)["Mark Huang Graz"][0] == "rejected"
        assert records(ada)["Mark Huang Porto"][0] == "active"

    def test_a_relation_of_one_to_itself_is_asked_about(self, ada: Principal) -> None:
        say(ada, "Mark is married to Mark Huang.", marries("Mark", "Mark Huang"))

        merge(ada)

        record = RelationshipRecord.objects.get(support_count=1)
        assert (record.status, record.subject_entity_id) == ("needs_review", record.object_entity_id)
        task = open_task()
        assert task.reason == "self_relation"
        place(answer(ada, task, "reject", message="Not so."), ada)
        record.refresh_from_db()
        assert record.status == "rejected"

    def test_withdrawn_before_the_answer_the_question_goes_too(self, ada: Principal) -> None:
        say(ada, "Mark lives in Graz.", lives("Mark", "Graz"), **of_source("a"))
        say(ada, "Mark Huang lives in Porto.", lives("Mark Huang", "Porto"), **of_source("b"))
        done = merge(ada)

        decided(ada, withdrawing(done.identity_id))

        assert not Task.objects.filter(status="open").exists()
        assert {k: v[0] for k, v in records(ada).items()} == {
            "Mark Graz": "active",
            "Mark Huang Graz": "pending_evidence",
            "Mark Huang Porto": "active",
        }

    def test_what_waits_for_a_person_is_answered_first(self, ada: Principal) -> None:
        say(ada, "Mark lives in Graz.", lives("Mark", "Graz"), observed_at="2026-05-01T00:00:00Z")
        say(ada, "Mark lives in Porto.", lives("Mark", "Porto"), observed_at="2026-04-01T00:00:00Z")
        say(ada, "Mark Huang works on Skiff.", works("Mark Huang", "Skiff"))

        impact = previewed(ada, merging(named("Mark Huang"), named("Mark"), basis=[report_of(ada)]))

        assert impact.refusal == "questions_open"
        waiting = RelationshipRecord.objects.get(status="needs_review")
        assert str(waiting.id) in impact.would_refuse[0].detail


class TestConflicts:
    def test_stay_comparable_when_the_other_position_is_told_apart(self, ada: Principal, bo: Principal) -> None:
        say(ada, "Mark lives in Graz.", lives("Mark", "Graz"), **of_source("a"))
        say(ada, "Mark works on Harbor.", works("Mark", "Harbor"), **of_source("b"))
        say(bo, "Mark lives in Porto.", lives("Mark", "Porto"))
        home, work = Observation.objects.filter(owner_id=ada.profile_id).order_by("seq")
        case = ConflictCase.objects.get(status="open")

        done = decided(ada, splitting(named("Mark"), [home.id], [work.id]))

        case.refresh_from_db()
        assert case.status == "open"
        assert positions(bo, "Porto") == positions(ada, "Graz") == {"Ada": "Graz", "Bo": "Porto"}
        decided(ada, withdrawing(done.identity_id))
        assert positions(bo, "Porto") == {"Ada": "Graz", "Bo": "Porto"}

    def test_follow_what_is_absorbed_by_what_says_the_same(self, ada: Principal, bo: Principal) -> None:
        say(ada, "Mark lives in Graz.", lives("Mark", "Graz"), **of_source("a"))
        say(ada, "Mark Huang lives in Graz.", lives("Mark Huang", "Graz"), **of_source("b"))
        say(bo, "Mark lives in Porto.", lives("Mark", "Porto"))

        merge(ada)

        assert positions(bo, "Porto") == {"Ada": "Graz", "Bo": "Porto"}


def positions(who: Principal, words: str) -> dict[str, str]:
    """Return, by owner, the object of each position of the one conflict that recall shows."""
    (conflict,) = recall(principal=who, query=words, now=timezone.now()).conflicts
    claims = [claim for position in conflict.positions for claim in position.relationships]
    return {claim.author.name: claim.object.words for claim in claims}


class TestNames:
    def test_after_a_split_its_author_is_offered_the_children_and_others_the_parent(
        self, ada: Principal, bo: Principal
    ) -> None:
        seen = of_one_mark(ada, "Harbor", "Skiff")
        parent = named("Mark")
        done = decided(ada, splitting(parent, seen[:1], seen[1:]))
        one, two = children(parent)

        say(ada, "Mark works on Yawl.", works("Mark", "Yawl"))
        say(bo, "Mark works on Yawl, too.", works("Mark", "Yawl"))

        events = ResolutionEvent.objects.filter(mention_ref="Mark", identity=None).order_by("-seq")
        of_bo, of_ada = events[0], events[1]
        assert (of_ada.action, offered(of_ada)) == ("ambiguous", {one.id, two.id})
        assert (of_bo.action, of_bo.entity_id, offered(of_bo)) == ("reuse", parent.id, {parent.id})

        Task.objects.all()
        decided(ada, withdrawing(done.identity_id))
        say(ada, "Mark works on Ketch.", works("Mark", "Ketch"))
        newest = ResolutionEvent.objects.filter(mention_ref="Mark", identity=None).latest("seq")
        assert (newest.action, newest.entity_id) == ("reuse", parent.id)

    def test_after_a_merge_the_survivor_is_found_by_the_name_of_what_it_absorbed(self, ada: Principal) -> None:
        say(ada, "Mark works on Harbor.", works("Mark", "Harbor"), **of_source("a"))
        say(ada, "Mark Huang works on Skiff.", works("Mark Huang", "Skiff"), **of_source("b"))
        merge(ada)

        say(ada, "Mark works on Yawl.", works("Mark", "Yawl"))

        assert records(ada)["Mark Huang Yawl"] == ("active", 1, 1)

    def test_what_the_survivor_had_is_found_by_the_name_too_until_it_is_withdrawn(
        self, ada: Principal, bo: Principal
    ) -> None:
        say(ada, "Zed lives in Graz.", lives("Zed", "Graz"))
        say(ada, "Mark Huang works on Skiff.", works("Mark Huang", "Skiff"))
        say(bo, "Mark Huang works on Skiff as well.", works("Mark Huang", "Skiff"))
        basis = report_of(ada, "Zed is Mark Huang.")

        done = decided(ada, merging(named("Mark Huang"), named("Zed"), basis=[basis]))
        assert found_by(bo, "Zed Skiff") == {"Ada"}

        decided(ada, withdrawing(done.identity_id))
        assert found_by(bo, "Zed Skiff") == set()


def found_by(who: Principal, words: str) -> set[str]:
    """Return whose records a question finds by all of its words."""
    found = recall(principal=who, query=words, now=timezone.now())
    claims = [c for g in found.results for c in g.relationships]
    return {c.author.name for c in claims if len(c.why) == len(words.split())}


def offered(event: ResolutionEvent) -> set[UUID]:
    return set(event.candidates.values_list("entity_id", flat=True))


class TestTime:
    def test_recall_and_trace_show_the_earlier_state_before_the_decision(self, ada: Principal, bo: Principal) -> None:
        say(ada, "Mark works on Harbor.", works("Mark", "Harbor"), **of_source("a"))
        say(ada, "Mark Huang works on Skiff.", works("Mark Huang", "Skiff"), **of_source("b"))
        basis = report_of(ada)
        before = timezone.now()
        done = decided(ada, merging(named("Mark Huang"), named("Mark"), basis=[basis]))
        between = timezone.now()
        decided(ada, withdrawing(done.identity_id))
        old = RelationshipRecord.objects.get(subject_entity=named("Mark"))

        def subjects(at: datetime | None) -> tuple[set[str], list[int]]:
            found = recall(principal=bo, query="Harbor", known_at=at, now=timezone.now())
            names = {c.subject.name for g in found.results for c in g.relationships}
            return names, [o.profiles for o in found.identity_opinions]

        assert subjects(before) == ({"Mark"}, [])
        assert subjects(between) == ({"Mark Huang"}, [1])
        assert subjects(None) == ({"Mark"}, [])
        steps = trace(principal=bo, relationship_id=old.id, now=timezone.now()).transitions.items
        assert [s.identity_decision_id for s in steps][1:] == [done.identity_id, None]
        then = trace(principal=bo, relationship_id=old.id, known_at=before, now=timezone.now())
        assert (then.relationship.status, len(then.transitions.items)) == ("active", 1)
