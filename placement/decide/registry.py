"""What managers decide about relation meanings, for their team alone ("Predicate Registry"; who decides, 24 and 25).

A wording that is registered settles the questions that it answers, whoever owns them: their texts are verified anew,
and what follows is written by the worker for the owner of each text. Only a text that waits for a person is taken up.
One that is being placed, or failed, stays asked; the same wording sent again takes it up when it waits again.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from django.db import transaction

from densemem.auth import Principal
from densemem.core import limits
from densemem.db.locks import lock, lock_all
from evidence.queries import is_guarded
from placement.decide.desk import Decided, Desk, open_desk
from placement.decision import DecisionRequest, read_lifecycle, read_predicate, read_wording
from placement.models import Item
from placement.operations import lock_items, requeue, wake
from placement.plan import wording_subject
from placement.vocabulary import ItemState
from relationships.definitions import Definition, version_of
from relationships.operations import append_definition
from relationships.policy.registry import Edit, Known, add_wording, register, set_lifecycle
from relationships.queries import ever_registered
from review.operations import NewDecision, close_task, record_decision
from review.policy import check_decider
from review.queries import (
    Asking,
    DecisionFacts,
    count_decisions,
    count_items_asking,
    items_asking,
    observations_asking,
    predicate_decided,
)
from review.vocabulary import TaskKind, TaskStatus

REENTRY: Final = "reentry"  # the operation of the rows that send texts back; no client names it


@dataclass(frozen=True, slots=True)
class RegistryDecided:
    """
    A decision about the registry that stands.

    :param predicate: the version that holds by it
    :param taken_up: how many texts are verified anew because of it
    :param still_asked: how many texts it would answer, but wait on; send the wording again to take them up
    """

    decision: Decided
    predicate: Definition
    taken_up: int
    still_asked: int


def register_predicate(
    *, principal: Principal, body: object, idempotency_key: str, now: datetime, dry_run: bool = False
) -> RegistryDecided:
    """Register a key of the team's own, with its wordings.

    :raises ScopeMissing: no write scope
    :raises Refused: not a manager, the key or a wording is taken, or a broken contract; nothing was stored
    """
    asked, new = read_predicate(body)
    desk = _open(principal, asked, "predicates", body, idempotency_key, now, dry_run)
    return _decide(desk, partial(register, new))


def register_wording(
    *,
    principal: Principal,
    key: str,
    expected_version: int,
    body: object,
    idempotency_key: str,
    now: datetime,
    dry_run: bool = False,
) -> RegistryDecided:
    """Let a wording mean a key. One that means it already makes no new version: what still waits for it is taken up.

    :raises ScopeMissing: no write scope
    :raises NotThere: the team has no such key
    :raises Refused: not a manager, another version, the wording is taken, or a broken contract; nothing was stored
    """
    asked, wording = read_wording(body)
    desk = _open(principal, asked, key, body, idempotency_key, now, dry_run)
    return _decide(desk, lambda known: add_wording(key, wording, expected_version=expected_version, known=known))


def change_lifecycle(
    *,
    principal: Principal,
    key: str,
    expected_version: int,
    body: object,
    idempotency_key: str,
    now: datetime,
    dry_run: bool = False,
) -> RegistryDecided:
    """Deprecate or retire a key for the team, or take it back into use. What was recorded with it stays as it is.

    :raises ScopeMissing: no write scope
    :raises NotThere: the team has no such key
    :raises Refused: not a manager, another version, no such step, or a broken contract; nothing was stored
    """
    asked, state = read_lifecycle(body)
    desk = _open(principal, asked, key, body, idempotency_key, now, dry_run)
    return _decide(desk, lambda known: set_lifecycle(key, state, expected_version=expected_version, known=known))


def _open(
    principal: Principal, asked: DecisionRequest, about: str, body: object, key: str, now: datetime, dry_run: bool
) -> Desk:
    return open_desk(principal=principal, asked=asked, about=about, body=body, key=key, now=now, dry_run=dry_run)


def _decide(desk: Desk, edit_of: Callable[[Known], Edit]) -> RegistryDecided:
    """Change the registry and take up what waited for it, in one transaction.

    The lock on the registry comes after those on items and before those on questions, as in the commit of an item: a
    question about the wording is either seen here, or not asked any more.
    """
    with desk.sitting():
        if earlier := desk.earlier():
            return _told(desk, earlier)
        team = desk.principal.team_id
        action = desk.asked.action
        check_decider(action=action, kind=None, is_owner=False, is_manager=desk.principal.is_manager)
        subjects = _subjects(edit_of(ever_registered(team_id=team)).wordings)
        asking = items_asking(team_id=team, kind=TaskKind.PREDICATE, subjects=subjects, limit=limits.REGISTRY_ITEMS)
        items = lock_items(team_id=team, item_ids=asking)
        lock("registry", team)
        known = ever_registered(team_id=team)
        edit = edit_of(known)
        asked = _hold_questions(team, items, subjects)
        desk.take_moment()
        if edit.predicate != known.get(edit.predicate.key):
            append_definition(team_id=team, predicate=edit.predicate, now=desk.now)
        made = desk.record(staged=None, predicate_key=edit.predicate.key, predicate_version=edit.predicate.version)
        _take_up(desk, made, items, asked)
        return _told(desk, desk.answer(made))


def _subjects(wordings: Collection[str]) -> list[str]:
    return sorted({wording_subject(wording) for wording in wordings})


def _hold_questions(team_id: UUID, items: Collection[Item], subjects: Collection[str]) -> list[Asking]:
    """Lock the questions of whoever waits for these answers, and return what is still asked."""
    waiting = {item.id for item in items if item.state == ItemState.AWAITING_REVIEW}
    asking = partial(observations_asking, team_id=team_id, kind=TaskKind.PREDICATE, subjects=subjects, item_ids=waiting)
    lock_all(("questions", team_id, owner) for owner in {row.owner_id for row in asking()})
    return asking()  # what was answered meanwhile is answered


def _take_up(desk: Desk, made: DecisionFacts, items: Collection[Item], rows: Sequence[Asking]) -> None:
    """Send back the texts that wait for these answers, and close their questions; about any other it is asked anew."""
    waiting = {item.id: item for item in items}
    task_of = {row.item_id: row.task_id for row in reversed(rows)}
    for item_id in sorted(task_of):
        _send_back(desk, made, waiting[item_id], task_id=task_of[item_id])
    for task_id in sorted({row.task_id for row in rows}):
        _close(desk, task_id, [row for row in rows if row.task_id == task_id])
    if rows:
        transaction.on_commit(wake, robust=True)


def _send_back(desk: Desk, made: DecisionFacts, item: Item, *, task_id: UUID) -> None:
    """Let an item begin again, with a row that says by which decision: it is carried out once."""
    key, version = predicate_decided(team_id=item.team_id, decision_id=made.id)
    reentry = NewDecision(
        team_id=item.team_id,
        owner_id=desk.principal.profile_id,
        user_id=desk.principal.user_id,
        action=made.action,
        operation=REENTRY,
        idempotency_key=f"{made.id}:{item.id}",
        request_hash=made.request_hash,
        message=desk.asked.message,
        task_id=task_id,
        item_id=item.id,
        item_version=item.version,
        fragment_id=item.fragment_id,
        predicate_key=key,
        predicate_version=version,
    )
    record_decision(reentry, fragment_ids=(), now=desk.now)
    guarded = is_guarded(team_id=item.team_id, fragment_id=item.fragment_id)
    requeue(item, guarded=guarded, reason=f"decided_{made.action}", actor_id=reentry.owner_id, now=desk.now)


def _close(desk: Desk, task_id: UUID, rows: Collection[Asking]) -> None:
    close_task(
        team_id=desk.principal.team_id,
        task_id=task_id,
        status=TaskStatus.RESOLVED,
        actor_id=desk.principal.profile_id,
        reason=desk.asked.action.value,
        answered={row.observation_id for row in rows},
        now=desk.now,
    )


def _told(desk: Desk, decision: Decided) -> RegistryDecided:
    """Return the decision with the version that it made, and with how far what waited for it is."""
    team = desk.principal.team_id
    key, version = predicate_decided(team_id=team, decision_id=decision.decision_id)
    made = version_of(team_id=team, key=key, version=version)
    subjects = _subjects((key, key.replace("_", " "), *made.aliases))
    taken_up = count_decisions(team_id=team, operation=REENTRY, key_starts=f"{decision.decision_id}:")
    asked = count_items_asking(team_id=team, kind=TaskKind.PREDICATE, subjects=subjects)
    after = 1 if taken_up and not decision.replayed else 0
    return RegistryDecided(replace(decision, check_after_seconds=after), made, taken_up, asked)
