"""Running cases: each in an empty memory, played, judged, and told in one line."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from densemem.cases import erasing, races, setup, steps
from densemem.cases.doors import Doors
from densemem.cases.files import Case, Fixtures
from densemem.cases.judge import judge, lacking
from densemem.cases.operations import missing
from densemem.cases.play import Play
from densemem.cases.world import NotUnderstood, World

# A case that lacks only these is played without them: they read, so the rest can be judged.
READS: Final = {"export", "expand", "suggest", "judge"}


class Status(StrEnum):
    """How a case ended; `waiting` is one that the product cannot do yet."""

    PASSED = "passed"
    FAILED = "failed"
    WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class Result:
    """
    What became of a case.

    :param why: everything that is not as it must be
    :param missing: the operations that the product lacks
    :param offline: the offline reviewer stood in for a language model: nothing wrong became active
    """

    id: str
    status: Status
    seconds: float
    why: list[str] = field(default_factory=list)
    missing: tuple[str, ...] = ()
    offline: bool = False


def run_all(
    cases: Sequence[Case], fixtures: Fixtures, *, doors: Doors, emptied: Callable[[], None], others: Sequence[Case] = ()
) -> Iterator[Result]:
    """Run cases one after the other, and yield each result.

    :param doors: of the running server
    :param emptied: makes the memory empty before each case
    :param others: cases that these may refer to
    """
    known = {case.id: case for case in (*others, *cases)}
    for case in cases:
        emptied()
        yield run(case, fixtures, doors=doors, others=known)


def run(case: Case, fixtures: Fixtures, *, doors: Doors, others: Mapping[str, Case]) -> Result:
    """Run one case in the empty memory that is there."""
    began = time.monotonic()
    lacks = missing(case)
    why, not_taken = _played(case, fixtures, doors, others, lacks)
    good = Status.WAITING if not_taken else Status.PASSED
    status = Status.FAILED if why else good
    return Result(case.id, status, time.monotonic() - began, why, not_taken, case.needs_llm)


def _played(
    case: Case, fixtures: Fixtures, doors: Doors, others: Mapping[str, Case], lacks: tuple[str, ...]
) -> tuple[list[str], tuple[str, ...]]:
    """Return what is wrong, and which operations are missing."""
    if set(lacks) - READS:
        return [], lacks
    try:
        play = played(case, fixtures, doors, others=others)
        return judge(play), tuple(sorted({*lacks, *lacking(play)}))
    except NotUnderstood as part:
        return [f"not understood: {part}"], lacks


def played(case: Case, fixtures: Fixtures, doors: Doors, *, others: Mapping[str, Case]) -> Play:
    """Play one case in the empty memory that is there.

    :raises NotUnderstood: a part of its input has no reading
    """
    play = Play(case, World(fixtures), doors, others=others)
    with erasing.listening(play):
        setup.prepare(play)
        for step in case.steps:
            steps.take(play, step)
    if not case.steps:
        races.run(play)
    return play
