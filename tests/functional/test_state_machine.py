"""Whatever is done to a memory, in whatever order: its laws hold, and it is as a plain model says."""

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.machine.machine import Machine
from tests.machine.world import World

pytestmark = pytest.mark.django_db


def test_a_life(pytestconfig: pytest.Config) -> None:
    Machine.world = World()
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=10,
            stateful_step_count=30,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
