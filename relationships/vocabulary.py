"""The closed words of knowledge ("Relationship Model And Lifecycle")."""

from enum import StrEnum
from typing import Final

BY_CORRECTION: Final = "corrected_by_owner"  # the reason of everything that an owner's correction writes


class Tier(StrEnum):
    """How mature the evidence is."""

    CANDIDATE = "candidate"
    CLAIM = "validated_claim"
    FACT = "fact"


class Status(StrEnum):
    """Whether a Relationship takes part."""

    PENDING = "pending_evidence"
    ACTIVE = "active"
    REVIEW = "needs_review"
    QUARANTINED = "quarantined"
    SUPERSEDED = "superseded"
    DISPUTED = "disputed"
    RETRACTED = "retracted"
    REJECTED = "rejected"


class Verdict(StrEnum):
    """What the verifier says of one observation against its exact evidence."""

    ENTAILED = "entailed"
    CONTRADICTED = "contradicted"
    INSUFFICIENT = "insufficient"


class PredicateStatus(StrEnum):
    """Whether the verifier could name a registered predicate."""

    RESOLVED = "resolved"
    NEEDS_REVIEW = "needs_review"


class Polarity(StrEnum):
    """Whether the statement is made or denied."""

    PLUS = "+"
    MINUS = "-"


class Modality(StrEnum):
    """How the text puts it; only a statement can become active."""

    STATEMENT = "statement"
    QUESTION = "question"
    PROPOSAL = "proposal"
    SPECULATION = "speculation"
    QUOTED = "quoted"


class RelationshipKind(StrEnum):
    """A state holds over time; an event happened."""

    STATE = "state"
    EVENT = "event"


class Cardinality(StrEnum):
    """How many current values a state may have for one subject."""

    ONE = "one"
    MANY = "many"


class Lifecycle(StrEnum):
    """Whether a predicate may be used for new observations."""

    ACTIVE = "active"
    DEPRECATED = "deprecated"
    RETIRED = "retired"


class SupportAction(StrEnum):
    """A decision about one support."""

    GRANT = "grant"
    REVOKE = "revoke"
    REINSTATE = "reinstate"


class CrossReferenceKind(StrEnum):
    """What one profile's Relationship says of another's."""

    CONFIRMS = "confirms"
    CHALLENGES = "challenges"
    CORRECTS = "corrects"
    ADOPTS = "adopts_evidence_from"


AGAINST = (CrossReferenceKind.CHALLENGES, CrossReferenceKind.CORRECTS)  # what puts two meanings against each other


class ConflictStatus(StrEnum):
    """Whether positions of a conflict still stand against each other."""

    OPEN = "open"
    CLOSED = "closed"


class ConflictEventKind(StrEnum):
    """What happened to a conflict case."""

    OPENED = "opened"
    POSITION_ADDED = "position_added"
    MERGED = "merged"
    STATEMENT = "statement"
    CLOSED = "closed"
    REOPENED = "reopened"


class ConflictReason(StrEnum):
    """Why a conflict case stands as it does."""

    COMPETE = "positions_compete"
    MERGED = "conflicts_connected"
    SAID = "owner_says_not_competing"
    ONE_LEFT = "one_position_left"
    SETTLED = "owners_say_not_competing"


class LineageKind(StrEnum):
    """How a Relationship took another's place."""

    REPLACED = "replaced"
    CLOSED = "closed"
    CORRECTED = "corrected"
    REKEYED = "rekeyed"  # the owner took two entities for one
    SPLIT = "split"  # the owner told one entity apart


class TimePrecision(StrEnum):
    """How exactly a validity bound is known; `by` is an upper limit: it had ended when it was said."""

    INSTANT = "instant"
    DAY = "day"
    BY = "by"


class SearchState(StrEnum):
    """How far derived search is; `not_required` while there is nothing to derive."""

    NOT_REQUIRED = "not_required"
    PENDING = "pending"
    CURRENT = "current"
    FAILED = "failed"


class Outcome(StrEnum):
    """What became of one observation, in the public words."""

    FACT = "relationship_fact"
    CLAIM = "relationship_validated_claim"
    PENDING = "relationship_pending_evidence"
    REVIEW = "relationship_needs_review"
    PREDICATE = "predicate_needs_review"
    REJECTED = "relationship_rejected"
    IDENTITY = "identity_needs_review"
