"""The exact spans that a record rests on, shown in their surroundings."""

from collections.abc import Collection, Mapping
from uuid import UUID

from densemem.core import limits
from evidence.queries import held_among, redacted_among, texts_of
from relationships.models import EvidenceSupport, RelationshipRecord, SupportDecision
from relationships.queries import COUNTS
from relationships.search import Profile
from relationships.trace.shapes import HELD, REDACTED, Citation, Listed, Passage, Support


def supports_of(record: RelationshipRecord) -> Listed[Support]:
    """Return the supports of a record, those that do not count any more among them."""
    rows = EvidenceSupport.objects.of_team(record.team_id).filter(relationship=record)
    owned = rows.select_related("fragment__owner", "fragment__source", "fragment__revision")
    newest = list(owned.order_by("-seq")[: limits.TRACE_ITEMS + 1])
    counting = _counting(record.team_id, [row.id for row in newest])
    fragments = {row.fragment_id for row in newest}
    hidden = withheld_among(team_id=record.team_id, fragment_ids=fragments)
    texts = texts_of(team_id=record.team_id, fragment_ids=fragments - hidden.keys())
    return Listed.of([_support(row, texts, hidden, effective=row.id in counting) for row in newest])


def withheld_among(*, team_id: UUID, fragment_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return why the words of these fragments are not shown; those that are shown are left out."""
    held = dict.fromkeys(held_among(team_id=team_id, fragment_ids=fragment_ids), HELD)
    return held | dict.fromkeys(redacted_among(team_id=team_id, fragment_ids=fragment_ids), REDACTED)


def passage_of(text: str, start: int, end: int) -> Passage:
    """Cut a span out of its text with at most `limits.TRACE_CONTEXT_CHARS` on both sides."""
    first, last = max(0, start - limits.TRACE_CONTEXT_CHARS), end + limits.TRACE_CONTEXT_CHARS
    return Passage(before=text[first:start], marked=text[start:end], after=text[end:last])


def _counting(team_id: UUID, support_ids: Collection[UUID]) -> set[UUID]:
    """Return the supports whose newest decision lets them count."""
    decisions = SupportDecision.objects.of_team(team_id).filter(support_id__in=support_ids)
    newest = decisions.order_by("support_id", "-seq").distinct("support_id")
    return {support for support, action in newest.values_list("support_id", "action") if action in COUNTS}


def _support(
    row: EvidenceSupport, texts: Mapping[UUID, str], hidden: Mapping[UUID, str], *, effective: bool
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
        evidence=_citation(row),
        recorded_at=row.recorded_at,
    )


def _citation(row: EvidenceSupport) -> Citation:
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
        revision_is_current=source is None or source.current_revision_id == fragment.revision_id,
        observed_at=fragment.observed_at or fragment.recorded_at,
    )
