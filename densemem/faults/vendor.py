"""A vendor on the loopback who answers by the offline reviewer, and misbehaves towards some texts."""

import json
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from uuid import uuid4

from densemem.core import limits
from densemem.providers.base import Call, Role, Stage, Turn
from densemem.providers.rules import Rules

FLOOD_BYTES: Final = 10 * 1024 * 1024
TRICKLE_SECONDS: Final = 0.05
STREAM: Final = "text/event-stream"

Exchange = Callable[["Handler", str], None]
"""Does something on the wire in place of the answer that is handed over."""
Bend = Callable[[Stage, dict[str, Any]], Any]
"""Makes of a good answer the one that is sent."""


def status(code: int, kind: str) -> Exchange:
    """Refuse with an HTTP status."""
    body = json.dumps({"type": "error", "error": {"type": kind, "message": "no"}}).encode()
    return lambda handler, _: handler.reply(code, body, kind="application/json", retry_after="0")


def silence(handler: "Handler", _: str) -> None:
    """Never answer."""
    handler.server.stopping.wait(limits.CALL_SECONDS * 10)


def reset(handler: "Handler", _: str) -> None:
    """Close the connection with RST."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def break_off(handler: "Handler", text: str) -> None:
    """Send half of the bytes that were promised, and close."""
    body = stream(text)
    handler.begin(200, kind=STREAM, length=len(body))
    handler.wfile.write(body[: len(body) // 2])


def flood(handler: "Handler", _: str) -> None:
    """Send an answer of ten megabytes."""
    handler.reply(200, stream("x" * FLOOD_BYTES), kind=STREAM)


def trickle(handler: "Handler", _: str) -> None:
    """Send a byte now and then for as long as anybody listens."""
    handler.begin(200, kind=STREAM, length=1_000_000)
    while not handler.server.stopping.wait(TRICKLE_SECONDS):
        handler.wfile.write(b":")


def half(stage: Stage, answer: dict[str, Any]) -> Any:
    """Say half of the JSON."""
    text = json.dumps(answer)
    return text[: len(text) // 2]


def other_shape(stage: Stage, answer: dict[str, Any]) -> Any:
    """Say valid JSON of another schema."""
    return {"facts": [answer], "confidence": "high"}


def missing(stage: Stage, answer: dict[str, Any]) -> Any:
    """Leave out something that is referred to, or was asked for."""
    return {**answer, _list(stage): answer[_list(stage)][1:]}


def extra(stage: Stage, answer: dict[str, Any]) -> Any:
    """Refer to something that is not there, or answer what was not asked."""
    if stage is Stage.EXTRACT:
        return {**answer, "observations": [{**row, "subject_ref": "nobody"} for row in answer["observations"]]}
    return {**answer, _list(stage): [*answer[_list(stage)], {**answer[_list(stage)][0], "ref": "nobody"}]}


def twice(stage: Stage, answer: dict[str, Any]) -> Any:
    """Give the same ref two times."""
    return {**answer, _list(stage): [*answer[_list(stage)], answer[_list(stage)][0]]}


def foreign(stage: Stage, answer: dict[str, Any]) -> Any:
    """Name an id that was not offered: another text, another Entity."""
    first, *rest = answer[_list(stage)]
    other = {"evidence_id": str(uuid4())}
    if stage is Stage.VERIFY:
        other = {"action": "reuse", "candidate_entity_id": str(uuid4())}
    return {**answer, _list(stage): [{**first, **other}, *rest]}


def not_a_number(stage: Stage, answer: dict[str, Any]) -> Any:
    """Say NaN where a number belongs."""
    first, *rest = answer[_list(stage)]
    name = "occurrence" if stage is Stage.EXTRACT else "confidence"
    return {**answer, _list(stage): [{**first, name: float("nan")}, *rest]}


def _list(stage: Stage) -> str:
    return "mentions" if stage is Stage.EXTRACT else "entity_results"


ON_THE_WIRE: Final[Mapping[str, Exchange]] = {
    "rate_limited": status(429, "rate_limit_error"),
    "server_error": status(500, "api_error"),
    "timeout": silence,
    "reset": reset,
    "broken_off": break_off,
    "too_large": flood,
    "trickle": trickle,
}
IN_THE_ANSWER: Final[Mapping[str, Bend]] = {
    "half_json": half,
    "wrong_schema": other_shape,
    "missing_ref": missing,
    "extra_ref": extra,
    "duplicate_ref": twice,
    "foreign_id": foreign,
    "nan": not_a_number,
}


@dataclass(eq=False)
class Vendor(ThreadingHTTPServer):
    """
    Listens on a free port.

    :param always: a word of the texts towards which it always misbehaves
    :param once: a word of the texts towards which it does so only the first time
    :param mischief: what it does, by its name in one of the tables above
    :param stage: the model call at which it does it
    """

    always: str
    once: str
    mischief: str = ""
    stage: Stage = Stage.EXTRACT
    seen: Counter[str] = field(default_factory=Counter)
    stopping: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.daemon_threads = True

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def turn_to(self, mischief: str, stage: Stage) -> None:
        """Begin another misbehaviour, and count anew."""
        self.mischief, self.stage = mischief, stage
        self.seen.clear()

    def misbehaves(self, call: Call) -> bool:
        """Count a call, and tell if it is one to misbehave at."""
        if call.stage is not self.stage:
            return False
        word = next((w for w in (self.always, self.once) if w in call.turns[0].text), "")
        self.seen[word] += 1
        return word == self.always or (word == self.once and self.seen[word] == 1)


class Handler(BaseHTTPRequestHandler):
    """Answers one call and closes."""

    protocol_version = "HTTP/1.1"
    server: Vendor

    def do_POST(self) -> None:
        """Read the call, and answer it or not."""
        call = read(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.close_connection = True
        answer = Rules().complete(call).text
        with suppress(ConnectionError):
            if not self.server.misbehaves(call):
                return self.reply(200, stream(answer), kind=STREAM)
            if exchange := ON_THE_WIRE.get(self.server.mischief):
                return exchange(self, answer)
            bent = IN_THE_ANSWER[self.server.mischief](call.stage, json.loads(answer))
            return self.reply(200, stream(bent if isinstance(bent, str) else json.dumps(bent)), kind=STREAM)

    def finish(self) -> None:
        """Close; the connection may be gone."""
        with suppress(OSError):
            super().finish()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Say nothing."""

    def reply(self, code: int, body: bytes, *, kind: str, **headers: str) -> None:
        """Send a whole answer."""
        self.begin(code, kind=kind, length=len(body), **headers)
        self.wfile.write(body)

    def begin(self, code: int, *, kind: str, length: int, **headers: str) -> None:
        """Send status and headers."""
        self.send_response(code)
        given = {"content-type": kind, "content-length": str(length), "connection": "close", **headers}
        for name, value in given.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()


def read(body: Mapping[str, Any]) -> Call:
    """Return the call behind a request; only the verifier's tells its candidates."""
    turns = tuple(Turn(Role(turn["role"]), turn["content"]) for turn in body["messages"])
    verifies = "entity_mentions" in json.loads(turns[0].text)
    return Call(Stage.VERIFY if verifies else Stage.EXTRACT, body["system"], turns, {})


def stream(text: str) -> bytes:
    """Return the events of one whole answer."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "loopback", "content": [], "usage": usage}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)


@contextmanager
def serving(vendor: Vendor) -> Iterator[Vendor]:
    """Let a vendor answer for the length of a block."""
    thread = threading.Thread(target=vendor.serve_forever, kwargs={"poll_interval": TRICKLE_SECONDS}, daemon=True)
    thread.start()
    try:
        yield vendor
    finally:
        vendor.stopping.set()
        vendor.shutdown()
        vendor.server_close()
        thread.join()
