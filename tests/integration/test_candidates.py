"""Who is offered for a mention."""

import pytest

from densemem.core import limits
from entities.queries import bearers_of
from entities.vocabulary import EntityKind
from tests import factories


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
