"""The ASGI application: `/mcp` is the MCP door, everything else is Django."""

import os
from typing import cast

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "densemem.settings")
django.setup()

from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from starlette.types import ASGIApp, Receive, Scope, Send

from densemem.core.ids import uuid7
from densemem.mcp.door import CLOSED, Door, opened, refuse
from densemem.mcp.threads import in_thread


class Pages(ASGIHandler):
    """Django. A request stays in one thread from the first middleware to the answer; all of them are synchronous."""

    def load_middleware(self, is_async: bool = False) -> None:
        """Load it for a thread, whatever the event loop would like."""
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """Answer in a thread that has a connection to the database already."""
        return await in_thread(self.get_response, request)


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
