"""The REST doors of the registry: what a team may use, and what its managers decide about it."""

import json
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from densemem.auth import Principal
from densemem.models import Profile, Team
from relationships.models import PredicateDefinition
from review.models import Decision
from tests import factories
from tests.deciding import HACKING, HACKS
from tests.integration.test_decisions_api import post
from tests.said import say, someone

NEW = {
    "key": "steers",
    "aliases": ["is at the helm of"],
    "inverse_aliases": ["is steered by"],
    "subject_kinds": ["person"],
    "object_kinds": ["project", "text"],
    "relationship_kind": "state",
    "cardinality": "one",
    "reason": "We say so.",
}
SEEN = {"If-Match": '"pworks_on.v1"'}
WORDING = {"wording": "is hacking on", "reason": "We say so."}


@pytest.fixture
def team(db: None) -> Team:
    return Team.objects.create(name="Northwind (sample)")


@pytest.fixture
def ada(team: Team) -> Principal:
    return someone(team, "Ada")


@pytest.fixture
def cy(team: Team) -> Principal:
    return someone(team, "Cy", role="manager")


def get(who: Principal, address: str, **headers: str) -> Any:
    """Read as a profile with a token would."""
    bearer = factories.bearer(Profile.objects.get(pk=who.profile_id))
    return Client().get(f"/api/v1/{address}", headers={**bearer, **headers})


def everything(who: Principal) -> dict[str, Any]:
    """Return the whole list by key, read page by page."""
    found, address = [], "/api/v1/predicates?limit=25"
    while address:
        page = get(who, address.removeprefix("/api/v1/")).json()
        found += page["results"]
        address = page["next"]
    assert len({row["key"] for row in found}) == len(found)
    return {row["key"]: row for row in found}


class TestList:
    def test_shows_each_usable_predicate_once_in_its_newest_version(self, ada: Principal, cy: Principal) -> None:
        shared = everything(ada)
        assert {row["whose"] for row in shared.values()} == {"shared"}

        assert post(cy, "predicates", NEW).status_code == 201
        post(cy, "predicates/works_on/aliases", WORDING, **SEEN)
        post(cy, "predicates/uses/lifecycle", {"state": "retired", "reason": "Vague."}, **{"If-Match": '"puses.v1"'})

        found = everything(ada)
        assert found.keys() == shared.keys() - {"uses"} | {"steers"}
        assert (found["works_on"]["version"], found["works_on"]["whose"]) == (2, "team")
        assert found["works_on"]["aliases"] == [*shared["works_on"]["aliases"], "is hacking on"]
        steers = found["steers"]
        assert {name: steers[name] for name in NEW if name != "reason"} == {
            k: v for k, v in NEW.items() if k != "reason"
        }
        assert (steers["version"], steers["lifecycle"], steers["symmetric"]) == (1, "active", False)

    def test_needs_the_read_scope(self, team: Team) -> None:
        blind = someone(team, "Bo", scopes="write")

        assert [get(blind, a).status_code for a in ("predicates", "predicates/works_on")] == [403, 403]


class TestPredicate:
    def test_shows_its_versions_the_newest_first_and_names_it_in_its_tag(self, ada: Principal, cy: Principal) -> None:
        post(cy, "predicates/works_on/aliases", WORDING, **SEEN)

        answer = get(ada, "predicates/works_on")

        assert [(v["version"], v["whose"]) for v in answer.json()["versions"]] == [(2, "team"), (1, "shared")]
        assert answer["ETag"] == '"pworks_on.v2"'
        assert get(ada, "predicates/works_on", **{"If-None-Match": answer["ETag"]}).status_code == 304

    def test_of_another_team_or_of_nobody_is_not_found(self, cy: Principal) -> None:
        uma = someone(Team.objects.create(name="Umbra (sample)"), "Uma", role="manager")
        post(cy, "predicates", NEW)

        for key in ("steers", "none", "no%20key", "a%00b"):
            answer = get(uma, f"predicates/{key}")
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
            tag = {"If-Match": f'"p{key}.v1"'}
            for door, body in (("aliases", WORDING), ("lifecycle", {"state": "retired", "reason": "No."})):
                answer = post(uma, f"predicates/{key}/{door}", body, **tag)
                assert answer.status_code == (404 if key.isidentifier() else 412), (key, door)


