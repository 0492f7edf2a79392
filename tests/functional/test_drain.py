"""A drain works on several items at once: in bounds, each with its own connection, and it stops when it is told to."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, OperationalError, connection

from densemem import checks
from densemem.auth import Principal
from densemem.core import limits
from densemem.providers.base import Answer, Call, Stage
from placement import lease, tasks
from placement.lease import lease_kept
from placement.models import Attempt, Item
from placement.operations import Claim, LeaseLost, claim_next, database_now, heartbeat
from placement.tasks import drain
from relationships.models import RelationshipRecord
from tests.said import Fact, extraction, send, verification

pytestmark = pytest.mark.django_db(transaction=True)

PATIENCE = 20
WORKS = Fact("Mara Lind", "works on", "Harbor", "works_on")
TEXT = "Mara Lind works on Harbor."


class Model:
    """A model whose answers are sound, after something was done; unlike a script, several threads may ask at once."""

    name = "model"

    def __init__(self, before: Callable[[Call], object]) -> None:
        self._before = before

    def complete(self, call: Call) -> Answer:
        """Return the answer to a call."""
        self._before(call)
        request = json.loads(call.turns[0].text)
        made = (extraction if call.stage is Stage.EXTRACT else verification)(request, [WORKS])
        return Answer(json.dumps(made), self.name)


class Flag:
    """Tells a drain that the cluster stops."""

    value = False


@pytest.fixture
def stopping(monkeypatch: pytest.MonkeyPatch) -> Flag:
    """A cluster that is told to stop by `value`."""
    flag = Flag()
    monkeypatch.setattr(tasks, "stopping", flag)
    return flag


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """Let every model that still hangs go on at the end, and wait for the threads that asked it."""
    event = threading.Event()
    yield event
    event.set()
    for thread in threading.enumerate():
        if thread.name.startswith(("hand-", "heartbeat-")):
            thread.join(PATIENCE)


def connections_open() -> int:
    """Count the connections to this database."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        return cursor.fetchone()[0]


def states() -> list[str]:
    """Return the states of all items, in order."""
    return list(Item.objects.order_by("evidence_index").values_list("state", flat=True))


