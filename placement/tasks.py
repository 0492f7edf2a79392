"""What django-q2 wakes. The queue is our rows: a lost or doubled wake-up changes nothing but time."""

import logging
import threading
import time
from ctypes import c_bool
from multiprocessing.sharedctypes import RawValue
from typing import Final
from uuid import UUID

from django.db import Error, connection
from django.utils import timezone

from densemem.core import limits
from densemem.providers.base import Provider
from densemem.providers.registry import concurrency, provider
from evidence.operations import forget_served
from placement.operations import Claim, LeaseLost, claim_next, put_back
from placement.pipeline import place
from placement.queries import next_due

log = logging.getLogger(__name__)
LOOK_SECONDS: Final = 1.0
WATCH_SECONDS: Final = 0.2

# Shared with the processes forked from this one: django-q2 gives its workers no signal when they are to stop.
stopping = RawValue(c_bool, False)


def drain(*, seconds: float = limits.DRAIN_SECONDS, using: Provider | None = None, linger: bool = True) -> int:
    """Place items, several at once, until nothing is ready or falls due within `seconds`, or the time is up.

    When the cluster stops, what is not done soon goes back to the queue.

    :param using: another provider than the settings name
    :param linger: wait for items that fall due within the time that is left; else stop as soon as nothing is ready
    :returns: how many items were placed, or put back after a try
    """
    # Before the first claim: a wrong setting must not use up attempts.
    crew = Crew(using or provider(), ends=time.monotonic() + seconds, linger=linger)
    hands = concurrency()
    if connection.in_atomic_block:
        crew.work()  # other connections would not see the rows of this transaction
    else:
        crew.work_together(hands)
    return crew.placed


def sweep() -> int:
    """Delete what is kept for a time only, and return how many rows that were."""
    return forget_served(now=timezone.now())


class Crew:
    """The hands of one drain. They take turns in looking for work; what each finds it brings to its end alone."""

    served: UUID | None = None  # of this process: the next drain goes on with the team after it

    def __init__(self, asked: Provider, *, ends: float, linger: bool) -> None:
        self.placed = 0
        self._asked = asked
        self._ends = ends
        self._linger = linger
        self._over = False
        self._fault: BaseException | None = None
        self._stop_at: float | None = None
        self._held: dict[UUID, Claim] = {}
        self._begun_in_time: set[UUID] = set()
        self._looking = threading.Lock()
        self._done = threading.Event()

    def work(self) -> None:
        """Take one item after the other, and place it."""
        while claim := self._next():
            try:
                place(claim, self._asked)
                self.placed += 1
            finally:
                self._held.pop(claim.token, None)
                self._begun_in_time.discard(claim.token)
                self._done.set()

    def work_together(self, hands: int) -> None:
        """Let several threads work, each with a connection of its own, and wait for them."""
        threads = [threading.Thread(target=self._hand, name=f"hand-{n}", daemon=True) for n in range(hands)]
        for thread in threads:
            thread.start()
        try:
            self._watch(threads)
        finally:
            self._over = True
            self._let_go()
        if self._fault:
            raise self._fault

    def _hand(self) -> None:
        try:
            self.work()
        except BaseException as fault:  # it belongs to whoever asked for the drain
            self._fault, self._over = fault, True
        finally:
            connection.close()

    def _next(self) -> Claim | None:
        """Return the next item when there is one; None when the drain is over."""
        with self._looking:
            while not self._is_over():
                self._done.clear()
                claim = claim_next(after=Crew.served)
                if claim is not None:
                    return self._hold(claim)
                if not self._held and not self._falls_due():
                    break
                self._rest()
            self._over = True
        return None

    def _rest(self) -> None:
        """Wait until it is worth looking again: soon, or when something was done."""
        self._done.wait(LOOK_SECONDS)

    def _hold(self, claim: Claim) -> Claim:
        Crew.served = claim.team_id
        self._held[claim.token] = claim
        if not self._is_late():
            self._begun_in_time.add(claim.token)
        return claim

    def _is_over(self) -> bool:
        """Tell if nothing more is to be claimed; one slow item, begun in time, keeps nobody from the others."""
        return self._over or stopping.value or (self._is_late() and not self._begun_in_time)

    def _is_late(self) -> bool:
        return time.monotonic() >= self._ends

    def _falls_due(self) -> bool:
        if not self._linger:
            return False
        wait = next_due()
        return wait is not None and wait <= self._ends - time.monotonic()

    def _watch(self, threads: list[threading.Thread]) -> None:
        """Wait for the threads; once the cluster stops, only for a while."""
        for thread in threads:
            while thread.is_alive() and not self._must_stop():
                thread.join(WATCH_SECONDS)

    def _must_stop(self) -> bool:
        if stopping.value and self._stop_at is None:
            self._stop_at = time.monotonic() + limits.DRAIN_STOP_SECONDS
        return self._stop_at is not None and time.monotonic() >= self._stop_at

    def _let_go(self) -> None:
        """Put back what is still held: the fence keeps whoever works on it from writing."""
        for claim in list(self._held.values()):
            try:
                put_back(claim, reason="stopped", uncounted=True)
            except (LeaseLost, Error) as fault:  # done meanwhile; or its lease runs out
                log.info("not put back: item %s: %s", claim.item_id, type(fault).__qualname__)
