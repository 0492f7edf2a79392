"""The closed words of placement."""

from enum import StrEnum


class ItemState(StrEnum):
    """The stored state of one evidence item. `processing` is not stored: it is an item under a live lease."""

    QUEUED = "queued"
    GUARDED = "guarded"
    AWAITING_REVIEW = "awaiting_review"
    COMPLETED = "completed"
    FAILED = "failed"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"
    REDACTED = "redacted"


READY = (ItemState.QUEUED, ItemState.GUARDED)

PROCESSING = "processing"


class ItemCategory(StrEnum):
    """What became of an item, in one word."""

    PENDING = "pending"
    PROCESSED = "evidence_processed"
    QUARANTINED = "evidence_quarantined"
    FAILED = "processing_failed"
    REDACTED = "evidence_redacted"


class AttemptOutcome(StrEnum):
    """How one model call ended: telemetry, never evidence."""

    VALID = "valid"
    INVALID = "invalid"
    UNAVAILABLE = "provider_error"
