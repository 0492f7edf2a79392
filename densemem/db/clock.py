"""The moments that ledgers record, and how far the past is settled.

A writer takes its moment under its last lock, and says so by a lock that writers share until they end. Whoever asks
about the past has that lock alone for an instant: then every moment that was taken before can be read, and every other
one comes later.
"""

from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction

from densemem.db.locks import lock, number
from densemem.db.read import fetch

TELLING: Final = "told AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared(%(clock)s))"
MOMENT: Final = f"WITH {TELLING} SELECT clock_timestamp() FROM told"  # noqa: S608 - our own words
NOW: Final = "SELECT clock_timestamp()"


def moment(team_id: UUID) -> datetime:
    """Return the moment that everything of a transaction carries, by the clock of the database.

    The caller holds every lock that orders what it writes: who waits for it takes a later moment.
    """
    taken: datetime
    ((taken,),) = fetch(MOMENT, clock=clock_of(team_id))
    return taken


def settled(team_id: UUID) -> datetime:
    """Wait for the writers of a team that have taken their moment, and return the time.

    What they recorded can be read from here on, and what comes later carries a later moment.
    """
    with transaction.atomic():
        lock(*_name(team_id))
        now: datetime
        ((now,),) = fetch(NOW)
    return now


def clock_of(team_id: UUID) -> int:
    """Return the number of the lock that the writers of a team share."""
    return number(_name(team_id))


def _name(team_id: UUID) -> tuple[str, UUID]:
    return "clock", team_id
