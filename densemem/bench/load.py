"""How much a benchmark asks for, and how it says that it gets on."""

from collections.abc import Callable
from dataclasses import dataclass

Step = Callable[[str, float], None]
"""Called with what is being done, and the part of it that is done, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Load:
    """The size of a run; the defaults are a quick look, `full` is what the bars are stated for."""

    seed: int = 1
    clients: int = 8
    seconds: float = 15.0  # of requests
    requests: int = 6_000  # at most
    items: int = 600  # placed without latency
    slow_items: int = 256  # placed with latency
    latency: float = 1.0  # of each answer, in seconds
    concurrency: int = 16  # of each worker
    workers: int = 2
    jobs: int = 20_000  # that wait
    claims: int = 500  # of each worker
    calibration_seconds: float = 2.0


def full(seed: int) -> Load:
    """Return the load that the bars are stated for."""
    return Load(seed=seed, seconds=60.0, items=3_000, slow_items=640, jobs=200_000)
