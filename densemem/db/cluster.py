"""The embedded PostgreSQL server of one home: start, stop, status.

Only the programs of the package are used. The server listens on a Unix socket alone, asks for SCRAM passwords,
outlives the process that started it, and survives that its postmaster is killed.
"""

import fcntl
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psycopg

from densemem.db import processes, roles
from densemem.db.place import SOCKET_NAME, ClusterFailed, Place, PlaceRefused, describe, make_folder, make_home
from densemem.db.programs import reachable_programs
from densemem.db.server import APPLICATION, DATABASE, OWNER, kept_secret

BOOTSTRAP: Final = "densemem_bootstrap"
START_TRIES: Final = 5
START_SECONDS: Final = 60
STOP_SECONDS: Final = 60
LEAVE_SECONDS: Final = 30  # for children that a killed postmaster left behind
BACKOFF_SECONDS: Final = 0.3
CONF_NAME: Final = "densemem.conf"

DURABLE: Final[Mapping[str, str]] = {
    "shared_buffers": "128MB",
    "max_connections": "100",
    "max_wal_size": "1GB",
    "jit": "off",
    # Our passwords are 48 random bytes: stretching them would only slow down each connection.
    "scram_iterations": "1",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_messages": "warning",
}


class ProgramFailed(ClusterFailed):
    """One of PostgreSQL's programs failed; the text holds what it said."""


@dataclass(frozen=True, slots=True)
class Status:
    """What is known of the server without changing anything."""

    running: bool
    pid: int | None
    data: Path
    sockets: Path
    user: str
    note: str


