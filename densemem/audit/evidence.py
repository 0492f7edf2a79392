"""Sources against their chains, holds against their events, spans against the text."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Length

from densemem.audit.report import Check, Difference
from densemem.audit.tables import grouped, ids, newest, rows
from evidence.vocabulary import QuarantineStatus, SecurityDecision

# Where a span is, and the way from its row to the text.
SPANS: Final = (
    ("names", "entities.Name", "fragment__content__text"),
    ("resolutions", "entities.ResolutionEvent", "fragment__content__text"),
    ("signals", "evidence.SecuritySignal", "event__fragment__content__text"),
    ("observations", "relationships.ObservationSpan", "fragment__content__text"),
    ("supports", "relationships.EvidenceSupport", "fragment__content__text"),
)


def sources_point_to_newest(chunk: Sequence[Any]) -> Iterator[Difference]:
    """A source points to the end of its chain."""
    last = newest("evidence.SourceRevision", "source_id", ids(chunk))
    for source in chunk:
        found = last.get(source.id)
        if source.current_revision_id != (found.id if found else None):
            yield Difference(source.id, "current_revision is not the newest revision")


def revisions_are_one_chain(chunk: Sequence[Any]) -> Iterator[Difference]:
    """Each revision names the one before it."""
    at: dict[UUID, UUID | None] = {}
    ledger = rows("evidence.SourceRevision").filter(source_id__in=ids(chunk)).order_by("seq")
    for source, revision, previous in ledger.values_list("source_id", "id", "previous_id").iterator():
        if previous != at.get(source):
            yield Difference(source, f"revision {revision} does not continue the one before it")
        at[source] = revision


def holds_agree(chunk: Sequence[Any]) -> Iterator[Difference]:
    """A text is held exactly when the newest of its holds and releases is a hold."""
    decisions = (SecurityDecision.QUARANTINE, SecurityDecision.RELEASED)
    events = rows("evidence.SecurityEvent").filter(fragment_id__in=ids(chunk), decision__in=decisions)
    wanted = dict(events.order_by("seq").values_list("fragment_id", "decision"))
    kept = rows("evidence.Quarantine").filter(fragment_id__in=ids(chunk)).values_list("fragment_id", "status")
    found = grouped(kept)
    for row in chunk:
        expected = _status(wanted.get(row.id))
        if found.get(row.id, []) != expected:
            yield Difference(row.id, f"is {_said(found.get(row.id, []))}, its security events say {_said(expected)}")


def within_text(table: str, path: str) -> Callable[[Sequence[Any]], Iterator[Difference]]:
    """Return the comparison of the spans of one table with the length of their texts, in code points."""

    def compare(chunk: Sequence[Any]) -> Iterator[Difference]:
        outside = rows(table).filter(pk__in=ids(chunk)).annotate(length=Length(path)).filter(end__gt=F("length"))
        for row, start, end, length in outside.values_list("id", "start", "end", "length"):
            yield Difference(row, f"span {start}-{end} leaves a text of {length}")

    return compare


def _status(decision: str | None) -> list[str]:
    if decision is None:
        return []
    held = decision == SecurityDecision.QUARANTINE
    return [(QuarantineStatus.ACTIVE if held else QuarantineStatus.RELEASED).value]


def _said(statuses: Sequence[str]) -> str:
    return ", ".join(statuses) or "not held"


CHECKS = (
    Check("sources_point_to_newest_revision", "evidence.Source", sources_point_to_newest),
    Check("revisions_are_one_chain", "evidence.Source", revisions_are_one_chain),
    Check("holds_agree_with_events", "evidence.Fragment", holds_agree),
    *(Check(f"spans_of_{name}_lie_in_text", table, within_text(table, path)) for name, table, path in SPANS),
)
