"""Reads of placement within one team."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import BigIntegerField, Count, DurationField, ExpressionWrapper, Sum
from django.db.models.functions import Coalesce, Greatest, Now

from densemem.core.faults import NotThere
from placement.models import Attempt, Item, ItemAnswer, ItemProposal, Run
from placement.vocabulary import READY, ItemState

LEASES_LOOKED_AT: Final = 100


@dataclass(frozen=True, slots=True)
class Usage:
    """What models were asked for an ingest; the cost is in millionths of a US dollar, 0 where no price is known."""

    calls: int
    tokens_in: int
    tokens_out: int
    cost_micros: int


def is_settled(*, team_id: UUID, ingest_id: UUID) -> bool:
    """Tell if nothing of an ingest waits for a worker."""
    return not Item.objects.of_team(team_id).filter(ingest_id=ingest_id, state__in=READY).exists()


def corrections_wanted(*, team_id: UUID, item_ids: Collection[UUID]) -> dict[UUID, list[str]]:
    """Return, by item, the ids of the proposals that name a Relationship to correct."""
    rows = ItemProposal.objects.of_team(team_id).filter(item_id__in=item_ids).values_list("item_id", "payload")
    wanted = {i: [r["proposal_id"] for r in p.get("relationships", ()) if r.get("correction_target")] for i, p in rows}
    return {item: proposals for item, proposals in wanted.items() if proposals}


def usage_of(*, team_id: UUID, ingest_id: UUID) -> Usage:
    """Return the sum over every call that was made for an ingest, whatever came of it."""
    calls = Attempt.objects.of_team(team_id).filter(item__ingest_id=ingest_id)
    sums = {name: Coalesce(Sum(name), 0) for name in ("tokens_in", "tokens_out")}
    cost = Coalesce(Sum("cost_micros"), 0, output_field=BigIntegerField())
    return Usage(**calls.aggregate(calls=Count("id"), cost_micros=cost, **sums))


def next_due() -> float | None:
    """Return in how many seconds the next unfinished item may be claimed, or None when there is none.

    Where nothing is ready, those whose time came are under a lease, and they are as few as the hands of all workers.
    """
    rows = Item.objects.filter(state__in=READY).order_by("available_at")
    left = ExpressionWrapper(Greatest("available_at", "lease_until") - Now(), output_field=DurationField())
    leased = rows.filter(available_at__lte=Now()).values_list(left)[:LEASES_LOOKED_AT]
    later = rows.filter(available_at__gt=Now()).values_list(left)[:1]
    return min((wait.total_seconds() for (wait,) in [*leased, *later]), default=None)


def item_of_fragment(*, team_id: UUID, fragment_id: UUID) -> UUID:
    """Return the item that places a fragment for its author; those that placed it for others came later."""
    rows = Item.objects.of_team(team_id).filter(fragment_id=fragment_id, adoption__isnull=True)
    found: UUID = rows.values_list("id", flat=True).get()
    return found


def items_of_fragments(*, team_id: UUID, fragment_ids: Collection[UUID]) -> list[UUID]:
    """Return every item that places one of these, for its author or for who adopted it, in the order of their locks."""
    rows = Item.objects.of_team(team_id).filter(fragment_id__in=fragment_ids).order_by("pk")
    return list(rows.values_list("id", flat=True))


def count_items(*, team_id: UUID, fragment_id: UUID) -> int:
    """Count the same of one fragment."""
    return int(Item.objects.of_team(team_id).filter(fragment_id=fragment_id).count())


def siblings_of_fragments(*, team_id: UUID, fragment_ids: Collection[UUID]) -> list[UUID]:
    """Return the items of other texts that came in one request with one of these."""
    placing = Item.objects.of_team(team_id).filter(fragment_id__in=fragment_ids)
    beside = Item.objects.of_team(team_id).filter(ingest_id__in=placing.values("ingest_id"))
    return list(beside.exclude(fragment_id__in=fragment_ids).values_list("id", flat=True))


@dataclass(frozen=True, slots=True)
class AdoptionFacts:
    """A text that a profile adopted before: the spans and the proposal that it sent, and how far its item is."""

    item_id: UUID
    state: ItemState
    spans: tuple[tuple[int, int], ...]
    proposal: Mapping[str, Any] | None


def adoptions_of(*, team_id: UUID, owner_id: UUID, fragment_id: UUID) -> list[AdoptionFacts]:
    """Return every adoption of a fragment by a profile, the oldest first."""
    rows = Item.objects.of_team(team_id).owned_by(owner_id).filter(fragment_id=fragment_id, adoption__isnull=False)
    found = list(rows.select_related("adoption").order_by("pk"))
    proposals = ItemProposal.objects.of_team(team_id).filter(item_id__in=[row.pk for row in found])
    payload_of = dict(proposals.values_list("item_id", "payload"))
    return [
        AdoptionFacts(
            row.id, ItemState(row.state), tuple((a, b) for a, b in row.adoption.spans), payload_of.get(row.id)
        )
        for row in found
    ]


def owner_of_ingest(*, team_id: UUID, ingest_id: UUID) -> UUID:
    """Return whose an ingest is.

    :raises NotThere: no such ingest in the team
    """
    run = Run.objects.of_team(team_id).select_related("ingest").filter(ingest_id=ingest_id).first()
    if run is None:
        raise NotThere
    owner: UUID = run.ingest.owner_id
    return owner


def newest_extraction(*, team_id: UUID, item_id: UUID) -> int | None:
    """Return the cycle in which an item was read last; None when it never was."""
    rows = ItemAnswer.objects.of_team(team_id).filter(item_id=item_id, stage="extract").order_by("-cycle")
    found: int | None = rows.values_list("cycle", flat=True).first()
    return found


def failed_items(*, team_id: UUID, ingest_id: UUID) -> list[UUID]:
    """Return the failed items of an ingest, in the order in which they are locked."""
    rows = Item.objects.of_team(team_id).filter(ingest_id=ingest_id, state=ItemState.FAILED).order_by("pk")
    return list(rows.values_list("id", flat=True))
