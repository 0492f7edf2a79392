"""Which processes work on a data folder.

They are known by their command lines, which everybody may read: root without the right to trace others (the usual
root of a container) may not see their working folders. The postmaster names the folder, its children the cluster.
"""

import os
import time
from pathlib import Path
from typing import Final

from densemem.db.place import SOCKET_NAME, ClusterFailed, Place

PROC: Final = Path("/proc")
LOOK_SECONDS: Final = 0.05


class StillInUse(ClusterFailed):
    """Processes of an earlier server still work on the data folder."""


def postmaster(place: Place) -> int | None:
    """Return the pid of the living postmaster of this place, or None when there is none or it may not be known."""
    pid = _written_pid(place.data)
    if pid is None or not PROC.exists():
        return pid if pid is not None and _takes_signals(pid) else None
    return pid if works_on(pid, place) else None


def workers_of(place: Place) -> list[int]:
    """Return the pids of all living processes of this place's server; none are seen without /proc."""
    if not PROC.exists():
        return []
    pids = (int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit())
    return sorted(pid for pid in pids if works_on(pid, place))


def works_on(pid: int, place: Place) -> bool:
    """Test if the process lives (a zombie does not) and is the postmaster of this place or one of its children."""
    try:
        words = (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
        return _is_ours(words, place) and _state(pid) != "Z"
    except OSError:
        return False


def clear_remains(place: Place, *, seconds: float) -> None:
    """
    Wait until nobody works on the data, then remove the lock files of a postmaster that is gone.

    PostgreSQL removes such files itself, but not while its pid is an unreaped zombie or that of a later process.
    Without /proc nothing is removed.

    :raises StillInUse: somebody still works on it after `seconds`
    """
    deadline = time.monotonic() + seconds
    while workers := workers_of(place):
        if time.monotonic() > deadline:
            raise StillInUse(f"Processes {workers} of an earlier server still work on {place.data}.")
        time.sleep(LOOK_SECONDS)
    if PROC.exists():
        (place.data / "postmaster.pid").unlink(missing_ok=True)
        (place.sockets / f"{SOCKET_NAME}.lock").unlink(missing_ok=True)


def _is_ours(words: list[bytes], place: Place) -> bool:
    is_child = words[0].startswith(f"postgres: {place.name}: ".encode())
    return is_child or (words[0].endswith(b"/postgres") and os.fsencode(place.data) in words)


def _written_pid(data: Path) -> int | None:
    try:
        first = (data / "postmaster.pid").read_text().partition("\n")[0]
    except OSError:
        return None
    return int(first) if first.isdigit() else None


def _state(pid: int) -> str:
    # The name before it stands in brackets and may hold blanks and brackets itself.
    return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0]


def _takes_signals(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