@dataclass(frozen=True, slots=True)
class Cluster:
    """One embedded server; `conf` holds settings of PostgreSQL."""

    place: Place
    conf: Mapping[str, str] = field(default_factory=lambda: DURABLE)

    def start(self) -> Status:
        """
        Start the server if it does not run, making its data, roles, database and extensions where they lack.

        Safe to call from several processes at once.

        :raises ClusterFailed: PostgreSQL did not start
        :raises PlaceRefused: its folders cannot be used
        """
        self._check_user()
        with self._alone():
            for attempt in range(START_TRIES):
                try:
                    self._bring_up()
                    return self.status()
                except (ProgramFailed, psycopg.OperationalError) as fault:
                    reason = fault
                    time.sleep(BACKOFF_SECONDS * 2**attempt)
        raise ClusterFailed(f"PostgreSQL did not start: {reason}\nIts log ends:\n{_tail(self._log)}") from reason

    def stop(self, *, mode: str = "fast") -> Status:
        """
        Stop the server if it runs; `mode` is pg_ctl's (smart, fast, immediate).

        :raises ClusterFailed: it did not stop in time
        """
        self._check_user()
        with self._alone():
            if processes.postmaster(self.place) is not None:
                self._run("pg_ctl", "stop", "-D", self.place.data, "-m", mode, "-w", "-t", STOP_SECONDS)
        return self.status()

    def status(self) -> Status:
        """Look at the server; only its pid needs the right to read the data folder."""
        running = self.answers()
        pid = processes.postmaster(self.place) if running else None
        return Status(running, pid, self.place.data, self.place.sockets, describe(self.place.runner), self._note())

    def answers(self) -> bool:
        """Test if somebody listens on the socket."""
        with socket.socket(socket.AF_UNIX) as client:
            return client.connect_ex(os.fsencode(self.place.sockets / SOCKET_NAME)) == 0

    def bootstrap_url(self, database: str) -> str:
        """Return the superuser's address of a database; the manager alone uses it."""
        password = kept_secret(self.place.home, "bootstrap")
        return f"postgresql://{BOOTSTRAP}:{password}@/{database}?host={self.place.sockets}"

    @property
    def _log(self) -> Path:
        return self.place.data / "server.log"

    def _note(self) -> str:
        if not self.place.moved:
            return ""
        user = describe(self.place.runner)
        return f"{user}, who runs the server, cannot reach {self.place.home}; the data is in {self.place.data}."

    @contextmanager
    def _alone(self) -> Iterator[None]:
        make_home(self.place.home)
        with (self.place.home / "server.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _check_user(self) -> None:
        if self.place.switches_user and os.geteuid() != 0:
            raise PlaceRefused(f"{self.place.data} belongs to {describe(self.place.runner)}; do this as that user.")

    def _bring_up(self) -> None:
        """Try once. A postmaster that was just killed may still seem to answer, so the roles are asked for as well."""
        if not self.answers():
            self._prepare()
            processes.clear_remains(self.place, seconds=LEAVE_SECONDS)
            self._run("pg_ctl", "start", "-D", self.place.data, "-l", self._log, "-w", "-t", START_SECONDS)
        roles.ensure(
            self.bootstrap_url("postgres"),
            database=DATABASE,
            owner=(OWNER, kept_secret(self.place.home, "owner")),
            application=(APPLICATION, kept_secret(self.place.home, "app")),
        )

    def _prepare(self) -> None:
        """Make whatever lacks before the server can start."""
        self._own_folder(self.place.sockets, 0o755 if self.place.switches_user else 0o700)
        if not self.place.data.exists():
            self._initialise()
        self._write_conf()

    def _initialise(self) -> None:
        """Make the data in a draft folder; only a whole one gets the name."""
        draft = self.place.data.with_name("pg.draft")
        shutil.rmtree(draft, ignore_errors=True)
        self._own_folder(draft, 0o700)
        with self._password_file() as password:
            self._run(
                "initdb",
                f"--pgdata={draft}",
                f"--username={BOOTSTRAP}",
                f"--pwfile={password}",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
                "--locale=C",
                "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8",
                "--data-checksums",
            )
        with (draft / "postgresql.conf").open("a") as conf:
            conf.write(f"\ninclude '{CONF_NAME}'\n")
        draft.rename(self.place.data)

    @contextmanager
    def _password_file(self) -> Iterator[str]:
        with tempfile.NamedTemporaryFile("w", prefix="densemem-") as file:
            file.write(kept_secret(self.place.home, "bootstrap"))
            file.flush()
            if self.place.switches_user:
                os.chown(file.name, self.place.runner.uid, self.place.runner.gid)
            yield file.name

    def _write_conf(self) -> None:
        """Write our settings anew at each start, so that a change of the product reaches old data."""
        fixed = {"cluster_name": self.place.name, "listen_addresses": ""}
        ours = {**self.conf, **fixed, "unix_socket_directories": str(self.place.sockets)}
        lines = [f"{name} = '{value.replace(chr(39), chr(39) * 2)}'\n" for name, value in ours.items()]
        target = self.place.data / CONF_NAME
        draft = target.with_name(f"{CONF_NAME}.{secrets.token_hex(4)}")
        draft.write_text("".join(lines))
        if self.place.switches_user:
            os.chown(draft, self.place.runner.uid, self.place.runner.gid)
        draft.replace(target)

    def _own_folder(self, folder: Path, mode: int) -> None:
        """
        Make a folder that the server's user owns.

        :raises PlaceRefused: it exists and somebody else owns it, or it cannot be made
        """
        try:
            make_folder(folder.parent, 0o755)
            folder.mkdir(mode=mode)
        except FileExistsError:
            if folder.lstat().st_uid != self.place.runner.uid:
                raise PlaceRefused(f"{folder} belongs to another user than {describe(self.place.runner)}.") from None
            return
        except OSError as fault:
            raise PlaceRefused(f"The database needs the folder {folder}: {fault.strerror}.") from fault
        folder.chmod(mode)
        if self.place.switches_user:
            os.chown(folder, self.place.runner.uid, self.place.runner.gid)

    def _run(self, program: str, *arguments: object) -> None:
        done = subprocess.run(
            [str(reachable_programs(self.place.runner) / program), *map(str, arguments)],
            cwd="/",  # the caller's folder may be closed to the server's user
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            **self._identity(),
        )
        if done.returncode != 0:
            raise ProgramFailed(f"{program} failed:\n{done.stdout.strip()}")

    def _identity(self) -> dict[str, Any]:
        if not self.place.switches_user:
            return {}
        return {"user": self.place.runner.uid, "group": self.place.runner.gid, "extra_groups": []}


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-10:]) if log.exists() else "(no log)"
