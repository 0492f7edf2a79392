"""An answer that its author takes back: what it granted is revoked, and the question is open again."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from densemem.auth import Principal
from densemem.core.faults import Fault
from densemem.core.words import Scope
from densemem.db.locks import lock
from entities.operations import unsettle_mentions
from evidence.queries import is_current, is_quarantined
from placement.decide.desk import Decided, DecisionRefused, open_desk
from placement.decision import read_reason
from placement.models import Item
from placement.operations import settle
from placement.vocabulary import ItemState
from relationships.operations import CorrectedSince, wait_to_withdraw, withdraw
from review.operations import cancel_tasks_of_observations, reopen_task
from review.policy import check_decider
from review.queries import DecisionFacts, MadeDecision, corrections_about, made_decision
from review.vocabulary import DecisionAction

UNDONE_BY: Final[Mapping[DecisionAction, DecisionAction]] = {
    DecisionAction.SELECT_ENTITY: DecisionAction.WITHDRAW,
    DecisionAction.CONFIRM_NEW_ENTITY: DecisionAction.WITHDRAW,
    DecisionAction.SELECT_PREDICATE: DecisionAction.WITHDRAW,
    DecisionAction.ACCEPT: DecisionAction.WITHDRAW,
    DecisionAction.REJECT: DecisionAction.REOPEN,
}


def withdraw_decision(
    *, principal: Principal, decision_id: UUID, body: object, idempotency_key: str, now: datetime, dry_run: bool = False
) -> Decided:
    """Take back an answer of the caller that was carried out; a rejection is reopened.

    :raises ScopeMissing: no write scope
    :raises NotThere: no such decision in the team
    :raises Refused: another's, no answer of this kind, not carried out, taken back already, a later decision rests on
        it (it is named), its text does not count, or a broken contract
    """
    principal.require(Scope.WRITE)
    team, actor = principal.team_id, principal.profile_id
    found = made_decision(team_id=team, decision_id=decision_id)
    asked = read_reason(body, UNDONE_BY.get(found.action, DecisionAction.WITHDRAW))
    desk = open_desk(
        principal=principal, asked=asked, about=decision_id, body=body, key=idempotency_key, now=now, dry_run=dry_run
    )
    with desk.sitting():
        if earlier := desk.earlier():
            return earlier
        check_decider(action=asked.action, kind=None, is_owner=found.owner_id == actor, is_manager=principal.is_manager)
        _check_action(found)
        assert found.item_id is not None
        item = desk.item(found.item_id)
        _check_item(item)
        found = made_decision(team_id=team, decision_id=decision_id)
        at, cycle = _check_standing(found)
        assert found.task_id is not None
        wait_to_withdraw(team_id=team, item_id=item.id, at=at)
        lock("questions", team, actor)
        now = desk.take_moment()
        try:
            withdraw(team_id=team, owner_id=actor, item_id=item.id, fragment_id=item.fragment_id, at=at, now=now)
        except CorrectedSince as corrected:
            later = corrections_about(team_id=team, relationship_ids=corrected.record_ids)
            raise _followed_by(later[-1:]) from None
        made = desk.record(staged=None, item_id=item.id, fragment_id=item.fragment_id, task_id=found.task_id)
        cancel_tasks_of_observations(
            team_id=team, observation_ids=found.observation_ids, reason="decision_withdrawn", now=now
        )
        reopen_task(team_id=team, task_id=found.task_id, observation_ids=found.observation_ids, now=now)
        settle(item, reason=found.task_reason, now=now, actor_id=actor)
        unsettle_mentions(team_id=team, item_id=item.id, settled_in=cycle, cycle=item.version, now=now)
        return desk.answer(made, item=item)


def _check_action(found: MadeDecision) -> None:
    if found.action not in UNDONE_BY or found.task_id is None or not found.observation_ids:
        raise DecisionRefused(f"A decision to {found.action} is not taken back so.", code="not_withdrawable")


def _check_item(item: Item) -> None:
    if item.state in (ItemState.QUEUED, ItemState.GUARDED):
        raise DecisionRefused("The text is being placed. Wait for its end, then look again.", code="item_in_work")
    standing = is_current(team_id=item.team_id, fragment_id=item.fragment_id)
    if not standing or is_quarantined(team_id=item.team_id, fragment_id=item.fragment_id):
        raise DecisionRefused("The text counts no more: replaced, withdrawn or held.", code="evidence_not_current")


def _check_standing(found: MadeDecision) -> tuple[datetime, int]:
    """Return when the decision was carried out, and in which cycle; refuse one that does not stand alone.

    :raises DecisionRefused: the code says why
    """
    if found.withdrawn:
        raise DecisionRefused("This decision was taken back already.", code="withdrawn_already")
    if found.carried_out_at is None or found.cycle is None:
        raise DecisionRefused("This decision was not carried out.", code="not_carried_out")
    if found.followed:
        raise _followed_by(found.followed)
    return found.carried_out_at, found.cycle


def _followed_by(later: Sequence[DecisionFacts]) -> DecisionRefused:
    """Return the refusal that names what rests on a decision."""
    named = [f"to {d.action} ({d.id})" for d in later]
    detail = f"What was decided since rests on it: {', '.join(named)}. Take that back first."
    faults = [Fault("", "decided_since", f"The decision {name} rests on it.") for name in named]
    return DecisionRefused(detail, code="decided_since", faults=faults)
