"""The moments that a reader may ask about."""

from collections.abc import Iterator
from datetime import datetime

from densemem.core.faults import Fault


def faults_of_offset(pointer: str, at: datetime | None) -> Iterator[Fault]:
    """Yield the fault of a moment without an offset."""
    if at is not None and at.utcoffset() is None:
        yield Fault(pointer, "time_without_offset", "A time needs an offset, such as Z or +02:00.")


def faults_of_known_at(at: datetime | None, *, now: datetime) -> Iterator[Fault]:
    """Yield the faults of a moment of knowledge: nobody can tell what will be known."""
    faults = list(faults_of_offset("/known_at", at))
    yield from faults
    if at is not None and not faults and at > now:
        yield Fault("/known_at", "time_in_future", "Ask about a moment that has passed, or leave it out for now.")
