"""Whatever is done to a memory, in whatever order: its laws hold, and it is as a plain model says."""

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.machine.machine import Machine
from tests.machine.world import World

pytestmark = pytest.mark.django_db

EXAMPLES = 12
LONG = 300
SEEDS = range(10)  # each is a test of its own, so that all processes have a share


@pytest.fixture(autouse=True)
def world() -> None:
    """The two teams that every life begins with."""
    Machine.world = World()


def live(number: int, pytestconfig: pytest.Config, *, examples: int) -> None:
    """Let a share of the lives be lived; what a seed gives is the same each time."""
    asked, steps = pytestconfig.getoption("machine_examples"), pytestconfig.getoption("machine_steps")
    run_state_machine_as_test(
        seed(number)(Machine),
        settings=settings(
            max_examples=-(-(asked or examples) // len(SEEDS)),
            stateful_step_count=steps,
            deadline=None,
            database=None,
            report_multiple_bugs=False,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.parametrize("number", SEEDS)
def test_every_life_is_as_the_model_says(number: int, pytestconfig: pytest.Config) -> None:
    live(number, pytestconfig, examples=EXAMPLES)


@pytest.mark.long
@pytest.mark.parametrize("number", SEEDS)
def test_many_lives_are_as_the_model_says(number: int, pytestconfig: pytest.Config) -> None:
    live(100 + number, pytestconfig, examples=LONG)
