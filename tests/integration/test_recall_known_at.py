"""Recall of what was known at an earlier moment: what the ledgers said by then, and nothing that came later."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from densemem.auth import Principal
from relationships.models import RelationshipRecord, SearchDocument, Transition
from relationships.recall import Recall, RecallRefused, recall
from relationships.vocabulary import LineageKind, Status
from tests import factories
from tests.factories.evidence import RECORDED
from tests.writing import writing

HOUR = timedelta(hours=1)
NOW = RECORDED + 100 * HOUR
MARK = "Mark"

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Any:
    return factories.Team()


@pytest.fixture
def me(team: Any) -> Principal:
    return factories.principal_of(factories.Profile(team=team, name="A"))


@pytest.fixture
def mark(team: Any) -> Any:
    return factories.Entity(team=team, name=MARK)


def works(mark: Any, **fields: Any) -> Any:
    """Return a record: Mark works on something."""
    return factories.RelationshipRecord(team=mark.team, subject_entity=mark, **fields)


def step(record: RelationshipRecord, *, at: datetime, **fields: Any) -> None:
    """Move a record on, as an operation would."""
    before = (record.tier, record.status)
    for name, value in fields.items():
        setattr(record, name, value)
    record.version += 1
    names = ("tier", "status", "support_count", "source_group_count", "version")
    with writing(record.owner_id):
        record.save()
        record.transitions.create(
            team=record.team,
            tier_before=before[0],
            status_before=before[1],
            reason="changed",
            recorded_at=at,
            **{name: getattr(record, name) for name in names},
        )
    SearchDocument.objects.filter(relationship=record).update(eligible=record.status == Status.ACTIVE)


def replaced(older: Any, newer: Any, kind: LineageKind, *, at: datetime, effective_at: datetime) -> None:
    """Let one record take another's place."""
    factories.Lineage(successor=newer, predecessor=older, kind=kind, recorded_at=at, effective_at=effective_at)
    step(older, at=at, status=Status.SUPERSEDED)


def seen(me: Principal, **asked: Any) -> dict[Any, tuple[str, int, int]]:
    """Return tier, support and version of each record that is recalled."""
    found = recall(principal=me, query=MARK, now=NOW, **asked)
    return {i.relationship_id: (i.tier, i.support_count, i.version) for g in found.results for i in g.relationships}


def positions(answer: Recall) -> list[list[Any]]:
    """Return the records of each position of each conflict."""
    return [[c.relationship_id for p in found.positions for c in p.relationships] for found in answer.conflicts]


class TestKnownAt:
    def test_begins_with_the_moment_of_the_first_step(self, mark: Any, me: Principal) -> None:
        record = works(mark)

        assert seen(me, known_at=RECORDED - HOUR) == {}
        assert seen(me, known_at=RECORDED) == seen(me) == {record.id: ("validated_claim", 1, 1)}

    def test_shows_tier_and_counts_of_that_moment(self, mark: Any, me: Principal) -> None:
        record = works(mark)
        step(record, at=RECORDED + HOUR, tier="fact", support_count=2, source_group_count=2)

        assert seen(me, known_at=RECORDED) == {record.id: ("validated_claim", 1, 1)}
        assert seen(me, known_at=RECORDED + HOUR) == {record.id: ("fact", 2, 2)}

    def test_finds_what_is_hidden_today_and_hides_what_was_hidden_then(self, mark: Any, me: Principal) -> None:
        forgotten, waited = works(mark), works(mark, pending=True)
        step(forgotten, at=RECORDED + HOUR, status=Status.RETRACTED)
        step(waited, at=RECORDED + HOUR, tier="validated_claim", status=Status.ACTIVE, support_count=1)

        assert list(seen(me, known_at=RECORDED)) == [forgotten.id]
        assert list(seen(me, known_at=RECORDED + HOUR)) == list(seen(me)) == [waited.id]

    def test_takes_the_last_of_the_steps_of_one_moment(self, mark: Any, me: Principal) -> None:
        record = works(mark)
        step(record, at=RECORDED, status=Status.DISPUTED)

        assert seen(me, known_at=RECORDED) == {}

    def test_shows_the_conflicts_of_that_moment(self, mark: Any, me: Principal) -> None:
        one, two = works(mark), works(mark, recorded_at=RECORDED + timedelta(seconds=1))
        factories.CrossReference(source_relationship=two, target_relationship=one, recorded_at=RECORDED + HOUR)
        step(one, at=RECORDED + 2 * HOUR, status=Status.RETRACTED)

        def asked(at: datetime | None) -> list[list[Any]]:
            return positions(recall(principal=me, query=MARK, known_at=at, now=NOW))

        assert (asked(RECORDED), asked(None)) == ([], [])
        assert asked(RECORDED + HOUR) == [[one.id, two.id]]

    def test_never_names_what_is_held_today(self, mark: Any, me: Principal) -> None:
        shown = works(mark)
        held = works(mark, object_entity=shown.object_entity)
        step(held, at=RECORDED + HOUR, tier="candidate", status=Status.QUARANTINED, support_count=0)

        found = recall(principal=me, query=MARK, known_at=RECORDED, now=NOW)

        (group,) = found.results
        assert {i.relationship_id: i.subject.words for i in group.relationships} == {
            shown.id: MARK,
            held.id: "(held text)",
        }


