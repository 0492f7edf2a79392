"""One question over REST: what a client needs to act on it, and what it must not see."""

from dataclasses import asdict
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from densemem.core.words import Role, Scope
from densemem.models import Profile
from densemem.providers.scripted import Scripted
from entities.models import ResolutionEvent
from evidence.models import Quarantine, SecurityEvent, SecuritySignal
from placement.models import Item
from placement.status import get_placement
from placement.tasks import drain
from relationships.models import ObservationResolution
from review.models import Decision, DecisionEvidence, DecisionUse, Task, TaskEvent, Waiting
from tests import console_rows as rows
from tests import factories
from tests.said import Fact, model, say, send
from tests.writing import writing

pytestmark = pytest.mark.django_db

TEXT = "Ask Alex about the harbour code 4711."
HELD_WORDS = "A text is held and waits for a manager"


@pytest.fixture
def mara(db: None) -> Profile:
    return rows.person(rows.team(), "Mara")


@pytest.fixture
def teo(mara: Profile) -> Profile:
    return rows.person(mara.team, "Teo")


@pytest.fixture
def ines(mara: Profile) -> Profile:
    return rows.person(mara.team, "Ines", role=Role.MANAGER)


def get(profile: Profile, task: Any, *, scopes: tuple[Scope, ...] = tuple(Scope), **headers: str) -> Any:
    """Read a question as a profile."""
    address = f"/api/v1/reviews/{getattr(task, 'id', task)}"
    return Client().get(address, headers={**factories.bearer(profile, scopes=scopes), **headers})


def alexes(mara: Profile) -> Task:
    """Ask which of two people is meant; of one of them something is known."""
    source = rows.fragment(mara, TEXT)
    known = rows.record(rows.fragment(mara, "Alex works at Corvine."), "Corvine", subject="Alex", obj="Corvine")
    return rows.identity_task(source, "Alex", [known.subject_entity, rows.entity(source, "Alex Ferrow")])


def conflict(mara: Profile) -> Task:
    """Ask which of two statements holds."""
    here, there = rows.fragment(mara, "Mara works at Corvine."), rows.fragment(mara, "Mara works at Brine.")
    mine = rows.record(here, "Corvine", subject="Mara", obj="Corvine", status="needs_review")
    return rows.conflict_task(here, mine, rows.record(there, "Brine", subject="Mara", obj="Brine"))


def wording(mara: Profile, *, ends: tuple[str, str] | None = ("person", "place")) -> Task:
    """Ask what a wording means, between ends of these kinds."""
    source = rows.fragment(mara, "Mara tends Buoy 14.")
    task = rows.predicate_task(source, "tends", "tends")
    if ends:
        subject, other = (rows.entity(source, name, kind=k) for name, k in zip(("Mara", "Buoy 14"), ends, strict=True))
        with writing(mara.id):
            ObservationResolution.objects.create(
                team=mara.team,
                observation=task.observation,
                subject_entity=subject,
                object_entity=other,
                outcome="predicate_needs_review",
                reason="predicate_not_registered",
            )
    return task


def waits(task: Task, source: Any, quote: str) -> None:
    """Let an observation of a text wait for the answer to a task."""
    seen = rows.observation(source, quote)
    Waiting.objects.create(team=task.team, task=task, item=rows.item_of(source), fragment=source, observation=seen)


def hold(task: Task) -> None:
    """Hold the text of a question, with a signal in it."""
    of = {"team": task.team}
    Quarantine.objects.create(**of, fragment=task.fragment, status="active", opened_at=rows.NOON)
    event = SecurityEvent.objects.create(
        **of, fragment=task.fragment, kind="deterministic_scan", decision="quarantine", policy_hash="0" * 64
    )
    SecuritySignal.objects.create(
        **of, event=event, position=0, kind="instruction_override", severity="high", start=0, end=3
    )


def decided(task: Task, by: Profile, action: str, **about: Any) -> Decision:
    """Store a decision about a question."""
    return Decision.objects.create(
        operation="answer",
        team=task.team,
        owner=by,
        action=action,
        idempotency_key=uuid4().hex,
        request_hash="0",
        task=task,
        **about,
    )


def actions(answer: Any) -> list[str]:
    """Return the names of the actions that an answer offers."""
    return [option["action"] for option in answer.json()["actions"]]


