"""What an owner holds back, and lets take part again."""

from datetime import datetime
from typing import Final
from uuid import UUID

from densemem.auth import Principal
from placement.decide.asked import Questions
from placement.decide.desk import Decided, open_desk
from placement.decision import read_hold
from relationships import operations
from relationships.vocabulary import Status
from review.vocabulary import DecisionAction

# What a lift answers of itself: whether the hold still stands.
STATED_AGAIN: Final = tuple(f"stated_again_after_{s}" for s in (Status.RETRACTED, Status.DISPUTED, Status.REJECTED))


def dispute(
    *,
    principal: Principal,
    relationship_id: UUID,
    expected_version: int,
    body: object,
    idempotency_key: str,
    now: datetime,
    dry_run: bool = False,
) -> Decided:
    """Hold one of the caller's own Relationships back; what is asked about it stays asked.

    :raises ScopeMissing: no write scope
    :raises NotThere: no such Relationship in the team
    :raises Refused: not the owner, another version, a state that takes no part anyway, or a broken contract
    """
    asked = read_hold(body, DecisionAction.DISPUTE)
    desk = open_desk(
        principal=principal,
        asked=asked,
        about=relationship_id,
        body=body,
        key=idempotency_key,
        now=now,
        dry_run=dry_run,
    )
    with desk.sitting():
        if earlier := desk.earlier():
            return earlier
        operations.hold_records(team_id=principal.team_id, record_ids=[relationship_id])
        now = desk.take_moment()
        operations.dispute(
            team_id=principal.team_id,
            owner_id=principal.profile_id,
            relationship_id=relationship_id,
            expected_version=expected_version,
            now=now,
        )
        return desk.answer(desk.record(staged=None, relationship_id=relationship_id))


def lift(
    *,
    principal: Principal,
    relationship_id: UUID,
    expected_version: int,
    body: object,
    idempotency_key: str,
    now: datetime,
    dry_run: bool = False,
) -> Decided:
    """Undo a dispute, a forgetting or a person's rejection: the Relationship is judged by the support that counts.

    :raises ScopeMissing: no write scope
    :raises NotThere: no such Relationship in the team
    :raises Refused: not the owner, another version, nothing to lift, another is active that excludes it, or a broken
        contract
    """
    asked = read_hold(body, DecisionAction.LIFT)
    desk = open_desk(
        principal=principal,
        asked=asked,
        about=relationship_id,
        body=body,
        key=idempotency_key,
        now=now,
        dry_run=dry_run,
    )
    with desk.sitting():
        if earlier := desk.earlier():
            return earlier
        questions = Questions(desk, relationship_id, asked=STATED_AGAIN)
        desk.stage(beside=questions.waiting)
        operations.wait_to_meet(team_id=principal.team_id, relationship_id=relationship_id)
        questions.hold()
        now = desk.take_moment()
        operations.lift(
            team_id=principal.team_id,
            owner_id=principal.profile_id,
            relationship_id=relationship_id,
            expected_version=expected_version,
            now=now,
        )
        made = desk.record(staged=None, relationship_id=relationship_id)
        questions.withdraw("lifted")
        return desk.answer(made)
