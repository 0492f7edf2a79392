"""F3: every statement of an operation fails once, and each time nothing must have happened."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, Final
from unittest import mock
from uuid import uuid4

from django.db import connection

from densemem.auth import Principal
from densemem.faults import rows
from densemem.faults.cast import HELD, forget_known, newcomers, release_held, send, source, statements
from densemem.faults.fault import Broken, Fault, Figures
from densemem.providers.rules import Rules
from placement import pipeline
from placement.operations import Claim, claim_next, end_failed, put_back
from placement.tasks import drain

STATEMENTS_MOST: Final = 500


class Interrupted(Exception):
    """A statement failed on purpose."""


@dataclass(frozen=True, slots=True)
class Operation:
    """
    One operation that must happen whole or not at all.

    :param prepare: sets the scene and returns the operation, ready to be done
    """

    name: str
    prepare: Callable[[Random], Callable[[], object]]


def break_every_statement(chance: Random) -> Figures:
    """Do each operation again and again, breaking one statement later each time, until it is through."""
    return {f"statements_of_{operation.name}": _break(operation, chance) for operation in OPERATIONS}


def _break(operation: Operation, chance: Random) -> int:
    """Return how many of its statements were broken."""
    done = operation.prepare(chance)
    before = rows.everything()
    for number in range(1, STATEMENTS_MOST):
        try:
            with _breaking(number) as seen, _silence():
                done()
        except Interrupted:
            rows.same(before, rows.everything(), what=f"{operation.name}, statement {number} broken")
            continue
        except Exception as raised:
            raise Broken(f"{operation.name}, statement {number} broken: {type(raised).__qualname__}") from raised
        if rows.everything() == before:
            raise Broken(f"{operation.name} came through and did nothing")
        # One that breaks after the commit is a lost wake-up, which loses nothing.
        return min(number - 1, len(seen))
    raise Broken(f"{operation.name} did not come through within {STATEMENTS_MOST} statements")


@contextmanager
def _breaking(number: int) -> Iterator[list[str]]:
    """Let the statement of this number fail; the list grows by each that was reached."""
    seen: list[str] = []

    def run(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        seen.append(sql)
        if len(seen) == number:
            raise Interrupted
        return execute(sql, params, many, context)

    with connection.execute_wrapper(run):
        yield seen


@contextmanager
def _silence() -> Iterator[None]:
    """Keep quiet about a wake-up that is lost on purpose."""
    log = logging.getLogger("django.db.backends.base")
    kept, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = kept


def _intake(chance: Random) -> Callable[[], object]:
    who, texts, key = _member(), statements(chance, 3), uuid4().hex
    return lambda: send(who, *texts, HELD, key=key)


def _activation(chance: Random) -> Callable[[], object]:
    """Advance a source whose old revision is known, half placed and asked about."""
    who, key = _member(), uuid4().hex
    old, waiting, new = statements(chance, 3)
    send(who, old, **source("plan", "1"))
    send(who, f"As we know: {old}", **source("wiki", "1"))
    drain(using=Rules(), linger=False)
    send(who, waiting, **source("log", "1"))
    return lambda: send(who, new, key=key, source_group="one desk", **source("plan", "2", "1"))


def _commit(chance: Random) -> Callable[[], object]:
    who = _member()
    known, *new = statements(chance, 4)
    send(who, known)
    drain(using=Rules(), linger=False)
    send(who, " ".join([known, *new, "Greta Falk founded Meridian."]))
    claim, accepted = _accepted()
    return lambda: pipeline.commit(claim, accepted)


def _claim(chance: Random) -> Callable[[], object]:
    send(_member(), *statements(chance, 1))
    return lambda: _found(claim_next())


def _put_back(chance: Random) -> Callable[[], object]:
    send(_member(), *statements(chance, 1))
    claim = _found(claim_next())
    return lambda: put_back(claim, reason="provider_timeout")


def _fail(chance: Random) -> Callable[[], object]:
    send(_member(), *statements(chance, 1))
    claim = _found(claim_next())
    return lambda: end_failed(claim, reason="verify_answers_invalid")


def _release(chance: Random) -> Callable[[], object]:
    return release_held(_member())


def _forget(chance: Random) -> Callable[[], object]:
    who = _member()
    send(who, *statements(chance, 2))
    drain(using=Rules(), linger=False)
    return forget_known(who)


def _member() -> Principal:
    """Return a member of a new team; nothing is left to place for any other."""
    drain(using=Rules(), linger=False)
    (who,) = newcomers()
    return who


def _accepted() -> tuple[Claim, pipeline.Accepted]:
    """Claim the next item and bring it as far as the commit."""
    reached: list[tuple[Claim, pipeline.Accepted]] = []

    def stop(claim: Claim, accepted: pipeline.Accepted) -> bool:
        reached.append((claim, accepted))
        return True

    with mock.patch.object(pipeline, "commit", stop):
        pipeline.place(_found(claim_next()), Rules())
    return reached[0]


def _found(claim: Claim | None) -> Claim:
    if claim is None:
        raise Broken("there is no item to claim")
    return claim


OPERATIONS: Final = (
    Operation("intake", _intake),
    Operation("source_activation", _activation),
    Operation("claim", _claim),
    Operation("placement_commit", _commit),
    Operation("put_back", _put_back),
    Operation("end_as_failed", _fail),
    Operation("release", _release),
    Operation("forget", _forget),
)
F3 = Fault(
    "F3",
    "each statement of an operation fails once",
    "all tables are as before, to the byte, and the operation succeeds when it is done again",
    break_every_statement,
)