class TestReview:
    def test_of_a_name_offers_the_candidates_with_what_tells_them_apart(self, mara: Profile) -> None:
        task = alexes(mara)

        body = get(mara, task).json()

        assert body["question"] == "Which one is “Alex”?"
        assert body["why"] == "The text does not tell the candidates apart."
        assert [(c["canonical_name"], c["kind"], c["why_offered"], c["known"]) for c in body["candidates"]] == [
            ("Alex", "person", "exact_key", ["Alex works at Corvine"]),
            ("Alex Ferrow", "person", "exact_key", []),
        ]
        assert {c["entity_id"] for c in body["candidates"]} == {
            str(c.entity_id) for c in task.resolution.candidates.all()
        }
        assert body["entity_ref"] == task.resolution.mention_ref

    def test_points_to_the_exact_evidence(self, mara: Profile) -> None:
        task = alexes(mara)

        body = get(mara, task).json()

        assert body["evidence"] == [{"fragment_id": str(task.fragment_id), "spans": [[4, 8]]}]
        assert [part["text"] for part in body["passage"] if part["marked"]] == ["Alex"]
        assert "".join(part["text"] for part in body["passage"]) == TEXT

    def test_of_a_wording_offers_the_predicates_that_accept_its_ends(self, mara: Profile) -> None:
        body = get(mara, wording(mara)).json()

        options = {option["key"]: option for option in body["predicate_options"]}
        assert body["question"] == "What does “tends” mean here?"
        assert all("person" in o["subject_kinds"] and "place" in o["object_kinds"] for o in options.values())
        assert "lives_in" in options and "works_on" not in options
        assert set(options["lives_in"]) == {
            *("key", "version", "active", "inverse", "symmetric", "subject_kinds", "object_kinds"),
            *("kind", "cardinality", "lifecycle"),
        }
        assert (options["lives_in"]["cardinality"], options["lives_in"]["lifecycle"]) == ("one", "active")
        assert body["observation_id"]

    def test_of_a_wording_between_open_ends_offers_every_predicate(self, mara: Profile) -> None:
        keys = {o["key"] for o in get(mara, wording(mara, ends=None)).json()["predicate_options"]}

        assert {"lives_in", "works_on"} <= keys

    def test_of_a_conflict_shows_both_statements(self, mara: Profile) -> None:
        body = get(mara, conflict(mara)).json()

        assert body["statement"]["sentence"] == "Mara works at Corvine"
        assert body["rival"]["sentence"] == "Mara works at Brine"
        assert body["question"] == "Which holds: “Mara works at Corvine” or “Mara works at Brine”?"
        assert (body["predicate_options"], body["candidates"]) == ([], [])

    def test_counts_what_waits_for_the_answer(self, mara: Profile) -> None:
        task = wording(mara)
        assert get(mara, task).json()["impact"] == {"observations": 0, "items": 0, "words": "No statement waits."}

        waits(task, task.fragment, "tends")
        assert get(mara, task).json()["impact"] == {
            "observations": 1,
            "items": 1,
            "words": "One statement waits for this answer.",
        }

        waits(task, task.fragment, "Buoy")
        waits(task, rows.fragment(mara, "Mara tends Buoy 15."), "tends")
        assert get(mara, task).json()["impact"] == {
            "observations": 3,
            "items": 2,
            "words": "3 statements of 2 texts wait for this answer.",
        }

    def test_names_the_item_and_the_version_that_a_decision_must_name(self, mara: Profile) -> None:
        task = alexes(mara)
        Item.objects.filter(pk=task.item_id).update(version=4)

        body = get(mara, task).json()

        assert (body["item_id"], body["item_version"]) == (str(task.item_id), 4)
        assert (body["review_id"], body["version"], body["ingest_id"]) == (
            str(task.id),
            1,
            str(task.item.ingest_id),
        )

    def test_tells_its_history_and_what_was_decided(self, mara: Profile) -> None:
        task = alexes(mara)
        TaskEvent.objects.create(team=mara.team, task=task, version=2, status="resolved", actor=mara, reason="decided")
        made = decided(task, mara, "reject", message="Neither of them.", item=task.item, item_version=1)
        DecisionEvidence.objects.create(team=mara.team, decision=made, fragment=task.fragment)
        decided(task, mara, "acknowledge")
        DecisionUse.objects.create(team=mara.team, decision=made, item=task.item, cycle=1, carried_out=True)

        body = get(mara, task).json()

        assert [(s["version"], s["status"], (s["actor"] or {}).get("name")) for s in body["history"]] == [
            (1, "open", None),
            (2, "resolved", "Mara"),
        ]
        first, second = body["decisions"]
        assert (first["action"], first["by"]["name"], first["message"]) == ("reject", "Mara", "Neither of them.")
        assert (first["compensation"], first["carried_out"]) == ("reopen", True)
        assert first["evidence"] == [str(task.fragment_id)]
        assert (second["action"], second["compensation"], second["carried_out"]) == ("acknowledge", None, False)

    @pytest.mark.parametrize("shape", ["another team's", "nobody's", "no id"])
    def test_of_another_team_is_not_there(self, mara: Profile, shape: str) -> None:
        theirs = rows.held_task(rows.person(rows.team("Other"), "Stranger"), "one")
        asked = {"another team's": theirs.id, "nobody's": uuid4(), "no id": "x"}[shape]

        answer = get(mara, asked)

        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
        assert answer.json()["detail"] == "There is no such thing in your team."

    def test_needs_the_scope_to_read(self, mara: Profile) -> None:
        assert get(mara, alexes(mara), scopes=(Scope.WRITE,)).json()["code"] == "scope_missing"

    @pytest.mark.parametrize("kind", ["identity", "predicate", "conflict"])
    def test_costs_the_same_for_one_thing_and_for_ten(self, mara: Profile, kind: str) -> None:
        def asked(count: int) -> Task:
            source = rows.fragment(mara, TEXT)
            works = rows.fragment(mara, "Alex works at Corvine.")
            people = [
                rows.record(works, "Corvine", subject=f"Alex {n}", obj="Corvine").subject_entity for n in range(count)
            ]
            makes = {"identity": lambda: rows.identity_task(source, "Alex", people), "predicate": lambda: wording(mara)}
            task = makes.get(kind, lambda: conflict(mara))()
            for _ in range(count):
                waits(task, source, "Alex")
                made = decided(task, mara, "acknowledge")
                DecisionEvidence.objects.create(team=mara.team, decision=made, fragment=source)
                DecisionUse.objects.create(team=mara.team, decision=made, item=task.item, cycle=1, carried_out=True)
            return task

        def costs(task: Task) -> int:
            with CaptureQueriesContext(connection) as queries:
                assert Client().get(f"/api/v1/reviews/{task.id}", headers=token).status_code == 200
            return len(queries)

        token = factories.bearer(mara)
        costs(asked(1))  # the first use of a token is noted

        assert costs(asked(1)) == costs(asked(10))


