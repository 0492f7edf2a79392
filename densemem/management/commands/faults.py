"""`manage.py faults`: what the memory survives."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from secrets import randbelow
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from rich.console import Console

from densemem.evals.scratch import scratch_memory
from densemem.faults.catalogue import FAULTS
from densemem.faults.fault import Report
from densemem.faults.run import run

ALL = "all"
ROUNDS = 20


class Command(BaseCommand):
    help = (
        "Bring faults on, many times, and check after each that the laws of the memory hold. They are played in a "
        "database of their own, which is removed at the end. Exits with 1 when something did not hold, and says how "
        "to play that round again. "
    ) + " ".join(f"{fault.name}: {fault.title}." for fault in FAULTS.values())

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the faults, and how often and from which seed they are played."""
        parser.add_argument(
            "faults", nargs="*", metavar="FAULT", choices=[*FAULTS, ALL], default=ALL, help=", ".join([*FAULTS, ALL])
        )
        parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"of each fault (default: {ROUNDS})")
        parser.add_argument("--seed", type=int, help="what is left to chance follows from it (default: a new one)")
        parser.add_argument("--only", type=int, metavar="ROUND", help="play this round alone")
        parser.add_argument("--json", action="store_true", help="print one JSON document")
        parser.add_argument("--reports", type=Path, default=settings.BASE_DIR / "reports", help="folder of the reports")

    def handle(self, *args: Any, faults: list[str] | str, rounds: int, only: int | None, **options: Any) -> None:
        """Play, and print one line a fault."""
        seed = randbelow(2**31) if options["seed"] is None else options["seed"]
        names = list(FAULTS) if ALL in faults else list(dict.fromkeys(faults))
        numbers = [only] if only is not None else range(1, rounds + 1)
        reports = play(names, seed=seed, numbers=numbers)
        for report in reports:
            keep(report, options["reports"])
        if options["json"]:
            self.stdout.write(json.dumps([report.as_dict() for report in reports], indent=1))
        if not all(report.passed for report in reports):
            sys.exit(1)


def play(names: Iterable[str], *, seed: int, numbers: Iterable[int]) -> list[Report]:
    """Play the faults one after the other in a memory of their own, and tell how it goes."""
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    numbers = list(numbers)
    console.print(f"seed {seed}, {len(numbers)} rounds of each fault")
    reports = []
    with scratch_memory():
        for name in names:
            report = run(FAULTS[name], seed=seed, rounds=numbers, step=lambda r, n: tell_round(console, r, n))
            tell(console, report)
            reports.append(report)
    return reports


def tell_round(console: Console, report: Report, number: int) -> None:
    """Print how a round went."""
    failed = [f.detail for f in report.failures if f.round == number]
    console.print(f"  {report.fault.name} round {number}: {failed[0] if failed else 'held'}", markup=False)


def tell(console: Console, report: Report) -> None:
    """Print the one line of a fault, and how to play again what failed."""
    word = "[green]PASS[/]" if report.passed else "[red]FAIL[/]"
    figures = ", ".join(f"{name} {figure:g}" for name, figure in report.figures.items())
    console.print(
        f"{word} {report.fault.name} {report.fault.title}: {report.rounds} rounds, {len(report.failures)} failed, "
        f"seed {report.seed}, {report.seconds:.0f} s; {figures}"
    )
    for failure in report.failures:
        console.print(f"  again: {report.replay(failure)}", markup=False)


def keep(report: Report, folder: Path) -> None:
    """Write a report where the next run of the same fault overwrites it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"faults-{report.fault.name}.json").write_text(json.dumps(report.as_dict(), indent=1) + "\n")
