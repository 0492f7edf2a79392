"""The shapes of conflict cases. Times are UTC."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from relationships.search import Claim, Profile


@dataclass(frozen=True, slots=True)
class CaseSummary:
    """How a case stands and why; `merged_into` names the case that it went into."""

    conflict_id: UUID
    version: int
    status: str
    reason: str
    opened_at: datetime
    closed_at: datetime | None
    merged_into: UUID | None


@dataclass(frozen=True, slots=True)
class CasePosition:
    """
    A meaning that stands in a case.

    :param version: of the case, at which it came in
    :param owners: who holds it now; empty when nobody does
    :param relationships: every record that holds it or held it, the oldest first
    """

    position_id: UUID
    version: int
    owners: tuple[Profile, ...]
    relationships: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class ConflictCaseView(CaseSummary):
    """
    A case with its positions, the oldest first; of more than `limits.CONFLICT_POSITIONS` the reader's and the newest.

    :param positions_total: how many the case has
    """

    positions: tuple[CasePosition, ...]
    positions_total: int
    positions_truncated: bool


@dataclass(frozen=True, slots=True)
class CaseEvent:
    """One version of a case; `other_conflict_id` is what was merged into it, or what it was merged into."""

    version: int
    kind: str
    status: str
    reason: str
    other_conflict_id: UUID | None
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class CaseStatement:
    """An owner said, at exact versions of the case and of a record, that the positions do not compete; and why."""

    version: int
    owner: Profile
    relationship_id: UUID
    relationship_version: int
    decision_id: UUID
    message: str
    recorded_at: datetime
