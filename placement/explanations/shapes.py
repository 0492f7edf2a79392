"""The shapes of explanations. Offsets are code points of the fragment, half-open; times are UTC.

Words that come from held or redacted text are None or left out; `withheld` then says why.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from relationships.search import Profile


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """An Entity by one of its names; None where no text that names it may be shown."""

    entity_id: UUID
    name: str | None
    kind: str


@dataclass(frozen=True, slots=True)
class IdentifierSpan:
    """A text that gives an identifier to one of the two, and where."""

    entity_id: UUID
    owner_profile_id: UUID
    fragment_id: UUID
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class IdentifierInCommon:
    """An identifier that both bear, with the newest texts that say so; `counts` is False where too many bear it."""

    scheme: str
    value: str
    counts: bool
    said: tuple[IdentifierSpan, ...]


@dataclass(frozen=True, slots=True)
class IdentityGround:
    """What a decision rests on for one of its entities; `identifier` is None for a span."""

    entity_id: UUID
    kind: str
    identifier: str | None
    fragment_id: UUID
    start: int
    end: int
    withheld: str | None


@dataclass(frozen=True, slots=True)
class IdentityRole:
    """An Entity of a decision, and what it is to it."""

    entity_id: UUID
    role: str


@dataclass(frozen=True, slots=True)
class DecidedIdentity:
    """A decision about who is who. `stands` is False for one that was withdrawn, and for a withdrawal."""

    identity_decision_id: UUID
    kind: str
    author: Profile
    reason: str | None
    withheld: str | None
    members: tuple[IdentityRole, ...]
    basis: tuple[IdentityGround, ...]
    of_decision_id: UUID | None
    stands: bool
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class AgainstIdentity:
    """Something that speaks against the two being one: a code, and a sentence."""

    code: str
    detail: str
    identity_decision_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ForIdentity:
    """What speaks for the two being one: what both bear, the spans that report it, and the merges that stand."""

    shared_identifiers: tuple[IdentifierInCommon, ...]
    reports: tuple[IdentityGround, ...]
    merges: tuple[DecidedIdentity, ...]


@dataclass(frozen=True, slots=True)
class IdentityOpinions:
    """How many of the profiles that know of either treat the two as one."""

    as_one: int
    of: int
    words: str


@dataclass(frozen=True, slots=True)
class TakenFor:
    """What the caller takes an Entity for; itself, where nothing was decided."""

    entity_id: UUID
    taken_for: UUID


@dataclass(frozen=True, slots=True)
class IdentityExplained:
    """Two entities: why they are one, why not, how it came about, and who holds what."""

    entities: tuple[NamedEntity, NamedEntity]
    why: ForIdentity
    why_not: tuple[AgainstIdentity, ...]
    how: tuple[DecidedIdentity, ...]
    for_you: tuple[TakenFor, TakenFor]
    opinions: IdentityOpinions


@dataclass(frozen=True, slots=True)
class OfferedEntity:
    """An Entity that was offered for a mention, and why."""

    entity_id: UUID
    name: str | None
    kind: str
    why_offered: str


@dataclass(frozen=True, slots=True)
class LaterAttribution:
    """What was decided about a mention later, and by which decision about who is who, if by one."""

    resolution_event_id: UUID
    action: str
    reason: str
    entity: NamedEntity | None
    identity: DecidedIdentity | None
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class MentionExplained:
    """One mention: what was offered, what was decided and why, and what became of it."""

    resolution_event_id: UUID
    owner: Profile
    fragment_id: UUID
    start: int
    end: int
    kind: str
    surface: str | None
    withheld: str | None
    offered: tuple[OfferedEntity, ...]
    rationale: str | None
    confidence: str
    action: str
    reason: str
    entity: NamedEntity | None
    recorded_at: datetime
    later: tuple[LaterAttribution, ...]
