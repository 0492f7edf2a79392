"""`manage.py eval`: how good the memory is, measured on labelled texts that are handed in."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.progress import track
from rich.table import Table

from densemem.evals import names as names_eval
from densemem.evals import scan as scan_eval
from densemem.evals import scan_speed
from densemem.evals.offline import note_names, passage_names
from densemem.evals.product import active_facts
from densemem.evals.scoring import ActiveFact, score_knowledgenet, score_notes
from densemem.evals.scratch import scratch_memory

SHOWN = 20


class Command(BaseCommand):
    help = (
        "Measure quality. extraction: KnowledgeNet passages; notes: labelled team notes; both go through the real path "
        "in a database of their own, which is removed at the end. scan: texts for the injection scan, in .json, .jsonl "
        "or .txt files; gives the shares of each set and label, whole and by halves, and times the scan. names: lists "
        "of names (FEBRL, nicknames, sample names of languages, characters that look alike); gives what is reused, "
        "what is only proposed and why, and what is wrong, by the rules and in a database of its own."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("what", choices=["extraction", "names", "notes", "scan"])
        parser.add_argument("files", nargs="+", type=Path)
        parser.add_argument("--limit", type=int, default=0, help="only the first N texts")
        parser.add_argument("--mentions", action="store_true", help="hand the labelled names over, as a client may")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: Any, **options: Any) -> None:
        for path in options["files"]:
            if not path.is_file():
                raise CommandError(f"There is no file {path}.")
        report = RUNS[options["what"]](options["files"], options["limit"], options["mentions"])
        if options["json"]:
            self.stdout.write(json.dumps(report, ensure_ascii=False, indent=1))
        else:
            SHOWS.get(options["what"], show)(report)


def run_extraction(files: Sequence[Path], limit: int, mentions: bool) -> dict[str, Any]:
    """Place passages and score what became active against the facts that the corpus labels."""
    rows = [row for path in files for row in read_lines(path)]
    passages = list(dict.fromkeys(row["passage"] for row in rows))[: limit or None]
    names = passage_names(rows)
    rows = [row for row in rows if row["passage"] in set(passages)]
    active = place({text: text for text in passages}, lambda text: names[text] if mentions else ())
    return {"passages": len(passages), "mentions_given": mentions, **score_knowledgenet(rows, active)}


def run_notes(files: Sequence[Path], limit: int, mentions: bool) -> dict[str, Any]:
    """Place each note in an empty memory and count what became active, right, wrong and forbidden."""
    notes = [note for path in files for note in read_lines(path)][: limit or None]
    by_id = {note["id"]: note for note in notes}
    active = place({note["id"]: note["text"] for note in notes}, lambda key: note_names(by_id[key]) if mentions else ())
    return {"notes": len(notes), "mentions_given": mentions, **score_notes(notes, active)}


def run_scan(files: Sequence[Path], limit: int, mentions: bool) -> dict[str, Any]:
    """Scan every text of the files, and time the scan on texts written to slow it down."""
    try:
        report = scan_eval.run(files, limit)
    except scan_eval.UnreadableFile as fault:
        raise CommandError(str(fault)) from None
    speed = scan_speed.measure()
    return {**report, "speed": speed, "passed": report["passed"] and all(bar["passed"] for bar in speed["bars"])}


def run_names(files: Sequence[Path], limit: int, mentions: bool) -> dict[str, Any]:
    """Ask for every name of the files, by the rules and, for a sample, in a memory of its own."""
    console = Console(stderr=True)
    try:
        return names_eval.run(
            files, limit, lambda asked: track(asked, "Asking", console=console, disable=not console.is_terminal)
        )
    except scan_eval.UnreadableFile as fault:
        raise CommandError(str(fault)) from None


def place(texts: Mapping[str, str], names_of: Callable[[str], Any]) -> dict[str, list[ActiveFact]]:
    """Return, by key, what became active of each text in a memory of its own."""
    console = Console(stderr=True)
    with scratch_memory():
        steps: Iterable[str] = track(texts, "Placing", console=console, disable=not console.is_terminal)
        return {key: active_facts(texts[key], names_of(key)) for key in steps}


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read a file of one JSON object a line."""
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except ValueError as fault:
        raise CommandError(f"{path} is not a file of one JSON object a line: {fault}") from None


def show(report: Mapping[str, Any]) -> None:
    """Print a report for people: figures first, then the first of each list."""
    console = Console()
    for name, value in report.items():
        if isinstance(value, list):
            console.print(f"[bold]{name}[/bold]: {len(value)}")
            for row in value[:SHOWN]:
                console.print("   ", row, markup=False)
        else:
            console.print(f"[bold]{name}[/bold]:", value)


def show_scan(report: Mapping[str, Any]) -> None:
    """Print what was decided about each set, whole and by halves, and the times, each beside its bars."""
    console = Console()
    sets = Table("set", "n", "caught", "guarded", "quarantined", "tuned half", "held-out half")
    bars = Table("bar", "set", "share", "is", "has to be", "")
    for row in report["sets"]:
        shares = [f"{row[name]:.1%}" for name in ("caught", "guarded", "quarantined")]
        halves = [f"{row[half]['caught']:.1%} of {row[half]['n']}" for half in scan_eval.HALVES]
        sets.add_row(row["name"], str(row["n"]), *shares, *halves)
        for bar in row["bars"]:
            bound = f">= {bar['at_least']:.1%}" if bar["at_least"] else f"<= {bar['at_most']:.1%}"
            share = row[bar["share"]]
            bars.add_row(bar["bar"], row["name"], bar["share"], f"{share:.1%}", bound, PASSED[bar["passed"]])
    console.print(sets)
    console.print(bars)
    speed = report["speed"]
    times = Table("text of 1 MiB", "ms", "MB/s", "2n/n", "calibrations")
    for row in speed["texts"]:
        times.add_row(*(str(row[name]) for name in ("name", "ms", "mb_per_second", "ratio", "calibrations")))
    console.print(times)
    console.print(f"calibration: {speed['calibration']['what']} takes {speed['calibration']['ms']} ms")
    for bar in speed["bars"]:
        console.print(f"{bar['bar']} {bar['what']}: {bar['value']}, {PASSED[bar['passed']]}")
    console.print(f"policy {report['policy_hash'][:16]}: {PASSED[report['passed']]}")


def show_names(report: Mapping[str, Any]) -> None:
    """Print what became of the names of each file, and the bars."""
    console = Console()
    columns = ("set", "known", "same name", "reused", "other spelling", "held", "silent", "wrong", "namesakes")
    sets, why = Table(*columns), Table("set", "the right one is proposed because of", "times")
    for row in report["sets"]:
        figures = [row[name] for name in ("known", "same")] + [f"{row['reused']:.2%}"]
        sets.add_row(
            row["name"], *map(str, (*figures, *(row[n] for n in ("other", "open", "silent", "wrong", "namesakes"))))
        )
        for reason, times in row["proposed"].items():
            why.add_row(row["name"], reason, str(times))
    console.print(sets)
    console.print(why)
    console.print("in a real database:", report["database"])
    for bar in report["bars"]:
        console.print(f"{bar['bar']} {bar['what']}: {bar['value']}, {PASSED[bar['passed']]}")


PASSED = {True: "pass", False: "FAIL"}
RUNS = {"extraction": run_extraction, "names": run_names, "notes": run_notes, "scan": run_scan}
SHOWS = {"names": show_names, "scan": show_scan}
