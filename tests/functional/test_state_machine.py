"""Whatever is done to a memory, in whatever order: its laws hold, and it is as a plain model says."""

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.machine.identities import Lives
from tests.machine.machine import Machine
from tests.machine.world import World

pytestmark = pytest.mark.django_db

EXAMPLES = 8
SEEDS = range(4)  # each is a test of its own, so that all processes have a share


@pytest.fixture(autouse=True)
def world() -> None:
    """The two teams that every life begins with."""
    Machine.world = World()


@pytest.mark.parametrize("number", SEEDS)
def test_every_life_is_as_the_model_says(number: int, pytestconfig: pytest.Config) -> None:
    """Live a share of the lives; what a seed gives is the same each time."""
    lives, steps = (pytestconfig.getoption(f"machine_{of}") for of in ("examples", "steps"))
    phases = [Phase.generate, *([Phase.shrink] if pytestconfig.getoption("machine_shrink") else [])]
    run_state_machine_as_test(
        seed(number)(Lives if pytestconfig.getoption("machine_identities") else Machine),
        settings=settings(
            max_examples=-(-(lives or EXAMPLES) // len(SEEDS)),
            stateful_step_count=steps,
            deadline=None,
            database=None,
            report_multiple_bugs=False,
            phases=phases,
            suppress_health_check=list(HealthCheck),
        ),
    )
