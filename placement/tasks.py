"""What django-q2 wakes. The queue is our rows: a lost or doubled wake-up changes nothing but time."""

import time

from django.utils import timezone

from densemem.core import limits
from densemem.providers.base import Provider
from densemem.providers.registry import provider
from placement.operations import claim_next
from placement.pipeline import place
from placement.queries import next_due


def drain(*, seconds: float = limits.DRAIN_SECONDS, using: Provider | None = None, linger: bool = True) -> int:
    """Place items until nothing is ready or falls due within `seconds`, or the time is up; return how many.

    :param using: another provider than the settings name
    :param linger: wait for items that fall due within the time that is left; else stop as soon as nothing is ready
    """
    asked = using or provider()  # before the first claim: a wrong setting must not use up attempts
    ends = time.monotonic() + seconds
    placed = 0
    while time.monotonic() < ends:
        claim = claim_next()
        if claim is not None:
            place(claim, asked)
            placed += 1
            continue
        due = next_due()
        left = ends - time.monotonic()
        if not linger or due is None or (due - timezone.now()).total_seconds() > left:
            break
        time.sleep(min(1.0, max(0.05, left)))
    return placed
