"""What makes two statements the same Relationship ("Relationship Model And Lifecycle", Relationship Identity)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from densemem.core.faults import Refused
from densemem.core.limits import SCOPE_CHARS
from densemem.core.names import NameRefused, lookup_key
from densemem.core.times import check_window, overlapping
from relationships.vocabulary import Polarity

SCOPE_NAMES: Final = ("environment", "jurisdiction", "locale", "repository", "role")


class IdentityRefused(Refused):
    """Ends that make no Relationship: two objects, or none."""

    code = "identity_refused"


class ScopeRefused(Refused):
    """A scope that is not written as registered names with values."""

    code = "scope_refused"


@dataclass(frozen=True, slots=True)
class Identity:
    """
    The identity of one profile's Relationship. Bounds are UTC and half-open; None is open.

    :raises IdentityRefused: not exactly one object
    :raises TimeRefused: the validity holds at no moment
    """

    team_id: UUID
    owner_id: UUID
    subject_id: UUID
    predicate_key: str
    object_entity_id: UUID | None
    object_value_id: UUID | None
    polarity: Polarity
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    scope_key: str | None = None

    def __post_init__(self) -> None:
        if (self.object_entity_id is None) == (self.object_value_id is None):
            raise IdentityRefused("A Relationship has exactly one object, an Entity or a Value.")
        check_window(self.valid_from, self.valid_to)

    @property
    def object(self) -> tuple[UUID | None, UUID | None]:
        """The object in both its forms, for comparing."""
        return self.object_entity_id, self.object_value_id

    @property
    def slot(self) -> tuple[UUID, UUID, str, str | None]:
        """What a state with one current value has one value of."""
        return self.team_id, self.subject_id, self.predicate_key, self.scope_key

    @property
    def is_self_relation(self) -> bool:
        """Both ends are one Entity."""
        return self.object_entity_id == self.subject_id


def meaning(identity: Identity) -> tuple[object, ...]:
    """Return what is said, whoever says it: the identity without its owner."""
    return (
        identity.team_id,
        identity.subject_id,
        identity.predicate_key,
        *identity.object,
        identity.polarity,
        identity.valid_from,
        identity.valid_to,
        identity.scope_key,
    )


def same_claim(one: Identity, other: Identity) -> bool:
    """Tell if both speak of the same subject, predicate, object and scope, whatever owner, polarity and time."""
    return one.slot == other.slot and one.object == other.object


def overlap(one: Identity, other: Identity) -> bool:
    """Tell if the two validities share a moment."""
    return overlapping(one.valid_from, one.valid_to, other.valid_from, other.valid_to)


def scope_key(text: str | None) -> str | None:
    """
    Return the canonical scope: `name=value`, several sorted by name and joined by a semicolon. None stays None.

    :raises ScopeRefused: a name that is not registered or comes twice, no value, or free text
    """
    if text is None:
        return None
    pairs = [_scope_pair(part) for part in text.split(";")]
    named = dict(pairs)
    if len(named) != len(pairs):
        raise ScopeRefused("A scope names each of its names once.", code="scope_named_twice")
    key = ";".join(f"{name}={named[name]}" for name in sorted(named))
    if len(key) > SCOPE_CHARS:
        raise ScopeRefused(f"A scope has at most {SCOPE_CHARS} characters.", code="scope_is_too_long")
    return key


def claim_sentence(subject: str, predicate_key: str, object: str, polarity: Polarity) -> str:  # noqa: A002 - the word of the page
    """Put a claim into one plain sentence for people and for search; a denial keeps saying that it denies."""
    claim = f"{subject} {predicate_key.replace('_', ' ')} {object}"
    return claim if polarity is Polarity.PLUS else f"It is denied that {claim}"


def _scope_pair(part: str) -> tuple[str, str]:
    """Read one `name=value`."""
    name, equals, value = part.partition("=")
    name = name.strip().casefold()
    if not equals or "=" in value or name not in SCOPE_NAMES:
        raise ScopeRefused(f"A scope reads name=value, with a name of: {', '.join(SCOPE_NAMES)}.", code="scope_unknown")
    try:
        return name, _scope_value(value)
    except NameRefused as refused:
        raise ScopeRefused(refused.detail, code="scope_without_value") from None


def _scope_value(value: str) -> str:
    """Fold a value as names are folded; folding may not bring the signs that part a scope."""
    folded = lookup_key(value)
    if "=" in folded or ";" in folded:
        raise ScopeRefused("The value of a scope holds neither = nor ;.", code="scope_unknown")
    return folded
