"""Recall shows what the team holds to be so now, by whom, and what stands against it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from densemem.auth import Principal, ScopeMissing
from entities.vocabulary import EntityKind
from relationships.models import SearchDocument
from relationships.recall import Recall, RecallRefused, recall
from relationships.vocabulary import CrossReferenceKind, LineageKind, Polarity
from tests import factories

NOW = datetime(2026, 4, 1, tzinfo=UTC)
DAY = timedelta(days=1)
HIDDEN = ["pending", "review", "quarantined", "superseded", "disputed", "retracted", "rejected"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Any:
    return factories.Team()


@pytest.fixture
def me(team: Any) -> Principal:
    return factories.principal_of(factories.Profile(team=team, name="A"))


def known(team: Any, subject: str = "Mark", target: str = "Dense-Mem", **fields: Any) -> Any:
    """Make a record of two named ends."""
    return factories.RelationshipRecord(
        team=team,
        subject_entity=fields.pop("subject_entity", None) or factories.Entity(team=team, name=subject),
        object_entity=fields.pop("object_entity", None)
        or factories.Entity(team=team, name=target, kind=EntityKind.PROJECT),
        **fields,
    )


def ids(answer: Recall) -> list[list[Any]]:
    """Return the records of each result."""
    return [[item.relationship_id for item in group.relationships] for group in answer.results]


def positions(answer: Recall) -> list[list[set[Any]]]:
    """Return the records of each position of each conflict."""
    return [[{c.relationship_id for c in p.relationships} for p in c.positions] for c in answer.conflicts]


class TestRecall:
    def test_shows_a_record_with_its_author_ends_standing_and_reason(self, team: Any, me: Principal) -> None:
        record = known(team, fact=True, scope_key="role=lead")

        (group,) = recall(principal=me, query="Where does Mark work?", now=NOW).results

        (item,) = group.relationships
        assert item.relationship_id == record.id
        assert (item.author.profile_id, item.author.name) == (record.owner_id, record.owner.name)
        assert (item.subject.entity_id, item.subject.name, item.subject.kind) == (
            record.subject_entity_id,
            "Mark",
            "person",
        )
        assert (item.object.entity_id, item.object.name) == (record.object_entity_id, "Dense-Mem")
        assert (item.predicate, item.polarity, item.scope, item.tier) == ("works_on", "+", "role=lead", "fact")
        assert (item.support_count, item.source_group_count, item.version) == (2, 2, 1)
        assert (item.sentence, item.trace_available) == ("Mark works on Dense-Mem", True)
        assert item.why == ("mark", "work")

    def test_shows_a_value_by_display_type_and_unit(self, team: Any, me: Principal) -> None:
        value = factories.Value(team=team, type="number", display="12", canonical="12", unit="GB")
        factories.RelationshipRecord(team=team, object_value=value)

        (group,) = recall(principal=me, query="12 GB", now=NOW).results

        shown = group.relationships[0].object
        assert (shown.value_id, shown.display, shown.type, shown.value, shown.unit) == (
            value.id,
            "12",
            "number",
            "12",
            "GB",
        )

    def test_says_that_a_denial_denies(self, team: Any, me: Principal) -> None:
        known(team, polarity=Polarity.MINUS)

        (group,) = recall(principal=me, query="Mark", now=NOW).results

        assert group.relationships[0].sentence == "It is denied that Mark works on Dense-Mem"

    @pytest.mark.parametrize(
        ("name", "query"),
        [("北京大学", "北京"), ("東京タワー", "タワー"), ("서울", "서울에서"), ("José", "jose"), ("Will", "Will")],
    )
    def test_finds_names_of_every_script(self, team: Any, me: Principal, name: str, query: str) -> None:
        record = known(team, subject=name)
        known(team, subject="Ivo")

        assert ids(recall(principal=me, query=query, now=NOW)) == [[record.id]]

    def test_takes_all_terms_before_any_of_them(self, team: Any, me: Principal) -> None:
        record = known(team, "Mark", "Beacon")
        known(team, "Mark", "Lantern")

        assert ids(recall(principal=me, query="Mark Beacon", now=NOW)) == [[record.id]]

    def test_falls_back_to_any_term_and_puts_those_that_match_most_first(self, team: Any, me: Principal) -> None:
        one, two = known(team, "Mark", "Lantern"), known(team, "Mark", "Beacon")

        assert ids(recall(principal=me, query="zebra Mark Beacon", now=NOW)) == [[two.id], [one.id]]

    @pytest.mark.parametrize("query", ["zebra", "???", "& | ! ( ) <-> :*", "'; DROP TABLE", "the of and"])
    def test_finds_nothing_without_a_matching_word(self, team: Any, me: Principal, query: str) -> None:
        known(team)

        assert recall(principal=me, query=query, now=NOW).results == ()

    def test_shows_at_most_the_limit_of_meanings(self, team: Any, me: Principal) -> None:
        for number in range(4):
            known(team, "Mark", f"Project {number}")

        assert len(recall(principal=me, query="Mark", limit=3, now=NOW).results) == 3

    def test_costs_the_same_queries_for_one_record_and_for_ten(self, team: Any, me: Principal) -> None:
        mark = factories.Entity(team=team, name="Mark")

        def cost() -> int:
            with CaptureQueriesContext(connection) as queries:
                recall(principal=me, query="Mark", now=NOW)
            return len(queries)

        known(team, subject_entity=mark)
        of_one = cost()
        for number in range(9):
            record = known(team, target=f"Project {number}", subject_entity=mark)
        assert cost() == of_one == 7
        factories.CrossReference(target_relationship=record, source_relationship=known(team, subject_entity=mark))
        assert cost() == 9


class TestWhatRecallMayShow:
    @pytest.mark.parametrize("trait", HIDDEN)
    def test_never_shows_what_is_not_active_by_default(self, team: Any, me: Principal, trait: str) -> None:
        """Acceptance invariant 4."""
        known(team, **{trait: True})

        assert recall(principal=me, query="Mark", now=NOW).results == ()

    @pytest.mark.parametrize("trait", HIDDEN)
    def test_never_trusts_a_search_document_that_lags_behind(self, team: Any, me: Principal, trait: str) -> None:
        """Acceptance invariant 4."""
        known(team, **{trait: True})
        SearchDocument.objects.update(eligible=True)

        assert recall(principal=me, query="Mark", now=NOW).results == ()

    def test_never_reads_evidence_judgments_or_history(self, team: Any, me: Principal) -> None:
        """Acceptance invariant 8."""
        record = known(team)
        factories.CrossReference(source_relationship=known(team, "Mark", "Beacon"), target_relationship=record)

        with CaptureQueriesContext(connection) as queries:
            recall(principal=me, query="Mark", now=NOW)

        read = " ".join(query["sql"] for query in queries)
        assert "relationships_searchdocument" in read
        for table in (
            "evidence_",
            "_evidencesupport",
            "_supportdecision",
            "_observation",
            "_verification",
            "_transition",
        ):
            assert table not in read

    def test_shows_one_record_once_however_much_supports_it(self, team: Any, me: Principal) -> None:
        """Acceptance invariant 13."""
        record = known(team, fact=True, support_count=5)

        assert ids(recall(principal=me, query="Mark Dense-Mem", now=NOW)) == [[record.id]]

    def test_keeps_teams_apart(self, me: Principal) -> None:
        known(factories.Team())

        assert recall(principal=me, query="Mark", now=NOW).results == ()


class TestGroups:
    def test_hold_what_every_profile_says_of_one_meaning(self, team: Any, me: Principal) -> None:
        one = known(team)
        ends = {"subject_entity": one.subject_entity, "object_entity": one.object_entity}
        two = known(team, recorded_at=one.recorded_at + DAY, **ends)
        known(team, retracted=True, **ends)

        (group,) = recall(principal=me, query="Mark", now=NOW).results

        assert [item.relationship_id for item in group.relationships] == [one.id, two.id]
        assert [item.author.name for item in group.relationships] == [one.owner.name, two.owner.name]

    def test_keep_a_denial_apart(self, team: Any, me: Principal) -> None:
        one = known(team)
        known(team, subject_entity=one.subject_entity, object_entity=one.object_entity, polarity=Polarity.MINUS)

        assert len(recall(principal=me, query="Mark", now=NOW).results) == 2


class TestValidity:
    @pytest.mark.parametrize(
        ("valid_from", "valid_to", "shown"),
        [
            (None, None, True),
            (NOW, None, True),
            (NOW - DAY, NOW + DAY, True),
            (NOW + DAY, None, False),
            (NOW - DAY, NOW, False),
            (None, NOW - DAY, False),
        ],
    )
    def test_must_hold_the_present_half_open(
        self, team: Any, me: Principal, valid_from: datetime | None, valid_to: datetime | None, shown: bool
    ) -> None:
        known(team, valid_from=valid_from, valid_to=valid_to)

        assert bool(recall(principal=me, query="Mark", now=NOW).results) is shown

    def test_must_hold_the_moment_that_is_asked_about(self, team: Any, me: Principal) -> None:
        past = known(team, valid_to=NOW - DAY)
        known(team, "Mark", "Beacon", valid_from=NOW - DAY)

        assert ids(recall(principal=me, query="Mark", valid_at=NOW - 2 * DAY, now=NOW)) == [[past.id]]

    @pytest.mark.parametrize(
        ("kind", "days_ago", "shown"),
        [
            (LineageKind.REPLACED, 5, True),
            (LineageKind.REPLACED, 3, False),
            (LineageKind.REPLACED, 2, False),
            (LineageKind.CORRECTED, 5, False),
        ],
    )
    def test_of_what_was_replaced_ends_when_its_successor_holds(
        self, team: Any, me: Principal, kind: LineageKind, days_ago: int, shown: bool
    ) -> None:
        older = known(team, superseded=True)
        begun = {"owner": older.owner, "subject_entity": older.subject_entity, "valid_from": NOW - 3 * DAY}
        newer = known(team, "Mark", "Beacon", **begun)
        factories.Lineage(successor=newer, predecessor=older, kind=kind, effective_at=NOW - 3 * DAY)

        answer = recall(principal=me, query="Dense-Mem", valid_at=NOW - days_ago * DAY, now=NOW)

        assert ids(answer) == ([[older.id]] if shown else [])


class TestConflicts:
    @pytest.fixture
    def challenged(self, team: Any) -> Any:
        """B challenges A: Mark works on Beacon, and not on Dense-Mem."""
        one = known(team)
        two = known(team, "Mark", "Beacon", subject_entity=one.subject_entity, recorded_at=one.recorded_at + DAY)
        factories.CrossReference(source_relationship=two, target_relationship=one)
        return one, two

    def test_keep_both_positions_of_a_challenge_though_the_query_finds_one(
        self, challenged: Any, me: Principal
    ) -> None:
        """Acceptance invariant 17."""
        one, two = challenged

        for word, hit in (("Dense-Mem", one), ("Beacon", two)):
            answer = recall(principal=me, query=word, now=NOW)
            assert ids(answer) == [[hit.id]]
            assert positions(answer) == [[{one.id}, {two.id}]]

    def test_name_the_author_of_every_position(self, challenged: Any, me: Principal) -> None:
        (conflict,) = recall(principal=me, query="Beacon", now=NOW).conflicts

        assert [p.relationships[0].author.name for p in conflict.positions] == [r.owner.name for r in challenged]

    def test_reach_positions_by_way_of_a_third(self, team: Any, challenged: Any, me: Principal) -> None:
        one, two = challenged
        three = known(team, "Mark", "Lantern", subject_entity=one.subject_entity, recorded_at=NOW)
        factories.CrossReference(source_relationship=three, target_relationship=two, kind=CrossReferenceKind.CORRECTS)

        assert positions(recall(principal=me, query="Dense-Mem", now=NOW)) == [[{one.id}, {two.id}, {three.id}]]

    def test_count_those_who_agree_to_a_position(self, team: Any, challenged: Any, me: Principal) -> None:
        one, two = challenged
        same = known(team, subject_entity=one.subject_entity, object_entity=one.object_entity)

        assert positions(recall(principal=me, query="Beacon", now=NOW)) == [[{one.id, same.id}, {two.id}]]

    def test_are_over_when_one_position_is_left(self, team: Any, me: Principal) -> None:
        gone = known(team, retracted=True)
        left = known(team, "Mark", "Beacon", subject_entity=gone.subject_entity)
        factories.CrossReference(source_relationship=left, target_relationship=gone)

        assert recall(principal=me, query="Beacon", now=NOW).conflicts == ()

    def test_leave_out_what_only_agrees(self, team: Any, me: Principal) -> None:
        one = known(team)
        two = known(team, subject_entity=one.subject_entity, object_entity=one.object_entity)
        factories.CrossReference(source_relationship=two, target_relationship=one, kind=CrossReferenceKind.CONFIRMS)

        assert recall(principal=me, query="Mark", now=NOW).conflicts == ()

    def test_leave_out_conflicts_of_other_knowledge(self, team: Any, challenged: Any, me: Principal) -> None:
        known(team, "Ivo", "Lantern")

        assert recall(principal=me, query="Ivo", now=NOW).conflicts == ()


class TestQuestion:
    @pytest.mark.parametrize(
        ("given", "code"),
        [
            ({"query": ""}, "query_length"),
            ({"query": "  \n "}, "query_length"),
            ({"query": "a" * 513}, "query_length"),
            ({"query": "a\0b"}, "query_has_bad_character"),
            ({"query": "a\ud800"}, "query_has_bad_character"),
            ({"limit": 0}, "limit_out_of_range"),
            ({"limit": 51}, "limit_out_of_range"),
            ({"valid_at": datetime(2026, 1, 1)}, "time_without_offset"),  # noqa: DTZ001 - the fault that is tested
        ],
    )
    def test_is_refused(self, me: Principal, given: dict[str, Any], code: str) -> None:
        with pytest.raises(RecallRefused) as refused:
            recall(principal=me, now=NOW, **{"query": "Mark", **given})
        assert [fault.code for fault in refused.value.faults] == [code]

    def test_names_every_fault_at_once(self, me: Principal) -> None:
        with pytest.raises(RecallRefused) as refused:
            recall(principal=me, query="", limit=99, now=NOW)
        assert [fault.pointer for fault in refused.value.faults] == ["/query", "/limit"]

    @pytest.mark.parametrize("query", ["a" * 512, "ﷺ" * 512, "张" * 512, "a " * 256 + "b", "😀" * 512, "\u0301" * 9])
    def test_may_be_as_long_as_the_limit(self, me: Principal, query: str) -> None:
        assert recall(principal=me, query=f"  {query[:512]}  ", now=NOW).results == ()

    def test_needs_the_scope_to_read(self, me: Principal) -> None:
        with pytest.raises(ScopeMissing):
            recall(principal=replace(me, scopes=frozenset()), query="Mark", now=NOW)


class TestRecallByRest:
    @pytest.fixture
    def headers(self, team: Any) -> dict[str, str]:
        return factories.bearer(factories.Profile(team=team))

    def test_answers_what_the_use_case_answers(self, client: Any, team: Any, headers: dict[str, str]) -> None:
        record = known(team)

        answer = client.get("/api/v1/recall", {"query": "Mark"}, headers=headers)

        assert answer.status_code == 200
        (group,) = answer.json()["results"]
        assert group["relationships"][0]["relationship_id"] == str(record.id)
        assert group["relationships"][0]["subject"] == {
            "entity_id": str(record.subject_entity_id),
            "name": "Mark",
            "kind": "person",
        }
        assert "rank" not in answer.content.decode() and "score" not in answer.content.decode()

    def test_takes_a_date_as_the_moment(self, client: Any, team: Any, headers: dict[str, str]) -> None:
        known(team, valid_to=datetime(2026, 1, 2, tzinfo=UTC))

        for day, shown in (("2026-01-01", 1), ("2026-01-02", 0)):
            answer = client.get("/api/v1/recall", {"query": "Mark", "valid_at": day}, headers=headers)
            assert len(answer.json()["results"]) == shown

    @pytest.mark.parametrize(
        ("asked", "pointers"),
        [
            ({}, ["/query"]),
            ({"query": "Mark", "colour": "red"}, ["/colour"]),
            ({"query": ["Mark", "Ivo"]}, ["/query"]),
            ({"query": "Mark", "limit": "ten"}, ["/limit"]),
            ({"query": "Mark", "limit": "-1"}, ["/limit"]),
            ({"query": "Mark", "limit": "51"}, ["/limit"]),
            ({"query": "Mark", "valid_at": "2026-01-01T00:00:00"}, ["/valid_at"]),
            ({"limit": "x", "valid_at": "x", "z": "1"}, ["/z", "/limit", "/valid_at", "/query"]),
        ],
    )
    def test_refuses_parameters_with_every_fault(
        self, client: Any, headers: dict[str, str], asked: dict[str, Any], pointers: list[str]
    ) -> None:
        answer = client.get("/api/v1/recall", asked, headers=headers)

        assert answer.status_code == 422
        assert [fault["pointer"] for fault in answer.json()["errors"]] == pointers

    def test_asks_who_is_there(self, client: Any) -> None:
        assert client.get("/api/v1/recall", {"query": "Mark"}).status_code == 401

    def test_asks_for_the_scope_to_read(self, client: Any, team: Any) -> None:
        headers = factories.bearer(factories.Profile(team=team), scopes=())

        assert client.get("/api/v1/recall", {"query": "Mark"}, headers=headers).status_code == 403
