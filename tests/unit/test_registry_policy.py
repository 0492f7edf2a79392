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
from relationships.policy.stored import Behaviour
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
    return refused(edit, *args, **given).code


def places(edit: Callable[..., Edit], *args: Any, **given: Any) -> list[str]:
    """Return where in the request each fault of the refusal is."""
    return [fault.pointer for fault in refused(edit, *args, **given).faults]


def refused(edit: Callable[..., Edit], *args: Any, **given: Any) -> Refused:
    """Return the refusal, which says in a sentence what is wrong, of itself and of each place."""
    with pytest.raises(Refused) as found:
        edit(*args, **given)
    assert all(str(said.detail).endswith(".") for said in (found.value, *found.value.faults))
    assert {fault.code for fault in found.value.faults} <= {found.value.code}
    return found.value


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

        with pytest.raises(RegistryRefused, match="Register a new key") as found:
            check_version(STEERS, after)
        assert found.value.code == "predicate_meaning_is_fixed"

    @pytest.mark.parametrize("change", [{"active": ("is steering", "navigates")}, {"lifecycle": Lifecycle.RETIRED}])
    def test_allows_more_wordings_and_another_lifecycle(self, change: dict[str, Any]) -> None:
        check_version(STEERS, replace(STEERS, version=4, **change))

    def test_is_kept_by_each_record_as_its_behaviour(self) -> None:
        expected = Behaviour("steers", 3, RelationshipKind.STATE, Cardinality.MANY, symmetric=False)

        assert STEERS.behaviour() == expected

    @pytest.mark.parametrize(
        ("subject", "object_", "fits"),
        [("person", "project", True), ("team", "project", False), ("person", "team", False), ("team", "team", False)],
    )
    def test_says_which_kinds_of_ends_fit(self, subject: str, object_: str, fits: bool) -> None:
        assert STEERS.accepts(subject_kind=subject, object_kind=object_) is fits


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
        assert places(register, self.NEW, known) == ["/key"]

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
        found = refused(register, replace(self.NEW, **change), KNOWN)

        assert [(f.pointer, f.code) for f in found.faults] == [(place, "wording_taken")]
        assert found.faults[0].detail.split()[-2] in KNOWN

    def test_takes_the_wordings_of_a_retired_predicate(self) -> None:
        known = {"steers": replace(STEERS, lifecycle=Lifecycle.RETIRED)}

        assert "is steering" in register(replace(self.NEW, active=("is steering",)), known).wordings

    def test_needs_the_same_ends_for_what_holds_both_ways(self) -> None:
        both = replace(self.NEW, symmetric=True)

        assert refusal(register, both, KNOWN) == "symmetric_ends_differ"
        assert places(register, both, KNOWN) == ["/symmetric"]

    def test_stops_at_the_limit_of_a_team(self) -> None:
        many = {f"k{i}": replace(SAILS, key=f"k{i}", active=()) for i in range(limits.TEAM_PREDICATES)}

        assert refusal(register, self.NEW, many) == "too_many_predicates"


class TestAddWording:
    def test_makes_the_next_version_of_the_team(self) -> None:
        edit = add_wording("steers", "navigates", expected_version=3, known=KNOWN)

        assert edit.predicate == replace(STEERS, version=4, active=("is steering", "navigates"), shared=False)
        assert edit.wordings == {"navigates"}

    def test_makes_no_version_for_what_it_means_already(self) -> None:
        edit = add_wording("steers", "Is Steering", expected_version=3, known=KNOWN)

        assert edit.predicate is STEERS
        assert edit.wordings == {"is steering"}

    def test_knows_the_words_of_a_key(self) -> None:
        bare = replace(SAILS, active=())

        assert add_wording("sails_on", "Sails on", expected_version=1, known={"sails_on": bare}).predicate is bare

    def test_makes_no_version_for_the_key_alone(self) -> None:
        bare = replace(STEERS, active=(), inverse=())

        assert add_wording("steers", "Steers", expected_version=3, known={"steers": bare}).predicate is bare

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
        given = {"expected_version": version, "known": KNOWN}

        assert refusal(add_wording, key, wording, **given) == code
        assert places(add_wording, key, wording, **given) == ["/wording"] * code.startswith("wording")

    @pytest.mark.parametrize("lifecycle", [Lifecycle.DEPRECATED, Lifecycle.RETIRED])
    def test_refuses_a_predicate_that_is_not_active(self, lifecycle: Lifecycle) -> None:
        given = {"expected_version": 3, "known": {"steers": replace(STEERS, lifecycle=lifecycle)}}

        assert refusal(add_wording, "steers", "navigates", **given) == "predicate_not_active"
        assert places(add_wording, "steers", "navigates", **given) == ["/wording"]

    def test_stops_at_the_limit_of_a_predicate(self) -> None:
        most = limits.PREDICATE_WORDINGS - len(("steers", "is steered by"))
        full = replace(STEERS, active=tuple(f"steers {i}" for i in range(most)))
        room = replace(full, active=full.active[1:])

        given = {"expected_version": 3, "known": {"steers": full}}
        assert refusal(add_wording, "steers", "navigates", **given) == "too_many_wordings"
        assert places(add_wording, "steers", "navigates", **given) == ["/wording"]
        assert add_wording("steers", "navigates", expected_version=3, known={"steers": room}).predicate.version == 4


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
            found = refused(set_lifecycle, "steers", after, **given)
            assert (found.code, [f.pointer for f in found.faults]) == ("lifecycle_step_refused", ["/state"])
            possible = sorted(b for a, b in self.LEGAL if a == before)
            assert found.detail.endswith(f"can become: {', '.join(possible)}.")
            return
        made = set_lifecycle("steers", after, **given)

        assert (made.predicate.lifecycle, made.predicate.version) == (after, 4)
        assert made.wordings == ({"steers", "is steering"} if after is Lifecycle.ACTIVE else set())

    def test_does_not_bring_back_a_wording_that_was_given_away(self) -> None:
        known = {
            "steers": replace(STEERS, lifecycle=Lifecycle.RETIRED),
            "sails_on": replace(SAILS, active=("is steering",)),
        }

        given = {"expected_version": 3, "known": known}
        assert refusal(set_lifecycle, "steers", Lifecycle.ACTIVE, **given) == "wording_taken"
        assert places(set_lifecycle, "steers", Lifecycle.ACTIVE, **given) == ["/state"]

    def test_needs_the_version_that_was_seen(self) -> None:
        given = {"expected_version": 2, "known": KNOWN}

        assert refusal(set_lifecycle, "steers", Lifecycle.RETIRED, **given) == "version_stale"
