"""What every test stands on: its own database server, and no way out to the network."""

import os
from collections.abc import Iterator

import pytest
from django.db import connections
from django.test import TransactionTestCase
from pytest_django.plugin import DjangoDbBlocker

from tests import database, network


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the state machine run for longer than the suite has time for."""
    group = parser.getgroup("machine", "the state machine (tests/functional/test_state_machine.py)")
    group.addoption("--machine-identities", action="store_true", help="entities are merged, split and kept apart, too")
    group.addoption("--machine-examples", type=int, help="how many lives, over all seeds")
    group.addoption("--machine-shrink", action="store_true", help="look for a shorter life that fails, too")
    group.addoption("--machine-steps", type=int, default=50, help="the most steps of a life")


def pytest_configure(config: pytest.Config) -> None:
    """Name the folder of the test server before workers start."""
    if not hasattr(config, "workerinput"):
        database.begin()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the test server when all workers have left."""
    if not hasattr(config, "workerinput"):
        database.end()


@pytest.fixture(scope="session", autouse=True)
def closed_network() -> Iterator[None]:
    """Refuse sockets that leave this machine."""
    with pytest.MonkeyPatch.context() as patch:
        network.close(patch)
        yield


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Give this worker its own migrated database; tests connect as the application's role."""
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch:
        database.use_worker_database(os.environ.get("PYTEST_XDIST_WORKER", "main"))
        # Django's own way is TRUNCATE as the application's role, which may do no such thing.
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _: database.empty_tables())
        yield
        connections.close_all()
