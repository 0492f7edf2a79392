"""Claims of items: taken under a lease, kept by a beat, fenced by a token, given back."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from densemem.auth import Principal
from densemem.core import limits
from densemem.providers.base import Call
from densemem.providers.scripted import Scripted
from placement.models import Item, ItemEvent
from placement.operations import LeaseLost, claim_next, database_now, end_failed, heartbeat, put_back
from placement.pipeline import place
from placement.queries import next_due
from placement.status import get_placement
from review.models import Task
from tests.claiming import LONG_AGO, TEXT, WORKS, claimed, item_of, item_state, knowledge, let_lease_end, let_wait_end
from tests.said import model, say, send


class TestClaim:
    def test_takes_a_lease_and_a_token_and_counts_the_attempt(self, ada: Principal) -> None:
        send(ada, TEXT)

        claim = claimed()

        row = item_of(claim)
        left = row.lease_until - database_now()
        assert (row.attempts, row.attempt_token, row.state) == (1, claim.token, "queued")
        assert timedelta(seconds=limits.LEASE_SECONDS - 10) < left <= timedelta(seconds=limits.LEASE_SECONDS)

    def test_shows_the_item_as_processing(self, ada: Principal) -> None:
        ingest_id = send(ada, TEXT)
        claimed()

        view = get_placement(team_id=ada.team_id, ingest_id=ingest_id)

        assert (view.processing_state, view.items[0].attempts) == ("processing", 1)

    def test_leaves_a_leased_item_alone(self, ada: Principal) -> None:
        send(ada, TEXT, "Second.")
        first, second = claimed(), claimed()

        assert first.item_id != second.item_id
        assert claim_next() is None

    def test_leaves_an_item_alone_that_has_to_wait(self, ada: Principal) -> None:
        send(ada, TEXT)
        Item.objects.update(available_at=timezone.now() + LONG_AGO)

        assert claim_next() is None

    def test_takes_the_item_that_waited_longest(self, ada: Principal) -> None:
        send(ada, TEXT)
        send(ada, "Older.")
        older = Item.objects.latest("id")
        Item.objects.filter(pk=older.pk).update(available_at=timezone.now() - LONG_AGO)

        assert claimed().item_id == older.pk

    def test_takes_an_item_anew_when_its_lease_is_over(self, ada: Principal) -> None:
        send(ada, TEXT)
        first = claimed()
        let_lease_end(first)

        second = claimed()

        assert (second.item_id, second.attempts) == (first.item_id, 2)
        assert second.token != first.token

    def test_ends_an_item_that_was_claimed_as_often_as_it_may_and_never_ended(self, ada: Principal) -> None:
        ingest_id = send(ada, TEXT)
        for _ in range(limits.ITEM_ATTEMPTS):
            let_lease_end(claimed())

        assert claim_next() is None

        view = get_placement(team_id=ada.team_id, ingest_id=ingest_id)
        assert (view.processing_state, view.items[0].reason) == ("failed", "attempts_exhausted")
        assert ItemEvent.objects.latest("seq").reason == "attempts_exhausted"

    def test_goes_on_to_the_next_item_behind_a_poisonous_one(self, ada: Principal) -> None:
        send(ada, "Poison.")
        Item.objects.update(attempts=limits.ITEM_ATTEMPTS, available_at=timezone.now() - LONG_AGO)
        send(ada, TEXT)

        assert item_of(claimed()).fragment.content.text == TEXT


class TestLostLease:
    def test_keeps_the_first_holder_from_writing_anything(self, ada: Principal) -> None:
        send(ada, TEXT)
        first = claimed()
        let_lease_end(first)
        second = claimed()
        held = Item.objects.values().get()

        place(first, model(WORKS))

        assert (knowledge(), Task.objects.count(), ItemEvent.objects.count()) == (0, 0, 1)
        assert Item.objects.values().get() == held
        place(second, model(WORKS))
        assert item_of(second).state == "completed"

    def test_binds_even_when_nobody_else_took_the_item(self, ada: Principal) -> None:
        send(ada, TEXT)
        claim = claimed()
        let_lease_end(claim)

        place(claim, model(WORKS))

        assert (knowledge(), item_of(claim).state) == (0, "queued")

    def test_that_is_noticed_while_putting_back_raises_nothing(self, ada: Principal) -> None:
        send(ada, TEXT)
        claim = claimed()

        def lose(call: Call) -> Exception:
            let_lease_end(claim)
            return ValueError("a fault of our own")

        place(claim, Scripted(lose))

        assert item_of(claim).attempts == 1

    @pytest.mark.parametrize("end", [heartbeat, lambda c: put_back(c, reason="r"), lambda c: end_failed(c, reason="r")])
    def test_is_what_every_write_of_the_holder_checks(self, ada: Principal, end) -> None:
        send(ada, TEXT)
        claim = claimed()
        let_lease_end(claim)

        with pytest.raises(LeaseLost):
            end(claim)


class TestHeartbeat:
    def test_renews_the_lease(self, ada: Principal) -> None:
        send(ada, TEXT)
        claim = claimed()
        Item.objects.update(lease_until=database_now() + timedelta(seconds=5))

        heartbeat(claim)

        assert item_of(claim).lease_until > database_now() + timedelta(seconds=limits.LEASE_SECONDS - 10)


class TestClock:
    """The clock of the worker's machine plays no part: the database's alone does."""

    @pytest.fixture(params=[-1, 1], ids=["a day behind", "a day ahead"])
    def wrong(self, request: pytest.FixtureRequest) -> Iterator[Callable[[], object]]:
        """Give what sets the clock of this machine a day off."""
        travel = time_machine.travel(timezone.now() + timedelta(days=request.param))
        yield travel.start
        travel.stop()

    def test_tells_what_is_ready_and_what_is_leased(self, ada: Principal, wrong: Callable[[], object]) -> None:
        send(ada, TEXT)
        wrong()

        claim = claimed()

        assert claim_next() is None
        heartbeat(claim)
        assert limits.LEASE_SECONDS - 10 < (next_due() or 0) <= limits.LEASE_SECONDS

    def test_times_the_wait_of_what_was_put_back(self, ada: Principal, wrong: Callable[[], object]) -> None:
        send(ada, TEXT)
        wrong()

        put_back(claimed(), reason="provider_timeout")

        assert 0 < (next_due() or 0) <= limits.BACKOFF_FIRST_SECONDS
        assert claim_next() is None

    def test_ends_a_lease(self, ada: Principal, wrong: Callable[[], object]) -> None:
        send(ada, TEXT)
        claim = claimed()
        let_lease_end(claim)
        wrong()

        with pytest.raises(LeaseLost):
            heartbeat(claim)
        assert claimed().item_id == claim.item_id


class TestNextDue:
    def test_is_never_when_nothing_is_unfinished(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)

        assert next_due() is None

    def test_is_now_when_something_is_ready(self, ada: Principal) -> None:
        send(ada, TEXT)

        assert (next_due() or 0) <= 0

    def test_is_the_first_of_a_leases_end_and_a_waits_end(self, ada: Principal) -> None:
        send(ada, TEXT, "Second.")
        claimed()
        Item.objects.filter(lease_until=None).update(available_at=database_now() + timedelta(seconds=900))

        assert 100 < (next_due() or 0) <= limits.LEASE_SECONDS
        Item.objects.filter(lease_until=None).update(available_at=database_now() + timedelta(seconds=50))
        assert 40 < (next_due() or 0) <= 50


class TestPutBack:
    @pytest.mark.parametrize(("attempts", "least", "most"), [(1, 1, 2), (2, 2, 4), (4, 8, 16)])
    def test_waits_longer_each_time(self, ada: Principal, attempts: int, least: int, most: int) -> None:
        send(ada, TEXT)
        Item.objects.update(attempts=attempts - 1)
        claim = claimed()
        before = database_now()

        put_back(claim, reason="provider_timeout")

        row = item_of(claim)
        assert timedelta(seconds=least) <= row.available_at - before <= timedelta(seconds=most + 1)
        assert (row.state, row.attempt_token, row.lease_until) == ("queued", None, None)

    def test_ends_the_item_when_it_was_tried_often_enough(self, ada: Principal) -> None:
        send(ada, TEXT)
        for _ in range(limits.ITEM_ATTEMPTS):
            let_wait_end()
            put_back(claimed(), reason="provider_timeout")

        row = Item.objects.get()
        assert (row.state, row.category, row.reason) == ("failed", "processing_failed", "provider_timeout")

    def test_without_counting_leaves_attempts_and_place_in_the_queue(self, ada: Principal) -> None:
        send(ada, TEXT)
        before = Item.objects.values().get()

        put_back(claimed(), reason="candidates_moved", uncounted=True)

        assert Item.objects.values().get() == before | {"uncounted": 1}

    def test_without_counting_counts_after_a_while_and_ends(self, ada: Principal) -> None:
        send(ada, TEXT)
        tries = 0
        while item_state() == "queued":
            let_wait_end()
            put_back(claimed(), reason="candidates_moved", uncounted=True)
            tries += 1

        row = Item.objects.get()
        assert tries == limits.ITEM_UNCOUNTED + limits.ITEM_ATTEMPTS
        assert (row.state, row.reason, row.attempts) == ("failed", "candidates_moved", limits.ITEM_ATTEMPTS)
