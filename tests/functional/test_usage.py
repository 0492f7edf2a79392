"""What models cost is kept with each call and told to whom the ingest belongs."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from densemem.auth import Principal
from densemem.models import AccessToken, Profile
from densemem.providers.base import Answer, Call, ProviderUnavailable, Stage, Usage
from densemem.providers.prices import read_prices
from densemem.providers.scripted import Scripted
from placement.queries import usage_of
from placement.status import get_placement
from placement.tasks import drain
from tests.said import Fact, extraction, send, verification

TEXT = "Mara Lind works on Harbor."
WORKS = Fact("Mara Lind", "works on", "Harbor", "works_on")
NOTHING = {"calls": 0, "tokens_in": 0, "tokens_out": 0, "cost_micros": 0}
SPENT = {"calls": 4, "tokens_in": 1611, "tokens_out": 57, "cost_micros": 3 * 1611 + 15 * 57}


def telling() -> Scripted:
    """Return a model that refuses once, answers badly once, and tells what each call cost."""
    spent: Iterator[Usage] = iter([Usage(1000, 20), Usage(11, 7), Usage(500, 10), Usage(100, 20)])

    def answer(call: Call) -> Answer | ProviderUnavailable:
        request, usage = json.loads(call.turns[0].text), next(spent)
        if usage.tokens_in == 11:
            return ProviderUnavailable("refused", retry_after=0.0, model="m-1", usage=usage)
        if usage.tokens_in == 500:
            return Answer("{}", "m-1", usage)
        made = extraction if call.stage is Stage.EXTRACT else verification
        return Answer(json.dumps(made(request, [WORKS])), "m-1", usage)

    return Scripted(answer)


def read(who: Principal, ingest_id: object) -> Any:
    """Read an ingest over REST."""
    profile = Profile.objects.get(pk=who.profile_id)
    _, secret = AccessToken.objects.create(user=profile.user, profile=profile, scopes=["read"])
    return Client().get(f"/api/v1/ingests/{ingest_id}", headers={"Authorization": f"Bearer {secret}"}).json()


@pytest.fixture(autouse=True)
def _priced(settings: Any) -> None:
    settings.MODEL_PRICES = read_prices("m-1=3/15")


class TestUsage:
    def test_is_the_sum_over_every_call_of_the_ingest(self, ada: Principal) -> None:
        other, ingest = send(ada, "Nothing yet."), send(ada, TEXT)
        asked = telling()
        drain(using=Scripted(lambda call: asked.complete(call) if TEXT in call.turns[0].text else "{}"), linger=False)

        assert read(ada, ingest)["usage"] == SPENT
        assert read(ada, other)["usage"] == {**NOTHING, "calls": 5}

    def test_is_nothing_before_a_model_was_asked(self, ada: Principal) -> None:
        assert read(ada, send(ada, TEXT))["usage"] == NOTHING

    def test_is_the_owners_own_business(self, ada: Principal, bo: Principal, stranger: Principal) -> None:
        ingest = send(ada, TEXT)
        drain(using=telling(), linger=False)

        assert read(bo, ingest)["usage"] is None
        assert get_placement(team_id=ada.team_id, ingest_id=ingest).usage is None
        assert usage_of(team_id=stranger.team_id, ingest_id=ingest).calls == 0
