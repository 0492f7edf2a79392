"""Conflict cases as they may be read: listed, whole, and those that one record stood in."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from densemem.auth import Principal
from densemem.core import limits
from densemem.core.faults import NotThere
from densemem.core.words import Scope
from densemem.paging import Cursor, Order, Page, page_of
from relationships.models import (
    ConflictCase,
    ConflictEvent,
    ConflictPosition,
    ConflictStatement,
    RelationshipRecord,
    Transition,
)
from relationships.queries import newest_positions
from relationships.search import Claim, Profile, claims_of
from relationships.trace.cases import CaseEvent, CasePosition, CaseStatement, CaseSummary, ConflictCaseView
from relationships.trace.paged import Asked, Kind
from relationships.trace.shapes import Listed
from relationships.vocabulary import ConflictStatus, Status

NEWEST_FIRST: Final = Order("opened_at", newest_first=True)
MOST: Final = limits.CONFLICT_EVENTS


@dataclass(frozen=True, slots=True)
class ConflictCaseWhole(ConflictCaseView):
    """A case with its positions and everything that happened to it."""

    events: Listed[CaseEvent]
    statements: Listed[CaseStatement]


def list_conflicts(
    *,
    principal: Principal,
    status: str | None = None,
    cursor: Cursor | None = None,
    limit: int = limits.PAGE_DEFAULT,
) -> Page[ConflictCaseView]:
    """Return a page of the team's conflict cases, the newest first; the number of queries does not grow with them.

    :param status: without it both open and closed ones
    :raises ScopeMissing: the caller may not read
    """
    principal.require(Scope.READ)
    rows = ConflictCase.objects.of_team(principal.team_id)
    if status is not None:
        rows = rows.filter(status=status)
    page = page_of(rows, order=NEWEST_FIRST, cursor=cursor, limit=limit)
    return page.of(_views(principal, page.rows))


def get_conflict(*, principal: Principal, conflict_id: UUID) -> ConflictCaseWhole:
    """
    Return one case of the caller's team, whole.

    :raises NotThere: no such case in the team
    :raises ScopeMissing: the caller may not read
    """
    principal.require(Scope.READ)
    row = ConflictCase.objects.of_team(principal.team_id).filter(pk=conflict_id).first()
    if row is None:
        raise NotThere
    (view,) = _views(principal, [row])
    shown = {name: getattr(view, name) for name in ConflictCaseView.__dataclass_fields__}
    return ConflictCaseWhole(**shown, events=_events(row), statements=_statements(row))


def _openings(asked: Asked) -> QuerySet[ConflictEvent]:
    """Return the first event of each case that the meaning of a record stands or stood in."""
    positions = ConflictPosition.objects.of_team(asked.team_id).known_by(asked.known_at)
    stood = positions.filter(semantic_group_key=asked.record.semantic_group_key).values("case_id")
    return ConflictEvent.objects.of_team(asked.team_id).known_by(asked.known_at).filter(version=1, case__in=stood)


def _shown(asked: Asked, rows: Sequence[ConflictEvent]) -> list[CaseSummary]:
    events = ConflictEvent.objects.of_team(asked.team_id).filter(case__in=[row.case_id for row in rows])
    newest = events.known_by(asked.known_at).order_by("case_id", "-version").distinct("case_id")
    now = {event.case_id: event for event in newest}
    return [_summary_then(row, now[row.case_id]) for row in rows]


CONFLICTS: Final = Kind(_openings, _shown)


def _summary_then(opening: ConflictEvent, newest: ConflictEvent) -> CaseSummary:
    """Read off the events how a case stood when the newest of them happened."""
    closed = newest.status == ConflictStatus.CLOSED
    return CaseSummary(
        conflict_id=opening.case_id,
        version=newest.version,
        status=newest.status,
        reason=newest.reason,
        opened_at=opening.recorded_at,
        closed_at=newest.recorded_at if closed else None,
        merged_into=newest.other_id if closed else None,
    )


def _summary(row: ConflictCase) -> CaseSummary:
    return CaseSummary(
        conflict_id=row.id,
        version=row.version,
        status=row.status,
        reason=row.reason,
        opened_at=row.opened_at,
        closed_at=row.closed_at,
        merged_into=row.merged_into_id,
    )


def _views(reader: Principal, cases: Collection[ConflictCase]) -> list[ConflictCaseView]:
    team_id = reader.team_id
    of_case: dict[UUID, list[Any]] = defaultdict(list)
    held = RelationshipRecord.objects.of_team(team_id).owned_by(reader.profile_id)
    own = Exists(held.filter(semantic_group_key=OuterRef("semantic_group_key")))
    known = ConflictPosition.objects.of_team(team_id).filter(case__in=cases)
    for row in newest_positions(known, first=Q(own)).order_by("seq"):
        of_case[row.case_id].append(row)
    claims = _claims(team_id, {row.semantic_group_key for rows in of_case.values() for row in rows})
    return [_view(case, of_case[case.id], claims) for case in cases]


def _view(case: ConflictCase, rows: Sequence[Any], claims: dict[str, list[Claim]]) -> ConflictCaseView:
    positions = [_position(row, claims[row.semantic_group_key]) for row in rows]
    total = rows[0].total if rows else 0
    return ConflictCaseView(
        **asdict(_summary(case)),
        positions=tuple(sorted(positions, key=_age)),
        positions_total=total,
        positions_truncated=total > len(rows),
    )


def _age(position: CasePosition) -> tuple[datetime, UUID]:
    oldest = position.relationships[0]
    return oldest.recorded_at, oldest.relationship_id


def _position(row: ConflictPosition, claims: Sequence[Claim]) -> CasePosition:
    owners = dict.fromkeys(claim.author for claim in claims if claim.status == Status.ACTIVE)
    return CasePosition(row.id, row.version, tuple(owners), tuple(claims))


def _claims(team_id: UUID, groups: Collection[str]) -> dict[str, list[Claim]]:
    """Return, by meaning, the records that are or were active, at most `limits.RECALL_ITEMS` of each."""
    active = Transition.objects.filter(team_id=OuterRef("team_id"), relationship=OuterRef("pk"), status=Status.ACTIVE)
    place = Window(RowNumber(), partition_by=F("semantic_group_key"), order_by=["recorded_at", "id"])
    rows = (
        RelationshipRecord.objects.of_team(team_id)
        .filter(Exists(active), semantic_group_key__in=groups)
        .annotate(place=place)
        .filter(place__lte=limits.RECALL_ITEMS)
        .select_related("owner")
        .order_by("recorded_at", "id")
    )
    held = list(rows)
    found: dict[str, list[Claim]] = defaultdict(list)
    for row, claim in zip(held, claims_of(team_id=team_id, rows=held), strict=True):
        found[row.semantic_group_key].append(claim)
    return found


def _events(case: ConflictCase) -> Listed[CaseEvent]:
    rows = ConflictEvent.objects.of_team(case.team_id).filter(case=case).order_by("-version")[:MOST]
    events = [CaseEvent(r.version, r.kind, r.status, r.reason, r.other_id, r.recorded_at) for r in reversed(rows)]
    return Listed(tuple(events), case.version, None)


def _statements(case: ConflictCase) -> Listed[CaseStatement]:
    rows = ConflictStatement.objects.of_team(case.team_id).filter(case=case)
    newest = rows.select_related("owner", "decision").order_by("-seq")[:MOST]
    return Listed(tuple(_statement(row) for row in reversed(newest)), rows.count(), None)


def _statement(row: ConflictStatement) -> CaseStatement:
    return CaseStatement(
        version=row.version,
        owner=Profile(row.owner_id, row.owner.name),
        relationship_id=row.relationship_id,
        relationship_version=row.relationship_version,
        decision_id=row.decision_id,
        message=row.decision.message,
        recorded_at=row.recorded_at,
    )
