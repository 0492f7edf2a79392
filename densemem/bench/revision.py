"""A source that moves on: everything that rests on it is judged again in one transaction, seen by nobody halfway."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from django.apps import apps
from django.db import connection, connections
from django.utils import timezone

from densemem.audit import audit
from densemem.audit.invariants import INVARIANTS, violations
from densemem.auth import Principal
from densemem.bench.calibration import Calibration
from densemem.bench.figures import Figure
from densemem.bench.load import Load, Step
from densemem.bench.notes import name
from densemem.bench.people import new_team
from densemem.bench.stub import Stub
from densemem.core import limits
from densemem.faults.rows import counts
from placement.decide import adopt
from placement.remember import remember
from placement.tasks import drain
from relationships.operations.standing import FanoutExceeded

BAR: Final = "L5"
TEXTS: Final = 20  # the most that one revision has
TIMES: Final = 2  # that a text states the same thing
CLAIMS: Final = limits.FANOUT_SUPPORTS // TEXTS // TIMES  # of one text
WATCHED: Final = tuple(law for law in INVARIANTS if law.number in (4, 5, 6, 7))


@dataclass(slots=True)
class Reader:
    """What somebody sees who looks all the while."""

    looks: int = 0
    halfway: int = 0


def run(load: Load, calibration: Calibration, step: Step) -> list[Figure]:
    """Move on a source that as much rests on as may, beside a reader; then one that too much rests on."""
    owner, other = new_team(2)
    step("Place what rests on the source", 0)
    _say(owner, "wiki", "1", first=0)
    drain(using=Stub(), linger=False)
    resting = _counting(owner)
    step("Move the source on", 0.4)
    with reading() as seen:
        seconds = _timed(owner, "wiki", "2", previous="1")
    left = _counting(owner)
    step("Place what too much rests on", 0.5)
    _say(owner, "book", "1", first=TEXTS * CLAIMS)
    drain(using=Stub(), linger=False)
    _adopt_one(other)
    before = counts(owner.team_id)
    refused = _is_refused(owner, "book", "2", previous="1")
    cal = calibration
    return [
        Figure(BAR, "supports on the source", resting, least=limits.FANOUT_SUPPORTS),
        Figure(BAR, "seconds of its one transaction", seconds, "s", most=2),
        Figure(BAR, "supports revoked", (resting - left) / seconds, "/s", beside=cal.bulk_rate),
        Figure(BAR, "supports that still count", left, most=0),
        Figure(BAR, "looks of a reader meanwhile", seen.looks, least=1),
        Figure(BAR, "rows that it saw halfway", seen.halfway, most=0),
        Figure(BAR, "refused with one record too many", int(refused), least=1),
        Figure(BAR, "rows that the refusal left", sum(counts(owner.team_id).values()) - sum(before.values()), most=0),
        Figure(BAR, "differences of the audit", audit(team_id=owner.team_id).differences, most=0),
    ]


@contextmanager
def reading() -> Iterator[Reader]:
    """Ask the laws all the while, on a connection of its own."""
    seen, ended = Reader(), threading.Event()

    def look() -> None:
        while not ended.is_set():
            seen.halfway += sum(1 for law in WATCHED for _ in violations(law))
            seen.looks += 1
        connections.close_all()

    reader = threading.Thread(target=look)
    reader.start()
    try:
        yield seen
    finally:
        ended.set()
        reader.join()


def _timed(who: Principal, key: str, revision: str, *, previous: str) -> float:
    began = time.perf_counter()
    _say(who, key, revision, first=0, texts=1, claims=1, previous=previous)
    return time.perf_counter() - began


def _is_refused(who: Principal, key: str, revision: str, *, previous: str) -> bool:
    try:
        _timed(who, key, revision, previous=previous)
    except FanoutExceeded:
        return True
    return False


def _say(
    who: Principal,
    key: str,
    revision: str,
    *,
    first: int,
    texts: int = TEXTS,
    claims: int = CLAIMS,
    previous: str | None = None,
) -> None:
    """Send one revision of a source; each text states several things, each of them twice."""
    fields: dict[str, Any] = {"source_type": "document", "source_key": key, "source_revision": revision}
    if previous:
        fields["previous_source_revision"] = previous
    body = {"evidence": [{"content": _text(first + n * claims, claims, revision), **fields} for n in range(texts)]}
    remember(principal=who, body=body, idempotency_key=uuid4().hex, now=timezone.now())


def _text(first: int, claims: int, revision: str) -> str:
    said = [f"Mara {name(first)} works on Project {name(n)}." for n in range(first, first + claims)]
    return " ".join([f"Revision {revision}.", *said, "And once more:", *said])


def _adopt_one(who: Principal) -> None:
    """Let another profile adopt one text of the newest source, so that a record of its own rests on it too."""
    text = apps.get_model("evidence", "Fragment").objects.filter(source__source_key="book").first()
    assert text is not None
    body = {"fragment_id": str(text.id), "spans": [{"start": 0, "end": len(text.content.text)}]}
    adopt(principal=who, body=body, idempotency_key=uuid4().hex, now=timezone.now())
    drain(using=Stub(), linger=False)


def _counting(who: Principal) -> int:
    """Count the supports of a team whose newest decision lets them count."""
    with connection.cursor() as cursor:
        cursor.execute(COUNTED, [who.team_id])
        return int(cursor.fetchone()[0])


COUNTED: Final = """
    SELECT count(*) FROM (
        SELECT DISTINCT ON (support_id) action FROM relationships_supportdecision
        WHERE team_id = %s ORDER BY support_id, seq DESC
    ) AS newest WHERE action IN ('grant', 'reinstate')"""
