"""What is said, and what can be seen of it."""

from datetime import date
from typing import NamedTuple


class Claim(NamedTuple):
    """What is said. A validity is half-open, and a bound that is None is open."""

    subject: str
    predicate: str
    object: str
    polarity: str = "+"
    since: date | None = None
    until: date | None = None


class Key(NamedTuple):
    """Whose claim: what makes a record one."""

    owner: str
    claim: Claim


class Seen(NamedTuple):
    """What can be seen of a record."""

    tier: str
    status: str
    by_person: bool
    supports: int
    voices: int
    version: int
