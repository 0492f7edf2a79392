"""A manager teaches the team a wording, and what waited for it becomes knowledge of those who said it."""

from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from densemem.auth import Principal
from densemem.core import limits
from densemem.models import Team
from densemem.providers.base import Call, Stage
from densemem.providers.scripted import Scripted
from placement.decide import (
    DecisionRefused,
    RegistryDecided,
    change_lifecycle,
    register_predicate,
    register_wording,
    retry,
)
from placement.models import Attempt, Item
from placement.tasks import drain
from relationships.models import Observation, PredicateDefinition, RelationshipRecord, Transition
from relationships.policy.registry import RegistryRefused
from relationships.queries import registry
from review.models import Decision, DecisionUse, Task
from review.policy import NotTheDecider
from tests.deciding import HACKING, HACKS, TEXT, WORKS, answer, nobody, open_task, place
from tests.said import Fact, model, say, send, someone

pytestmark = pytest.mark.django_db

STEERS = Fact("Ivo", "steers", "Harbor", "steers")
STEERING = "Ivo steers Harbor."
NEW = {
    "key": "steers",
    "aliases": ["is at the helm of"],
    "subject_kinds": ["person"],
    "object_kinds": ["project"],
    "relationship_kind": "state",
    "cardinality": "many",
    "reason": "We say so.",
}


@pytest.fixture
def team() -> Team:
    return Team.objects.create(name="Northwind (sample)")


@pytest.fixture
def ada(team: Team) -> Principal:
    return someone(team, "Ada")


@pytest.fixture
def bea(team: Team) -> Principal:
    return someone(team, "Bea")


@pytest.fixture
def cy(team: Team) -> Principal:
    return someone(team, "Cy", role="manager")


def teach(who: Principal, wording: str, *, key: str = "works_on", **given: Any) -> RegistryDecided:
    """Let a wording mean a key, at the version that the team has now."""
    version = given.pop("expected_version", registry(team_id=who.team_id)[key].version)
    body = {"wording": wording, "reason": "We say so."}
    given = {"idempotency_key": uuid4().hex, "now": timezone.now(), **given}
    return register_wording(principal=who, key=key, expected_version=version, body=body, **given)


def new_key(who: Principal, **changes: Any) -> RegistryDecided:
    """Register a key."""
    body = {**NEW, **changes}
    return register_predicate(principal=who, body=body, idempotency_key=uuid4().hex, now=timezone.now())


def make(who: Principal, key: str, state: str) -> RegistryDecided:
    """Change the lifecycle of a key at the version that it has now."""
    version = PredicateDefinition.objects.filter(key=key).order_by("-seq").values_list("version", flat=True)[0]
    given: dict[str, Any] = {"idempotency_key": uuid4().hex, "now": timezone.now()}
    body = {"state": state, "reason": "Told apart now."}
    return change_lifecycle(principal=who, key=key, expected_version=version, body=body, **given)


def rows_of_record(record: RelationshipRecord) -> tuple[Any, ...]:
    """Return everything that a record is."""
    (row,) = RelationshipRecord.objects.filter(pk=record.pk).values_list()
    return tuple(row)


