"""How the injection scan behaves on labelled text: the share that passes, is guarded and is quarantined.

Reads JSON lists, JSON objects of lists, JSON lines and plain nested conversations; the data stays outside the product.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from evidence.scan import scan_text
from evidence.vocabulary import ScanDecision

# The first of these fields that a row has is its text.
TEXT_FIELDS: Final = ("user_input", "attack", "prompt", "text", "passage", "context", "goal", "content")
LABEL_FIELDS: Final = ("label", "injection_type")
LONGEST: Final = 20_000


def run(paths: list[Path]) -> dict[str, dict[str, float]]:
    """Scan every text of the files; per file and label give n and the three shares, from 0 to 1."""
    report: dict[str, dict[str, float]] = {}
    for path in paths:
        counts: dict[str, Counter[ScanDecision]] = {}
        for label, text in texts(path):
            decision = scan_text(text[:LONGEST]).decision
            counts.setdefault(label, Counter())[decision] += 1
        for label, seen in sorted(counts.items()):
            report[f"{path.parent.name}/{path.name}{label and ' ' + label}"] = _shares(seen)
    return report


def texts(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (label, text) of each row of a file; the label is empty when rows carry none."""
    raw = path.read_text(encoding="utf-8")
    rows = (
        [json.loads(line) for line in raw.splitlines() if line.strip()] if path.suffix == ".jsonl" else json.loads(raw)
    )
    seen: set[tuple[str, str]] = set()
    for label, text in _walk(rows):
        if text.strip() and (label, text) not in seen:
            seen.add((label, text))
            yield label, text


def _walk(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts below a value: strings of lists, and the text field of objects."""
    if isinstance(value, str):
        if " " in value:  # an identifier is no text
            yield "", value
    elif isinstance(value, list):
        for one in value:
            yield from _walk(one)
    elif isinstance(value, dict):
        field = next((name for name in TEXT_FIELDS if isinstance(value.get(name), str)), None)
        if field is not None:
            label = next((str(value[name]) for name in LABEL_FIELDS if name in value), "")
            yield label, value[field]
            return
        for one in value.values():
            if isinstance(one, list | dict):
                yield from _walk(one)


def _shares(seen: Counter[ScanDecision]) -> dict[str, float]:
    """Turn counts into n and shares."""
    total = seen.total()
    return {"n": total} | {decision.value: round(seen[decision] / total, 4) for decision in ScanDecision}


def main(arguments: list[str]) -> None:
    """Print one line for each file and label."""
    for name, shares in run([Path(one) for one in arguments]).items():
        print(f"{name:50} " + "  ".join(f"{key} {value:g}" for key, value in shares.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
