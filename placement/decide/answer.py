"""The answer to a review task."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from densemem.auth import Principal
from densemem.core.faults import Fault
from densemem.db.locks import lock
from densemem.db.writer import Writer, writing_for_all
from entities.queries import active_kinds, mention_of_event
from evidence.operations import release
from evidence.queries import is_current, is_guarded, is_quarantined
from placement.decide.desk import Decided, DecisionRefused, Desk, open_desk
from placement.decision import read_decision
from placement.models import Item
from placement.operations import lock_items, requeue, requeue_all, wake
from placement.queries import items_of_fragments
from placement.vocabulary import ItemState
from relationships.operations import let_go, wait_to_let_go
from relationships.queries import end_kinds, registry
from review.operations import acknowledge_task, cancel_tasks_of_item, close_task
from review.policy import check_action, check_decider
from review.queries import TaskFacts, observations_waiting, task_facts
from review.vocabulary import UNSETTLED, DecisionAction, TaskKind, TaskStatus

ENDED: Final = (ItemState.COMPLETED, ItemState.AWAITING_REVIEW, ItemState.QUARANTINED)
ENTITY_ACTIONS: Final = (DecisionAction.SELECT_ENTITY, DecisionAction.CONFIRM_NEW_ENTITY)


def decide(
    *, principal: Principal, review_id: UUID, body: object, idempotency_key: str, now: datetime, dry_run: bool = False
) -> Decided:
    """Answer a review task.

    :raises ScopeMissing: no write scope
    :raises NotThere: no such task in the team
    :raises Refused: one of its kinds; nothing was stored
    """
    asked = read_decision(body)
    desk = open_desk(
        principal=principal, asked=asked, about=review_id, body=body, key=idempotency_key, now=now, dry_run=dry_run
    )
    with desk.sitting():
        if earlier := desk.earlier():
            return earlier
        task = task_facts(team_id=principal.team_id, task_id=review_id)
        _check_right(desk, task)
        item_id = _item_of(desk, task)
        staged = desk.stage(beside=_locked(desk, task, item_id))
        item = desk.item(item_id)
        if asked.action is DecisionAction.RELEASE:
            wait_to_let_go(team_id=task.team_id, fragment_id=task.fragment_id)
        lock("questions", principal.team_id, task.owner_id)
        _check_open(desk, task)
        now = desk.take_moment()
        if asked.action is DecisionAction.ACKNOWLEDGE:
            acknowledge_task(team_id=task.team_id, task_id=task.id, actor_id=principal.profile_id, now=now)
            return desk.answer(
                desk.record(staged=staged, task_id=task.id, item_id=item.id, fragment_id=task.fragment_id), item=item
            )
        _check_item(desk, item)
        return _answer(desk, task, item, staged)


def _check_right(desk: Desk, task: TaskFacts) -> None:
    check_action(kind=task.kind, action=desk.asked.action)
    check_decider(
        action=desk.asked.action,
        kind=task.kind,
        is_owner=task.owner_id == desk.principal.profile_id,
        is_manager=desk.principal.is_manager,
    )


def _item_of(desk: Desk, task: TaskFacts) -> UUID:
    """Return the item that an answer is about: the one of the observation that it names, else the task's own."""
    named = desk.asked.observation_id
    waiting = dict(observations_waiting(team_id=task.team_id, task_id=task.id)) if named else {}
    if named and named not in waiting:
        faults = [Fault("/observation_id", "not_waiting", "This observation does not wait for this answer.")]
        raise DecisionRefused("The answer is about something else.", code="observation_not_waiting", faults=faults)
    item_id = waiting[named] if named else task.item_id
    if desk.asked.item_id not in (None, item_id):
        faults = [Fault("/item_id", "other_item", f"The answer is about the item {item_id}.")]
        raise DecisionRefused("The answer names another item.", code="other_item", faults=faults)
    return item_id


def _locked(desk: Desk, task: TaskFacts, item_id: UUID) -> list[UUID]:
    """Return the items that an answer may change: a release, all that place the text, for whomever."""
    released = desk.asked.action is DecisionAction.RELEASE
    return items_of_fragments(team_id=task.team_id, fragment_ids=[task.fragment_id]) if released else [item_id]


def _check_open(desk: Desk, task: TaskFacts) -> None:
    """Refuse to answer what was answered meanwhile; the lock on the owner's questions is held."""
    now = task_facts(team_id=task.team_id, task_id=task.id)
    if now.status not in UNSETTLED:
        raise DecisionRefused(f"This question is {now.status} already. Look at it again.", code="task_settled")


def _check_item(desk: Desk, item: Item) -> None:
    """Refuse to decide about an item that is not as it was looked at.

    The state comes first: an item that is placed at this moment changes its version anyway.
    """
    held = desk.asked.action is DecisionAction.RELEASE
    if item.state in (ItemState.QUEUED, ItemState.GUARDED):
        raise DecisionRefused("The text is being placed. Wait for its end, then look again.", code="item_in_work")
    if item.version != desk.asked.item_version:
        detail = f"The item is at version {item.version} now. Look at it again, then decide."
        faults = [Fault("/item_version", "stale", detail)]
        raise DecisionRefused(detail, code="item_version_stale", faults=faults)
    # Without a lock on the source: the worker looks again, and questions are locked last.
    if not is_current(team_id=item.team_id, fragment_id=item.fragment_id):
        raise DecisionRefused("A newer revision of the source took its place.", code="revision_not_current")
    if held and item.state != ItemState.QUARANTINED:
        raise DecisionRefused("The text is not held.", code="not_quarantined")


