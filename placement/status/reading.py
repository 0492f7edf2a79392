"""One ingest, item by item."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.utils import timezone

from densemem.core.faults import NotThere
from evidence.queries import held_among
from placement.models import Item, Run
from placement.policy import Told, run_state, search_state, unused_corrections
from placement.queries import Usage, corrections_wanted, usage_of
from placement.status.telling import state_of, told_of, told_of_run
from placement.vocabulary import ItemState
from relationships.queries import ObservationView, observations_of_items, search_states
from review.queries import tasks_of_items
from review.reviews import ReviewTask, tasks_for

PLACED: Final = (ItemState.COMPLETED, ItemState.AWAITING_REVIEW)


@dataclass(frozen=True, slots=True)
class ItemView:
    """One evidence item as its team may see it; while its text is held, nothing that came from it.

    `unused_corrections` names the proposals whose correction target no statement of the text took up.
    """

    item_id: UUID
    evidence_id: UUID
    evidence_index: int
    version: int
    state: str
    search_state: str
    category: str
    reason: str
    next_action: str
    check_after_seconds: int
    attempts: int
    outcomes: tuple[ObservationView, ...]
    unused_corrections: tuple[str, ...]
    review_tasks: tuple[ReviewTask, ...]


@dataclass(frozen=True, slots=True)
class IngestView:
    """The placement of one ingest."""

    ingest_id: UUID
    owner_profile_id: UUID
    processing_state: str
    search_state: str
    reason: str
    next_action: str
    check_after_seconds: int
    received_at: datetime
    items: tuple[ItemView, ...]
    usage: Usage | None  # what the models cost is the owner's own business


def get_placement(*, team_id: UUID, ingest_id: UUID, reader_id: UUID | None = None) -> IngestView:
    """Return how far an ingest is, item by item, with what became of each observation and what is asked.

    :param reader_id: who asks; the owner sees the usage, too
    :raises NotThere: no such ingest in the team
    """
    run = Run.objects.of_team(team_id).select_related("ingest").filter(ingest_id=ingest_id).first()
    if run is None:
        raise NotThere
    items = _items(team_id, run)
    state = run_state({i.state for i in items})
    told = told_of_run([Told(i.reason, i.next_action, i.check_after_seconds) for i in items if i.state == state])
    return IngestView(
        ingest_id=ingest_id,
        owner_profile_id=run.ingest.owner_id,
        processing_state=state,
        search_state=search_state({i.search_state for i in items}),
        reason=told.reason,
        next_action=told.next_action,
        check_after_seconds=told.check_after_seconds,
        received_at=run.recorded_at,
        items=items,
        usage=usage_of(team_id=team_id, ingest_id=ingest_id) if reader_id == run.ingest.owner_id else None,
    )


def _items(team_id: UUID, run: Run) -> tuple[ItemView, ...]:
    now = timezone.now()
    rows = list(Item.objects.of_team(team_id).filter(run=run).order_by("evidence_index"))
    ids = [row.id for row in rows]
    held = held_among(team_id=team_id, fragment_ids=[row.fragment_id for row in rows])
    seen = observations_of_items(team_id=team_id, item_ids=ids)
    searched = _searched(team_id, seen)
    asked = _asked(team_id, ids)
    wanted = corrections_wanted(team_id=team_id, item_ids=ids)
    return tuple(
        _item(
            row,
            told_of(row, held=row.fragment_id in held, concluded=row.id in seen, now=now),
            state=state_of(row, now=now),
            searched=searched[row.id],
            outcomes=() if row.fragment_id in held else tuple(seen.get(row.id, ())),
            unused=unused_corrections(wanted.get(row.id, ()), [o.proposal_id for o in seen.get(row.id, ())]),
            asked=tuple(asked[row.id]),
        )
        for row in rows
    )


def _searched(team_id: UUID, seen: dict[UUID, list[ObservationView]]) -> dict[UUID, set[str]]:
    """Return, by item, the search states of the records that its statements became."""
    records = {item: {o.relationship_id for o in outcomes if o.relationship_id} for item, outcomes in seen.items()}
    states = search_states(team_id=team_id, record_ids={r for ids in records.values() for r in ids})
    found: dict[UUID, set[str]] = defaultdict(set)
    found.update({item: {states[r] for r in ids if r in states} for item, ids in records.items()})
    return found


def _asked(team_id: UUID, item_ids: Collection[UUID]) -> dict[UUID, list[ReviewTask]]:
    """Return, by item, the questions that it asked or waits for."""
    pairs = tasks_of_items(team_id=team_id, item_ids=item_ids)
    tasks = {task.id: task for _, task in pairs}
    told = {t.review_id: t for t in tasks_for(team_id=team_id, tasks=tasks.values())}
    found: dict[UUID, list[ReviewTask]] = defaultdict(list)
    for item_id, task in pairs:
        found[item_id].append(told[task.id])
    return found


def _item(
    row: Item,
    told: Told,
    *,
    state: str,
    searched: set[str],
    outcomes: tuple[ObservationView, ...],
    unused: tuple[str, ...],
    asked: tuple[ReviewTask, ...],
) -> ItemView:
    return ItemView(
        item_id=row.id,
        evidence_id=row.fragment_id,
        evidence_index=row.evidence_index,
        version=row.version,
        state=state,
        search_state=search_state(searched if state == ItemState.COMPLETED else ()),
        category=row.category,
        reason=told.reason,
        next_action=told.next_action,
        check_after_seconds=told.check_after_seconds,
        attempts=row.attempts,
        outcomes=outcomes,
        unused_corrections=unused if state in PLACED else (),
        review_tasks=asked,
    )
