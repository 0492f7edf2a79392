"""Conflict cases under real threads: what two transactions do at once is seen by one of them."""

import threading

import pytest
from django.db import transaction
from django.utils import timezone

from densemem.auth import Principal
from relationships.models import ConflictCase, RelationshipRecord
from relationships.operations import retract
from tests.racing import PATIENCE, run, somebody_waits, until
from tests.said import Fact, say
from tests.writing import writing

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sound")]


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
    begun, done = threading.Event(), threading.Event()

    def first() -> None:
        with transaction.atomic():
            _retract(*leaving[0])
            begun.set()
            until(lambda: done.is_set() or somebody_waits())

    def second() -> None:
        assert begun.wait(PATIENCE)
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
