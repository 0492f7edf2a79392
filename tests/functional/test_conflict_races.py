"""Conflict cases under real threads: what two transactions do at once is seen by one of them."""

import threading
import time
from collections.abc import Callable

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from densemem.auth import Principal
from relationships.models import ConflictCase, RelationshipRecord
from relationships.operations import retract
from tests.said import Fact, say
from tests.writing import writing

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sound")]

PATIENCE = 20  # seconds until a race counts as stuck
WAITS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"


def lives(who: Principal, place: str) -> RelationshipRecord:
    """Let a profile say where Ivo lives, and return its record."""
    say(who, f"Ivo lives in {place}.", Fact("Ivo", "lives in", place, "lives_in", object_kind="place"))
    found: RelationshipRecord = RelationshipRecord.objects.get(owner_id=who.profile_id)
    return found


def test_two_positions_that_are_taken_back_at_once_leave_one_and_close_the_case(
    ada: Principal, bo: Principal, cy: Principal
) -> None:
    lives(ada, "Graz")
    leaving = [(bo, lives(bo, "Porto")), (cy, lives(cy, "Lund"))]
    done = threading.Event()

    def first() -> None:
        with transaction.atomic():
            _retract(*leaving[0])
            until(lambda: done.is_set() or somebody_waits())

    def second() -> None:
        with transaction.atomic():
            _retract(*leaving[1])
        done.set()

    run(first, second)

    case = ConflictCase.objects.get()
    assert (case.status, case.reason) == ("closed", "one_position_left")


def _retract(who: Principal, record: RelationshipRecord) -> None:
    with writing(who.profile_id):
        retract(
            team_id=who.team_id,
            owner_id=who.profile_id,
            relationship_id=record.id,
            expected_version=record.version,
            now=timezone.now(),
        )


def somebody_waits() -> bool:
    """Tell if a transaction waits for an advisory lock."""
    with connection.cursor() as cursor:
        cursor.execute(WAITS)
        return bool(cursor.fetchone()[0])


def until(holds: Callable[[], bool]) -> None:
    """Wait for something, and no longer than it may take."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "stuck"
        time.sleep(0.02)


def run(first: Callable[[], None], second: Callable[[], None]) -> None:
    """Run both in threads, the second once the first has begun its transaction's work."""
    raised: list[Exception] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            raised.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=guarded, args=[work], daemon=True) for work in (first, second)]
    threads[0].start()
    time.sleep(0.5)
    threads[1].start()
    for thread in threads:
        thread.join(PATIENCE)
    assert raised == []
