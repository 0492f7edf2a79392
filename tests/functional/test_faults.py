"""The faults of `manage.py faults`, a round or two of each."""

import pytest

from densemem.faults.catalogue import FAULTS
from densemem.faults.run import run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_survived(name: str) -> None:
    report = run(FAULTS[name], seed=1, rounds=[1])

    assert report.passed, report.failures
