"""Holds against their events, joins against the texts that show them, spans against the text."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from django.db.models import F
from django.db.models.functions import Length

from densemem.audit.report import Check, Difference
from densemem.audit.tables import grouped, ids, rows
from densemem.core.limits import NEAR_COPY_PERCENT
from densemem.db.read import fetch
from evidence.vocabulary import QuarantineStatus, SecurityDecision

# Where a span is, and the way from its row to the text.
SPANS: Final = (
    ("names", "entities.Name", "fragment__content__text"),
    ("resolutions", "entities.ResolutionEvent", "fragment__content__text"),
    ("signals", "evidence.SecuritySignal", "event__fragment__content__text"),
    ("observations", "relationships.ObservationSpan", "fragment__content__text"),
)

UNSHOWN: Final = """
    SELECT joined.id, joined.reason FROM evidence_groupjoin AS joined
    JOIN evidence_fragment AS said ON said.id = joined.fragment_id
    JOIN evidence_content AS content ON content.id = said.content_id
    LEFT JOIN evidence_shingles AS mine ON mine.content_id = said.content_id
    WHERE joined.fragment_id = ANY(%(fragments)s) AND (
      said.group_id <> joined.one_id
      OR joined.reason = 'same_text' AND NOT EXISTS (
        SELECT FROM evidence_fragment AS other JOIN evidence_content AS theirs ON theirs.id = other.content_id
        WHERE other.group_id = joined.other_id AND theirs.normal_digest = content.normal_digest)
      OR joined.reason = 'near_copy' AND NOT EXISTS (
        SELECT FROM evidence_fragment AS other JOIN evidence_shingles AS theirs ON theirs.content_id = other.content_id
        WHERE other.group_id = joined.other_id AND theirs.hashes && mine.hashes
          AND 100 * cardinality(ARRAY(SELECT unnest(theirs.hashes) INTERSECT SELECT unnest(mine.hashes)))
              >= %(percent)s * least(cardinality(theirs.hashes), cardinality(mine.hashes))))
    ORDER BY joined.id"""


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


def joins_are_shown(chunk: Sequence[Any]) -> Iterator[Difference]:
    """A text joins its own source group with another one, where its words stand if the reason says so.

    What an echo repeats is kept for a month only, so of echoes the group alone is compared.
    """
    given = {"fragments": ids(chunk), "percent": NEAR_COPY_PERCENT}
    for join, reason in fetch(UNSHOWN, **given):
        yield Difference(join, f"no text shows this join: {reason}")


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
    Check("holds_agree_with_events", "evidence.Fragment", holds_agree),
    Check("joins_are_shown_by_texts", "evidence.Fragment", joins_are_shown),
    *(Check(f"spans_of_{name}_lie_in_text", table, within_text(table, path)) for name, table, path in SPANS),
)
