"""How the event loop calls what waits for the database."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import close_old_connections

from densemem.core import limits

P = ParamSpec("P")
R = TypeVar("R")

POOL: Final = ThreadPoolExecutor(limits.DOOR_THREADS, thread_name_prefix="door")


async def in_thread(call: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
    """Run `call` in a thread of the pool; what it raises is raised here."""
    return await sync_to_async(_with_sound_connections, thread_sensitive=False, executor=POOL)(
        lambda: call(*args, **named)
    )


def _with_sound_connections(call: Callable[[], R]) -> R:
    """Do what Django does around a request: a connection that broke or is too old is never used again."""
    close_old_connections()
    try:
        return call()
    finally:
        close_old_connections()
