"""`manage.py serve`: the web, REST and MCP doors in one server."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, NoReturn

import uvicorn
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

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
        parser.add_argument("--with-worker", action="store_true", help="also run the background worker, until the end")
        parser.add_argument("--json", action="store_true", help="print the addresses as one line of JSON")

    def handle(self, *args: Any, host: str, port: int, with_worker: bool, **options: Any) -> None:
        """Listen until a signal; leave no worker behind."""
        listening = listen(host, port)
        self._print(addresses(host, listening.getsockname()[1]), as_json=options["json"])
        run(listening, with_worker=with_worker)

    def _print(self, found: dict[str, str], *, as_json: bool) -> None:
        text = json.dumps(found) if as_json else "\n".join(f"{name:6} {url}" for name, url in found.items())
        self.stdout.write(text)
        self.stdout.flush()


def run(listening: socket.socket, *, with_worker: bool) -> None:
    """Serve on a listening socket until a signal; what arrives before the server is up waits in the socket.

    :raises CommandError: the worker ended by itself
    """
    config = uvicorn.Config("densemem.asgi:application", lifespan="on", log_level="warning", access_log=False)
    server = uvicorn.Server(config)
    with listening, terminated_as_exit():
        if not with_worker:
            server.run(sockets=[listening])
            return
        with worker(server) as process:
            server.run(sockets=[listening])
            ended = process.poll()
    if ended is not None:
        raise CommandError(f"The background worker ended by itself with status {ended}, so serving stopped.")


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    :raises CommandError: the address cannot be used
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise CommandError(f"Cannot listen on {host}, port {port}: {error}. Choose another with --port.") from error


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
def worker(server: uvicorn.Server) -> Iterator[subprocess.Popen[bytes]]:
    """Run the background worker in a session of its own; when it ends by itself, the server stops."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "qcluster"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)

    def watch() -> None:
        process.wait()
        server.should_exit = True

    threading.Thread(target=watch, name="watch-worker", daemon=True).start()
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
