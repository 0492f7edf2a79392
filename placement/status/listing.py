"""The ingests of a team, page by page."""

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.utils import timezone

from densemem.auth import Principal
from densemem.core import limits
from densemem.core.words import Scope
from densemem.paging import Cursor, Order, Page, page_of
from evidence.queries import held_among
from placement.models import Item, Run
from placement.policy import more_pressing, run_state
from placement.status.telling import address_of, in_states, state_of, told_of, told_of_run
from relationships.queries import observed_items
from relationships.search import Profile
from review.queries import open_tasks_by_item

NEWEST_FIRST: Final = Order("recorded_at", newest_first=True)


@dataclass(frozen=True, slots=True)
class IngestSummary:
    """An ingest in a list: how far it is, how many of its items are in which state, and how many questions are open."""

    ingest_id: UUID
    address: str
    owner: Profile
    processing_state: str
    reason: str
    next_action: str
    check_after_seconds: int
    received_at: datetime
    items: dict[str, int]
    open_reviews: int


def list_ingests(
    *,
    principal: Principal,
    mine: bool = False,
    state: str | None = None,
    cursor: Cursor | None = None,
    limit: int = limits.PAGE_DEFAULT,
) -> Page[IngestSummary]:
    """Return a page of the team's ingests, the newest first; the number of queries does not grow with them.

    :param state: of the run, as its `processing_state` says it
    :raises ScopeMissing: without `read`
    """
    principal.require(Scope.READ)
    now = timezone.now()
    rows = Run.objects.of_team(principal.team_id).select_related("ingest__owner")
    if mine:
        rows = rows.filter(ingest__owner_id=principal.profile_id)
    if state is not None:
        items = Item.objects.filter(team_id=OuterRef("team_id"), ingest_id=OuterRef("ingest_id"))
        rows = rows.filter(Exists(items.filter(in_states([state], now=now))))
        rows = rows.exclude(Exists(items.filter(in_states(more_pressing(state), now=now))))
    page = page_of(rows, order=NEWEST_FIRST, cursor=cursor, limit=limit)
    return page.of(_summaries(principal.team_id, page.rows, now=now))


def _summaries(team_id: UUID, runs: Collection[Run], *, now: datetime) -> list[IngestSummary]:
    items: dict[UUID, list[Item]] = defaultdict(list)
    for row in (
        Item.objects.of_team(team_id).filter(ingest_id__in=[r.ingest_id for r in runs]).order_by("evidence_index")
    ):
        items[row.ingest_id].append(row)
    every = [row for rows in items.values() for row in rows]
    ids = [row.id for row in every]
    held = held_among(team_id=team_id, fragment_ids=[row.fragment_id for row in every])
    concluded = observed_items(team_id=team_id, item_ids=ids)
    told = {row.id: told_of(row, held=row.fragment_id in held, concluded=row.id in concluded, now=now) for row in every}
    asked: dict[UUID, set[UUID]] = defaultdict(set)
    for item, task in open_tasks_by_item(team_id=team_id, item_ids=ids):
        asked[item].add(task)
    return [_summary(run, items[run.ingest_id], told, asked, now=now) for run in runs]


def _summary(
    run: Run, items: Collection[Item], told: dict[UUID, Any], asked: dict[UUID, set[UUID]], *, now: datetime
) -> IngestSummary:
    states = {row.id: state_of(row, now=now) for row in items}
    state = run_state(states.values())
    most = told_of_run([told[row.id] for row in items if states[row.id] == state])
    return IngestSummary(
        ingest_id=run.ingest_id,
        address=address_of(run.ingest_id),
        owner=Profile(run.ingest.owner_id, run.ingest.owner.name),
        processing_state=state,
        reason=most.reason,
        next_action=most.next_action,
        check_after_seconds=most.check_after_seconds,
        received_at=run.recorded_at,
        items=dict(Counter(states.values())),
        open_reviews=len(set().union(*(asked[row.id] for row in items))),
    )
