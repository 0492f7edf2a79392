"""django-q2 only wakes: what it is told, its schedule, and a real cluster that drains what remember queued."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection
from django.utils import timezone
from django_q.models import OrmQ, Schedule

from densemem.auth import Principal
from placement.models import Item
from placement.operations import wake
from relationships.models import RelationshipRecord
from tests.said import send

SECONDS = 30
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


@contextmanager
def qcluster(log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the workers on the database of this test, with the offline reviewer; nothing of them is left at the end."""
    environment = os.environ | {
        "SECRET_KEY": settings.SECRET_KEY,
        "CONTENT_KEY": settings.CONTENT_KEY,
        "DENSEMEM_PROVIDER": "rules",
        "DENSEMEM_WORKERS": "1",
        "DENSEMEM_HOME": str(settings.DENSEMEM_HOME),
    }
    command = [sys.executable, "manage.py", "qcluster"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=settings.BASE_DIR, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.django_db(transaction=True)
def test_a_cluster_places_what_was_queued_and_ends_when_it_is_told_to(ada: Principal, tmp_path: Path) -> None:
    log = tmp_path / "qcluster.log"
    send(ada, TEXT)
    ends = time.monotonic() + SECONDS

    with qcluster(log) as process:
        while time.monotonic() < ends and Item.objects.get().state == "queued":
            time.sleep(0.1)
        state = Item.objects.get().state
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=max(1.0, ends - time.monotonic()))

    assert state == "completed", log.read_text()
    assert RelationshipRecord.objects.get().predicate_key == "works_on"
    assert process.returncode == 0, log.read_text()
