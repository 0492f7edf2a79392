"""The shape of an answer of recall."""

from dataclasses import dataclass
from datetime import datetime

from relationships.recall.conflicts import Conflict
from relationships.search import Claim


@dataclass(frozen=True, slots=True)
class Item:
    """One profile's record; `why` lists the terms of the query that it matched, if any."""

    claim: Claim
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """Everything that says the same: one item for each profile that holds it, oldest first."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer: groups, best first, and the conflicts that they stand in."""

    query: str
    valid_at: datetime
    groups: tuple[Group, ...]
    conflicts: tuple[Conflict, ...]
