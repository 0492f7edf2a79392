"""F7: several at one moment; what comes of it must be what one after the other would have given."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Final
from uuid import uuid4

from django.db import connection, connections

from densemem.auth import Principal
from densemem.core.faults import Refused
from densemem.faults import rows
from densemem.faults.cast import forget_known, newcomers, release_held, send, source, statements
from densemem.faults.fault import Broken, Fault, Figures
from densemem.providers.rules import Rules
from placement.operations import Claim, claim_next, database_now
from placement.pipeline import place
from placement.tasks import drain

THREADS: Final = 32  # with one idempotency key
PATIENCE_SECONDS: Final = 60
REST_SECONDS: Final = 0.003  # the longest rest after a statement: it lets the others in between
LATE_SECONDS: Final = 0.15  # the longest that one of them begins later
DONE: Final = "done"
NOTHING: Final = "nothing to do"
Work = Callable[[], object]
Scene = Callable[[Principal, Random], Sequence[Work]]


@dataclass(frozen=True, slots=True)
class Race:
    """
    Things that happen at one moment.

    :param scene: sets the scene for a member of a new team, and returns what is done
    :param winners: how many of them must succeed; None where each may
    :param alike: all must get the same answer, and their order tells nothing
    """

    name: str
    scene: Scene
    winners: int | None = None
    alike: bool = False


def race(chance: Random) -> Figures:
    """Run every race once."""
    for one in RACES:
        _run(one, chance.getrandbits(32))
    return {"races": len(RACES)}


def _run(one: Race, seed: int) -> None:
    who, works = _set(one, seed)
    with _listening() as heard:
        results = _together(works, seed)
        drain(using=Rules(), linger=False)
    told = sorted(map(_told, results))
    if heard or (wrong := [word for word in told if word.startswith("!")]):
        raise Broken(f"{one.name}: {heard or wrong}")
    if one.winners is not None and told.count(DONE) != one.winners:
        raise Broken(f"{one.name}: {told.count(DONE)} winners of {told}")
    if one.alike and len(set(results)) != 1:
        raise Broken(f"{one.name}: {len(set(results))} different answers")
    found = (told, rows.outcome(who.team_id))
    if not any(found == _in_order(one, seed, step) for step in _orders(one)):
        raise Broken(f"{one.name}: no order gives {found}")


def _in_order(one: Race, seed: int, step: int) -> tuple[list[str], dict[str, Any]]:
    """Return what comes of the works one after the other, forth or back, in another team."""
    who, works = _set(one, seed)
    told = sorted(_told(_result(work)) for work in works[::step])
    drain(using=Rules(), linger=False)
    return told, rows.outcome(who.team_id)


def _orders(one: Race) -> Sequence[int]:
    return (1,) if one.alike else (1, -1)


def _set(one: Race, seed: int) -> tuple[Principal, Sequence[Work]]:
    (who,) = newcomers()
    return who, one.scene(who, Random(seed))


def _together(works: Sequence[Work], seed: int) -> list[object]:
    """Do the works at one moment, each in a thread and on a connection of its own."""
    start = threading.Barrier(len(works))
    results: list[object] = [TimeoutError("stuck")] * len(works)

    def run(place: int) -> None:
        chance = Random(f"{seed} {place}")
        try:
            start.wait(PATIENCE_SECONDS)
            time.sleep(chance.choice((0.0, chance.uniform(0, LATE_SECONDS))))
            with connection.execute_wrapper(_dawdling(chance)):
                results[place] = _result(works[place])
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(place,), daemon=True) for place in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
    return results


def _dawdling(chance: Random) -> Callable[..., Any]:
    def run(execute: Callable[..., Any], *statement: Any) -> Any:
        try:
            return execute(*statement)
        finally:
            time.sleep(chance.uniform(0, REST_SECONDS))

    return run


def _result(work: Work) -> object:
    try:
        return work()
    except Exception as raised:
        return raised


def _told(result: object) -> str:
    """Name a result: a refusal by its type, what nobody may see with a `!`."""
    if isinstance(result, Refused):
        return type(result).__qualname__
    if isinstance(result, Exception):
        return f"!{type(result).__qualname__}: {result}"
    return NOTHING if result is NOTHING else DONE


@contextmanager
def _listening() -> Iterator[list[str]]:
    """Collect the errors that workers log: they meet faults of ours, put the item back, and raise nothing."""
    heard: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            heard.append(record.getMessage())

    ear, log = Ear(logging.ERROR), logging.getLogger("placement")
    log.addHandler(ear)
    try:
        yield heard
    finally:
        log.removeHandler(ear)


def _one_item(who: Principal, chance: Random) -> Sequence[Work]:
    send(who, *statements(chance, 1))
    return [_claim_and_place] * 2


def _lost_lease(who: Principal, chance: Random) -> Sequence[Work]:
    """Let two workers hold the same item: one whose lease is over, and the one who took it anew."""
    send(who, *statements(chance, 1))
    first = _claimed()
    rows.items(who.team_id).filter(pk=first.item_id).update(lease_until=database_now() - timedelta(seconds=1))
    return [_placing(first), _placing(_claimed())]


def _one_key(who: Principal, chance: Random) -> Sequence[Work]:
    text, key = *statements(chance, 1), uuid4().hex
    return [lambda: send(who, text, key=key)] * THREADS


def _one_key_for_two(who: Principal, chance: Random) -> Sequence[Work]:
    (one, other), key = statements(chance, 2), uuid4().hex
    return [lambda: send(who, one, key=key), lambda: send(who, other, key=key)]


def _revisions(who: Principal, chance: Random) -> Sequence[Work]:
    old, one, other = statements(chance, 3)
    send(who, old, **source("plan", "1"))
    drain(using=Rules(), linger=False)
    return [
        lambda: send(who, one, **source("plan", "2", "1")),
        lambda: send(who, other, **source("plan", "two", "1")),
    ]


def _first_revisions(who: Principal, chance: Random) -> Sequence[Work]:
    (text,) = statements(chance, 1)
    return [lambda: send(who, text, **source("plan", "1"))] * 2


def _advance(who: Principal, chance: Random) -> Sequence[Work]:
    """Advance a source while its old revision is placed."""
    old, new = statements(chance, 2)
    send(who, old, **source("plan", "1"))
    return [_placing(_claimed()), lambda: send(who, new, **source("plan", "2", "1"))]


def _promote(who: Principal, chance: Random) -> Sequence[Work]:
    """Let a second voice make a fact of a claim while the first one is withdrawn."""
    text, other, third = statements(chance, 3)
    send(who, text, **source("plan", "1"))
    drain(using=Rules(), linger=False)
    send(who, f"{other} {text}", **source("wiki", "1"))
    return [_placing(_claimed()), lambda: send(who, third, **source("plan", "2", "1"))]


def _forget(who: Principal, chance: Random) -> Sequence[Work]:
    """Let a second voice say what its owner forgets."""
    text, other = statements(chance, 2)
    send(who, text, **source("plan", "1"))
    drain(using=Rules(), linger=False)
    send(who, f"{other} {text}", **source("wiki", "1"))
    return [_placing(_claimed()), forget_known(who)]


def _release(who: Principal, chance: Random) -> Sequence[Work]:
    return [release_held(who)] * 2


def _new_name(who: Principal, chance: Random) -> Sequence[Work]:
    name = chance.choice(["Greta Falk", "Ansel Moor", "Wanda Reiss"])
    one, other = chance.sample(["Harbor", "Skiff", "Lantern", "Granite"], 2)
    send(who, f"{name} works on {one}.")
    send(who, f"{name} works on {other}.")
    return [_placing(_claimed()), _placing(_claimed())]


def _claim_and_place() -> object:
    claim = claim_next()
    if claim is None:
        return NOTHING
    place(claim, Rules())
    return DONE


def _placing(claim: Claim) -> Work:
    return lambda: place(claim, Rules())


def _claimed() -> Claim:
    claim = claim_next()
    if claim is None:
        raise Broken("there is no item to claim")
    return claim


RACES: Final = (
    Race("two_workers_one_item", _one_item, winners=1),
    Race("an_old_and_a_new_lease", _lost_lease),
    Race("one_key_many_times", _one_key, alike=True),
    Race("one_key_for_two_requests", _one_key_for_two, winners=1),
    Race("two_next_revisions", _revisions, winners=1),
    Race("a_first_revision_twice", _first_revisions, alike=True),
    Race("advance_and_commit", _advance),
    Race("promote_and_revoke", _promote),
    Race("forget_and_support", _forget),
    Race("one_question_answered_twice", _release, winners=1),
    Race("a_new_name_twice", _new_name),
)
F7 = Fault(
    "F7",
    "several act on the same thing at one moment",
    "the outcome is that of some order, one winner where there may be one, no deadlock comes out",
    race,
)
