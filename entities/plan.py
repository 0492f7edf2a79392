"""What one item writes of identity, decided before the first row: plain values, no database."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import UUID

from densemem.core.ids import derived_id
from entities.policy import Candidate, CanonicalValue
from entities.vocabulary import EntityKind, NameKind, ResolutionAction

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
class NewValue:
    """A typed value to be kept, if the team does not have it. Its id follows from what it is."""

    id: UUID
    value: CanonicalValue
    display: str


def new_value(*, team_id: UUID, value: CanonicalValue, display: str, spent: Collection[UUID] = frozenset()) -> NewValue:
    """Return the value under the id that its team, type, form and unit always give.

    :param spent: ids of values whose words are gone: what is said again is kept under the next id
    """
    parts = ["value", team_id, value.type, value.canonical, value.unit, NORMALIZATION]
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
