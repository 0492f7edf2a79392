"""A long queue: whoever waits behind it is served in turn, and a claim reads no more than a short one would need."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext

from densemem.auth import Principal
from densemem.models import Team
from placement import tasks
from placement.models import Item
from placement.operations import claim_next
from placement.queries import next_due
from placement.tasks import drain
from tests.said import Fact, model, send, someone

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "owner"])

BACKLOG = 20_000
PAGES = 80  # of the many hundreds that 20,000 items fill; 20 to 45 were seen, as the index had been written
MULTIPLY = """
    INSERT INTO placement_item (id, team_id, run_id, ingest_id, owner_id, fragment_id, evidence_index, state, category,
                                reason, version, attempts, uncounted, available_at)
    SELECT gen_random_uuid(), team_id, run_id, ingest_id, owner_id, fragment_id, n, state, category,
           reason, version, attempts, uncounted, available_at + n * interval '1 microsecond' + %s * interval '1 second'
    FROM placement_item, generate_series(1, %s) n WHERE id = %s
"""


def queue_behind(who: Principal, number: int, *, wait: int = 0) -> None:
    """Queue one item of the team, and as many like it."""
    ingest_id = send(who, "Mara Lind works on Harbor.")
    row = Item.objects.get(ingest_id=ingest_id)
    with connection.cursor() as cursor:
        cursor.execute(MULTIPLY, [wait, number, row.id])


def as_owner(statement: str) -> None:
    """Run a statement as the role that owns the tables."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(statement)
    connections["owner"].close()


@pytest.fixture(autouse=True)
def swept(db: None) -> None:
    """Remove what other tests have left in the indexes."""
    as_owner("VACUUM placement_item")


@pytest.fixture
def crowd(team: Team, ada: Principal) -> Principal:
    """A member of a team with a long queue."""
    queue_behind(ada, BACKLOG)
    return ada


@pytest.fixture
def small(crowd: Principal, stranger: Principal) -> Principal:
    """A member of another team, whose ten items came after all of the long queue."""
    send(stranger, *[f"Uma Berg works on Skiff {n}." for n in range(10)])
    return stranger


def plans(work: Callable[[], Any]) -> Iterator[dict[str, Any]]:
    """Yield how the database carries out each look at the queue that some work takes."""
    with CaptureQueriesContext(
        connection,
    ) as seen:
        work()
    looks = [q["sql"] for q in seen if "ORDER BY" in q["sql"]]
    assert looks
    for sql in looks:
        *settings, look = sql.split(";")
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(";".join(settings) or "SELECT 1")
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {look}")
            (found,) = cursor.fetchone()
            transaction.set_rollback(True)
        yield (json.loads(found) if isinstance(found, str) else found)[0]["Plan"]


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a plan's steps."""
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


def pages(plan: dict[str, Any]) -> int:
    """Count the pages of the database that a plan has read."""
    return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]


def reads_little(work: Callable[[], Any]) -> None:
    """Make sure that looks at the queue go along its indexes, and end after a few pages."""
    for plan in plans(work):
        kinds = {node["Node Type"] for node in nodes(plan)}
        used = {node["Index Name"] for node in nodes(plan) if "Index Name" in node}
        assert not {kind for kind in kinds if "Seq Scan" in kind or "Sort" in kind or "Bitmap" in kind}, kinds
        assert used <= {"item_ready", "item_ready_of_team", "placement_item_pkey"}
        assert pages(plan) <= PAGES


@pytest.fixture(params=[False, True], ids=["unknown", "known"])
def statistics(request: pytest.FixtureRequest) -> Callable[[], None]:
    """Let the planner know what the tables hold, or let it guess."""

    return (lambda: as_owner("ANALYZE placement_item")) if request.param else (lambda: None)


class TestTurns:
    def test_go_round_the_teams_and_take_what_waited_longest_of_each(self, ada: Principal, stranger: Principal) -> None:
        teams = sorted([ada.team_id, stranger.team_id])
        for who in (ada, stranger, ada, stranger):
            send(who, "Mara Lind works on Harbor.")
        oldest = {team: Item.objects.filter(team_id=team).earliest("available_at").id for team in teams}

        taken = []
        for _ in range(4):
            claim = claim_next(after=taken[-1].team_id if taken else teams[-1])
            assert claim is not None
            taken.append(claim)

        assert [claim.team_id for claim in taken] == teams * 2
        assert [claim.item_id for claim in taken[:2]] == [oldest[team] for team in teams]
        assert claim_next(after=taken[-1].team_id) is None

    def test_serve_ten_items_behind_a_long_queue_within_twenty_claims(self, small: Principal) -> None:
        served = []
        for _ in range(20):
            claim = claim_next(after=served[-1] if served else None)
            assert claim is not None
            served.append(claim.team_id)

        assert served.count(small.team_id) == 10

    def test_are_what_a_drain_goes_by_and_the_next_one_goes_on_with(
        self, small: Principal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tasks.Crew, "served", None)
        served = []
        monkeypatch.setattr(tasks, "place", lambda claim, _: served.append(claim.team_id))
        for _ in range(20):
            monkeypatch.setattr(tasks, "stopping", Stop(after=1, served=served))
            drain(seconds=60, using=model(Fact("Mara Lind", "works on", "Harbor")), linger=False)

        assert len(served) == 20
        assert served.count(small.team_id) == 10


class Stop:
    """A cluster that stops once so many more items were served."""

    def __init__(self, *, after: int, served: list[Any]) -> None:
        self._enough = len(served) + after
        self._served = served

    @property
    def value(self) -> bool:
        """Tell if the cluster is stopping."""
        return len(self._served) >= self._enough


class TestLongQueue:
    def test_is_not_read_by_a_claim(self, small: Principal, statistics: Callable[[], None]) -> None:
        statistics()
        for after in (None, small.team_id, min(small.team_id, Team.objects.exclude(pk=small.team_id).get().id)):
            for _ in range(3):
                reads_little(lambda after=after: claim_next(after=after))

    def test_is_not_read_to_learn_when_something_falls_due(
        self, ada: Principal, stranger: Principal, statistics: Callable[[], None]
    ) -> None:
        queue_behind(ada, BACKLOG, wait=600)
        assert claim_next() is not None
        statistics()

        assert sum(pages(plan) for plan in plans(next_due)) <= PAGES
        reads_little(claim_next)

    def test_costs_no_more_pages_when_it_is_a_hundred_times_as_long(self, ada: Principal) -> None:
        queue_behind(ada, BACKLOG // 100)
        short = sum(pages(plan) for plan in plans(claim_next))

        queue_behind(ada, BACKLOG)
        long = sum(pages(plan) for plan in plans(claim_next))

        assert long <= 2 * short + 4

    def test_of_one_team_that_waits_is_passed_over_along_the_index(
        self, ada: Principal, stranger: Principal, team: Team, statistics: Callable[[], None]
    ) -> None:
        queue_behind(ada, BACKLOG // 10, wait=600)
        other = someone(Team.objects.create(name="Third (sample)"), "Cy")
        send(other, "Mara Lind works on Harbor.")
        statistics()

        reads_little(lambda: claim_next(after=other.team_id))
