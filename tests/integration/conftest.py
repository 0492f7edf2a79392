"""A team of whom much is known, and the one who forges its rows."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connections, transaction
from django.utils import timezone
from pytest_django.plugin import DjangoDbBlocker

from densemem.db import server
from densemem.db.cluster import Cluster
from densemem.db.place import place_of
from densemem.demo.cast import make_cast
from densemem.demo.corpus import load_corpus
from densemem.demo.journey import send
from densemem.models import Team
from tests import database


@pytest.fixture(scope="module")
def sample(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Team]:
    """The sample's team with all that is known of it; written once, since every test leaves it as it was."""
    with django_db_blocker.unblock():
        corpus = load_corpus()
        cast = make_cast(corpus)
        send(corpus=corpus, principals=cast.principals, now=timezone.now, step=lambda _: None)
        yield Team.objects.get(pk=cast.team_id)
        database.empty_tables()


@pytest.fixture
def forger(sample: Team, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Let a test write as nobody can in life: a superuser without triggers, all of it taken back at the end."""
    home = Path(os.environ[database.HOME_VARIABLE])
    ours = connections["default"]
    url = Cluster(place_of(home)).bootstrap_url(ours.settings_dict["NAME"])
    forged = connections.create_connection("default")
    forged.settings_dict = {**ours.settings_dict, **server.databases(home=home, url=url, owner_url="")["default"]}
    with django_db_blocker.unblock():
        connections["default"] = forged
        try:
            with transaction.atomic():
                forged.cursor().execute("SET LOCAL session_replication_role = replica")
                yield
                transaction.set_rollback(True)
        finally:
            connections["default"] = ours
            forged.close()
