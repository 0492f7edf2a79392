"""`manage.py redactions check`: prove that nothing is left of what was redacted."""

import json
import sys
from typing import IO, Any, cast
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.progress import Progress

from densemem.audit.leftovers import Found, look, tables
from evidence.redactions import Traces, traces_of


class Command(BaseCommand):
    help = "Look through every text and JSON column for words of redacted texts. Exits with 1 when any are left."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what to do, which redaction, and the form of the answer."""
        parser.add_argument("action", choices=["check"])
        parser.add_argument("redaction", nargs="?", help="id of one redaction; all without it")
        parser.add_argument("--json", action="store_true", help="print JSON instead of lines")

    def handle(self, *args: Any, redaction: str | None, json: bool, **options: Any) -> None:
        """Look through the tables and name each row in which words are left."""
        found = _look(_asked(redaction))
        self.stdout.write(_as_json(found)) if json else _print(found, cast(IO[str], self.stdout))
        if found.count:
            sys.exit(1)


def _asked(redaction: str | None) -> list[Traces]:
    """Return what to look for.

    :raises CommandError: there is no such redaction
    """
    try:
        number = UUID(redaction) if redaction else None
    except ValueError:
        raise CommandError(f"{redaction!r} is no id. The receipt of a redaction names it.") from None
    asked = traces_of(redaction_id=number)
    if number and not asked:
        raise CommandError(f"There is no redaction {number}.")
    return asked


def _look(asked: list[Traces]) -> Found:
    """Look through the tables, with a bar where somebody looks on."""
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        bar = progress.add_task("Looking", total=len(tables()))
        return look(asked, step=lambda table, _: progress.update(bar, advance=1, description=table))


def _as_json(found: Found) -> str:
    return json.dumps(found.as_dict())


def _print(found: Found, stream: IO[str]) -> None:
    console = Console(file=stream, soft_wrap=True)
    for left in found.leftovers:
        console.print(f"{left.table}.{left.column}: row {left.row} (redaction {left.redaction})", markup=False)
    console.print(f"{found.redactions} redactions, {found.rows} rows looked at, words left in {found.count}")
