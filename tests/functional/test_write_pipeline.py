"""What the write pipeline keeps beside its acceptance lines: text, names, revisions, returns, corrections."""

from dataclasses import replace
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from densemem.auth import Principal, ScopeMissing
from densemem.models import Team
from evidence.models import Fragment, Ingest
from evidence.policy import RevisionConflict
from placement.models import Item
from placement.operations import claim_next
from placement.pipeline import place
from relationships.models import (
    RelationshipRecord,
)
from relationships.recall import recall
from review.models import Task
from tests.said import Fact, model, say, send, someone

WORKS = Fact("Mara Lind", "works on", "Harbor", "works_on")
TEXT = "Mara Lind works on Harbor."
STATEMENTS = 35  # of one placement that meets a person who is known, and one project that is not
LIVES_GRAZ = Fact("Ivo", "lives in", "Graz", "lives_in", object_kind="place")
LIVES_PORTO = Fact("Ivo", "lives in", "Porto", "lives_in", object_kind="place")


class TestCost:
    def test_of_one_placement_is_few_statements_and_two_commits(self, ada: Principal) -> None:
        say(ada, "Mara Lind works on Skiff.", replace(WORKS, object="Skiff"))
        send(ada, TEXT)
        claim = claim_next()
        assert claim is not None

        with CaptureQueriesContext(connection) as made:
            place(claim, model(WORKS))

        begun = [q["sql"] for q in made if q["sql"].startswith("SAVEPOINT")]
        assert Item.objects.get(pk=claim.item_id).state == "completed"
        kept = [q["sql"] for q in made if "INSERT INTO placement_itemanswer" in q["sql"]]
        assert len(made) - 2 * len(begun) <= STATEMENTS
        # What the reviewer read is kept for another try, by one statement; then comes everything else.
        assert len(kept) == len(begun) == 1


class TestScopes:
    def test_a_reader_cannot_remember(self, team: Team) -> None:
        with pytest.raises(ScopeMissing):
            send(someone(team, "Rex", scopes="read"), TEXT)

        assert not Ingest.objects.exists()


class TestStoredText:
    @pytest.mark.parametrize(
        "text",
        ["a\r\nb\tc", "e\u0301 and \u00e9", "\u202eabc\u202c x", "👩‍👩‍👧 works", "  spaces  ", "𝔘nicode \u200b zero"],
    )
    def test_is_kept_byte_for_byte(self, ada: Principal, text: str) -> None:
        ingest: UUID = send(ada, text)

        assert Fragment.objects.select_related("content").get(ingest_id=ingest).content.text == text


