"""How a new statement meets the active ones ("Relationship Model And Lifecycle", "Conflicts And Corrections").

Everything given is active. Nothing is compared by likeness of text: only identities, behaviour and time count.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from relationships.identity import Identity, meaning, overlap, same_claim
from relationships.vocabulary import Cardinality, CrossReferenceKind, LineageKind, Polarity, RelationshipKind, Tier

RANK: Final = {Tier.CANDIDATE: 0, Tier.CLAIM: 1, Tier.FACT: 2}


class Action(StrEnum):
    """What becomes of a new record beside an active one of the same owner."""

    COEXIST = "coexist"
    SUPERSEDE = "supersede"
    HOLD = "hold"


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """
    One authored statement as it is compared. Times are UTC.

    :param kind, cardinality: the behaviour snapshot of the record
    :param observed_at: when the evidence says it was seen; None when it does not say
    :param sequence: order of recording; a new one is greater than all before
    """

    identity: Identity
    tier: Tier
    kind: RelationshipKind
    cardinality: Cardinality
    observed_at: datetime | None
    recorded_at: datetime
    sequence: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The answer, with the kind of lineage when the old one is superseded."""

    action: Action
    lineage: LineageKind | None
    reason: str


def compare(new: Position, old: Position, *, corrects: bool = False) -> Comparison:
    """
    Decide between a new statement and one active record of the same owner.

    :param corrects: the request named the old record as its correction target
    """
    if _owner(new) != _owner(old):
        return Comparison(Action.COEXIST, None, "other_owner")
    if new.identity == old.identity:
        return Comparison(Action.COEXIST, None, "same_record")
    if corrects:
        return Comparison(Action.SUPERSEDE, LineageKind.CORRECTED, "correction_target")
    if closes(new, old):
        end = new.identity.valid_to
        if old.observed_at is not None and end is not None and old.observed_at > end:
            return Comparison(Action.HOLD, None, "seen_after_its_end")
        return _supersede(new, old, LineageKind.CLOSED, "period_closed")
    if _denies(new, old):
        return Comparison(Action.HOLD, None, "opposite_polarity")
    if not _excludes(new, old):
        return Comparison(Action.COEXIST, None, "not_comparable")
    if _moment(new) <= _moment(old):
        return Comparison(Action.HOLD, None, "not_newer")
    return _supersede(new, old, LineageKind.REPLACED, "newer")


def closes(new: Position, old: Position) -> bool:
    """Tell if the new statement gives an end to an open state of the same owner; tiers are not looked at."""
    one, other = new.identity, old.identity
    return (
        _owner(new) == _owner(old)
        and new.kind is old.kind is RelationshipKind.STATE
        and same_claim(one, other)
        and one.polarity is other.polarity
        and one.valid_to is not None
        and other.valid_to is None
        and other.valid_from in (None, one.valid_from)
    )


def competes(one: Position, other: Position) -> bool:
    """Tell if two statements of the team cannot both hold: one value too many, or yes against no."""
    return _denies(one, other) or _excludes(one, other)


def cross_reference(new: Position, other: Position, *, corrects: bool = False) -> CrossReferenceKind | None:
    """
    Name what a new statement says of another profile's active record, if anything.

    :param corrects: the request named the other record as its correction target
    """
    if new.identity.team_id != other.identity.team_id or _owner(new) == _owner(other):
        return None
    if meaning(new.identity) == meaning(other.identity):
        return CrossReferenceKind.CONFIRMS
    if corrects:
        return CrossReferenceKind.CORRECTS
    return CrossReferenceKind.CHALLENGES if competes(new, other) else None


def effective_at(position: Position) -> datetime:
    """Return since when a statement is meant to hold: its start, else when it was seen, else when it was recorded."""
    return position.identity.valid_from or position.observed_at or position.recorded_at


def _moment(position: Position) -> tuple[datetime, datetime, int]:
    """Order statements in time: by effect, then by sight, then by recording."""
    return effective_at(position), position.observed_at or position.recorded_at, position.sequence


def _owner(position: Position) -> tuple[object, object]:
    """Return whose the statement is."""
    return position.identity.team_id, position.identity.owner_id


def _denies(one: Position, other: Position) -> bool:
    """Tell if one says yes and the other no to the same claim at a common moment."""
    return (
        same_claim(one.identity, other.identity)
        and one.identity.polarity is not other.identity.polarity
        and overlap(one.identity, other.identity)
    )


def _excludes(one: Position, other: Position) -> bool:
    """Tell if both give a value, different ones, to a state that has one value at a time."""
    return (
        one.kind is other.kind is RelationshipKind.STATE
        and one.cardinality is other.cardinality is Cardinality.ONE
        and one.identity.polarity is other.identity.polarity is Polarity.PLUS
        and one.identity.slot == other.identity.slot
        and one.identity.object != other.identity.object
        and overlap(one.identity, other.identity)
    )


def _supersede(new: Position, old: Position, lineage: LineageKind, reason: str) -> Comparison:
    """Supersede when the new tier is at least as high; a weaker statement is held instead."""
    if RANK[new.tier] < RANK[old.tier]:
        return Comparison(Action.HOLD, None, "weaker_tier")
    return Comparison(Action.SUPERSEDE, lineage, reason)
