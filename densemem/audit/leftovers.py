"""Looking for words of redacted texts in every column of every table that can hold words.

The words are gone, so the runs of words of each column are compared with the keyed digests that the redaction kept.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from psycopg import sql

from densemem.core import limits
from densemem.db.read import fetch
from evidence.operations import trace
from evidence.policy import runs_of, words_in
from evidence.redactions import Traces

COLUMNS: Final = """
    SELECT tables.table_name, array_agg(columns.column_name::text ORDER BY columns.ordinal_position),
      array_agg(udt_name = 'tsvector' ORDER BY columns.ordinal_position)
    FROM information_schema.tables AS tables
    JOIN information_schema.columns AS columns USING (table_schema, table_name)
    WHERE table_schema = current_schema() AND tables.table_type = 'BASE TABLE'
      AND (udt_name IN ('_text', '_varchar', 'tsvector')
           OR data_type IN ('text', 'character varying', 'character', 'json', 'jsonb'))
    GROUP BY tables.table_name ORDER BY tables.table_name"""
TEAM: Final = """
    SELECT EXISTS (SELECT FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = %(table)s AND column_name = 'team_id')"""
KEY: Final = """
    SELECT attribute.attname::text FROM pg_index AS keys
    JOIN pg_attribute AS attribute ON attribute.attrelid = keys.indrelid AND attribute.attnum = ANY(keys.indkey)
    WHERE keys.indrelid = %(table)s::regclass AND keys.indisprimary ORDER BY attribute.attnum LIMIT 1"""

# The terms of a search document in the order in which they stood.
IN_ORDER: Final = """(
    SELECT string_agg(term.lexeme, ' ' ORDER BY place)
    FROM unnest({column}) AS term, unnest(term.positions) AS place)"""

Step = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Leftover:
    """A row in which words of a redacted text stand; it is named, its words are not."""

    redaction: UUID
    table: str
    column: str
    row: str


@dataclass(frozen=True, slots=True)
class Found:
    """What was looked through, and what is left: all of it counted, the first `limits.AUDIT_DIFFERENCES` listed."""

    redactions: int
    rows: int
    count: int
    leftovers: tuple[Leftover, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the form for JSON."""
        listed = [{name: str(value) for name, value in asdict(left).items()} for left in self.leftovers]
        return {"redactions": self.redactions, "rows": self.rows, "count": self.count, "leftovers": listed}


def tables() -> list[tuple[str, dict[str, str]]]:
    """Return each table that can hold words, with those of its columns, each with the SQL of its words."""
    return [
        (table, {c: IN_ORDER if of_terms else "{column}::text" for c, of_terms in zip(columns, terms, strict=True)})
        for table, columns, terms in fetch(COLUMNS)
    ]


@transaction.atomic
def look(redactions: Sequence[Traces], *, step: Step = lambda table, rows: None) -> Found:
    """Look through every table for what is left of these redactions. It writes nothing.

    :param step: called when a table is done, with its name and rows
    """
    rows, count = 0, 0
    listed: list[Leftover] = []
    for table, columns in tables() if redactions else []:
        before = rows
        for key, team, texts in _rows(table, columns):
            rows += 1
            for left in _left(redactions, table, key, team, dict(zip(columns, texts, strict=True))):
                count += 1
                listed += [left] if len(listed) < limits.AUDIT_DIFFERENCES else []
        step(table, rows - before)
    return Found(len(redactions), rows, count, tuple(listed))


def _rows(table: str, columns: Mapping[str, str]) -> Iterator[tuple[str, str | None, Sequence[str | None]]]:
    """Yield (key, team, texts) of each row, without holding the table in memory."""
    ((has_team,),) = fetch(TEAM, table=table)
    key = next((name for (name,) in fetch(KEY, table=f'"{table}"')), next(iter(columns)))
    statement = sql.SQL("SELECT {key}::text, {team}, {texts} FROM {table}").format(
        key=sql.Identifier(key),
        team=sql.SQL("team_id::text" if has_team else "NULL"),
        texts=sql.SQL(", ").join(sql.SQL(words).format(column=sql.Identifier(c)) for c, words in columns.items()),
        table=sql.Identifier(table),
    )
    if has_team:  # rows of no team come from a migration
        statement += sql.SQL(" WHERE team_id IS NOT NULL")
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement)
        while found := cursor.fetchmany(limits.AUDIT_ROWS):
            for row, team, *texts in found:
                yield row, team, texts


def _left(
    redactions: Sequence[Traces], table: str, key: str, team: str | None, texts: dict[str, str | None]
) -> Iterator[Leftover]:
    for column, text in texts.items():
        if not text:
            continue
        asked = [r for r in redactions if team is None or str(r.team_id) == team]
        seen = _traces_in(text, {size for r in asked for size in r.sizes}) if asked else set()
        for redaction in asked:
            if not redaction.runs.isdisjoint(seen):
                yield Leftover(redaction.redaction_id, table, column, key)


def _traces_in(text: str, sizes: Collection[int]) -> set[str]:
    words = words_in(text)
    return {trace(run) for size in sizes for run in runs_of(words, size)}
