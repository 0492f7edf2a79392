"""The lease of a claimed item, renewed while a model takes its time ("Memory Write Pipeline", worker concurrency)."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import Error, connection

from densemem.core import limits
from densemem.providers.base import Answer, Call, Provider
from placement.operations import Claim, LeaseLost, heartbeat

log = logging.getLogger(__name__)


class WhileHeld:
    """A provider that is asked only as long as the lease is ours: an answer nobody may use is not paid for."""

    def __init__(self, provider: Provider, lost: threading.Event) -> None:
        self.name = provider.name
        self._provider = provider
        self._lost = lost

    def complete(self, call: Call) -> Answer:
        """Return the provider's answer.

        :raises LeaseLost: the item is not ours any more
        """
        if self._lost.is_set():
            raise LeaseLost
        return self._provider.complete(call)


@contextmanager
def lease_kept(claim: Claim, provider: Provider) -> Iterator[Provider]:
    """Renew the lease from a second thread while the item is worked on, and yield the provider to ask meanwhile.

    A beat that fails is made up for by the next one.
    """
    over, lost = threading.Event(), threading.Event()
    thread = threading.Thread(target=_beat, args=(claim, over, lost), name=f"heartbeat-{claim.item_id}", daemon=True)
    thread.start()
    try:
        yield WhileHeld(provider, lost)
    finally:
        over.set()
        thread.join()


def _beat(claim: Claim, over: threading.Event, lost: threading.Event) -> None:
    for _ in range(limits.LEASE_RENEWALS):
        if over.wait(limits.HEARTBEAT_SECONDS):
            return
        try:
            heartbeat(claim)
        except LeaseLost:
            lost.set()
            return
        except Error as fault:
            log.warning("heartbeat failed: item %s: %s", claim.item_id, type(fault).__qualname__)
        finally:
            connection.close()
