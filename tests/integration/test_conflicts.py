"""Conflicts last: they open, grow, merge, close and open again with what is held and what its owners say."""

import pkgutil
from collections.abc import Sequence
from importlib import import_module
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from densemem.audit import CHECKS, audit
from densemem.auth import Principal
from densemem.core import limits
from densemem.db.writer import Writer, writing_for_all
from densemem.models import Profile, Team
from placement.decide import lift
from relationships import migrations
from relationships.models import ConflictCase, ConflictEvent, ConflictStatement, CrossReference, RelationshipRecord
from relationships.operations import apply_changes
from relationships.plan import Change
from relationships.recall import recall
from relationships.trace import trace
from relationships.trace.conflicts import list_conflicts
from relationships.vocabulary import Status, Tier
from review.models import Decision
from tests import factories
from tests.deciding import hold, retracted
from tests.said import Fact, say, someone
from tests.writing import writing

pytestmark = pytest.mark.django_db

PLACES = ("Graz", "Porto", "Lund")


@pytest.fixture
def team() -> Team:
    return Team.objects.create(name="Northwind (sample)")


@pytest.fixture
def ada(team: Team) -> Principal:
    return someone(team, "Ada")


@pytest.fixture
def bo(team: Team) -> Principal:
    return someone(team, "Bo")


@pytest.fixture
def cy(team: Team) -> Principal:
    return someone(team, "Cy", role="manager")


def lives(who: Principal, place: str, **fields: Any) -> RelationshipRecord:
    """Let a profile say where Ivo lives, through the whole pipeline, and return its record."""
    text = f"Ivo lives in {place}, says number {uuid4().hex[:6]}."
    say(who, text, Fact("Ivo", "lives in", place, "lives_in", object_kind="place"), **fields)
    return held(who, place)


def held(who: Principal, place: str) -> RelationshipRecord:
    """Return the record of a profile about a place."""
    found: RelationshipRecord = RelationshipRecord.objects.get(
        owner_id=who.profile_id, object_entity__names__key=place.lower()
    )
    return found


def case() -> ConflictCase:
    """Return the one case there is."""
    return ConflictCase.objects.get()


def events(of: ConflictCase | None = None) -> list[str]:
    """Return what happened to a case, in order."""
    return list(ConflictEvent.objects.filter(case=of or case()).order_by("version").values_list("kind", flat=True))


def bearer(who: Principal) -> dict[str, str]:
    return dict(factories.bearer(Profile.objects.get(pk=who.profile_id)))


def state(who: Principal, of: ConflictCase, *, version: int | None = None, query: str = "", **body: Any) -> Any:
    """Say over REST that the positions of a case do not compete."""
    headers = {
        "Idempotency-Key": uuid4().hex,
        "If-Match": f'"c{of.id}.v{of.version if version is None else version}"',
        **bearer(who),
    }
    return Client().post(
        f"/api/v1/conflicts/{of.id}/statements{query}",
        {"message": "He has two homes.", **body},
        content_type="application/json",
        headers=headers,
    )


def get(who: Principal, address: str) -> Any:
    return Client().get(f"/api/v1/{address}", headers=bearer(who))


def settle(*speakers: Principal) -> None:
    """Let each of them say that the positions do not compete."""
    for who in speakers:
        assert state(who, case()).status_code == 201


