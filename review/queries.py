"""Reads of review within one team."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db.models import Case, Count, Min, Q, QuerySet, When

from densemem.core import limits
from densemem.core.canonical import keyed_digest
from densemem.core.faults import NotThere
from densemem.paging import Cursor, Order, Page, page_of
from review.models import Decision, Task, TaskEvent, Waiting
from review.vocabulary import UNSETTLED, DecisionAction, TaskKind, TaskStatus

RELATED = ("owner", "item", "fragment", "observation", "resolution", "relationship__owner", "rival__owner")
UNDOING: Final = (DecisionAction.WITHDRAW, DecisionAction.REOPEN)
READING_ANEW: Final = (DecisionAction.CORRECT, DecisionAction.RELEASE)
LONGEST_FIRST: Final = Order("opened_at", newest_first=False)


@dataclass(frozen=True, slots=True)
class Counts:
    """Open tasks of a team by kind; `shown` follows the filter for the caller's own."""

    all: int
    mine: int
    shown: dict[TaskKind, int]


def tasks_of_items(*, team_id: UUID, item_ids: Collection[UUID]) -> list[tuple[UUID, Task]]:
    """Return (item, task) for each question that these items asked or wait for: first what is open, then by age.

    Several items may wait for one task. At most `limits.ITEM_TASKS` tasks.
    """
    tasks = Task.objects.of_team(team_id)
    waiting = Waiting.objects.of_team(team_id).filter(item_id__in=item_ids)
    concerned = tasks.filter(Q(item_id__in=item_ids) | Q(id__in=waiting.values("task_id")))
    closed = Case(When(status__in=UNSETTLED, then=0), default=1)
    found = concerned.select_related(*RELATED).order_by(closed, "opened_at", "id")[: limits.ITEM_TASKS]
    rows = {row.id: row for row in found}
    pairs = [(row.item_id, row.id) for row in rows.values() if row.item_id in item_ids]
    pairs += waiting.filter(task_id__in=rows).order_by("seq").values_list("item_id", "task_id")
    return [(item, rows[task]) for item, task in dict.fromkeys(pairs)]


def tasks_page(
    *,
    team_id: UUID,
    owner_id: UUID | None = None,
    kind: str | None = None,
    statuses: Collection[str] = UNSETTLED,
    ingest_id: UUID | None = None,
    cursor: Cursor | None = None,
    limit: int = limits.INBOX_ITEMS,
) -> Page[Task]:
    """Return a page of the tasks of a team, or of one owner, kind or ingest; the longest waiting first."""
    rows = Task.objects.of_team(team_id).filter(status__in=statuses).select_related(*RELATED)
    if owner_id is not None:
        rows = rows.owned_by(owner_id)
    if kind is not None:
        rows = rows.filter(kind=kind)
    if ingest_id is not None:
        waiting = Waiting.objects.of_team(team_id).filter(item__ingest_id=ingest_id)
        rows = rows.filter(Q(item__ingest_id=ingest_id) | Q(id__in=waiting.values("task_id")))
    return page_of(rows, order=LONGEST_FIRST, cursor=cursor, limit=limit)


def open_tasks_by_item(*, team_id: UUID, item_ids: Collection[UUID]) -> set[tuple[UUID, UUID]]:
    """Return (item, task) for each open question that these items asked or wait for."""
    asked = Task.objects.of_team(team_id).filter(item_id__in=item_ids, status__in=UNSETTLED)
    waiting = Waiting.objects.of_team(team_id).filter(item_id__in=item_ids, task__status__in=UNSETTLED)
    return {*asked.values_list("item_id", "id"), *waiting.values_list("item_id", "task_id")}


def waiting_counts(*, team_id: UUID, task_ids: Collection[UUID]) -> dict[UUID, tuple[int, int]]:
    """Return, by task, how many observations of how many items wait for its answer; tasks without any are left out."""
    rows = Waiting.objects.of_team(team_id).filter(task_id__in=task_ids).values("task_id")
    counted = rows.annotate(observations=Count("id"), items=Count("item_id", distinct=True))
    return {task: (n, items) for task, n, items in counted.values_list("task_id", "observations", "items")}


def decisions_of(*, team_id: UUID, task_id: UUID) -> list[Decision]:
    """Return the newest decisions about a task, oldest first, with their evidence and whether they were carried out."""
    rows = Decision.objects.of_team(team_id).filter(task_id=task_id).select_related("owner")
    newest = rows.prefetch_related("evidence", "uses").order_by("-seq")[: limits.PAGE_ITEMS]
    return list(reversed(newest))


