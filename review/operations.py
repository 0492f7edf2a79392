"""Writes of review: questions and decisions.

Opening a task is part of the commit that found the question. Questions of an owner change under one lock, taken by the
caller, last of all.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from review.models import Decision, DecisionEvidence, DecisionUse, Task, TaskEvent, Waiting
from review.queries import DecisionFacts, facts_of_decision, subject_key
from review.vocabulary import UNSETTLED, DecisionAction, TaskKind, TaskStatus


@dataclass(frozen=True, slots=True)
class NewTask:
    """A question for an owner about one item.

    `subject` names what it is about, so that it is asked once; it may hold words of the evidence, so a table keeps
    only its keyed digest.
    """

    kind: TaskKind
    subject: str
    reason: str
    observation_id: UUID | None = None
    resolution_id: UUID | None = None
    relationship_id: UUID | None = None
    rival_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDecision:
    """What one profile decides; `item_version` is given when the item re-enters because of it."""

    team_id: UUID
    owner_id: UUID
    user_id: int | None
    action: DecisionAction
    operation: str
    idempotency_key: str
    request_hash: str
    message: str = ""
    task_id: UUID | None = None
    item_id: UUID | None = None
    item_version: int | None = None
    fragment_id: UUID | None = None
    observation_id: UUID | None = None
    relationship_id: UUID | None = None
    support_id: UUID | None = None
    mention_ref: str = ""
    entity_id: UUID | None = None
    predicate_key: str = ""
    predicate_version: int | None = None
    evidence_ingest_id: UUID | None = None


def open_tasks(
    *, team_id: UUID, owner_id: UUID, item_id: UUID, fragment_id: UUID, tasks: Sequence[NewTask], now: datetime
) -> None:
    """Ask each question once; an observation that meets an open question waits for its answer too."""
    subjects = {t.subject: subject_key(t.subject) for t in tasks}
    waiting = Task.objects.of_team(team_id).owned_by(owner_id).filter(status__in=UNSETTLED)
    asked = {(row.kind, row.subject): row.id for row in waiting.filter(subject__in=subjects.values())}
    fresh: dict[tuple[str, str], Task] = {}
    for t in tasks:
        place = t.kind.value, subjects[t.subject]
        if place not in asked and place not in fresh:
            fresh[place] = Task(
                team_id=team_id,
                owner_id=owner_id,
                kind=t.kind,
                subject=subjects[t.subject],
                reason=t.reason,
                fragment_id=fragment_id,
                item_id=item_id,
                observation_id=t.observation_id,
                resolution_id=t.resolution_id,
                relationship_id=t.relationship_id,
                rival_id=t.rival_id,
                opened_at=now,
            )
    _insert(fresh.values(), now=now)
    number = asked | {place: row.id for place, row in fresh.items()}
    Waiting.objects.bulk_create(
        [
            Waiting(
                team_id=team_id,
                task_id=number[t.kind.value, subjects[t.subject]],
                item_id=item_id,
                fragment_id=fragment_id,
                observation_id=t.observation_id,
                resolution_id=t.resolution_id,
                recorded_at=now,
            )
            for t in tasks
            if t.observation_id is not None
        ],
        ignore_conflicts=True,
    )


def close_task(
    *,
    team_id: UUID,
    task_id: UUID,
    status: TaskStatus,
    actor_id: UUID | None,
    reason: str,
    answered: Collection[UUID],
    now: datetime,
) -> None:
    """Bring a task to its end. Observations that its answer does not reach are asked about anew.

    :param answered: the observations that waited for this answer and need not be asked about again
    """
    task = Task.objects.of_team(team_id).get(pk=task_id)
    _close(task, status=status, actor_id=actor_id, reason=reason, answered=answered, now=now)


def _close(
    task: Task, *, status: TaskStatus, actor_id: UUID | None, reason: str, answered: Collection[UUID], now: datetime
) -> None:
    _step(task, status=status, actor_id=actor_id, reason=reason, now=now)
    rest = [row for row in _rows_of(task) if row.observation_id not in answered]
    if rest:
        _ask_again(task, rest, now=now)


def acknowledge_task(*, team_id: UUID, task_id: UUID, actor_id: UUID, now: datetime) -> None:
    """Note that somebody has seen a question; it stays open."""
    task = Task.objects.of_team(team_id).get(pk=task_id)
    if task.status == TaskStatus.OPEN:
        _step(task, status=TaskStatus.ACKNOWLEDGED, actor_id=actor_id, reason="acknowledged", now=now)


def cancel_tasks(*, team_id: UUID, fragment_ids: Collection[UUID], reason: str, now: datetime) -> None:
    """Close the open questions about these fragments: there is nothing left to decide about them.

    A question that other fragments wait for too is asked anew about those.
    """
    concerned = Q(fragment_id__in=fragment_ids) | Q(waiting__fragment_id__in=fragment_ids)
    rows = Task.objects.of_team(team_id).filter(concerned, status__in=UNSETTLED)
    for row in list(rows.order_by("pk").distinct()):
        gone = {w.observation_id for w in _rows_of(row) if w.fragment_id in fragment_ids}
        _close(row, status=TaskStatus.CANCELED, actor_id=None, reason=reason, answered=gone, now=now)


def cancel_tasks_of_item(*, team_id: UUID, item_id: UUID, reason: str, now: datetime) -> None:
    """Close the open questions that an item waits for; what other items wait for with it is asked anew."""
    rows = Task.objects.of_team(team_id).filter(waiting__item_id=item_id, status__in=UNSETTLED)
    for row in list(rows.order_by("pk").distinct()):
        gone = {w.observation_id for w in _rows_of(row) if w.item_id == item_id}
        _close(row, status=TaskStatus.CANCELED, actor_id=None, reason=reason, answered=gone, now=now)


def cancel_tasks_of_observations(
    *, team_id: UUID, observation_ids: Collection[UUID], reason: str, now: datetime
) -> None:
    """Close the open questions that these observations wait for; what others wait for with them is asked anew."""
    rows = Task.objects.of_team(team_id).filter(waiting__observation_id__in=observation_ids, status__in=UNSETTLED)
    for row in list(rows.order_by("pk").distinct()):
        _close(row, status=TaskStatus.CANCELED, actor_id=None, reason=reason, answered=set(observation_ids), now=now)


def reopen_task(*, team_id: UUID, task_id: UUID, observation_ids: Collection[UUID], now: datetime) -> None:
    """Ask a settled question again about some of its observations; one that is open about others takes them in."""
    task = Task.objects.of_team(team_id).get(pk=task_id)
    rows = [row for row in _rows_of(task) if row.observation_id in observation_ids]
    same = Task.objects.of_team(team_id).owned_by(task.owner_id).filter(kind=task.kind, subject=task.subject)
    again = same.filter(status__in=UNSETTLED).first()
    if again is None:
        _ask_again(task, rows, now=now)
    else:
        _wait(again, rows, now=now)


def cancel_tasks_about(
    *, team_id: UUID, relationship_id: UUID, reason: str, now: datetime, asked: Collection[str] | None = None
) -> None:
    """Close the open questions about one record, since nothing is left to decide.

    :param asked: the reasons of those that are meant; all of them when left out
    """
    rows = Task.objects.of_team(team_id).filter(relationship_id=relationship_id, status__in=UNSETTLED)
    if asked is not None:
        rows = rows.filter(reason__in=asked)
    for row in rows.select_for_update().order_by("pk"):
        _step(row, status=TaskStatus.CANCELED, actor_id=None, reason=reason, now=now)


def record_decision(new: NewDecision, *, fragment_ids: Sequence[UUID], now: datetime) -> DecisionFacts:
    """Append what was decided, and on which evidence."""
    row = Decision.objects.create(**asdict(new), recorded_at=now)
    DecisionEvidence.objects.bulk_create(
        DecisionEvidence(team_id=new.team_id, decision=row, fragment_id=fragment, recorded_at=now)
        for fragment in dict.fromkeys(fragment_ids)
    )
    return facts_of_decision(row)


def use_decisions(*, team_id: UUID, item_id: UUID, cycle: int, carried_out: bool, now: datetime) -> None:
    """Note that an item is done with what was decided about it: each decision is used once."""
    unused = Decision.objects.of_team(team_id).filter(item_id=item_id, item_version__isnull=False, uses=None)
    DecisionUse.objects.bulk_create(
        DecisionUse(
            team_id=team_id,
            decision_id=decision,
            item_id=item_id,
            cycle=cycle,
            carried_out=carried_out,
            recorded_at=now,
        )
        for decision in unused.values_list("id", flat=True)
    )


def _insert(tasks: Iterable[Task], *, now: datetime) -> None:
    rows = list(tasks)
    Task.objects.bulk_create(rows)
    TaskEvent.objects.bulk_create(
        TaskEvent(team_id=t.team_id, task=t, version=1, status=TaskStatus.OPEN, reason=t.reason, recorded_at=now)
        for t in rows
    )


def _step(task: Task, *, status: TaskStatus, actor_id: UUID | None, reason: str, now: datetime) -> None:
    task.status, task.version = status, task.version + 1
    task.save(update_fields=["status", "version"])
    TaskEvent.objects.create(
        team_id=task.team_id,
        task=task,
        version=task.version,
        status=status,
        actor_id=actor_id,
        reason=reason,
        recorded_at=now,
    )


def _rows_of(task: Task) -> list[Waiting]:
    return list(Waiting.objects.of_team(task.team_id).filter(task=task).order_by("seq"))


def _ask_again(task: Task, rows: Sequence[Waiting], *, now: datetime) -> None:
    """Open the same question about the observations that still wait; the first of them shows it."""
    first = rows[0]
    again = Task(
        team_id=task.team_id,
        owner_id=task.owner_id,
        kind=task.kind,
        subject=task.subject,
        reason=task.reason,
        fragment_id=first.fragment_id,
        item_id=first.item_id,
        observation_id=first.observation_id,
        resolution_id=first.resolution_id,
        relationship_id=task.relationship_id,
        rival_id=task.rival_id,
        opened_at=now,
    )
    _insert([again], now=now)
    _wait(again, rows, now=now)


def _wait(task: Task, rows: Sequence[Waiting], *, now: datetime) -> None:
    Waiting.objects.bulk_create(
        Waiting(
            team_id=row.team_id,
            task=task,
            item_id=row.item_id,
            fragment_id=row.fragment_id,
            observation_id=row.observation_id,
            resolution_id=row.resolution_id,
            recorded_at=now,
        )
        for row in rows
    )
