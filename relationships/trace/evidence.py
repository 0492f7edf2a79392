"""The exact spans that a record rests on, shown in their surroundings."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from densemem.core import limits
from evidence.queries import held_among, redacted_among, revisions_known_at, texts_of
from relationships.models import EvidenceSupport, SupportDecision
from relationships.queries import COUNTS
from relationships.search import Profile
from relationships.trace.paged import Asked, Kind
from relationships.trace.shapes import HELD, REDACTED, Citation, Passage, Support


def _supports(asked: Asked) -> QuerySet[EvidenceSupport]:
    """Return the supports of a record, those that do not count any more among them."""
    rows = EvidenceSupport.objects.of_team(asked.team_id).filter(relationship=asked.record).known_by(asked.known_at)
    return rows.select_related("fragment__owner", "fragment__source", "fragment__revision")


def _shown(asked: Asked, rows: Sequence[EvidenceSupport]) -> list[Support]:
    counting = _counting(asked, [row.id for row in rows])
    current = _current(asked, rows)
    fragments = {row.fragment_id for row in rows}
    hidden = withheld_among(team_id=asked.team_id, fragment_ids=fragments)
    texts = texts_of(team_id=asked.team_id, fragment_ids=fragments - hidden.keys())
    return [_support(row, texts, hidden, current, effective=row.id in counting) for row in rows]


SUPPORTS: Final = Kind(_supports, _shown)


def withheld_among(*, team_id: UUID, fragment_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return why the words of these fragments are not shown; those that are shown are left out."""
    held = dict.fromkeys(held_among(team_id=team_id, fragment_ids=fragment_ids), HELD)
    return held | dict.fromkeys(redacted_among(team_id=team_id, fragment_ids=fragment_ids), REDACTED)


def passage_of(text: str, start: int, end: int) -> Passage:
    """Cut a span out of its text with at most `limits.TRACE_CONTEXT_CHARS` on both sides."""
    first, last = max(0, start - limits.TRACE_CONTEXT_CHARS), end + limits.TRACE_CONTEXT_CHARS
    return Passage(before=text[first:start], marked=text[start:end], after=text[end:last])


def _counting(asked: Asked, support_ids: Collection[UUID]) -> set[UUID]:
    """Return the supports whose newest decision lets them count."""
    decisions = SupportDecision.objects.of_team(asked.team_id).filter(support_id__in=support_ids)
    newest = decisions.known_by(asked.known_at).order_by("support_id", "-seq").distinct("support_id")
    return {support for support, action in newest.values_list("support_id", "action") if action in COUNTS}


def _current(asked: Asked, rows: Sequence[EvidenceSupport]) -> dict[UUID, UUID | None]:
    """Return the current revision of each source that the supports cite."""
    sources = {row.fragment.source.id: row.fragment.source for row in rows if row.fragment.source}
    if asked.known_at is None:
        return {source.id: source.current_revision_id for source in sources.values()}
    return dict(revisions_known_at(team_id=asked.team_id, source_ids=sources, at=asked.known_at))


def _support(
    row: EvidenceSupport,
    texts: Mapping[UUID, str],
    hidden: Mapping[UUID, str],
    current: Mapping[UUID, UUID | None],
    *,
    effective: bool,
) -> Support:
    text = texts.get(row.fragment_id)
    return Support(
        support_id=row.id,
        effective=effective,
        authoritative=row.authoritative,
        source_group_id=row.group_id,
        observation_id=row.observation_id,
        verification_id=row.verification_id,
        start=row.start,
        end=row.end,
        passage=None if text is None else passage_of(text, row.start, row.end),
        withheld=hidden.get(row.fragment_id),
        evidence=_citation(row, current),
        recorded_at=row.recorded_at,
    )


def _citation(row: EvidenceSupport, current: Mapping[UUID, UUID | None]) -> Citation:
    fragment = row.fragment
    source = fragment.source
    return Citation(
        fragment_id=fragment.id,
        author=Profile(fragment.owner_id, fragment.owner.name),
        source_type=fragment.source_type,
        authority=fragment.authority,
        source_label=fragment.source_label,
        source_key=source.source_key if source else None,
        revision=fragment.revision.token if fragment.revision else None,
        revision_is_current=source is None or current.get(source.id) == fragment.revision_id,
        observed_at=fragment.observed_at or fragment.recorded_at,
    )
