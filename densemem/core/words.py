"""The closed words of access, and what stands in place of words that are gone."""

from enum import StrEnum
from typing import Final

REDACTED: Final = "[redacted]"
GONE: Final = "REDACTED:"  # begins a key, with the id of its row: nothing folded has capitals, so it is found by none


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
