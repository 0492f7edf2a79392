"""A local HTTP server that speaks the Messages API as a stream of events, and misbehaves on command."""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Reads one request, then does what the server was told."""

    protocol_version = "HTTP/1.1"
    server: "Server"

    def do_POST(self) -> None:
        """Keep the request and behave."""
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.requests.append(
            Seen(self.path, {name.lower(): value for name, value in self.headers.items()}, json.loads(body))
        )
        self.close_connection = True
        try:
            self.server.behaviour(self)
        except (BrokenPipeError, ConnectionResetError):
            self.server.cut.set()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Say nothing."""

    def send(self, body: bytes, *, status: int = 200, **headers: str) -> None:
        """Send a whole answer of known length."""
        self.begin(status=status, **{"content-length": str(len(body)), **headers})
        self.wfile.write(body)

    def begin(self, *, status: int = 200, **headers: str) -> None:
        """Send status and headers."""
        self.send_response(status)
        for name, value in {"content-type": "text/event-stream", "connection": "close", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()


@dataclass(frozen=True)
class Seen:
    """One request that came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(eq=False)
class Server(ThreadingHTTPServer):
    """Listens on a free local port; `behaviour` may be changed at any time."""

    behaviour: Behaviour
    requests: list[Seen] = field(default_factory=list)
    cut: threading.Event = field(default_factory=threading.Event)
    stopping: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.daemon_threads = True

    @property
    def url(self) -> str:
        """Where to find it."""
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[Server]:
    """Run a server for the length of a block."""
    server = Server(behaviour)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


def events(text: str, *, stop: str = "end_turn", pieces: int = 3) -> bytes:
    """Return the whole stream of one answer, its text in pieces."""
    usage = {"input_tokens": 11, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "local-1", "content": [], "usage": usage}
    step = max(1, -(-len(text) // pieces))
    told = [
        ("message_start", {"message": {**message, "stop_reason": None, "stop_sequence": None}}),
        ("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
        *(
            ("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": text[at : at + step]}})
            for at in range(0, len(text), step)
        ),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 7}}),
        ("message_stop", {}),
    ]
    return b"".join(event(name, {"type": name, **data}) for name, data in told)


def event(name: str, data: object) -> bytes:
    """Return one event of a stream."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


def says(text: str, *, stop: str = "end_turn") -> Behaviour:
    """Answer well."""
    return lambda handler: handler.send(events(text, stop=stop))


def sends(body: bytes) -> Behaviour:
    """Send these bytes as the stream."""
    return lambda handler: handler.send(body)


def fails(status: int, *, kind: str = "api_error", **headers: str) -> Behaviour:
    """Answer with an HTTP error."""
    body = json.dumps({"type": "error", "error": {"type": kind, "message": "no"}}).encode()
    return lambda handler: handler.send(body, status=status, content_type="application/json", **headers)


def fails_midway(kind: str) -> Behaviour:
    """Begin well, then tell an error inside the stream."""
    start = events("half", pieces=1).split(b"event: content_block_stop")[0]
    return sends(start + event("error", {"type": "error", "error": {"type": kind, "message": "no"}}))


def floods(handler: Handler) -> None:
    """Send one endless line."""
    handler.begin(**{"content-length": str(10**10)})
    while not handler.server.stopping.is_set():
        handler.wfile.write(b"x" * 1_000_000)


def hangs(handler: Handler) -> None:
    """Never answer."""
    handler.server.stopping.wait(10)


def resets(handler: Handler) -> None:
    """Close the connection with a reset before any answer."""
    _reset(handler)


def breaks_off(handler: Handler) -> None:
    """Promise a whole answer, send half of it, and close."""
    body = events("half of an answer")
    handler.begin(**{"content-length": str(len(body))})
    handler.wfile.write(body[: len(body) // 2])


def resets_midway(handler: Handler) -> None:
    """Send half an answer and reset the connection."""
    breaks_off(handler)
    handler.wfile.flush()
    _reset(handler)


def trickles(part: str) -> Behaviour:
    """Send a byte now and then for ever, inside the `headers`, the `body`, or the body of an `error`."""

    def behave(handler: Handler) -> None:
        if part == "headers":
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
        else:
            handler.begin(status=500 if part == "error" else 200, **{"content-length": "1000000"})
        while not handler.server.stopping.is_set():
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.05)

    return behave


def _reset(handler: Handler) -> None:
    """Close with RST instead of FIN."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.wfile = open("/dev/null", "wb")  # noqa: SIM115 - the base class flushes and closes it
