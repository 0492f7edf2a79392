"""How long an item waits, how often it is tried, and what a client is told."""

import itertools

import pytest

from densemem.core import limits
from placement.policy import (
    Told,
    backoff,
    may_go_uncounted,
    may_try_again,
    more_pressing,
    run_state,
    search_state,
    tell,
    unused_corrections,
)
from placement.vocabulary import PROCESSING, ItemState


class TestBackoff:
    @pytest.mark.parametrize(
        ("tries", "whole"), [(0, 2), (1, 2), (2, 4), (3, 8), (4, 16), (7, 128), (8, 256), (9, 300), (50, 300)]
    )
    def test_doubles_from_two_seconds_to_five_minutes(self, tries: int, whole: float) -> None:
        assert backoff(tries=tries, chance=1).seconds == whole

    @pytest.mark.parametrize(("asked", "waited"), [(0, 4), (3, 4), (60, 60), (10**9, 3_600)])
    def test_heeds_what_the_other_side_asks_for(self, asked: float, waited: float) -> None:
        assert backoff(tries=2, chance=1, asked_seconds=asked).seconds == waited

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


class TestMayGoUncounted:
    @pytest.mark.parametrize(
        ("uncounted", "may"), [(0, True), (limits.ITEM_UNCOUNTED - 1, True), (limits.ITEM_UNCOUNTED, False)]
    )
    def test_ends_with_the_last_allowed_one(self, uncounted: int, may: bool) -> None:
        assert may_go_uncounted(uncounted=uncounted) is may


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
    "redacted",
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


def told(state: str, *, reason: str = "", concluded: bool = True, wait: float = -5) -> Told:
    """Return what is told of an item."""
    return tell(state=state, reason=reason, concluded=concluded, wait=wait, address="/api/v1/ingests/7")


class TestMorePressing:
    @pytest.mark.parametrize("state", RANKED)
    def test_are_the_states_that_hide_one(self, state: str) -> None:
        hidden_by = {other for other in RANKED if other != state and run_state({state, other}) == other}

        assert set(more_pressing(state)) == hidden_by


class TestTell:
    @pytest.mark.parametrize("state", RANKED)
    def test_says_why_and_what_to_do_in_every_state(self, state: str) -> None:
        answer = told(state)

        assert answer.reason
        assert answer.next_action.endswith(".")

    @pytest.mark.parametrize("state", RANKED)
    def test_asks_to_come_back_exactly_while_work_is_left(self, state: str) -> None:
        answer = told(state)

        assert answer.check_after_seconds == (1 if state in RANKED[:3] else 0)
        assert answer.next_action.startswith("Wait") == (state in RANKED[:3])

    @pytest.mark.parametrize("state", ["queued", "guarded"])
    @pytest.mark.parametrize(("wait", "seconds"), [(1.2, 2), (2, 2), (16.4, 17), (300, 300), (9_999, 3_600)])
    def test_asks_to_come_back_when_an_item_that_was_put_back_is_due(
        self, state: str, wait: float, seconds: int
    ) -> None:
        answer = told(state, wait=wait)

        assert (answer.reason, answer.check_after_seconds) == ("tried_again_later", seconds)
        assert "tried again" in answer.next_action

    @pytest.mark.parametrize("wait", [-3, 0, 0.4, 1])
    def test_an_item_that_is_due_within_a_second_waits_for_a_worker(self, wait: float) -> None:
        assert told("queued", wait=wait) == told("queued")
        assert told("queued", wait=wait).reason != "tried_again_later"

    def test_an_item_that_is_being_placed_is_not_waiting_whatever_its_time_was(self) -> None:
        assert told("processing", wait=40).check_after_seconds == 1

    def test_who_failed_is_told_where_to_try_again(self) -> None:
        answer = told("failed", reason="provider_timeout")

        assert answer.reason == "provider_timeout"
        assert "owner or a manager" in answer.next_action
        assert "POST /api/v1/ingests/7/retries" in answer.next_action

    def test_keeps_the_reason_of_a_question(self) -> None:
        assert told("awaiting_review", reason="not_told_apart").reason == "not_told_apart"

    @pytest.mark.parametrize("state", RANKED)
    def test_says_that_nothing_was_found_of_a_text_that_was_placed_alone(self, state: str) -> None:
        answer = told(state, concluded=False)

        assert (answer.reason == "nothing_concluded") == (state == "completed")
        assert answer.check_after_seconds == told(state).check_after_seconds

    @pytest.mark.parametrize("reason", ["held_by_scan", "held_by_reviewer_signal", "held_by_manager", ""])
    def test_never_says_what_was_seen_in_held_text(self, reason: str) -> None:
        assert told("quarantined", reason=reason) == told("quarantined", reason="evidence_held")
        assert told("quarantined", reason=reason).reason == "evidence_held"

    def test_says_that_nothing_was_concluded(self) -> None:
        answer = told("completed", concluded=False)

        assert answer.reason == "nothing_concluded"
        assert "no statement was found" in answer.next_action


class TestSearchState:
    @pytest.mark.parametrize(
        ("states", "together"),
        [
            ((), "not_required"),
            (("not_required", "current"), "current"),
            (("current", "pending"), "pending"),
            (("failed", "pending", "current"), "failed"),
        ],
    )
    def test_is_that_of_the_least_fresh(self, states: tuple[str, ...], together: str) -> None:
        assert search_state(states) == together


class TestUnusedCorrections:
    @pytest.mark.parametrize(
        ("wanted", "cited", "unused"),
        [
            ([], [None], ()),
            (["fix"], ["fix"], ()),
            (["fix"], [None], ()),  # the only target acts on the only statement
            (["fix"], [None, None], ("fix",)),
            (["fix"], [], ("fix",)),
            (["fix", "mend"], ["fix"], ("mend",)),
        ],
    )
    def test_are_those_that_no_statement_took_up(
        self, wanted: list[str], cited: list[str | None], unused: tuple[str, ...]
    ) -> None:
        assert unused_corrections(wanted, cited) == unused
