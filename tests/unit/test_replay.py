"""A record folded from its ledgers, and a stored record as the rules see it: plain values, no database."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from relationships.identity import Identity
from relationships.policy import Behaviour, Position, StoredRecord, StoredSupport
from relationships.policy.replay import History, HistoryBroken, State, replay
from relationships.vocabulary import Cardinality, Polarity, RelationshipKind, Status, Tier

ONE, TWO, THREE = (UUID(int=number) for number in (1, 2, 3))
HR, DIARY = UUID(int=11), UUID(int=12)
TEXT, NOTE = UUID(int=21), UUID(int=22)


def day(number: int) -> datetime:
    return datetime(2026, 5, number, tzinfo=UTC)


@dataclass(frozen=True)
class Step:
    version: int
    tier_before: str | None
    status_before: str | None
    tier: str
    status: str
    recorded_at: datetime
    held_by_person: bool = False


@dataclass(frozen=True)
class Link:
    id: UUID
    fragment_id: UUID
    group_id: UUID
    recorded_at: datetime = day(1)


@dataclass(frozen=True)
class Decided:
    support_id: UUID
    action: str
    recorded_at: datetime


STEPS = [
    Step(1, None, None, "validated_claim", "active", day(1)),
    Step(2, "validated_claim", "active", "fact", "active", day(2)),
    Step(3, "fact", "active", "fact", "disputed", day(3), held_by_person=True),
]
LINKS = [Link(ONE, TEXT, HR), Link(TWO, NOTE, DIARY), Link(THREE, NOTE, DIARY)]
DECISIONS = [
    Decided(ONE, "grant", day(1)),
    Decided(TWO, "grant", day(2)),
    Decided(ONE, "revoke", day(3)),
    Decided(TWO, "revoke", day(4)),
    Decided(ONE, "reinstate", day(5)),
]


def history(steps=STEPS, decisions=DECISIONS, voices=lambda said, until: len(set(said))) -> History:
    return History(steps, LINKS, decisions, voices)


class TestReplay:
    @pytest.mark.parametrize(
        ("until", "state"),
        [
            (day(1), State("validated_claim", "active", False, 1, 1, 1, frozenset({ONE}))),
            (day(2), State("fact", "active", False, 2, 2, 2, frozenset({ONE, TWO}))),
            (day(3), State("fact", "disputed", True, 3, 1, 1, frozenset({TWO}))),
            (day(4), State("fact", "disputed", True, 3, 0, 0, frozenset())),
            (None, State("fact", "disputed", True, 3, 1, 1, frozenset({ONE}))),
        ],
    )
    def test_tells_the_state_of_every_moment(self, until: datetime | None, state: State) -> None:
        assert replay(history(), until=until) == state

    def test_of_what_did_not_begin_is_nothing(self) -> None:
        assert replay(history(steps=[])) is None
        assert replay(history(), until=day(1).replace(year=2025)) is None

    def test_asks_for_the_voices_of_the_counting_groups_at_the_moment(self) -> None:
        asked = []

        def voices(said: list[tuple[UUID, UUID]], until: datetime | None) -> int:
            asked.append((said, until))
            return 7

        state = replay(history(voices=voices), until=day(2))

        assert asked == [([(TEXT, HR), (NOTE, DIARY)], day(2))]
        assert state is not None
        assert (state.support_count, state.source_group_count) == (2, 7)

    def test_counts_two_supports_of_one_group_as_two_supports(self) -> None:
        decisions = [Decided(TWO, "grant", day(1)), Decided(THREE, "grant", day(1))]

        state = replay(history(decisions=decisions))

        assert state is not None
        assert (state.support_count, state.source_group_count) == (2, 1)

    def test_takes_what_was_recorded_by_the_moment_and_of_one_moment_the_last(self) -> None:
        decisions = [Decided(ONE, "grant", day(3)), Decided(ONE, "revoke", day(3)), Decided(TWO, "grant", day(4))]

        state = replay(history(decisions=decisions), until=day(3))

        assert state is not None
        assert state.counting == frozenset()

    @pytest.mark.parametrize("decisions", [[], [Decided(ONE, "revoke", day(1))]])
    def test_a_support_without_a_grant_does_not_count(self, decisions: list[Decided]) -> None:
        state = replay(history(decisions=decisions))

        assert state is not None
        assert (state.support_count, state.counting) == (0, frozenset())

    @pytest.mark.parametrize(
        ("steps", "told"),
        [
            (STEPS[1:], "step 2 follows 0"),
            ([STEPS[0], STEPS[2]], "step 3 follows 1"),
            ([STEPS[0], STEPS[0]], "step 1 follows 1"),
            ([replace(STEPS[0], tier_before="fact")], "step 1 does not begin where the one before ended"),
            ([replace(STEPS[0], status_before="active")], "step 1 does not begin where the one before ended"),
            (
                [STEPS[0], replace(STEPS[1], status_before="needs_review")],
                "step 2 does not begin where the one before ended",
            ),
            ([STEPS[0], replace(STEPS[1], tier_before="fact")], "step 2 does not begin where the one before ended"),
        ],
    )
    def test_says_where_the_steps_do_not_follow_each_other(self, steps: list[Step], told: str) -> None:
        with pytest.raises(HistoryBroken) as broken:
            replay(history(steps=steps))

        assert str(broken.value) == told


def support(number: int, *, effective: bool = True, seen: int = 1) -> StoredSupport:
    return StoredSupport(UUID(int=number), 0, 9, HR, False, effective, day(seen), number)


RECORD = StoredRecord(
    id=ONE,
    identity=Identity(
        team_id=UUID(int=21),
        owner_id=UUID(int=22),
        subject_id=UUID(int=23),
        predicate_key="works_on",
        object_entity_id=UUID(int=24),
        object_value_id=None,
        polarity=Polarity.PLUS,
        valid_from=None,
        valid_to=None,
        scope_key=None,
    ),
    behaviour=Behaviour("works_on", 1, RelationshipKind.STATE, Cardinality.MANY, False),
    tier=Tier.CLAIM,
    status=Status.ACTIVE,
    held_by_person=False,
    version=3,
    recorded_at=day(9),
    valid_from_precision=None,
    valid_to_precision=None,
)


class TestStoredRecord:
    def test_is_compared_by_the_newest_support_that_counts(self) -> None:
        record = replace(RECORD, supports=(support(5, seen=2), support(3, seen=4), support(8, effective=False, seen=7)))

        assert [s.sequence for s in record.effective] == [5, 3]
        assert record.position() == Position(
            identity=RECORD.identity,
            tier=Tier.CLAIM,
            kind=RelationshipKind.STATE,
            cardinality=Cardinality.MANY,
            observed_at=day(4),
            recorded_at=day(9),
            sequence=5,
        )

    def test_without_support_is_as_old_as_its_recording(self) -> None:
        position = RECORD.position()

        assert (position.observed_at, position.recorded_at, position.sequence) == (None, day(9), 0)
