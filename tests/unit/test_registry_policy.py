"""The rules of the registry: what an edit may do, and what it never does."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from densemem.core import limits
from densemem.core.faults import NotThere, Refused
from relationships.policy.registry import (
    DefinitionStale,
    Edit,
    PredicateView,
    RegistryRefused,
    add_wording,
    check_version,
    register,
    set_lifecycle,
)
from relationships.vocabulary import Cardinality, Lifecycle, RelationshipKind

STEERS = PredicateView(
    key="steers",
    version=3,
    active=("is steering",),
    inverse=("is steered by",),
    symmetric=False,
    subject_kinds=frozenset({"person"}),
    object_kinds=frozenset({"project"}),
    kind=RelationshipKind.STATE,
    cardinality=Cardinality.MANY,
    shared=True,
)
SAILS = replace(STEERS, key="sails_on", version=1, active=("sails aboard",), inverse=(), shared=False)
KNOWN = {"steers": STEERS, "sails_on": SAILS}


def refusal(edit: Callable[..., Edit], *args: Any, **given: Any) -> str:
    """Return the code of the refusal."""
    with pytest.raises(Refused) as refused:
        edit(*args, **given)
    return refused.value.code


class TestMeaning:
    @pytest.mark.parametrize(
        "change",
        [
            {"symmetric": True},
            {"subject_kinds": frozenset({"person", "team"})},
            {"object_kinds": frozenset({"product"})},
            {"kind": RelationshipKind.EVENT},
            {"cardinality": Cardinality.ONE},
            {"key": "governs"},
            {"active": ()},
            {"inverse": ()},
            {"version": 5},
        ],
        ids=lambda change: next(iter(change)),
    )
    def test_is_the_same_in_every_version(self, change: dict[str, Any]) -> None:
        after = replace(STEERS, **{"version": 4, **change})

        with pytest.raises(RegistryRefused, match="Register a new key"):
            check_version(STEERS, after)

    @pytest.mark.parametrize("change", [{"active": ("is steering", "navigates")}, {"lifecycle": Lifecycle.RETIRED}])
    def test_allows_more_wordings_and_another_lifecycle(self, change: dict[str, Any]) -> None:
        check_version(STEERS, replace(STEERS, version=4, **change))


class TestRegister:
    NEW = replace(STEERS, key="anchors", version=1, active=("drops anchor at",), inverse=(), shared=False)

    def test_adds_a_key_whose_wordings_resolve(self) -> None:
        assert register(self.NEW, KNOWN) == Edit(self.NEW, frozenset({"anchors", "drops anchor at"}))

    def test_leaves_inverse_wordings_to_the_owners_of_what_waits(self) -> None:
        edit = register(replace(self.NEW, inverse=("holds the anchor of",)), KNOWN)

        assert "holds the anchor of" in edit.predicate.wordings - edit.wordings

    @pytest.mark.parametrize("lifecycle", Lifecycle)
    def test_refuses_a_key_that_was_ever_registered(self, lifecycle: Lifecycle) -> None:
        known = {"anchors": replace(self.NEW, lifecycle=lifecycle)}

        assert refusal(register, self.NEW, known) == "predicate_key_taken"

    @pytest.mark.parametrize(
        ("change", "place"),
        [
            ({"active": ("moors", "Is  STEERING")}, "/aliases/1"),
            ({"active": ("sails on",)}, "/aliases/0"),
            ({"inverse": ("is steered by",)}, "/inverse_aliases/0"),
            ({"key": "sails_aboard"}, "/key"),
        ],
    )
    def test_names_each_wording_that_means_another_predicate(self, change: dict[str, Any], place: str) -> None:
        with pytest.raises(RegistryRefused) as refused:
            register(replace(self.NEW, **change), KNOWN)

        assert [(f.pointer, f.code) for f in refused.value.faults] == [(place, "wording_taken")]

    def test_takes_the_wordings_of_a_retired_predicate(self) -> None:
        known = {"steers": replace(STEERS, lifecycle=Lifecycle.RETIRED)}

        assert "is steering" in register(replace(self.NEW, active=("is steering",)), known).wordings

    def test_needs_the_same_ends_for_what_holds_both_ways(self) -> None:
        assert refusal(register, replace(self.NEW, symmetric=True), KNOWN) == "symmetric_ends_differ"

    def test_stops_at_the_limit_of_a_team(self) -> None:
        many = {f"k{i}": replace(SAILS, key=f"k{i}", active=()) for i in range(limits.TEAM_PREDICATES)}

        assert refusal(register, self.NEW, many) == "too_many_predicates"


class TestAddWording:
    def test_makes_the_next_version_of_the_team(self) -> None:
        edit = add_wording("steers", "navigates", expected_version=3, known=KNOWN)

        assert edit.predicate == replace(STEERS, version=4, active=("is steering", "navigates"), shared=False)
        assert edit.wordings == {"navigates"}

    def test_makes_no_version_for_what_it_means_already(self) -> None:
        assert add_wording("steers", "Is Steering", expected_version=3, known=KNOWN).predicate is STEERS

    @pytest.mark.parametrize(
        ("key", "wording", "version", "code"),
        [
            ("steers", "sails aboard", 3, "wording_taken"),
            ("steers", "Sails On", 3, "wording_taken"),
            ("steers", "is steered by", 3, "wording_is_inverse"),
            ("steers", "navigates", 2, DefinitionStale.code),
            ("governs", "navigates", 1, NotThere.code),
        ],
    )
    def test_refuses_what_is_taken_stale_or_unknown(self, key: str, wording: str, version: int, code: str) -> None:
        assert refusal(add_wording, key, wording, expected_version=version, known=KNOWN) == code

    @pytest.mark.parametrize("lifecycle", [Lifecycle.DEPRECATED, Lifecycle.RETIRED])
    def test_refuses_a_predicate_that_is_not_active(self, lifecycle: Lifecycle) -> None:
        known = {"steers": replace(STEERS, lifecycle=lifecycle)}

        assert refusal(add_wording, "steers", "navigates", expected_version=3, known=known) == "predicate_not_active"

    def test_stops_at_the_limit_of_a_predicate(self) -> None:
        full = replace(STEERS, active=tuple(f"steers {i}" for i in range(limits.PREDICATE_WORDINGS)))

        given = {"expected_version": 3, "known": {"steers": full}}
        assert refusal(add_wording, "steers", "navigates", **given) == "too_many_wordings"


class TestLifecycle:
    LEGAL = {
        ("active", "deprecated"),
        ("active", "retired"),
        ("deprecated", "active"),
        ("deprecated", "retired"),
        ("retired", "active"),
    }

    @pytest.mark.parametrize("before", Lifecycle)
    @pytest.mark.parametrize("after", Lifecycle)
    def test_has_these_steps(self, before: Lifecycle, after: Lifecycle) -> None:
        given = {"expected_version": 3, "known": {"steers": replace(STEERS, lifecycle=before)}}
        if (before, after) not in self.LEGAL:
            assert refusal(set_lifecycle, "steers", after, **given) == "lifecycle_step_refused"
            return
        made = set_lifecycle("steers", after, **given)

        assert (made.predicate.lifecycle, made.predicate.version) == (after, 4)
        assert made.wordings == ({"steers", "is steering"} if after is Lifecycle.ACTIVE else set())

    def test_does_not_bring_back_a_wording_that_was_given_away(self) -> None:
        known = {
            "steers": replace(STEERS, lifecycle=Lifecycle.RETIRED),
            "sails_on": replace(SAILS, active=("is steering",)),
        }

        code = refusal(set_lifecycle, "steers", Lifecycle.ACTIVE, expected_version=3, known=known)
        assert code == "wording_taken"

    def test_needs_the_version_that_was_seen(self) -> None:
        given = {"expected_version": 2, "known": KNOWN}

        assert refusal(set_lifecycle, "steers", Lifecycle.RETIRED, **given) == "version_stale"
