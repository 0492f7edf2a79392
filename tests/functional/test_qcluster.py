"""django-q2 only wakes: what it is told, its schedule, and a real cluster that drains what remember queued."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from pydoc import locate

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.models import OrmQ, Schedule
from django_q.scheduler import scheduler

from densemem.auth import Principal
from densemem.management.commands.serve import WORKER_STOP_SECONDS
from densemem.providers.rules import Rules
from placement.models import Item
from placement.operations import database_now, wake
from placement.operations.claims import DRAIN
from placement.tasks import drain
from relationships.models import RelationshipRecord
from tests.said import send

SECONDS = 90
TEXT = "Mara Lind works on Harbor."
LATER = timedelta(hours=1)
WAKE = import_module("placement.migrations.0003_wake_schedule")


class TestWake:
    def test_keeps_at_most_one_task_waiting(self, db: None) -> None:
        for _ in range(3):
            wake()

        assert [row.func() for row in OrmQ.objects.all()] == ["placement.tasks.drain"]

    def test_adds_one_beside_a_drain_that_runs(self, db: None) -> None:
        wake()
        OrmQ.objects.update(lock=timezone.now() + LATER)  # a broker took it

        wake()

        assert OrmQ.objects.count() == 2

    def test_carries_no_text(self, ada: Principal, django_capture_on_commit_callbacks) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            send(ada, TEXT)

        (row,) = OrmQ.objects.all()
        assert (row.task["args"], row.task["kwargs"]) == ((), {})


class TestSchedule:
    def test_comes_with_the_migrations_and_wakes_a_drain_every_minute_for_ever(self, db: None) -> None:
        row = Schedule.objects.get(name=WAKE.NAME)

        assert (row.func, row.schedule_type, row.minutes, row.repeats) == ("placement.tasks.drain", "I", 1, -1)

    def test_is_made_once_however_often_it_is_asked_for(self, db: None) -> None:
        for _ in range(2):
            WAKE.schedule(apps, connection.schema_editor())

        assert Schedule.objects.filter(name=WAKE.NAME).count() == 1


class TestLostWakeUp:
    @pytest.mark.django_db(transaction=True)
    def test_is_made_up_for_by_the_schedule(self, ada: Principal) -> None:
        send(ada, TEXT)
        OrmQ.objects.all().delete()
        WAKE.schedule(apps, connection.schema_editor())
        Schedule.objects.update(next_run=timezone.now() - LATER)

        scheduler(broker=get_broker())

        (row,) = OrmQ.objects.all()
        assert row.func() == DRAIN
        assert locate(row.func())(linger=False) == 1
        assert Item.objects.get().state == "completed"

    def test_leaves_none_for_an_ingest_that_was_rolled_back(
        self, ada: Principal, django_capture_on_commit_callbacks
    ) -> None:
        with django_capture_on_commit_callbacks() as called, suppress(ZeroDivisionError), transaction.atomic():
            send(ada, TEXT)
            raise ZeroDivisionError

        assert (called, Item.objects.count()) == ([], 0)


@contextmanager
def qcluster(log: Path, **more: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run the workers on the database of this test, with the offline reviewer; nothing of them is left at the end."""
    environment = os.environ | {
        "SECRET_KEY": settings.SECRET_KEY,
        "CONTENT_KEY": settings.CONTENT_KEY,
        "DENSEMEM_PROVIDER": "rules",
        "DENSEMEM_WORKERS": "1",
        "DENSEMEM_HOME": str(settings.DENSEMEM_HOME),
        **more,
    }
    command = [sys.executable, "manage.py", "qcluster"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=settings.BASE_DIR, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def until(is_so: Callable[[], bool]) -> bool:
    """Wait until something is so, but not for ever; return whether it is."""
    ends = time.monotonic() + SECONDS
    while not is_so():
        if time.monotonic() > ends:
            return False
        time.sleep(0.1)
    return True


def children(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextmanager
def silent_model() -> Iterator[str]:
    """Listen as a model that never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


@pytest.mark.django_db(transaction=True)
class TestCluster:
    def test_places_what_was_queued_and_ends_when_it_is_told_to(self, ada: Principal, tmp_path: Path) -> None:
        log = tmp_path / "qcluster.log"
        send(ada, TEXT)

        with qcluster(log) as process:
            assert until(lambda: Item.objects.get().state == "completed"), log.read_text()
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=SECONDS)

        assert RelationshipRecord.objects.get().predicate_key == "works_on"
        assert process.returncode == 0, log.read_text()

    def test_gives_back_what_a_silent_model_holds_up_when_it_is_told_to_end(
        self, ada: Principal, tmp_path: Path
    ) -> None:
        log = tmp_path / "qcluster.log"
        send(ada, TEXT)

        with silent_model() as address:
            model = {"DENSEMEM_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": address}
            with qcluster(log, **model) as process:
                assert until(lambda: Item.objects.get().attempt_token is not None), log.read_text()
                told = time.monotonic()
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=SECONDS)
                took = time.monotonic() - told

        row = Item.objects.get()
        assert (row.state, row.attempts, row.uncounted, row.attempt_token) == ("queued", 0, 1, None), log.read_text()
        assert took < WORKER_STOP_SECONDS
        assert process.returncode == 0, log.read_text()

    def test_goes_on_when_idle_processes_of_it_are_killed(self, ada: Principal, tmp_path: Path) -> None:
        log = tmp_path / "qcluster.log"

        with qcluster(log, DENSEMEM_WORKERS="2") as process:
            assert until(lambda: len(children(process.pid)) == 1), log.read_text()
            (guard,) = children(process.pid)
            assert until(lambda: len(children(guard)) == 4), log.read_text()
            time.sleep(1)  # all wait for work
            for killed in children(guard):
                os.kill(killed, signal.SIGKILL)
                assert until(lambda killed=killed: killed not in children(guard) and len(children(guard)) == 4)
            send(ada, TEXT)
            assert until(lambda: Item.objects.get().state == "completed"), log.read_text()
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=SECONDS)

        assert process.returncode == 0, log.read_text()

    def test_killed_at_work_holds_up_nothing_and_its_items_are_placed_once_its_leases_end(
        self, ada: Principal, tmp_path: Path
    ) -> None:
        log = tmp_path / "qcluster.log"
        send(ada, TEXT, "Ivo Berg works on Skiff.")

        with silent_model() as address:
            model = {"DENSEMEM_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": address}
            with qcluster(log, **model):
                assert until(lambda: not Item.objects.filter(attempt_token=None).exists()), log.read_text()
        dead = set(Item.objects.values_list("id", flat=True))
        send(ada, *[f"Uma Berg works on Skiff {n}." for n in range(8)])

        drain(using=Rules(), linger=False)

        assert set(Item.objects.filter(state="queued").values_list("id", flat=True)) == dead
        assert Item.objects.filter(state="completed").count() == 8
        Item.objects.filter(id__in=dead).update(lease_until=database_now())
        drain(using=Rules(), linger=False)
        assert set(Item.objects.filter(id__in=dead).values_list("state", "attempts")) == {("completed", 2)}
