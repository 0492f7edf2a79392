"""What one item writes of identity, decided before the first row: plain values, no database."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from densemem.core.ids import derived_id
from entities.policy import Candidate, CanonicalIdentifier, CanonicalValue
from entities.vocabulary import (
    BasisKind,
    EntityKind,
    IdentityKind,
    MemberRole,
    NameKind,
    ResolutionAction,
)

NORMALIZATION = 1  # raised when a canonical form changes


@dataclass(frozen=True, slots=True)
class NewName:
    """A name as it stands at an exact span of the fragment."""

    entity_id: UUID
    kind: NameKind
    display: str
    key: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NewEntity:
    """An Entity to be made."""

    id: UUID
    kind: EntityKind
    identity_context: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NewIdentifier:
    """A persistent identifier as it stands at an exact span of the fragment."""

    entity_id: UUID
    identifier: CanonicalIdentifier
    display: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NewValue:
    """A typed value to be kept, if the team does not have it. Its id follows from what it is."""

    id: UUID
    value: CanonicalValue
    display: str


def new_value(*, seed: str, value: CanonicalValue, display: str, spent: Collection[UUID] = frozenset()) -> NewValue:
    """Return the value under the id that its team, type, form and unit always give.

    :param seed: of the ids of the team
    :param spent: ids of values whose words are gone: what is said again is kept under the next id
    """
    parts = ["value", seed, value.type, value.canonical, value.unit, NORMALIZATION]
    number = derived_id(*parts)
    while number in spent:
        number = derived_id(*parts, str(number))
    return NewValue(number, value, display)


@dataclass(frozen=True, slots=True)
class NewResolution:
    """The decision about one mention, with what was offered when it is open, each once."""

    id: UUID
    mention_ref: str
    kind: EntityKind
    start: int
    end: int
    action: ResolutionAction
    entity_id: UUID | None
    confidence: Decimal
    reason: str
    candidates: tuple[Candidate, ...] = ()
    bearers: int = 0  # Entities of its kind that bear the name


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose commit it is, and from which evidence."""

    team_id: UUID
    owner_id: UUID
    ingest_id: UUID
    fragment_id: UUID
    item_id: UUID
    cycle: int


@dataclass(frozen=True, slots=True)
class NewBasis:
    """What a decision about identity rests on for one of its entities: an identifier, or an exact span."""

    entity_id: UUID
    kind: BasisKind
    identifier_id: UUID | None = None
    fragment_id: UUID | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewIdentityDecision:
    """A profile's decision about who is who; `of_decision_id` is what it withdraws."""

    id: UUID
    team_id: UUID
    author_id: UUID
    kind: IdentityKind
    decision_id: UUID
    impact_hash: str
    members: tuple[tuple[UUID, MemberRole], ...] = ()
    basis: tuple[NewBasis, ...] = ()
    of_decision_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Attribution:
    """Whom a mention of an item means from the item's version on; None leaves it open, with candidates."""

    item_id: UUID
    mention_ref: str
    cycle: int
    entity_id: UUID | None
    candidates: tuple[UUID, ...] = ()

    @property
    def place(self) -> tuple[UUID, str]:
        """The mention: its item and its ref."""
        return self.item_id, self.mention_ref
