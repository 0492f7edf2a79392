"""The closed words of access."""

from enum import StrEnum


class ProfileKind(StrEnum):
    """Who a profile stands for."""

    PERSON = "person"
    AGENT = "agent"


class Role(StrEnum):
    """What a membership adds to its scopes."""

    MEMBER = "member"
    MANAGER = "manager"


class Scope(StrEnum):
    """What a token may do at all."""

    READ = "read"
    WRITE = "write"