class TestActions:
    def test_of_the_owner_are_those_that_fit_with_what_each_must_say(self, mara: Profile) -> None:
        body = get(mara, alexes(mara)).json()

        assert {o["action"]: (o["requires"], o["compensation"]) for o in body["actions"]} == {
            "acknowledge": ([], None),
            "select_entity": (["candidate_entity_id", "entity_ref", "item_version"], "withdraw"),
            "confirm_new_entity": (["entity_ref", "evidence", "item_version"], "withdraw"),
            "correct": (["evidence", "item_version"], None),
            "reject": (["item_version", "message"], "reopen"),
        }
        assert body["next_action"] == f"You decide. Send one of the actions to POST {body['address']}/decisions."

    def test_are_none_for_others_not_even_for_a_manager(self, mara: Profile, teo: Profile, ines: Profile) -> None:
        task = conflict(mara)

        for other in (teo, ines):
            assert actions(get(other, task)) == []
            assert get(other, task).json()["next_action"].startswith("Only its owner decides.")

    def test_about_a_held_text_are_a_managers_and_anybody_may_ask(
        self, mara: Profile, teo: Profile, ines: Profile
    ) -> None:
        task = rows.held_task(mara, TEXT)

        assert {tuple(actions(get(member, task))) for member in (mara, teo)} == {("acknowledge",)}
        assert set(actions(get(ines, task))) == {"acknowledge", "reject", "release_quarantine"}
        assert "Only a manager" in get(teo, task).json()["next_action"]
        assert get(ines, task).json()["next_action"].startswith("Send one of the actions")

    def test_are_none_without_the_scope_to_write(self, mara: Profile) -> None:
        answer = get(mara, alexes(mara), scopes=(Scope.READ,))

        assert actions(answer) == []
        assert "scope write" in answer.json()["next_action"]

    @pytest.mark.parametrize(("status", "left"), [("acknowledged", True), ("resolved", False), ("canceled", False)])
    def test_are_left_only_while_it_waits(self, mara: Profile, status: str, left: bool) -> None:
        task = alexes(mara)
        Task.objects.filter(pk=task.pk).update(status=status)

        answer = get(mara, task)

        assert bool(actions(answer)) is left
        assert left or answer.json()["next_action"] == "Nothing to do: it is closed."

    def test_about_a_text_that_was_held_meanwhile_wait_for_its_release(self, mara: Profile, ines: Profile) -> None:
        task = alexes(mara)
        hold(task)

        for anybody in (mara, ines):
            assert actions(get(anybody, task)) == []
            assert get(anybody, task).json()["next_action"].startswith("Wait: the text is held")