class TestNames:
    def test_a_name_learned_later_finds_what_was_known_before(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        proposal = {"entities": [{"ref": "h", "name": "Harbor", "entity_kind": "project", "aliases": ["HRB"]}]}
        say(
            ada,
            "Otto Falk works on Harbor (HRB).",
            Fact("Otto Falk", "works on", "Harbor", "works_on"),
            proposal=proposal,
        )

        found = recall(principal=ada, query="HRB Mara", now=timezone.now())

        assert [group.relationships[0].subject.name for group in found.results] == ["Mara Lind"]


class TestRetry:
    def test_with_a_time_in_another_offset_is_the_same_request(self, ada: Principal) -> None:
        first = send(ada, TEXT, key="k", observed_at="2026-03-31T14:00:00+02:00", metadata={"observed_at": "noon"})

        again = send(ada, TEXT, key="k", observed_at="2026-03-31T12:00:00Z", metadata={"observed_at": "noon"})

        assert again == first


class TestRevision:
    def test_withdraws_the_questions_about_what_it_replaces(self, ada: Principal) -> None:
        fact = Fact("Mara Lind", "is hacking on", "Harbor", "hacks_on")
        say(ada, "Mara Lind is hacking on Harbor.", fact, source_key="hr", source_revision="1")
        assert Task.objects.get().status == "open"

        say(ada, "Empty.", source_key="hr", source_revision="2", previous_source_revision="1")

        task = Task.objects.get()
        assert (task.status, task.version) == ("canceled", 2)
        assert [e.status for e in task.events.order_by("seq")] == ["open", "canceled"]

    def test_sent_again_with_other_fields_is_a_conflict(self, ada: Principal) -> None:
        first = send(ada, TEXT, source_key="hr", source_revision="1")

        assert send(ada, TEXT, source_key="hr", source_revision="1") == first
        with pytest.raises(RevisionConflict):
            send(ada, TEXT, source_key="hr", source_revision="1", observed_at="2025-01-01T00:00:00Z")


class TestReturn:
    def test_of_a_replaced_value_needs_a_later_word(self, ada: Principal) -> None:
        say(ada, "Ivo lives in Graz.", LIVES_GRAZ, observed_at="2025-01-01T00:00:00Z")
        say(ada, "Ivo lives in Porto.", LIVES_PORTO, observed_at="2025-02-01T00:00:00Z")
        graz = RelationshipRecord.objects.get(object_entity__names__key="graz")
        assert graz.status == "superseded"

        say(ada, "In January Ivo lives in Graz.", LIVES_GRAZ, observed_at="2025-01-15T00:00:00Z")
        graz.refresh_from_db()
        assert graz.status == "superseded"

        say(ada, "Again Ivo lives in Graz.", LIVES_GRAZ, observed_at="2025-03-01T00:00:00Z")
        graz.refresh_from_db()
        assert graz.status == "active"
        assert RelationshipRecord.objects.get(object_entity__names__key="porto").status == "superseded"

    def test_of_a_closed_state_needs_a_later_word(self, ada: Principal) -> None:
        say(ada, "Mara Lind works on Harbor.", WORKS, observed_at="2025-01-01T00:00:00Z")
        past = Fact("Mara Lind", "worked on", "Harbor", "works_on", ended=True)
        say(ada, "Mara Lind worked on Harbor.", past, observed_at="2025-02-01T00:00:00Z")
        still = RelationshipRecord.objects.get(valid_to=None)
        assert still.status == "superseded"

        say(ada, "Then Mara Lind works on Harbor.", WORKS, observed_at="2025-01-10T00:00:00Z")

        still.refresh_from_db()
        assert still.status == "superseded"

    def test_an_older_farewell_does_not_close_what_was_seen_later(self, ada: Principal) -> None:
        say(ada, "Mara Lind works on Harbor.", WORKS, observed_at="2025-03-01T00:00:00Z")
        past = Fact("Mara Lind", "worked on", "Harbor", "works_on", ended=True)

        view = say(ada, "Mara Lind worked on Harbor.", past, observed_at="2025-02-01T00:00:00Z")

        assert RelationshipRecord.objects.get(valid_to=None).status == "active"
        assert view.items[0].outcomes[0].outcome == "relationship_needs_review"


class TestCorrection:
    def test_moves_the_target_even_when_the_right_record_is_there(self, ada: Principal) -> None:
        skiff = Fact("Mara Lind", "works on", "Skiff", "works_on", proposal_id="fix")
        say(ada, TEXT, WORKS)
        say(ada, "Mara Lind works on Skiff.", replace(skiff, proposal_id=None))
        wrong = RelationshipRecord.objects.get(object_entity__names__key="harbor")

        say(ada, "No: Mara Lind works on Skiff.", skiff, proposal=correction(wrong, wrong.version))

        wrong.refresh_from_db()
        assert wrong.status == "superseded"

    def test_of_a_version_that_is_gone_waits_for_a_person(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        wrong = RelationshipRecord.objects.get()
        skiff = Fact("Mara Lind", "works on", "Skiff", "works_on", proposal_id="fix")

        view = say(ada, "No: Mara Lind works on Skiff.", skiff, proposal=correction(wrong, wrong.version + 1))

        assert view.items[0].outcomes[0].outcome == "relationship_needs_review"
        wrong.refresh_from_db()
        assert wrong.status == "active"


def correction(target: RelationshipRecord, version: int) -> dict[str, object]:
    """Return a proposal that wants the target corrected by the first statement of the text."""
    relationship = {
        "proposal_id": "fix",
        "subject_ref": "m",
        "predicate": "works on",
        "object_ref": "s",
        "evidence": [{"evidence_index": 0, "start": 0, "end": 3}],
        "correction_target": {"relationship_id": str(target.id), "expected_version": version},
    }
    entities = [{"ref": "m", "name": "Mara Lind"}, {"ref": "s", "name": "Skiff"}]
    return {"entities": entities, "relationships": [relationship]}
