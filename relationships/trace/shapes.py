"""The shapes of a trace. Offsets are code points of the fragment, half-open; times are UTC."""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar
from uuid import UUID

from relationships.search import Claim, Profile
from relationships.trace.cases import CaseSummary

HELD = "held"
REDACTED = "redacted"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Listed(Generic[T]):
    """A page of a list, the newest entry first; `count` is of the whole list, `next` asks for older entries."""

    items: tuple[T, ...]
    count: int
    next: str | None


@dataclass(frozen=True, slots=True)
class Meaning:
    """The predicate as the registry defined it when the record was made, and how the record behaves since."""

    predicate: str
    version: int
    kind: str
    cardinality: str
    symmetric: bool
    active: tuple[str, ...]
    inverse: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A cited span in its surroundings: the three parts are one piece of the text, letter for letter."""

    before: str
    marked: str
    after: str


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a text comes from, whose it is, and whether it is what its source says now."""

    fragment_id: UUID
    author: Profile
    source_type: str
    authority: str
    source_label: str
    source_key: str | None
    revision: str | None
    revision_is_current: bool
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class Support:
    """An exact span that holds the record up; `effective` tells whether it counts.

    `passage` is None when the text may not be shown; `withheld` then says why.
    """

    support_id: UUID
    effective: bool
    authoritative: bool
    source_group_id: UUID
    observation_id: UUID
    verification_id: UUID
    start: int
    end: int
    passage: Passage | None
    withheld: str | None
    evidence: Citation
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Decision:
    """Grant, revoke or reinstate; no actor means that the server's policy decided."""

    support_id: UUID
    action: str
    reason: str
    actor: Profile | None
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Observed:
    """What one evidence submission expressed, in its own words, and what became of it."""

    observation_id: UUID
    owner: Profile
    fragment_id: UUID
    polarity: str
    modality: str
    wording: str | None
    value: str | None
    withheld: str | None
    valid_from: datetime | None
    valid_to: datetime | None
    scope: str | None
    outcome: str
    reason: str
    observed_at: datetime
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Verified:
    """One judgment of the verifier; its confidence in words."""

    verification_id: UUID
    observation_id: UUID
    cycle: int
    verdict: str
    confidence: str
    rationale: str | None
    withheld: str | None
    model: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Step:
    """One version of the record, and why it became so; no actor means that the server's policy decided.

    :param identity_decision_id: the decision about who is who that made it so, if one did
    """

    version: int
    tier_before: str | None
    status_before: str | None
    tier: str
    status: str
    support_count: int
    source_group_count: int
    reason: str
    verification_id: UUID | None
    actor: Profile | None
    identity_decision_id: UUID | None
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Reference:
    """What a record says of another, at exact versions. `other` is the one that is not traced."""

    kind: str
    author: Profile
    source_relationship_id: UUID
    source_version: int
    target_relationship_id: UUID
    target_version: int
    verification_id: UUID | None
    other: Claim
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Succession:
    """One record took another's place."""

    kind: str
    successor_id: UUID
    predecessor_id: UUID
    effective_at: datetime
    other: Claim
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Trace:
    """A record with everything that it rests on and that happened to it, as known by a moment; None is now."""

    relationship: Claim
    known_at: datetime | None
    meaning: Meaning
    supports: Listed[Support]
    support_decisions: Listed[Decision]
    observations: Listed[Observed]
    verifications: Listed[Verified]
    transitions: Listed[Step]
    references: Listed[Reference]
    lineage: Listed[Succession]
    conflicts: Listed[CaseSummary]