class TestTogether:
    def test_as_many_are_worked_on_at_once_as_the_setting_says_and_no_more(self, ada: Principal, settings) -> None:
        settings.DENSEMEM_CONCURRENCY = "4"
        send(ada, *[f"{TEXT} {n}" for n in range(8)])
        meeting, inside, most = threading.Barrier(4), threading.Semaphore(4), []

        def meet(call: Call) -> None:
            most.append(inside.acquire(blocking=False))
            if call.stage is Stage.EXTRACT:
                meeting.wait(PATIENCE)
            inside.release()

        assert drain(using=Model(meet), linger=False) >= 8
        assert states() == ["completed"] * 8
        assert all(most)

    def test_leave_no_connection_behind(self, ada: Principal, settings) -> None:
        settings.DENSEMEM_CONCURRENCY = "4"
        send(ada, *[f"{TEXT} {n}" for n in range(8)])
        before = connections_open()

        drain(using=Model(lambda _: time.sleep(0.02)), linger=False)

        ends = time.monotonic() + PATIENCE
        while connections_open() > before and time.monotonic() < ends:
            time.sleep(0.05)  # a server needs a moment to notice
        assert connections_open() == before

    def test_a_slow_item_that_was_begun_in_time_keeps_nobody_from_the_others(self, ada: Principal, settings) -> None:
        settings.DENSEMEM_CONCURRENCY = "2"
        send(ada, *["Slow." if n == 0 else f"{TEXT} {n}" for n in range(6)])
        others = threading.Event()

        def wait(call: Call) -> None:
            if "Slow" in call.turns[0].text:
                assert others.wait(PATIENCE)
            elif states().count("completed") == 4:
                others.set()
            else:
                time.sleep(0.15)

        drain(seconds=0.1, using=Model(wait), linger=False)

        assert others.is_set()
        assert states()[1:] == ["completed"] * 5

    def test_what_breaks_one_ends_the_drain_and_is_told(
        self, ada: Principal, settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        settings.DENSEMEM_CONCURRENCY = "2"
        send(ada, *[f"{TEXT} {n}" for n in range(6)])

        def away(*_: object) -> None:
            raise OperationalError("the line was cut")

        monkeypatch.setattr(tasks, "place", away)
        with pytest.raises(DatabaseError, match="the line was cut"):
            drain(using=Model(lambda _: None), linger=False)
        assert Item.objects.filter(attempts=0).count() >= 4


class TestStop:
    def test_claims_nothing_more_and_finishes_what_it_holds(self, ada: Principal, settings, stopping: Flag) -> None:
        settings.DENSEMEM_CONCURRENCY = "2"
        send(ada, *[f"{TEXT} {n}" for n in range(6)])
        meeting = threading.Barrier(2)

        def stop(call: Call) -> None:
            if call.stage is Stage.EXTRACT:
                meeting.wait(PATIENCE)
            stopping.value = True

        assert drain(using=Model(stop)) == 2
        assert sorted(states()) == ["completed"] * 2 + ["queued"] * 4
        assert set(Item.objects.filter(state="queued").values_list("attempts", "attempt_token")) == {(0, None)}

    def test_puts_back_what_is_not_done_soon_and_keeps_it_from_being_written(
        self, ada: Principal, stopping: Flag, released: threading.Event, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(limits, "DRAIN_STOP_SECONDS", 0.3)
        send(ada, TEXT)

        def hang(call: Call) -> None:
            if call.stage is Stage.VERIFY:
                stopping.value = True
                assert released.wait(PATIENCE)

        began = time.monotonic()
        drain(using=Model(hang))

        assert time.monotonic() - began < PATIENCE / 2
        row = Item.objects.get()
        assert (row.state, row.attempts, row.uncounted, row.attempt_token) == ("queued", 0, 1, None)
        released.set()
        while any(thread.name.startswith("hand-") for thread in threading.enumerate()):
            time.sleep(0.02)
        assert (states(), RelationshipRecord.objects.count()) == (["queued"], 0)
        stopping.value = False
        drain(using=Model(lambda _: None), linger=False)
        assert states() == ["completed"]


class TestLeaseKept:
    @pytest.fixture
    def claim(self, ada: Principal, monkeypatch: pytest.MonkeyPatch) -> Claim:
        """A claim whose lease is renewed all the time."""
        monkeypatch.setattr(limits, "HEARTBEAT_SECONDS", 0.02)
        send(ada, TEXT)
        claim = claim_next()
        assert claim is not None
        return claim

    def test_asks_no_model_once_the_lease_is_lost(self, claim: Claim) -> None:
        asked: list[Call] = []
        call = Call(Stage.EXTRACT, "s", (), {})

        with lease_kept(claim, Model(asked.append)) as provider:
            Item.objects.update(lease_until=database_now() - timedelta(hours=1))
            ends = time.monotonic() + PATIENCE
            with pytest.raises(LeaseLost):
                while time.monotonic() < ends:
                    time.sleep(0.02)
                    if not any(thread.name.startswith("heartbeat-") for thread in threading.enumerate()):
                        provider.complete(call)

        assert asked == []

    def test_makes_up_for_a_beat_that_fails(self, claim: Claim, monkeypatch: pytest.MonkeyPatch) -> None:
        failures = [OperationalError("the line was cut")]
        beats = threading.Semaphore(0)

        def beat(claim: Claim) -> None:
            beats.release()
            if failures:
                raise failures.pop()
            heartbeat(claim)

        monkeypatch.setattr(lease, "heartbeat", beat)
        Item.objects.update(lease_until=database_now() + timedelta(seconds=30))

        with lease_kept(claim, Model(lambda _: None)):
            for _ in range(3):
                assert beats.acquire(timeout=PATIENCE)

        assert Item.objects.get().lease_until > database_now() + timedelta(seconds=60)

    def test_does_not_keep_an_item_for_ever(self, claim: Claim, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "LEASE_RENEWALS", 2)
        beats: list[Claim] = []
        monkeypatch.setattr(lease, "heartbeat", beats.append)

        with lease_kept(claim, Model(lambda _: None)):
            time.sleep(0.5)

        assert len(beats) == 2


class TestSetting:
    @pytest.mark.parametrize("given", ["0", "65", "-1", "many", "1.5", " "])
    def test_that_is_no_number_within_the_bounds_is_refused_with_its_name(
        self, ada: Principal, settings, given: str
    ) -> None:
        settings.DENSEMEM_CONCURRENCY = given
        send(ada, TEXT)

        (found,) = checks.check_concurrency()
        with pytest.raises(ImproperlyConfigured, match=r"DENSEMEM_CONCURRENCY is .* from 1 to 64"):
            drain(using=Model(lambda _: None))

        assert "DENSEMEM_CONCURRENCY" in found.msg
        assert Item.objects.get().attempts == 0

    @pytest.mark.parametrize(("given", "named", "hands"), [("", "rules", 1), ("", "anthropic", 8), ("3", "rules", 3)])
    def test_suits_the_provider_when_it_is_empty(self, settings, given: str, named: str, hands: int) -> None:
        settings.DENSEMEM_CONCURRENCY, settings.DENSEMEM_PROVIDER = given, named

        assert tasks.concurrency() == hands
        assert checks.check_concurrency() == []


def test_attempts_are_reported_by_every_hand(ada: Principal, settings) -> None:
    settings.DENSEMEM_CONCURRENCY = "4"
    send(ada, *[f"{TEXT} {n}" for n in range(4)])

    drain(using=Model(lambda _: None), linger=False)

    assert Attempt.objects.values("item").distinct().count() == 4
