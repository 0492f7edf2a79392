"""The throw-away cluster of a test run, and the one way in which tests empty tables.

The controller of the run names a folder; whoever first needs a database starts the server there and migrates.
Every worker gets its own copy of the migrated database.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import psycopg
from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections
from psycopg import sql

from densemem.db import server
from densemem.db.cluster import DURABLE, Cluster
from densemem.db.place import place_of
from tests import migrated

HOME_VARIABLE: Final = "DENSEMEM_TEST_HOME"
PREFIX: Final = "densemem-test-"
QUICK: Final = {
    **DURABLE,
    "shared_buffers": "64MB",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",  # statistics that change by the clock would change plans from run to run
}
KEPT_TABLES: Final = ("django_migrations", "django_content_type", "auth_permission")
# Rows of no team come from a migration, so they stay.
SHARED_TABLES: Final = ("relationships_predicatedefinition",)
TABLES: Final = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> ALL(%s) ORDER BY 1"

# Homes of this process; the lock tells other runs that they are in use, and falls when the process does.
held: dict[Path, IO[str]] = {}


def begin() -> None:
    """Name the folder of this run for all its workers, and remove what runs that were killed have left."""
    _remove_abandoned()
    os.environ[HOME_VARIABLE] = str(_new_home())


def end() -> None:
    """Stop the server of this run and remove its folder."""
    remove(Path(os.environ.pop(HOME_VARIABLE)))


def use_worker_database(worker: str) -> None:
    """Point both aliases, and processes started from here, to a new copy of the migrated database."""
    cluster = Cluster(place_of(_home()), conf=QUICK)
    cluster.start()
    with _alone():
        _migrate_once(cluster)
        _copy(cluster, f"test_{worker}")
    _point_to(f"test_{worker}")


def empty_tables() -> None:
    """Delete all rows but those that migrations made. Only the superuser can make the ledgers' triggers stand aside."""
    name = settings.DATABASES["default"]["NAME"]
    with psycopg.connect(Cluster(place_of(_home())).bootstrap_url(name)) as session:
        session.execute("SET session_replication_role = replica; SET lock_timeout = '10s'")
        tables = [row[0] for row in session.execute(TABLES, [list(KEPT_TABLES)]).fetchall()]
        session.execute(sql.SQL("; ").join(_delete(table) for table in tables))


@contextmanager
def temporary_home() -> Iterator[Path]:
    """Give a test a home of its own for a cluster; the server is stopped and the folder removed at the end."""
    home = _new_home()
    try:
        yield home
    finally:
        remove(home)


def remove(home: Path) -> None:
    """Stop the server of a test's home and remove all its folders."""
    place = place_of(home)
    Cluster(place).stop(mode="immediate")
    shutil.rmtree(place.sockets, ignore_errors=True)
    shutil.rmtree(home)
    if home in held:
        held.pop(home).close()


def _new_home() -> Path:
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    home.chmod(0o711)  # when root runs the tests, the server's user must pass through
    held[home] = (home / "used.lock").open("w")
    fcntl.flock(held[home], fcntl.LOCK_EX)
    return home


def _remove_abandoned() -> None:
    for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/used.lock"):
        if lock.stat().st_uid == os.geteuid() and not _is_held(lock):
            remove(lock.parent)


def _is_held(lock: Path) -> bool:
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def _home() -> Path:
    return Path(os.environ[HOME_VARIABLE])


@contextmanager
def _alone() -> Iterator[None]:
    with (_home() / "tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _migrate_once(cluster: Cluster) -> None:
    done = _home() / "migrated"
    if done.exists():
        return
    _point_to(server.DATABASE)
    url = cluster.bootstrap_url(server.DATABASE)
    loaded = migrated.load(url)
    call_command("migrate", verbosity=0)
    connections.close_all()
    if not loaded:
        migrated.keep(url)
    done.touch()


def _copy(cluster: Cluster, name: str) -> None:
    made = sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}")
    parts = map(sql.Identifier, (name, server.OWNER, server.DATABASE))
    with psycopg.connect(cluster.bootstrap_url("postgres"), autocommit=True) as session:
        session.execute(made.format(*parts))


def _point_to(name: str) -> None:
    for alias, entry in server.databases(home=_home(), url="", owner_url="").items():
        connections[alias].close()
        # Django keeps this very dictionary for the connections of all threads.
        settings.DATABASES[alias].update(entry, NAME=name)
    os.environ["DATABASE_URL"] = server.url_of(settings.DATABASES["default"])
    os.environ["DATABASE_OWNER_URL"] = server.url_of(settings.DATABASES["owner"])


def _delete(table: str) -> sql.Composed:
    condition = sql.SQL(" WHERE team_id IS NOT NULL" if table in SHARED_TABLES else "")
    return sql.SQL("DELETE FROM {}").format(sql.Identifier(table)) + condition


OURS = "^(evidence|entities|relationships|review|placement)_"


def counts() -> dict[str, int]:
    """Count every row of every table that the product owns, but telemetry."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename ~ %s", [OURS])
        names = [name for (name,) in cursor.fetchall()]
        found = {}
        for name in names:
            cursor.execute(f'SELECT count(*) FROM "{name}"')  # noqa: S608 - a name from the catalogue
            found[name] = cursor.fetchone()[0]
    return found
