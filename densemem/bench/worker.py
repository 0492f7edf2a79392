"""One worker process of a benchmark: it says that it is ready, waits for the word, works, and says how it went.

`python -m densemem.bench.worker drain|claim`; `--profile FILE` keeps what cProfile saw, for `python -m pstats FILE`.
"""

import argparse
import cProfile
import json
import sys
import time
from contextlib import nullcontext
from typing import Any

import django

django.setup()

from densemem.bench.stub import Stub
from placement.operations import claim_next, end_failed
from placement.pipeline import place
from placement.tasks import drain


def main() -> None:
    """Do one job and print its outcome as one line of JSON."""
    asked = _arguments().parse_args()
    profile = cProfile.Profile() if asked.profile else None
    print("ready", flush=True)
    sys.stdin.readline()
    with profile or nullcontext():
        done = JOBS[asked.job](asked)
    if profile:
        profile.dump_stats(asked.profile)
    print(json.dumps(done), flush=True)


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="One worker of a benchmark.")
    parser.add_argument("job", choices=sorted(JOBS))
    parser.add_argument("--seconds", type=float, default=60, help="drain: at most this long")
    parser.add_argument("--latency", type=float, default=0, help="drain: seconds that each answer of the model takes")
    parser.add_argument("--count", type=int, default=500, help="claim: so many claims")
    parser.add_argument("--profile", help="file for what cProfile saw")
    return parser


def _drain(asked: argparse.Namespace) -> dict[str, Any]:
    """Place what is queued; under the profiler in this thread, the only one that it sees."""
    if asked.profile:
        return {"placed": _place_here(time.monotonic() + asked.seconds, Stub(latency=asked.latency))}
    return {"placed": drain(seconds=asked.seconds, using=Stub(latency=asked.latency), linger=False)}


def _place_here(ends: float, stub: Stub) -> int:
    placed = 0
    while time.monotonic() < ends and (claim := claim_next()):
        place(claim, stub)
        placed += 1
    return placed


def _claim(asked: argparse.Namespace) -> dict[str, Any]:
    """Claim and end items, and time the claims; an item that stays claimed would lie in the way of the next."""
    took, items = [], []
    claim = None
    for _ in range(asked.count):
        began = time.perf_counter()
        claim = claim_next(after=claim.team_id if claim else None)
        took.append(time.perf_counter() - began)
        if claim is None:
            break
        items.append(str(claim.item_id))
        end_failed(claim, reason="benchmark")
    return {"seconds": took, "items": items}


JOBS = {"drain": _drain, "claim": _claim}

if __name__ == "__main__":
    main()
