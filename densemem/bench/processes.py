"""The server and the workers under load: real processes, which end with the measurement."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from densemem.db.server import url_of
from densemem.management.commands.serve import end


class ProcessFailed(Exception):
    """A process of the benchmark ended without its answer; what it said stands above."""


@dataclass(frozen=True, slots=True)
class Crew:
    """Workers that are ready, and begin together."""

    processes: tuple[subprocess.Popen[bytes], ...]

    def go(self) -> None:
        """Let all begin."""
        for process in self.processes:
            assert process.stdin is not None
            process.stdin.write(b"go\n")
            process.stdin.flush()

    @property
    def busy(self) -> bool:
        """Whether one of them still works."""
        return any(process.poll() is None for process in self.processes)

    def answers(self) -> list[dict[str, Any]]:
        """Wait for what each has to say at its end.

        :raises ProcessFailed: one said nothing
        """
        return [json.loads(_line(process)) for process in self.processes]


@contextmanager
def serving() -> Iterator[str]:
    """Serve the doors on a free port of the loopback; give the address of the REST door."""
    with _started("manage.py", "serve", "--port", "0", "--json") as process:
        yield json.loads(_line(process))["REST"]


@contextmanager
def crew(count: int, *words: str, concurrency: int | None = None) -> Iterator[Crew]:
    """Start so many worker processes and wait until all are ready.

    :param words: what each does, as `densemem.bench.worker` takes it
    """
    more = {"DENSEMEM_CONCURRENCY": str(concurrency)} if concurrency else {}
    with ExitStack() as started:
        command = ("-m", "densemem.bench.worker", *words)
        processes = tuple(started.enter_context(_started(*command, more=more)) for _ in range(count))
        for process in processes:
            _line(process)
        yield Crew(processes)


@contextmanager
def _started(*words: str, more: dict[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=settings.BASE_DIR,
        env=environment() | (more or {}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        end(process)
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            stream.close()


def environment() -> dict[str, str]:
    """Return an environment in which a process sees the database and the secrets of this one."""
    ours = {
        "DATABASE_URL": url_of(settings.DATABASES["default"]),
        "DATABASE_OWNER_URL": url_of(settings.DATABASES["owner"]),
        "SECRET_KEY": settings.SECRET_KEY,
        "CONTENT_KEY": settings.CONTENT_KEY,
        "DENSEMEM_HOME": str(settings.DENSEMEM_HOME),
        "DENSEMEM_PROVIDER": "rules",
        "DJANGO_SETTINGS_MODULE": os.environ["DJANGO_SETTINGS_MODULE"],
    }
    # It makes numeric libraries take a slow way, for results that are the same everywhere.
    return {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"} | ours


def _line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise ProcessFailed(f"This process ended too early: {_command(process.args)}")
    return line


def _command(words: Any) -> str:
    return " ".join(words) if isinstance(words, Sequence) else str(words)
