"""`manage.py audit`: prove that the current rows say what their ledgers say."""

import json
import sys
from typing import IO, Any, cast
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from densemem.audit import Report, audit
from densemem.audit.run import amount
from densemem.models import Team


class Command(BaseCommand):
    help = "Replay the ledgers and compare them with the current rows. Exits with 1 when anything differs."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the team, and the form of the answer."""
        parser.add_argument("--team", help="name or id of one team; all teams without it")
        parser.add_argument("--json", action="store_true", help="print JSON instead of a table")

    def handle(self, *args: Any, team: str | None, json: bool, **options: Any) -> None:
        """Run all checks and print what they found."""
        report = _run(_team_id(team) if team else None)
        if json:
            self.stdout.write(_as_json(report))
        else:
            _print(report, cast(IO[str], self.stdout))
        if report.differences:
            sys.exit(1)


def _as_json(report: Report) -> str:
    return json.dumps(report.as_dict())


def _team_id(word: str) -> UUID:
    """Find a team by its name or id.

    :raises CommandError: there is none
    """
    try:
        found = Team.objects.filter(pk=UUID(word)).first()
    except ValueError:
        found = Team.objects.filter(name=word).first()
    if found is None:
        raise CommandError(f"There is no team {word!r}.")
    return found.id


def _run(team_id: UUID | None) -> Report:
    """Run the audit, with a bar where somebody looks on."""
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as progress:
        bar = progress.add_task("Audit", total=amount(team_id=team_id))
        return audit(team_id=team_id, step=lambda name, rows: progress.update(bar, advance=rows, description=name))


def _print(report: Report, stream: IO[str]) -> None:
    """Print one line a check, then every difference that is listed."""
    console = Console(file=stream, soft_wrap=True)
    table = Table("check", "compared", "differences")
    for check in report.checks:
        table.add_row(check.name, str(check.compared), f"[red]{check.count}[/]" if check.count else "0")
    console.print(table)
    for check in report.checks:
        for difference in check.differences:
            console.print(f"{check.name}: {difference.row} {difference.detail}", markup=False)
    console.print(f"{report.differences} differences")
