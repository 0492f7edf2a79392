"""Reads of placement within one team."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from densemem.core.faults import NotThere
from placement.models import Item, ItemProposal, Run
from placement.policy import NEXT, NOTHING_CONCLUDED, check_after, run_state
from placement.vocabulary import PROCESSING, READY, ItemState
from relationships.queries import ObservationView, observations_of_items
from review.queries import tasks_of_items


@dataclass(frozen=True, slots=True)
class ItemView:
    """One evidence item as its sender may see it."""

    item_id: UUID
    evidence_id: UUID
    evidence_index: int
    version: int
    state: str
    category: str
    reason: str
    next_action: str
    attempts: int
    outcomes: tuple[ObservationView, ...]
    review_tasks: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class IngestView:
    """The placement of one ingest."""

    ingest_id: UUID
    owner_profile_id: UUID
    processing_state: str
    search_state: str
    check_after_seconds: int
    next_action: str
    received_at: datetime
    items: tuple[ItemView, ...]


def get_placement(*, team_id: UUID, ingest_id: UUID) -> IngestView:
    """Return how far an ingest is, item by item, with what became of each observation.

    :raises NotThere: no such ingest in the team
    """
    run = Run.objects.of_team(team_id).select_related("ingest").filter(ingest_id=ingest_id).first()
    if run is None:
        raise NotThere
    rows = list(Item.objects.of_team(team_id).filter(run=run).order_by("evidence_index"))
    seen = observations_of_items(team_id=team_id, item_ids=[r.id for r in rows])
    asked: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for item_id, task in tasks_of_items(team_id=team_id, item_ids=[r.id for r in rows]):
        asked[item_id].append(task)
    items = tuple(_item(row, tuple(seen.get(row.id, ())), tuple(asked[row.id])) for row in rows)
    state = run_state({i.state for i in items})
    return IngestView(
        ingest_id=ingest_id,
        owner_profile_id=run.ingest.owner_id,
        processing_state=state,
        search_state="not_required",
        check_after_seconds=check_after(state),
        next_action=NEXT[state],
        received_at=run.recorded_at,
        items=items,
    )


def is_settled(*, team_id: UUID, ingest_id: UUID) -> bool:
    """Tell if nothing of an ingest waits for a worker."""
    return not Item.objects.of_team(team_id).filter(ingest_id=ingest_id, state__in=READY).exists()


def proposal_of(*, team_id: UUID, item_id: UUID) -> dict[str, Any]:
    """Return the part of the client's proposal that cites an item; empty when there is none."""
    found = ItemProposal.objects.of_team(team_id).filter(item_id=item_id).values_list("payload", flat=True).first()
    return dict(found) if found else {}


def next_due() -> datetime | None:
    """Return when the next unfinished item may be claimed, or None when there is none."""
    rows = Item.objects.filter(state__in=READY).values_list("available_at", "lease_until")
    return min((max(at, lease) if lease else at for at, lease in rows.order_by("available_at")[:100]), default=None)


def _item(row: Item, outcomes: tuple[ObservationView, ...], tasks: tuple[dict[str, Any], ...]) -> ItemView:
    leased = row.state in READY and row.lease_until is not None and row.lease_until > timezone.now()
    state = PROCESSING if leased else row.state
    empty = row.state == ItemState.COMPLETED and not outcomes
    return ItemView(
        item_id=row.id,
        evidence_id=row.fragment_id,
        evidence_index=row.evidence_index,
        version=row.version,
        state=state,
        category=row.category,
        reason="nothing_concluded" if empty else PUBLIC_REASONS.get(row.reason, row.reason),
        next_action=NOTHING_CONCLUDED if empty else NEXT[state],
        attempts=row.attempts,
        outcomes=outcomes,
        review_tasks=tasks,
    )


# Held text has one public reason, whoever saw what.
PUBLIC_REASONS = {
    "held_by_scan": "evidence_held",
    "held_by_reviewer_signal": "evidence_held",
    "held_by_verifier_signal": "evidence_held",
}
