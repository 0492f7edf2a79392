"""Workers as processes of their own, started, stopped and killed by the id that they got."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any, Final

from django.conf import settings

from densemem.faults.fault import Broken

# What holds in these workers in place of the limits of their names: nobody can wait for a lease of minutes.
SHORT: Final = {"LEASE_SECONDS": 2.0, "HEARTBEAT_SECONDS": 0.25}
READY_SECONDS: Final = 60
LOOK_SECONDS: Final = 0.02
# One process loads the product once, and every worker begins as its copy.
FORKS: Final = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["densemem.faults.nest"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Orders:
    """
    What a worker does.

    :param seconds_most: the longest time that its model takes over a call; each call draws its own
    :param seed: what those times are drawn from
    :param poison: a text that holds this word kills the worker that asks about it
    :param once: it leaves when nothing is ready; else it works until it is killed
    """

    seconds_most: float = 0.0
    seed: int = 0
    poison: str = ""
    once: bool = False
    databases: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {**settings.DATABASES})


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker that is ready."""

    process: Any

    def tell(self, number: signal.Signals) -> None:
        """Send it a signal, if it is still there."""
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, number)

    def ends_within(self, seconds: float) -> bool:
        """Wait for its end, and tell if it came."""
        self.process.join(seconds)
        return not self.process.is_alive()

    def leave(self, seconds: float) -> None:
        """Wait until it ends.

        :raises Broken: it does not
        """
        if not self.ends_within(seconds):
            raise Broken(f"a worker did not end within {seconds} s")


@contextmanager
def crew() -> Iterator[Callable[[Orders], Worker]]:
    """Give a way to start workers; at the end none of them is left."""
    started: list[Worker] = []

    def start(orders: Orders) -> Worker:
        ready, told = FORKS.Pipe(duplex=False)
        process = FORKS.Process(target=_begin, args=(orders, told), daemon=True)
        process.start()
        started.append(Worker(process))
        told.close()
        if not ready.poll(READY_SECONDS):
            raise Broken("a worker did not start")
        ready.close()
        return started[-1]

    try:
        yield start
    finally:
        for worker in started:
            worker.process.kill()
            worker.process.join(READY_SECONDS)
            worker.process.close()


def wait_until(true: Callable[[], bool], *, seconds: float, look: float = LOOK_SECONDS) -> bool:
    """Look again and again until something is true; say whether it became so in time."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if true():
            return True
        time.sleep(look)
    return true()


def _begin(orders: Orders, told: Connection) -> None:
    """Be a worker: the first thing that its process does."""
    import_module("densemem.faults.nest")  # it is there already, unless this process is not the fork server's
    import_module("densemem.faults.worker").work(orders, told)
