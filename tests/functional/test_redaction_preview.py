"""The preview of a redaction is the redaction: the same rows, the same changes, for every shape of support."""

from collections.abc import Callable
from typing import Final
from uuid import uuid4

import pytest
from django.utils import timezone

from densemem.auth import Principal
from evidence.models import Fragment
from placement.decide import redact
from relationships.models import RelationshipRecord, Transition
from tests.deciding import GRAZ, PORTO, adopted, corrected, hold, of_source, place
from tests.functional.test_redaction_copies import every_row
from tests.said import Fact, say

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sound")]

TEXT: Final = "Ivo lives in Graz."
BORN: Final = Fact("Ivo", "was born on", "3 May 1990", "born_on", value={"type": "date", "value": "1990-05-03"})
Told = Callable[[Principal, Principal, Principal], str]


def alone(ada: Principal, bo: Principal, cy: Principal) -> str:
    say(ada, TEXT, GRAZ)
    return TEXT


def shared(ada: Principal, bo: Principal, cy: Principal) -> str:
    say(ada, TEXT, GRAZ)
    say(ada, "As we know, Ivo lives in Graz.", GRAZ)
    return TEXT


def by_two_owners(ada: Principal, bo: Principal, cy: Principal) -> str:
    say(ada, TEXT, GRAZ)
    say(bo, TEXT, GRAZ)
    return TEXT


def taken_up(ada: Principal, bo: Principal, cy: Principal) -> str:
    say(ada, TEXT, GRAZ)
    place(adopted(bo, Fragment.objects.get()), bo, GRAZ)
    return TEXT


def in_conflict(ada: Principal, bo: Principal, cy: Principal) -> str:
    say(bo, "Ivo lives in Porto.", PORTO)
    say(ada, TEXT, GRAZ)
    return TEXT


def superseding(ada: Principal, bo: Principal, cy: Principal) -> str:
    say(ada, "Ivo lives in Porto.", PORTO, observed_at="2026-04-01T00:00:00Z")
    say(ada, TEXT, GRAZ, observed_at="2026-05-01T00:00:00Z")
    return TEXT


def superseded(ada: Principal, bo: Principal, cy: Principal) -> str:
    say(ada, TEXT, GRAZ, observed_at="2026-04-01T00:00:00Z")
    say(ada, "Ivo lives in Porto.", PORTO, observed_at="2026-05-01T00:00:00Z")
    return TEXT


def put_right(ada: Principal, bo: Principal, cy: Principal) -> str:
    text = "Ivo was born on 3 May 1990."
    say(ada, text, BORN)
    value = {"type": "date", "value": "1991-05-03"}
    corrected(ada, RelationshipRecord.objects.get(), object_value=value)
    return text


def held_back(ada: Principal, bo: Principal, cy: Principal) -> str:
    say(ada, TEXT, GRAZ)
    hold(cy, Fragment.objects.get().id)
    return TEXT


def outdated(ada: Principal, bo: Principal, cy: Principal) -> str:
    say(ada, TEXT, GRAZ, **of_source("letters"))
    say(ada, "Ivo lives in Porto.", PORTO, **of_source("letters", 2))
    return TEXT


SHAPES: Final[list[Told]] = [
    alone, shared, by_two_owners, taken_up, in_conflict, superseding, superseded, put_right, held_back, outdated
]  # fmt: skip


@pytest.mark.parametrize("told", SHAPES, ids=[shape.__name__ for shape in SHAPES])
def test_shows_what_is_done_and_stores_nothing(ada: Principal, bo: Principal, cy: Principal, told: Told) -> None:
    text = told(ada, bo, cy)
    given = {
        "principal": cy,
        "fragment_id": Fragment.objects.filter(content__text=text).order_by("seq").first().id,
        "body": {"reason": "Asked for."},
        "idempotency_key": uuid4().hex,
        "now": timezone.now(),
    }
    before = sorted(every_row())

    shown = redact(**given, dry_run=True)

    assert sorted(every_row()) == before
    known = {r.id: (r.tier, r.status, r.version) for r in RelationshipRecord.objects.all()}
    done = redact(**given)
    assert shown.changes == done.changes
    assert (shown.receipt.removed, shown.receipt.fragments) == (done.receipt.removed, done.receipt.fragments)
    after = {r.id: (r.tier, r.status, r.version) for r in RelationshipRecord.objects.all()}
    assert {c.relationship_id for c in shown.changes} == {number for number in after if after[number] != known[number]}
    for change in shown.changes:
        newest = Transition.objects.filter(relationship_id=change.relationship_id).latest("seq")
        assert (change.status, change.version) == (newest.status, newest.version)
