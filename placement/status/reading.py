"""One ingest, item by item."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from django.utils import timezone

from densemem.core.faults import NotThere
from evidence.queries import held_among
from placement.models import Item
from placement.policy import Told, run_state, search_state, unused_corrections
from placement.queries import Usage, corrections_wanted, usage_of
from placement.status.telling import state_of, told_of, told_of_run
from placement.vocabulary import READY, ItemState
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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of items, by item, and which fragments of them are held."""

    held: Set[UUID] = frozenset()
    seen: Mapping[UUID, Sequence[ObservationView]] = field(default_factory=dict)
    searched: Mapping[UUID, Set[str]] = field(default_factory=dict)
    asked: Mapping[UUID, Sequence[ReviewTask]] = field(default_factory=dict)
    wanted: Mapping[UUID, Sequence[str]] = field(default_factory=dict)


def get_placement(*, team_id: UUID, ingest_id: UUID, reader_id: UUID | None = None) -> IngestView:
    """Return how far an ingest is, item by item, with what became of each observation and what is asked.

    :param reader_id: who asks; the owner sees the usage, too
    :raises NotThere: no such ingest in the team
    """
    rows = Item.objects.of_team(team_id).filter(ingest_id=ingest_id).select_related("run")
    queued = list(rows.order_by("evidence_index"))
    if not queued:
        raise NotThere
    owner_id = queued[0].owner_id
    items = _items(team_id, queued)
    state = run_state({i.state for i in items})
    told = told_of_run([Told(i.reason, i.next_action, i.check_after_seconds) for i in items if i.state == state])
    return IngestView(
        ingest_id=ingest_id,
        owner_profile_id=owner_id,
        processing_state=state,
        search_state=search_state({i.search_state for i in items}),
        reason=told.reason,
        next_action=told.next_action,
        check_after_seconds=told.check_after_seconds,
        received_at=queued[0].run.recorded_at,
        items=items,
        usage=_usage(team_id, queued) if reader_id == owner_id else None,
    )


def _is_fresh(row: Item) -> bool:
    """Tell if nothing was done with an item since it was queued: nothing came of it, and nothing was spent or asked."""
    return row.state in READY and row.version == 1 and row.attempts + row.uncounted == 0


def _usage(team_id: UUID, rows: Collection[Item]) -> Usage:
    if all(map(_is_fresh, rows)):
        return Usage(calls=0, tokens_in=0, tokens_out=0, cost_micros=0)
    return usage_of(team_id=team_id, ingest_id=next(iter(rows)).ingest_id)


def _items(team_id: UUID, rows: Collection[Item]) -> tuple[ItemView, ...]:
    now = timezone.now()
    begun = [row for row in rows if not _is_fresh(row)]
    came = _outcome(team_id, begun) if begun else Outcome()
    return tuple(_item(row, came, now=now) for row in rows)


def _outcome(team_id: UUID, rows: Collection[Item]) -> Outcome:
    ids = [row.id for row in rows]
    seen = observations_of_items(team_id=team_id, item_ids=ids)
    return Outcome(
        held=held_among(team_id=team_id, fragment_ids=[row.fragment_id for row in rows]),
        seen=seen,
        searched=_searched(team_id, seen),
        asked=_asked(team_id, ids),
        wanted=corrections_wanted(team_id=team_id, item_ids=ids),
    )


def _searched(team_id: UUID, seen: dict[UUID, list[ObservationView]]) -> dict[UUID, set[str]]:
    """Return, by item, the search states of the records that its statements became."""
    records = {item: {o.relationship_id for o in outcomes if o.relationship_id} for item, outcomes in seen.items()}
    states = search_states(team_id=team_id, record_ids={r for ids in records.values() for r in ids})
    return {item: {states[r] for r in ids if r in states} for item, ids in records.items()}


def _asked(team_id: UUID, item_ids: Collection[UUID]) -> dict[UUID, list[ReviewTask]]:
    """Return, by item, the questions that it asked or waits for."""
    pairs = tasks_of_items(team_id=team_id, item_ids=item_ids)
    tasks = {task.id: task for _, task in pairs}
    told = {t.review_id: t for t in tasks_for(team_id=team_id, tasks=tasks.values())}
    found: dict[UUID, list[ReviewTask]] = defaultdict(list)
    for item_id, task in pairs:
        found[item_id].append(told[task.id])
    return found


def _item(row: Item, came: Outcome, *, now: datetime) -> ItemView:
    held, seen = row.fragment_id in came.held, came.seen.get(row.id, ())
    state = state_of(row, now=now)
    told = told_of(row, held=held, concluded=row.id in came.seen, now=now)
    unused = unused_corrections(came.wanted.get(row.id, ()), [o.proposal_id for o in seen])
    return ItemView(
        item_id=row.id,
        evidence_id=row.fragment_id,
        evidence_index=row.evidence_index,
        version=row.version,
        state=state,
        search_state=search_state(came.searched.get(row.id, ()) if state == ItemState.COMPLETED else ()),
        category=row.category,
        reason=told.reason,
        next_action=told.next_action,
        check_after_seconds=told.check_after_seconds,
        attempts=row.attempts,
        outcomes=() if held or state == ItemState.REDACTED else tuple(seen),
        unused_corrections=unused if state in PLACED else (),
        review_tasks=tuple(came.asked.get(row.id, ())),
    )
