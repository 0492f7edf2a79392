"""History that the database itself protects: rows are added, never changed or removed.

The stock triggers of pgtrigger step aside inside `pgtrigger.ignore`; a ledger's do not, for anybody.
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final

import pgtrigger
from django.db import models
from django.db.models.functions import Now
from pgtrigger import compiler

from densemem.core.words import REDACTED
from densemem.db.fields import SEQUENCE, SequenceField
from densemem.db.read import fetch

REDACTING: Final = "densemem.redacting"  # on while the one function works that takes words out of history


class UnconditionalSql(compiler.UpsertTriggerSql):
    """The SQL of a trigger that asks nobody whether it may step aside. Migrations name this class and its template."""

    def get_template(self) -> str:
        return """
            CREATE OR REPLACE FUNCTION {pgid}()
            RETURNS TRIGGER AS $$
                {declare}
                BEGIN
                    {func}
                END;
            $$ LANGUAGE plpgsql;

            DROP TRIGGER IF EXISTS {pgid} ON {table};
            CREATE {constraint} TRIGGER {pgid}
                {when} {operation} ON {table}
                {timing}
                {referencing}
                FOR EACH {level} {condition}
                EXECUTE PROCEDURE {execute};

            COMMENT ON TRIGGER {pgid} ON {table} IS '{hash}';
        """


class Refuse(pgtrigger.Trigger):
    """Refuse an operation on a table, whoever asks and however."""

    when = pgtrigger.Before
    func = (
        "RAISE EXCEPTION 'history is append-only: % on % is refused', TG_OP, TG_TABLE_NAME "
        "USING ERRCODE = 'restrict_violation';"
    )

    def compile(self, model: Any) -> compiler.Trigger:
        compiled = super().compile(model)
        sql = UnconditionalSql(**compiled.sql.kwargs)
        return compiler.Trigger(name=compiled.name, sql=sql)


def append_only() -> list[pgtrigger.Trigger]:
    """Return the two triggers that make a table a ledger."""
    return [
        Refuse(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete),
        Refuse(name="no_truncate", operation=pgtrigger.Truncate, level=pgtrigger.Statement),
    ]


def redactable(**tombstones: str) -> list[pgtrigger.Trigger]:
    """Return the triggers of a ledger that holds words of evidence: a redaction may put tombstones in their place.

    :param tombstones: by column, what stands in it then, in SQL; everything else of the row stays as it was
    """
    func = f"{unless_redacted(tombstones)} {Refuse.func}"
    return [
        Refuse(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete, func=func),
        Refuse(name="no_truncate", operation=pgtrigger.Truncate, level=pgtrigger.Statement),
    ]


def words_gone(column: str) -> str:
    """Return, in SQL, what stands in a column of words then; they may stay beside others that go."""
    return f"CASE WHEN OLD.{column} IN ('', NEW.{column}) THEN OLD.{column} ELSE '{REDACTED}' END"


def unless_redacted(tombstones: Mapping[str, str]) -> str:
    """Return the statement of a trigger that lets a redaction pass, and nobody else."""
    passes = " AND ".join(_passes(tombstones))
    return (
        f"IF TG_OP = 'UPDATE' AND current_setting('{REDACTING}', true) = 'on' THEN "
        f"IF {passes} THEN RETURN NEW; END IF; END IF;"
    )


def _passes(tombstones: Mapping[str, str]) -> Iterator[str]:
    columns = ", ".join(f"'{column}'" for column in tombstones)
    yield f"to_jsonb(NEW) - ARRAY[{columns}] = to_jsonb(OLD) - ARRAY[{columns}]"
    for column, tombstone in tombstones.items():
        yield f"NEW.{column} IS NOT DISTINCT FROM ({tombstone})"


class Ledger(models.Model):
    """A table of things that happened.

    `seq` comes from one sequence for all ledgers: "latest" is the highest number, never the clock. Among the rows that
    one commit writes into several tables it tells no order.
    `recorded_at` is passed in by the operation that writes; children write `class Meta(Ledger.Meta)`.
    """

    ledger: ClassVar[bool] = True

    seq = SequenceField()
    recorded_at = models.DateTimeField(db_default=Now())

    class Meta:
        abstract = True
        triggers: ClassVar[list[pgtrigger.Trigger]] = append_only()


def newest_sequence() -> int:
    """Return the newest number that a ledger row has got so far: rows that come from now on have greater ones."""
    ((number,),) = fetch(f"SELECT last_value FROM {SEQUENCE}")  # noqa: S608 - our own word
    return int(number)
