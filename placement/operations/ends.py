"""The ends of a claimed item. Each raises `LeaseLost` when the item is not ours any more."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.db import transaction

from evidence.operations import quarantine as hold_evidence
from evidence.vocabulary import SecurityEventKind, SignalKind
from placement.models import Item, ItemAnswer
from placement.operations.claims import Claim, database_now, hold
from placement.operations.steps import ask, ask_for_release, end
from placement.vocabulary import ItemCategory, ItemState
from review.operations import NewTask


def finish(row: Item, *, tasks: Sequence[NewTask], now: datetime) -> None:
    """End an item whose knowledge was just written; with questions it waits for a person."""
    ask(row, tasks, now=now)
    state = ItemState.AWAITING_REVIEW if tasks else ItemState.COMPLETED
    end(row, state=state, category=ItemCategory.PROCESSED, reason=tasks[0].reason if tasks else "", now=now)


def keep_answers(claim: Claim, *, extraction: Any, verification: Any, model: str) -> None:
    """Keep both accepted answers whole, so that a person's decision can re-enter with them."""
    now = database_now()
    ItemAnswer.objects.bulk_create(
        ItemAnswer(
            team_id=claim.team_id,
            item_id=claim.item_id,
            fragment_id=claim.fragment_id,
            cycle=claim.cycle,
            stage=stage,
            model=model,
            payload=json.loads(json.dumps(asdict(answer), default=str)),
            recorded_at=now,
        )
        for stage, answer in (("extract", extraction), ("verify", verification))
    )


@transaction.atomic
def end_superseded(claim: Claim) -> None:
    """End an item whose revision is no longer current: nothing of it is written.

    :raises LeaseLost: the item is not ours any more
    """
    now = database_now()
    end(hold(claim), state=ItemState.SUPERSEDED, category=ItemCategory.PROCESSED, reason="newer_revision", now=now)


@transaction.atomic
def end_held(claim: Claim) -> None:
    """End an item whose evidence was held by somebody else meanwhile: nothing of it is written.

    :raises LeaseLost: the item is not ours any more
    """
    now = database_now()
    category = ItemCategory.QUARANTINED
    end(hold(claim), state=ItemState.QUARANTINED, category=category, reason="evidence_held", now=now)


@transaction.atomic
def end_quarantined(claim: Claim, *, by: SecurityEventKind, signals: Sequence[tuple[SignalKind, int, int]]) -> None:
    """Hold the evidence because a model saw control text in it; nothing semantic is written.

    :raises LeaseLost: the item is not ours any more
    """
    row, now = hold(claim), database_now()
    hold_evidence(team_id=row.team_id, fragment_id=row.fragment_id, by=by, signals=signals, now=now)
    end(row, state=ItemState.QUARANTINED, category=ItemCategory.QUARANTINED, reason=f"held_by_{by}", now=now)
    ask_for_release(row, now=now)


@transaction.atomic
def end_failed(claim: Claim, *, reason: str) -> None:
    """End an item that no further try can help; the evidence is kept.

    :raises LeaseLost: the item is not ours any more
    """
    now = database_now()
    end(hold(claim), state=ItemState.FAILED, category=ItemCategory.FAILED, reason=reason, now=now)
