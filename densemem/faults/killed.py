"""F1 and F6: workers that are killed while they work."""

import signal
import time
from datetime import datetime
from random import Random
from threading import Timer
from typing import Final
from uuid import UUID

from django.db import connections

from densemem.core import limits
from densemem.faults import rows
from densemem.faults.cast import introduce, newcomers, send, source, statements
from densemem.faults.fault import Broken, Fault, Figures
from densemem.faults.workers import LOOK_SECONDS, SHORT, Orders, Worker, crew, wait_until
from densemem.providers.rules import Rules
from placement.operations import database_now
from placement.tasks import drain

TEXTS: Final = 6
WORKERS: Final = 2
LOAD_SECONDS: Final = 1.0  # within which most of the texts are placed
RECOVERY_SECONDS: Final = 5  # beyond a lease
PATIENCE_SECONDS: Final = 60  # for a load that a busy machine places slowly
POISON: Final = "Hemlock"
READY: Final = ("queued", "guarded")


def kill_under_load(chance: Random) -> Figures:
    """Kill one of two workers while texts come in; all must be placed as if nothing had happened."""
    texts = statements(chance, TEXTS)
    (quiet,), (loud,) = newcomers(), newcomers()
    for who in (quiet, loud):
        introduce(who)
    for text in texts:
        send(quiet, text, **source(text, "1"))
    drain(using=Rules(), linger=False)
    with crew() as start:
        orders = [Orders(seconds_most=0.05, seed=chance.getrandbits(32)) for _ in range(WORKERS)]
        crewmen = [start(o) for o in orders]
        killer = Timer(chance.uniform(0, LOAD_SECONDS), _kill, [crewmen[0], loud.team_id])
        killer.start()
        sent = [send(loud, text, **source(text, "1")) for text in texts]
        killer.join()
        killed = database_now()
        start(orders[0])
        if not wait_until(lambda: not _waiting(loud.team_id), seconds=PATIENCE_SECONDS):
            raise Broken(f"{_waiting(loud.team_id)} items had not ended after {PATIENCE_SECONDS} s")
    _check_kept(loud.team_id, sent)
    rows.same(rows.counts(quiet.team_id), rows.counts(loud.team_id), what="lost or doubled rows")
    rows.same(rows.outcome(quiet.team_id), rows.outcome(loud.team_id), what="another outcome")
    return {"kills": 1, "items": TEXTS, **_check_recovery(loud.team_id, killed)}


def _kill(worker: Worker, team_id: UUID) -> None:
    """Kill a worker as soon as all are at work, or when there is no work left."""
    claimed = rows.items(team_id).exclude(lease_until=None)
    wait_until(lambda: claimed.count() >= WORKERS or not _waiting(team_id), seconds=PATIENCE_SECONDS, look=0)
    worker.tell(signal.SIGKILL)
    connections.close_all()


def _check_recovery(team_id: UUID, killed: datetime) -> Figures:
    """Return how many claims the kill interrupted, and how long after it the last of them ended."""
    interrupted = rows.items(team_id).filter(attempts__gt=1).values_list("completed_at", flat=True)
    waits = [(ended - killed).total_seconds() for ended in interrupted]
    if max(waits, default=0) > SHORT["LEASE_SECONDS"] + RECOVERY_SECONDS:
        raise Broken(f"the interrupted item ended {max(waits):.1f} s after the kill")
    return {"claims_interrupted": len(waits), "recovery_seconds": max(waits, default=0)}


def poison(chance: Random) -> Figures:
    """Let one text kill every worker that asks about it: it must end as failed, and the others be placed."""
    (who,) = newcomers()
    texts = [f"{POISON} works on Harbor.", *statements(chance, 3)]
    for text in chance.sample(texts, len(texts)):
        send(who, text)
    deaths = 0
    with crew() as start:
        orders = Orders(poison=POISON)
        worker = start(orders)
        ends = time.monotonic() + limits.ITEM_ATTEMPTS * PATIENCE_SECONDS
        while _waiting(who.team_id) and time.monotonic() < ends:
            if worker.ends_within(LOOK_SECONDS):
                deaths += 1
                worker = start(orders)
    _check_poisoned(who.team_id, deaths)
    return {"deaths": deaths, "items": len(texts)}


def _check_poisoned(team_id: UUID, deaths: int) -> None:
    ended = rows.items(team_id)
    failed = list(ended.filter(state="failed"))
    found = sorted(ended.values_list("state", flat=True))
    if len(failed) != 1 or len(set(found)) != 2 or "completed" not in found:
        raise Broken(f"the items ended as {found}")
    (item,) = failed
    if POISON not in item.fragment.content.text or item.reason != "attempts_exhausted":
        raise Broken(f"the item that failed did so for {item.reason}")
    if deaths != limits.ITEM_ATTEMPTS or item.attempts != limits.ITEM_ATTEMPTS:
        raise Broken(f"{deaths} workers died, {item.attempts} attempts were counted")
    rows.no_knowledge_of(item)


def _waiting(team_id: UUID) -> int:
    return int(rows.items(team_id).filter(state__in=READY).count())


def _check_kept(team_id: UUID, acknowledged: list[UUID]) -> None:
    """Make sure that what was acknowledged is there."""
    kept = set(rows.items(team_id).values_list("ingest_id", flat=True))
    if lost := set(acknowledged) - kept:
        raise Broken(f"{len(lost)} acknowledged requests are lost")


F1 = Fault(
    "F1",
    "a worker is killed at a random moment under load",
    f"nothing lost, nothing doubled, every item ended within a lease + {RECOVERY_SECONDS} s",
    kill_under_load,
)
F6 = Fault(
    "F6",
    "a text kills every worker that works on it",
    f"it ends as failed after {limits.ITEM_ATTEMPTS} attempts, and the others go on",
    poison,
)
