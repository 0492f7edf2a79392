"""Copies, near copies and echoes are no new voice ("Source Independence And Fact Promotion")."""

import json
import threading
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import DatabaseError, OperationalError, connections, transaction
from django.test import Client
from django.utils import timezone

from densemem.auth import Principal
from densemem.core import limits
from densemem.mcp.tools import call_get_review, call_list_reviews, call_recall_memory, call_trace_memory
from densemem.models import Team
from evidence.models import Fragment, GroupJoin, Served, Shingles, Source, SourceGroup
from evidence.operations import joining
from placement.remember import remember
from placement.tasks import drain, sweep
from relationships.models import ConflictCase, RelationshipRecord
from relationships.serving import serve_recall, serve_relationship, serve_trace
from review.models import Task
from tests.deciding import adopted
from tests.said import Fact, model, say, send, someone
from tests.served import token_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sound")]

WORKS = Fact("Mara Lind", "works on", "Harbor", "works_on")
IVO = Fact("Ivo Berg", "lives in", "Graz", "lives_in", object_kind="place")
SENTENCE = "Mara Lind works on Harbor."
MINUTES = (
    "The minutes of the second of March say that Mara Lind works on Harbor, and that she will stay with it until the "
    "summer is over, when the new people from Graz arrive to take her place there."
)
MIRROR = "Minutes -- " + MINUTES.replace("summer", "autumn").replace(
    "when the", "WHEN,  the"
)  # 5 of its runs are others
OTHER = "A visitor met the whole crew last week and wrote home that Mara Lind works on Harbor these days."


def from_source(key: str, **fields: Any) -> dict[str, Any]:
    """Return the fields of a text of a keyed source."""
    return {"source_key": key, "source_revision": "1", **fields}


def record(who: Principal) -> RelationshipRecord:
    """Return the only record of a profile."""
    found: RelationshipRecord = RelationshipRecord.objects.of_team(who.team_id).owned_by(who.profile_id).get()
    return found


def standing(who: Principal) -> tuple[str, int, int]:
    """Return tier, supports and voices of the only record of a profile."""
    row = record(who)
    return row.tier, row.support_count, row.source_group_count


def reasons() -> list[str]:
    """Return why groups were joined, each reason once."""
    return sorted(set(GroupJoin.objects.values_list("reason", flat=True)))


def ask(who: Principal) -> None:
    """Recall the sentence."""
    (group,) = serve_recall(principal=who, query="Mara Harbor", now=timezone.now()).results
    assert group.relationships[0].sentence == "Mara Lind works on Harbor"


