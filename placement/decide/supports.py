"""What a text holds up: its owner withdraws the text, a manager lets a support count again."""

from datetime import datetime
from uuid import UUID

from densemem.auth import Principal
from densemem.core.faults import NotThere
from densemem.db.locks import share
from densemem.db.writer import Writer, writing_for_all
from evidence.operations import retire_fragment
from evidence.queries import is_quarantined, is_retired, owner_of_fragment, standing_of
from placement.decide.desk import Decided, DecisionRefused, open_desk
from placement.decision import read_reason
from placement.operations import (
    HELD,
    lock_items,
    lock_outdated,
    lock_questions,
    supersede_items,
    withdraw_questions,
)
from placement.queries import item_of_fragment, items_of_fragments
from relationships.operations import hold_resting_on, reinstate, revoke_for_fragments, wait_to_meet
from relationships.queries import SupportFacts, support_facts
from review.policy import check_decider
from review.vocabulary import DecisionAction

RETIRED = "evidence_retired"


def retire_evidence(
    *, principal: Principal, fragment_id: UUID, body: object, idempotency_key: str, now: datetime, dry_run: bool = False
) -> Decided:
    """Withdraw one of the caller's texts for good: what rests on it, whoever owns that, is judged again without it.

    :raises ScopeMissing: no write scope
    :raises NotThere: no such fragment in the team
    :raises Refused: not its owner, withdrawn or outdated already, too much depends on it, or a broken contract
    """
    asked = read_reason(body, DecisionAction.RETIRE)
    desk = open_desk(
        principal=principal, asked=asked, about=fragment_id, body=body, key=idempotency_key, now=now, dry_run=dry_run
    )
    with desk.sitting():
        if earlier := desk.earlier():
            return earlier
        team, actor = principal.team_id, principal.profile_id
        owner = owner_of_fragment(team_id=team, fragment_id=fragment_id)
        if owner is None:
            raise NotThere
        check_decider(action=asked.action, kind=None, is_owner=owner == actor, is_manager=principal.is_manager)
        # All items of the text before its source, as a commit does.
        lock_items(team_id=team, item_ids=items_of_fragments(team_id=team, fragment_ids=[fragment_id]))
        item = desk.item(item_of_fragment(team_id=team, fragment_id=fragment_id))
        _check_current(team, fragment_id)
        share("groups", team)
        hold_resting_on(team_id=team, fragment_ids=[fragment_id])
        lock_questions(team_id=team, owner_id=actor, fragment_ids=[fragment_id])
        now = desk.take_moment()
        retire_fragment(team_id=team, owner_id=actor, fragment_id=fragment_id, now=now)
        supersede_items(lock_outdated(team_id=team, fragment_ids=[fragment_id]), reason=RETIRED, now=now)
        with writing_for_all(Writer.SOURCE):
            revoke_for_fragments(team_id=team, fragment_ids=[fragment_id], reason=RETIRED, now=now, actor_id=actor)
        made = desk.record(staged=None, item_id=item.id, fragment_id=fragment_id)
        withdraw_questions(team_id=team, fragment_ids=[fragment_id], reason=RETIRED, now=now)
        return desk.answer(made, item=desk.item(item.id))


def reinstate_support(
    *, principal: Principal, support_id: UUID, body: object, idempotency_key: str, now: datetime, dry_run: bool = False
) -> Decided:
    """Let a support count again that was revoked while its text was held; for managers.

    :raises ScopeMissing: no write scope
    :raises NotThere: no such support in the team
    :raises Refused: not a manager, it counts, it was revoked for good, its text does not count, its Relationship would
        become active beside one that excludes it, or a broken contract
    """
    asked = read_reason(body, DecisionAction.REINSTATE)
    desk = open_desk(
        principal=principal, asked=asked, about=support_id, body=body, key=idempotency_key, now=now, dry_run=dry_run
    )
    with desk.sitting():
        if earlier := desk.earlier():
            return earlier
        team, actor = principal.team_id, principal.profile_id
        found = support_facts(team_id=team, support_id=support_id)
        check_decider(action=asked.action, kind=None, is_owner=False, is_manager=principal.is_manager)
        item = desk.item(item_of_fragment(team_id=team, fragment_id=found.fragment_id))
        _check_current(team, found.fragment_id)
        if is_quarantined(team_id=team, fragment_id=found.fragment_id):
            raise DecisionRefused("The text is held. Release it first.", code="evidence_held")
        _check_revoked_by_hold(support_facts(team_id=team, support_id=support_id))
        wait_to_meet(team_id=team, relationship_id=found.relationship_id)
        now = desk.take_moment()
        with writing_for_all(Writer.REINSTATE):
            reinstate(
                team_id=team,
                support_id=support_id,
                relationship_id=found.relationship_id,
                actor_id=actor,
                reason="reinstated_by_manager",
                now=now,
            )
        made = desk.record(
            staged=None,
            item_id=item.id,
            fragment_id=found.fragment_id,
            support_id=support_id,
            relationship_id=found.relationship_id,
        )
        return desk.answer(made, item=item)


def _check_current(team_id: UUID, fragment_id: UUID) -> None:
    """Refuse a text that counts no more, its source locked; its item, which a hold locks, is locked already.

    :raises DecisionRefused: the code says why
    """
    standing = standing_of(team_id=team_id, fragment_id=fragment_id, lock=True)
    if is_retired(team_id=team_id, fragment_id=fragment_id):
        raise DecisionRefused("The text was withdrawn by its owner, for good.", code=RETIRED)
    if not standing.current:
        raise DecisionRefused("A newer revision of the source took its place.", code="revision_not_current")


def _check_revoked_by_hold(found: SupportFacts) -> None:
    """Refuse what counts, and what was revoked for another cause than that its text was held.

    :raises DecisionRefused: the code says why
    """
    if found.counts:
        raise DecisionRefused("This support counts already.", code="support_counts")
    if found.reason != HELD:
        detail = f"It was revoked for another cause than a hold ({found.reason}). That is its owner's to mend."
        raise DecisionRefused(detail, code="not_revoked_by_hold")