def count_open(*, team_id: UUID, owner_id: UUID, mine: bool) -> Counts:
    """Count the open tasks of a team by kind; with `mine`, the kinds count the owner's alone."""
    rows = Task.objects.of_team(team_id).filter(status__in=UNSETTLED).values_list("kind")
    of_kind = list(rows.annotate(every=Count("id"), own=Count("id", filter=Q(owner_id=owner_id))))
    return Counts(
        all=sum(every for _, every, _ in of_kind),
        mine=sum(own for _, _, own in of_kind),
        shown={TaskKind(kind): own if mine else every for kind, every, own in of_kind},
    )


def tasks_by_id(*, team_id: UUID, task_ids: Collection[UUID]) -> list[Task]:
    """Return these tasks with the records that they are about."""
    rows = Task.objects.of_team(team_id).filter(pk__in=task_ids)
    return list(rows.select_related("relationship__owner", "rival__owner"))


def get_task(*, team_id: UUID, task_id: UUID) -> Task:
    """Return a task with what it refers to and its history.

    :raises NotThere: no such task in the team
    """
    rows = Task.objects.of_team(team_id).select_related(*RELATED)
    found = rows.prefetch_related("events__actor").filter(pk=task_id).first()
    if found is None:
        raise NotThere
    return found


def subject_key(subject: str) -> str:
    """Return what a table keeps of the subject of a question: it may hold words of the evidence."""
    return keyed_digest(settings.CONTENT_KEY.encode(), subject)


def items_asking(*, team_id: UUID, kind: TaskKind, subjects: Collection[str], limit: int) -> list[UUID]:
    """Return the items, of any owner, that wait for the answer to an open question about one of these subjects.

    At most `limit` of them, the longest waiting first.
    """
    rows = _asking(team_id, kind, subjects).values("item_id").annotate(since=Min("seq")).order_by("since")
    return list(rows.values_list("item_id", flat=True)[:limit])


def count_items_asking(*, team_id: UUID, kind: TaskKind, subjects: Collection[str]) -> int:
    """Count the same."""
    return int(_asking(team_id, kind, subjects).values("item_id").distinct().count())


@dataclass(frozen=True, slots=True)
class Asking:
    """An observation that waits for the answer to an open question."""

    task_id: UUID
    owner_id: UUID
    item_id: UUID
    observation_id: UUID


def observations_asking(
    *, team_id: UUID, kind: TaskKind, subjects: Collection[str], item_ids: Collection[UUID]
) -> list[Asking]:
    """Return what of these items waits for the answer to an open question about one of these subjects, in order."""
    rows = _asking(team_id, kind, subjects).filter(item_id__in=item_ids).order_by("seq")
    return [Asking(*row) for row in rows.values_list("task_id", "task__owner_id", "item_id", "observation_id")]


