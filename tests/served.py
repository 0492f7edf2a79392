"""A real server on the loopback, and the official MCP client to talk to it."""

import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, TypeVar

import anyio
import httpx2
import uvicorn
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from densemem.auth import Principal
from densemem.models import AccessToken, Profile

START_SECONDS: Final = 30
R = TypeVar("R")


def token_of(who: Principal, *, scopes: Sequence[str] = ("read", "write")) -> str:
    """Return a fresh bearer token."""
    profile = Profile.objects.get(pk=who.profile_id)
    _, secret = AccessToken.objects.create(user=profile.user, profile=profile, scopes=list(scopes))
    return secret


@contextmanager
def serving() -> Iterator[str]:
    """Serve the whole application in a thread and give its address, without a slash at the end."""
    config = uvicorn.Config("densemem.asgi:application", port=0, lifespan="on", log_level="error", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="served")
    thread.start()
    try:
        ends = time.monotonic() + START_SECONDS
        while not server.started:
            assert thread.is_alive() and time.monotonic() < ends, "the server did not start"
            time.sleep(0.02)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def talk(base: str, secret: str, conversation: Callable[[Client], Awaitable[R]], *, mode: str = "auto") -> R:
    """Connect the official client as the holder of a token, and return what the conversation returns."""

    async def connected() -> R:
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
            transport = streamable_http_client(f"{base}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                return await conversation(client)

    try:
        return anyio.run(connected)
    except BaseExceptionGroup as group:  # the client's task groups wrap whatever went wrong
        raise _innermost(group) from None


def _innermost(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
