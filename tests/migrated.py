"""A dump of the migrated database, kept between test runs: Django needs many seconds to apply all migrations.

It is used only while the files that make it are unchanged; `migrate` runs after it in any case.
"""

import hashlib
import importlib.metadata
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import django
from django.conf import settings

from densemem.db.programs import PACKAGE, packaged_programs

SOURCES: Final = ("*/migrations/*.py", "densemem/db/*.py", "relationships/*.json")


def load(url: str) -> bool:
    """Fill the empty database, as its superuser, if a fitting dump is kept; say whether it was."""
    if not _dump().exists():
        return False
    _run("pg_restore", "--exit-on-error", "--single-transaction", f"--dbname={url}", str(_dump()))
    return True


def keep(url: str) -> None:
    """Keep the migrated database for later runs in place of older ones."""
    folder = _dump().parent
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"draft.{os.getpid()}"
    _run("pg_dump", "--format=custom", "--compress=0", f"--file={draft}", url)
    for older in folder.glob("*.dump"):
        older.unlink()
    draft.rename(_dump())


def _dump() -> Path:
    return settings.BASE_DIR / ".pytest_cache" / "migrated" / f"{_fingerprint(settings.BASE_DIR)}.dump"


def _fingerprint(root: Path) -> str:
    digest = hashlib.sha256(f"{django.__version__} {importlib.metadata.version(PACKAGE)}".encode())
    for source in _sources(root):
        digest.update(str(source.relative_to(root)).encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:24]


def _sources(root: Path) -> Iterable[Path]:
    return sorted(path for pattern in SOURCES for path in root.glob(pattern))


def _run(program: str, *arguments: str) -> None:
    subprocess.run([packaged_programs() / program, *arguments], check=True, stdin=subprocess.DEVNULL)
