"""For whom a transaction writes: the database refuses knowledge of another owner (`densemem.db.guard`)."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Final
from uuid import UUID

from django.db import connection

PROFILE: Final = "densemem.profile"
WRITER: Final = "densemem.writer"
SET: Final = "SELECT set_config(%s, %s, true)"  # until the end of the transaction


class Writer(StrEnum):
    """The named parts of the server that change knowledge of any owner: each table says what each may do there."""

    SOURCE = "source_activation"
    HOLD = "evidence_hold"
    JOIN = "group_join"
    REINSTATE = "support_reinstatement"
    REDACTION = "redaction"


def write_as(profile_id: UUID) -> None:
    """Say, inside a transaction, which profile was authenticated: until its end its own knowledge alone may change."""
    _set(PROFILE, str(profile_id))


@contextmanager
def writing_for_all(writer: Writer) -> Iterator[None]:
    """Let a named part of the server recount knowledge of any owner; only inside a transaction."""
    _set(WRITER, writer.value)
    try:
        yield
    finally:
        if not connection.needs_rollback:
            _set(WRITER, "")


def _set(name: str, value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(SET, [name, value])
