"""What people decide about a text while a worker commits what somebody else was told by it."""

import threading
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from densemem.auth import Principal
from evidence.models import Fragment
from placement import commit as committing
from placement.decide import change_lifecycle, register_wording, retire_evidence
from placement.models import Item
from placement.pipeline import place
from relationships.models import RelationshipRecord
from relationships.queries import registry
from review.models import Task
from tests.deciding import TEXT, WORKS, adopted, answer, hold, of_source, reasoned, record_of
from tests.racing import PATIENCE, claimed, run, somebody_waits, until
from tests.said import Fact, model, say, send

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sound")]


class Pause:
    """A step of a commit that stops once, until something else has happened or waits for the commit."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, step: str, *, after: bool = False) -> None:
        self.reached, self.done, self.waited = threading.Event(), threading.Event(), False
        self.sound: Callable[..., Any] = getattr(committing, step)
        self.after = after
        monkeypatch.setattr(committing, step, self)

    def __call__(self, *args: Any, **given: Any) -> Any:
        """Do the step, and stop before or after it."""
        if self.after:
            answer = self.sound(*args, **given)
            self.stop()
            return answer
        self.stop()
        return self.sound(*args, **given)

    def stop(self) -> None:
        """Stop at the first call."""
        if not self.reached.is_set():
            self.reached.set()
            until(lambda: self.done.is_set() or somebody_waits())
            self.waited = not self.done.is_set()

    def beside(self, work: Callable[[], object]) -> None:
        """Place the next item, and do a work when its commit has stopped."""

        def other() -> None:
            assert self.reached.wait(PATIENCE)
            try:
                work()
            finally:
                self.done.set()

        run(lambda: place(claimed(), model(WORKS)), other)


@pytest.fixture
def adopting(ada: Principal, bo: Principal) -> Fragment:
    """A text of a keyed source that Ada said, and that waits to be placed for Bo."""
    say(ada, TEXT, WORKS, **of_source("hr"))
    text: Fragment = Fragment.objects.get()
    adopted(bo, text)
    return text


class TestHold:
    def test_before_the_last_look_of_a_commit_leaves_nothing_of_it(
        self, adopting: Fragment, bo: Principal, cy: Principal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pause = Pause(monkeypatch, "share_both")

        pause.beside(lambda: hold(cy, adopting.id))

        assert not pause.waited
        assert not RelationshipRecord.objects.filter(owner_id=bo.profile_id).exists()
        assert Item.objects.get(owner_id=bo.profile_id).state == "quarantined"

    def test_after_it_waits_and_judges_what_was_committed(
        self, adopting: Fragment, bo: Principal, cy: Principal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pause = Pause(monkeypatch, "finish")

        pause.beside(lambda: hold(cy, adopting.id))

        assert pause.waited
        assert (record_of(bo).status, record_of(bo).support_count) == ("quarantined", 0)


class TestRetirementOfEvidence:
    @pytest.mark.parametrize(("step", "after"), [("hold", True), ("share_both", False), ("finish", False)])
    def test_waits_for_a_commit_of_who_adopted_it_and_neither_for_ever(
        self, adopting: Fragment, ada: Principal, bo: Principal, monkeypatch: pytest.MonkeyPatch, step: str, after: bool
    ) -> None:
        pause = Pause(monkeypatch, step, after=after)

        pause.beside(lambda: reasoned(retire_evidence, ada, fragment_id=adopting.id))

        assert pause.waited
        assert (record_of(bo).status, record_of(bo).support_count) == ("pending_evidence", 0)


class TestRegistry:
    def test_retires_a_predicate_when_a_commit_that_uses_it_has_ended(
        self, ada: Principal, cy: Principal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        send(ada, TEXT)
        pause = Pause(monkeypatch, "finish")

        pause.beside(lambda: self.retired(cy))

        assert pause.waited
        assert record_of(ada).status == "active"
        assert "works_on" not in registry(team_id=cy.team_id)

    def test_retired_before_the_last_look_of_a_commit_takes_nothing_of_it(
        self, ada: Principal, cy: Principal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        send(ada, TEXT)
        pause = Pause(monkeypatch, "share_both")

        pause.beside(lambda: self.retired(cy))

        assert not pause.waited
        assert not RelationshipRecord.objects.exists()
        assert Item.objects.get().state == "queued"

    def test_learns_a_wording_beside_a_commit_of_a_text_that_asks_for_it(
        self, ada: Principal, cy: Principal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        facts = [Fact("Mara Lind", w, p, "works_on") for w, p in (("hacks at", "Harbor"), ("steers", "Beacon"))]
        say(ada, "Mara Lind hacks at Harbor and steers Beacon.", *facts)
        task = Task.objects.get(observation__ref="o0")
        chosen = {"observation_id": str(task.observation_id), "predicate_key": "works_on", "predicate_version": 1}
        answer(ada, task, "select_predicate", **chosen)
        pause = Pause(monkeypatch, "hold", after=True)

        pause.beside(lambda: self.taught(cy, "steers"))

        assert pause.waited
        assert RelationshipRecord.objects.get(object_entity__names__display="Harbor").status == "active"
        assert Item.objects.get().state == "queued"  # for what was taught meanwhile

    def retired(self, who: Principal) -> None:
        body = {"state": "retired", "reason": "Told apart now."}
        change_lifecycle(principal=who, key="works_on", expected_version=1, body=body, **self.now())

    def taught(self, who: Principal, wording: str) -> None:
        body = {"wording": wording, "reason": "We say so."}
        register_wording(principal=who, key="works_on", expected_version=1, body=body, **self.now())

    def now(self) -> dict[str, Any]:
        return {"idempotency_key": uuid4().hex, "now": timezone.now()}
