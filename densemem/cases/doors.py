"""The doors as a client knows them: one real server on the loopback, REST and MCP over HTTP."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import httpx
import uvicorn

START_SECONDS: Final = 30
ANSWER_SECONDS: Final = 60
VERSION: Final = "2026-07-28"
CLIENT: Final = {"name": "cases", "version": "1"}


@dataclass(frozen=True, slots=True)
class Answered:
    """What a door answered; `status` is HTTP's, or that of the problem inside an MCP result.

    :param is_error: an MCP result that says so, or a status of 400 and more
    :param http: HTTP's own status
    """

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)
    is_error: bool = False
    http: int = 0


@contextmanager
def serving() -> Iterator[str]:
    """Serve the whole application in a thread and give its address, without a slash at the end."""
    config = uvicorn.Config("densemem.asgi:application", port=0, lifespan="on", log_level="error", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="cases-server")
    thread.start()
    try:
        ends = time.monotonic() + START_SECONDS
        while not server.started:
            if not thread.is_alive() or time.monotonic() > ends:
                raise RuntimeError("The server for the cases did not start.")
            time.sleep(0.02)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


class Doors:
    """A client of the server at one address; safe to share between threads."""

    def __init__(self, base: str) -> None:
        self._http = httpx.Client(base_url=base, timeout=ANSWER_SECONDS)

    def close(self) -> None:
        """Give back the connections."""
        self._http.close()

    def get(self, token: str, path: str, **parameters: Any) -> Answered:
        """Ask REST; a path that begins with a slash is taken as a whole address."""
        address = path if path.startswith(("/", "http")) else f"/api/v1/{path}"
        # Empty parameters would drop the query of a whole address.
        return _rest(self._http.get(address, headers=_bearer(token), params=parameters or None))

    def post(self, token: str, path: str, body: Any, **headers: str) -> Answered:
        """Send a JSON document, or bytes as they are, to REST."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {"Content-Type": "application/json", **_bearer(token), **named}
        return _rest(self._http.post(f"/api/v1/{path}", content=raw, headers=sent))

    def call_tool(self, token: str, tool: str, arguments: Mapping[str, Any], *, session: str | None = None) -> Answered:
        """Call an MCP tool; with `session`, as a client that has one."""
        params = {"name": tool, "arguments": arguments}
        return self.message(token, "tools/call", params, session=session)

    def message(self, token: str, method: str, params: Mapping[str, Any], *, session: str | None = None) -> Answered:
        """Send one JSON-RPC message to the MCP door."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientInfo": CLIENT,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        headers = {
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": method,
            "Accept": "application/json, text/event-stream",
            **_bearer(token),
        }
        if "name" in params:
            headers["Mcp-Name"] = params["name"]
        if session is not None:
            headers["Mcp-Session-Id"] = session
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        response = self._http.post("/mcp", json=message, headers=headers)
        return _mcp(response)

    def initialize(self, token: str) -> Answered:
        """Begin as clients of the older protocol do."""
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT}
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        headers = {"Accept": "application/json, text/event-stream", **_bearer(token)}
        return _mcp(self._http.post("/mcp", json=message, headers=headers))


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _json(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        return response.text


def _rest(response: httpx.Response) -> Answered:
    status = response.status_code
    return Answered(status, _json(response), dict(response.headers), status >= 400, status)


def _mcp(response: httpx.Response) -> Answered:
    http, body = response.status_code, _json(response)
    result = body.get("result") if isinstance(body, dict) else None
    if not isinstance(result, dict):
        return Answered(http, body, dict(response.headers), True, http)
    content = result.get("structuredContent", result)
    failed = bool(result.get("isError"))
    status = content.get("status", 400) if failed else http
    return Answered(status, content, dict(response.headers), failed, http)
