"""What is told of a row of the queue, at a moment."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from placement.models import Item
from placement.policy import WORKING, Told, tell
from placement.vocabulary import PROCESSING, READY, ItemState


def address_of(ingest_id: UUID) -> str:
    """Return where an ingest is read over REST."""
    return f"/api/v1/ingests/{ingest_id}"


def state_of(row: Item, *, now: datetime) -> str:
    """Return the public state of an item: under a live lease it is being processed."""
    leased = row.state in READY and row.lease_until is not None and row.lease_until > now
    return PROCESSING if leased else row.state


def in_states(states: Collection[str], *, now: datetime) -> Q:
    """Return the condition that the public state of an item is one of these."""
    leased = Q(state__in=READY, lease_until__gt=now)
    stored = Q(state__in=[state for state in states if state != PROCESSING]) & ~leased
    return stored | leased if PROCESSING in states else stored


def told_of(row: Item, *, held: bool, concluded: bool, now: datetime) -> Told:
    """Return what is told of an item; a text that is held has one answer, whatever had become of it before."""
    state = state_of(row, now=now)
    return tell(
        state=ItemState.QUARANTINED
        if held and state not in (*WORKING, ItemState.SUPERSEDED, ItemState.REDACTED)
        else state,
        reason=row.reason,
        concluded=concluded,
        wait=(row.available_at - now).total_seconds(),
        address=address_of(row.ingest_id),
    )


def told_of_run(told: Collection[Told]) -> Told:
    """Return what is told of a run: what is told of its items in the run's own state, the soonest first."""
    return min(told, key=lambda t: (t.check_after_seconds, t.reason == "nothing_concluded"))
