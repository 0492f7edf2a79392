"""Who speaks in the journeys."""

from collections.abc import Iterator

import pytest

from densemem.audit import audit
from densemem.auth import Principal
from densemem.models import Team
from review.models import Task
from tests.deciding import GRAZ, PORTO, open_task
from tests.said import say, someone


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


@pytest.fixture
def cy(team: Team) -> Principal:
    """A manager with write."""
    return someone(team, "Cy", role="manager")


@pytest.fixture
def conflict(ada: Principal) -> Task:
    """A statement that is held, since it is older than the active one that it competes with."""
    say(ada, "Ivo lives in Graz.", GRAZ, observed_at="2026-05-01T00:00:00Z")
    say(ada, "Ivo lives in Porto.", PORTO, observed_at="2026-04-01T00:00:00Z")
    return open_task(kind="relationship_needs_review")


@pytest.fixture
def sound(db: None) -> Iterator[None]:
    """After each test every current row follows from its ledgers, and every invariant holds."""
    yield
    assert [(c.name, c.differences) for c in audit().checks if c.differences] == []
