"""What the machine can do at this moment, with a table of one kind and nothing of the product in the way."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import psycopg
from django.conf import settings
from django.db import models, transaction
from django.utils import timezone

from densemem.bench.figures import Yardstick, middle, slow
from densemem.db.fields import IdField
from densemem.db.server import APPLICATION, url_of

CLIENTS: Final = 8
ROWS: Final = 20  # of one transaction: the size of a placement
TABLE: Final = "bench_calibration"
MAKE: Final = f"""
CREATE TABLE {TABLE} (id uuid PRIMARY KEY, kind text NOT NULL, number bigint NOT NULL, made_at timestamptz NOT NULL);
GRANT SELECT, INSERT ON {TABLE} TO {APPLICATION}
"""
INSERT: Final = f"INSERT INTO {TABLE} VALUES (gen_random_uuid(), 'calibration', %s, now())"
SETTINGS: Final = ("server_version", "fsync", "synchronous_commit", "full_page_writes", "wal_sync_method")


class Row(models.Model):
    """One row of the table that is there while the machine is calibrated."""

    id = IdField()
    kind = models.TextField()
    number = models.BigIntegerField()
    made_at = models.DateTimeField()

    objects: ClassVar[models.Manager[Any]] = models.Manager()

    class Meta:
        app_label = "bench"
        managed = False
        db_table = TABLE

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Single inserts of eight clients, each its own transaction; and transactions of twenty rows through Django."""

    insert_rate: Yardstick
    insert_middle: Yardstick
    insert_slow: Yardstick
    bulk_rate: Yardstick

    def yardsticks(self) -> tuple[Yardstick, ...]:
        """Return all of them."""
        return (self.insert_rate, self.insert_middle, self.insert_slow, self.bulk_rate)


def calibrate(*, seconds: float) -> Calibration:
    """Measure each kind for this long."""
    with _table():
        inserts, bulks = _inserts(seconds), _bulks(seconds)
    return Calibration(
        Yardstick(f"single-row insert, {CLIENTS} clients", len(inserts) / seconds, "/s"),
        Yardstick(f"single-row insert, {CLIENTS} clients, p50", middle(inserts), " ms"),
        Yardstick(f"single-row insert, {CLIENTS} clients, p95", slow(inserts), " ms"),
        Yardstick(f"bulk_create of {ROWS} rows, one client", len(bulks) / seconds, "/s"),
    )


def server_settings() -> dict[str, str]:
    """Return what the server says of its own durability."""
    with psycopg.connect(url_of(settings.DATABASES["default"])) as session:
        return {name: _setting(session, name) for name in SETTINGS}


def _setting(session: psycopg.Connection[Any], name: str) -> str:
    row = session.execute("SELECT current_setting(%s)", [name]).fetchone()
    assert row is not None
    return str(row[0])


@contextmanager
def _table() -> Iterator[None]:
    with psycopg.connect(url_of(settings.DATABASES["owner"]), autocommit=True) as owner:
        owner.execute(MAKE)
        try:
            yield
        finally:
            owner.execute(f"DROP TABLE {TABLE}")


def _inserts(seconds: float) -> list[float]:
    """Return how long each single-row transaction took, over all clients, in seconds."""
    with ThreadPoolExecutor(CLIENTS) as pool:
        return [took for client in pool.map(_insert_for, [seconds] * CLIENTS) for took in client]


def _insert_for(seconds: float) -> list[float]:
    took: list[float] = []
    with psycopg.connect(url_of(settings.DATABASES["default"]), autocommit=True) as session:
        ends = time.perf_counter() + seconds
        while (began := time.perf_counter()) < ends:
            session.execute(INSERT, [len(took)])
            took.append(time.perf_counter() - began)
    return took


def _bulks(seconds: float) -> list[float]:
    """Return how long each transaction of twenty rows took, in seconds."""
    took: list[float] = []
    ends = time.perf_counter() + seconds
    while (began := time.perf_counter()) < ends:
        with transaction.atomic():
            Row.objects.bulk_create(Row(kind="calibration", number=n, made_at=timezone.now()) for n in range(ROWS))
        took.append(time.perf_counter() - began)
    return took
