"""The state of a record, folded from its ledgers alone up to a moment.

Current rows and answers about the past are held against it ("Relationship Model And Lifecycle", Lifecycle And History).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from densemem.core.times import known
from relationships.vocabulary import SupportAction


class StepRow(Protocol):
    """One row of the ledger of steps."""

    version: int
    tier_before: str | None
    status_before: str | None
    tier: str
    status: str
    held_by_person: bool
    recorded_at: datetime


class SupportRow(Protocol):
    """A support, whenever it was granted."""

    id: UUID
    fragment_id: UUID
    group_id: UUID
    recorded_at: datetime


class DecisionRow(Protocol):
    """One decision about a support."""

    support_id: UUID
    action: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class History:
    """The ledgers of one record, each in the order of the sequence.

    `voices` counts those of (fragment, source group), as they were joined by a moment.
    """

    steps: Sequence[StepRow]
    supports: Sequence[SupportRow]
    decisions: Sequence[DecisionRow]
    voices: Callable[[list[tuple[UUID, UUID]], datetime | None], int]


@dataclass(frozen=True, slots=True)
class State:
    """What the ledgers make of a record. The counts follow from the decisions, not from what a step says of them."""

    tier: str
    status: str
    held_by_person: bool
    version: int
    support_count: int
    source_group_count: int
    counting: frozenset[UUID]


class HistoryBroken(Exception):
    """The steps do not follow each other; the message says where."""


def replay(history: History, *, until: datetime | None = None) -> State | None:
    """
    Return the state of a record at a moment; None before its first step.

    :param until: only what was recorded by then counts; None for all
    :raises HistoryBroken: a step is missing, or does not begin where the one before ended
    """
    last: StepRow | None = None
    for step in _recorded(history.steps, until):
        _check_follows(last, step)
        last = step
    if last is None:
        return None
    counting = _counting(_recorded(history.decisions, until))
    said = [(support.fragment_id, support.group_id) for support in history.supports if support.id in counting]
    return State(
        tier=last.tier,
        status=last.status,
        held_by_person=last.held_by_person,
        version=last.version,
        support_count=len(said),
        source_group_count=history.voices(said, until),
        counting=frozenset(counting),
    )


def _recorded(rows: Iterable[StepRow] | Iterable[DecisionRow], until: datetime | None) -> Iterator[Any]:
    return (row for row in rows if known(row.recorded_at, by=until))


def _check_follows(last: StepRow | None, step: StepRow) -> None:
    was = (0, None, None) if last is None else (last.version, last.tier, last.status)
    if step.version != was[0] + 1:
        raise HistoryBroken(f"step {step.version} follows {was[0]}")
    if (step.tier_before, step.status_before) != was[1:]:
        raise HistoryBroken(f"step {step.version} does not begin where the one before ended")


def _counting(decisions: Iterable[DecisionRow]) -> set[UUID]:
    """Return the supports whose newest decision lets them count."""
    counting: set[UUID] = set()
    for decision in decisions:
        if decision.action == SupportAction.REVOKE:
            counting.discard(decision.support_id)
        else:
            counting.add(decision.support_id)
    return counting
