"""What must not come of a decision: an answer that reaches further than its question, or outlives a later one."""

from typing import Any

import pytest

from densemem.auth import Principal
from densemem.models import Team
from entities.models import Entity
from evidence.models import Quarantine
from placement.models import Item
from placement.tasks import drain
from relationships.models import RelationshipRecord
from review.models import DecisionUse, Task
from review.questions import ask
from tests.deciding import (
    ALEX,
    ATTACK,
    GRAZ,
    HACKING,
    HACKS,
    PORTO,
    PROOF,
    answer,
    hold,
    nobody,
    open_task,
    place,
    retracted,
    two_alexes,
)
from tests.said import Fact, model, say, send

pytestmark = pytest.mark.usefixtures("sound")

WORKS = Fact("Mara Lind", "works on", "Harbor", "works_on")
BOTH = "Mara Lind works on Harbor. Mara Lind is hacking on Skiff."
SKIFF = Fact("Mara Lind", "is hacking on", "Skiff", "works_on")


def chosen(who: Principal, task: Task, **fields: Any) -> Any:
    """Choose works_on for the observation that shows a question."""
    named = {"observation_id": str(task.observation_id), "predicate_key": "works_on", "predicate_version": 1}
    return answer(who, task, "select_predicate", **{**named, **fields})


class TestSignalOnReentry:
    def test_takes_back_what_the_first_reading_gave(self, ada: Principal) -> None:
        say(ada, BOTH, WORKS, SKIFF)
        assert RelationshipRecord.objects.get().status == "active"
        done = chosen(ada, open_task())
        signal = {"kind": "instruction_override", "start": 0, "end": 4}

        view = place(done, ada, using=model(WORKS, SKIFF, signals={"verify": [signal]}))

        record = RelationshipRecord.objects.get()
        assert (view.processing_state, record.status, record.support_count) == ("quarantined", "quarantined", 0)
        assert not DecisionUse.objects.get().carried_out
        assert Quarantine.objects.get().status == "active"


class TestLaterWord:
    def test_of_forgetting_outlives_an_acceptance_that_was_not_carried_out(
        self, ada: Principal, conflict: Task
    ) -> None:
        answer(ada, conflict, "accept", evidence=PROOF)
        retracted(ada, RelationshipRecord.objects.get(pk=conflict.relationship_id))

        drain(using=model(), linger=False)

        assert RelationshipRecord.objects.get(pk=conflict.relationship_id).status == "retracted"
        assert RelationshipRecord.objects.get(pk=conflict.rival_id).status == "active"


class TestCorrectionTarget:
    def test_that_no_statement_took_up_is_not_taken_up_by_a_part_of_the_text(self, ada: Principal) -> None:
        say(ada, "Mara Lind works on Harbor.", WORKS)
        target = RelationshipRecord.objects.get()
        relationship = {
            "proposal_id": "fix",
            "subject_ref": "m",
            "predicate": "works on",
            "object_ref": "s",
            "evidence": [{"evidence_index": 0, "start": 0, "end": 3}],
            "correction_target": {"relationship_id": str(target.id), "expected_version": target.version},
        }
        entities = [{"ref": "m", "name": "Ivo"}, {"ref": "s", "name": "Skiff"}]
        facts = (Fact("Ivo", "works on", "Skiff", "works_on"), Fact("Ivo", "is hacking on", "Pier", "works_on"))
        text = "Ivo works on Skiff. Ivo is hacking on Pier."
        view = say(ada, text, *facts, proposal={"entities": entities, "relationships": [relationship]})
        assert view.items[0].unused_corrections == ("fix",)

        place(chosen(ada, open_task()), ada, *facts)

        target.refresh_from_db()
        assert target.status == "active"
        assert RelationshipRecord.objects.filter(status="active").count() == 3


class TestSharedQuestion:
    def test_forgets_the_texts_that_were_held_and_those_that_were_replaced(self, ada: Principal, cy: Principal) -> None:
        first = say(ada, HACKING, HACKS)
        say(ada, f"Again: {HACKING}", HACKS, source_key="hr", source_revision="1")
        third = say(ada, f"Once more: {HACKING}", HACKS)
        hold(cy, first.items[0].evidence_id)
        send(ada, "Empty.", source_key="hr", source_revision="2", previous_source_revision="1")

        task = open_task(kind="predicate_needs_review")

        assert task.item_id == third.items[0].item_id
        assert [w.item_id for w in task.waiting.all()] == [task.item_id]

    def test_about_an_old_reading_binds_nothing_of_the_new_one(self, ada: Principal, cy: Principal) -> None:
        say(ada, f"Again: {HACKING}", HACKS)
        held = say(ada, HACKING, HACKS)
        old = held.items[0].outcomes[0].observation_id
        hold(cy, held.items[0].evidence_id)
        answer(cy, open_task(kind="policy_needs_review"), "release_quarantine", message="Clean.")
        place(held, ada, Fact("Mara Lind", "hates", "Harbor"))

        task = Task.objects.get(status="open", reason="predicate_not_registered", item__ingest_id=held.ingest_id)

        assert task.observation_id != old
        assert old not in {w.observation_id for t in Task.objects.filter(status="open") for w in t.waiting.all()}


