"""`manage.py serve`: the web, REST and MCP doors in one server."""

import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from multiprocessing.context import ForkProcess
from types import FrameType
from typing import Any, Final, NoReturn

import uvicorn
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections

APPLICATION: Final = "densemem.asgi"
PROCESSES: Final = min(os.cpu_count() or 1, 4)
FORK: Final = multiprocessing.get_context("fork")
WORKER_STOP_SECONDS: Final = 20
ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # Ctrl+C, a polite kill, a closed terminal


class Command(BaseCommand):
    help = "Serve the pages, the REST API and the MCP door. Stop it with Ctrl+C."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take where to listen, and whether to place memories as well."""
        parser.add_argument(
            "--host", default="127.0.0.1", help="address to listen on; one that others reach also needs ALLOWED_HOSTS"
        )
        parser.add_argument("--port", type=int, default=8000, help="port to listen on; 0 takes a free one")
        parser.add_argument(
            "--processes", type=int, default=PROCESSES, help=f"server processes on this port (default: {PROCESSES})"
        )
        parser.add_argument("--with-worker", action="store_true", help="also run the background worker, until the end")
        parser.add_argument("--json", action="store_true", help="print the addresses as one line of JSON")

    def handle(self, *args: Any, host: str, port: int, with_worker: bool, processes: int, **options: Any) -> None:
        """Listen until a signal; leave no process behind."""
        if processes < 1:
            raise CommandError("--processes must be at least 1.")
        listening = listen(host, port)
        more = [_listen_too(listening) for _ in range(processes - 1)]
        self._print(addresses(host, listening.getsockname()[1]), as_json=options["json"])
        run(listening, with_worker=with_worker, more=more)

    def _print(self, found: dict[str, str], *, as_json: bool) -> None:
        text = json.dumps(found) if as_json else "\n".join(f"{name:6} {url}" for name, url in found.items())
        self.stdout.write(text)
        self.stdout.flush()


def run(listening: socket.socket, *, with_worker: bool, more: Sequence[socket.socket] = ()) -> None:
    """Serve on a listening socket until a signal; what arrives before the server is up waits in the socket.

    :param more: sockets on the same port; each is served by a process of its own
    :raises CommandError: the worker, or another server process, ended by itself
    """
    server = new_server()
    with listening, terminated_as_exit(), others(server, more) as beside:
        if with_worker:
            with worker(server) as process:
                server.run(sockets=[listening])
                _refuse_end("background worker", process.poll())
        else:
            server.run(sockets=[listening])
        for other in beside:
            _refuse_end("server process", other.exitcode)


def new_server() -> uvicorn.Server:
    """Return a server of all doors that does not run yet."""
    # This protocol bounds the bytes of the headers; the other one that uvicorn knows does not.
    config = uvicorn.Config(
        f"{APPLICATION}:application", http="h11", lifespan="on", log_level="warning", access_log=False
    )
    return uvicorn.Server(config)


def _refuse_end(what: str, status: int | None) -> None:
    if status is not None:
        raise CommandError(f"The {what} ended by itself with status {status}, so serving stopped.")


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    :raises CommandError: the address cannot be used
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        # Alone first: a port that several may share is taken by nobody else.
        with socket.create_server((host, port), family=family) as alone:
            taken = alone.getsockname()[1]
        return _shared((host, taken), family)
    except (OSError, OverflowError) as error:
        raise CommandError(f"Cannot listen on {host}, port {port}: {error}. Choose another with --port.") from error


def _listen_too(listening: socket.socket) -> socket.socket:
    """Return another socket on the same port: the system spreads the connections over both."""
    return _shared(listening.getsockname()[:2], listening.family)


def _shared(address: tuple[str, int], family: int) -> socket.socket:
    """Return a socket that listens beside others on its port.

    Its connections answer at once: an answer in two pieces would wait until the client acknowledges the first.
    """
    made = socket.create_server(address, family=family, reuse_port=True)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def addresses(host: str, port: int) -> dict[str, str]:
    """Return the address of each door."""
    base = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    return {"pages": f"{base}/", "REST": f"{base}/api/v1/", "MCP": f"{base}/mcp"}


@contextmanager
def terminated_as_exit() -> Iterator[None]:
    """Let a polite end unwind the program: uvicorn raises the signal again once it has stopped, which else ends all."""
    before = {name: signal.signal(name, _exit) for name in ENDING}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


def _exit(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)


@contextmanager
def others(server: uvicorn.Server, sockets: Sequence[socket.socket]) -> Iterator[list[ForkProcess]]:
    """Run a server on each socket beside this one; when one of them ends by itself, all stop.

    They are forks of this process, so they are ready as soon as it is. Nothing that a fork must not share is open yet.
    """
    import_module(APPLICATION)
    import_module(settings.ROOT_URLCONF)
    connections.close_all()
    processes = [FORK.Process(target=_serve_beside, args=(mine,), daemon=True) for mine in sockets]
    for process in processes:
        process.start()
    for given in sockets:
        given.close()
    watches = [_stop_after(process.join, server) for process in processes]
    try:
        yield processes
    finally:
        for process in processes:
            process.terminate()
        for process, watch in zip(processes, watches, strict=True):
            watch.join(WORKER_STOP_SECONDS)
            process.kill()


def _serve_beside(listening: socket.socket) -> None:
    """Serve in a fork until a signal, or until the process that was forked is gone."""
    server, parent = new_server(), multiprocessing.parent_process()
    assert parent is not None
    _stop_after(parent.join, server)
    server.run(sockets=[listening])


def _stop_after(wait: Callable[[], object], server: uvicorn.Server) -> threading.Thread:
    """Let a server stop once `wait` returns."""

    def watch() -> None:
        wait()
        server.should_exit = True

    thread = threading.Thread(target=watch, name="watch", daemon=True)
    thread.start()
    return thread


@contextmanager
def worker(server: uvicorn.Server) -> Iterator[subprocess.Popen[bytes]]:
    """Run the background worker in a session of its own; when it ends by itself, the server stops."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "qcluster"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    _stop_after(process.wait, server)
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask the worker to finish; after a while end its whole session. What it had claimed falls due again."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(WORKER_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
