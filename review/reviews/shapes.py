"""The shapes of a question. Offsets are code points of the fragment, half-open; times are UTC.

While the text is held (`held`), and for good once it is redacted, everything that came from it is empty, for everybody.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from densemem.core.inert import Part
from relationships.search import Claim, Profile


@dataclass(frozen=True, slots=True)
class Candidate:
    """An Entity that the mention may mean, why it was offered, and a few things that recall knows of it.

    :param of_many: how many bear the name, where they are too many to be offered
    """

    entity_id: UUID
    canonical_name: str
    kind: str
    why_offered: str
    of_many: int | None
    identity_context: Mapping[str, Any]
    known: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Impact:
    """What waits for the answer."""

    observations: int
    items: int
    words: str


@dataclass(frozen=True, slots=True)
class EvidenceHandle:
    """Where in which text the question arose."""

    fragment_id: UUID
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ReviewTask:
    """A question in a list.

    `item_version` is what a decision must name; `entity_ref` and `observation_id` are what it is about.
    `candidates_total` is how many there were: more than `candidates` where too many bear the name.
    """

    review_id: UUID
    address: str
    kind: str
    status: str
    owner: Profile
    opened_at: datetime
    ingest_id: UUID
    item_id: UUID
    item_version: int
    question: str
    why: str
    reason: str
    held: bool
    entity_ref: str | None
    observation_id: UUID | None
    impact: Impact | None
    candidates: tuple[Candidate, ...]
    candidates_total: int
    evidence: tuple[EvidenceHandle, ...]


@dataclass(frozen=True, slots=True)
class PredicateOption:
    """A registered predicate that the wording may mean, whole; `active` and `inverse` are its aliases both ways."""

    key: str
    version: int
    active: tuple[str, ...]
    inverse: tuple[str, ...]
    symmetric: bool
    subject_kinds: tuple[str, ...]
    object_kinds: tuple[str, ...]
    kind: str
    cardinality: str
    lifecycle: str


@dataclass(frozen=True, slots=True)
class ActionOption:
    """An answer that this caller may give: what it must say, and the action that takes it back, if there is one."""

    action: str
    requires: tuple[str, ...]
    compensation: str | None


@dataclass(frozen=True, slots=True)
class ReviewStep:
    """One version of a question."""

    version: int
    status: str
    actor: Profile | None
    reason: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class DecisionTaken:
    """What somebody decided; `carried_out` once a worker has acted on it."""

    decision_id: UUID
    action: str
    by: Profile
    message: str
    entity_id: UUID | None
    predicate_key: str | None
    evidence: tuple[UUID, ...]
    compensation: str | None
    carried_out: bool
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Review(ReviewTask):
    """One question, whole, as one caller may act on it."""

    version: int
    next_action: str
    passage: tuple[Part, ...]
    statement: Claim | None
    rival: Claim | None
    predicate_options: tuple[PredicateOption, ...]
    actions: tuple[ActionOption, ...]
    decisions: tuple[DecisionTaken, ...]
    history: tuple[ReviewStep, ...]