class TestHeldRecord:
    def test_said_again_waits_for_the_same_answer_and_keeps_its_question(self, ada: Principal) -> None:
        say(ada, "Ivo lives in Graz.", GRAZ, observed_at="2026-05-01T00:00:00Z")
        say(
            ada,
            "Ivo lives in Porto.",
            PORTO,
            observed_at="2026-04-01T00:00:00Z",
            source_key="hr",
            source_revision="1",
        )
        again = say(ada, "Yes, Ivo lives in Porto.", PORTO, observed_at="2026-04-02T00:00:00Z")
        assert again.processing_state == "awaiting_review"

        send(ada, "Empty.", source_key="hr", source_revision="2", previous_source_revision="1")

        task = open_task(kind="relationship_needs_review")
        assert task.item_id == again.items[0].item_id
        answer(ada, task, "accept", evidence=PROOF)
        drain(using=model(), linger=False)
        assert RelationshipRecord.objects.get(pk=task.relationship_id).status == "active"


class TestAcceptance:
    def test_takes_the_place_of_nothing_that_its_owner_was_not_shown(self, ada: Principal) -> None:
        say(ada, "Ivo lives in Graz.", GRAZ, observed_at="2026-05-01T00:00:00Z")
        doubtful = Fact("Ivo", "lives in", "Porto", "lives_in", object_kind="place", scope="in spring")
        say(ada, "Ivo lives in Porto.", doubtful, observed_at="2026-04-01T00:00:00Z")
        task = open_task()
        assert (task.reason, task.rival_id) == ("identity_or_scope_open", None)

        answer(ada, task, "accept", evidence=PROOF)
        drain(using=model(), linger=False)

        graz = RelationshipRecord.objects.get(object_entity__names__key="graz")
        assert graz.status == "active"
        asked = open_task()
        assert (asked.reason, asked.rival_id) == ("conflict_held", graz.id)

    def test_of_an_entity_whose_kind_the_predicate_does_not_take_makes_no_relationship(self, ada: Principal) -> None:
        two_alexes(ada)
        fact = Fact("Alex Spring", "located in", "Chile", subject_kind="place", object_kind="place")
        named = {"entities": [{"ref": "a", "name": "Alex Spring", "aliases": ["Alex"]}]}
        say(ada, "Alex Spring, called Alex, is located in Chile.", fact, proposal=named)
        say(ada, "Alex works on Harbor.", ALEX)
        task = open_task(kind="identity_needs_review")
        place_entity = Entity.objects.filter(kind="place", names__key="alex").first()
        assert place_entity is not None

        done = answer(ada, task, "select_entity", entity_ref="Alex", candidate_entity_id=str(place_entity.id))
        view = place(done, ada, using=nobody())

        assert not RelationshipRecord.objects.filter(predicate_key="works_on").exists()
        assert view.items[0].outcomes[0].reason == "kinds_do_not_fit"
        assert view.processing_state == "awaiting_review"


class TestHeldText:
    def test_lends_no_words_to_the_question_about_another(self, team: Team, ada: Principal, cy: Principal) -> None:
        graz = say(ada, "Ivo lives in Graz.", GRAZ, observed_at="2026-05-01T00:00:00Z")
        say(ada, "Ivo lives in Porto.", PORTO, observed_at="2026-04-01T00:00:00Z")
        hold(cy, graz.items[0].evidence_id)

        (asked,) = ask(team_id=team.id, tasks=[open_task(kind="relationship_needs_review")])

        assert "Graz" not in asked.title
        assert asked.rival is None

    def test_that_stays_held_can_be_asked_about_again(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, f"Hello. {ATTACK}")
        answer(cy, open_task(), "reject", message="An attack.")

        hold(cy, view.items[0].evidence_id, "Look once more.")

        assert open_task().kind == "policy_needs_review"
        answer(cy, open_task(), "release_quarantine", message="Harmless.")
        assert Item.objects.get().state == "guarded"
