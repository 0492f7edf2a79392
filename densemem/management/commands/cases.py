"""`manage.py cases`: cases from bug reports, run against the product."""

import json
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.progress import track
from rich.table import Table

from densemem.cases.doors import Doors, serving
from densemem.cases.files import Case, CasesUnreadable, fixtures_beside, read_cases, read_fixtures
from densemem.cases.run import Result, Status, run_all
from densemem.cases.scratch import scratch_memories

COLOURS: Final = {Status.PASSED: "green", Status.FAILED: "red", Status.WAITING: "yellow"}


class Command(BaseCommand):
    help = (
        "Run cases from bug reports: each in an empty memory of its own, through REST and MCP, with a scripted model. "
        "A case waits when the product lacks an operation that it needs. Cases that need a language model run with the "
        "offline reviewer and are held to: nothing wrong becomes active. Ends with status 1 when a case failed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="one JSON object a line: id, input, expected, scripted")
        parser.add_argument("--fixtures", type=Path, help="teams, entities and predicates (fixtures.json beside FILE)")
        parser.add_argument("--only", nargs="+", default=[], metavar="ID", help="run only these")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            cases = read_cases(options["file"])
            fixtures = read_fixtures(options["fixtures"] or fixtures_beside(options["file"]))
        except CasesUnreadable as fault:
            raise CommandError(str(fault)) from None
        wanted = chosen(cases, options["only"])
        logging.getLogger("django.request").setLevel(logging.ERROR)  # most cases send what must be refused
        console = Console(stderr=True)
        with scratch_memories() as emptied, serving() as base, closing(Doors(base)) as doors:
            running: Iterable[Result] = run_all(wanted, fixtures, doors=doors, emptied=emptied, others=cases)
            shown = console.is_terminal and not options["json"]
            results = list(track(running, "Cases", total=len(wanted), console=console, disable=not shown))
        if options["json"]:
            self.stdout.write(json.dumps(report(results), ensure_ascii=False, indent=1))
        else:
            show(results)
        if any(result.status is Status.FAILED for result in results):
            raise SystemExit(1)


def chosen(cases: Sequence[Case], only: Sequence[str]) -> list[Case]:
    """Return the cases of these ids, or all.

    :raises CommandError: an id is not in the file
    """
    unknown = sorted(set(only) - {case.id for case in cases})
    if unknown:
        raise CommandError(f"There is no case {', '.join(unknown)} in the file.")
    return [case for case in cases if not only or case.id in only]


def report(results: Sequence[Result]) -> Mapping[str, Any]:
    """Return the counts and every case."""
    return {
        "counts": {status.value: count for status, count in counted(results).items()},
        "offline": "Cases with offline: true had the offline reviewer for a model: nothing wrong became active.",
        "seconds": round(sum(result.seconds for result in results), 2),
        "cases": [{**asdict(result), "seconds": round(result.seconds, 3)} for result in results],
    }


def counted(results: Sequence[Result]) -> Mapping[Status, int]:
    """Return how many cases ended in each way."""
    found = Counter(result.status for result in results)
    return {status: found[status] for status in Status}


def show(results: Sequence[Result]) -> None:
    """Print a table for people, and one line at the end."""
    console = Console()
    table = Table("case", "status", "seconds", "why")
    for result in results:
        colour = COLOURS[result.status]
        table.add_row(result.id, f"[{colour}]{result.status}[/{colour}]", f"{result.seconds:.1f}", reason(result))
    console.print(table)
    console.print(", ".join(f"{count} {status}" for status, count in counted(results).items()))


def reason(result: Result) -> str:
    """Return why a case is as it is, in one text."""
    said = [f"needs {', '.join(result.missing)}"] if result.missing else []
    said += ["offline reviewer"] if result.offline else []
    return "\n".join([*result.why, "; ".join(said)]).strip().replace("[", r"\[")
