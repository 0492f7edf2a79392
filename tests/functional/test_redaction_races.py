"""A redaction beside what would bring the words back: whoever comes first, in the end nothing is left of them."""

import random
import time
from collections.abc import Callable
from typing import Any, Final

import pytest

from densemem.audit.leftovers import look
from densemem.auth import Principal
from evidence.models import Content, Fragment
from evidence.redactions import traces_of
from placement.decide import DecisionRefused, Redacted
from placement.models import Item
from placement.pipeline import place
from placement.tasks import drain
from tests.deciding import adopted
from tests.functional.test_races import claimed, only, together
from tests.functional.test_redaction_copies import said_in_tables, taken_out
from tests.said import Fact, say, send

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sound")]

ROUNDS: Final = 4
TEXT: Final = "Zelda Quist leads Beacon."
LEADS: Final = Fact("Zelda Quist", "leads", "Beacon", "leads")
LONG: Final = f"{TEXT} {' '.join(f'Entry {n} of the log says nothing new.' for n in range(150))}"
MODEL: Final = only({"Zelda": [LEADS]})


def after_a_while(work: Callable[[], Any]) -> Callable[[], Any]:
    """Return the work with a rest before it, so that each may come first."""

    def rested() -> Any:
        time.sleep(random.random() / 20)
        return work()

    return rested


def redacting(who: Principal, fragment: Fragment) -> Callable[[], Any]:
    return after_a_while(lambda: taken_out(who, fragment))


def is_one_of(outcome: Any, kind: type, *codes: str) -> bool:
    """Tell if a work was done, or refused for one of these reasons."""
    return isinstance(outcome, kind) or (isinstance(outcome, DecisionRefused) and outcome.code in codes)


def redact_the_rest(who: Principal) -> None:
    """Redact what came in, or was taken up, since: the manager who was refused looks again."""
    while living := Fragment.objects.filter(content__redacted_at=None, content__text__contains="Zelda").first():
        taken_out(who, living)


def nothing_is_left() -> None:
    """Every item has ended, no table says the words, and the check finds none."""
    drain(using=MODEL, linger=False)
    assert set(Item.objects.values_list("state", flat=True)) == {"redacted"}
    assert said_in_tables() == []
    assert look(traces_of()).leftovers == ()


@pytest.mark.parametrize("_", range(ROUNDS))
class TestRedaction:
    def test_and_an_adoption_of_the_text(self, ada: Principal, bo: Principal, cy: Principal, _: int) -> None:
        say(ada, TEXT, using=MODEL)
        text = Fragment.objects.get()

        done, taken = together(redacting(cy, text), after_a_while(lambda: adopted(bo, text)))

        assert is_one_of(done, Redacted, "changed_meanwhile")
        assert isinstance(done, Redacted) or not isinstance(taken, Exception)
        assert not isinstance(taken, Exception) or taken.code == "revision_not_current"
        redact_the_rest(cy)
        nothing_is_left()

    @pytest.mark.parametrize("text", [TEXT, LONG], ids=["short", "long"])
    def test_and_the_same_text_that_comes_in(
        self, ada: Principal, bo: Principal, cy: Principal, text: str, _: int
    ) -> None:
        say(ada, text, using=MODEL)
        first = Fragment.objects.get()

        done, sent = together(redacting(cy, first), after_a_while(lambda: send(bo, text)))

        assert is_one_of(done, Redacted, "changed_meanwhile")
        assert not isinstance(sent, Exception)
        second = Fragment.objects.get(ingest_id=sent)
        first.content.refresh_from_db()
        # It was redacted with the first, or is evidence of its own, or the redaction was refused.
        assert (second.content.redacted_at is None) == (
            second.content_id != first.content_id or first.content.redacted_at is None
        )
        assert Content.objects.filter(redacted_at=None).count() <= 1
        redact_the_rest(cy)
        nothing_is_left()

    def test_and_the_commit_of_the_text(self, ada: Principal, cy: Principal, _: int) -> None:
        send(ada, TEXT)
        held = claimed()

        done, placed = together(redacting(cy, Fragment.objects.get()), after_a_while(lambda: place(held, MODEL)))

        assert isinstance(done, Redacted)
        assert placed is None
        nothing_is_left()

    def test_and_the_commit_of_another_text_with_the_name(
        self, ada: Principal, bo: Principal, cy: Principal, _: int
    ) -> None:
        say(ada, TEXT, using=MODEL)
        first = Fragment.objects.get()
        send(bo, "Zelda Quist leads Beacon, they say.")
        held = claimed()

        done, placed = together(redacting(cy, first), after_a_while(lambda: place(held, MODEL)))

        assert isinstance(done, Redacted)
        assert placed is None
        drain(using=MODEL, linger=False)
        redact_the_rest(cy)
        nothing_is_left()
