"""Evidence as the console shows it: exact spans in their surroundings, or one generic line while the text is held."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from densemem.core.inert import Excerpt, excerpt
from evidence.models import Fragment, FragmentRetirement, Quarantine
from evidence.vocabulary import QuarantineStatus

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class EvidenceCard:
    """A fragment for a page; `text` and `excerpt` are None while it is held, and for good once it is redacted."""

    fragment_id: UUID
    source: str
    revision: str
    current: bool
    author_id: UUID
    author: str
    author_kind: str
    said_at: datetime
    held: bool
    redacted: bool
    text: str | None
    excerpt: Excerpt | None


def held_now(fragment: str = "fragment_id") -> Exists:
    """Return the condition that the fragment a row refers to is held now."""
    return Exists(Quarantine.objects.filter(fragment_id=OuterRef(fragment), status=QuarantineStatus.ACTIVE))


def evidence_cards(*, team_id: UUID, spans: Mapping[UUID, Iterable[Span]]) -> dict[UUID, EvidenceCard]:
    """Return a card for each fragment, with its spans marked; the number of queries does not grow."""
    rows = (
        Fragment.objects.of_team(team_id)
        .filter(pk__in=spans)
        .select_related("content", "owner", "source", "revision")
        .annotate(held=held_now("pk"), withdrawn=Exists(FragmentRetirement.objects.filter(fragment_id=OuterRef("pk"))))
    )
    return {row.id: _card(row, spans[row.id]) for row in rows}


def _card(row: Any, spans: Iterable[Span]) -> EvidenceCard:
    redacted = row.content.redacted_at is not None
    text = None if row.held or redacted else row.content.text
    return EvidenceCard(
        fragment_id=row.id,
        source=row.source_label or (row.source.source_key if row.source else row.get_source_type_display()),
        revision=row.revision.token if row.revision else "",
        current=not row.withdrawn and (row.source is None or row.source.current_revision_id == row.revision_id),
        author_id=row.owner_id,
        author=row.owner.name,
        author_kind=row.owner.kind,
        said_at=row.observed_at or row.recorded_at,
        held=row.held and not redacted,
        redacted=redacted,
        text=text,
        excerpt=None if text is None else excerpt(text, spans),
    )