class TestBothTimes:
    """Mark works on one thing, and since the fifth hour on another; that was recorded in the tenth."""

    FIFTH, TENTH = RECORDED + 5 * HOUR, RECORDED + 10 * HOUR

    @pytest.fixture
    def older(self, mark: Any) -> Any:
        return works(mark)

    @pytest.mark.parametrize("kind", [LineageKind.REPLACED, LineageKind.CORRECTED])
    def test_what_was_replaced_answers_for_its_time_and_what_was_corrected_does_not(
        self, older: Any, mark: Any, me: Principal, kind: LineageKind
    ) -> None:
        newer = works(mark, owner=older.owner, valid_from=self.FIFTH, history__at=self.TENTH)
        replaced(older, newer, kind, at=self.TENTH, effective_at=self.FIFTH)
        before, after = self.FIFTH - HOUR, self.FIFTH + HOUR

        still = [older.id] if kind is LineageKind.REPLACED else []
        assert list(seen(me, valid_at=before)) == still
        assert list(seen(me, valid_at=after)) == [newer.id]
        assert list(seen(me, valid_at=before, known_at=self.TENTH)) == still
        assert list(seen(me, valid_at=before, known_at=self.TENTH - HOUR)) == [older.id]
        assert list(seen(me, valid_at=after, known_at=self.TENTH - HOUR)) == [older.id]
        assert list(seen(me, known_at=self.TENTH)) == [newer.id]

    def test_what_was_closed_gives_way_to_the_period_that_closed_it(self, older: Any, mark: Any, me: Principal) -> None:
        closed = works(
            mark, owner=older.owner, object_entity=older.object_entity, valid_to=self.FIFTH, history__at=self.TENTH
        )
        replaced(older, closed, LineageKind.CLOSED, at=self.TENTH, effective_at=self.FIFTH)

        assert list(seen(me, valid_at=self.FIFTH - HOUR)) == [closed.id]
        assert list(seen(me, valid_at=self.FIFTH)) == []
        assert list(seen(me, valid_at=self.FIFTH, known_at=self.TENTH - HOUR)) == [older.id]

    def test_what_was_replaced_and_then_corrected_answers_for_no_time(
        self, older: Any, mark: Any, me: Principal
    ) -> None:
        one, two = (works(mark, owner=older.owner, valid_from=self.FIFTH, history__at=self.TENTH) for _ in range(2))
        replaced(older, one, LineageKind.REPLACED, at=self.TENTH, effective_at=self.FIFTH)
        step(older, at=self.TENTH, status=Status.ACTIVE)
        replaced(older, two, LineageKind.CORRECTED, at=self.TENTH + HOUR, effective_at=self.FIFTH)

        assert older.id not in seen(me, valid_at=self.FIFTH - HOUR)
        assert older.id in seen(me, valid_at=self.FIFTH - HOUR, known_at=self.TENTH)


class TestQuestion:
    def test_about_the_future_is_refused(self, me: Principal) -> None:
        with pytest.raises(RecallRefused) as refused:
            recall(principal=me, query=MARK, known_at=NOW + timedelta(microseconds=1), now=NOW)
        assert [(f.pointer, f.code) for f in refused.value.faults] == [("/known_at", "time_in_future")]

    def test_without_an_offset_is_refused(self, me: Principal) -> None:
        with pytest.raises(RecallRefused) as refused:
            recall(principal=me, query=MARK, known_at=datetime(2026, 1, 1), now=NOW)  # noqa: DTZ001 - the fault
        assert [(f.pointer, f.code) for f in refused.value.faults] == [("/known_at", "time_without_offset")]

    @pytest.mark.parametrize(
        ("moment", "code"),
        [
            ("2026-01-01T00:00:00", "time_without_offset"),
            ("2026-01-01", "time_malformed"),
            ("9999-01-01T00:00:00Z", "time_in_future"),
        ],
    )
    def test_is_refused_by_rest_at_its_place(self, client: Any, team: Any, moment: str, code: str) -> None:
        headers = factories.bearer(factories.Profile(team=team))

        answer = client.get("/api/v1/recall", {"query": MARK, "known_at": moment}, headers=headers)

        assert answer.status_code == 422
        assert [(f["pointer"], f["code"]) for f in answer.json()["errors"]] == [("/known_at", code)]

    def test_is_answered_by_rest_with_both_moments(self, client: Any, mark: Any) -> None:
        record = works(mark)
        step(record, at=RECORDED + HOUR, status=Status.RETRACTED)
        headers = factories.bearer(factories.Profile(team=mark.team))
        asked = {"query": MARK, "known_at": RECORDED.isoformat()}

        answer = client.get("/api/v1/recall", asked, headers=headers).json()

        assert [i["relationship_id"] for g in answer["results"] for i in g["relationships"]] == [str(record.id)]
        assert answer["known_at"] == answer["valid_at"] == RECORDED.astimezone(UTC).isoformat().replace("+00:00", "Z")


class TestCost:
    @pytest.mark.parametrize("known_at", [None, RECORDED])
    def test_is_the_same_for_one_record_for_ten_and_for_a_hundred(
        self, mark: Any, me: Principal, known_at: datetime | None
    ) -> None:
        costs = []
        for number in (1, 9, 90):
            for _ in range(number):
                record = works(mark)
            factories.CrossReference(source_relationship=record, target_relationship=works(mark))
            with CaptureQueriesContext(connection) as queries:
                recall(principal=me, query=MARK, limit=50, known_at=known_at, now=NOW)
            costs.append(len(queries))

        assert costs == [16 if known_at else 9] * 3

    def test_never_reads_history_when_asked_about_now(self, mark: Any, me: Principal) -> None:
        works(mark)

        with CaptureQueriesContext(connection) as queries:
            recall(principal=me, query=MARK, now=NOW)

        assert Transition._meta.db_table not in " ".join(q["sql"] for q in queries)
