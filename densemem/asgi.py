"""The ASGI application: `/mcp` is the MCP door, everything else is Django."""

import os
from collections.abc import Iterator
from contextlib import closing
from typing import IO, cast

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "densemem.settings")
django.setup()

from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from densemem.core.ids import uuid7
from densemem.mcp.door import CLOSED, Door, opened, refuse
from densemem.mcp.threads import in_thread


class Pages(ASGIHandler):
    """Django. A request is one call in one thread, which has a connection to the database already.

    Everything in it is synchronous; Django's own handler would go to a new thread and back for each signal.
    """

    def load_middleware(self, is_async: bool = False) -> None:
        """Load it for a thread, whatever the event loop would like."""
        super().load_middleware(is_async=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # type: ignore[override]
        """Answer one request, whole: no answer is larger than a page or a file of it."""
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        start, content = await in_thread(self._answer, scope, body)
        await send(start)
        await send({"type": "http.response.body", "body": content})

    def _answer(self, scope: Scope, body: IO[bytes]) -> tuple[Message, bytes]:
        with body:
            set_script_prefix(get_script_prefix(scope))
            request, refused = self.create_request(scope, body)
            response = self.get_response(request) if request else refused
            assert response is not None
            with closing(response):
                return _start(response), b"".join(response)


def _start(response: HttpResponseBase) -> Message:
    return {"type": "http.response.start", "status": response.status_code, "headers": list(_headers(response))}


def _headers(response: HttpResponseBase) -> Iterator[tuple[bytes, bytes]]:
    for name, value in response.items():
        yield name.encode("ascii"), value.encode("latin-1")
    for cookie in response.cookies.values():
        yield b"Set-Cookie", cookie.OutputString().encode("ascii")


class Application:
    """Sends each request to its door. The server's lifespan opens and closes the MCP door."""

    def __init__(self, pages: ASGIApp) -> None:
        self._pages = pages
        self._door: Door | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Speak ASGI: lifespan and HTTP; a WebSocket is closed, none is offered."""
        match scope["type"]:
            case "lifespan":
                await self._live(receive, send)
            case "websocket":
                await send({"type": "websocket.close", "code": 1000})
            case _ if scope["path"].rstrip("/") == "/mcp":
                await self._answer(scope, receive, send)
            case _:
                await self._pages(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with opened() as self._door:
            await send({"type": "lifespan.startup.complete"})
            await receive()
        self._door = None
        await send({"type": "lifespan.shutdown.complete"})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._door:
            await self._door(scope, receive, send)
            return
        await refuse(CLOSED, uuid7().hex)(scope, receive, send)


application = Application(cast(ASGIApp, Pages()))
