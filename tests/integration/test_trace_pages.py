"""A trace comes in pages that lose and double nothing, and shows what was known at an earlier moment."""

from dataclasses import asdict
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from densemem.auth import Principal
from densemem.core.faults import NotThere
from densemem.paging import Before
from relationships.trace import LISTS, TraceRefused, trace
from tests import factories
from tests.factories.evidence import RECORDED

HOUR = timedelta(hours=1)
NOW = RECORDED + 100 * HOUR

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Any:
    return factories.Team()


@pytest.fixture
def me(team: Any) -> Principal:
    return factories.principal_of(factories.Profile(team=team))


@pytest.fixture
def headers(team: Any) -> dict[str, str]:
    return factories.bearer(factories.Profile(team=team))


def held_up(team: Any, count: int) -> Any:
    """Return a record with as many supports."""
    return factories.RelationshipRecord(team=team, support_count=count)


class TestPages:
    def test_show_every_entry_once_and_the_newest_first(self, client: Any, team: Any, headers: dict[str, str]) -> None:
        record = held_up(team, 7)
        first = client.get(f"/api/v1/relationships/{record.id}/trace?limit=3", headers=headers).json()
        newest_first = [str(i) for i in record.supports.order_by("-seq").values_list("id", flat=True)]

        shown, page = [], first["supports"]
        while page["next"]:
            shown += page["items"]
            page = client.get(page["next"], headers=headers).json()
            assert page["count"] == 7
        shown += page["items"]

        assert [s["support_id"] for s in shown] == newest_first
        assert {name: first[name]["count"] for name in LISTS} == {
            "supports": 7,
            "support_decisions": 7,
            "observations": 7,
            "verifications": 7,
            "transitions": 1,
            "references": 0,
            "lineage": 0,
            "conflicts": 0,
        }

    @pytest.mark.parametrize("name", LISTS)
    def test_of_every_list_are_not_shifted_by_what_is_added(self, team: Any, me: Principal, name: str) -> None:
        record = held_up(team, 3)
        other = factories.RelationshipRecord(team=team, owner=record.owner)
        older = _all(me, record, name, limit=100)
        page = getattr(trace(principal=me, relationship_id=record.id, only=name, limit=1), name)

        factories.revoke(factories.Support(relationship=record), now=NOW)
        factories.Lineage(successor=record, predecessor=other)
        factories.CrossReference(
            source_relationship=record, target_relationship=factories.RelationshipRecord(team=team)
        )

        rest = _all(me, record, name, limit=1, cursor=page.next) if page.next else []
        assert [_key(e) for e in (*page.items, *rest)] == [_key(e) for e in older]
        assert (
            len(_all(me, record, name, limit=2)) == getattr(trace(principal=me, relationship_id=record.id), name).count
        )

    def test_tell_the_length_of_the_lists_that_were_not_asked_for(self, team: Any, me: Principal) -> None:
        record = held_up(team, 2)

        found = trace(principal=me, relationship_id=record.id, only="transitions")

        assert (found.supports.items, found.supports.count) == ((), 2)
        assert [s.support_id for s in _all(me, record, "supports", limit=1, cursor=found.supports.next)] == [
            s.support_id for s in trace(principal=me, relationship_id=record.id).supports.items
        ]

    @pytest.mark.parametrize(
        "cursor", ["nonsense", "c2VxIDA", "c2VxIC0x", "c2VxIDk5OTk5OTk5OTk5OTk5OTk5OTk5", "PiAxIDE"]
    )
    def test_begin_at_no_cursor_of_others(self, client: Any, team: Any, headers: dict[str, str], cursor: str) -> None:
        address = f"/api/v1/relationships/{held_up(team, 1).id}/trace/supports?cursor={cursor}"

        answer = client.get(address, headers=headers)

        assert (answer.status_code, answer.json()["code"]) == (400, "cursor_invalid")

    def test_of_no_list_are_not_there(self, client: Any, team: Any, headers: dict[str, str]) -> None:
        answer = client.get(f"/api/v1/relationships/{held_up(team, 1).id}/trace/secrets", headers=headers)

        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")

    def test_cost_the_same_for_one_support_for_ten_and_for_a_hundred(self, team: Any, me: Principal) -> None:
        now, then = [], []
        for count in (1, 10, 100):
            record = held_up(team, count - 1) if count > 1 else factories.RelationshipRecord(team=team, pending=True)
            factories.Support(relationship=record, source=factories.Source(team=team))
            factories.Lineage(successor=record, predecessor=factories.RelationshipRecord(team=team, owner=record.owner))
            factories.CrossReference(
                source_relationship=record, target_relationship=factories.RelationshipRecord(team=team)
            )
            for known_at, costs in ((None, now), (NOW, then)):
                with CaptureQueriesContext(connection) as queries:
                    found = trace(principal=me, relationship_id=record.id, known_at=known_at, limit=100, now=NOW)
                assert len(found.supports.items) == count
                costs.append(len(queries))

        assert (len(set(now)), len(set(then))) == (1, 1)


