"""How the event loop calls what waits for the database."""

import asyncio
import select
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, ParamSpec, TypeVar

from django.db import close_old_connections, connections

from densemem.core import limits

P = ParamSpec("P")
R = TypeVar("R")

POOL: Final = ThreadPoolExecutor(limits.DOOR_THREADS, thread_name_prefix="door")


async def in_thread(call: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
    """Run `call` in a thread of the pool; what it raises is raised here."""
    return await asyncio.get_running_loop().run_in_executor(
        POOL, _with_sound_connections, partial(call, *args, **named)
    )


def _with_sound_connections(call: Callable[[], R]) -> R:
    """Do what Django does around a request: a connection that broke or is too old is never used again."""
    close_old_connections()
    _trust_silent_connections()
    try:
        return call()
    finally:
        close_old_connections()


def _trust_silent_connections() -> None:
    """Spare a trip to the server for each request: only a connection with something to read is tried.

    One that the server has closed is among them: its end is there to be read.
    """
    for wrapper in connections.all(initialized_only=True):
        made = wrapper.connection
        if made is not None:
            wrapper.health_check_done = not made.closed and _is_silent(made.fileno())  # type: ignore[attr-defined]


def _is_silent(number: int) -> bool:
    waiting = select.poll()
    waiting.register(number, select.POLLIN)
    return not waiting.poll(0)
