"""Conflict cases follow what is held: brought up to date in the transaction that changes who holds what."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from densemem.core.ids import uuid7
from densemem.db.insert import insert, nothing_waits, together
from densemem.db.locks import lock
from relationships.models import ConflictCase, ConflictEvent, ConflictPosition
from relationships.policy.conflicts import CaseStep, Course, decide_cases
from relationships.stored import case_states, groups_of, holders_of, stand_in_cases
from relationships.vocabulary import ConflictStatus

Pair = tuple[UUID, UUID]


@dataclass(slots=True)
class _Touched:
    """What may have moved a case: records that became or ceased to be active, records put against each other."""

    records: set[UUID] = field(default_factory=set)
    against: set[Pair] = field(default_factory=set)


_open: Final[ContextVar[_Touched | None]] = ContextVar("open", default=None)


@contextmanager
def settling(*, team_id: UUID, now: datetime) -> Iterator[None]:
    """Bring the cases up to date once, at the end of the outermost block, when everything inside can be read.

    Cases are locked after records: whatever locks records in several steps, or inserts `together`, does it in here.
    """
    if _open.get() is not None:
        yield
        return
    touched = _Touched()
    before = _open.set(touched)
    try:
        yield
    finally:
        _open.reset(before)
    _settle(team_id, touched, now=now)


def touch(*, team_id: UUID, now: datetime, records: Collection[UUID] = (), against: Collection[Pair] = ()) -> None:
    """Say what may have moved a case: records that became or ceased to be active, or were put against each other."""
    with settling(team_id=team_id, now=now):
        touched = _open.get()
        assert touched is not None
        touched.records |= set(records)
        touched.against |= set(against)


def lock_cases(team_id: UUID) -> None:
    """Hold all conflict cases of a team until the transaction ends; after records, before questions."""
    lock("conflicts", team_id)


def hold_cases_of(*, team_id: UUID, record_ids: Collection[UUID]) -> None:
    """Do the same when one of these records, which the caller holds, stands in a case: its moment is taken after."""
    if stand_in_cases(team_id=team_id, record_ids=record_ids):
        lock_cases(team_id)


def carry_out(team_id: UUID, courses: Sequence[Course], *, now: datetime) -> None:
    """Append what happens to cases, and bring their rows to the newest event."""
    rows: list[ConflictCase] = []
    opened: list[ConflictCase] = []
    with together():
        for course in courses:
            row = _row_after(team_id, course, now=now)
            (rows if course.case else opened).append(row)
            _append(row, course, now=now)
        insert(opened)
    fields = ["status", "reason", "merged_into", "version", "closed_at"]
    if rows:
        ConflictCase.objects.of_team(team_id).bulk_update(rows, fields)


def _settle(team_id: UUID, touched: _Touched, *, now: datetime) -> None:
    """Decide the cases anew, where there is one or has to be one."""
    if not touched.records and not touched.against:
        return
    assert nothing_waits(), "Conflict cases are settled when everything is inserted: put settling around together."
    if not touched.against and not stand_in_cases(team_id=team_id, record_ids=touched.records):
        return
    lock_cases(team_id)
    ends = {end for pair in touched.against for end in pair}
    group = groups_of(team_id=team_id, record_ids=touched.records | ends)
    cases = case_states(team_id=team_id, groups=set(group.values()))
    links = {(group[one], group[other]) for one, other in touched.against}
    concerned = {g for case in cases for g in case.positions} | {g for link in links for g in link}
    courses = decide_cases(cases, sorted(links), holders_of(team_id=team_id, groups=concerned))
    carry_out(team_id, courses, now=now)


def _row_after(team_id: UUID, course: Course, *, now: datetime) -> ConflictCase:
    last, case = course.steps[-1], course.case
    since = (case and case.closed_at) or now
    return ConflictCase(
        id=case.case_id if case else uuid7(),
        team_id=team_id,
        status=last.status,
        reason=last.reason,
        merged_into_id=last.other_id if last.leaves else None,
        version=(case.version if case else 0) + len(course.steps),
        opened_at=now,  # of a new one; another keeps its own
        closed_at=since if last.status is ConflictStatus.CLOSED else None,
    )


def _append(row: ConflictCase, course: Course, *, now: datetime) -> None:
    first = row.version - len(course.steps) + 1
    for version, step in enumerate(course.steps, start=first):
        insert([_event(row, version, step, now=now)])
        insert(
            ConflictPosition(
                team_id=row.team_id, case_id=row.id, semantic_group_key=group, version=version, recorded_at=now
            )
            for group in step.positions
        )


def _event(row: ConflictCase, version: int, step: CaseStep, *, now: datetime) -> ConflictEvent:
    return ConflictEvent(
        team_id=row.team_id,
        case_id=row.id,
        version=version,
        kind=step.kind,
        status=step.status,
        reason=step.reason,
        other_id=step.other_id,
        recorded_at=now,
    )
