"""The closed words of review."""

from enum import StrEnum


class TaskKind(StrEnum):
    """What a person is asked to settle."""

    IDENTITY = "identity_needs_review"
    PREDICATE = "predicate_needs_review"
    RELATIONSHIP = "relationship_needs_review"
    CORRECTION = "correction_needs_review"
    POLICY = "policy_needs_review"


class TaskStatus(StrEnum):
    """How far a task is."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"
    CANCELED = "canceled"
