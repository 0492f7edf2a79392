"""The readings: each costs the same number of queries for one question and for many."""

from collections.abc import Collection
from dataclasses import fields
from typing import Any, Final
from uuid import UUID

from densemem.auth import Principal
from densemem.core import limits
from densemem.core.words import Scope
from densemem.paging import Cursor, Page
from entities.queries import candidates_of
from relationships.pages.claims import known_of
from relationships.queries import PredicateView, end_kinds, registry
from relationships.search import Profile
from review.models import Decision, Task, TaskEvent
from review.policy import COMPENSATION, REQUIRED, allowed_actions
from review.queries import decisions_of, get_task, tasks_page, waiting_counts
from review.questions import Asked, ask
from review.reviews.shapes import (
    ActionOption,
    Candidate,
    DecisionTaken,
    EvidenceHandle,
    Impact,
    PredicateOption,
    Review,
    ReviewStep,
    ReviewTask,
)
from review.vocabulary import UNSETTLED, DecisionAction, TaskKind

HELD: Final = "evidence_held"  # the one public reason of held text, whatever was seen in it
REDACTED: Final = "evidence_redacted"


def list_reviews(
    *,
    principal: Principal,
    mine: bool = False,
    kind: str | None = None,
    status: str | None = None,
    ingest_id: UUID | None = None,
    cursor: Cursor | None = None,
    limit: int = limits.PAGE_DEFAULT,
) -> Page[ReviewTask]:
    """Return a page of the team's questions, the longest waiting first; without `status` those that wait.

    :raises ScopeMissing: without `read`
    """
    principal.require(Scope.READ)
    page = tasks_page(
        team_id=principal.team_id,
        owner_id=principal.profile_id if mine else None,
        kind=kind,
        statuses=UNSETTLED if status is None else (status,),
        ingest_id=ingest_id,
        cursor=cursor,
        limit=limit,
    )
    return page.of(tasks_for(team_id=principal.team_id, tasks=page.rows))


def get_review(*, principal: Principal, review_id: UUID) -> Review:
    """Return one question, whole, with what this caller may answer.

    :raises ScopeMissing: without `read`
    :raises NotThere: no such task in the team
    """
    principal.require(Scope.READ)
    team_id = principal.team_id
    task = get_task(team_id=team_id, task_id=review_id)
    (asked,) = ask(team_id=team_id, tasks=[task])
    (told,) = _tell(team_id, [asked])
    excerpt = asked.card.excerpt
    return Review(
        **{field.name: getattr(told, field.name) for field in fields(told)},
        version=task.version,
        next_action=_next_action(told, principal),
        passage=excerpt.parts if excerpt else (),
        statement=asked.claim,
        rival=asked.rival,
        predicate_options=() if told.held else _predicate_options(team_id, task),
        actions=tuple(_option(a) for a in _actions(told, principal)),
        decisions=tuple(_decision(d, held=told.held) for d in decisions_of(team_id=team_id, task_id=task.id)),
        history=tuple(_step(event, held=told.held) for event in task.events.all()),
    )


def tasks_for(*, team_id: UUID, tasks: Collection[Task]) -> list[ReviewTask]:
    """Return these tasks in words, in their order; load them with `review.queries.RELATED`."""
    return _tell(team_id, ask(team_id=team_id, tasks=tasks)) if tasks else []


def _tell(team_id: UUID, asked: Collection[Asked]) -> list[ReviewTask]:
    shown = [a.task for a in asked if a.card.text is not None]
    counts = waiting_counts(team_id=team_id, task_ids=[t.id for t in shown])
    offered = _candidates(team_id, {t.resolution_id for t in shown if t.resolution_id})
    return [_task(a, counts.get(a.task.id, (0, 0)), offered.get(a.task.resolution_id, ())) for a in asked]


def _task(asked: Asked, counts: tuple[int, int], candidates: tuple[Candidate, ...]) -> ReviewTask:
    task, held = asked.task, asked.card.text is None
    return ReviewTask(
        review_id=task.id,
        address=f"/api/v1/reviews/{task.id}",
        kind=task.kind,
        status=task.status,
        owner=_profile(task.owner),
        opened_at=task.opened_at,
        ingest_id=task.item.ingest_id,
        item_id=task.item_id,
        item_version=task.item.version,
        question=asked.title,
        why=asked.why,
        reason=REDACTED if asked.card.redacted else HELD if held else task.reason,
        held=held,
        entity_ref=task.resolution.mention_ref if task.resolution and not held else None,
        observation_id=None if held else task.observation_id,
        impact=None if held else _impact(*counts),
        candidates=candidates,
        candidates_total=max((c.of_many for c in candidates if c.of_many), default=len(candidates)),
        evidence=() if held else (EvidenceHandle(task.fragment_id, asked.spans),),
    )


