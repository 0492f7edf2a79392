"""F4: a worker that is stopped beyond its lease, and goes on when another has done its work."""

import signal
import time
from random import Random
from typing import Any, Final

from django.db import transaction

from densemem.auth import Principal
from densemem.faults import rows
from densemem.faults.cast import newcomers, send, statements
from densemem.faults.fault import Broken, Fault, Figures
from densemem.faults.workers import SHORT, Orders, Worker, crew, wait_until

CALL_SECONDS: Final = 0.1  # the longest that a model call takes here
ITEM_SECONDS: Final = 0.35  # within which the first worker is stopped
IN_COMMIT: Final = 0.25  # of the rounds, in which it is stopped as soon as it has locked its item
PATIENCE_SECONDS: Final = 60
TRIES: Final = 10
SETTLE_SECONDS: Final = 0.05  # until a signal is taken


def lose_the_lease(chance: Random) -> Figures:
    """Stop a worker on an item, let another finish, and let the first go on: it must write nothing."""
    (who,) = newcomers()
    for tries, text in enumerate(statements(chance, TRIES)):
        with crew() as start:
            found = _play(who, text, chance, start)
        if found is not None:
            return {"stopped": 1, "too_late": tries, **found}
    raise Broken(f"none of {TRIES} workers could be stopped in time")


def _play(who: Principal, text: str, chance: Random, start: Any) -> Figures | None:
    """Play it with one text; None when the worker had finished before it was stopped."""
    item = rows.items(who.team_id).get(ingest_id=send(who, text))
    first = start(Orders(seconds_most=CALL_SECONDS, seed=chance.getrandbits(32), once=True))
    if not wait_until(lambda: _is(item, attempts=1), seconds=PATIENCE_SECONDS):
        raise Broken("the first worker did not take the item")
    if chance.random() < IN_COMMIT:
        wait_until(lambda: _is_locked(item) or _is(item, state="completed"), seconds=PATIENCE_SECONDS, look=0)
    else:
        time.sleep(chance.uniform(0, ITEM_SECONDS))
    first.tell(signal.SIGSTOP)
    time.sleep(SETTLE_SECONDS)
    if _is(item, state="completed"):
        first.tell(signal.SIGCONT)
        return None
    second = start(Orders())
    figures = _finish(item, first, second)
    item.refresh_from_db()
    if (item.state, item.version) != ("completed", 2):
        raise Broken(f"the item is {item.state}, version {item.version}")
    return figures


def _finish(item: Any, first: Worker, second: Worker) -> Figures:
    lease = SHORT["LEASE_SECONDS"]
    if _is_locked(item):
        # It was stopped between BEGIN and COMMIT: the lock on its row keeps everybody out, so it may go on.
        time.sleep(lease)
        first.tell(signal.SIGCONT)
        first.leave(PATIENCE_SECONDS)
        wait_until(lambda: _is(item, state="completed"), seconds=PATIENCE_SECONDS)
        return {"stopped_in_commit": 1}
    began = time.monotonic()
    if not wait_until(lambda: _is(item, state="completed"), seconds=lease + PATIENCE_SECONDS):
        raise Broken("nobody took the item over")
    taken = time.monotonic() - began
    second.tell(signal.SIGKILL)
    second.leave(PATIENCE_SECONDS)
    before = rows.everything(without=[rows.TELEMETRY])
    first.tell(signal.SIGCONT)
    first.leave(PATIENCE_SECONDS)
    rows.same(before, rows.everything(without=[rows.TELEMETRY]), what="the first worker wrote")
    return {"stopped_in_commit": 0, "takeover_seconds": taken}


def _is(item: Any, **wanted: object) -> bool:
    return bool(rows.items(item.team_id).filter(pk=item.pk, **wanted).exists())


def _is_locked(item: Any) -> bool:
    with transaction.atomic():
        return not rows.items(item.team_id).select_for_update(skip_locked=True).filter(pk=item.pk).exists()


F4 = Fault(
    "F4",
    "a worker is stopped beyond its lease, another finishes, and the first goes on",
    "the first one writes nothing but what its model calls cost",
    lose_the_lease,
)
