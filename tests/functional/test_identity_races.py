"""Check 22 under real threads: a decision about who is who against a text of the absorbed name that is on its way."""

import threading
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from django.utils import timezone

from densemem.auth import Principal
from entities.models import IdentityDecision
from placement import commit as committing
from placement.decide import ImpactStale, decide_identity
from placement.tasks import drain
from tests.identity import decided, merging, named, previewed, records, report_of, works
from tests.racing import PATIENCE, run, somebody_waits, until
from tests.said import model, say, send

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sound")]


@pytest.fixture
def body(ada: Principal) -> dict[str, Any]:
    """What takes Mark for Mark Huang."""
    say(ada, "Mark works on Harbor.", works("Mark", "Harbor"))
    say(ada, "Mark Huang works on Skiff.", works("Mark Huang", "Skiff"))
    basis = report_of(ada)
    return merging(named("Mark Huang"), named("Mark"), basis=[basis])


def test_a_commit_that_waits_for_a_merge_looks_at_its_candidates_again(ada: Principal, body: dict[str, Any]) -> None:
    decision, done = threading.Event(), threading.Event()
    waited = []
    send(ada, "Mark works on Yawl.")

    def first() -> None:
        with transaction.atomic():
            decided(ada, body)
            decision.set()
            until(lambda: done.is_set() or somebody_waits())
            waited.append(not done.is_set())

    def second() -> None:
        assert decision.wait(PATIENCE)
        drain(using=model(works("Mark", "Yawl")), linger=False)
        done.set()

    run(first, second)

    assert waited == [True]
    assert records(ada)["Mark Huang Yawl"] == ("active", 1, 1)
    assert "Mark Yawl" not in records(ada)


def test_a_merge_that_waits_for_a_commit_does_not_apply_what_was_previewed(
    ada: Principal, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    token = previewed(ada, body).token
    reached, done, refused, waited = threading.Event(), threading.Event(), [], []
    send(ada, "Mark works on Yawl.")
    deciding = committing._decide_mentions

    def slowly(*args: Any) -> Any:
        reached.set()
        until(lambda: done.is_set() or somebody_waits())
        waited.append(not done.is_set())
        return deciding(*args)

    monkeypatch.setattr(committing, "_decide_mentions", slowly)

    def first() -> None:
        drain(using=model(works("Mark", "Yawl")), linger=False)

    def second() -> None:
        assert reached.wait(PATIENCE)
        try:
            given = {**body, "token": token}
            decide_identity(principal=ada, body=given, idempotency_key=uuid4().hex, now=timezone.now())
        except ImpactStale as stale:
            refused.append(stale.code)
        done.set()

    run(first, second)

    assert (waited, refused) == ([True], ["impact_stale"])
    assert not IdentityDecision.objects.exists()
    assert records(ada)["Mark Yawl"] == ("active", 1, 1)