def _asking(team_id: UUID, kind: TaskKind, subjects: Collection[str]) -> QuerySet[Waiting]:
    keys = [subject_key(subject) for subject in subjects]
    rows: QuerySet[Waiting] = Waiting.objects.of_team(team_id)
    return rows.filter(task__kind=kind, task__status__in=UNSETTLED, task__subject__in=keys)


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision that an item has not carried out yet, and which of its observations it answers.

    `overruled` when the record was forgotten, disputed or rejected since: a yes from before binds no more.
    """

    action: DecisionAction
    message: str
    observation_ids: frozenset[UUID]
    mention_ref: str
    entity_id: UUID | None
    predicate_key: str
    relationship_id: UUID | None
    rival_id: UUID | None
    overruled: bool


def unused_answer(*, team_id: UUID, item_id: UUID) -> Answer | None:
    """Return what was decided about an item and waits for its worker, or None."""
    rows = Decision.objects.of_team(team_id).filter(item_id=item_id, item_version__isnull=False, uses=None)
    found = rows.select_related("task").order_by("-seq").first()
    if found is None:
        return None
    return Answer(
        action=DecisionAction(found.action),
        message=found.message,
        observation_ids=_answered_by(found, _settled_by(found)),
        mention_ref=found.mention_ref,
        entity_id=found.entity_id,
        predicate_key=found.predicate_key,
        relationship_id=found.relationship_id,
        overruled=_is_overruled(found),
        rival_id=found.task.rival_id if found.task else None,
    )


def _settled_by(decision: Decision) -> Q:
    """Return the condition that a task was settled by a decision: one about the registry settles several of an item."""
    if decision.action != DecisionAction.REGISTER:
        return Q(task=decision.task)
    settled = TaskEvent.objects.of_team(decision.team_id).filter(
        status=TaskStatus.RESOLVED,
        reason=decision.action,
        actor_id=decision.owner_id,
        recorded_at=decision.recorded_at,
    )
    return Q(task_id__in=settled.values("task_id"))


@dataclass(frozen=True, slots=True)
class DecisionFacts:
    """A recorded decision, as much of it as its maker is answered."""

    id: UUID
    action: DecisionAction
    request_hash: str
    task_id: UUID | None
    item_id: UUID | None
    relationship_id: UUID | None
    evidence_ingest_id: UUID | None


def facts_of_decision(row: Decision) -> DecisionFacts:
    """Return a decision as plain values."""
    return DecisionFacts(
        id=row.id,
        action=DecisionAction(row.action),
        request_hash=row.request_hash,
        task_id=row.task_id,
        item_id=row.item_id,
        relationship_id=row.relationship_id,
        evidence_ingest_id=row.evidence_ingest_id,
    )


def decision_facts(*, team_id: UUID, decision_id: UUID) -> DecisionFacts:
    """Return a decision that is there as plain values."""
    return facts_of_decision(Decision.objects.of_team(team_id).get(pk=decision_id))


@dataclass(frozen=True, slots=True)
class MadeDecision:
    """An answer that was given, as much of it as its withdrawal needs.

    :param carried_out_at: the moment of everything that its item wrote with it; None while it waits, or was void
    :param cycle: of that commit
    :param withdrawn: it was taken back already
    :param followed: the decisions that came later, stand, and rest on it: about one of its observations, or by which
        the whole text was read anew
    """

    owner_id: UUID
    action: DecisionAction
    task_id: UUID | None
    task_reason: str
    item_id: UUID | None
    observation_ids: frozenset[UUID]
    carried_out_at: datetime | None
    cycle: int | None
    withdrawn: bool
    followed: tuple[DecisionFacts, ...]


def made_decision(*, team_id: UUID, decision_id: UUID) -> MadeDecision:
    """Return an answer as its withdrawal needs it.

    :raises NotThere: no such decision in the team
    """
    row = Decision.objects.of_team(team_id).select_related("task", "item").filter(pk=decision_id).first()
    if row is None:
        raise NotThere
    use = row.uses.filter(carried_out=True).first()
    observations = _answered_by(row, Q(task=row.task))
    rows = Decision.objects.of_team(team_id).filter(item=row.item, seq__gt=row.seq).order_by("seq")
    later = list(rows.exclude(uses__carried_out=False))
    return MadeDecision(
        owner_id=row.owner_id,
        action=DecisionAction(row.action),
        task_id=row.task_id,
        task_reason=row.task.reason if row.task else "",
        item_id=row.item_id,
        observation_ids=observations,
        carried_out_at=use.recorded_at if use else None,
        cycle=use.cycle if use else None,
        withdrawn=_is_undone(row, later),
        followed=tuple(
            facts_of_decision(d)
            for d in later
            if d.item_version is not None
            and not _is_undone(d, later)
            and (d.action in READING_ANEW or observations & _answered_by(d, _settled_by(d)))
        ),
    )


def _answered_by(decision: Decision, waiting: Q) -> frozenset[UUID]:
    """Return the observations of its item that a decision answers: the one that it names, else those that waited."""
    if decision.observation_id:
        return frozenset([decision.observation_id])
    rows = Waiting.objects.of_team(decision.team_id).filter(waiting, item=decision.item)
    return frozenset(rows.values_list("observation_id", flat=True))


def _is_undone(decision: Decision, later: Sequence[Decision]) -> bool:
    undoing = (d for d in later if d.action in UNDOING and d.seq > decision.seq)
    return any(d.task_id == decision.task_id for d in undoing)


def corrections_about(*, team_id: UUID, relationship_ids: Collection[UUID]) -> list[DecisionFacts]:
    """Return the owners' corrections of these records, the oldest first."""
    rows = Decision.objects.of_team(team_id).filter(relationship_id__in=relationship_ids, action=DecisionAction.AMEND)
    return [facts_of_decision(row) for row in rows.order_by("seq")]


def _is_overruled(decision: Decision) -> bool:
    if decision.relationship_id is None:
        return False
    later = Decision.objects.of_team(decision.team_id).filter(
        relationship_id=decision.relationship_id,
        action__in=(DecisionAction.FORGET, DecisionAction.DISPUTE, DecisionAction.REJECT),
        seq__gt=decision.seq,
    )
    return bool(later.exists())


def find_decision(*, team_id: UUID, owner_id: UUID, operation: str, key: str) -> DecisionFacts | None:
    """Return the decision that a profile made in an operation under an idempotency key, or None."""
    rows = Decision.objects.of_team(team_id).owned_by(owner_id)
    row = rows.filter(operation=operation, idempotency_key=key).first()
    return facts_of_decision(row) if row is not None else None