class TestCases:
    def test_of_one_owner_alone_do_not_open(self, ada: Principal) -> None:
        lives(ada, "Graz")
        lives(ada, "Porto")

        assert not ConflictCase.objects.exists()

    def test_open_in_the_commit_that_challenges_and_grow_by_a_third_owner(
        self, ada: Principal, bo: Principal, cy: Principal
    ) -> None:
        lives(ada, "Graz")
        record = lives(bo, "Porto")
        opened = case()
        assert (opened.status, opened.version, opened.reason) == ("open", 1, "positions_compete")

        lives(cy, "Lund")

        assert events() == ["opened", "position_added"]
        (shown,) = recall(principal=ada, query="Graz", now=timezone.now()).conflicts
        assert (shown.conflict_id, shown.version, shown.status) == (opened.id, 2, "open")
        assert [p.owners[0].name for p in shown.positions] == ["Ada", "Bo", "Cy"]
        (traced,) = trace(principal=cy, relationship_id=record.id).conflicts.items
        assert (traced.conflict_id, traced.version, traced.status) == (opened.id, 2, "open")

    def test_show_the_same_positions_whoever_came_first(self) -> None:
        found = []
        for order in (PLACES[:3], PLACES[2::-1]):
            team = Team.objects.create(name=f"Sample {uuid4().hex[:6]}")
            for place in order:
                lives(someone(team, f"From {place}"), place)
            (shown,) = list_conflicts(principal=someone(team, "Reader")).rows
            held_by = {(p.owners[0].name, p.relationships[0].object.words) for p in shown.positions}
            found.append((shown.status, shown.version, held_by))

        assert found[0] == found[1]
        assert found[0][2] == {(f"From {place}", place) for place in PLACES[:3]}

    def test_that_become_connected_are_merged_into_the_older(self, team: Team, ada: Principal) -> None:
        one, two, three, four = (factories.RelationshipRecord(team=team) for _ in range(4))
        factories.CrossReference(source_relationship=two, target_relationship=one)
        factories.CrossReference(source_relationship=four, target_relationship=three)
        older, younger = ConflictCase.objects.order_by("id")

        factories.CrossReference(source_relationship=three, target_relationship=two)

        older.refresh_from_db()
        younger.refresh_from_db()
        assert (events(older), events(younger)) == (["opened", "merged"], ["opened", "merged"])
        assert (older.status, older.version, older.merged_into_id) == ("open", 2, None)
        assert (younger.status, younger.reason, younger.merged_into_id) == ("closed", "conflicts_connected", older.id)
        shown = get(ada, f"conflicts/{older.id}").json()
        assert len(shown["positions"]) == 4
        assert [e["other_conflict_id"] for e in shown["events"]["items"]] == [None, str(younger.id)]

    def test_open_when_what_was_forgotten_comes_back_beside_another(self, ada: Principal, bo: Principal) -> None:
        record = lives(ada, "Graz")
        retracted(ada, record)
        lives(bo, "Porto")
        assert not ConflictCase.objects.exists()

        record.refresh_from_db()
        body = {"message": "It holds after all."}
        lift(
            principal=ada,
            relationship_id=record.id,
            expected_version=record.version,
            body=body,
            idempotency_key=uuid4().hex,
            now=timezone.now(),
        )

        assert (case().status, case().positions.count()) == ("open", 2)
        (shown,) = recall(principal=ada, query="Ivo", now=timezone.now()).conflicts
        assert [p.owners[0].name for p in shown.positions] == ["Ada", "Bo"]

    def test_close_when_a_position_is_taken_back_and_stay_to_be_read(self, ada: Principal, bo: Principal) -> None:
        lives(ada, "Graz")
        retracted(bo, lives(bo, "Porto"))

        assert (case().status, case().reason, events()) == ("closed", "one_position_left", ["opened", "closed"])
        assert recall(principal=ada, query="Ivo", now=timezone.now()).conflicts == ()
        (shown,) = get(ada, "conflicts?status=closed").json()["results"]
        assert [len(p["owners"]) for p in shown["positions"]] == [1, 0]
        assert [p["relationships"][0]["status"] for p in shown["positions"]] == ["active", "retracted"]
        assert get(ada, "conflicts?status=open").json()["results"] == []

    def test_stay_open_while_somebody_else_holds_the_position(
        self, ada: Principal, bo: Principal, cy: Principal
    ) -> None:
        lives(ada, "Graz")
        record = lives(bo, "Porto")
        lives(cy, "Porto")

        retracted(bo, record)

        assert (case().status, case().version) == ("open", 1)

    def test_close_when_a_manager_holds_the_evidence(self, ada: Principal, bo: Principal, cy: Principal) -> None:
        lives(ada, "Graz")
        record = lives(bo, "Porto")

        hold(cy, record.supports.get().fragment_id)

        assert events() == ["opened", "closed"]
        shown = get(ada, f"conflicts/{case().id}").content.decode()
        assert "Porto" not in shown
        assert "Graz" in shown

    def test_close_when_a_revision_empties_a_position_and_open_when_another_fills_it(
        self, ada: Principal, bo: Principal
    ) -> None:
        lives(ada, "Graz")
        lives(bo, "Porto", source_key="wiki", source_revision="1")
        say(bo, "Nothing is known.", source_key="wiki", source_revision="2", previous_source_revision="1")
        assert events() == ["opened", "closed"]

        lives(bo, "Porto", source_key="wiki", source_revision="3", previous_source_revision="2")

        assert events() == ["opened", "closed", "reopened"]
        assert case().closed_at is None

    def test_cost_one_statement_where_there_is_no_conflict_and_the_same_for_every_size(self, team: Team) -> None:
        plain = factories.RelationshipRecord(team=team)
        two = [factories.RelationshipRecord(team=team, scope_key=place) for place in PLACES[:2]]
        factories.CrossReference(source_relationship=two[1], target_relationship=two[0])
        many = [factories.RelationshipRecord(team=team) for _ in range(6)]
        for record in many[1:]:
            factories.CrossReference(source_relationship=record, target_relationship=many[0])

        alone, small, large = (cost_of_leaving(r) for r in ([plain], two[1:], many[1:]))

        assert small == large
        assert (alone, small) == (3, 10)


