"""Holding a text and releasing it: every hold has its security event."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from densemem.db.insert import insert
from evidence.models import (
    Fragment,
    Quarantine,
    SecurityEvent,
    SecuritySignal,
)
from evidence.scan import Assessment
from evidence.vocabulary import (
    QuarantineStatus,
    ScanDecision,
    SecurityDecision,
    SecurityEventKind,
    Severity,
    SignalKind,
)


def quarantine(
    *,
    team_id: UUID,
    fragment_id: UUID,
    by: SecurityEventKind,
    signals: Sequence[tuple[SignalKind, int, int]],
    now: datetime,
) -> None:
    """Hold a fragment because a model saw control text in it."""
    event = SecurityEvent.objects.create(
        team_id=team_id, fragment_id=fragment_id, kind=by, decision=SecurityDecision.QUARANTINE, recorded_at=now
    )
    found = [(kind, Severity.HIGH, start, end) for kind, start, end in signals]
    insert(_signals(event, found, now=now))
    _hold(team_id=team_id, fragment_id=fragment_id, now=now)


def hold_by_person(*, team_id: UUID, fragment_id: UUID, actor_id: UUID, reason: str, now: datetime) -> None:
    """Hold a fragment because a manager says so, with the reason."""
    SecurityEvent.objects.create(
        team_id=team_id,
        fragment_id=fragment_id,
        kind=SecurityEventKind.MANAGER,
        decision=SecurityDecision.QUARANTINE,
        actor_id=actor_id,
        reason=reason,
        recorded_at=now,
    )
    _hold(team_id=team_id, fragment_id=fragment_id, now=now)


def release(*, team_id: UUID, fragment_id: UUID, actor_id: UUID, reason: str, now: datetime) -> None:
    """End the hold on a fragment. It is guarded from here on, and may be held again."""
    SecurityEvent.objects.create(
        team_id=team_id,
        fragment_id=fragment_id,
        kind=SecurityEventKind.RELEASE,
        decision=SecurityDecision.RELEASED,
        actor_id=actor_id,
        reason=reason,
        recorded_at=now,
    )
    held = Quarantine.objects.of_team(team_id).filter(fragment_id=fragment_id)
    held.update(status=QuarantineStatus.RELEASED, released_at=now)


def record_scans(fragments: Sequence[Fragment], assessments: Sequence[Assessment], *, now: datetime) -> None:
    """Append what the deterministic scan saw in each fragment."""
    events = [
        SecurityEvent(
            team_id=fragment.team_id,
            fragment=fragment,
            kind=SecurityEventKind.SCAN,
            decision=SecurityDecision(assessment.decision.value),
            policy_hash=assessment.policy_hash,
            recorded_at=now,
        )
        for fragment, assessment in zip(fragments, assessments, strict=True)
    ]
    insert(events)
    insert(
        signal
        for event, assessment in zip(events, assessments, strict=True)
        for signal in _signals(event, [(s.kind, s.severity, s.start, s.end) for s in assessment.signals], now=now)
    )


def hold_scanned(fragments: Sequence[Fragment], assessments: Sequence[Assessment], *, now: datetime) -> None:
    """Hold the fragments of which the scan says so."""
    for fragment, assessment in zip(fragments, assessments, strict=True):
        if assessment.decision is ScanDecision.QUARANTINE:
            _hold(team_id=fragment.team_id, fragment_id=fragment.id, now=now)


def _signals(
    event: SecurityEvent, spans: Sequence[tuple[SignalKind, Severity, int, int]], *, now: datetime
) -> list[SecuritySignal]:
    return [
        SecuritySignal(
            team_id=event.team_id,
            event=event,
            position=position,
            kind=kind,
            severity=severity,
            start=start,
            end=end,
            recorded_at=now,
        )
        for position, (kind, severity, start, end) in enumerate(spans)
    ]


def _hold(*, team_id: UUID, fragment_id: UUID, now: datetime) -> None:
    Quarantine.objects.update_or_create(
        team_id=team_id,
        fragment_id=fragment_id,
        defaults={"status": QuarantineStatus.ACTIVE, "opened_at": now, "released_at": None},
    )
