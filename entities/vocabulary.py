"""The closed words of identity."""

from enum import StrEnum


class EntityKind(StrEnum):
    """What sort of thing an Entity is; `other` means that the evidence does not say."""

    PERSON = "person"
    ORGANIZATION = "organization"
    TEAM = "team"
    PROJECT = "project"
    PRODUCT = "product"
    TECHNOLOGY = "technology"
    PLACE = "place"
    DOCUMENT = "document"
    EVENT = "event"
    CONCEPT = "concept"
    OTHER = "other"


class ValueType(StrEnum):
    """The typed literals, each with one canonical form."""

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    DATE_TIME = "date_time"
    DURATION = "duration"
    MONEY = "money"


class EntityStatus(StrEnum):
    """Whether an Entity may be chosen."""

    ACTIVE = "active"
    RETIRED = "retired"
    NEEDS_REVIEW = "needs_review"


class NameKind(StrEnum):
    """What a name is to its Entity."""

    CANONICAL = "canonical"
    ALIAS = "alias"
    FORMER = "former"


class ResolutionAction(StrEnum):
    """What was decided about one mention."""

    REUSE = "reuse"
    CREATE = "create"
    AMBIGUOUS = "ambiguous"


class CandidateReason(StrEnum):
    """Why an Entity is offered for a mention. The first four let an answer reuse it without a person."""

    EXACT = "exact_key"
    ALIAS = "alias"
    HINT = "client_hint"
    IDENTIFIER = "shared_identifier"
    LOOK_ALIKE = "look_alike"
    ACCENTS = "accent_folded"
    NICKNAME = "nickname"
    INITIALS = "initials"
    TOKENS = "token_subset"


class IdentityKind(StrEnum):
    """What a profile decided about who is who."""

    MERGE = "merge"
    SPLIT = "split"
    DISTINCT = "distinct"
    WITHDRAW = "withdraw"


class MemberRole(StrEnum):
    """What an Entity is to a decision about identity."""

    SURVIVOR = "survivor"
    ABSORBED = "absorbed"
    PARENT = "parent"
    CHILD = "child"
    DISTINCT_A = "distinct_a"
    DISTINCT_B = "distinct_b"


class BasisKind(StrEnum):
    """What a decision about identity may rest on; likeness is none of it."""

    IDENTIFIER = "external_identifier"
    REPORT = "explicit_report"
    HUMAN = "human_review"
