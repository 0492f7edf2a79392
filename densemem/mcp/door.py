"""What stands before the tools: where a request may come from, who sends it, and how large it may be."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from densemem.core import limits
from densemem.core.ids import uuid7
from densemem.http import PROBLEM, REQUEST_ID, Problem, read_json
from densemem.mcp.server import Caller, Context, build_server, caller_of_token
from densemem.mcp.threads import in_thread

CALLER: Final = "densemem.caller"
NUMBER: Final = "densemem.request_id"
CLOSED: Final = Problem(503, "mcp_not_started", "The server runs without ASGI lifespan, so the MCP door is closed.")


class Gone(Exception):
    """The client left before its request was complete."""


class Door:
    """ASGI: `POST /mcp`. Each request stands for itself; nothing is kept between two of them."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it with a problem before the protocol sees it."""
        headers = Headers(scope=scope)
        number = _number(headers)
        send = _framed(send, number)
        try:
            _check_place(scope["method"], headers)
            caller = await _caller(headers)
            body = await _read(receive)
            read_json(body)  # as strict as REST: the protocol's own parser takes duplicate names and NaN
        except Gone:
            return
        except Problem as problem:
            await refuse(problem, number)(scope, receive, send)
            return
        scope = {**scope, CALLER: caller, NUMBER: number}
        await self._manager.handle_request(scope, _replay(body, receive), send)


@asynccontextmanager
async def opened() -> AsyncIterator[Door]:
    """Open the door for as long as the context lasts."""
    manager = StreamableHTTPSessionManager(
        build_server(_caller_of, request_id_of=_number_of),
        json_response=True,
        stateless=True,
        max_request_body_size=limits.BODY_BYTES,
    )
    async with manager.run():
        yield Door(manager)


def refuse(problem: Problem, number: str) -> JSONResponse:
    """Return the response that says why nothing was done."""
    body = problem.body(instance="/mcp", request_id=number)
    return JSONResponse(body, status_code=problem.status, headers=problem.headers, media_type=PROBLEM)


async def _caller_of(context: Context) -> Caller:
    caller: Caller = _scope_of(context)[CALLER]
    return caller


def _number_of(context: Context) -> str:
    return str(_scope_of(context)[NUMBER])


def _scope_of(context: Context) -> Scope:
    assert context.request is not None
    scope: Scope = context.request.scope
    return scope


def _number(headers: Headers) -> str:
    asked = headers.get("x-request-id", "")
    return asked if REQUEST_ID.fullmatch(asked) else uuid7().hex


def _check_place(method: str, headers: Headers) -> None:
    """Refuse another method, a host that is not ours, and a page of another site (DNS rebinding).

    :raises Problem: 405, 421 or 403
    """
    if method != "POST":
        raise Problem(405, "method_not_allowed", "Send a POST.", headers={"Allow": "POST"})
    host = headers.get("host", "")
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        raise Problem(421, "host_not_allowed", "This server does not answer for that host. See ALLOWED_HOSTS.")
    origin = headers.get("origin")
    if origin and urlsplit(origin).netloc != host and origin not in settings.CSRF_TRUSTED_ORIGINS:
        raise Problem(403, "origin_not_allowed", "A page of another site may not call. See CSRF_TRUSTED_ORIGINS.")


async def _caller(headers: Headers) -> Caller:
    """Return who sends the token. Without a database nobody can tell: then every tool answers with that problem.

    :raises Problem: 401, no token or not a valid one
    """
    words = headers.get("authorization", "").split()
    bearer = len(words) == 2 and words[0].lower() == "bearer"
    caller = await in_thread(caller_of_token, words[1] if bearer else "")
    if isinstance(caller, Problem) and caller.status < 500:
        raise caller
    return caller


async def _read(receive: Receive) -> bytes:
    """Return the whole body.

    :raises Problem: 413, as soon as it is too large
    :raises Gone: the client left
    """
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        body += message.get("body", b"")
        if len(body) > limits.BODY_BYTES:
            raise Problem(413, "body_too_large", f"The body may have at most {limits.BODY_BYTES} bytes.")
        if not message.get("more_body", False):
            return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body once more, then what comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


def _framed(send: Send, number: str) -> Send:
    """Return a `send` that marks every response as RequestFrame does."""

    async def framed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message.setdefault("headers", []))
            headers["X-Request-ID"] = number
            headers["Cache-Control"] = "no-store"
        await send(message)

    return framed
