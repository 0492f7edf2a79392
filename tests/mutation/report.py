"""What became of the mutants of each module: `python -m tests.mutation.report`, after `mutmut run`."""

import json
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

# The exit codes by which mutmut remembers a run; whatever else there is was killed, by a failure or by its time.
SURVIVED, UNTESTED, NOT_RUN = 0, 33, None


def count(codes: list[int | None]) -> dict[str, int]:
    """Return how many mutants were killed, survived, or are reached by no test; those not run are left out."""
    found = Counter(codes)
    survived, untested = found.pop(SURVIVED, 0), found.pop(UNTESTED, 0)
    found.pop(NOT_RUN, 0)
    return {"killed": found.total(), "survived": survived, "untested": untested}


def main(root: Path = Path("mutants")) -> None:
    """Print one line for each module that was run."""
    table = Table("module", "killed", "survived", "untested", "killed %")
    for meta in sorted(root.rglob("*.py.meta")):
        counts = count(list(json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"].values()))
        if total := sum(counts.values()):
            module = str(meta.relative_to(root)).removesuffix(".meta")
            table.add_row(module, *map(str, counts.values()), f"{100 * counts['killed'] / total:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
