"""A decision that is rehearsed: done whole, shown, and taken back."""

from uuid import uuid4

import pytest
from django.utils import timezone

from densemem.models import Team
from placement.decide import forget
from relationships.models import RelationshipRecord, Transition
from review.models import Decision
from tests.deciding import TEXT, WORKS
from tests.factories import access
from tests.said import say, someone

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Team:
    return access.Team()


def test_a_rehearsal_shows_each_change_and_stores_nothing(team: Team) -> None:
    ada = someone(team, "Ada")
    say(ada, TEXT, WORKS)
    record = RelationshipRecord.objects.get()
    before = Transition.objects.count()

    done = forget(
        principal=ada,
        relationship_id=record.id,
        expected_version=record.version,
        body={"message": "Told by mistake."},
        idempotency_key=uuid4().hex,
        now=timezone.now(),
        dry_run=True,
    )

    assert done.dry_run
    (change,) = done.changes
    assert (change.relationship_id, change.status_before, change.status) == (record.id, "active", "retracted")
    record.refresh_from_db()
    assert (record.status, Transition.objects.count(), Decision.objects.count()) == ("active", before, 0)


def test_what_was_rehearsed_can_be_done_under_the_same_key_and_shows_the_same(team: Team) -> None:
    ada = someone(team, "Ada")
    say(ada, TEXT, WORKS)
    record = RelationshipRecord.objects.get()
    given = {
        "principal": ada,
        "relationship_id": record.id,
        "expected_version": record.version,
        "body": {"message": "Told by mistake."},
        "idempotency_key": uuid4().hex,
    }

    rehearsed = forget(**given, now=timezone.now(), dry_run=True)
    done = forget(**given, now=timezone.now())

    assert done.changes == rehearsed.changes
    assert not done.replayed
    record.refresh_from_db()
    assert record.status == "retracted"
