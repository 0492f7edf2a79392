"""The database goes away and comes back: the service says so, keeps nothing halfway, and recovers by itself."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings

from densemem.db import server
from densemem.db.cluster import Cluster
from densemem.db.place import place_of
from tests import migrated
from tests.database import QUICK, temporary_home

RECOVERY_SECONDS = 60


@pytest.fixture
def home(django_db_setup: None) -> Iterator[Path]:
    """A home with a database server of its own, migrated from the dump that the run keeps."""
    with temporary_home() as home:
        cluster = Cluster(place_of(home), conf=QUICK)
        cluster.start()
        assert migrated.load(cluster.bootstrap_url(server.DATABASE))
        yield home


def environment(home: Path) -> dict[str, str]:
    """Return the environment of a process that lives in `home`."""
    kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "DATABASE_OWNER_URL")}
    return {**kept, "DENSEMEM_HOME": str(home), "DENSEMEM_PROVIDER": "rules", "DENSEMEM_WORKERS": "1"}


def manage(home: Path, *arguments: str) -> Any:
    """Run a command and return its JSON."""
    command = [sys.executable, "manage.py", *arguments, "--json"]
    done = subprocess.run(
        command, cwd=settings.BASE_DIR, env=environment(home), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.fixture
def served(home: Path) -> Iterator[httpx.Client]:
    """A client with a token of a served memory with a real worker."""
    manage(home, "create_team", "Northwind (sample)")
    manage(home, "create_profile", "Northwind (sample)", "Ada", "--person", "--login", "ada")
    token = manage(home, "create_token", "Northwind (sample)", "Ada")["token"]
    command = [sys.executable, "manage.py", "serve", "--port", "0", "--with-worker", "--json"]
    process = subprocess.Popen(
        command,
        cwd=settings.BASE_DIR,
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    address = json.loads(process.stdout.readline())["pages"]
    with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=40) as client:
        yield client
    process.terminate()
    process.wait(40)
    process.stdout.close()


def remember(client: httpx.Client, text: str, key: str) -> httpx.Response:
    """Send one text and wait for its placement."""
    body = {"evidence": [{"content": text, "source_type": "document"}]}
    return client.post("api/v1/ingests", json=body, headers={"Idempotency-Key": key, "Prefer": "wait=20"})


def until_ready(client: httpx.Client, status: int) -> None:
    """Wait until the readiness door answers this status."""
    ends = time.monotonic() + RECOVERY_SECONDS
    while client.get("readyz").status_code != status:
        assert time.monotonic() < ends
        time.sleep(0.2)


def test_a_lost_database_is_503_and_everything_works_again_once_it_is_back(home: Path, served: httpx.Client) -> None:
    until_ready(served, 200)
    assert remember(served, "Mara Lind works for Northwind Labs.", "k1").json()["processing_state"] == "completed"
    cluster = Cluster(place_of(home), conf=QUICK)

    cluster.stop(mode="immediate")
    lost = remember(served, "Ivo Berg works for Northwind Labs.", "k2")
    assert (lost.status_code, lost.json()["code"], lost.headers["Retry-After"]) == (503, "database_unavailable", "2")
    assert served.get("readyz").status_code == 503
    assert served.get("healthz").status_code == 200

    cluster.start()
    until_ready(served, 200)
    found = remember(served, "Ivo Berg works for Northwind Labs.", "k2").json()
    ends = time.monotonic() + RECOVERY_SECONDS
    while found["processing_state"] != "completed":
        assert time.monotonic() < ends, found
        time.sleep(0.5)
        found = served.get(f"api/v1/ingests/{found['ingest_id']}").json()
    assert found["items"][0]["outcomes"][0]["tier"] == "validated_claim"
