"""Where the embedded database lives and which system user runs it.

An ordinary user runs the server itself, below its own home folder. PostgreSQL refuses to run as root, so root
hands it to an existing unprivileged user. That user must be able to reach the folders; where it cannot, data
and programs go to SYSTEM_FOLDER. Permissions of folders that are not ours are never changed.
"""

import grp
import hashlib
import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SYSTEM_FOLDER: Final = Path("/var/lib/densemem")
UNPRIVILEGED_USERS: Final = ("postgres", "nobody")
SOCKET_NAME: Final = ".s.PGSQL.5432"
SOCKET_PATH_BYTES: Final = 100  # the kernel's limit is 108, on macOS 104


class ClusterFailed(RuntimeError):
    """The embedded database did not do what was asked; the text holds the reason."""


class PlaceRefused(ClusterFailed):
    """The embedded database cannot be kept here; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Runner:
    """The system user that runs the server."""

    uid: int
    gid: int
    groups: frozenset[int]


@dataclass(frozen=True, slots=True)
class Place:
    """Folders of one embedded database; `home` keeps its secrets and its lock."""

    home: Path
    data: Path
    sockets: Path
    runner: Runner

    @property
    def name(self) -> str:
        """Return PostgreSQL's cluster_name; it stands in the title of each server process."""
        return f"densemem-{_fingerprint(self.data)}"

    @property
    def switches_user(self) -> bool:
        """Test if the server must run as somebody other than the calling user."""
        return self.runner.uid != os.geteuid()

    @property
    def moved(self) -> bool:
        """Test if the data lies outside of home, because the server's user cannot reach home."""
        return self.data.parent != self.home


def place_of(home: Path) -> Place:
    """
    Return the folders for the database of this home; nothing is created.

    Data that exists decides; without any, the calling user does. So the answer is the same before and after
    the first start, and a process of another user finds the sockets of a server that root has started.

    :raises PlaceRefused: root has no unprivileged user to hand the server to
    """
    home = Path(os.path.normpath(home.absolute()))
    outside = SYSTEM_FOLDER / _fingerprint(home)
    for base in (home, outside):
        if (base / "pg").exists():
            return _place(home, base, _owner_of(base / "pg"))
    runner = _new_runner()
    base = home if can_enter(runner, home) else outside
    return _place(home, base, runner)


def make_folder(folder: Path, mode: int) -> None:
    """Make the folder and the parents that lack, all with this mode whatever the umask; what exists stays as it is."""
    for part in reversed((folder, *folder.parents)):
        if not part.exists():
            part.mkdir(exist_ok=True)
            part.chmod(mode)


def make_home(home: Path) -> None:
    """Make home. Root's must let the server's user pass through to its data; the secrets are closed one by one."""
    make_folder(home, 0o711 if os.geteuid() == 0 else 0o700)


def describe(runner: Runner) -> str:
    """Name the user, or give its number when the system has no name for it."""
    try:
        return pwd.getpwuid(runner.uid).pw_name
    except KeyError:
        return str(runner.uid)


def can_enter(runner: Runner, folder: Path) -> bool:
    """Test if the runner may pass through the folder and all its parents; what does not exist yet is no hindrance."""
    return all(allows(part.stat(), runner) for part in (folder, *folder.parents) if part.exists())


def allows(found: os.stat_result, runner: Runner) -> bool:
    """Test the execute bit (for a folder: passing through) for the class that the runner falls into."""
    if found.st_uid == runner.uid:
        return bool(found.st_mode & stat.S_IXUSR)
    if found.st_gid in runner.groups:
        return bool(found.st_mode & stat.S_IXGRP)
    return bool(found.st_mode & stat.S_IXOTH)


def _place(home: Path, base: Path, runner: Runner) -> Place:
    sockets = base / "run"
    if len(os.fsencode(sockets / SOCKET_NAME)) > SOCKET_PATH_BYTES:
        sockets = Path("/tmp") / f"densemem-{_fingerprint(home)}"
    return Place(home=home, data=base / "pg", sockets=sockets, runner=runner)


def _fingerprint(folder: Path) -> str:
    return hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]


def _owner_of(data: Path) -> Runner:
    found = data.stat()
    return Runner(uid=found.st_uid, gid=found.st_gid, groups=frozenset({found.st_gid}))


def _new_runner() -> Runner:
    if os.geteuid() != 0:
        return Runner(uid=os.geteuid(), gid=os.getegid(), groups=frozenset({os.getegid(), *os.getgroups()}))
    for name in UNPRIVILEGED_USERS:
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        groups = {user.pw_gid, *(group.gr_gid for group in grp.getgrall() if name in group.gr_mem)}
        return Runner(uid=user.pw_uid, gid=user.pw_gid, groups=frozenset(groups))
    wanted = " or ".join(UNPRIVILEGED_USERS)
    raise PlaceRefused(f"PostgreSQL does not run as root, and there is no user {wanted}; run as an ordinary user.")