def adoption_decided(*, team_id: UUID, item_id: UUID) -> DecisionFacts:
    """Return the decision by which the item of an adoption was made."""
    return facts_of_decision(Decision.objects.of_team(team_id).get(item_id=item_id, action=DecisionAction.ADOPT))


def predicate_decided(*, team_id: UUID, decision_id: UUID) -> tuple[str, int]:
    """Return the key and the version of the predicate that a decision is about."""
    rows = Decision.objects.of_team(team_id).filter(pk=decision_id, predicate_version__isnull=False)
    key, version = rows.values_list("predicate_key", "predicate_version").get()
    assert version is not None  # as the filter has it
    return key, version


def count_decisions(*, team_id: UUID, operation: str, key_starts: str) -> int:
    """Count the decisions of an operation whose idempotency keys begin alike."""
    rows = Decision.objects.of_team(team_id).filter(operation=operation, idempotency_key__startswith=key_starts)
    return int(rows.count())


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What a decision needs to know of the task that it answers."""

    id: UUID
    team_id: UUID
    owner_id: UUID
    kind: TaskKind
    status: TaskStatus
    item_id: UUID
    fragment_id: UUID
    resolution_id: UUID | None
    relationship_id: UUID | None


def task_facts(*, team_id: UUID, task_id: UUID) -> TaskFacts:
    """Return a task as a decision needs it.

    :raises NotThere: no such task in the team
    """
    row = Task.objects.of_team(team_id).filter(pk=task_id).first()
    if row is None:
        raise NotThere
    return TaskFacts(
        id=row.id,
        team_id=row.team_id,
        owner_id=row.owner_id,
        kind=TaskKind(row.kind),
        status=TaskStatus(row.status),
        item_id=row.item_id,
        fragment_id=row.fragment_id,
        resolution_id=row.resolution_id,
        relationship_id=row.relationship_id,
    )


def is_asked(*, team_id: UUID, fragment_id: UUID, kind: TaskKind) -> bool:
    """Tell if a question of this kind is open about a fragment."""
    rows = Task.objects.of_team(team_id).filter(fragment_id=fragment_id, kind=kind, status__in=UNSETTLED)
    return bool(rows.exists())


def open_reason(*, team_id: UUID, item_id: UUID) -> str | None:
    """Return why an item waits for a person, or None when it does not."""
    rows = Waiting.objects.of_team(team_id).filter(item_id=item_id, task__status__in=UNSETTLED)
    return rows.order_by("seq").values_list("task__reason", flat=True).first()


def items_waiting_for(*, team_id: UUID, relationship_id: UUID, asked: Collection[str] | None = None) -> set[UUID]:
    """Return the items that wait for the answer to a question about one record.

    :param asked: the reasons of the questions that are meant; all of them when left out
    """
    rows = Waiting.objects.of_team(team_id).filter(task__relationship_id=relationship_id, task__status__in=UNSETTLED)
    if asked is not None:
        rows = rows.filter(task__reason__in=asked)
    return set(rows.values_list("item_id", flat=True))


def observations_waiting(*, team_id: UUID, task_id: UUID) -> list[tuple[UUID, UUID]]:
    """Return (observation, item) of everything that waits for the answer to a task, in order."""
    rows = Waiting.objects.of_team(team_id).filter(task_id=task_id).order_by("seq")
    return list(rows.values_list("observation_id", "item_id"))


@dataclass(frozen=True, slots=True)
class Said:
    """What somebody said when deciding."""

    profile_id: UUID
    action: DecisionAction
    message: str
    recorded_at: datetime


def messages_about(*, team_id: UUID, fragment_id: UUID) -> list[Said]:
    """Return what was said in decisions about a fragment, the newest `limits.PAGE_ITEMS`, oldest first."""
    rows = Decision.objects.of_team(team_id).filter(fragment_id=fragment_id).exclude(message="").order_by("-seq")
    newest = list(rows[: limits.PAGE_ITEMS])
    return [Said(r.owner_id, DecisionAction(r.action), r.message, r.recorded_at) for r in reversed(newest)]


@dataclass(frozen=True, slots=True)
class Reasoned:
    """Why somebody decided, in words, and the fragments that the decision rests on."""

    message: str
    fragment_ids: frozenset[UUID]


def reasons_of(*, team_id: UUID, decision_ids: Collection[UUID]) -> dict[UUID, Reasoned]:
    """Return, by decision, why it was made."""
    rows = Decision.objects.of_team(team_id).filter(pk__in=decision_ids).prefetch_related("evidence")
    return {row.id: Reasoned(row.message, frozenset(cited.fragment_id for cited in row.evidence.all())) for row in rows}
