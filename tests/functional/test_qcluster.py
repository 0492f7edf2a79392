"""A real cluster of django-q2 drains what remember queued."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings

from densemem.auth import Principal
from placement.models import Item
from relationships.models import RelationshipRecord
from tests.said import send

SECONDS = 30


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
    send(ada, "Mara Lind works on Harbor.")
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
