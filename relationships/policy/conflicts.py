"""When conflict cases open, grow, merge, close and open again ("Relationship Identity"; "Decisions", 15 and 19).

A case is a connected set of meanings that were put against each other. Nothing here looks at a clock: a case follows
from the challenges, from who holds what, and from what the holders said.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from relationships.vocabulary import ConflictEventKind as Kind
from relationships.vocabulary import ConflictReason as Reason
from relationships.vocabulary import ConflictStatus


@dataclass(frozen=True, slots=True)
class Holder:
    """
    An active record, and the meaning that it holds.

    :param active_since: the version from which on it has been active without a break
    """

    relationship_id: UUID
    owner_id: UUID
    group: str
    version: int
    active_since: int


@dataclass(frozen=True, slots=True)
class Said:
    """The owner of a record said, at a version of the case and of the record, that the positions do not compete."""

    relationship_id: UUID
    relationship_version: int
    case_version: int


@dataclass(frozen=True, slots=True)
class ConflictState:
    """
    A case as it stands, merged into no other.

    :param positions: its meanings, each with the version of the case at which it came in
    """

    case_id: UUID
    status: ConflictStatus
    version: int
    closed_at: datetime | None
    positions: Mapping[str, int]
    said: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class CaseStep:
    """One event of a case: how it stands after it, and which meanings come in with it."""

    kind: Kind
    status: ConflictStatus
    reason: Reason
    positions: tuple[str, ...] = ()
    other_id: UUID | None = None

    @property
    def leaves(self) -> bool:
        """Whether the case goes into the other one with it; else the other one came."""
        return self.kind is Kind.MERGED and not self.positions


@dataclass(frozen=True, slots=True)
class Course:
    """What happens to one case, step by step; without a case a new one opens."""

    case: ConflictState | None
    steps: tuple[CaseStep, ...]


def decide_cases(
    cases: Sequence[ConflictState], links: Collection[tuple[str, str]], holders: Collection[Holder]
) -> list[Course]:
    """
    Return what happens to these cases, and which new ones open; cases to which nothing happens are left out.

    :param cases: every case that a meaning of `links` stands in, the oldest first
    :param links: meanings that were just put against each other
    :param holders: every active record of the meanings of all these
    """
    courses: list[Course] = []
    for groups in _connected([*(frozenset(c.positions) for c in cases), *map(frozenset, links)]):
        inside = [c for c in cases if not groups.isdisjoint(c.positions)]
        courses += _courses(inside, groups, holders)
    return [course for course in courses if course.steps]


def decide_statement(case: ConflictState, own: Collection[Holder], holders: Collection[Holder]) -> Course:
    """Return what happens to a case when the owner of these records says that its positions do not compete."""
    steps = [CaseStep(Kind.STATEMENT, case.status, Reason.SAID)]
    said = [*case.said, *(Said(h.relationship_id, h.version, case.version + 1) for h in own)]
    status, reason = state_of(case.positions, said, holders)
    if status is not case.status:
        steps.append(CaseStep(Kind.CLOSED, status, reason))
    return Course(case, tuple(steps))


def have_said(case: ConflictState, own: Collection[Holder], holders: Collection[Holder]) -> bool:
    """Tell if what the owner of these records said of a case still holds."""
    newest = max(case.positions[h.group] for h in holders)
    return all(_has_said(holder, case.said, newest) for holder in own)


def state_of(
    positions: Mapping[str, int], said: Collection[Said], holders: Collection[Holder]
) -> tuple[ConflictStatus, Reason]:
    """
    Return how a case must stand: closed when at most one position is held, or when every holder said that they do not
    compete.

    What was said holds for the positions that stood in the case then, and for a record as long as it stays active.
    """
    held = [h for h in holders if h.group in positions]
    standing = {h.group for h in held}
    if len(standing) < 2:
        return ConflictStatus.CLOSED, Reason.ONE_LEFT
    newest = max(positions[group] for group in standing)
    if all(_has_said(holder, said, newest) for holder in held):
        return ConflictStatus.CLOSED, Reason.SETTLED
    return ConflictStatus.OPEN, Reason.COMPETE


def _has_said(holder: Holder, said: Collection[Said], newest: int) -> bool:
    return any(
        s.relationship_id == holder.relationship_id
        and s.relationship_version >= holder.active_since
        and s.case_version > newest
        for s in said
    )


def _courses(inside: Sequence[ConflictState], groups: frozenset[str], holders: Collection[Holder]) -> Iterator[Course]:
    """Yield what happens to cases that are connected by now: the oldest stays, the others go into it."""
    first, others = (inside[0], inside[1:]) if inside else (None, ())
    steps = list(_growth(first, others, groups))
    version, positions = (first.version, dict(first.positions)) if first else (0, {})
    for number, step in enumerate(steps, start=version + 1):
        positions |= dict.fromkeys(step.positions, number)
    before = steps[-1].status if steps else first.status if first else ConflictStatus.OPEN
    status, reason = state_of(positions, first.said if first else (), holders)
    if status is not before:
        kind = Kind.CLOSED if status is ConflictStatus.CLOSED else Kind.REOPENED
        steps.append(CaseStep(kind, status, reason))
    yield Course(first, tuple(steps))
    for other in others:
        gone = CaseStep(Kind.MERGED, ConflictStatus.CLOSED, Reason.MERGED, other_id=inside[0].case_id)
        yield Course(other, (gone,))


def _growth(first: ConflictState | None, others: Sequence[ConflictState], groups: frozenset[str]) -> Iterator[CaseStep]:
    """Yield the steps by which a case comes to hold all these meanings."""
    if first is None:
        yield CaseStep(Kind.OPENED, ConflictStatus.OPEN, Reason.COMPETE, tuple(sorted(groups)))
        return
    known = set(first.positions)
    for other in others:
        came = tuple(sorted(other.positions))
        yield CaseStep(Kind.MERGED, first.status, Reason.MERGED, came, other.case_id)
        known |= set(came)
    for group in sorted(groups - known):
        yield CaseStep(Kind.POSITION_ADDED, first.status, Reason.COMPETE, (group,))


def _connected(sets: Collection[frozenset[str]]) -> list[frozenset[str]]:
    """Join sets that have something in common, until none have."""
    found: list[frozenset[str]] = []
    for one in sets:
        touching = [other for other in found if not one.isdisjoint(other)]
        found = [other for other in found if one.isdisjoint(other)]
        found.append(one.union(*touching))
    return sorted(found, key=min)