class TestAWording:
    def test_answers_every_owner_and_writes_for_each_its_own_record(
        self, ada: Principal, bea: Principal, cy: Principal
    ) -> None:
        say(ada, HACKING, HACKS)
        say(bea, "Mara Lind is  HACKING on Harbor.", Fact("Mara Lind", "is HACKING on", "Harbor", "works_on"))
        assert Task.objects.filter(status="open").count() == 2
        assert not RelationshipRecord.objects.exists()

        done = teach(cy, "is hacking on")
        drain(using=model(HACKS), linger=False)

        assert (done.taken_up, done.still_asked, done.predicate.version) == (2, 0, 2)
        records = RelationshipRecord.objects.all()
        assert {r.owner_id for r in records} == {ada.profile_id, bea.profile_id}
        assert {(r.predicate_key, r.predicate_version, r.status) for r in records} == {("works_on", 2, "active")}
        assert set(Task.objects.values_list("status", flat=True)) == {"resolved"}
        assert set(Item.objects.values_list("state", flat=True)) == {"completed"}

    def test_costs_each_text_one_verifier_request_about_what_waited(self, ada: Principal, cy: Principal) -> None:
        text = f"{HACKING} {TEXT}"
        say(ada, text, HACKS, WORKS)
        asked: list[Call] = []
        scripted = model(HACKS, WORKS)

        def listen(call: Call) -> str:
            asked.append(call)
            return scripted.complete(call).text

        teach(cy, "is hacking on")
        drain(using=Scripted(listen), linger=False)

        assert [call.stage.value for call in asked] == ["verify"]
        assert '"original_predicate":"is hacking on"' in asked[0].turns[0].text.replace('": "', '":"')
        assert '"works on"' not in asked[0].turns[0].text
        assert Observation.objects.count() == 2

    def test_resolves_in_later_evidence_without_a_question(self, ada: Principal, cy: Principal) -> None:
        teach(cy, "is hacking on")

        view = say(ada, HACKING, HACKS)

        assert view.items[0].state == "completed"
        assert RelationshipRecord.objects.get().predicate_version == 2
        assert not Task.objects.exists()

    def test_holds_for_one_team_alone(self, cy: Principal) -> None:
        other = someone(Team.objects.create(name="Umbra (sample)"), "Uma")
        teach(cy, "is hacking on")

        say(other, HACKING, HACKS)

        assert not RelationshipRecord.objects.exists()
        assert open_task().owner_id == other.profile_id
        assert not PredicateDefinition.objects.filter(team=None, version__gt=1).exists()

    def test_decides_nothing_that_the_verifier_does_not_find_in_the_text(self, ada: Principal, cy: Principal) -> None:
        say(ada, HACKING, HACKS)

        teach(cy, "is hacking on")
        drain(
            using=model(Fact("Mara Lind", "is hacking on", "Harbor", "works_on", verdict="contradicted")), linger=False
        )

        assert RelationshipRecord.objects.get().status == "rejected"

    def test_is_refused_where_it_means_another_predicate(self, ada: Principal, cy: Principal) -> None:
        with pytest.raises(RegistryRefused, match="means one predicate"):
            teach(cy, "Works  For")

        assert not Decision.objects.exists()

    def test_is_taught_by_managers_alone(self, ada: Principal) -> None:
        with pytest.raises(NotTheDecider) as refused:
            teach(ada, "is hacking on")

        assert refused.value.code == "not_manager"
        assert not PredicateDefinition.objects.filter(team=ada.team_id).exists()

    def test_leaves_the_other_questions_of_a_text_open(self, ada: Principal, cy: Principal) -> None:
        guards = Fact("Mara Lind", "watches over", "Harbor", "works_on")
        say(ada, f"{HACKING} Mara Lind watches over Harbor.", HACKS, guards)

        teach(cy, "is hacking on")
        drain(using=model(HACKS, guards), linger=False)

        assert RelationshipRecord.objects.count() == 1
        assert open_task(kind="predicate_needs_review").reason == "predicate_not_registered"
        assert Item.objects.get().state == "awaiting_review"

    def test_is_rehearsed_without_a_trace(self, ada: Principal, cy: Principal) -> None:
        say(ada, HACKING, HACKS)

        done = teach(cy, "is hacking on", dry_run=True)

        assert (done.taken_up, done.predicate.version, done.decision.dry_run) == (1, 2, True)
        assert open_task().kind == "predicate_needs_review"
        assert not PredicateDefinition.objects.filter(team=cy.team_id).exists()
        assert "is hacking on" not in registry(team_id=cy.team_id)["works_on"].wordings
        assert (Decision.objects.count(), Item.objects.get().state) == (0, "awaiting_review")

    def test_sent_again_under_its_key_is_answered_alike(self, ada: Principal, cy: Principal) -> None:
        say(ada, HACKING, HACKS)
        given = {"idempotency_key": "one", "expected_version": 1}

        first, again = teach(cy, "is hacking on", **given), teach(cy, "is hacking on", **given)

        assert again.decision.replayed
        assert (again.decision.decision_id, again.predicate, again.taken_up) == (
            first.decision.decision_id,
            first.predicate,
            1,
        )
        assert PredicateDefinition.objects.filter(team=cy.team_id).count() == 1