class TestNearCopies:
    def test_two_texts_of_their_own_are_two_voices(self, ada: Principal) -> None:
        say(ada, MINUTES, WORKS, **from_source("minutes"))
        say(ada, OTHER, WORKS, **from_source("letter"))

        assert standing(ada) == ("fact", 2, 2)
        assert reasons() == []

    @pytest.mark.parametrize(("first", "then"), [(MINUTES, MIRROR), (MIRROR, MINUTES)])
    def test_a_mirror_with_a_few_other_words_is_one_voice(self, ada: Principal, first: str, then: str) -> None:
        say(ada, first, WORKS, **from_source("minutes"))
        say(ada, then, WORKS, **from_source("mirror"))

        assert standing(ada) == ("validated_claim", 2, 1)
        assert reasons() == ["near_copy"]

    @pytest.mark.parametrize("turned", [False, True])
    def test_a_quotation_is_one_voice_with_what_it_quotes_whichever_came_first(
        self, ada: Principal, turned: bool
    ) -> None:
        quotation = "that Mara Lind works on Harbor, and that she will stay with it"
        texts = [MINUTES, quotation]
        for text in reversed(texts) if turned else texts:
            say(ada, text, WORKS, **from_source(uuid4().hex))

        assert standing(ada) == ("validated_claim", 2, 1)

    def test_near_copies_of_one_request_are_one_voice(self, ada: Principal) -> None:
        evidence = [
            {"content": text, "source_type": "document", **from_source(text[:5])} for text in (MINUTES, MIRROR, OTHER)
        ]
        staged = send_all(ada, evidence)
        drain(using=model(WORKS), linger=False)

        assert staged == 3
        assert standing(ada) == ("fact", 3, 2)

    def test_another_profile_copies_too(self, ada: Principal, bo: Principal) -> None:
        say(ada, MINUTES, WORKS, **from_source("minutes"))
        say(bo, MIRROR, WORKS, **from_source("mirror"))
        say(bo, OTHER, WORKS, **from_source("letter"))

        (join,) = GroupJoin.objects.all()
        assert join.fragment.owner_id == bo.profile_id
        assert join.other_id == Source.objects.get(owner_id=ada.profile_id).group_id
        assert standing(bo) == ("fact", 2, 2)

    def test_another_team_is_not_compared(self, ada: Principal, stranger: Principal) -> None:
        say(ada, MINUTES, WORKS, **from_source("minutes"))
        say(stranger, MIRROR, WORKS, **from_source("mirror"))

        assert reasons() == []
        mine, theirs = (set(row.hashes) for row in Shingles.objects.order_by("seq"))
        assert not mine & theirs

    def test_a_voice_that_copies_another_is_bound_to_it_with_all_its_texts(self, ada: Principal) -> None:
        say(ada, MINUTES, WORKS, **from_source("minutes"))
        say(ada, OTHER, WORKS)
        assert standing(ada) == ("fact", 2, 2)

        send(ada, MIRROR)

        assert standing(ada) == ("validated_claim", 2, 1)

    def test_that_binds_more_than_can_be_counted_again_is_joined_for_itself(
        self, ada: Principal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        say(ada, MINUTES, WORKS, **from_source("minutes"))
        say(ada, OTHER, WORKS)
        monkeypatch.setattr(limits, "FANOUT_RECORDS", 0)

        send(ada, MIRROR)

        assert reasons() == ["traced"]
        assert standing(ada) == ("fact", 2, 2)

    def test_what_it_would_not_change_is_not_counted_against_it(
        self, ada: Principal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        say(ada, MINUTES, WORKS, **from_source("minutes"))
        say(ada, OTHER, WORKS, **from_source("letter"))
        say(ada, "Ivo Berg lives in Graz now, as everybody here has known for a year.", IVO)
        monkeypatch.setattr(limits, "FANOUT_RECORDS", 0)

        send(ada, MIRROR)

        assert reasons() == ["near_copy"]

    @pytest.mark.parametrize(
        "texts",
        [[f"{MINUTES} {OTHER}"], [MINUTES, OTHER], [MIRROR, OTHER.upper()]],
        ids=["in one", "exactly", "nearly"],
    )
    def test_who_copies_two_sources_takes_no_fact_back(self, ada: Principal, bo: Principal, texts: list[str]) -> None:
        say(ada, MINUTES, WORKS, **from_source("minutes"))
        say(ada, OTHER, WORKS, **from_source("letter"))

        for text in texts:
            say(bo, text, WORKS)

        assert GroupJoin.objects.values("other_id").distinct().count() == 2
        assert standing(ada) == ("fact", 2, 2)
        assert record(bo).source_group_count == 1

    def test_two_copies_of_one_text_are_one_voice_without_it(self, ada: Principal, bo: Principal) -> None:
        send(bo, f"{MINUTES} {OTHER}", **from_source("book"))

        say(ada, MINUTES, WORKS, **from_source("minutes"))
        say(ada, OTHER, WORKS, **from_source("letter"))

        assert standing(ada) == ("validated_claim", 2, 1)

    def test_texts_of_few_words_are_compared_by_their_words(self, ada: Principal) -> None:
        say(ada, "Mara Lind: works on Harbor", WORKS, **from_source("minutes"))
        send(ada, "Works on Harbor.", **from_source("other"))
        say(ada, "Mara Lind, WORKS on -- Harbor!", WORKS, **from_source("mirror"))

        assert [join.reason for join in GroupJoin.objects.all()] == ["near_copy"]
        assert standing(ada) == ("validated_claim", 2, 1)

    def test_one_of_many_texts_with_a_phrase_in_common_is_found(
        self, ada: Principal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(limits, "NEAR_COPY_CANDIDATES", 1)
        phrase = "The minutes of the second of March say that nobody came"
        say(ada, MINUTES, WORKS, **from_source("minutes"))
        send(ada, *(f"{phrase} {n} {uuid4().hex}" for n in range(6)))

        say(ada, MIRROR, WORKS, **from_source("mirror"))

        assert standing(ada) == ("validated_claim", 2, 1)

    def test_a_text_keeps_keyed_hashes_and_no_words(self, ada: Principal) -> None:
        send(ada, MINUTES, "Four words are few.")

        kept, short = Shingles.objects.order_by("seq")
        assert (kept.content.text, len(short.hashes)) == (MINUTES, 1)
        assert kept.sample == sorted(kept.hashes)[: limits.NEAR_COPY_SAMPLE]
        assert {type(one) for one in kept.hashes} == {int}


def send_all(who: Principal, evidence: list[dict[str, Any]]) -> int:
    """Send a request of several sources and return how many groups there are now."""
    remember(principal=who, body={"evidence": evidence}, idempotency_key=uuid4().hex, now=timezone.now())
    return SourceGroup.objects.of_team(who.team_id).filter(kind="source").count()


class TestEchoes:
    """What was recalled and is said again is the voice that it came from, under whatever name."""

    @pytest.mark.parametrize(
        "fields",
        [from_source("diary"), {"source_group": "session-b"}, from_source("diary", source_group="session-b")],
        ids=["another source", "a hint", "both"],
    )
    def test_a_recalled_sentence_stays_one_voice(self, ada: Principal, fields: dict[str, Any]) -> None:
        say(ada, MINUTES, WORKS, **from_source("minutes"))
        ask(ada)

        say(ada, f"I can tell you: {SENTENCE}", WORKS, **fields)

        assert standing(ada) == ("validated_claim", 2, 1)
        assert "echo" in reasons()

    def test_an_echo_of_two_voices_takes_no_fact_back(self, ada: Principal, bo: Principal) -> None:
        say(ada, MINUTES, WORKS, **from_source("minutes"))
        say(ada, OTHER, WORKS, **from_source("letter"))
        ask(bo)

        say(bo, f"I can tell you: {SENTENCE}", WORKS, **from_source("diary"))

        assert reasons() == ["echo"]
        assert standing(ada) == ("fact", 2, 2)
        assert standing(bo) == ("validated_claim", 1, 1)

    def test_an_echo_binds_no_other_text_of_its_voice(self, ada: Principal) -> None:
        say(ada, MINUTES, WORKS, **from_source("minutes"))
        ask(ada)
        say(ada, f"I can tell you: {SENTENCE}", WORKS)
        assert standing(ada) == ("validated_claim", 2, 1)

        say(ada, "A visitor met Mara Lind, who by all accounts has the lead at Harbor these days.", WORKS)

        assert standing(ada) == ("fact", 3, 2)

    def test_what_copies_an_echo_goes_back_to_where_that_came_from(self, ada: Principal, bo: Principal) -> None:
        say(ada, MINUTES, WORKS, **from_source("minutes"))
        ask(bo)
        told = "One of us knows this for sure and writes it down for you here, in full and by hand. Mara Lind works on Harbor, she says, and nobody doubts it."
        send(bo, told, **from_source("diary"))

        say(ada, told.replace("works on Harbor, she", "works on Harbor; she").replace("says", "said"), WORKS)
        say(ada, told.replace("Lind works", "Lind still works"), WORKS, **from_source("letter"))

        assert reasons() == ["echo", "near_copy", "traced"]
        assert standing(ada) == ("validated_claim", 3, 1)

    def test_who_repeats_its_own_echo_stays_no_voice(self, ada: Principal, bo: Principal) -> None:
        say(ada, MINUTES, WORKS, **from_source("minutes"))
        ask(bo)
        say(bo, f"I can tell you: {SENTENCE}", WORKS)
        ask(bo)

        say(bo, f"Once more: {SENTENCE}", WORKS)
        adopted(bo, Fragment.objects.get(owner_id=ada.profile_id))
        drain(using=model(WORKS), linger=False)

        assert standing(bo) == ("validated_claim", 3, 1)

    def test_the_same_sentence_without_a_recall_is_a_voice(self, ada: Principal) -> None:
        say(ada, "Mara Lind: works on Harbor, by the way, with Ivo.", WORKS, **from_source("minutes"))
        say(ada, "Mara Lind works here. On Harbor, of course.", WORKS, **from_source("diary"))

        assert standing(ada) == ("fact", 2, 2)

    def test_a_second_agent_that_was_served_echoes_too(self, ada: Principal, bo: Principal) -> None:
        say(ada, "Mara Lind, as you know, works on Harbor.", WORKS, **from_source("minutes"))
        ask(bo)

        say(bo, SENTENCE, WORKS, **from_source("diary"))
        say(ada, SENTENCE, WORKS, **from_source("letter"))

        assert standing(ada) == ("validated_claim", 2, 1)

    def test_who_was_served_nothing_does_not_echo(self, ada: Principal, bo: Principal) -> None:
        say(ada, "Mara Lind, our friend, works on Harbor.", WORKS, **from_source("minutes"))
        ask(ada)

        say(bo, SENTENCE, WORKS, **from_source("diary"))

        assert reasons() == []

    def test_a_traced_passage_echoes_when_it_is_long(self, ada: Principal, bo: Principal) -> None:
        text = "Mara Lind, whom you know, works on Harbor with us."
        say(ada, text, WORKS, **from_source("minutes"))
        serve_trace(principal=bo, relationship_id=record(ada).id, now=timezone.now())

        words = "; ".join(f"{text} {filler}" for filler in ("This", "so", "is", "well", "that"))
        send(bo, " ".join(f"{uuid4().hex} and" for _ in range(60)) + words, **from_source("diary"))

        assert "echo" in reasons()

    def test_a_traced_passage_of_few_words_says_nothing(self, ada: Principal, bo: Principal) -> None:
        say(ada, "Mara Lind: works on: Harbor", WORKS)
        say(ada, "Lind does.", Fact("Lind", "works on", "Lind", "works_on"))
        found = RelationshipRecord.objects.owned_by(ada.profile_id).order_by("recorded_at").last()
        serve_trace(principal=bo, relationship_id=found.id, now=timezone.now())

        send(bo, "Lind does.  Nobody else, as far as I know.", **from_source("diary"))

        assert reasons() == []

    def test_a_voice_that_the_words_rest_on_already_joins_nothing(self, ada: Principal) -> None:
        say(ada, MINUTES, WORKS, **from_source("minutes"))
        say(ada, OTHER, WORKS)
        ask(ada)

        say(ada, SENTENCE.replace(".", ", I said."), WORKS)

        assert reasons() == []
        assert standing(ada) == ("fact", 3, 2)

    def test_what_was_served_long_ago_is_forgotten(self, ada: Principal) -> None:
        say(ada, "Mara Lind, our friend, works on Harbor.", WORKS, **from_source("minutes"))
        long_ago = timezone.now() - timedelta(days=limits.SERVED_DAYS + 1)
        serve_recall(principal=ada, query="Mara", now=long_ago)
        ask(ada)

        assert sweep() == 1
        assert sweep() == 0
        (left,) = Served.objects.all()
        assert left.day == timezone.now().date()


class TestServing:
    """What is shown is noted, at every door."""

    def test_every_door_notes_what_it_shows(self, client: Client, ada: Principal) -> None:
        say(ada, MINUTES, WORKS)
        number, headers = record(ada).id, {"Authorization": f"Bearer {token_of(ada)}"}
        doors = [
            lambda: client.get("/api/v1/recall", {"query": "Mara"}, headers=headers),
            lambda: client.get(f"/api/v1/relationships/{number}", headers=headers),
            lambda: client.get(f"/api/v1/relationships/{number}/trace", headers=headers),
            lambda: call_recall_memory(ada, {"query": "Mara"}),
            lambda: call_trace_memory(ada, {"relationship_id": str(number)}),
        ]
        for door in doors:
            Served.objects.all().delete()
            door()
            assert Served.objects.filter(profile_id=ada.profile_id, relationships=[number]).exists()

    def test_conflicts_note_the_claims_of_their_positions(self, client: Client, ada: Principal, bo: Principal) -> None:
        say(ada, "Ivo Berg lives in Graz.", IVO)
        say(bo, "Ivo Berg lives in Linz.", replace(IVO, object="Linz"))
        (case,) = ConflictCase.objects.all()

        for address in ("/api/v1/conflicts", f"/api/v1/conflicts/{case.id}"):
            Served.objects.all().delete()
            client.get(address, headers={"Authorization": f"Bearer {token_of(ada)}"})

            assert Served.objects.filter(relationships=[record(bo).id]).exists()

    def test_questions_note_their_claims_and_their_passage(self, client: Client, ada: Principal, bo: Principal) -> None:
        words = "Mara Lind does not at all seem to us to be somebody who works on Harbor."
        say(bo, SENTENCE, WORKS)
        say(bo, words, replace(WORKS, polarity="-"))
        task, headers = Task.objects.get(), {"Authorization": f"Bearer {token_of(ada)}"}
        doors = [
            lambda: client.get("/api/v1/reviews", headers=headers),
            lambda: client.get(f"/api/v1/reviews/{task.id}", headers=headers),
            lambda: call_list_reviews(ada, {}),
            lambda: call_get_review(ada, {"review_id": str(task.id)}),
        ]
        for door in doors:
            Served.objects.all().delete()
            door()
            assert Served.objects.filter(relationships__contains=[task.relationship_id]).exists()

        send(ada, f"It is like this: {words}", **from_source("diary"))
        assert "echo" in reasons()

    def test_what_rests_on_nothing_that_counts_is_noted_with_what_it_rested_on(
        self, ada: Principal, bo: Principal
    ) -> None:
        say(ada, MINUTES, WORKS, **from_source("minutes"))
        number = record(ada).id
        send(ada, "All new.", source_key="minutes", source_revision="2", previous_source_revision="1")
        assert standing(ada) == ("candidate", 0, 0)

        serve_relationship(principal=bo, relationship_id=number, now=timezone.now())

        (kept,) = Served.objects.all()
        assert kept.groups == [Source.objects.get().group_id]

    def test_the_same_words_of_one_day_are_noted_once_and_hold_no_text(self, ada: Principal) -> None:
        say(ada, MINUTES, WORKS)
        ask(ada)
        ask(ada)

        (kept,) = Served.objects.values()
        assert kept["groups"] == [SourceGroup.objects.get().id]
        assert "Mara" not in json.dumps(kept, default=str)

    def test_a_note_cannot_be_changed(self, ada: Principal) -> None:
        say(ada, MINUTES, WORKS)
        ask(ada)

        with pytest.raises(DatabaseError, match="refused"), transaction.atomic():
            Served.objects.update(groups=[])

    def test_what_cannot_be_noted_is_not_shown(
        self, client: Client, ada: Principal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        say(ada, MINUTES, WORKS)

        def fail(**_: Any) -> None:
            raise OperationalError("the disk is full")

        monkeypatch.setattr("relationships.serving.note_served", fail)
        headers = {"Authorization": f"Bearer {token_of(ada)}"}
        response = client.get("/api/v1/recall", {"query": "Mara"}, headers=headers)

        assert response.status_code == 503
        assert "Mara" not in response.content.decode()


@pytest.mark.django_db(transaction=True)
class TestAtOneMoment:
    @pytest.mark.parametrize("words", [12, 200], ids=["runs locked one by one", "alone in the team"])
    def test_two_near_copies_see_each_other(self, words: int, monkeypatch: pytest.MonkeyPatch) -> None:
        ada = someone(Team.objects.create(name="Northwind (sample)"), "Ada")
        send(ada, "Hello.")  # who makes the group of an owner lets others wait, too
        text = " ".join(f"word{n}" for n in range(words))
        meet = threading.Barrier(2)
        looked = joining.near_copies

        def wait(**given: Any) -> Any:
            found = looked(**given)
            with suppress(threading.BrokenBarrierError):
                meet.wait(2)  # the other one, if it need not wait for us
            return found

        monkeypatch.setattr(joining, "near_copies", wait)

        def take(number: int) -> None:
            try:
                send(ada, f"{text} end{number}", **from_source(f"s{number}"))
            finally:
                connections.close_all()

        threads = [threading.Thread(target=take, args=[number]) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert reasons() == ["near_copy"]
