"""What is decided without a question: to forget a Relationship, to hold a text, to try a failed one again."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction

from densemem.auth import Principal
from densemem.core.faults import NotThere
from evidence.operations import hold_by_person
from evidence.queries import HeldText, fragment_exists, held_text, is_current, is_guarded, is_quarantined
from placement.decide.asked import Questions
from placement.decide.desk import Decided, DecisionRefused, Desk, open_desk
from placement.decision import read_reason, read_retraction
from placement.models import Item
from placement.operations import ask_for_release, lock_questions, requeue, set_aside, wait_to_set_aside, wake
from placement.queries import failed_items, item_of_fragment, owner_of_ingest
from placement.vocabulary import ItemState
from relationships.operations import hold_records, retract
from review.policy import check_decider
from review.queries import Said, is_asked, messages_about
from review.vocabulary import DecisionAction, TaskKind


@dataclass(frozen=True, slots=True)
class Inspected:
    """A held text, and what members said about it when they asked for its release."""

    evidence: HeldText
    messages: tuple[Said, ...]


def forget(
    *,
    principal: Principal,
    relationship_id: UUID,
    expected_version: int,
    body: object,
    idempotency_key: str,
    now: datetime,
    dry_run: bool = False,
) -> Decided:
    """Take one of the caller's own Relationships out of recall ("Forget And Retraction").

    :raises ScopeMissing: no write scope
    :raises NotThere: no such Relationship in the team
    :raises Refused: not the owner, another version, forgotten already, or a broken contract; nothing was stored
    """
    asked = read_retraction(body)
    desk = open_desk(
        principal=principal,
        asked=asked,
        about=relationship_id,
        body=body,
        key=idempotency_key,
        now=now,
        dry_run=dry_run,
    )
    desk.refuse_held_evidence()
    with desk.sitting():
        if earlier := desk.earlier():
            return earlier
        team = principal.team_id
        questions = Questions(desk, relationship_id)
        staged = desk.stage(beside=questions.waiting)
        hold_records(team_id=team, record_ids=[relationship_id])
        questions.hold()
        now = desk.take_moment()
        retract(
            team_id=team,
            owner_id=principal.profile_id,
            relationship_id=relationship_id,
            expected_version=expected_version,
            now=now,
        )
        made = desk.record(staged=staged, relationship_id=relationship_id)
        questions.withdraw("forgotten")
        return desk.answer(made)


def quarantine(
    *, principal: Principal, fragment_id: UUID, body: object, idempotency_key: str, now: datetime, dry_run: bool = False
) -> Decided:
    """Hold accepted evidence: its supports are revoked and what rested on it is judged again, in one transaction.

    :raises ScopeMissing: no write scope
    :raises NotThere: no such fragment in the team
    :raises Refused: not a manager, held already, outdated, too much depends on it, or a broken contract
    """
    asked = read_reason(body, DecisionAction.QUARANTINE)
    desk = open_desk(
        principal=principal, asked=asked, about=fragment_id, body=body, key=idempotency_key, now=now, dry_run=dry_run
    )
    with desk.sitting():
        if earlier := desk.earlier():
            return earlier
        team, actor = principal.team_id, principal.profile_id
        if not fragment_exists(team_id=team, fragment_id=fragment_id):
            raise NotThere
        check_decider(action=asked.action, kind=None, is_owner=False, is_manager=principal.is_manager)
        item = desk.item(item_of_fragment(team_id=team, fragment_id=fragment_id))
        _check_current(item)  # also of a held text: nobody could answer the question about its release
        if is_quarantined(team_id=team, fragment_id=fragment_id):
            return _ask_again(desk, item)
        wait_to_set_aside(item)
        now = desk.take_moment()
        hold_by_person(team_id=team, fragment_id=fragment_id, actor_id=actor, reason=asked.message, now=now)
        made = desk.record(staged=None, item_id=item.id, fragment_id=fragment_id)
        set_aside(item, reason="held_by_manager", now=now, actor_id=actor)
        return desk.answer(made, item=item)


def inspect(*, principal: Principal, fragment_id: UUID, body: object, idempotency_key: str, now: datetime) -> Inspected:
    """Read a text with its signals, as a manager who decides about it; that it was read, and why, is recorded.

    :raises ScopeMissing: no write scope
    :raises NotThere: no such fragment in the team
    :raises Refused: not a manager, or a broken contract
    """
    asked = read_reason(body, DecisionAction.INSPECT)
    desk = open_desk(principal=principal, asked=asked, about=fragment_id, body=body, key=idempotency_key, now=now)
    with desk.sitting():
        if not fragment_exists(team_id=principal.team_id, fragment_id=fragment_id):
            raise NotThere
        check_decider(action=asked.action, kind=None, is_owner=False, is_manager=principal.is_manager)
        if desk.earlier() is None:
            desk.take_moment()
            desk.record(staged=None, fragment_id=fragment_id)
        return Inspected(
            evidence=held_text(team_id=principal.team_id, fragment_id=fragment_id),
            messages=tuple(messages_about(team_id=principal.team_id, fragment_id=fragment_id)),
        )


def retry(
    *, principal: Principal, ingest_id: UUID, body: object, idempotency_key: str, now: datetime, dry_run: bool = False
) -> Decided:
    """Place the failed items of an ingest again. What was decided about them and not carried out is carried out.

    :raises ScopeMissing: no write scope
    :raises NotThere: no such ingest in the team
    :raises Refused: neither owner nor manager, nothing failed, or a broken contract
    """
    asked = read_reason(body, DecisionAction.RETRY)
    desk = open_desk(
        principal=principal, asked=asked, about=ingest_id, body=body, key=idempotency_key, now=now, dry_run=dry_run
    )
    with desk.sitting():
        if earlier := desk.earlier():
            return earlier
        team, actor = principal.team_id, principal.profile_id
        owner = owner_of_ingest(team_id=team, ingest_id=ingest_id)
        check_decider(action=asked.action, kind=None, is_owner=owner == actor, is_manager=principal.is_manager)
        failed = failed_items(team_id=team, ingest_id=ingest_id)
        rows = [row for item_id in failed if (row := desk.item(item_id)).state == ItemState.FAILED]
        current = [r for r in rows if is_current(team_id=team, fragment_id=r.fragment_id)]
        if not current:
            raise DecisionRefused("Nothing of this ingest failed and still counts.", code="nothing_failed")
        now = desk.take_moment()
        made = desk.record(staged=None, item_id=current[0].id, fragment_id=current[0].fragment_id)
        for row in current:
            guarded = is_guarded(team_id=team, fragment_id=row.fragment_id)
            requeue(row, guarded=guarded, reason="retried", actor_id=actor, now=now)
        transaction.on_commit(wake, robust=True)
        return desk.answer(made, item=current[0])


def _ask_again(desk: Desk, item: Item) -> Decided:
    """Open the question about a text that stays held, unless it is open: a refusal to release is not for ever.

    :raises DecisionRefused: it is open
    """
    if is_asked(team_id=item.team_id, fragment_id=item.fragment_id, kind=TaskKind.POLICY):
        raise DecisionRefused("The text is held already, and its release is asked for.", code="already_quarantined")
    lock_questions(team_id=item.team_id, owner_id=item.owner_id, fragment_ids=[item.fragment_id])
    now = desk.take_moment()
    made = desk.record(staged=None, item_id=item.id, fragment_id=item.fragment_id)
    ask_for_release(item, now=now)
    return desk.answer(made, item=item)


def _check_current(item: Item) -> None:
    if not is_current(team_id=item.team_id, fragment_id=item.fragment_id):
        raise DecisionRefused("A newer revision of the source took its place.", code="revision_not_current")