class TestWhatIsTakenUp:
    def test_is_what_waits_and_the_rest_is_taken_up_when_it_waits_again(
        self, ada: Principal, bea: Principal, cy: Principal
    ) -> None:
        first, second = say(ada, HACKING, HACKS), say(bea, HACKING, HACKS)
        Item.objects.filter(ingest_id=second.ingest_id).update(state="failed", category="processing_failed")

        done = teach(cy, "is hacking on")

        assert (done.taken_up, done.still_asked) == (1, 1)
        assert open_task().owner_id == bea.profile_id
        Item.objects.filter(ingest_id=second.ingest_id).update(state="awaiting_review", category="evidence_processed")
        again = teach(cy, "is hacking on")
        drain(using=model(HACKS), linger=False)
        assert (again.taken_up, again.still_asked, again.predicate.version) == (1, 0, 2)
        assert RelationshipRecord.objects.count() == 2
        assert first.ingest_id != second.ingest_id

    def test_is_bounded(self, ada: Principal, cy: Principal, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "REGISTRY_ITEMS", 1)
        early = say(ada, HACKING, HACKS)
        say(ada, f"{HACKING} Really.", HACKS)

        done = teach(cy, "is hacking on")

        assert (done.taken_up, done.still_asked) == (1, 1)
        assert Item.objects.get(state="queued").ingest_id == early.ingest_id
        assert open_task().item.ingest_id != early.ingest_id  # asked anew about the rest alone

    def test_waits_for_the_retry_when_the_new_verification_fails(self, ada: Principal, cy: Principal) -> None:
        say(ada, HACKING, HACKS)
        teach(cy, "is hacking on")
        drain(using=Scripted(lambda call: "no answer"), linger=False)
        assert Item.objects.get().state == "failed"
        assert not DecisionUse.objects.exists()

        done = retry(
            principal=ada,
            ingest_id=Item.objects.get().ingest_id,
            body={"reason": "Again."},
            idempotency_key=uuid4().hex,
            now=timezone.now(),
        )
        place(done, ada, HACKS)

        assert RelationshipRecord.objects.get().owner_id == ada.profile_id
        assert DecisionUse.objects.get().decision.action == "register_predicate"
        assert [a.stage for a in Attempt.objects.order_by("made_at", "id") if a.outcome == "valid"] == [
            "extract",
            "verify",
            "verify",
        ]

    def test_is_nothing_that_its_owner_answered_before(self, ada: Principal, cy: Principal) -> None:
        view = say(ada, HACKING, HACKS)
        answer(ada, open_task(), "reject", message="A joke.")
        place(view, ada, using=nobody())

        done = teach(cy, "is hacking on")

        assert (done.taken_up, done.still_asked) == (0, 0)
        assert not RelationshipRecord.objects.filter(status="active").exists()

    def test_includes_a_text_whose_verifier_was_asked_before_the_wording_was_known(
        self, ada: Principal, cy: Principal
    ) -> None:
        scripted, taught = model(HACKS), list[RegistryDecided]()

        def meanwhile(call: Call) -> str:
            said = scripted.complete(call).text
            if call.stage.value == "verify" and not taught:
                taught.append(teach(cy, "is hacking on"))
            return said

        view = say(ada, HACKING, using=Scripted(meanwhile))

        assert (taught[0].taken_up, taught[0].still_asked) == (0, 0)
        assert view.items[0].state == "completed"
        assert RelationshipRecord.objects.get().predicate_version == 2
        assert not Task.objects.exists()


