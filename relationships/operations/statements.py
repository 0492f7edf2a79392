"""An owner says that the positions of a conflict do not compete: recorded, and no record changes by it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from densemem.core.faults import Because, NotThere, Refused
from densemem.db.insert import insert
from relationships.models import ConflictCase, ConflictPosition, ConflictStatement
from relationships.operations.conflicts import carry_out, lock_cases
from relationships.operations.meeting import NotOwned, VersionStale
from relationships.policy.conflicts import ConflictState, Holder, decide_statement, have_said
from relationships.stored import case_states, holders_of
from relationships.vocabulary import ConflictStatus


class ConflictSettled(Refused):
    """There is nothing to say of this conflict any more; the code names why."""

    because = Because.CONFLICT
    code = "conflict_closed"


@dataclass(frozen=True, slots=True)
class Spokesman:
    """Somebody who may speak for a position: the case as it stands, locked, with his records and everybody's."""

    case: ConflictState
    own: tuple[Holder, ...]
    holders: tuple[Holder, ...]


def may_speak(*, team_id: UUID, owner_id: UUID, conflict_id: UUID, expected_version: int) -> Spokesman:
    """Lock the conflicts of the team, and check that this profile may say something of one; nothing is written.

    :raises NotThere: no such case in the team
    :raises NotOwned: the profile holds none of its positions
    :raises VersionStale: it changed since the caller looked
    :raises ConflictSettled: it is closed, was merged, or the owner has said so already
    """
    lock_cases(team_id)
    row = ConflictCase.objects.of_team(team_id).filter(pk=conflict_id).first()
    if row is None:
        raise NotThere
    stood = ConflictPosition.objects.of_team(team_id).filter(case=row)
    groups = set(stood.values_list("semantic_group_key", flat=True))
    holders = tuple(holders_of(team_id=team_id, groups=groups))
    own = tuple(h for h in holders if h.owner_id == owner_id)
    if not own:
        raise NotOwned("Only an owner of an active Relationship in the conflict can say that it does not compete.")
    if row.version != expected_version:
        raise VersionStale(f"The conflict is at version {row.version} now. Look at it again, then decide.")
    if row.merged_into_id is not None:
        raise ConflictSettled(f"This conflict became part of {row.merged_into_id}.", code="conflict_merged")
    if row.status == ConflictStatus.CLOSED:
        raise ConflictSettled("This conflict is closed: nothing competes.")
    (case,) = case_states(team_id=team_id, groups=groups)
    if have_said(case, own, holders):
        raise ConflictSettled("You have said so already. Others have not yet.", code="said_already")
    return Spokesman(case, own, holders)


def say_not_competing(spokesman: Spokesman, *, team_id: UUID, decision_id: UUID, now: datetime) -> None:
    """Append the statement, for every record of its owner in the case; the case closes when it was the last one."""
    case = spokesman.case
    insert(
        ConflictStatement(
            team_id=team_id,
            case_id=case.case_id,
            version=case.version + 1,
            owner_id=held.owner_id,
            relationship_id=held.relationship_id,
            relationship_version=held.version,
            decision_id=decision_id,
            recorded_at=now,
        )
        for held in spokesman.own
    )
    carry_out(team_id, [decide_statement(case, spokesman.own, spokesman.holders)], now=now)
