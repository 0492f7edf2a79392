"""What the settings need to know of the database: secrets and connections. Nothing here starts a server."""

import fcntl
import os
import secrets
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from environ import Env

from densemem.db.place import Place, make_home, place_of

DATABASE: Final = "densemem"
OWNER: Final = "densemem_owner"
APPLICATION: Final = "densemem_app"
SECRET_BYTES: Final = 48
KEEP_SECONDS: Final = 60
PREPARED_AFTER: Final = 2


def kept_secret(home: Path, name: str) -> str:
    """
    Return the secret of this name that is kept in home; the first call makes it.

    Processes that call at the same time all get the same secret.

    :raises OSError: home cannot be written or read by this user
    """
    kept = home / f"{name}.secret"
    if not kept.exists():
        make_home(home)
        _keep_first(kept, secrets.token_urlsafe(SECRET_BYTES))
    return kept.read_text()


def databases(*, home: Path, url: str, owner_url: str) -> dict[str, dict[str, Any]]:
    """
    Return Django's DATABASES: `default` as the application's role, `owner` as the role that owns the tables.

    An empty url means the embedded server of this home, whether it runs or not.
    """
    if url:
        return {"default": _external(url), "owner": _external(owner_url or url)}
    place = place_of(home)
    return {
        "default": _embedded(place, APPLICATION, kept_secret(home, "app")),
        "owner": _embedded(place, OWNER, kept_secret(home, "owner")),
    }


def embedded_place(home: Path, database: dict[str, Any]) -> Place | None:
    """Return the place of the embedded server if this entry of DATABASES points to it, else None."""
    place = place_of(home)
    return place if database["HOST"] == str(place.sockets) else None


def url_of(database: dict[str, Any]) -> str:
    """Return the address that psql and other clients take for an entry of DATABASES; it holds the password."""
    host = database["HOST"] or database.get("OPTIONS", {}).get("host", "")
    login = f"{quote(database['USER'], safe='')}:{quote(database['PASSWORD'], safe='')}"
    if host.startswith("/"):
        return f"postgresql://{login}@/{database['NAME']}?host={quote(host)}"
    return f"postgresql://{login}@{host}:{database['PORT'] or 5432}/{database['NAME']}"


def _keep_first(kept: Path, secret: str) -> None:
    """Write the secret unless another process was faster; a reader never sees half of it."""
    with kept.with_name("secrets.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if kept.exists():
            return
        draft = kept.with_suffix(".draft")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secret)
        draft.rename(kept)


def _external(url: str) -> dict[str, Any]:
    return _connection(**Env.db_url_config(url))


def _embedded(place: Place, user: str, password: str) -> dict[str, Any]:
    # A stranger who answers on the socket folder must not be told the password in clear.
    options = {"require_auth": "scram-sha-256"}
    return _connection(
        ENGINE="django.db.backends.postgresql",
        NAME=DATABASE,
        USER=user,
        PASSWORD=password,
        HOST=str(place.sockets),
        PORT="",
        OPTIONS=options,
    )


def _connection(**parts: Any) -> dict[str, Any]:
    # The threads of the server live on, and so do their connections; one that may be broken is tried first.
    # The server plans a statement once for each connection, so values travel beside the statement.
    given = parts.pop("OPTIONS", {})
    after = given.get("prepare_threshold", PREPARED_AFTER)
    prepared = {"server_side_binding": True, "prepare_threshold": None if after == "none" else int(after)}
    options = {**given, **prepared}
    lasting = {"CONN_MAX_AGE": KEEP_SECONDS, "CONN_HEALTH_CHECKS": True, "ATOMIC_REQUESTS": False}
    return {**parts, **lasting, "OPTIONS": options}