def cost_of_leaving(records: Sequence[RelationshipRecord]) -> int:
    """Take records out of recall at once, and return how many statements that costs."""
    changes = [
        Change(r.id, r.version + 1, Tier(r.tier), Status.ACTIVE, Tier(r.tier), Status.QUARANTINED, False, 1, 1, "held")
        for r in records
    ]
    with writing_for_all(Writer.HOLD), CaptureQueriesContext(connection) as queries:
        apply_changes(team_id=records[0].team_id, changes=changes, now=timezone.now())
    return len(queries)


class TestStatements:
    @pytest.fixture
    def disputed(self, ada: Principal, bo: Principal) -> ConflictCase:
        """Ada and Bo say different things."""
        lives(ada, "Graz")
        lives(bo, "Porto")
        return case()

    def test_of_every_owner_close_the_case(self, disputed: ConflictCase, ada: Principal, bo: Principal) -> None:
        before = list(RelationshipRecord.objects.order_by("id").values())
        settle(ada)
        assert (case().status, case().reason) == ("open", "owner_says_not_competing")

        settle(bo)

        assert (case().status, case().reason) == ("closed", "owners_say_not_competing")
        assert events() == ["opened", "statement", "statement", "closed"]
        assert recall(principal=ada, query="Ivo", now=timezone.now()).conflicts == ()
        assert list(RelationshipRecord.objects.order_by("id").values()) == before
        said = get(ada, f"conflicts/{disputed.id}").json()["statements"]["items"]
        assert [(s["owner"]["name"], s["message"]) for s in said] == [
            ("Ada", "He has two homes."),
            ("Bo", "He has two homes."),
        ]
        assert {s["decision_id"] for s in said} == {str(d.id) for d in Decision.objects.all()}

    def test_are_no_answer_to_a_position_that_comes_later(
        self, disputed: ConflictCase, ada: Principal, bo: Principal, cy: Principal
    ) -> None:
        settle(ada, bo)

        lives(cy, "Lund")

        assert events()[-2:] == ["position_added", "reopened"]
        settle(cy, ada)
        assert case().status == "open"
        settle(bo)
        assert case().status == "closed"

    def test_end_with_the_record_and_not_with_more_evidence(
        self, disputed: ConflictCase, ada: Principal, bo: Principal
    ) -> None:
        settle(ada, bo)
        lives(bo, "Porto")
        assert held(bo, "Porto").version == 2
        assert case().status == "closed"

        record = held(bo, "Porto")
        for before, after in ((Status.ACTIVE, Status.RETRACTED), (Status.RETRACTED, Status.ACTIVE)):
            record.refresh_from_db()
            tier = Tier(record.tier)
            change = Change(record.id, record.version + 1, tier, before, tier, after, False, 2, 1, "lifted")
            apply_changes(team_id=record.team_id, changes=[change], now=timezone.now())

        assert events()[-1] == "reopened"
        settle(bo)
        assert case().status == "closed"

    def test_of_others_are_refused(self, disputed: ConflictCase, team: Team, cy: Principal) -> None:
        answer = state(cy, disputed)

        assert (answer.status_code, answer.json()["code"]) == (403, "not_owner")
        assert not Decision.objects.exists()

    def test_need_the_version_that_was_seen(self, disputed: ConflictCase, ada: Principal, bo: Principal) -> None:
        tag = get(ada, f"conflicts/{disputed.id}")["ETag"]
        assert tag == f'"c{disputed.id}.v1"'
        settle(bo)

        stale = state(ada, disputed, version=1)
        bare = Client().post(
            f"/api/v1/conflicts/{disputed.id}/statements",
            {"message": "No."},
            content_type="application/json",
            headers={"Idempotency-Key": "k", **bearer(ada)},
        )

        assert (stale.status_code, stale.json()["code"]) == (412, "version_stale")
        assert (bare.status_code, bare.json()["code"]) == (428, "if_match_missing")

    def test_are_made_once_and_while_it_is_open(self, disputed: ConflictCase, ada: Principal, bo: Principal) -> None:
        settle(ada)
        again = state(ada, case())
        settle(bo)
        late = state(bo, case())

        assert (again.status_code, again.json()["code"]) == (409, "said_already")
        assert (late.status_code, late.json()["code"]) == (409, "conflict_closed")
        assert ConflictStatement.objects.count() == 2

    def test_can_be_rehearsed(self, disputed: ConflictCase, ada: Principal) -> None:
        answer = state(ada, disputed, query="?dry_run=true")

        assert (answer.status_code, answer.json()["dry_run"]) == (200, True)
        assert events() == ["opened"]
        assert not ConflictStatement.objects.exists()

    def test_need_a_reason(self, disputed: ConflictCase, ada: Principal) -> None:
        assert state(ada, disputed, message=" ").status_code == 422
        assert state(ada, disputed, winner="Graz").status_code == 422

    def test_may_bring_evidence(self, disputed: ConflictCase, ada: Principal) -> None:
        answer = state(ada, disputed, evidence=[{"content": "Asked on the phone.", "source_type": "manual"}])

        assert answer.status_code == 201
        assert answer.json()["evidence_ingest_id"]

    def test_of_another_team_or_of_nobody_are_not_found(self, disputed: ConflictCase) -> None:
        stranger = someone(Team.objects.create(name="Umbra (sample)"), "Uma", role="manager")

        answers = [state(stranger, disputed), state(stranger, ConflictCase(id=UUID(int=7), version=1))]
        answers += [get(stranger, f"conflicts/{number}") for number in (disputed.id, uuid4(), "no-id")]

        assert {(a.status_code, a.json()["code"]) for a in answers} == {(404, "not_found")}
        assert get(stranger, "conflicts").json()["results"] == []