def _answer(desk: Desk, task: TaskFacts, item: Item, staged: UUID | None) -> Decided:
    """Record the answer, close the question, and send the item back to its worker where the answer needs one."""
    action, now, actor = desk.asked.action, desk.now, desk.principal.profile_id
    about: dict[str, Any] = {
        "task_id": task.id,
        "item_id": item.id,
        "fragment_id": item.fragment_id,
        "relationship_id": task.relationship_id,
        **_choice(desk, task),
    }
    reenters = action is DecisionAction.RELEASE or task.kind is not TaskKind.POLICY
    if reenters:
        _check_state(item, action)
        about["item_version"] = item.version
    made = desk.record(staged=staged, **about)
    answered = {o for o, of in observations_waiting(team_id=task.team_id, task_id=task.id) if of == item.id}
    if desk.asked.observation_id:
        answered = {desk.asked.observation_id}
    close_task(
        team_id=task.team_id,
        task_id=task.id,
        status=TaskStatus.RESOLVED,
        actor_id=actor,
        reason=action.value,
        answered=answered,
        now=now,
    )
    if action is DecisionAction.CORRECT:
        # What is read anew asks anew.
        cancel_tasks_of_item(team_id=item.team_id, item_id=item.id, reason="read_anew", now=now)
    if action is DecisionAction.RELEASE:
        _let_go(desk, task.fragment_id)
        _place_for_adopters(desk, task, item)
    if reenters:
        guarded = is_guarded(team_id=item.team_id, fragment_id=item.fragment_id)
        requeue(item, guarded=guarded, reason=f"decided_{action}", actor_id=actor, now=now)
        transaction.on_commit(wake, robust=True)
    return desk.answer(made, item=item)


def _let_go(desk: Desk, fragment_id: UUID) -> None:
    """End the hold on a text, and judge what it set aside, whoever owns that."""
    team, actor = desk.principal.team_id, desk.principal.profile_id
    release(team_id=team, fragment_id=fragment_id, actor_id=actor, reason=desk.asked.message, now=desk.now)
    with writing_for_all(Writer.HOLD):
        let_go(team_id=team, fragment_id=fragment_id, now=desk.now)


def _place_for_adopters(desk: Desk, task: TaskFacts, answered: Item) -> None:
    """Send the other items of a released text back too: their supports were revoked when it was held.

    In a number of statements that does not grow with them; they are locked already.
    """
    placing = items_of_fragments(team_id=task.team_id, fragment_ids=[task.fragment_id])
    rows = lock_items(team_id=task.team_id, item_ids=placing)
    ended = [row for row in rows if row.id != answered.id and row.state in ENDED]
    actor = desk.principal.profile_id
    requeue_all(ended, guarded=True, reason=f"decided_{desk.asked.action}", actor_id=actor, now=desk.now)


def _check_state(item: Item, action: DecisionAction) -> None:
    """Refuse to send back an item that does not wait for a person."""
    if action is not DecisionAction.RELEASE and item.state != ItemState.AWAITING_REVIEW:
        raise DecisionRefused(f"The text is {item.state}: it waits for no answer.", code="item_not_waiting")
    if action is not DecisionAction.RELEASE and is_quarantined(team_id=item.team_id, fragment_id=item.fragment_id):
        raise DecisionRefused("The text is held. Only its release can be decided.", code="evidence_held")


def _choice(desk: Desk, task: TaskFacts) -> Mapping[str, Any]:
    """Check what was chosen against what is on offer, and return it for the record."""
    action = desk.asked.action
    if action in ENTITY_ACTIONS:
        return _chosen_entity(desk, task)
    return _chosen_predicate(desk, task) if action is DecisionAction.SELECT_PREDICATE else {}


def _chosen_entity(desk: Desk, task: TaskFacts) -> Mapping[str, Any]:
    assert task.resolution_id is not None  # every question about identity has one
    mention, offered = mention_of_event(team_id=task.team_id, event_id=task.resolution_id)
    if desk.asked.entity_ref != mention:
        faults = [Fault("/entity_ref", "other_mention", f"The question is about the mention {mention!r}.")]
        raise DecisionRefused("The answer is about another mention.", code="other_mention", faults=faults)
    chosen = desk.asked.entity_id
    if chosen is not None and chosen not in active_kinds(team_id=task.team_id, entity_ids=offered):
        faults = [Fault("/candidate_entity_id", "not_offered", "Choose one of the candidates of the question.")]
        raise DecisionRefused("This entity was not offered.", code="candidate_not_offered", faults=faults)
    return {"mention_ref": mention, "entity_id": chosen}


def _chosen_predicate(desk: Desk, task: TaskFacts) -> Mapping[str, Any]:
    asked = desk.asked
    assert asked.observation_id is not None  # the action needs it
    known = registry(team_id=task.team_id).get(asked.predicate_key)
    if known is None or known.version != asked.predicate_version:
        now = f" It is at version {known.version}." if known else ""
        faults = [Fault("/predicate_key", "not_registered", f"No such predicate in this version.{now}")]
        raise DecisionRefused("The predicate is not registered so.", code="predicate_not_registered", faults=faults)
    ends = end_kinds(team_id=task.team_id, observation_id=asked.observation_id)
    if ends and not known.accepts(subject_kind=ends[0], object_kind=ends[1]):
        faults = [Fault("/predicate_key", "kinds_do_not_fit", f"It does not join {ends[0]} and {ends[1]}.")]
        raise DecisionRefused("The predicate does not fit the ends.", code="predicate_does_not_fit", faults=faults)
    return {
        "observation_id": asked.observation_id,
        "predicate_key": known.key,
        "predicate_version": known.version,
    }
