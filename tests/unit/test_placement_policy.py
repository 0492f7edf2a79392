"""How long an item waits, how often it is tried, and what a client is told."""

import itertools

import pytest

from densemem.core import limits
from placement.policy import NEXT, backoff, check_after, may_try_again, run_state
from placement.vocabulary import PROCESSING, ItemState


class TestBackoff:
    @pytest.mark.parametrize(
        ("tries", "whole"), [(0, 2), (1, 2), (2, 4), (3, 8), (4, 16), (7, 128), (8, 256), (9, 300), (50, 300)]
    )
    def test_doubles_from_two_seconds_to_five_minutes(self, tries: int, whole: float) -> None:
        assert backoff(tries=tries, chance=1).seconds == whole

    @pytest.mark.parametrize("tries", [1, 5, 20])
    def test_has_jitter_down_to_half_of_it(self, tries: int) -> None:
        whole = backoff(tries=tries, chance=1).seconds

        waits = [backoff(tries=tries, chance=tenth / 10).seconds for tenth in range(11)]

        assert (waits[0], waits[-1]) == (whole / 2, whole)
        assert waits == sorted(waits)

    def test_never_goes_beyond_its_bounds(self) -> None:
        waits = [backoff(tries=tries, chance=chance).seconds for tries in range(99) for chance in (0, 0.5, 1)]

        assert min(waits) == limits.BACKOFF_FIRST_SECONDS / 2
        assert max(waits) == limits.BACKOFF_MOST_SECONDS


class TestMayTryAgain:
    @pytest.mark.parametrize(
        ("attempts", "may"), [(0, True), (limits.ITEM_ATTEMPTS - 1, True), (limits.ITEM_ATTEMPTS, False), (99, False)]
    )
    def test_ends_with_the_last_allowed_attempt(self, attempts: int, may: bool) -> None:
        assert may_try_again(attempts=attempts) is may


# Whatever stands further up tells the state of a run that holds both.
RANKED = [
    PROCESSING,
    "guarded",
    "queued",
    "failed",
    "awaiting_review",
    "quarantined",
    "completed",
    "superseded",
]


class TestRunState:
    def test_knows_every_state(self) -> None:
        assert set(RANKED) == {PROCESSING, *ItemState}

    @pytest.mark.parametrize(("one", "other"), list(itertools.combinations(RANKED, 2)))
    def test_of_two_items_is_that_of_the_more_pressing(self, one: str, other: str) -> None:
        assert run_state({one, other}) == one

    @pytest.mark.parametrize("state", RANKED)
    def test_of_equal_items_is_theirs(self, state: str) -> None:
        assert run_state([state, state]) == state

    def test_of_no_item_is_the_end(self) -> None:
        assert run_state([]) == "completed"


class TestNext:
    @pytest.mark.parametrize("state", RANKED)
    def test_says_what_to_do_in_every_state(self, state: str) -> None:
        assert NEXT[state].endswith(".")

    @pytest.mark.parametrize("state", RANKED)
    def test_asks_to_come_back_exactly_while_work_is_left(self, state: str) -> None:
        waits = NEXT[state].startswith("Wait")

        assert check_after(state) == (1 if waits else 0)
        assert waits == (state in RANKED[:3])