class TestKnownAt:
    def test_shows_the_record_as_it_was_then(self, team: Any, me: Principal) -> None:
        record = held_up(team, 2)
        then = trace(principal=me, relationship_id=record.id)
        factories.revoke(record.supports.order_by("seq").first(), now=RECORDED + HOUR)
        other = factories.RelationshipRecord(team=team, owner=record.owner)
        factories.Lineage(successor=record, predecessor=other, recorded_at=RECORDED + HOUR)
        factories.CrossReference(
            source_relationship=record,
            target_relationship=factories.RelationshipRecord(team=team),
            recorded_at=RECORDED + HOUR,
        )

        found = trace(principal=me, relationship_id=record.id, known_at=RECORDED, now=NOW)

        assert {**asdict(found), "known_at": None} == asdict(then)
        assert asdict(trace(principal=me, relationship_id=record.id, known_at=NOW, now=NOW)) == {
            **asdict(trace(principal=me, relationship_id=record.id)),
            "known_at": NOW,
        }

    def test_shows_the_revision_that_was_current_then(self, team: Any, me: Principal) -> None:
        support = factories.Support(source=factories.Source(team=team), relationship=held_up(team, 1))
        source = support.fragment.source
        newer = source.revisions.create(
            team=team,
            token="r2",
            previous=source.current_revision,
            content_hash="0",
            ingest=support.fragment.ingest,
            recorded_at=RECORDED + HOUR,
        )
        source.current_revision = newer
        source.save()

        def current(known_at: Any) -> bool:
            found = trace(principal=me, relationship_id=support.relationship_id, known_at=known_at, now=NOW)
            return found.supports.items[0].evidence.revision_is_current

        assert (current(RECORDED), current(RECORDED + HOUR), current(None)) == (True, False, False)

    def test_of_what_was_not_known_yet_is_not_there(self, team: Any, me: Principal) -> None:
        with pytest.raises(NotThere):
            trace(principal=me, relationship_id=held_up(team, 1).id, known_at=RECORDED - HOUR, now=NOW)

    def test_in_the_future_is_refused(self, team: Any, me: Principal) -> None:
        with pytest.raises(TraceRefused) as refused:
            trace(principal=me, relationship_id=held_up(team, 1).id, known_at=NOW + HOUR, now=NOW)
        assert [(f.pointer, f.code) for f in refused.value.faults] == [("/known_at", "time_in_future")]

    def test_stays_with_the_pages(self, client: Any, team: Any, headers: dict[str, str]) -> None:
        record = held_up(team, 3)
        factories.revoke(record.supports.order_by("seq").first(), now=RECORDED + HOUR)
        asked = {"known_at": RECORDED.isoformat(), "limit": 2}

        first = client.get(f"/api/v1/relationships/{record.id}/trace", asked, headers=headers).json()
        rest = client.get(first["supports"]["next"], headers=headers).json()

        assert [s["effective"] for s in first["supports"]["items"] + rest["items"]] == [True] * 3
        assert first["relationship"]["version"] == 1


def _all(me: Principal, record: Any, name: str, *, limit: int, cursor: str | None = None) -> list[Any]:
    """Return every entry of a list from a cursor on."""
    found: list[Any] = []
    while True:
        before = Before.read(cursor or "")
        asked = trace(principal=me, relationship_id=record.id, only=name, before=before, limit=limit)
        page = getattr(asked, name)
        found, cursor = [*found, *page.items], page.next
        if cursor is None:
            return found


def _key(entry: Any) -> Any:
    """Return what tells an entry apart, whatever became of it."""
    told = asdict(entry)
    return tuple(v for v in told.values() if isinstance(v, UUID | int | str) and not isinstance(v, bool))