def _candidates(team_id: UUID, events: Collection[UUID]) -> dict[UUID | None, tuple[Candidate, ...]]:
    if not events:
        return {}
    offered = candidates_of(team_id=team_id, event_ids=events)
    known = known_of(team_id=team_id, entity_ids={view.entity_id for views in offered.values() for view in views})
    return {
        event: tuple(
            Candidate(
                entity_id=view.entity_id,
                canonical_name=view.canonical_name,
                kind=view.kind.value,
                why_offered=view.reason,
                of_many=view.of,
                identity_context=view.identity_context,
                known=tuple(claim.sentence for claim in known.get(view.entity_id, ())),
            )
            for view in views
        )
        for event, views in offered.items()
    }


def _impact(observations: int, items: int) -> Impact:
    if observations == 1:
        return Impact(1, 1, "One statement waits for this answer.")
    texts = "one text" if items == 1 else f"{items} texts"
    words = f"{observations} statements of {texts} wait for this answer." if observations else "No statement waits."
    return Impact(observations, items, words)


def _predicate_options(team_id: UUID, task: Task) -> tuple[PredicateOption, ...]:
    """Return the predicates that a wording may mean: those that accept what it stands between."""
    if task.kind != TaskKind.PREDICATE or task.observation_id is None:
        return ()
    ends = end_kinds(team_id=team_id, observation_id=task.observation_id)
    known = sorted(registry(team_id=team_id).values(), key=lambda view: view.key)
    proposed = (v for v in known if v.proposed)
    fitting = [v for v in proposed if ends is None or v.accepts(subject_kind=ends[0], object_kind=ends[1])]
    return tuple(_predicate(view) for view in fitting[: limits.PAGE_ITEMS])


def _predicate(view: PredicateView) -> PredicateOption:
    return PredicateOption(
        key=view.key,
        version=view.version,
        active=view.active,
        inverse=view.inverse,
        symmetric=view.symmetric,
        subject_kinds=tuple(sorted(view.subject_kinds)),
        object_kinds=tuple(sorted(view.object_kinds)),
        kind=view.kind.value,
        cardinality=view.cardinality.value,
        lifecycle=view.lifecycle.value,
    )


def _actions(told: ReviewTask, who: Principal) -> tuple[DecisionAction, ...]:
    """Return what this caller may answer now; a question about held text waits until the text is released."""
    kind = TaskKind(told.kind)
    if told.status not in UNSETTLED or Scope.WRITE not in who.scopes or (told.held and kind is not TaskKind.POLICY):
        return ()
    return allowed_actions(kind=kind, is_owner=told.owner.profile_id == who.profile_id, is_manager=who.is_manager)


def _next_action(told: ReviewTask, who: Principal) -> str:
    """Return what this caller can do about the question."""
    if told.status not in UNSETTLED:
        return "Nothing to do: it is closed."
    if Scope.WRITE not in who.scopes:
        return "You may read it. To decide needs the scope write."
    send = f"Send one of the actions to POST {told.address}/decisions."
    if told.kind == TaskKind.POLICY:
        return send if who.is_manager else f"Only a manager can release the text. Acknowledge to ask for it. {send}"
    if told.held:
        return "Wait: the text is held, and the question can be answered when a manager has released it."
    if told.owner.profile_id == who.profile_id:
        return f"You decide. {send}"
    return "Only its owner decides. You may remember evidence of your own."


def _option(action: DecisionAction) -> ActionOption:
    return ActionOption(action.value, tuple(sorted(REQUIRED[action])), COMPENSATION[action])


def _decision(row: Decision, *, held: bool) -> DecisionTaken:
    return DecisionTaken(
        decision_id=row.id,
        action=row.action,
        by=_profile(row.owner),
        message="" if held else row.message,
        entity_id=None if held else row.entity_id,
        predicate_key=None if held else row.predicate_key or None,
        evidence=() if held else tuple(cited.fragment_id for cited in row.evidence.all()),
        compensation=COMPENSATION[DecisionAction(row.action)],
        carried_out=any(use.carried_out for use in row.uses.all()),
        recorded_at=row.recorded_at,
    )


def _step(event: TaskEvent, *, held: bool) -> ReviewStep:
    return ReviewStep(
        version=event.version,
        status=event.status,
        actor=_profile(event.actor) if event.actor else None,
        reason=HELD if held else event.reason,
        recorded_at=event.recorded_at,
    )


def _profile(row: Any) -> Profile:
    return Profile(row.id, row.name)
