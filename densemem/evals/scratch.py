"""A memory to throw away: its own database server, so that a measurement leaves nothing behind."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connections

from densemem.db import server
from densemem.db.cluster import DURABLE, Cluster
from densemem.db.place import Place, place_of

# Nobody needs what is in it after a crash.
QUICK = {**DURABLE, "fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}


@contextmanager
def scratch_memory(conf: Mapping[str, str] = QUICK) -> Iterator[Place]:
    """Point this process to an empty, migrated database with these settings; stop and remove it at the end."""
    home = Path(tempfile.mkdtemp(prefix="densemem-eval-"))
    home.chmod(0o711)  # when root runs it, the server's own user must pass through
    kept = {alias: dict(entry) for alias, entry in settings.DATABASES.items()}
    cluster = Cluster(place_of(home), conf=conf)
    try:
        cluster.start()
        _point_to(server.databases(home=home, url="", owner_url=""))
        call_command("migrate", verbosity=0)
        yield cluster.place
    finally:
        _point_to(kept)
        cluster.stop(mode="immediate")
        shutil.rmtree(cluster.place.sockets, ignore_errors=True)
        shutil.rmtree(home, ignore_errors=True)


def _point_to(entries: dict[str, dict[str, object]]) -> None:
    for alias, entry in entries.items():
        connections[alias].close()
        settings.DATABASES[alias].update(entry)
