"""The REST doors of who is who: preview, decide, list, read; and what a foreign id is told."""

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator

from densemem.auth import Principal
from densemem.models import Profile, Team
from relationships.recall import recall
from tests import factories
from tests.factories import access
from tests.identity import apart, decided, merging, named, report_of, withdrawing, works
from tests.integration.test_decisions_api import post
from tests.said import say, someone

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Team:
    return access.Team()


@pytest.fixture
def ada(team: Team) -> Principal:
    return someone(team, "Ada")


@pytest.fixture
def bo(team: Team) -> Principal:
    return someone(team, "Bo")


@pytest.fixture
def body(ada: Principal) -> dict[str, Any]:
    """What takes Mark for Mark Huang."""
    say(ada, "Mark works on Harbor.", works("Mark", "Harbor"))
    say(ada, "Mark Huang works on Skiff.", works("Mark Huang", "Skiff"))
    basis = report_of(ada)
    return merging(named("Mark Huang"), named("Mark"), basis=[basis])


def get(who: Principal, address: str) -> Any:
    bearer = factories.bearer(Profile.objects.get(pk=who.profile_id))
    return Client().get(f"/api/v1/{address}", headers=bearer)


def test_a_decision_is_previewed_and_done_by_the_token_of_its_preview(ada: Principal, body: dict[str, Any]) -> None:
    shown = post(ada, "identities/previews", body)
    assert (shown.status_code, shown.json()["refusal"]) == (200, "")

    done = post(ada, "identities", {**body, "token": shown.json()["token"]})

    assert done.status_code == 201, done.content
    assert done.json()["changes"] == shown.json()["changes"]
    assert get(ada, f"identities/{done.json()['identity_id']}").json()["kind"] == "merge"


def test_a_refusal_is_shown_by_the_preview_and_answered_with_its_status(ada: Principal, body: dict[str, Any]) -> None:
    bare = {**body, "basis": []}

    shown = post(ada, "identities/previews", bare).json()
    done = post(ada, "identities", {**bare, "token": "1.x"})

    assert (shown["refusal"], shown["token"]) == ("insufficient_identity_evidence", "")
    assert [fault["code"] for fault in shown["would_refuse"]] == ["insufficient_identity_evidence"]
    assert (done.status_code, done.json()["code"]) == (422, "insufficient_identity_evidence")
    assert post(ada, "identities", {**body, "token": "1.x"}).status_code == 409
    assert post(ada, "identities/previews", {**body, "survivor_id": str(uuid4())}).status_code == 404


def test_all_of_the_team_are_listed_newest_first_and_told_if_they_stand(
    ada: Principal, bo: Principal, body: dict[str, Any]
) -> None:
    kept = decided(bo, apart(named("Mark"), named("Mark Huang"))).identity_id
    merged = decided(ada, body).identity_id
    back = decided(ada, withdrawing(merged)).identity_id

    first = get(bo, "identities?limit=2").json()
    then = get(bo, first["next"].removeprefix("/api/v1/")).json()

    rows = [*first["results"], *then["results"]]
    assert [(r["identity_decision_id"], r["kind"], r["stands"]) for r in rows] == [
        (str(back), "withdraw", False),
        (str(merged), "merge", False),
        (str(kept), "distinct", True),
    ]
    assert [r["author"]["name"] for r in rows] == ["Ada", "Ada", "Bo"]
    assert rows[1]["members"] and rows[1]["basis"][0]["kind"] == "explicit_report"
    assert (rows[0]["of_decision_id"], then["next"]) == (str(merged), None)
    assert get(bo, f"identities/{merged}").json() == rows[1]


def test_a_foreign_id_and_none_are_told_the_same(ada: Principal, body: dict[str, Any]) -> None:
    stranger = someone(access.Team(), "Uma")
    merged = decided(ada, body).identity_id

    answers = [get(stranger, f"identities/{number}") for number in (merged, uuid4(), "x")]

    assert {a.status_code for a in answers} == {404}
    assert len({(a.json()["code"], a.json()["detail"]) for a in answers}) == 1
    assert get(stranger, "identities").json()["results"] == []
    for address in ("identities/previews", "identities"):
        assert post(stranger, address, {**withdrawing(merged), "token": "1.x"}).status_code == 404


def test_a_list_refuses_what_it_does_not_know(ada: Principal) -> None:
    assert get(ada, "identities?limit=0").status_code == 422
    assert get(ada, "identities?cursor=x").status_code == 400
    assert get(ada, "identities?color=red").status_code == 422


def test_every_operation_is_documented() -> None:
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]

    found = {f"{verb} {path}": view for path, verbs in paths.items() for verb, view in verbs.items()}
    wanted = {
        "get /api/v1/identities": "list_identities",
        "post /api/v1/identities": "decide_identity",
        "post /api/v1/identities/previews": "preview_identity",
        "get /api/v1/identities/{identity_id}": "get_identity",
    }
    assert {place: found[place]["operationId"] for place in wanted} == wanted
    assert all(found[place]["description"] for place in wanted)


def test_recall_reads_opinions_by_one_statement_however_many_there_are(
    ada: Principal, bo: Principal, body: dict[str, Any]
) -> None:
    def statements() -> int:
        with CaptureQueriesContext(
            connection,
        ) as caught:
            recall(principal=ada, query="Harbor Skiff", now=timezone.now())
        return len(caught)

    none = statements()
    decided(bo, apart(named("Mark"), named("Mark Huang")))
    decided(ada, body)
    found = recall(principal=ada, query="Harbor Skiff", now=timezone.now())

    assert {(o.kind, o.profiles, o.of) for o in found.identity_opinions} == {("distinct", 1, 2), ("merge", 1, 2)}
    assert statements() == none