class TestReading:
    def test_pages_cost_the_same_queries_for_one_case_and_for_five(self, team: Team, ada: Principal) -> None:
        def cost() -> int:
            with CaptureQueriesContext(connection) as queries:
                list_conflicts(principal=ada)
            return len(queries)

        factories.CrossReference(source_relationship=factories.RelationshipRecord(team=team))
        one = cost()
        for _ in range(4):
            factories.CrossReference(source_relationship=factories.RelationshipRecord(team=team))

        assert cost() == one
        first = get(ada, "conflicts?limit=3").json()
        second = Client().get(first["next"], headers=bearer(ada)).json()
        assert (len(first["results"]), len(second["results"]), second["next"]) == (3, 2, None)

    def test_shows_the_newest_positions_and_the_readers_own_and_says_how_many_there_are(
        self, team: Team, ada: Principal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(limits, "CONFLICT_POSITIONS", 2)
        marble = factories.Entity(team=team, name="Marble")
        mine = factories.RelationshipRecord(team=team, owner_id=ada.profile_id, subject_entity=marble)
        others = [factories.RelationshipRecord(team=team) for _ in range(3)]
        for record in others:
            factories.CrossReference(source_relationship=record, target_relationship=mine)

        listed = list_conflicts(principal=ada).rows
        recalled = recall(principal=ada, query="Marble", now=timezone.now()).conflicts

        for (shown,) in (listed, recalled):
            assert {c.relationship_id for p in shown.positions for c in p.relationships} == {mine.id, others[2].id}
            assert (shown.positions_total, shown.positions_truncated) == (4, True)

    def test_recall_of_the_past_shows_the_positions_that_answer_then(self, ada: Principal, bo: Principal) -> None:
        lives(ada, "Graz")
        then = timezone.now()
        retired = lives(bo, "Porto")
        newer = factories.RelationshipRecord(team=retired.team, owner=retired.owner)
        replace(retired, by=newer)

        assert recall(principal=ada, query="Ivo", now=timezone.now()).conflicts == ()
        (shown,) = recall(principal=ada, query="Ivo", valid_at=then, now=timezone.now()).conflicts

        assert (shown.status, [p.owners[0].name for p in shown.positions]) == ("closed", ["Ada", "Bo"])

    def test_refuses_words_that_are_no_status(self, ada: Principal) -> None:
        answer = get(ada, "conflicts?status=overdue")

        assert (answer.status_code, answer.json()["errors"][0]["code"]) == (422, "unknown_word")


def replace(record: RelationshipRecord, *, by: RelationshipRecord) -> None:
    """Let a newer record of the same owner take its place from now on."""
    tier = Tier(record.tier)
    change = Change(
        record.id, record.version + 1, tier, Status.ACTIVE, tier, Status.SUPERSEDED, False, 1, 1, "superseded_replaced"
    )
    with writing(record.owner_id):
        apply_changes(team_id=record.team_id, changes=[change], now=timezone.now())
    factories.Lineage(successor=by, predecessor=record, effective_at=timezone.now())


def test_challenges_that_were_there_before_cases_open_theirs(team: Team) -> None:
    kept, gone = factories.RelationshipRecord(team=team), factories.RelationshipRecord(team=team, retracted=True)
    others = [factories.RelationshipRecord(team=team) for _ in range(3)]
    for source, target in ((others[0], kept), (others[1], others[0]), (others[2], gone)):
        with writing(source.owner_id):
            CrossReference.objects.create(
                team=team,
                author=source.owner,
                source_relationship=source,
                source_version=1,
                target_relationship=target,
                target_version=1,
                kind="challenges",
            )

    (name,) = (m.name for m in pkgutil.iter_modules(migrations.__path__) if m.name.endswith("_conflicts"))
    import_module(f"relationships.migrations.{name}").open_cases(apps, connection.schema_editor())

    three, two = sorted(ConflictCase.objects.all(), key=lambda c: -c.positions.count())
    assert (three.status, three.positions.count(), events(three)) == ("open", 3, ["opened"])
    assert (two.status, two.positions.count(), events(two)) == ("closed", 2, ["opened", "closed"])
    report = audit(team_id=team.id, checks=[c for c in CHECKS if "conflict" in c.name])
    assert [check.as_dict() for check in report.checks if check.count] == []
