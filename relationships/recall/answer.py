"""The shape of an answer of recall."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Self

from entities.stored import IdentityOpinion
from relationships.recall.conflicts import Conflict
from relationships.search import Claim


@dataclass(frozen=True, slots=True)
class Item(Claim):
    """One profile's record; `why` lists the terms of the query that it matched, if any."""

    why: tuple[str, ...] = ()

    @classmethod
    def of(cls, claim: Claim, *, why: tuple[str, ...]) -> Self:
        """Return a claim with why it was found."""
        return cls(**{field.name: getattr(claim, field.name) for field in fields(claim)}, why=why)


@dataclass(frozen=True, slots=True)
class Group:
    """Everything that says the same: one record for each profile that holds it, the oldest first."""

    relationships: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Recall:
    """What was found, best first, the conflicts that it stands in, and who holds what of the entities that it names."""

    query: str
    valid_at: datetime
    known_at: datetime | None
    results: tuple[Group, ...]
    conflicts: tuple[Conflict, ...]
    identity_opinions: tuple[IdentityOpinion, ...] = ()
