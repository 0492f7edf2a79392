"""A real server on the loopback, and the official MCP client to talk to it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from densemem.auth import Principal
from densemem.cases.doors import serving
from densemem.models import AccessToken, Profile

R = TypeVar("R")

__all__ = ["serving", "talk", "token_of"]


def token_of(who: Principal, *, scopes: Sequence[str] = ("read", "write")) -> str:
    """Return a fresh bearer token."""
    profile = Profile.objects.get(pk=who.profile_id)
    _, secret = AccessToken.objects.create(user=profile.user, profile=profile, scopes=list(scopes))
    return secret


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
