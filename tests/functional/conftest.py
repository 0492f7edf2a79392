"""Who speaks in the journeys."""

import pytest

from densemem.auth import Principal
from densemem.models import Team
from tests.said import someone


@pytest.fixture
def team(db: None) -> Team:
    """A team of its own for each test."""
    return Team.objects.create(name="Northwind (sample)")


@pytest.fixture
def ada(team: Team) -> Principal:
    """A member who may read and write."""
    return someone(team, "Ada")


@pytest.fixture
def bo(team: Team) -> Principal:
    """Another member who may read and write."""
    return someone(team, "Bo")


@pytest.fixture
def stranger(db: None) -> Principal:
    """A member of another team."""
    return someone(Team.objects.create(name="Umbra (sample)"), "Uma")
