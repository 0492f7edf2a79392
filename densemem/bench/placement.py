"""Placement: worker processes that drain a queue, with a model that answers at once, and with a slow one."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.apps import apps

from densemem.audit import audit
from densemem.auth import Principal
from densemem.bench.calibration import Calibration
from densemem.bench.figures import Figure
from densemem.bench.jobs import queue_jobs
from densemem.bench.load import Load, Step
from densemem.bench.people import new_team, tell
from densemem.bench.processes import crew
from densemem.bench.statements import counted
from densemem.bench.stub import Stub
from placement.operations import claim_next, database_now
from placement.pipeline import place
from placement.tasks import drain

BAR: Final = "L2"
PEOPLE: Final = 4
FRAGMENTS: Final = 3  # of one request
MOST_SECONDS: Final = 600  # of one drain
AT_ONCE: Final = 1  # item of a worker: where no answer is waited for, a second one would only be in its way
FLAT: Final = 0.8  # the slower rate may be this part of the faster one
SLOW_RATE: Final = 14.0  # wanted with a slow model, items per second
SLOW_PATIENCE: Final = 3  # so many times as long as wanted is waited for it
LARGER: Final = 10  # how much the larger backlog is
LOOK_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class Drained:
    """When each item was done, in seconds after all workers began."""

    times: Sequence[float]

    @property
    def rate(self) -> float:
        """Items per second, from the beginning to the last item."""
        return self._rate(0, len(self.times))

    @property
    def flatness(self) -> float:
        """The rate of the last third in units of the first one's."""
        third = len(self.times) // 3
        first = self._rate(0, third)
        return self._rate(len(self.times) - third, len(self.times)) / first if first else 0.0

    def _rate(self, first: int, end: int) -> float:
        if end <= first:
            return 0.0
        return (end - first) / (self.times[end - 1] - (self.times[first - 1] if first else 0.0))


def run(load: Load, calibration: Calibration, step: Step) -> list[Figure]:
    """Drain three queues: one without latency, one with it, and a part of one with a larger backlog."""
    people = new_team(PEOPLE)
    rows = _rows_of_one(people[0], load)
    step("Queue", 0)
    queue(people, range(10, 10 + load.items), load, step)
    quick = drained(load, step, expected=load.items, concurrency=AT_ONCE)
    queue(people, range(10 + load.items, 10 + load.items + load.slow_items), load, step)
    late = drained(
        load,
        step,
        seconds=SLOW_PATIENCE * load.slow_items / SLOW_RATE,
        expected=load.slow_items,
        latency=load.latency,
        concurrency=load.concurrency,
    )
    differences = audit(team_id=people[0].team_id).differences
    (owner,) = new_team(1)
    queue_jobs(owner, LARGER * load.items, seed=load.seed, step=step)
    most = max(2.0, quick.times[-1] if quick.times else 0.0)
    crowded = drained(load, step, seconds=most, concurrency=AT_ONCE)
    cal = calibration
    return [
        Figure(BAR, "placements", quick.rate, "/s", least=60, beside=cal.bulk_rate),
        Figure(BAR, "last third beside the first", quick.flatness, least=FLAT),
        Figure(BAR, f"placements at {LARGER} times the backlog", crowded.rate, "/s", beside=cal.bulk_rate),
        Figure(BAR, "larger backlog beside the smaller", crowded.rate / quick.rate, least=FLAT),
        Figure(BAR, f"placements at {load.latency:g} s an answer", late.rate, "/s", least=SLOW_RATE),
        Figure(BAR, "items not placed", load.items - len(quick.times), most=0),
        Figure(BAR, "items that failed or ask a person", _ended_otherwise(), most=0),
        Figure(BAR, "differences of the audit", differences, most=0),
        *rows,
    ]


def queue(people: Sequence[Principal], numbers: Sequence[int], load: Load, step: Step) -> None:
    """Remember notes, three a request, one person after the other."""
    for index in range(0, len(numbers), FRAGMENTS):
        tell(people[index // FRAGMENTS % len(people)], numbers[index : index + FRAGMENTS], seed=load.seed)
        step("Queue", index / len(numbers))


def drained(
    load: Load,
    step: Step,
    *,
    seconds: float = MOST_SECONDS,
    expected: int = 0,
    latency: float = 0.0,
    concurrency: int | None = None,
) -> Drained:
    """Let the workers drain until nothing is ready or the time is up."""
    words = ("drain", "--seconds", str(seconds), "--latency", str(latency))
    with crew(load.workers, *words, concurrency=concurrency) as workers:
        began, go = database_now(), time.perf_counter()
        workers.go()
        while workers.busy:
            done = len(_completed(began)) / expected if expected else (time.perf_counter() - go) / seconds
            step(f"Place, {latency:g} s an answer", done)
            time.sleep(LOOK_SECONDS)
        workers.answers()
    return Drained([(at - began).total_seconds() for at in _completed(began)])


def _ended_otherwise() -> int:
    """Count the items that ended, and not as placed."""
    rows = apps.get_model("placement", "Item").objects.exclude(state="completed")
    return int(rows.exclude(completed_at=None).count())


def _completed(since: datetime) -> list[datetime]:
    """Return when each item was placed; one that waits for a person or failed is not among them."""
    items = apps.get_model("placement", "Item").objects.filter(state="completed", completed_at__gte=since)
    return sorted(at for at in items.values_list("completed_at", flat=True) if at)


def _rows_of_one(who: Principal, load: Load) -> list[Figure]:
    """Count statements and rows of one placement, in this process: figures that no machine changes."""
    tell(who, range(2), seed=load.seed)
    drain(using=Stub(), linger=False)
    tell(who, range(6, 7), seed=load.seed)
    before = _rows()
    with counted() as seen:
        claim = claim_next()
        assert claim is not None
        place(claim, Stub())
    return [
        Figure(BAR, "rows of one placement", _rows() - before, least=15),
        Figure(BAR, "SQL statements of one placement", len(seen)),
    ]


def _rows() -> int:
    """Count the rows of all tables that belong to a team."""
    tables = [m for m in apps.get_models() if any(f.name == "team" for f in m._meta.fields)]
    return sum(table._default_manager.count() for table in tables)
