"""How a new statement meets an active one, with the whole answer, and at the edges of time."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from relationships.identity import Identity
from relationships.policy import Action, Comparison, Position, closes, compare, competes, cross_reference
from relationships.vocabulary import Cardinality, LineageKind, Polarity, RelationshipKind, Tier

TEAM, ADA, BO, ATLAS, PG, MY = (UUID(int=number) for number in range(1, 7))
CLAIM, FACT = Tier.CLAIM, Tier.FACT


def day(number: int) -> datetime:
    return datetime(2026, 3, number, tzinfo=UTC)


def position(object_id: UUID, sequence: int, **more: object) -> Position:
    """Return Ada's claim of one current database, seen and recorded on the day of its sequence."""
    identity = Identity(TEAM, ADA, ATLAS, "primary_database", object_id, None, Polarity.PLUS)
    about = {name: more.pop(name) for name in tuple(more) if name in Identity.__dataclass_fields__}
    base = Position(
        identity=replace(identity, **about),
        tier=CLAIM,
        kind=RelationshipKind.STATE,
        cardinality=Cardinality.ONE,
        observed_at=day(sequence),
        recorded_at=day(sequence),
        sequence=sequence,
    )
    return replace(base, **more)


OLD = position(PG, 2)
SEEN_LATE = position(PG, 20)
DENIED = Polarity.MINUS


@pytest.mark.parametrize(
    ("new", "old", "corrects", "answer"),
    [
        (position(MY, 3, owner_id=BO), OLD, False, Comparison(Action.COEXIST, None, "other_owner")),
        (position(PG, 3), OLD, False, Comparison(Action.COEXIST, None, "same_record")),
        (position(MY, 3), OLD, True, Comparison(Action.SUPERSEDE, LineageKind.CORRECTED, "correction_target")),
        (position(MY, 3, polarity=DENIED), OLD, False, Comparison(Action.COEXIST, None, "not_comparable")),
        (position(PG, 3, polarity=DENIED), OLD, False, Comparison(Action.HOLD, None, "opposite_polarity")),
        (position(MY, 1), OLD, False, Comparison(Action.HOLD, None, "not_newer")),
        (position(MY, 2), OLD, False, Comparison(Action.HOLD, None, "not_newer")),
        (position(MY, 3), OLD, False, Comparison(Action.SUPERSEDE, LineageKind.REPLACED, "newer")),
        (position(MY, 3), replace(OLD, tier=FACT), False, Comparison(Action.HOLD, None, "weaker_tier")),
        # A state that was seen after the end that a text gives is not closed by it; on the very day, it is.
        (position(PG, 21, valid_to=day(9)), SEEN_LATE, False, Comparison(Action.HOLD, None, "seen_after_its_end")),
        (
            position(PG, 21, valid_to=day(20)),
            SEEN_LATE,
            False,
            Comparison(Action.SUPERSEDE, LineageKind.CLOSED, "period_closed"),
        ),
        (
            position(PG, 21, valid_to=day(9)),
            replace(SEEN_LATE, observed_at=None),
            False,
            Comparison(Action.SUPERSEDE, LineageKind.CLOSED, "period_closed"),
        ),
    ],
)
def test_an_answer_is_told_whole(new: Position, old: Position, corrects: bool, answer: Comparison) -> None:
    assert compare(new, old, corrects=corrects) == answer


@pytest.mark.parametrize(
    ("new", "old", "closed"),
    [
        (position(PG, 3, valid_to=day(9)), OLD, True),
        (position(PG, 3, valid_to=day(9)), replace(OLD, tier=FACT), True),
        (position(PG, 3, valid_to=day(9), owner_id=BO), OLD, False),
        (position(PG, 3, valid_to=day(9)), replace(OLD, kind=RelationshipKind.EVENT), False),
        (position(MY, 3, valid_to=day(9)), OLD, False),
        (position(PG, 3, valid_to=day(9), polarity=DENIED), OLD, False),
        (position(PG, 3), OLD, False),
        (position(PG, 3, valid_to=day(9)), position(PG, 2, valid_to=day(8)), False),
        (position(PG, 3, valid_from=day(2), valid_to=day(9)), position(PG, 2, valid_from=day(2)), True),
        (position(PG, 3, valid_from=day(3), valid_to=day(9)), position(PG, 2, valid_from=day(2)), False),
    ],
)
def test_an_end_closes_the_same_open_state_alone(new: Position, old: Position, closed: bool) -> None:
    assert closes(new, old) is closed


@pytest.mark.parametrize(
    ("other", "both"),
    [
        (position(MY, 3), True),
        (position(PG, 3), False),
        (position(PG, 3, polarity=DENIED), True),
        (position(MY, 3, polarity=DENIED), False),
        (position(MY, 3, cardinality=Cardinality.MANY), False),
        (position(MY, 3, kind=RelationshipKind.EVENT), False),
    ],
)
def test_two_statements_compete_whichever_is_named_first(other: Position, both: bool) -> None:
    assert competes(OLD, other) is both
    assert competes(other, OLD) is both


def test_who_names_no_target_corrects_nothing() -> None:
    unrelated = position(MY, 3, owner_id=BO, cardinality=Cardinality.MANY)

    assert cross_reference(unrelated, OLD) is None
    assert compare(position(MY, 3, cardinality=Cardinality.MANY), OLD).action is Action.COEXIST
