"""An empty memory for each case: copies of one migrated database, in a server that is thrown away at the end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, Final

import psycopg
from django.conf import settings
from django.db import connections
from psycopg import sql

from densemem.db import server
from densemem.db.cluster import Cluster
from densemem.db.place import Place
from densemem.evals.scratch import scratch_memory

LEFT: Final = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND datname <> %s"""


@contextmanager
def scratch_memories() -> Iterator[Callable[[], None]]:
    """Give what points this process to a new empty, migrated database, each time that it is called."""
    with scratch_memory() as place:
        names = (f"case_{number}" for number in count(1))
        yield lambda: _next(place, next(names))


def _next(place: Place, name: str) -> None:
    connections.close_all()
    made = sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}")
    parts = map(sql.Identifier, (name, server.OWNER, server.DATABASE))
    with psycopg.connect(Cluster(place).bootstrap_url("postgres"), autocommit=True) as session:
        session.execute(made.format(*parts))
        # The threads of the doors still hold connections to the memory before: they open new ones to this.
        session.execute(LEFT, [name])
    for entry in _entries():
        entry["NAME"] = name


def _entries() -> list[dict[str, Any]]:
    # Django keeps these very dictionaries for the connections of all threads.
    return list(settings.DATABASES.values())
