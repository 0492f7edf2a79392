"""Identifiers."""

import time
from concurrent.futures import ThreadPoolExecutor
from uuid import RFC_4122, UUID

from hypothesis import given
from hypothesis import strategies as st

from densemem.core import ids
from densemem.core.ids import derived_id, uuid7


class TestUuid7:
    def test_is_of_version_7(self):
        made = uuid7()

        assert (made.version, made.variant) == (7, RFC_4122)

    def test_carries_the_millisecond(self):
        before = time.time_ns() // 1_000_000
        made = uuid7().int >> 80

        assert before <= made <= time.time_ns() // 1_000_000 + 1

    def test_rises_strictly(self):
        made = [uuid7() for _ in range(5_000)]

        assert made == sorted(set(made))

    def test_rises_in_each_thread_and_repeats_in_none(self):
        with ThreadPoolExecutor(4) as pool:
            batches = list(pool.map(lambda _: [uuid7() for _ in range(1_000)], range(4)))

        assert all(batch == sorted(batch) for batch in batches)
        assert len({made for batch in batches for made in batch}) == 4_000

    def test_rises_while_the_clock_stands_or_turns_back(self, monkeypatch):
        first = uuid7()
        monkeypatch.setattr(ids.time, "time_ns", lambda: 0)

        assert first < uuid7() < uuid7()

    def test_rises_when_the_counter_runs_over(self, monkeypatch):
        monkeypatch.setattr(ids.time, "time_ns", lambda: 0)
        clock = ids._Clock()
        clock.counter = (1 << ids.COUNTER_BITS) - 2
        monkeypatch.setattr(ids, "_CLOCK", clock)

        last, over = uuid7(), uuid7()

        assert last < over
        assert (over.int >> 80, over.version) == (1, 7)


class TestDerivedId:
    def test_is_of_version_8(self):
        made = derived_id("item", 3)

        assert (made.version, made.variant) == (8, RFC_4122)

    def test_stays_what_it_was(self):
        assert derived_id("observation", UUID(int=1), "r1") == UUID("df3b3665-712a-8432-b93f-c00da9e0e1bc")

    def test_minds_the_borders_of_its_parts(self):
        assert derived_id("a", "bc") != derived_id("ab", "c")
        assert derived_id("a", None) != derived_id("a")

    @given(st.lists(st.text(st.characters(exclude_categories=["Cs"])) | st.integers(), max_size=5))
    def test_is_the_same_for_the_same_parts(self, parts):
        assert derived_id(*parts) == derived_id(*parts)
