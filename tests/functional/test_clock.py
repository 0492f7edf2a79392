"""Moments under real connections: who waits is later, and an answer about a moment stays what it was."""

import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from densemem.audit.replayed import histories
from densemem.auth import Principal
from densemem.db.clock import moment, settled
from densemem.models import Team
from relationships.models import RelationshipRecord, Transition
from relationships.policy.replay import replay
from relationships.recall import recall
from relationships.trace import trace
from tests.deciding import GRAZ, PORTO, TEXT, WORKS, of_source, record_of, retracted
from tests.knowing import AGAIN
from tests.said import say, send, someone

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sound")]

PATIENCE = 20  # seconds until a race counts as stuck
WAITING = """
    SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_stat_activity AS waits USING (pid)
    WHERE NOT granted AND waits.datname = current_database()"""


@pytest.fixture
def team() -> Team:
    return Team.objects.create(name="Northwind (sample)")


@pytest.fixture
def ada(team: Team) -> Principal:
    return someone(team, "Ada")


def test_a_list_that_waits_for_a_record_carries_a_later_moment_than_what_it_waited_for(ada: Principal) -> None:
    """The list was asked for first, and the record was forgotten while it waited."""
    record = listed(ada, "one", previous=None)

    def forget() -> datetime:
        retracted(ada, record)
        return timezone.now()

    between = while_another_waits(
        hold=lambda: list(RelationshipRecord.objects.select_for_update().filter(pk=record.id)),
        meanwhile=forget,
        waits=lambda: listed(ada, "two", previous="one"),
    )

    moments = list(
        Transition.objects.filter(relationship=record).order_by("version").values_list("recorded_at", flat=True)
    )
    assert moments == sorted(moments)
    assert moments[-1] > between
    answer = trace(principal=ada, relationship_id=record.id, known_at=between)
    state = replay(histories([record])[record.id], until=between)
    assert state is not None
    claim = answer.relationship
    assert (claim.status, claim.version, claim.support_count) == (state.status, state.version, state.support_count)
    assert (claim.status, claim.support_count) == ("retracted", 1)


def test_a_copy_that_waits_for_a_record_counts_it_anew_at_a_later_moment(ada: Principal) -> None:
    """The voice that copies another was sent first, and a record that rests on both was forgotten while it waited."""
    say(ada, AGAIN, WORKS)
    say(ada, TEXT, WORKS, **of_source("minutes"))
    record = record_of(ada)

    def forget() -> datetime:
        retracted(ada, record)
        return timezone.now()

    between = while_another_waits(
        hold=lambda: list(RelationshipRecord.objects.select_for_update().filter(pk=record.id)),
        meanwhile=forget,
        waits=lambda: send(ada, TEXT),
    )

    *earlier, last = Transition.objects.filter(relationship=record).order_by("version")
    assert (last.reason, last.support_count, last.source_group_count) == ("source_groups_joined", 2, 1)
    assert earlier[-1].status == "retracted"
    assert earlier[-1].recorded_at < between < last.recorded_at
    state = replay(histories([record])[record.id], until=between)
    assert state is not None
    assert (state.status, state.source_group_count) == ("retracted", 2)


def test_an_answer_about_a_moment_waits_for_what_had_taken_its_moment(ada: Principal) -> None:
    record = listed(ada, "one", previous=None)
    asked: list[datetime] = []
    seen: list[Any] = []
    threads: list[threading.Thread] = []

    def ask() -> None:
        asked.append(timezone.now())
        seen.append(known(ada, asked[0]))
        connections.close_all()

    with transaction.atomic():
        retracted(ada, record)
        threads.append(threading.Thread(target=ask, daemon=True))
        threads[0].start()
        until(lambda: waiting() == 1)
        assert seen == []
    threads[0].join(PATIENCE)

    assert seen == [known(ada, asked[0])] == [{}]


def test_a_moment_that_is_taken_after_an_answer_lies_after_it(ada: Principal) -> None:
    with transaction.atomic():
        asked = settled(ada.team_id)
    with transaction.atomic():
        assert moment(ada.team_id) > asked


def listed(who: Principal, revision: str, *, previous: str | None) -> Any:
    """Say where Ivo lives in the next revision of a list; return the record of the first."""
    step = {"source_key": "list", "source_revision": revision}
    if previous:
        step["previous_source_revision"] = previous
    place, fact = ("Porto", PORTO) if previous else ("Graz", GRAZ)
    say(who, f"The list: Ivo lives in {place}.", fact, **step)
    return RelationshipRecord.objects.order_by("recorded_at").first()


def known(who: Principal, at: datetime) -> dict[Any, Any]:
    found = recall(principal=who, query="Ivo", known_at=at, now=timezone.now())
    return {i.relationship_id: asdict(i) for g in found.results for i in g.relationships}


def while_another_waits(
    *, hold: Callable[[], object], meanwhile: Callable[[], datetime], waits: Callable[[], object]
) -> datetime:
    """Hold something until another waits for it, change it meanwhile, and let the other end; return when that was."""
    raised: list[Exception] = []

    def guarded() -> None:
        try:
            waits()
        except Exception as error:
            raised.append(error)
        finally:
            connections.close_all()

    other = threading.Thread(target=guarded, daemon=True)
    with transaction.atomic():
        hold()
        other.start()
        until(lambda: waiting() == 1)
        between = meanwhile()
    other.join(PATIENCE)
    assert raised == []
    return between


def waiting() -> int:
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return int(cursor.fetchone()[0])


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "stuck"
        time.sleep(0.02)
