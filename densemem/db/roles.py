"""The three roles of the database and what the application's may do.

The bootstrap superuser belongs to the manager of the embedded server. The owner's role has the tables and runs
migrations. The application's role owns nothing: on a ledger it may only read and add ("Decisions", 27).
"""

from collections.abc import Iterable
from typing import Any, Final

import psycopg
from django.apps import AppConfig, apps
from django.conf import settings
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.signals import post_migrate
from psycopg import sql

EXTENSIONS: Final = ("vector", "pg_trgm", "unaccent", "btree_gist")
PLAIN_ROLE: Final = "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS"

VIEWS: Final = frozenset("vm")
TABLES: Final = frozenset("rp")
RELATIONS: Final = """
    SELECT c.relname, c.relkind::text FROM pg_class c
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
"""
# What runs with the rights of the owner: the application may call it, and nobody else.
FUNCTIONS: Final = """
    SELECT oid::regprocedure::text FROM pg_proc
    WHERE prosecdef AND pronamespace = current_schema()::regnamespace AND proowner = current_user::regrole
"""


def ensure(url: str, *, database: str, owner: tuple[str, str], application: tuple[str, str]) -> None:
    """
    Make the roles (name, password), the database and its extensions where they lack, as the superuser of `url`.

    `url` leads to the maintenance database `postgres` of the embedded server. Passwords are set anew each time.
    """
    with psycopg.connect(url, autocommit=True) as session:
        for name, password in (owner, application):
            _ensure_role(session, name, password)
        _ensure_database(session, database, owner[0], application[0])
    with psycopg.connect(url, dbname=database, autocommit=True) as session:
        for extension in EXTENSIONS:
            session.execute(sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(sql.Identifier(extension)))


def connect(config: AppConfig) -> None:
    """Have the application's rights renewed after each `migrate`; once, although every app is told of it."""
    post_migrate.connect(_grant_after_migrate, sender=config, dispatch_uid="densemem.db.roles")


def grant_application(connection: BaseDatabaseWrapper) -> None:
    """
    Give the application's role exactly its rights on everything in the schema; run as the owner.

    Without a separate application's role there is nothing to give; the system check warns of that.
    """
    role = settings.DATABASES["default"]["USER"]
    if role == connection.settings_dict["USER"]:
        return
    ledgers, editable = _tables_of_models()
    with connection.cursor() as cursor:
        cursor.execute(RELATIONS)
        for name, kind in cursor.fetchall():
            rights = rights_on(name, kind, ledgers=ledgers, editable=editable)
            cursor.execute(_grant(name, kind, rights, role))
        cursor.execute(FUNCTIONS)
        for (function,) in cursor.fetchall():
            execute = f"GRANT EXECUTE ON FUNCTION {function} TO "  # as the catalogue writes it
            cursor.execute(sql.SQL(execute) + sql.Identifier(role))


def rights_on(name: str, kind: str, *, ledgers: frozenset[str], editable: frozenset[str]) -> tuple[str, ...]:
    """Return the application's rights on a relation; `kind` is pg_class.relkind. A table of no model is only read."""
    if kind == "S":
        return ("USAGE", "SELECT")
    if kind in TABLES and name in ledgers:
        return ("SELECT", "INSERT")
    if kind in TABLES and name in editable:
        return ("SELECT", "INSERT", "UPDATE", "DELETE")
    return ("SELECT",)


def split_tables(models: Iterable[Any]) -> tuple[frozenset[str], frozenset[str]]:
    """Divide the tables of models into ledgers and editable ones; a table is a ledger if any of its models says so."""
    ledgers = frozenset(model._meta.db_table for model in models if getattr(model, "ledger", False))
    every = frozenset(model._meta.db_table for model in models)
    return ledgers, every - ledgers


def _tables_of_models() -> tuple[frozenset[str], frozenset[str]]:
    return split_tables(apps.get_models(include_auto_created=True))


def _grant_after_migrate(*, using: str, **_: Any) -> None:
    grant_application(connections[using])


def _grant(name: str, kind: str, rights: tuple[str, ...], role: str) -> sql.Composed:
    return sql.SQL("REVOKE ALL ON {kind} {name} FROM {role}; GRANT {rights} ON {kind} {name} TO {role}").format(
        kind=sql.SQL("SEQUENCE" if kind == "S" else "TABLE"),
        name=sql.Identifier(name),
        rights=sql.SQL(", ").join(map(sql.SQL, rights)),
        role=sql.Identifier(role),
    )


def _ensure_role(session: psycopg.Connection[Any], name: str, password: str) -> None:
    known = session.execute("SELECT FROM pg_roles WHERE rolname = %s", [name]).fetchone() is not None
    verb = sql.SQL("ALTER" if known else "CREATE")
    text = sql.SQL("{} ROLE {} {} PASSWORD {}")
    session.execute(text.format(verb, sql.Identifier(name), sql.SQL(PLAIN_ROLE), sql.Literal(password)))


def _ensure_database(session: psycopg.Connection[Any], database: str, owner: str, application: str) -> None:
    if session.execute("SELECT FROM pg_database WHERE datname = %s", [database]).fetchone() is None:
        made = sql.SQL("CREATE DATABASE {} OWNER {}")
        session.execute(made.format(sql.Identifier(database), sql.Identifier(owner)))
    session.execute(
        sql.SQL("REVOKE ALL ON DATABASE {0} FROM PUBLIC; GRANT CONNECT ON DATABASE {0} TO {1}").format(
            sql.Identifier(database), sql.Identifier(application)
        )
    )
