"""Which of the found meanings stand in a conflict: every position is kept, also those that no word found."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet

from densemem.core import limits
from relationships.models import ConflictCase, ConflictEvent, ConflictPosition
from relationships.queries import newest_positions
from relationships.recall.groups import claims_of_groups
from relationships.recall.question import Question
from relationships.search import Claim, Profile
from relationships.vocabulary import ConflictReason, ConflictStatus


@dataclass(frozen=True, slots=True)
class Position:
    """One of the meanings that compete, who holds it, and every record that does, the oldest first."""

    position_id: UUID
    owners: tuple[Profile, ...]
    relationships: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A case with the positions that answer at the moment asked about, the oldest first.

    Of more than `limits.CONFLICT_POSITIONS` those of the meanings that were found are looked at, and then the newest.

    :param positions_total: how many the case had by then, those that answer no more among them
    :param status: of the case, as known at the moment asked about; one that is closed may answer for an earlier time
    """

    conflict_id: UUID
    version: int
    status: str
    opened_at: datetime
    positions: tuple[Position, ...]
    positions_total: int
    positions_truncated: bool


def conflicts_of(question: Question, *, groups: Sequence[str]) -> tuple[Conflict, ...]:
    """Return the conflicts that these meanings stand in, in their order, at most `limits.CONFLICTS`.

    A conflict of which one position alone still answers at the moment asked about is over.
    """
    stood = _positions(question, groups)
    if not stood:
        return ()
    claims = claims_of_groups(question, groups=[row.semantic_group_key for row in stood])
    of_case: dict[UUID, list[ConflictPosition]] = defaultdict(list)
    for row in stood:
        of_case[row.case_id].append(row)
    place = {group: number for number, group in enumerate(groups)}
    met = sorted(of_case.values(), key=lambda rows: min(place.get(r.semantic_group_key, len(place)) for r in rows))
    then = _then(question, of_case) if question.known_at else {}
    found = [_conflict(rows, claims, then.get(rows[0].case_id, rows[0].case)) for rows in met]
    return tuple(c for c in found if len(c.positions) > 1)[: limits.CONFLICTS]


def _answering(question: Question) -> QuerySet[ConflictCase]:
    """Return the cases that answer: those open at the moment asked about, and for an earlier one what ended since."""
    cases = ConflictCase.objects.of_team(question.team_id)
    status, reason = "status", "reason"
    if question.known_at is not None:
        of_case = ConflictEvent.objects.of_team(question.team_id).filter(case=OuterRef("pk"))
        newest = of_case.known_by(question.known_at).order_by("-version")
        cases = cases.annotate(stood=newest.values("status")[:1], why=newest.values("reason")[:1])
        status, reason = "stood", "why"
    answers = Q(**{status: ConflictStatus.OPEN})
    if question.past:
        answers |= Q(**{reason: ConflictReason.ONE_LEFT})
    return cases.filter(answers)


def _positions(question: Question, groups: Collection[str]) -> list[ConflictPosition]:
    """Return the positions of the cases that these meanings stand in: of each case these, and then the newest."""
    known = ConflictPosition.objects.of_team(question.team_id).known_by(question.known_at)
    met = known.filter(semantic_group_key__in=groups).values("case_id")
    cases = _answering(question).filter(pk__in=met).values("pk")
    rows = newest_positions(known.filter(case__in=cases), first=Q(semantic_group_key__in=groups))
    return list(rows.select_related("case").order_by("seq"))


def _then(question: Question, cases: Collection[UUID]) -> dict[UUID, ConflictEvent]:
    """Return the newest event of each case by the moment asked about: how it stood then."""
    events = ConflictEvent.objects.of_team(question.team_id).filter(case__in=cases).known_by(question.known_at)
    return {event.case_id: event for event in events.order_by("case_id", "-version").distinct("case_id")}


def _conflict(
    rows: Sequence[Any], claims: Mapping[str, Sequence[Claim]], stood: ConflictCase | ConflictEvent
) -> Conflict:
    case, total = rows[0].case, rows[0].total
    positions = [_position(row, claims[row.semantic_group_key]) for row in rows if row.semantic_group_key in claims]
    return Conflict(
        conflict_id=case.id,
        version=stood.version,
        status=stood.status,
        opened_at=case.opened_at,
        positions=tuple(sorted(positions, key=_age)),
        positions_total=total,
        positions_truncated=total > len(rows),
    )


def _position(row: ConflictPosition, claims: Sequence[Claim]) -> Position:
    return Position(row.id, tuple(dict.fromkeys(claim.author for claim in claims)), tuple(claims))


def _age(position: Position) -> tuple[datetime, UUID]:
    oldest = position.relationships[0]
    return oldest.recorded_at, oldest.relationship_id
