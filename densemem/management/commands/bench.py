"""`manage.py bench`: how much the memory holds, measured beside a calibration of the machine."""

import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from rich import box
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from densemem.bench import backlog, intake, placement, revision, trace
from densemem.bench.calibration import Calibration, calibrate, server_settings
from densemem.bench.figures import Figure, Yardstick, verdicts
from densemem.bench.load import Load, Step, full
from densemem.bench.processes import ProcessFailed
from densemem.db.cluster import DURABLE
from densemem.evals.scratch import scratch_memory

Run = Callable[[Load, Calibration, Step], list[Figure]]
RUNS: Final[dict[str, Run]] = {
    "intake": intake.run,
    "placement": placement.run,
    "revision": revision.run,
    "trace": trace.run,
    "backlog": backlog.run,
}
LEFT_OUT: Final = "query embedding: left out of the calibration, since there is none yet"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One benchmark: how the server was set, what the machine could do just before, and the figures."""

    what: str
    server: dict[str, str]
    yardsticks: tuple[Yardstick, ...]
    figures: tuple[Figure, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the public form."""
        return {**asdict(self), "figures": [f.as_dict() for f in self.figures]}


class Command(BaseCommand):
    help = (
        "Measure how much the memory holds. intake: remember over HTTP; placement: workers that drain a queue with a "
        "model that answers by itself; revision: a source that much rests on moves on; trace: a record with 1,000 "
        "supports; backlog: claims from a long queue. Each runs on a durable database server of its own, which is "
        "removed at the end, beside a calibration of the machine. A report stays in reports/."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what to measure, how much of it, and the form of the answer."""
        parser.add_argument("what", nargs="?", default="all", choices=[*RUNS, "all"], help="default: all")
        parser.add_argument("--full", action="store_true", help="the load that the bars are stated for: many minutes")
        parser.add_argument("--seconds", type=float, help="intake: send for so long")
        parser.add_argument("--requests", type=int, help="intake: send at most so many")
        parser.add_argument("--items", type=int, help="placement: queue so many items")
        parser.add_argument("--jobs", type=int, help="backlog: let so many wait")
        parser.add_argument("--seed", type=int, default=1, help="decides the invented notes (default: 1)")
        parser.add_argument("--reports", type=Path, help="folder for the report (default: reports/)")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")
        parser.add_argument("--strict", action="store_true", help="exit with 1 when a bar is not held")

    def handle(self, *args: Any, what: str, **options: Any) -> None:
        """Measure, print, and keep the report."""
        load = load_of(options)
        console = Console(file=self.stdout, soft_wrap=True, quiet=options["json"])  # type: ignore[arg-type]
        outcomes = []
        for name in RUNS if what == "all" else [what]:
            outcomes.append(measured(name, load))
            show(outcomes[-1], console)
        report = report_of(outcomes, load)
        kept = keep(report, what, options["reports"] or Path(settings.BASE_DIR) / "reports")
        if options["json"]:
            self.stdout.write(json.dumps(report, indent=1))
        console.print(f"seed {load.seed}; report: {kept}")
        if options["strict"] and not report["passed"]:
            sys.exit(1)


def load_of(options: dict[str, Any]) -> Load:
    """Return the load that the options ask for.

    :raises CommandError: a size that measures nothing
    """
    given = {name: options[name] for name in ("seconds", "requests", "items", "jobs") if options[name] is not None}
    for name, size in given.items():
        if size < LEAST[name]:
            raise CommandError(f"--{name} must be at least {LEAST[name]}.")
    return replace(full(options["seed"]) if options["full"] else Load(seed=options["seed"]), **given)


LEAST: Final = {"seconds": 1, "requests": 10, "items": 12, "jobs": 200}


def measured(what: str, load: Load) -> Outcome:
    """Run one benchmark on a database of its own.

    :raises CommandError: a process of it ended by itself
    """
    with memory(), progress(what) as step:
        step("Calibrate", 0)
        calibration = calibrate(seconds=load.calibration_seconds)
        try:
            figures = RUNS[what](load, calibration, step)
        except ProcessFailed as failed:
            raise CommandError(str(failed)) from failed
        return Outcome(what, server_settings(), calibration.yardsticks(), tuple(figures))


@contextmanager
def memory() -> Iterator[None]:
    """Make an empty memory that is as durable as a real one."""
    with scratch_memory(conf=DURABLE):
        yield


@contextmanager
def progress(what: str) -> Iterator[Step]:
    """Show how far a benchmark is, where somebody looks on."""
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal, transient=True) as bars:
        bar = bars.add_task(what, total=1)
        yield lambda text, part: bars.update(bar, description=f"{what}: {text}", completed=min(part, 1))


def report_of(outcomes: Sequence[Outcome], load: Load) -> dict[str, Any]:
    """Return the whole report."""
    figures = [figure for outcome in outcomes for figure in outcome.figures]
    return {
        "seed": load.seed,
        "made_at": timezone.now().isoformat(timespec="seconds"),
        "machine": {
            "processors": os.cpu_count(),
            "python": platform.python_version(),
            "system": platform.platform(),
            "load_average": os.getloadavg(),
        },
        "load": asdict(load),
        "left_out": LEFT_OUT,
        "runs": [outcome.as_dict() for outcome in outcomes],
        "verdicts": verdicts(figures),
        "passed": all(figure.passed is not False for figure in figures),
    }


def keep(report: dict[str, Any], what: str, folder: Path) -> Path:
    """Write the report to the folder, making it if need be, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"bench-{what}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return path


def show(outcome: Outcome, console: Console) -> None:
    """Print the calibration, the figures beside it, and one line for each bar."""
    console.print(f"\n[bold]{outcome.what}[/]  {', '.join(f'{k} {v}' for k, v in outcome.server.items())}")
    console.print(LEFT_OUT)
    calibration = Table("calibration", "measured", box=box.SIMPLE)
    for yardstick in outcome.yardsticks:
        calibration.add_row(yardstick.name, f"{yardstick.value:.1f}{yardstick.unit}")
    figures = Table("bar", "figure", "measured", "ratio", "beside", "wanted", "", box=box.SIMPLE)
    for f in outcome.figures:
        held = {True: "[green]held[/]", False: "[red]missed[/]", None: ""}[f.passed]
        ratio = "" if f.ratio is None else f"{f.ratio:.3f}"
        figures.add_row(
            f.bar, f.name, f"{f.value:.4g}{f.unit}", ratio, f.beside.name if f.beside else "", f.wanted, held
        )
    console.print(calibration, figures)
    for line in verdicts(outcome.figures):
        console.print(line, highlight=False)
