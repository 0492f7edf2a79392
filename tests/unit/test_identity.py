"""The identity of a Relationship, its keys and its scope."""

from dataclasses import fields, replace
from datetime import UTC, datetime
from itertools import permutations
from uuid import UUID

import pytest

from densemem.core.times import TimeRefused
from relationships.identity import (
    Identity,
    IdentityRefused,
    ScopeRefused,
    claim_sentence,
    scope_key,
)
from relationships.stored import semantic_group_key
from relationships.vocabulary import Polarity

TEAM, OWNER, MARK, DENSE, VALUE, OTHER = (UUID(int=number) for number in range(1, 7))
MARCH = datetime(2026, 3, 1, tzinfo=UTC)
APRIL = datetime(2026, 4, 1, tzinfo=UTC)
BASE = Identity(TEAM, OWNER, MARK, "works_on", DENSE, None, Polarity.PLUS)
CHANGES = [
    {"team_id": OTHER},
    {"subject_id": OTHER},
    {"predicate_key": "uses"},
    {"object_entity_id": OTHER},
    {"object_entity_id": None, "object_value_id": DENSE},
    {"polarity": Polarity.MINUS},
    {"valid_from": MARCH},
    {"valid_to": MARCH},
    {"scope_key": "environment=production"},
]


class TestIdentity:
    @pytest.mark.parametrize(("entity", "value"), [(None, None), (DENSE, VALUE)])
    def test_has_exactly_one_object(self, entity, value):
        with pytest.raises(IdentityRefused):
            replace(BASE, object_entity_id=entity, object_value_id=value)

    def test_holds_at_some_moment(self):
        with pytest.raises(TimeRefused):
            replace(BASE, valid_from=APRIL, valid_to=MARCH)

    @pytest.mark.parametrize(
        ("identity", "expected"),
        [
            (replace(BASE, object_entity_id=MARK), True),
            (BASE, False),
            (replace(BASE, object_entity_id=None, object_value_id=VALUE), False),
        ],
    )
    def test_knows_a_relation_to_itself(self, identity, expected):
        assert identity.is_self_relation is expected


class TestSemanticGroupKey:
    def test_leaves_the_owner_out(self):
        assert semantic_group_key(replace(BASE, owner_id=OTHER)) == semantic_group_key(BASE)

    @pytest.mark.parametrize("change", CHANGES)
    def test_changes_with_every_other_field(self, change):
        assert semantic_group_key(replace(BASE, **change)) != semantic_group_key(BASE)

    def test_is_tested_for_every_field(self):
        changed = {name for change in CHANGES for name in change}

        assert changed == {field.name for field in fields(Identity)} - {"owner_id"}

    def test_tells_an_end_from_a_start(self):
        ends = semantic_group_key(replace(BASE, valid_to=MARCH))

        assert ends != semantic_group_key(replace(BASE, valid_from=MARCH))

    def test_is_a_digest_in_hex(self):
        assert len(bytes.fromhex(semantic_group_key(BASE))) == 32


class TestSlotKey:
    @pytest.mark.parametrize(
        ("change", "same"),
        [
            ({"object_entity_id": OTHER}, True),
            ({"polarity": Polarity.MINUS}, True),
            ({"valid_from": MARCH}, True),
            ({"owner_id": OTHER}, True),
            ({"subject_id": OTHER}, False),
            ({"predicate_key": "uses"}, False),
            ({"scope_key": "role=lead"}, False),
        ],
    )
    def test_covers_subject_predicate_and_scope(self, change, same):
        assert (replace(BASE, **change).slot == BASE.slot) is same


class TestScopeKey:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            (None, None),
            ("environment=production", "environment=production"),
            (" Environment = Production ", "environment=production"),
            ("role=tech  lead", "role=tech lead"),
            ("repository=Core/API;environment=staging", "environment=staging;repository=core/api"),
        ],
    )
    def test_has_one_form(self, text, expected):
        assert scope_key(text) == expected

    def test_does_not_depend_on_the_order(self):
        parts = ["environment=a", "repository=b", "role=c", "jurisdiction=d", "locale=e"]

        assert len({scope_key(";".join(order)) for order in permutations(parts)}) == 1

    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("", "scope_unknown"),
            ("in production", "scope_unknown"),
            ("market=DE", "scope_unknown"),
            ("environment=production;", "scope_unknown"),
            ("environment=a=b", "scope_unknown"),
            ("environment=a\N{FULLWIDTH SEMICOLON}role=b", "scope_unknown"),
            ("environment=a\N{FULLWIDTH SEMICOLON}b", "scope_unknown"),
            ("environment=", "scope_without_value"),
            ("environment= ", "scope_without_value"),
            ("environment=a;environment=b", "scope_named_twice"),
            ("environment=" + "a" * 256, "scope_is_too_long"),
        ],
    )
    def test_refuses_free_text(self, text, code):
        with pytest.raises(ScopeRefused) as refused:
            scope_key(text)

        assert refused.value.code == code

    def test_is_its_own_key(self):
        once = scope_key("Role=Tech Lead;locale=de-AT")

        assert scope_key(once) == once


class TestClaimSentence:
    @pytest.mark.parametrize(
        ("polarity", "expected"),
        [
            (Polarity.PLUS, "Mark works on Dense-Mem"),
            (Polarity.MINUS, "It is denied that Mark works on Dense-Mem"),
        ],
    )
    def test_never_loses_a_denial(self, polarity, expected):
        assert claim_sentence("Mark", "works_on", "Dense-Mem", polarity) == expected
