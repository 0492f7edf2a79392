"""Knowledge that only its owner changes, guarded by the database ("Profile Ownership And Team Visibility").

Each statement that writes into a guarded table is looked at when it has ended. Every row that it wrote must belong to
the profile that `densemem.db.writer` named for the transaction; nobody named means refused. A named part of the server
writes for any owner, and of each table only what the table allows that part: all others make nothing while it works.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pgtrigger
from pgtrigger import compiler

from densemem.db.ledger import UnconditionalSql
from densemem.db.writer import PROFILE, WRITER, Writer

Parts = Mapping[Writer, str]

ME: Final = f"nullif(current_setting('{PROFILE}', true), '')::uuid"
REFUSING: Final = """
    IF EXISTS (SELECT FROM written {joined} WHERE NOT coalesce({passes}, false)) THEN
        RAISE EXCEPTION 'a write of % into knowledge of another owner is refused', TG_TABLE_NAME
        USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NULL;
"""


class Guard(pgtrigger.Trigger):
    """Refuse rows of any owner but the one who writes."""

    when = pgtrigger.After
    level = pgtrigger.Statement
    referencing = pgtrigger.Referencing(new="written")

    def compile(self, model: Any) -> compiler.Trigger:
        compiled = super().compile(model)
        return compiler.Trigger(name=compiled.name, sql=UnconditionalSql(**compiled.sql.kwargs))


def owned(*owners: str, joined: str = "", by_the_server: Parts | None = None) -> list[pgtrigger.Trigger]:
    """Return the trigger that guards a table whose rows are only added.

    :param owners: SQL for whose a row of `written` is; each must be the writer
    :param joined: SQL that joins what `owners` name
    :param by_the_server: SQL for which rows a named part of the server may add, whoever owns them
    """
    return [Guard(name="insert_by_owner", operation=pgtrigger.Insert, func=_guarding(owners, joined, by_the_server))]


def owned_rows(owner: str, *, by_the_server: Parts) -> list[pgtrigger.Trigger]:
    """Return the triggers that guard a table whose rows change; the server makes none.

    :param by_the_server: SQL for which rows a named part of the server may change; `before` is the row as it was
    """
    joined = "JOIN before ON before.id = written.id"
    update = Guard(
        name="update_by_owner",
        operation=pgtrigger.Update,
        referencing=pgtrigger.Referencing(new="written", old="before"),
        func=_guarding([owner], joined, by_the_server),
    )
    return [*owned(owner), update]


def _guarding(owners: Sequence[str], joined: str, by_the_server: Parts | None) -> str:
    passes = " ".join(["CASE", *_cases(owners, by_the_server or {}), "ELSE false END"])
    return REFUSING.format(joined=joined, passes=passes)


def _cases(owners: Sequence[str], by_the_server: Parts) -> Iterator[str]:
    """Yield, by who writes, which rows pass."""
    writer = f"coalesce(current_setting('{WRITER}', true), '')"
    yield f"WHEN {writer} = '' THEN {' AND '.join(f'{owner} = {ME}' for owner in owners)}"
    for part, rows in by_the_server.items():
        yield f"WHEN {writer} = '{part.value}' THEN {rows}"
