"""One connection for one call, cut when its time is up, whatever the other side is doing.

A read timeout alone is not enough: a peer that sends a byte now and then restarts it for ever.
"""

import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress
from threading import Lock, Timer
from types import TracebackType
from typing import Any, Final

import httpx2

from densemem.core import limits

WIRE_BYTES: Final = 32 * limits.ANSWER_BYTES  # each word of a streamed answer comes in an envelope of its own
EVENT_BYTES: Final = 8 * limits.ANSWER_BYTES  # the SDK copies an unfinished event whole at each new piece of it


class LineTooLong(Exception):
    """More bytes came than any whole answer can need."""


class Line:
    """A context manager that gives an HTTP client for one request; `cut` tells if the deadline ended it."""

    def __init__(self, *, seconds: float, tls: ssl.SSLContext) -> None:
        """Prepare a line that may live for `seconds` from the moment it is entered."""
        self.cut = False
        self._lock = Lock()
        self._socket: socket.socket | None = None
        self._timer = Timer(seconds, self._end)
        self._timer.daemon = True
        self._client = httpx2.Client(
            verify=tls,
            timeout=seconds,
            headers={"accept-encoding": "identity"},
            event_hooks={"request": [self._watch], "response": [self._measure]},
        )

    def __enter__(self) -> httpx2.Client:
        """Start the clock."""
        self._timer.start()
        return self._client

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the clock and close the connection."""
        self._timer.cancel()
        self._client.close()

    def _watch(self, request: httpx2.Request) -> None:
        """Ask to be told of the connection that this request opens."""
        request.extensions = {**request.extensions, "trace": self._traced}

    def _traced(self, event: str, info: dict[str, Any]) -> None:
        """Remember the socket as soon as it is connected; TLS puts another one in its place."""
        if not event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            return
        with self._lock:
            self._socket = info["return_value"].get_extra_info("socket")
            late = self.cut
        if late:
            raise httpx2.ConnectTimeout("the time was up before the connection was made")

    def _end(self) -> None:
        """Cut the line: a reader that waits wakes with an error."""
        with self._lock, suppress(OSError):  # the other side was quicker
            self.cut = True
            if self._socket is not None:
                self._socket.shutdown(socket.SHUT_RDWR)

    def _measure(self, response: httpx2.Response) -> None:
        """Count the bytes of the body; compressed ones are refused, as they could unfold without measure."""
        if response.headers.get("content-encoding", "identity") != "identity":
            raise LineTooLong
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = _Measured(response.stream)


class _Measured(httpx2.SyncByteStream):
    """A body of bounded size."""

    def __init__(self, inner: httpx2.SyncByteStream) -> None:
        """Take the body to measure."""
        self._inner = inner

    def __iter__(self) -> Iterator[bytes]:
        """Yield the body while it is within the limits, as a whole and for each event."""
        size = unfinished = 0
        for chunk in self._inner:
            blank = max(chunk.rfind(b"\n\n"), chunk.rfind(b"\r\n\r\n"))
            size += len(chunk)
            unfinished = unfinished + len(chunk) if blank < 0 else len(chunk) - blank
            if size > WIRE_BYTES or unfinished > EVENT_BYTES:
                raise LineTooLong
            yield chunk

    def close(self) -> None:
        """Close the body."""
        self._inner.close()
