"""Who is offered for a mention."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from densemem.core import limits
from densemem.core.names import lookup_key
from entities.policy import Candidate, decide_mention, kept_forms
from entities.queries import bearers_of
from entities.search import hashed, proposed
from entities.vocabulary import CandidateReason, EntityKind, ResolutionAction
from tests import factories

SPELLINGS = ["Mark Huang", "MARK  HUANG", "Mаrk Huang", "M. Huang", "Mark", "Marcus Huang", "Márk Huang", "MarkHuang"]


@pytest.mark.django_db
class TestBearers:
    def test_are_all_known_and_offered_by_kind_within_the_cap(self) -> None:
        team = factories.Team()
        products = [factories.Entity(team=team, kind="product", name="Atlas") for _ in range(limits.CANDIDATES + 5)]
        person = factories.Entity(team=team, kind="person", name="ATLAS")
        factories.Entity(team=factories.Team(), kind="person", name="Atlas")

        found = bearers_of(team_id=team.id, keys=["atlas"])["atlas"]

        assert found.all == {person.id, *(p.id for p in products)}
        near = found.nearest(EntityKind.PERSON)
        assert (near[0].entity_id, len(near)) == (person.id, limits.CANDIDATES)
        assert all(view.kind is EntityKind.PRODUCT for view in found.nearest(EntityKind.PRODUCT))

    def test_of_an_unknown_name_are_none(self) -> None:
        found = bearers_of(team_id=factories.Team().id, keys=["nobody"])["nobody"]

        assert (found.all, found.offered) == (frozenset(), ())


def asked(**names: str) -> dict[str, tuple[str, EntityKind]]:
    return {ref: (name, EntityKind.PERSON) for ref, name in names.items()}


def likely(team: Any, name: str, kind: EntityKind = EntityKind.PERSON) -> list[tuple[str, str]]:
    """Return (canonical name, reason) of those that are proposed for a mention, in their order."""
    found = proposed(team_id=team.id, mentions={"m": (name, kind)})["m"]
    return [(view.canonical_name, view.reason) for view in found]


@pytest.mark.django_db
class TestProposed:
    @pytest.mark.parametrize(
        ("known", "name", "reason"),
        [
            ("Zoë Kranz", "Zoe Kranz", "accent_folded"),
            ("Mara Lind", "Mаra Lind", "look_alike"),
            ("Robert Smith", "Bob Smith", "nickname"),
            ("Mark Huang", "M. Huang", "initials"),
            ("Mark Huang", "Mark", "token_subset"),
        ],
    )
    def test_are_those_whose_names_are_like_it_with_the_reason(self, known: str, name: str, reason: str) -> None:
        team = factories.Team()
        factories.Entity(team=team, kind="person", name=known)
        factories.Entity(team=factories.Team(), kind="person", name=known)
        factories.Entity(team=team, kind="product", name=known)
        factories.Entity(team=team, kind="person", status="retired", name=known)

        assert likely(team, name) == [(known, reason)]

    def test_are_also_of_an_unknown_kind(self) -> None:
        team = factories.Team()
        factories.Entity(team=team, kind="other", name="Zoë")

        assert likely(team, "Zoe") == [("Zoë", "accent_folded")]

    def test_come_in_the_order_of_their_reasons_then_the_oldest_and_are_few(self) -> None:
        team = factories.Team()
        for name in [f"Zoe Kranz {n}" for n in range(limits.PROPOSALS)] + ["Zoë"]:
            factories.Entity(team=team, kind="person", name=name)

        found = likely(team, "Zoe")

        assert found == [("Zoë", "accent_folded")] + [
            (f"Zoe Kranz {n}", "token_subset") for n in range(limits.PROPOSALS - 1)
        ]

    def test_are_found_by_every_name_of_an_entity_and_shown_by_the_canonical_one(self) -> None:
        team = factories.Team()
        factories.Entity(team=team, kind="person", name="Rex", name__aliases=["Robert Smith"])

        assert likely(team, "Bob Smith") == [("Rex", "nickname")]

    def test_take_one_statement_for_all_mentions(self, django_assert_num_queries: Any) -> None:
        team = factories.Team()
        factories.Entity(team=team, kind="person", name="Zoë")
        factories.Entity(team=team, kind="person", name="Mark Huang")

        with django_assert_num_queries(1):
            found = proposed(team_id=team.id, mentions=asked(a="Zoe", b="Mark", c="Nobody"))

        assert {ref: len(views) for ref, views in found.items()} == {"a": 1, "b": 1, "c": 0}

    def test_of_nothing_asks_nothing(self, django_assert_num_queries: Any) -> None:
        team = factories.Team()
        with django_assert_num_queries(0):
            assert proposed(team_id=team.id, mentions={}) == {}

    def test_meet_no_name_whose_words_were_redacted_and_none_without_forms(self) -> None:
        team = factories.Team()
        entity = factories.Entity(team=team, kind="person", name="Rex")
        likeness = sorted(hashed(team.id, kept_forms("Zoë", canonical=False)).values())
        factories.Name(entity=entity, display="[redacted]", key="REDACTED:1", forms=likeness)
        factories.Name(entity=entity, display="Zoé", forms=[])

        assert likely(team, "Zoe") == []

    @given(known=st.sampled_from(SPELLINGS), name=st.sampled_from(SPELLINGS))
    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_no_other_key_is_ever_reused_by_an_answer(self, known: str, name: str) -> None:
        team = factories.Team()
        entity = factories.Entity(team=team, kind="person", name=known)
        key = lookup_key(name)
        bearers = bearers_of(team_id=team.id, keys=[key])[key]
        views = (*bearers.offered, *proposed(team_id=team.id, mentions=asked(m=name))["m"])
        candidates = [Candidate(v.entity_id, v.kind, CandidateReason(v.reason)) for v in views]
        if all(c.entity_id != entity.id for c in candidates):
            return

        decided = decide_mention(
            action=ResolutionAction.REUSE, candidate_id=entity.id, candidates=candidates, kind=EntityKind.PERSON
        )

        assert (decided.action is ResolutionAction.REUSE) == (key == lookup_key(known))


@pytest.mark.django_db
class TestBorne:
    def test_tells_the_canonical_name_from_another(self) -> None:
        team = factories.Team()
        factories.Entity(team=team, name="Atlas", name__aliases=["Rex"])

        found = bearers_of(team_id=team.id, keys=["atlas", "rex"])

        assert {key: bearers.offered[0].reason for key, bearers in found.items()} == {
            "atlas": "exact_key",
            "rex": "alias",
        }
