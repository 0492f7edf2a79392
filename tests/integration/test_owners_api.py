"""The REST doors of what owners decide about their own: headers, statuses, and what they never show."""

from uuid import uuid4

import pytest

from densemem.auth import Principal
from densemem.models import Team
from relationships.models import EvidenceSupport, Observation, RelationshipRecord
from review.models import Decision
from tests.factories import access
from tests.integration.test_decisions_api import TEXT, WORKS, post
from tests.said import Fact, say, someone

pytestmark = pytest.mark.django_db
DATED = Fact("Mara Lind", "works on", "Harbor", "works_on", valid_from="2026-01-01")
BODIES = {
    "corrections": {"message": "It began later.", "valid_from": "2026-02-01"},
    "disputes": {"message": "I doubt it."},
    "lifts": {"message": "It is so."},
}


@pytest.fixture
def team() -> Team:
    return access.Team()


@pytest.fixture
def ada(team: Team) -> Principal:
    return someone(team, "Ada")


def tag(record: RelationshipRecord) -> dict[str, str]:
    """Return the header that names the version that was seen."""
    record.refresh_from_db()
    return {"If-Match": f'"r{record.id}.v{record.version}"'}


@pytest.mark.parametrize("name", ["corrections", "disputes", "lifts"])
def test_a_decision_about_a_relationship_needs_the_version_that_was_seen(ada: Principal, name: str) -> None:
    say(ada, TEXT, DATED)
    record = RelationshipRecord.objects.get()
    address = f"relationships/{record.id}/{name}"

    bare = post(ada, address, BODIES[name])
    stale = post(ada, address, BODIES[name], **{"If-Match": f'"r{record.id}.v9"'})

    assert [a.status_code for a in (bare, stale)] == [428, 412]
    assert stale.json()["code"] == "version_stale"


@pytest.mark.parametrize("name", ["corrections", "disputes"])
def test_a_decision_can_be_rehearsed_then_made_and_sent_again(ada: Principal, name: str) -> None:
    say(ada, TEXT, DATED)
    record = RelationshipRecord.objects.get()
    address, headers = f"relationships/{record.id}/{name}", {**tag(record), "Idempotency-Key": "one"}

    tried = post(ada, f"{address}?dry_run=true", BODIES[name], **headers)
    assert (tried.status_code, tried.json()["dry_run"], Decision.objects.count()) == (200, True, 0)
    done = post(ada, address, BODIES[name], **headers)
    again = post(ada, address, BODIES[name], **headers)

    assert [done.status_code, again["Idempotency-Replayed"]] == [201, "true"]
    assert done.json()["changes"] == tried.json()["changes"]
    assert again.json()["decision_id"] == done.json()["decision_id"]


def test_a_dispute_is_lifted_through_its_door(ada: Principal) -> None:
    say(ada, TEXT, WORKS)
    record = RelationshipRecord.objects.get()
    post(ada, f"relationships/{record.id}/disputes", BODIES["disputes"], **tag(record))

    done = post(ada, f"relationships/{record.id}/lifts", BODIES["lifts"], **tag(record))

    assert (done.status_code, done.json()["compensation"]) == (201, "dispute")
    record.refresh_from_db()
    assert record.status == "active"


def test_bodies_are_closed(ada: Principal) -> None:
    say(ada, TEXT, WORKS)
    record = RelationshipRecord.objects.get()

    answers = [
        post(ada, f"relationships/{record.id}/{name}", {**body, "status": "active"}, **tag(record))
        for name, body in BODIES.items()
    ]

    assert [a.status_code for a in answers] == [422, 422, 422]
    assert {a.json()["errors"][0]["code"] for a in answers} == {"field_is_set_by_server"}


def test_what_is_not_there_is_not_found(ada: Principal) -> None:
    places = ["evidence/{}/retirements", "supports/{}/reinstatements", "observations/{}/verifications"]

    for place in places:
        for number in (uuid4(), "no-id"):
            answer = post(ada, place.format(number), {"reason": "Wrong."})
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_text_is_withdrawn_and_its_support_stays_revoked(team: Team, ada: Principal) -> None:
    view = say(ada, TEXT, WORKS)
    cy = someone(team, "Cy", role="manager")

    done = post(ada, f"evidence/{view.items[0].evidence_id}/retirements", {"reason": "Not mine to share."})
    again = post(cy, f"supports/{EvidenceSupport.objects.get().id}/reinstatements", {"reason": "It is."})

    assert (done.status_code, done.json()["processing_state"]) == (201, "completed")
    assert "Mara" not in done.content.decode()
    assert (again.status_code, again.json()["code"]) == (409, "evidence_retired")


def test_an_observation_is_sent_back_to_its_verifier(ada: Principal) -> None:
    say(ada, TEXT, WORKS)

    done = post(ada, f"observations/{Observation.objects.get().id}/verifications", {"reason": "I doubt it."})

    assert (done.status_code, done["Retry-After"], done.json()["processing_state"]) == (201, "1", "queued")
