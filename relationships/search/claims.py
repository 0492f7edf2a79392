"""Records put into words: who says what of what, with names ("Normal Recall And Trace")."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self
from uuid import UUID

from entities.queries import CandidateView, entity_views, value_displays
from relationships.identity import claim_sentence
from relationships.models import RelationshipRecord
from relationships.vocabulary import Polarity


@dataclass(frozen=True, slots=True)
class Profile:
    """The author of a record or of evidence."""

    profile_id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class End:
    """One end of a claim: an Entity with its name and kind, or a typed value with its display form and unit."""

    entity_id: UUID | None = None
    name: str | None = None
    kind: str | None = None
    value_id: UUID | None = None
    display: str | None = None
    value: str | None = None
    type: str | None = None
    unit: str | None = None

    @property
    def words(self) -> str:
        """How the end reads in a sentence."""
        return self.name or self.display or ""

    @classmethod
    def of_entity(cls, view: CandidateView) -> Self:
        """Return the end that an Entity is."""
        return cls(entity_id=view.entity_id, name=view.canonical_name, kind=view.kind.value)


@dataclass(frozen=True, slots=True)
class Claim:
    """One profile's record as it may be shown: no score, no evidence text. Times are UTC, half-open; None is open."""

    relationship_id: UUID
    group: str
    author: Profile
    subject: End
    predicate: str
    object: End
    polarity: str
    scope: str | None
    tier: str
    status: str
    support_count: int
    source_group_count: int
    valid_from: datetime | None
    valid_from_precision: str | None
    valid_to: datetime | None
    valid_to_precision: str | None
    version: int
    recorded_at: datetime
    sentence: str
    trace_available: bool = True


def claims_of(*, team_id: UUID, rows: Sequence[RelationshipRecord]) -> list[Claim]:
    """Return the claims of these records of one team, in their order. Three queries, however many rows.

    Load the rows with `select_related("owner")`.
    """
    entities = {row.subject_entity_id for row in rows} | {row.object_entity_id for row in rows if row.object_entity_id}
    ends = {i: End.of_entity(view) for i, view in entity_views(team_id=team_id, entity_ids=entities).items()}
    values = value_displays(team_id=team_id, value_ids={r.object_value_id for r in rows if r.object_value_id})
    for i, v in values.items():
        ends[i] = End(value_id=i, display=v.display, value=v.canonical, type=v.type, unit=v.unit)
    return [_claim(row, ends) for row in rows]


def _claim(row: RelationshipRecord, ends: Mapping[UUID, End]) -> Claim:
    object_id = row.object_entity_id or row.object_value_id
    assert object_id is not None
    subject, object_end = ends[row.subject_entity_id], ends[object_id]
    return Claim(
        relationship_id=row.id,
        group=row.semantic_group_key,
        author=Profile(row.owner_id, row.owner.name),
        subject=subject,
        predicate=row.predicate_key,
        object=object_end,
        polarity=row.polarity,
        scope=row.scope_key,
        tier=row.tier,
        status=row.status,
        support_count=row.support_count,
        source_group_count=row.source_group_count,
        valid_from=row.valid_from,
        valid_from_precision=row.valid_from_precision,
        valid_to=row.valid_to,
        valid_to_precision=row.valid_to_precision,
        version=row.version,
        recorded_at=row.recorded_at,
        sentence=claim_sentence(subject.words, row.predicate_key, object_end.words, Polarity(row.polarity)),
    )
