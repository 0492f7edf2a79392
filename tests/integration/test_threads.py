"""The connections of the threads behind the doors."""

import psycopg
import pytest
from django.conf import settings
from django.db import connection, connections

from densemem.db.server import url_of
from densemem.mcp.threads import _with_sound_connections as with_sound_connections

pytestmark = pytest.mark.django_db(transaction=True)


def backend() -> int:
    """Return the number of the server's process behind this thread's connection."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def test_a_connection_that_the_server_has_closed_is_replaced_before_it_is_used() -> None:
    before = with_sound_connections(backend)
    with psycopg.connect(url_of(settings.DATABASES["default"])) as other:
        other.execute("SELECT pg_terminate_backend(%s, 5000)", [before])

    assert with_sound_connections(backend) != before


def test_a_connection_that_is_silent_is_used_without_a_try(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[object] = []
    monkeypatch.setattr(type(connections["default"]), "is_usable", lambda self: tried.append(self) or True)
    before = with_sound_connections(backend)

    assert (with_sound_connections(backend), tried) == (before, [])
