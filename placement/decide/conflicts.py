"""What owners say of a conflict that they stand in ("Decisions", 19)."""

from datetime import datetime
from uuid import UUID

from densemem.auth import Principal
from placement.decide.desk import Decided, open_desk
from placement.decision import read_statement
from relationships.operations import may_speak, say_not_competing


def state_not_competing(
    *,
    principal: Principal,
    conflict_id: UUID,
    expected_version: int,
    body: object,
    idempotency_key: str,
    now: datetime,
    dry_run: bool = False,
) -> Decided:
    """Record that the positions of a conflict do not compete; for whoever holds one of them. No record changes.

    :raises ScopeMissing: no write scope
    :raises NotThere: no such conflict in the team
    :raises Refused: no owner of a position, another version, closed or said already, or a broken contract
    """
    asked = read_statement(body)
    desk = open_desk(
        principal=principal, asked=asked, about=conflict_id, body=body, key=idempotency_key, now=now, dry_run=dry_run
    )
    desk.refuse_held_evidence()
    with desk.sitting():
        if earlier := desk.earlier():
            return earlier
        staged = desk.stage(beside=())
        spokesman = may_speak(
            team_id=principal.team_id,
            owner_id=principal.profile_id,
            conflict_id=conflict_id,
            expected_version=expected_version,
        )
        now = desk.take_moment()
        made = desk.record(staged=staged)
        say_not_competing(spokesman, team_id=principal.team_id, decision_id=made.id, now=now)
        return desk.answer(made)
