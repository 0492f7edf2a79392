"""The web server of one process, and how the processes of one port share what arrives."""

import asyncio
import errno
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import cycle
from typing import Any, Final

import uvicorn

APPLICATION: Final = "densemem.asgi"
SHUT_DOWN: Final = (errno.EINVAL, errno.EBADF)
ACCEPT_AGAIN_SECONDS: Final = 0.5


class Server(uvicorn.Server):
    """Serves all doors to the connections that come through a channel.

    The system would leave it to chance which process gets a connection, and clients keep one for long. So the first
    process takes them all, and hands them out in turn.

    :param taking: where connections come from
    :param handing: where this one gives those that arrive, itself included
    """

    def __init__(self, taking: socket.socket, handing: Sequence[socket.socket] = ()) -> None:
        # This protocol bounds the bytes of the headers; the other one that uvicorn knows does not.
        config = uvicorn.Config(
            f"{APPLICATION}:application", http="h11", lifespan="on", log_level="warning", access_log=False
        )
        super().__init__(config)
        self._taking = taking
        self._handing = handing

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to take connections, and to hand out those that arrive on `sockets`."""
        await super().startup([])
        self._taking.setblocking(False)
        asyncio.get_running_loop().add_reader(self._taking, self._take)
        for listening in sockets or ():
            threading.Thread(target=hand_out, args=(listening, self._handing), name="hand-out", daemon=True).start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more; finish what was begun."""
        asyncio.get_running_loop().remove_reader(self._taking)
        for listening in sockets or ():
            with suppress(OSError):  # some systems know no such thing
                listening.shutdown(socket.SHUT_RDWR)  # closing alone would not wake who waits for a connection
        await super().shutdown(sockets)

    def _take(self) -> None:
        _, numbers, _, _ = socket.recv_fds(self._taking, 1, 1)
        for number in numbers:
            task = asyncio.ensure_future(self._welcome(socket.socket(fileno=number)))
            self.server_state.tasks.add(task)
            task.add_done_callback(self.server_state.tasks.discard)

    async def _welcome(self, connection: socket.socket) -> None:
        protocol: Any = self.config.http_protocol_class
        shared = {"config": self.config, "server_state": self.server_state, "app_state": self.lifespan.state}
        await asyncio.get_running_loop().connect_accepted_socket(partial(protocol, **shared), connection)


def hand_out(listening: socket.socket, channels: Sequence[socket.socket]) -> None:
    """Give each connection to the next process in turn, until the socket is shut down."""
    for channel in cycle(channels):
        connection = _accept(listening)
        if connection is None:
            return
        with connection:
            socket.send_fds(channel, [b"."], [connection.fileno()])


def _accept(listening: socket.socket) -> socket.socket | None:
    """Wait for a connection; None once the socket is shut down."""
    while True:
        try:
            return listening.accept()[0]
        except OSError as error:
            if error.errno in SHUT_DOWN:
                return None
            time.sleep(ACCEPT_AGAIN_SECONDS)  # too many open files, for one: some will be closed
