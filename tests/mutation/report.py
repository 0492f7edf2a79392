"""What became of the mutants of each module: `python -m tests.mutation.report`, after `mutmut run`."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

# The exit codes by which mutmut remembers a run; whatever else there is was killed, by a failure or by its time.
SURVIVED, UNTESTED, NOT_RUN = 0, 33, None


LITERAL: Final = re.compile(r'"[^"]*"')
FUNCTION: Final = re.compile(r"^( *)def (\w+?__mutmut_\w+)\(.*?(?=^\1def |^\1@|^[^\s)]|\Z)", re.DOTALL | re.MULTILINE)


def count(codes: Mapping[str, int | None], functions: Mapping[str, str]) -> dict[str, int]:
    """Return how many mutants were killed, survived, or are reached by no test; those not run are left out.

    :param codes: what became of each mutant, by its name
    :param functions: the text of each function of the mutated module, by its name
    """
    found = Counter(code for name, code in codes.items() if not _rewords(name.split(".")[-1], functions))
    survived, untested = found.pop(SURVIVED, 0), found.pop(UNTESTED, 0)
    found.pop(NOT_RUN, 0)
    return {"killed": found.total(), "survived": survived, "untested": untested}


def main(root: Path = Path("mutants")) -> None:
    """Print one line for each module that was run; mutants that reword a sentence for people are left out."""
    table = Table("module", "killed", "survived", "untested", "killed %")
    for meta in sorted(root.rglob("*.py.meta")):
        module = Path(str(meta).removesuffix(".meta"))
        functions = {found[2]: found[0] for found in FUNCTION.finditer(module.read_text(encoding="utf-8"))}
        counts = count(json.loads(meta.read_text(encoding="utf-8"))["exit_code_by_key"], functions)
        if total := sum(counts.values()):
            table.add_row(
                str(module.relative_to(root)), *map(str, counts.values()), f"{100 * counts['killed'] / total:.1f}"
            )
    Console().print(table)


def _rewords(name: str, functions: Mapping[str, str]) -> bool:
    """Tell if a mutant changes nothing but the words of a sentence."""
    original, number = name.rsplit("__mutmut_", 1)
    texts = functions.get(f"{original}__mutmut_orig", ""), functions.get(f"{original}__mutmut_{number}", "")
    one, other = (LITERAL.sub(_without_sentence, text.split("(", 1)[-1]) for text in texts)
    return bool(texts[1]) and one == other


def _without_sentence(literal: re.Match[str]) -> str:
    """Return a literal as it is, unless it is a sentence for people: another wording of one breaks no rule."""
    return '""' if re.search(r"\w \w+ \w", literal[0]) else literal[0]


if __name__ == "__main__":
    main()
