"""What one item writes of knowledge, decided before the first row: plain values, no database."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from entities.plan import NewValue
from relationships.identity import Identity
from relationships.policy import Behaviour
from relationships.vocabulary import (
    CrossReferenceKind,
    LineageKind,
    Modality,
    Outcome,
    Polarity,
    Status,
    Tier,
    TimePrecision,
    Verdict,
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose commit it is, from which evidence, and in which cycle the observations were extracted."""

    team_id: UUID
    owner_id: UUID
    ingest_id: UUID
    fragment_id: UUID
    item_id: UUID
    cycle: int
    extracted: int
    group_id: UUID
    authoritative: bool
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class NewObservation:
    """What the item expressed, with its verdict and how it was resolved. Its spans are in code points.

    :param asked_because: why it was verified once more; empty when nobody asked for it
    """

    id: UUID
    verification_id: UUID
    judged_in: int
    ref: str
    subject_ref: str
    object_ref: str
    polarity: Polarity
    modality: Modality
    valid_from: datetime | None
    valid_to: datetime | None
    valid_from_precision: TimePrecision | None
    valid_to_precision: TimePrecision | None
    scope_key: str | None
    proposal_id: str
    spans: tuple[tuple[int, int], ...]
    verdict: Verdict
    confidence: Decimal
    subject_id: UUID | None
    object_entity_id: UUID | None
    object_value_id: UUID | None
    predicate: Behaviour | None
    relationship_id: UUID | None
    outcome: Outcome
    reason: str
    asked_because: str = ""


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A Relationship that did not exist."""

    id: UUID
    identity: Identity
    behaviour: Behaviour
    valid_from_precision: TimePrecision | None
    valid_to_precision: TimePrecision | None


@dataclass(frozen=True, slots=True)
class NewSupport:
    """A span that begins to support a record, granted by policy; `again` when it did before and was revoked."""

    id: UUID
    relationship_id: UUID
    observation_id: UUID
    verification_id: UUID
    start: int
    end: int
    again: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """One step of a record: the version it reaches, and everything that the row says then."""

    relationship_id: UUID
    version: int
    tier_before: Tier | None
    status_before: Status | None
    tier: Tier
    status: Status
    held_by_person: bool
    support_count: int
    source_group_count: int
    reason: str
    verification_id: UUID | None = None
    actor_id: UUID | None = None
    identity_id: UUID | None = None  # the decision about who is who that made it


@dataclass(frozen=True, slots=True)
class NewReference:
    """What the caller's record says of another profile's, at exact versions."""

    source_id: UUID
    source_version: int
    target_id: UUID
    target_version: int
    kind: CrossReferenceKind
    verification_id: UUID


@dataclass(frozen=True, slots=True)
class NewLineage:
    """A record that took another's place."""

    successor_id: UUID
    predecessor_id: UUID
    kind: LineageKind
    effective_at: datetime


@dataclass(frozen=True, slots=True)
class KnowledgePlan:
    """Everything that one item writes of knowledge, decided before the first row."""

    observations: tuple[NewObservation, ...] = ()
    records: tuple[NewRecord, ...] = ()
    supports: tuple[NewSupport, ...] = ()
    revoked: tuple[UUID, ...] = ()  # supports whose text, verified once more, does not say so
    changes: tuple[Change, ...] = ()
    references: tuple[NewReference, ...] = ()
    lineage: tuple[NewLineage, ...] = ()


@dataclass(frozen=True, slots=True)
class Amendment:
    """What a record should have said: a typed value, or None where its object stays; and its validity."""

    value: NewValue | None
    valid_from: datetime | None
    valid_to: datetime | None
    valid_from_precision: TimePrecision | None
    valid_to_precision: TimePrecision | None