class TestHeldText:
    @pytest.mark.parametrize("makes", [alexes, wording, conflict, lambda mara: rows.held_task(mara, TEXT)])
    @pytest.mark.parametrize("who", ["owner", "member", "manager"])
    def test_gives_a_generic_reason_and_nothing_of_itself_to_anybody(
        self, mara: Profile, teo: Profile, ines: Profile, makes: Any, who: str
    ) -> None:
        task = makes(mara)
        decided(task, mara, "acknowledge", message="It quotes 4711.", predicate_key="tends")
        waits(task, task.fragment, task.fragment.content.text[:5])
        if task.kind != "policy_needs_review":
            hold(task)
        caller = {"owner": mara, "member": teo, "manager": ines}[who]

        body = get(caller, task).json()

        empty = {
            **{"candidates": [], "evidence": [], "passage": [], "predicate_options": []},
            **{"statement": None, "rival": None, "entity_ref": None, "observation_id": None, "impact": None},
        }
        assert {name: body[name] for name in empty} == empty
        assert (body["held"], body["question"], body["reason"]) == (True, HELD_WORDS, "evidence_held")
        assert {step["reason"] for step in body["history"]} == {"evidence_held"}
        assert [(d["message"], d["predicate_key"]) for d in body["decisions"]] == [("", None)]
        said = get(caller, task).content.decode()
        assert not [w for w in ("4711", "Alex", "Corvine", "tends", "instruction_override") if w in said]

    def test_is_as_silent_in_the_list(self, mara: Profile, ines: Profile) -> None:
        for task in (alexes(mara), wording(mara), conflict(mara)):
            hold(task)

        answer = Client().get("/api/v1/reviews", headers=factories.bearer(ines))

        assert [(t["question"], t["reason"], t["evidence"]) for t in answer.json()["results"]] == [
            (HELD_WORDS, "evidence_held", [])
        ] * 3
        assert not [w for w in ("4711", "Alex", "Corvine", "tends") if w in answer.content.decode()]

    def test_is_as_silent_in_the_placement(self, mara: Profile) -> None:
        who = factories.principal_of(mara)
        view = say(who, "Mara Lind is hacking on Harbor.", Fact("Mara Lind", "is hacking on", "Harbor"))
        assert view.items[0].outcomes and view.items[0].review_tasks[0].question
        hold(Task.objects.get())

        (item,) = get_placement(team_id=mara.team_id, ingest_id=view.ingest_id).items

        assert (item.outcomes, item.reason) == ((), "evidence_held")
        assert (item.review_tasks[0].question, item.review_tasks[0].impact) == (HELD_WORDS, None)
        assert not [w for w in ("Harbor", "hacking", "Mara Lind", "Scripted") if w in str(asdict(item))]


class TestETag:
    def test_answers_304_while_nothing_changed(self, mara: Profile) -> None:
        task = alexes(mara)
        tag = get(mara, task)["ETag"]

        again = get(mara, task, **{"If-None-Match": f'"other", W/{tag}'})

        assert tag.startswith(f'"r{task.id}.v1.')
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", tag)

    @pytest.mark.parametrize("change", ["version", "item", "decision", "waiting", "held"])
    def test_changes_with_all_that_the_answer_shows(self, mara: Profile, change: str) -> None:
        task = alexes(mara)
        tag = get(mara, task)["ETag"]

        match change:
            case "version":
                Task.objects.filter(pk=task.pk).update(status="acknowledged", version=2)
            case "item":
                Item.objects.filter(pk=task.item_id).update(version=2)
            case "decision":
                decided(task, mara, "acknowledge")
            case "waiting":
                waits(task, task.fragment, "Ask")
            case "held":
                hold(task)
        answer = get(mara, task, **{"If-None-Match": tag})

        assert answer.status_code == 200
        assert answer["ETag"] != tag

    def test_is_each_callers_own(self, mara: Profile, teo: Profile) -> None:
        task = alexes(mara)

        assert get(mara, task)["ETag"] != get(teo, task)["ETag"]


