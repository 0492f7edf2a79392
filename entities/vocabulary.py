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
