"""Knowledge that only its owner changes, guarded by the database ("Profile Ownership And Team Visibility").

Each statement that writes into a guarded table is looked at when it has ended. Every row that it wrote must belong to
the profile that `densemem.db.writer` named for the transaction; nobody named means refused. Named parts of the server
may revoke and recount for any owner, where a table allows it.
"""

from collections.abc import Sequence
from typing import Any, Final

import pgtrigger
from pgtrigger import compiler

from densemem.db.ledger import UnconditionalSql
from densemem.db.writer import PROFILE, WRITER, Writer

BY_THE_SERVER: Final = ", ".join(f"'{w.value}'" for w in Writer)

ME: Final = f"nullif(current_setting('{PROFILE}', true), '')::uuid"
REFUSING: Final = """
    IF {unless_the_server} AND EXISTS (SELECT FROM written {joined} WHERE {another}) THEN
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


def owned(
    *owners: str, joined: str = "", updates: bool = False, by_the_server: bool = False
) -> list[pgtrigger.Trigger]:
    """Return the triggers that guard a table.

    :param owners: SQL for whose a row of `written` is; each must be the writer
    :param joined: SQL that joins what `owners` name
    :param updates: rows of the table change as well
    :param by_the_server: the named parts of the server add rows here, or change them where rows change
    """
    free = f"coalesce(current_setting('{WRITER}', true), '') NOT IN ({BY_THE_SERVER})"
    alone = _guarding("true", owners, joined)
    shared = _guarding(free, owners, joined) if by_the_server else alone
    if not updates:
        return [Guard(name="insert_by_owner", operation=pgtrigger.Insert, func=shared)]
    return [
        Guard(name="insert_by_owner", operation=pgtrigger.Insert, func=alone),
        Guard(name="update_by_owner", operation=pgtrigger.Update, func=shared),
    ]


def _guarding(unless_the_server: str, owners: Sequence[str], joined: str) -> str:
    another = " OR ".join(f"{owner} IS DISTINCT FROM {ME}" for owner in owners)
    return REFUSING.format(unless_the_server=unless_the_server, joined=joined, another=another)
