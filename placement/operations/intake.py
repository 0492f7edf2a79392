"""Queueing the fragments of an ingest, and ending the work on those that a newer revision replaced."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from densemem.db.insert import insert, together
from densemem.db.locks import lock_all
from evidence.vocabulary import ScanDecision
from placement.models import Adoption, Item, ItemProposal, Run
from placement.operations.steps import ask_for_release, end, event_of
from placement.vocabulary import READY, ItemCategory, ItemState
from review.operations import cancel_tasks

STATE_OF_SCAN = {
    ScanDecision.PASS: ItemState.QUEUED,
    ScanDecision.GUARDED: ItemState.GUARDED,
    ScanDecision.QUARANTINE: ItemState.QUARANTINED,
}
UNFINISHED = (*READY, ItemState.AWAITING_REVIEW, ItemState.QUARANTINED, ItemState.FAILED)


@dataclass(frozen=True, slots=True)
class Staging:
    """A stored fragment that begins its way."""

    fragment_id: UUID
    evidence_index: int
    decision: ScanDecision
    proposal: Mapping[str, Any] | None
    adopted: tuple[tuple[int, int], ...] = ()  # the spans that its adopter cites; none for one's own text


def open_run(*, team_id: UUID, owner_id: UUID, ingest_id: UUID, items: Sequence[Staging], now: datetime) -> list[Item]:
    """Queue the fragments of one ingest. Called inside the intake transaction."""
    run = Run(team_id=team_id, ingest_id=ingest_id, recorded_at=now)
    rows = [
        Item(
            team_id=team_id,
            run=run,
            ingest_id=ingest_id,
            owner_id=owner_id,
            fragment_id=s.fragment_id,
            evidence_index=s.evidence_index,
            state=STATE_OF_SCAN[s.decision],
            category=ItemCategory.QUARANTINED if s.decision is ScanDecision.QUARANTINE else ItemCategory.PENDING,
            reason="held_by_scan" if s.decision is ScanDecision.QUARANTINE else "",
            available_at=now,
            completed_at=now if s.decision is ScanDecision.QUARANTINE else None,
        )
        for s in items
    ]
    with together():
        insert([run])
        insert(rows)
        insert(event_of(row, now=now) for row in rows)
        insert(
            ItemProposal(
                team_id=team_id, item=row, fragment_id=s.fragment_id, payload=dict(s.proposal), recorded_at=now
            )
            for row, s in zip(rows, items, strict=True)
            if s.proposal
        )
        insert(
            Adoption(
                team_id=team_id,
                item=row,
                fragment_id=s.fragment_id,
                spans=[list(span) for span in s.adopted],
                recorded_at=now,
            )
            for row, s in zip(rows, items, strict=True)
            if s.adopted
        )
    for row in rows:
        if row.state == ItemState.QUARANTINED:
            ask_for_release(row, now=now)
    return rows


def lock_questions(*, team_id: UUID, owner_id: UUID, fragment_ids: Sequence[UUID]) -> None:
    """Wait for the questions of a profile, and of whoever adopted these fragments. Questions are locked last."""
    placed_for = Item.objects.of_team(team_id).filter(fragment_id__in=fragment_ids).values_list("owner_id", flat=True)
    lock_all(("questions", team_id, owner) for owner in {owner_id, *placed_for})


def withdraw_questions(*, team_id: UUID, fragment_ids: Sequence[UUID], reason: str, now: datetime) -> None:
    """Close what anybody is asked about fragments that stopped counting. The caller holds the questions."""
    if fragment_ids:
        cancel_tasks(team_id=team_id, fragment_ids=fragment_ids, reason=reason, now=now)


def lock_outdated(*, team_id: UUID, fragment_ids: Collection[UUID], beside: Collection[UUID] = ()) -> list[Item]:
    """Lock the items whose work on these fragments has to end: queued, waiting for a person, failed, or held.

    :param beside: items to lock with the others, in one order
    """
    if not fragment_ids and not beside:
        return []
    unfinished = Q(fragment_id__in=fragment_ids, state__in=UNFINISHED)
    rows = Item.objects.of_team(team_id).filter(unfinished | Q(pk__in=beside))
    outdated = set(fragment_ids)
    locked = rows.select_for_update().order_by("pk")
    return [row for row in locked if row.fragment_id in outdated and row.state in UNFINISHED]


def supersede_items(rows: Sequence[Item], *, now: datetime, reason: str = "newer_revision") -> None:
    """End the work on fragments that count no more; the rows are locked."""
    for row in rows:
        held = row.state == ItemState.QUARANTINED
        category = ItemCategory.QUARANTINED if held else ItemCategory.PROCESSED
        end(row, state=ItemState.SUPERSEDED, category=category, reason=reason, now=now)


def lock_items(*, team_id: UUID, item_ids: Collection[UUID]) -> list[Item]:
    """Lock items in the order of their ids and return them as they are."""
    return list(Item.objects.of_team(team_id).filter(pk__in=item_ids).select_for_update().order_by("pk"))
