"""Serving the sample on this machine: the web process and the worker, started and ended together."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Final

from django.conf import settings

HOST: Final = "127.0.0.1"
START_SECONDS: Final = 120
STOP_SECONDS: Final = 15
LOOK_SECONDS: Final = 0.25
ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # Ctrl-C, a polite kill, a closed terminal

Child = subprocess.Popen[bytes]


class ServeFailed(Exception):
    """The port is in use, or a process of the sample ended by itself."""


class _Stopped(Exception):
    """Somebody asked us to end."""


def check_port(port: int) -> None:
    """Make sure that the port is free.

    :raises ServeFailed: it is not
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as fault:
            raise ServeFailed(f"Port {port} cannot be used: {fault.strerror}. Choose another with --port.") from None


def serve(*, port: int, ready: Callable[[], None]) -> None:
    """
    Run the web process and the worker until Ctrl-C, SIGTERM or SIGHUP, then end both.

    :param ready: called once, when the port answers
    :raises ServeFailed: one of them ended by itself, or the port never answered
    """
    with _stopping_by_signal(), _children(_commands(port)) as children:
        _until_open(port, children)
        ready()
        while True:
            _check(children)
            time.sleep(LOOK_SECONDS)


def _commands(port: int) -> list[list[str]]:
    manage = str(settings.BASE_DIR / "manage.py")
    web = [sys.executable, "-m", "uvicorn", "densemem.asgi:application", "--host", HOST, "--port", str(port)]
    return [[*web, "--log-level", "warning"], [sys.executable, manage, "qcluster"]]


@contextmanager
def _stopping_by_signal() -> Iterator[None]:
    """Leave the block quietly when a signal asks for it; a second one while we end changes nothing."""

    def stop(number: int, frame: FrameType | None) -> None:
        for name in before:
            signal.signal(name, signal.SIG_IGN)
        raise _Stopped

    before = {name: signal.getsignal(name) for name in ENDING}
    for name in before:
        signal.signal(name, stop)
    try:
        yield
    except _Stopped:
        pass
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)


@contextmanager
def _children(commands: Sequence[Sequence[str]]) -> Iterator[list[Child]]:
    """Start processes, each in a session of its own so that Ctrl-C reaches them through us alone; end them after."""
    children: list[Child] = []
    try:
        for command in commands:
            children.append(subprocess.Popen(command, cwd=settings.BASE_DIR, start_new_session=True))
        yield children
    finally:
        _end(children)


def _end(children: Sequence[Child]) -> None:
    """Ask each process to end; what is still there after a while is killed with all that it started."""
    for child in children:
        if child.poll() is None:
            child.terminate()
    until = time.monotonic() + STOP_SECONDS
    for child in children:
        try:
            child.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def _until_open(port: int, children: Sequence[Child]) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        _check(children)
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(LOOK_SECONDS)
    raise ServeFailed(f"The server did not answer on port {port} within {START_SECONDS} seconds.")


def _check(children: Sequence[Child]) -> None:
    for child in children:
        if child.poll() is not None:
            raise ServeFailed(f"A process of the sample ended by itself (status {child.returncode}): {child.args!r}")
