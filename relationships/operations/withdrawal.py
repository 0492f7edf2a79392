"""What an item wrote because of an answer that is withdrawn: its grants are revoked, what it replaced is given back."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from densemem.core.faults import Because, Refused
from densemem.db.insert import insert
from densemem.db.locks import lock, share
from relationships.models import SupportDecision, Transition
from relationships.operations.conflicts import lock_cases, settling
from relationships.operations.meeting import change_of, check_alone, judged, refer, risen
from relationships.operations.standing import apply_changes
from relationships.plan import Change
from relationships.policy import Standing, StoredRecord
from relationships.queries import counting_supports, records_by_id, stored_records
from relationships.search import write_documents
from relationships.vocabulary import BY_CORRECTION, Status, SupportAction, Tier

WITHDRAWN: Final = "decision_withdrawn"


class CorrectedSince(Refused):
    """What was granted holds up another record by now, to which its owner corrected the one that it was granted to."""

    because = Because.CONFLICT
    code = "corrected_since"

    def __init__(self, record_ids: Collection[UUID]) -> None:
        super().__init__("Its owner corrected since what rests on it.")
        self.record_ids = record_ids


def withdraw(*, team_id: UUID, owner_id: UUID, item_id: UUID, fragment_id: UUID, at: datetime, now: datetime) -> None:
    """Take back what one commit of an item did: its grants, its rejections, and what it superseded.

    What changed again since stays as it is, but for its counts.

    :param at: the moment of the commit
    :raises CorrectedSince: its owner corrected a record since that rests on it
    :raises MeetsAnother: what would be given back meets another active record of the owner
    """
    step_of, met = _meet(team_id=team_id, item_id=item_id, at=at)
    decided = SupportDecision.objects.of_team(team_id).filter(recorded_at=at, support__fragment_id=fragment_id)
    granted = set(decided.values_list("support_id", flat=True))
    if corrected := _corrected_among(team_id, granted):
        raise CorrectedSince(corrected)
    insert(
        SupportDecision(
            team_id=team_id,
            support_id=support,
            action=SupportAction.REVOKE,
            actor_id=owner_id,
            reason=WITHDRAWN,
            recorded_at=now,
        )
        for support in counting_supports(granted)
    )
    records = records_by_id(team_id=team_id, record_ids=step_of)
    changes = [c for r in records if (c := _undone(r, step_of[r.id], owner_id=owner_id))]
    fallen = {c.relationship_id for c in changes if c.status is not Status.ACTIVE}
    _check_returns(records, changes, [r for r in met if r.status is Status.ACTIVE and r.id not in fallen])
    back = {c.relationship_id: c for c in changes if c.status is Status.ACTIVE and c.status_before is not Status.ACTIVE}
    others = [r for r in met if r.status is Status.ACTIVE and r.identity.owner_id != owner_id]
    with settling(team_id=team_id, now=now):
        apply_changes(team_id=team_id, changes=changes, now=now)
        for record in records:
            if record.id in back:
                refer(risen(record, back[record.id]), others, now=now)
    write_documents(team_id=team_id, record_ids={c.relationship_id for c in changes}, now=now)


def wait_to_withdraw(*, team_id: UUID, item_id: UUID, at: datetime) -> None:
    """Wait for the records that one commit of an item changed, what they can meet, and the conflict cases."""
    _meet(team_id=team_id, item_id=item_id, at=at)
    lock_cases(team_id)


def _meet(*, team_id: UUID, item_id: UUID, at: datetime) -> tuple[dict[UUID, Transition], list[StoredRecord]]:
    """Lock what the records that a commit changed can meet; return its last step of each, and what they meet."""
    steps = Transition.objects.of_team(team_id).filter(recorded_at=at, verification__observation__item_id=item_id)
    step_of = {row.relationship_id: row for row in steps.order_by("version").select_related("relationship")}
    share("groups", team_id)
    slots = {(row.relationship.subject_entity_id, row.relationship.predicate_key) for row in step_of.values()}
    for slot in sorted(slots):
        lock("slot", team_id, *slot)
    return step_of, stored_records(team_id=team_id, pairs=slots, lock=True)


def _corrected_among(team_id: UUID, supports: Collection[UUID]) -> set[UUID]:
    """Return the records whose support of these was carried to another by a correction, as the last that happened."""
    rows = SupportDecision.objects.of_team(team_id).filter(support_id__in=supports)
    newest = rows.order_by("support_id", "-seq").distinct("support_id")
    found = newest.values_list("support__relationship_id", "action", "reason")
    return {record for record, action, reason in found if (action, reason) == (SupportAction.REVOKE, BY_CORRECTION)}


def _undone(record: StoredRecord, step: Transition, *, owner_id: UUID) -> Change | None:
    """Return the change that takes a step back, or that counts anew; None when neither is needed."""
    worth, voices = judged(record.effective, team_id=record.identity.team_id)
    counts = len(record.effective), voices
    standing = Standing(record.tier, record.status, WITHDRAWN)
    moved = record.version != step.version  # by something else since
    if record.status is Status.ACTIVE:
        waits = worth.status is not Status.ACTIVE and step.status_before == Status.REVIEW
        standing = Standing(Tier.CANDIDATE, Status.REVIEW, WITHDRAWN) if waits else worth
    elif record.status is Status.SUPERSEDED and not moved:
        standing = worth
    elif record.status is Status.REJECTED and not moved and step.status_before:
        standing = Standing(Tier.CANDIDATE, Status(step.status_before), WITHDRAWN)
    if (record.tier, record.status, *_counts(record)) == (standing.tier, standing.status, *counts):
        return None
    held = record.held_by_person and standing.status is record.status
    return change_of(record, replace(standing, reason=WITHDRAWN), actor_id=owner_id, held=held, counts=counts)


def _counts(record: StoredRecord) -> tuple[int, int]:
    return record.support_count, record.source_group_count


def _check_returns(records: list[StoredRecord], changes: list[Change], active: list[StoredRecord]) -> None:
    """Refuse to give back what meets a record that became active since."""
    back = {c.relationship_id: c for c in changes if c.status is Status.ACTIVE and c.status_before is not Status.ACTIVE}
    for record in records:
        if record.id in back:
            check_alone(replace(record, tier=back[record.id].tier).position(), active)
