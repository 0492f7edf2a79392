"""Records against the state that their ledgers make of them, rebuilt from nothing."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from densemem.audit.report import Check, Difference
from densemem.audit.tables import grouped, ids, rows
from densemem.core.times import known
from evidence.policy import count_voices
from evidence.vocabulary import BINDING
from relationships.policy.replay import History, HistoryBroken, replay

COLUMNS = ("tier", "status", "held_by_person", "version", "support_count", "source_group_count")


def histories(chunk: Sequence[Any]) -> dict[UUID, History]:
    """Return the ledgers of these records, in a number of queries that does not grow with them."""
    of = ids(chunk)
    steps = rows("relationships.Transition").filter(relationship_id__in=of).order_by("seq")
    supports = list(rows("relationships.EvidenceSupport").filter(relationship_id__in=of).order_by("seq"))
    record_of = {support.id: support.relationship_id for support in supports}
    decided = rows("relationships.SupportDecision").filter(support_id__in=record_of).order_by("seq")
    said = {(support.fragment_id, support.group_id) for support in supports}
    joins = list(joins_among(said))

    def voices(texts: list[tuple[UUID, UUID]], until: datetime | None) -> int:
        joined = grouped((key, other) for key, other, at in joins if known(at, by=until))
        return count_voices(texts, {key: set(others) for key, others in joined.items()})

    stepped = grouped((step.relationship_id, step) for step in steps)
    held_up = grouped((support.relationship_id, support) for support in supports)
    decisions = grouped((record_of[decision.support_id], decision) for decision in decided)
    return {
        record: History(stepped.get(record, []), held_up.get(record, []), decisions.get(record, []), voices)
        for record in of
    }


def joins_among(said: Collection[tuple[UUID, UUID]]) -> Iterator[tuple[UUID, UUID, datetime]]:
    """Yield (fragment or source group, what it is joined to, since when) for these (fragment, source group)."""
    joined = rows("evidence.GroupJoin")
    of_groups = joined.filter(one_id__in={group for _, group in said}, reason__in=BINDING)
    yield from of_groups.values_list("one_id", "other_id", "recorded_at")
    of_texts = joined.filter(fragment_id__in={fragment for fragment, _ in said}).exclude(reason__in=BINDING)
    yield from of_texts.values_list("fragment_id", "other_id", "recorded_at")


def records_follow(chunk: Sequence[Any]) -> Iterator[Difference]:
    """A record is what the replay of its ledgers gives."""
    found = histories(chunk)
    for row in chunk:
        try:
            state = replay(found[row.id])
        except HistoryBroken as broken:
            yield Difference(row.id, str(broken))
            continue
        if state is None:
            yield Difference(row.id, "has no history")
            continue
        for column in COLUMNS:
            now, then = getattr(row, column), getattr(state, column)
            if now != then:
                yield Difference(row.id, f"{column} is {now!r}, its ledgers make it {then!r}")


CHECKS = (Check("records_follow_from_ledgers", "relationships.RelationshipRecord", records_follow),)