class TestAliases:
    def test_answer_with_what_is_taken_up_and_what_undoes_it(self, ada: Principal, cy: Principal) -> None:
        say(ada, HACKING, HACKS)

        answer = post(cy, "predicates/works_on/aliases", WORDING, **SEEN)

        told = answer.json()
        assert (answer.status_code, answer["ETag"], answer["Retry-After"]) == (201, '"pworks_on.v2"', "1")
        assert (told["taken_up"], told["still_asked"], told["predicate"]["version"]) == (1, 0, 2)
        assert (told["decision"]["action"], told["decision"]["compensation"]) == (
            "register_predicate",
            "retire_predicate",
        )
        head = Decision.objects.get(pk=told["decision"]["decision_id"])
        assert (head.predicate_key, head.predicate_version, head.message) == ("works_on", 2, "We say so.")
        assert (head.owner_id, head.item_id) == (cy.profile_id, None)

    def test_need_the_tag_that_was_seen(self, cy: Principal) -> None:
        address = "predicates/works_on/aliases"

        answers = [
            post(cy, address, WORDING),
            post(cy, address, WORDING, **{"If-Match": '"pworks_on.v9"'}),
            post(cy, address, WORDING, **{"If-Match": '"puses.v1"'}),
            post(cy, address, WORDING, **SEEN),
        ]

        assert [a.status_code for a in answers] == [428, 412, 412, 201]
        assert answers[1].json()["code"] == "version_stale"

    def test_sent_again_are_answered_alike_and_say_so(self, cy: Principal) -> None:
        key = {"Idempotency-Key": "one", **SEEN}

        first = post(cy, "predicates/works_on/aliases", WORDING, **key)
        again = post(cy, "predicates/works_on/aliases", WORDING, **key)
        other = post(cy, "predicates/works_on/aliases", {**WORDING, "wording": "toils on"}, **key)

        assert again["Idempotency-Replayed"] == "true"
        assert again.json()["predicate"] == first.json()["predicate"]
        assert (other.status_code, Decision.objects.count()) == (422, 1)

    def test_that_are_rehearsed_store_nothing(self, cy: Principal) -> None:
        answer = post(cy, "predicates/works_on/aliases?dry_run=true", WORDING, **SEEN)

        assert (answer.status_code, answer.json()["predicate"]["version"]) == (200, 2)
        assert "ETag" not in answer
        assert not PredicateDefinition.objects.filter(team=cy.team_id).exists()

    def test_name_the_predicate_that_has_the_wording(self, cy: Principal) -> None:
        answer = post(cy, "predicates/works_on/aliases", {**WORDING, "wording": "works for"}, **SEEN)

        assert (answer.status_code, answer.json()["code"]) == (409, "wording_taken")
        (fault,) = answer.json()["errors"]
        assert fault["pointer"] == "/wording" and "works_for" in fault["detail"]

    def test_are_forbidden_to_members(self, ada: Principal) -> None:
        answer = post(ada, "predicates/works_on/aliases", WORDING, **SEEN)

        assert (answer.status_code, answer.json()["code"]) == (403, "not_manager")


class TestRegistrations:
    @pytest.mark.parametrize(
        ("change", "place"),
        [
            ({"key": "Steers"}, "/key"),
            ({"key": "steers__it"}, "/key"),
            ({"aliases": [" \u200b "]}, "/aliases/0"),
            ({"aliases": ["helms", "HELMS "]}, "/aliases/1"),
            ({"inverse_aliases": ["Is at the helm of"]}, "/inverse_aliases/0"),
            ({"subject_kinds": ["date"]}, "/subject_kinds/0"),
            ({"cardinality": "few"}, "/cardinality"),
            ({"reason": " "}, "/reason"),
            ({"lifecycle": "active"}, ""),
        ],
    )
    def test_name_the_place_of_a_fault(self, cy: Principal, change: dict[str, Any], place: str) -> None:
        answer = post(cy, "predicates", {**NEW, **change})

        assert answer.status_code == 422
        assert [e["pointer"] for e in answer.json()["errors"]] == [place]
        assert not PredicateDefinition.objects.filter(team=cy.team_id).exists()

    def test_of_a_key_that_is_taken_are_a_conflict(self, cy: Principal) -> None:
        answer = post(cy, "predicates", {**NEW, "key": "works_on"})

        assert (answer.status_code, answer.json()["code"]) == (409, "predicate_key_taken")

    def test_need_the_write_scope(self, team: Team) -> None:
        reader = someone(team, "Di", role="manager", scopes="read")

        assert post(reader, "predicates", NEW).status_code == 403


class TestLifecycle:
    def test_is_undone_by_the_step_back(self, cy: Principal) -> None:
        address = "predicates/works_on/lifecycle"

        retired = post(cy, address, {"state": "retired", "reason": "Too vague."}, **SEEN)
        again = post(cy, address, {"state": "retired", "reason": "Twice."}, **{"If-Match": retired["ETag"]})
        back = post(cy, address, {"state": "active", "reason": "Missed."}, **{"If-Match": retired["ETag"]})

        assert [a.status_code for a in (retired, again, back)] == [201, 409, 201]
        assert again.json()["code"] == "lifecycle_step_refused"
        actions = [a.json()["decision"]["action"] for a in (retired, back)]
        assert actions == ["retire_predicate", "register_predicate"]
        assert back.json()["predicate"]["lifecycle"] == "active"

    def test_of_one_key_is_not_repeated_under_the_key_of_another(self, cy: Principal) -> None:
        same = {"Idempotency-Key": uuid4().hex}
        body = {"state": "retired", "reason": "Too vague."}

        post(cy, "predicates/works_on/lifecycle", body, **SEEN, **same)
        other = post(cy, "predicates/uses/lifecycle", body, **{"If-Match": '"puses.v1"'}, **same)

        assert other.status_code == 422


class TestCommand:
    def test_lists_what_a_team_may_use(self, team: Team, cy: Principal) -> None:
        post(cy, "predicates", NEW)
        post(cy, "predicates/uses/lifecycle", {"state": "retired", "reason": "Vague."}, **{"If-Match": '"puses.v1"'})

        rows = json.loads(printed("--team", team.name, "--json"))

        assert [row["key"] for row in rows] == sorted(everything(cy))
        assert next(row for row in rows if row["key"] == "steers")["whose"] == "team"
        assert "steers" in printed("--team", team.name)

    def test_lists_the_shared_ones_without_a_team(self, cy: Principal) -> None:
        post(cy, "predicates", NEW)

        rows = json.loads(printed("--json"))

        assert {row["whose"] for row in rows} == {"shared"}
        assert "steers" not in {row["key"] for row in rows}

    def test_says_that_there_is_no_such_team(self, team: Team) -> None:
        with pytest.raises(CommandError, match="no team 'Nobody'"):
            printed("--team", "Nobody")


def printed(*arguments: str) -> str:
    """Return what the command prints."""
    out = StringIO()
    call_command("predicates", *arguments, stdout=out)
    return out.getvalue()
