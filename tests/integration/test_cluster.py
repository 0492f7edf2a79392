"""The embedded server, each class with a data folder of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from densemem.db import processes
from densemem.db.cluster import DURABLE, Cluster
from densemem.db.place import SOCKET_NAME, place_of
from densemem.db.server import databases, url_of
from tests.database import QUICK, temporary_home

START_AND_EXIT = """
import sys
from pathlib import Path
from densemem.db.cluster import Cluster
from densemem.db.place import place_of
print(Cluster(place_of(Path(sys.argv[1]))).start().pid)
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with temporary_home() as home:  # what was committed must survive a kill here, so nothing is relaxed
        made = Cluster(place_of(home), conf=DURABLE)
        made.start()
        yield made


@pytest.fixture
def zombie(cluster: Cluster) -> Iterator[int]:
    """A process of the server's user that has ended and was not yet waited for."""
    user = cluster.place.runner.uid if cluster.place.switches_user else None
    child = subprocess.Popen(["/bin/true"], user=user)
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    yield child.pid
    child.wait()


def connect(cluster: Cluster, alias: str) -> "psycopg.Connection[tuple[object, ...]]":
    entry = databases(home=cluster.place.home, url="", owner_url="")[alias]
    return psycopg.connect(url_of(entry), autocommit=True)


def kill(cluster: Cluster) -> int:
    pid = processes.postmaster(cluster.place)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    return pid


class TestStart:
    def test_does_nothing_when_the_server_runs(self, cluster: Cluster) -> None:
        assert cluster.start().pid == cluster.start().pid is not None

    def test_gives_the_same_server_to_all_who_first_start_it_at_once(self) -> None:
        with temporary_home() as home, ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: Cluster(place_of(home), conf=QUICK).start().pid, range(4)))
        assert len(set(found)) == 1
        assert found[0] is not None

    def test_keeps_the_server_when_the_starter_ends(self, cluster: Cluster) -> None:
        cluster.stop()
        done = subprocess.run(
            [sys.executable, "-c", START_AND_EXIT, str(cluster.place.home)],
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        )
        assert int(done.stdout) == cluster.status().pid

    def test_finds_the_rows_of_a_server_that_was_killed(self, cluster: Cluster) -> None:
        cluster.start()
        with connect(cluster, "owner") as session:
            session.execute("CREATE TABLE kept AS SELECT 7 AS number")
            killed = kill(cluster)
        assert cluster.start().pid != killed
        with connect(cluster, "owner") as session:
            assert session.execute("SELECT number FROM kept").fetchall() == [(7,)]

    def test_is_not_stopped_by_lock_files_that_name_a_zombie(self, cluster: Cluster, zombie: int) -> None:
        cluster.start()
        locks = (cluster.place.data / "postmaster.pid", cluster.place.sockets / f"{SOCKET_NAME}.lock")
        killed = kill(cluster)
        for lock in locks:
            lock.write_text(lock.read_text().replace(str(killed), str(zombie), 1))
        assert cluster.start().running


class TestStop:
    def test_ends_every_process_and_may_be_said_twice(self, cluster: Cluster) -> None:
        cluster.start()
        assert processes.workers_of(cluster.place)
        assert not cluster.stop().running
        assert processes.workers_of(cluster.place) == []
        assert not cluster.stop().running


class TestServer:
    @pytest.fixture(autouse=True)
    def started(self, cluster: Cluster) -> None:
        cluster.start()

    @pytest.mark.parametrize(
        "setting, value",
        [("listen_addresses", ""), ("data_checksums", "on"), ("server_encoding", "UTF8"), ("TimeZone", "UTC")],
    )
    def test_is_set_up_as_promised(self, cluster: Cluster, setting: str, value: str) -> None:
        with connect(cluster, "default") as session:
            assert session.execute("SELECT current_setting(%s)", [setting]).fetchone() == (value,)

    def test_refuses_a_wrong_password(self, cluster: Cluster) -> None:
        entry = databases(home=cluster.place.home, url="", owner_url="")["default"] | {"PASSWORD": "guess"}
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(url_of(entry))

    def test_folds_and_compares_letters_beyond_ascii(self, cluster: Cluster) -> None:
        with connect(cluster, "default") as session:
            found = session.execute("SELECT lower('ÄÉ'), unaccent('Café'), '[1,2]'::vector <-> '[1,3]'").fetchone()
        assert found == ("äé", "Cafe", 1.0)

    @pytest.mark.parametrize("alias", ["default", "owner"])
    def test_gives_neither_role_more_than_a_plain_login(self, cluster: Cluster, alias: str) -> None:
        rights = "rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls"
        with connect(cluster, alias) as session:
            found = session.execute(f"SELECT {rights} FROM pg_roles WHERE rolname = current_user").fetchone()  # noqa: S608
        assert found == (False,) * 5

    def test_lets_the_application_make_no_table(self, cluster: Cluster) -> None:
        with connect(cluster, "default") as session, pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute("CREATE TABLE mine ()")
