"""The audit of the state machine after every step: what it leaves out cannot have changed."""

import pytest

from densemem.audit.report import Check
from densemem.auth import Principal
from placement.models import Item
from tests.deciding import TEXT, WORKS
from tests.machine import watch
from tests.machine.watch import Watch
from tests.said import say


def names(found: watch.Finding) -> str:
    """Return which check differs."""
    return found[0]


class TestWatch:
    def test_finds_what_was_changed_since_it_looked(self, ada: Principal) -> None:
        say(ada, TEXT, WORKS)
        watched = Watch()
        assert watched.differing() == []

        Item.objects.update(reason="other")

        assert list(map(names, watched.differing())) == ["items_equal_newest_event"]

    def test_does_again_what_reads_a_table_that_was_written_to_and_nothing_else(
        self, ada: Principal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        say(ada, TEXT, WORKS)
        watched, done = Watch(), list[str]()
        whole = watch.audit

        def noted(*, checks: list[Check]) -> object:
            done.extend(check.name for check in checks)
            return whole(checks=checks)

        monkeypatch.setattr(watch, "audit", noted)
        watched.differing()
        done.clear()

        watched.differing()
        assert done == []
        Item.objects.update(attempts=1)
        watched.differing()
        assert {"items_equal_newest_event", "item_events_are_whole", "fragments_have_items"} <= set(done)
        assert "records_follow_from_ledgers" not in done
