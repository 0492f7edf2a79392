"""The registry of predicates as a team may use it, kept in memory while nobody changes it."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.db.models import Max

from densemem.models import Team
from relationships.models import PredicateDefinition
from relationships.queries import ever_registered, registry
from tests import factories

pytestmark = pytest.mark.django_db


def define(team: Team, key: str, *, version: int = 1, **fields: Any) -> PredicateDefinition:
    """Add a version of a predicate of a team's own."""
    row: PredicateDefinition = PredicateDefinition.objects.get(team=None, key="works_on")
    kept = {f.attname: getattr(row, f.attname) for f in row._meta.fields if f.name not in ("id", "seq")}
    return PredicateDefinition.objects.create(**{**kept, "team_id": team.id, "key": key, "version": version, **fields})


class TestRegistry:
    def test_is_read_once_while_it_stays_as_it_is(self, django_assert_num_queries: Any) -> None:
        team = factories.Team()
        first = registry(team_id=team.id)

        with django_assert_num_queries(1):
            assert registry(team_id=team.id) is first

    def test_shows_a_change_at_once(self) -> None:
        team = factories.Team()
        registry(team_id=team.id)

        define(team, "sails_on", active=["sails on"])
        assert "sails on" in registry(team_id=team.id)["sails_on"].wordings

        define(team, "sails_on", version=2, active=["sails on"], lifecycle="deprecated")
        assert not registry(team_id=team.id)["sails_on"].proposed

        define(team, "sails_on", version=3, active=["sails on"], lifecycle="retired")
        assert "sails_on" not in registry(team_id=team.id)
        assert "sails on" in ever_registered(team_id=team.id)["sails_on"].wordings

    def test_shows_what_was_begun_earlier_and_came_in_later(self) -> None:
        team = factories.Team()
        last = PredicateDefinition.objects.aggregate(last=Max("seq"))["last"]
        define(team, "sails_on", seq=last + 10**9)
        registry(team_id=team.id)

        define(team, "steers", seq=last + 10**9 - 1)

        assert "steers" in registry(team_id=team.id)

    def test_of_one_team_is_not_shown_to_another(self) -> None:
        team, other = factories.Team(), factories.Team()
        define(team, "sails_on")

        assert "sails_on" in registry(team_id=team.id)
        assert "sails_on" not in registry(team_id=other.id)
        assert registry(team_id=other.id).keys() == registry(team_id=team.id).keys() - {"sails_on"}


class TestMeaning:
    @pytest.mark.parametrize(
        "change",
        [
            {"symmetric": True},
            {"subject_kinds": ["team"]},
            {"object_kinds": ["project", "person"]},
            {"kind": "event"},
            {"cardinality": "one"},
            {"active": []},
            {"inverse": ["is sailed by"]},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_of_a_key_is_fixed_by_the_database(self, change: dict[str, Any]) -> None:
        first = {"subject_kinds": ["person"], "object_kinds": ["project"], "active": ["sails on"], "inverse": ["bears"]}
        team = factories.Team()
        define(team, "sails_on", **first)
        define(team, "sails_on", version=2, **{**first, "active": ["is aboard", "sails on"]}, lifecycle="retired")

        with pytest.raises(IntegrityError, match="meaning of a predicate is fixed"), transaction.atomic():
            define(team, "sails_on", version=3, **{**first, "active": ["is aboard", "sails on"], **change})

    def test_of_the_same_key_of_another_team_is_its_own(self) -> None:
        define(factories.Team(), "sails_on", cardinality="one")
        define(factories.Team(), "sails_on", cardinality="many")
