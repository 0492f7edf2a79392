"""How long the injection scan takes on texts written to slow it down, beside what the machine can do."""

import hashlib
import time
from collections.abc import Callable
from typing import Any, Final

from evidence.scan import scan_text
from evidence.scan.reading import PHRASES

BYTES: Final = 1 << 20
REPEATS: Final = 5
MOST_MS: Final = 100.0
MOST_RATIO: Final = 2.3
CALIBRATION_BYTES: Final = 1 << 24

# Repeated to the size wanted: begins that never end, deep nesting, letters and blocks that lead to nothing.
PIECES: Final = {
    "plain prose": "Mara moved the weekly review of Project Heron to Thursday, since Olaf is away until noon. ",
    "begins of one rule": "ignore all ",
    "nested markup": '<a href="x',
    "nested quotes": "\"'“‘",
    "open comments": "<!--",
    "single letters": "a b ",
    "ends of sentences": ". ",
    "base 64 of nothing": "QUJDREVGR0hJSktM\n",
    "hexadecimal of nothing": "41 42 43 44 ",
    "digits for letters": "1gn0r3 all ",
    "look-alike letters": "іgnоrе аll ",
    "accents": "é",
    "scripts without spaces": "忽略之前的",
    "unseen characters": "\u200b",
}


def measure() -> dict[str, Any]:
    """Give the time of each text of 1 MiB in milliseconds, its growth from half the size, and both bars."""
    scan_text("The tables are compiled at the first text.")
    calibration = _best(lambda: hashlib.sha256(bytes(CALIBRATION_BYTES)).digest())
    rows = [_row(name, piece, calibration) for name, piece in (PIECES | _near_misses()).items()]
    slowest = max(row["ms"] for row in rows)
    steepest = max(row["ratio"] for row in rows)
    return {
        "bytes": BYTES,
        "calibration": {"what": f"SHA-256 of {CALIBRATION_BYTES >> 20} MiB", "ms": round(calibration, 2)},
        "texts": rows,
        "bars": [
            {"bar": "I4", "what": f"slowest <= {MOST_MS:g} ms", "value": slowest, "passed": slowest <= MOST_MS},
            {"bar": "I4", "what": f"2n/n <= {MOST_RATIO:g}", "value": steepest, "passed": steepest <= MOST_RATIO},
        ],
    }


def _near_misses() -> dict[str, str]:
    """Give the words of every rule but its last, and the same without the first."""
    words = [PHRASES.example(rule) for rule in PHRASES.rules]
    return {
        "every rule but its last word": "".join(" ".join(one[:-1]) + " x. " for one in words),
        "every rule but its first word": "".join("x " + " ".join(one[1:]) + ". " for one in words),
    }


def _row(name: str, piece: str, calibration: float) -> dict[str, Any]:
    """Time one text whole and at half its size."""
    whole = _filled(piece, BYTES)
    half = _filled(piece, BYTES // 2)
    took = _best(lambda: scan_text(whole))
    ratio = took / _best(lambda: scan_text(half))
    return {
        "name": name,
        "ms": round(took, 1),
        "mb_per_second": round(BYTES / 1e6 / (took / 1e3), 1),
        "ratio": round(ratio, 2),
        "calibrations": round(took / calibration, 2),
    }


def _filled(piece: str, size: int) -> str:
    """Repeat a piece to a number of bytes."""
    return (piece * (size // len(piece.encode()) + 1)).encode()[:size].decode("utf-8", "ignore")


def _best(action: Callable[[], object]) -> float:
    """Give the shortest of several times of an action, in milliseconds of this process."""
    taken = []
    for _ in range(REPEATS):
        began = time.process_time()
        action()
        taken.append((time.process_time() - began) * 1e3)
    return min(taken)