class TestANewKey:
    def test_settles_all_its_wordings_in_one_text_at_once(self, ada: Principal, cy: Principal) -> None:
        helm = Fact("Bo", "is at the helm of", "Harbor", "steers")
        say(ada, f"{STEERING} Bo is at the helm of Harbor.", STEERS, helm)
        assert Task.objects.filter(status="open").count() == 2

        done = new_key(cy)
        drain(using=model(STEERS, helm), linger=False)

        assert done.taken_up == 1
        assert set(Task.objects.values_list("status", flat=True)) == {"resolved"}
        assert [r.predicate_key for r in RelationshipRecord.objects.all()] == ["steers", "steers"]

    def test_takes_no_ends_that_it_does_not_accept(self, ada: Principal, cy: Principal) -> None:
        say(ada, STEERING, STEERS)

        new_key(cy, object_kinds=["place"])
        drain(using=model(Fact("Ivo", "steers", "Harbor")), linger=False)

        assert not RelationshipRecord.objects.exists()
        assert open_task().kind == "predicate_needs_review"

    def test_is_the_only_way_in_for_a_wording(self, ada: Principal) -> None:
        before = PredicateDefinition.objects.count()

        say(ada, STEERING, STEERS)
        say(ada, f"{STEERING} Really.", STEERS)

        assert PredicateDefinition.objects.count() == before
        assert not RelationshipRecord.objects.exists()
        assert open_task().waiting.count() == 2  # one question for an owner and a wording


class TestLifecycle:
    def test_changes_no_record_that_stands(self, ada: Principal, cy: Principal) -> None:
        new_key(cy)
        say(ada, STEERING, STEERS)
        record = RelationshipRecord.objects.get()
        before, steps = rows_of_record(record), Transition.objects.count()

        teach(cy, "pilots", key="steers")
        make(cy, "steers", "deprecated")
        make(cy, "steers", "retired")

        assert rows_of_record(record) == before
        assert (record.predicate_version, record.relationship_kind, record.current_cardinality) == (1, "state", "many")
        assert Transition.objects.count() == steps

    def test_deprecated_is_proposed_to_no_model_and_takes_its_own_words(self, ada: Principal, cy: Principal) -> None:
        new_key(cy)
        make(cy, "steers", "deprecated")
        scripted, asked = model(STEERS), list[Call]()

        def listen(call: Call) -> str:
            asked.append(call)
            return scripted.complete(call).text

        say(ada, STEERING, using=Scripted(listen))

        assert '"steers"' not in asked[0].turns[0].text
        assert RelationshipRecord.objects.get().predicate_version == 2

    def test_retired_takes_nothing_new_until_it_is_taken_back(self, ada: Principal, cy: Principal) -> None:
        new_key(cy)
        retired = make(cy, "steers", "retired")
        say(ada, STEERING, STEERS)
        assert not RelationshipRecord.objects.exists()

        back = make(cy, "steers", "active")
        drain(using=model(STEERS), linger=False)

        assert (retired.decision.compensation, back.decision.compensation) == ("register_predicate", "retire_predicate")
        assert back.taken_up == 1
        assert RelationshipRecord.objects.get().predicate_version == 3

    def test_retired_takes_nothing_of_which_a_verifier_was_asked_before(self, ada: Principal, cy: Principal) -> None:
        scripted, retired = model(WORKS), list[RegistryDecided]()

        def meanwhile(call: Call) -> str:
            said = scripted.complete(call).text
            if call.stage is Stage.VERIFY and not retired:
                retired.append(make(cy, "works_on", "retired"))
            return said

        view = say(ada, TEXT, using=Scripted(meanwhile))

        assert (view.processing_state, open_task().kind) == ("awaiting_review", "predicate_needs_review")
        assert not RelationshipRecord.objects.exists()

    def test_of_a_shared_predicate_is_that_of_one_team(self, cy: Principal) -> None:
        other = someone(Team.objects.create(name="Umbra (sample)"), "Uma")

        make(cy, "works_on", "retired")

        assert "works_on" not in registry(team_id=cy.team_id)
        assert "works_on" in registry(team_id=other.team_id)


def test_a_choice_of_a_retired_predicate_is_refused(ada: Principal, cy: Principal) -> None:
    new_key(cy)
    say(ada, HACKING, HACKS)
    task = open_task()
    make(cy, "steers", "retired")

    with pytest.raises(DecisionRefused, match="not registered"):
        answer(
            ada,
            task,
            "select_predicate",
            observation_id=str(task.observation_id),
            predicate_key="steers",
            predicate_version=2,
        )


def test_a_text_that_is_being_placed_is_left_alone(ada: Principal, cy: Principal) -> None:
    ingest_id = send(ada, HACKING)

    done = teach(cy, "is hacking on")

    assert (done.taken_up, done.still_asked) == (0, 0)
    assert Item.objects.get(ingest_id=ingest_id).state == "queued"
