"""Django's system check of the database: what lacks, and the SQL that mends it.

It runs with `check --database default` and before each `migrate`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError
from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from densemem.db.roles import EXTENSIONS
from densemem.db.server import embedded_place
from densemem.providers.registry import concurrency, provider

SERVER_VERSION: Final = 16
VECTOR_VERSION: Final = (0, 8)
OURS: Final = ("default", "owner")

FACTS: Final = """
    SELECT current_setting('server_version_num')::int / 10000,
           (SELECT jsonb_object_agg(extname, extversion) FROM pg_extension),
           (SELECT rolsuper FROM pg_roles WHERE rolname = %(application)s),
           ARRAY(SELECT format('%%I.%%I', schemaname, tablename) FROM pg_tables
                 WHERE tableowner = %(application)s ORDER BY 1)
"""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a database says of itself; `superuser` is None when the application's role does not exist."""

    server_version: int
    extensions: dict[str, str]
    application: str
    owner: str
    superuser: bool | None
    owned_tables: Sequence[str]


def register() -> None:
    """Have Django run the check."""
    checks.register(check_database, checks.Tags.database)
    checks.register(check_provider)
    checks.register(check_concurrency)


def check_provider(**_: Any) -> list[checks.CheckMessage]:
    """Check that the settings name a provider that can be made."""
    try:
        provider()
    except ImproperlyConfigured as fault:
        return [checks.Error(str(fault), hint="Set DENSEMEM_PROVIDER and what it needs.", id="densemem.E008")]
    return []


def check_concurrency(**_: Any) -> list[checks.CheckMessage]:
    """Check that the settings say how many items a drain works on at once."""
    try:
        concurrency()
    except ImproperlyConfigured as fault:
        return [checks.Error(str(fault), hint="Leave it empty for a number that suits the model.", id="densemem.E009")]
    return []


def check_database(*, databases: Sequence[str] | None = None, **_: Any) -> list[checks.CheckMessage]:
    """Check the database by the first of our aliases that Django wants checked."""
    wanted = [alias for alias in OURS if alias in (databases or ())]
    if not wanted:
        return []
    try:
        return judge(read_facts(connections[wanted[0]]))
    except OperationalError as fault:
        return [unreachable(str(fault), embedded=_is_embedded())]


def require_answer(alias: str) -> None:
    """
    Ask for a connection before other checks do, which know no better than a traceback.

    :raises CommandError: the database does not answer; the text says what to do
    """
    try:
        connections[alias].ensure_connection()
    except OperationalError as fault:
        message = unreachable(str(fault), embedded=_is_embedded())
        raise CommandError(f"{message.msg}\n{message.hint}") from fault


def read_facts(connection: BaseDatabaseWrapper) -> Facts:
    """
    Ask the database.

    :raises OperationalError: it does not answer
    """
    roles = {alias: settings.DATABASES[alias]["USER"] for alias in OURS}
    with connection.cursor() as cursor:
        cursor.execute(FACTS, {"application": roles["default"]})
        version, extensions, superuser, owned = cursor.fetchone()
    return Facts(version, _read_json(extensions), roles["default"], roles["owner"], superuser, tuple(owned))


def judge(facts: Facts) -> list[checks.CheckMessage]:
    """Return everything that is wrong with a database, each with the SQL that mends it."""
    return [*_judge_version(facts), *_judge_extensions(facts), *_judge_role(facts)]


def unreachable(reason: str, *, embedded: bool) -> checks.CheckMessage:
    """Return the message for a database that does not answer."""
    mend = "python manage.py db start" if embedded else "Start the server, or correct DATABASE_URL."
    text = "The database is not running" if embedded else "The database cannot be reached"
    return checks.Error(f"{text}: {reason.strip()}", hint=mend, id="densemem.E001")


def _judge_version(facts: Facts) -> list[checks.CheckMessage]:
    if facts.server_version >= SERVER_VERSION:
        return []
    text = f"PostgreSQL {SERVER_VERSION} or later is needed; this server is {facts.server_version}."
    return [checks.Error(text, hint="Upgrade the server, or leave DATABASE_URL empty.", id="densemem.E002")]


def _judge_extensions(facts: Facts) -> list[checks.CheckMessage]:
    lacking = [
        checks.Error(
            f"The extension {name} is not installed in the database.",
            hint=f"As a superuser of the database: CREATE EXTENSION {name};",
            id="densemem.E003",
        )
        for name in EXTENSIONS
        if name not in facts.extensions
    ]
    return [*lacking, *_judge_vector(facts.extensions.get("vector"))]


def _judge_vector(version: str | None) -> list[checks.CheckMessage]:
    if version is None or parse_version(version) >= VECTOR_VERSION:
        return []
    text = f"The extension vector must be {'.'.join(map(str, VECTOR_VERSION))} or later; it is {version}."
    hint = "Install a later pgvector on the server, then as a superuser: ALTER EXTENSION vector UPDATE;"
    return [checks.Error(text, hint=hint, id="densemem.E004")]


def _judge_role(facts: Facts) -> list[checks.CheckMessage]:
    role = facts.application
    if facts.superuser is None:
        hint = f"As a superuser: CREATE ROLE {role} LOGIN PASSWORD '...';"
        return [checks.Error(f"The application's role {role} does not exist.", hint=hint, id="densemem.E005")]
    found: list[checks.CheckMessage] = []
    if facts.superuser:
        text = f"The application's role {role} is a superuser: no rule of the database binds it."
        found.append(checks.Error(text, hint=f"ALTER ROLE {role} NOSUPERUSER;", id="densemem.E006"))
    if role == facts.owner:
        text = f"The application connects as {role}, who owns the tables and could remove the protection of history."
        hint = "Make a second role, and give it by DATABASE_URL; keep this one in DATABASE_OWNER_URL."
        return [*found, checks.Warning(text, hint=hint, id="densemem.W001")]
    if facts.owned_tables:
        text = f"The application's role {role} owns {', '.join(facts.owned_tables)}."
        hint = " ".join(f"ALTER TABLE {table} OWNER TO {facts.owner};" for table in facts.owned_tables)
        found.append(checks.Error(text, hint=hint, id="densemem.E007"))
    return found


def parse_version(version: str) -> tuple[int, ...]:
    """Read "0.8.6" as (0, 8, 6); what is no number ends it."""
    parts = version.split(".")
    count = next((at for at, part in enumerate(parts) if not part.isdigit()), len(parts))
    return tuple(int(part) for part in parts[:count])


def _is_embedded() -> bool:
    return embedded_place(settings.DENSEMEM_HOME, settings.DATABASES["default"]) is not None


def _read_json(value: Any) -> dict[str, str]:
    return json.loads(value) if isinstance(value, str) else value
