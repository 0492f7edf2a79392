"""Items and tasks against their events; evidence against the work that it must have got."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from densemem.audit.report import Check, Difference
from densemem.audit.tables import ids, newest, rows, unequal


def items_equal_newest_event(chunk: Sequence[Any]) -> Iterator[Difference]:
    """An item says what its newest event says."""
    last = newest("placement.ItemEvent", "item_id", ids(chunk))
    for row in chunk:
        yield from unequal(row, last.get(row.id), ("state", "category", "reason", "version"))


def tasks_equal_newest_event(chunk: Sequence[Any]) -> Iterator[Difference]:
    """A task says what its newest event says."""
    last = newest("review.TaskEvent", "task_id", ids(chunk))
    for row in chunk:
        yield from unequal(row, last.get(row.id), ("status", "version"))


def item_events_are_whole(chunk: Sequence[Any]) -> Iterator[Difference]:
    """The events of an item count 1, 2, 3 in the order of the ledger."""
    return _whole("placement.ItemEvent", "item_id", chunk)


def task_events_are_whole(chunk: Sequence[Any]) -> Iterator[Difference]:
    """The events of a task count 1, 2, 3 in the order of the ledger."""
    return _whole("review.TaskEvent", "task_id", chunk)


def fragments_have_items(chunk: Sequence[Any]) -> Iterator[Difference]:
    """No text was taken in and forgotten: each fragment has its item."""
    placed = set(rows("placement.Item").filter(fragment_id__in=ids(chunk)).values_list("fragment_id", flat=True))
    yield from (Difference(row.id, "has no item") for row in chunk if row.id not in placed)


def _whole(ledger: str, of: str, chunk: Sequence[Any]) -> Iterator[Difference]:
    at: dict[UUID, int] = {}
    steps = rows(ledger).filter(**{f"{of}__in": ids(chunk)}).order_by("seq").values_list(of, "version")
    for owner, version in steps.iterator():
        if version != at.get(owner, 0) + 1:
            yield Difference(owner, f"event {version} follows {at.get(owner, 0)}")
        at[owner] = version


CHECKS = (
    Check("items_equal_newest_event", "placement.Item", items_equal_newest_event),
    Check("item_events_are_whole", "placement.Item", item_events_are_whole),
    Check("tasks_equal_newest_event", "review.Task", tasks_equal_newest_event),
    Check("task_events_are_whole", "review.Task", task_events_are_whole),
    Check("fragments_have_items", "evidence.Fragment", fragments_have_items),
)
