"""`manage.py demo`: an invented team, from its papers to what is known of it."""

import json
import sys
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, ProgrammingError
from django.utils import timezone
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from densemem.audit import Report, audit
from densemem.core.faults import Refused
from densemem.demo.cast import Cast, Key, hand_over_key, make_cast
from densemem.demo.corpus import Corpus, Document, load_corpus
from densemem.demo.journey import send
from densemem.demo.summary import Known, Summary, Waiting, summarise
from densemem.management.commands.serve import listen, run

HOST = "127.0.0.1"
QUESTION = "What does Beacon use?"


class Command(BaseCommand):
    help = "Send the papers of an invented team through the whole path, show what is known of it, and serve it here."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take how far to go, and the form of the answer."""
        parser.add_argument("--once", action="store_true", help="end after the summary: serve nothing")
        parser.add_argument("--json", action="store_true", help="print one JSON summary instead of tables")
        parser.add_argument("--port", type=int, default=8000, help="port on this machine (default: 8000)")

    def handle(self, *args: Any, once: bool, port: int, **options: Any) -> None:
        """Fill the sample team and show it; without `once`, serve it until Ctrl-C."""
        corpus = load_corpus()
        # The port is taken first: nobody waits for a summary to learn that it cannot be served.
        listening = None if once else listen(HOST, port)
        cast_ = _make_cast(corpus)
        summary, report = self._fill(corpus, cast_)
        self._show(corpus, summary, report, as_json=options["json"])
        if summary.missing or report.differences:
            sys.exit(1)
        if listening is not None:
            self._say_where(hand_over_key(cast_), listening.getsockname()[1])
            run(listening, with_worker=True)

    def _fill(self, corpus: Corpus, cast_: Cast) -> tuple[Summary, Report]:
        fresh = _send(corpus, cast_)
        summary = summarise(team_id=cast_.team_id, documents=len(corpus.documents), fresh=fresh)
        return summary, audit(team_id=cast_.team_id)

    def _show(self, corpus: Corpus, summary: Summary, report: Report, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(summary.as_dict(report)))
            return
        console = self._console()
        console.print(f"\n[bold]{escape(corpus.team)}[/]  {escape(corpus.about)}\n")
        console.print(_known(summary.known))
        console.print(_waiting(summary.waiting))
        seen = ", ".join(name.replace("_", " ") for name, shown in summary.shows.items() if shown)
        console.print(f"The sample shows: {seen}.")
        console.print(f"Audit: {len(report.checks)} checks, {report.differences} differences.")
        if summary.missing:
            console.print(f"[red]The sample should also show: {', '.join(summary.missing)}.[/]")

    def _say_where(self, key: Key, port: int) -> None:
        console = self._console()
        table = Table.grid(padding=(0, 2))
        table.add_row("console", f"http://{HOST}:{port}/")
        table.add_row("login", key.login)
        table.add_row("password", key.password or "(as before: this login is used elsewhere too)")
        table.add_row("stop", "Ctrl-C")
        console.print(table)
        console.print("Ask it something:")
        console.print(_curl(key.token, port), markup=False, highlight=False)

    def _console(self) -> Console:
        return Console(file=cast(IO[str], self.stdout), soft_wrap=True)


def _make_cast(corpus: Corpus) -> Cast:
    """Make the sample's team; this is the first time that the database is needed.

    :raises CommandError: it is not there, or a name of the sample is in use
    """
    try:
        return make_cast(corpus)
    except (OperationalError, ProgrammingError) as fault:
        raise CommandError("The database is not ready. Run `make setup` first.") from fault
    except Refused as refused:
        raise CommandError(refused.detail) from refused


def _send(corpus: Corpus, cast_: Cast) -> int:
    """Send the corpus under a bar on the error stream; without a terminal each paper is one line.

    :raises CommandError: the database holds a sample with other papers
    """
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task("Remembering", total=len(corpus.documents))

        def step(document: Document) -> None:
            progress.update(bar, advance=1, description=escape(document.about))
            if not console.is_terminal:
                console.print(f"remember: {document.about}", markup=False, highlight=False)

        try:
            return send(corpus=corpus, principals=cast_.principals, now=timezone.now, step=step)
        except Refused as refused:
            raise CommandError(f"This database holds another version of the sample. {refused.detail}") from refused


def _known(rows: tuple[Known, ...]) -> Table:
    table = Table(
        "what is known", "says", "tier", "sources", "why", title=f"{len(rows)} active statements", box=box.SIMPLE_HEAD
    )
    for row in rows:
        ended = f" [dim](until {row.until})[/]" if row.until else ""
        tier = f"[green]{row.tier}[/]" if row.tier == "fact" else row.tier
        table.add_row(escape(row.sentence) + ended, row.author, tier, str(row.source_group_count), row.why)
    return table


def _waiting(rows: tuple[Waiting, ...]) -> Table:
    table = Table("what waits", "for", "why", title=f"{len(rows)} things are kept out of it", box=box.SIMPLE_HEAD)
    for row in rows:
        table.add_row(escape(row.question), row.owner, row.why)
    return table


def _curl(token: str, port: int) -> str:
    """Return a line for a shell that asks the sample a question."""
    return (
        f"curl -sG -H 'Authorization: Bearer {token}' "
        f"--data-urlencode 'query={QUESTION}' http://{HOST}:{port}/api/v1/recall"
    )