class TestPlacement:
    def test_carries_question_candidates_impact_and_evidence(self, mara: Profile) -> None:
        who = factories.principal_of(mara)
        for n in "12":
            source = rows.fragment(mara, f"Alex is the number {n}.")
            rows.entity(source, "Alex")
        Item.objects.update(state="completed")

        view = say(who, "Alex works on Harbor.", Fact("Alex", "works on", "Harbor", "works_on"))

        (task,) = view.items[0].review_tasks
        assert (task.question, len(task.candidates)) == ("Which one is “Alex”?", 2)
        assert task.impact is not None and task.impact.observations == 1
        assert task.evidence[0].spans == ((0, 4),)
        assert task.entity_ref == ResolutionEvent.objects.get(action="ambiguous").mention_ref
        assert task.item_version == view.items[0].version
        assert task.address == f"/api/v1/reviews/{task.review_id}"
        assert view.next_action.startswith("A person must decide")

    def test_shows_a_question_to_every_item_that_waits_for_it(self, mara: Profile) -> None:
        who = factories.principal_of(mara)
        tends = Fact("Mara Lind", "is hacking on", "Harbor")
        first = say(who, "Mara Lind is hacking on Harbor.", tends)
        second = say(who, "Again, Mara Lind is hacking on Harbor.", tends)

        (task,) = second.items[0].review_tasks
        assert task.review_id == first.items[0].review_tasks[0].review_id
        assert task.impact is not None and (task.impact.observations, task.impact.items) == (2, 2)
        listed = Client().get(f"/api/v1/reviews?ingest_id={second.ingest_id}", headers=factories.bearer(mara)).json()
        assert [row["review_id"] for row in listed["results"]] == [str(task.review_id)]

    def test_says_when_an_item_that_was_put_back_is_tried_again(self, mara: Profile) -> None:
        who = factories.principal_of(mara)
        number = send(who, "Mara Lind works on Harbor.")
        drain(using=Scripted(lambda _: "{"), linger=False)
        Item.objects.filter(ingest_id=number).update(
            state="queued", available_at=rows.timezone.now() + timedelta(seconds=100)
        )

        answer = Client().get(f"/api/v1/ingests/{number}", headers=factories.bearer(mara))

        assert answer.json()["reason"] == "tried_again_later"
        assert 95 <= int(answer["Retry-After"]) <= 100
        assert answer.json()["items"][0]["check_after_seconds"] == int(answer["Retry-After"])

    def test_that_failed_says_who_may_try_again_and_where(self, mara: Profile) -> None:
        number = send(factories.principal_of(mara), "Mara Lind works on Harbor.")
        drain(using=Scripted(lambda _: "{"), linger=False)

        answer = Client().get(f"/api/v1/ingests/{number}", headers=factories.bearer(mara))

        body = answer.json()
        assert body["processing_state"] == "failed"
        assert (
            f"owner or a manager may have it tried again: POST /api/v1/ingests/{number}/retries"
            in (body["next_action"])
        )
        assert body["reason"] == body["items"][0]["reason"] == "extract_answers_invalid"
        assert "Retry-After" not in answer

    def test_costs_the_same_for_one_item_and_for_ten(self, mara: Profile) -> None:
        who = factories.principal_of(mara)
        fact = Fact("Mara Lind", "is hacking on", "Harbor")

        def costs(texts: int) -> int:
            number = send(who, *(f"Number {n}: Mara Lind is hacking on Harbor." for n in range(texts)))
            drain(using=model(fact), linger=False)
            with CaptureQueriesContext(connection) as queries:
                view = get_placement(team_id=mara.team_id, ingest_id=number)
            assert len(view.items) == texts and all(item.review_tasks for item in view.items)
            return len(queries)

        assert costs(1) == costs(10)
