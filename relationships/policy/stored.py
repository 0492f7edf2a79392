"""Stored knowledge as the rules see it: values without a database behind them."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from relationships.identity import Identity
from relationships.policy.compare import Position
from relationships.vocabulary import (
    Cardinality,
    CrossReferenceKind,
    LineageKind,
    RelationshipKind,
    Status,
    Tier,
    TimePrecision,
)


@dataclass(frozen=True, slots=True)
class StoredSupport:
    """A span that supports a record, and whether it counts now."""

    fragment_id: UUID
    start: int
    end: int
    group_id: UUID
    authoritative: bool
    effective: bool
    observed_at: datetime
    sequence: int
    observation_id: UUID | None = None  # that it was granted for

    @property
    def source(self) -> tuple[UUID, UUID]:
        """The fragment and its source group: what voices are counted by."""
        return self.fragment_id, self.group_id


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What the registry said of a predicate when it was applied."""

    key: str
    version: int
    kind: RelationshipKind
    cardinality: Cardinality
    symmetric: bool


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """One record with its supports and the references that it made."""

    id: UUID
    identity: Identity
    behaviour: Behaviour
    tier: Tier
    status: Status
    held_by_person: bool
    version: int
    recorded_at: datetime
    valid_from_precision: TimePrecision | None
    valid_to_precision: TimePrecision | None
    support_count: int = 0
    source_group_count: int = 0
    supports: tuple[StoredSupport, ...] = ()
    references: frozenset[tuple[UUID, CrossReferenceKind]] = field(default_factory=frozenset)
    superseded: tuple[LineageKind, datetime] | None = None  # how it was replaced last, and since when

    @property
    def effective(self) -> tuple[StoredSupport, ...]:
        """The supports that count."""
        return tuple(s for s in self.supports if s.effective)

    def position(self) -> Position:
        """Return the record as it is compared: as old as the last time that counting evidence said it."""
        counting = self.effective
        return Position(
            identity=self.identity,
            tier=self.tier,
            kind=self.behaviour.kind,
            cardinality=self.behaviour.cardinality,
            observed_at=max((s.observed_at for s in counting), default=None),
            recorded_at=self.recorded_at,
            sequence=max((s.sequence for s in counting), default=0),
        )
