"""Support that counts again because a person says so ("Evidence support", a separately authorised reconsideration)."""

from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from densemem.db.insert import insert
from relationships.models import SupportDecision
from relationships.operations.conflicts import settling
from relationships.operations.meeting import change_of, check_alone, judged, meet, refer, risen
from relationships.operations.standing import apply_changes
from relationships.policy import Standing
from relationships.search import write_documents
from relationships.vocabulary import Status, SupportAction

# A record without any other support was judged by its held evidence: with it, it is judged again.
JUDGED: Final = (Status.ACTIVE, Status.PENDING, Status.QUARANTINED)


def reinstate(
    *, team_id: UUID, support_id: UUID, relationship_id: UUID, actor_id: UUID, reason: str, now: datetime
) -> None:
    """Let a revoked support count again, and judge its record by all that counts now; other holds stay.

    A record that is active then meets the others' as one that was granted a support does. The caller has checked that
    the evidence may count.

    :raises MeetsAnother: the record would become active beside one of its owner that excludes it
    """
    status = meet(team_id=team_id, relationship_id=relationship_id).record.status
    step = SupportDecision(
        team_id=team_id,
        support_id=support_id,
        action=SupportAction.REINSTATE,
        actor_id=actor_id,
        reason=reason,
        recorded_at=now,
    )
    insert([step])
    meeting = meet(team_id=team_id, relationship_id=relationship_id)
    record = meeting.record
    standing, voices = judged(record.effective, team_id=team_id)
    others = meeting.active(without=record.id)
    if status not in JUDGED:
        standing = Standing(record.tier, status, "hold_kept")
    elif status is not Status.ACTIVE:
        check_alone(replace(record, tier=standing.tier).position(), others)
    change = change_of(
        record,
        replace(standing, reason=reason),
        held=record.held_by_person,
        counts=(len(record.effective), voices),
    )
    with settling(team_id=team_id, now=now):
        apply_changes(team_id=team_id, changes=[change], now=now)
        if standing.status is Status.ACTIVE:
            refer(risen(record, change), others, now=now)
    write_documents(team_id=team_id, record_ids={record.id}, now=now)
