"""A long queue: what a claim costs, how it is planned, and how long a small team waits behind a large one."""

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.apps import apps
from django.db import connection, transaction

from densemem.auth import Principal
from densemem.bench.calibration import Calibration
from densemem.bench.figures import Figure, middle, slow
from densemem.bench.jobs import queue_jobs
from densemem.bench.load import Load, Step
from densemem.bench.people import new_team, tell
from densemem.bench.processes import crew
from densemem.bench.statements import counted
from placement.operations import claim_next, database_now, put_back
from placement.queries import is_settled

BAR: Final = "L8"
TABLE: Final = "placement_item"
SMALL_TEAMS: Final = 9
LATE_JOBS: Final = 10  # of the team that comes last
FAIR_SECONDS: Final = 5.0
FAIR_SHARE: Final = 0.5  # of an equal share for each team
WAIT_SECONDS: Final = 15.0  # for the team that comes last, at most
LOOK_SECONDS: Final = 0.1


def run(load: Load, calibration: Calibration, step: Step) -> list[Figure]:
    """Queue the jobs, half of them of one team, then claim, and let one more team come last."""
    for who, jobs in _shares(load.jobs):
        queue_jobs(who, jobs, seed=load.seed, step=step)
    with crew(load.workers, "claim", "--count", str(load.claims)) as workers:
        step("Claim", 0)
        workers.go()
        answers = workers.answers()
    took = [second for answer in answers for second in answer["seconds"]]
    items = [item for answer in answers for item in answer["items"]]
    waited, share = _wait_of_late_team(load, step)
    return [
        Figure(BAR, "jobs that wait", load.jobs),
        Figure(BAR, "claim p50", middle(took), " ms", beside=calibration.insert_middle),
        Figure(BAR, "claim p95", slow(took), " ms", most=10, beside=calibration.insert_slow),
        Figure(BAR, "items claimed", len(items), least=load.claims * load.workers),
        Figure(BAR, "items claimed twice", len(items) - len(set(items)), most=0),
        Figure(BAR, "scans of the whole queue in a claim", len(whole_scans()), most=0),
        Figure(BAR, f"{LATE_JOBS} jobs behind {load.jobs // 2} of another team", waited, " s", most=FAIR_SECONDS),
        Figure(BAR, "what they got meanwhile, beside a fair share", share, least=FAIR_SHARE),
    ]


def _shares(jobs: int) -> Iterator[tuple[Principal, int]]:
    """Yield an owner for half of the jobs, and one of each small team for an equal share of the rest."""
    half = jobs // 2
    yield new_team(1)[0], half
    for _ in range(SMALL_TEAMS):
        yield new_team(1)[0], (jobs - half) // SMALL_TEAMS


def whole_scans() -> list[str]:
    """Return the statements of a first claim and of a next one that the server plans by reading the whole queue."""
    with counted() as seen:
        first = claim_next()
        assert first is not None, "the plan is asked for while jobs wait"
        second = claim_next(after=first.team_id)
    for claim in filter(None, (first, second)):
        put_back(claim, reason="benchmark", uncounted=True)
    return [sql for sql, params in seen if TABLE in sql and reads_whole_queue(sql, params)]


def reads_whole_queue(sql: str, params: Any = None) -> bool:
    """Tell if the server would answer a statement by reading every row of the queue; only settings before it run."""
    *before, statement = sql.strip().removesuffix(";").split(";")
    with transaction.atomic(), connection.cursor() as cursor:
        for setting in before:
            cursor.execute(setting)
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}", params)
        (plan,) = cursor.fetchone()
    plan = json.loads(plan) if isinstance(plan, str) else plan
    return any(n["Node Type"] == "Seq Scan" and n["Relation Name"] == TABLE for n in _nodes(plan[0]["Plan"]))


def _nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a node of a plan and all below it."""
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)


def _wait_of_late_team(load: Load, step: Step) -> tuple[float, float]:
    """Let a team come last. Return how many seconds its jobs took, and its part of all placements meanwhile.

    They are waited for so long at most; the part is in units of what an equal turn of all teams gives.
    """
    (late,) = new_team(1)
    with crew(load.workers, "drain", "--seconds", str(WAIT_SECONDS + 5)) as workers:
        workers.go()
        _wait_for_first_placement()
        began, since = time.perf_counter(), database_now()
        ingest_id = tell(late, range(LATE_JOBS), seed=load.seed)
        while (waited := time.perf_counter() - began) < WAIT_SECONDS:
            step("A small team waits", waited / WAIT_SECONDS)
            if is_settled(team_id=late.team_id, ingest_id=ingest_id):
                break
            time.sleep(LOOK_SECONDS)
        done = apps.get_model("placement", "Item").objects.filter(state="completed", completed_at__gte=since)
        part = done.filter(team_id=late.team_id).count() / max(1, done.count())
    return waited, part * (1 + SMALL_TEAMS + 1)


def _wait_for_first_placement() -> None:
    """Wait until the workers are at work: what they do when they start is not the small team's wait."""
    done = apps.get_model("placement", "Item").objects.filter(state="completed")
    ends = time.perf_counter() + WAIT_SECONDS
    while time.perf_counter() < ends and not done.exists():
        time.sleep(LOOK_SECONDS)
