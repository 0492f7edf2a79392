"""The database refuses to decide who is who for somebody else, even if the code tried."""

from uuid import UUID

import pytest
from django.utils import timezone

from densemem.auth import Principal
from densemem.models import Team
from entities.models import IdentityBasis, IdentityDecision, IdentityMember
from relationships.models import RelationshipRecord
from tests.deciding import retracted
from tests.factories import access
from tests.identity import decided, merging, named, report_of, works
from tests.integration.test_owner_guard import REFUSED, copy_of, refusal
from tests.said import say, someone

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Principal:
    return someone(access.Team(), "Ada")


@pytest.fixture
def merged(ada: Principal) -> UUID:
    """A merge that Ada has decided."""
    say(ada, "Mark works on Harbor.", works("Mark", "Harbor"))
    say(ada, "Mark Huang works on Skiff.", works("Mark Huang", "Skiff"))
    basis = report_of(ada)
    found = decided(ada, merging(named("Mark Huang"), named("Mark"), basis=[basis])).identity_id
    assert found is not None
    return found


def test_nobody_writes_into_the_decision_of_another(ada: Principal, merged: UUID) -> None:
    other = someone(Team.objects.get(pk=ada.team_id), "Bo")
    one = IdentityMember.objects.filter(decision_id=merged).first()
    rests = IdentityBasis.objects.get(decision_id=merged)
    forgot = retracted(
        ada, RelationshipRecord.objects.get(subject_entity=named("Mark Huang"), object_entity=named("Skiff"))
    )
    writes = {
        "a member": copy_of(one, entity_id=named("Harbor").id, role="absorbed"),
        "a basis": copy_of(rests, start=1),
        "a withdrawal on the other's name": lambda: IdentityDecision.objects.create(
            team_id=ada.team_id,
            author_id=ada.profile_id,
            kind="withdraw",
            of_decision_id=merged,
            decision_id=forgot.decision_id,
            impact_hash="x",
            recorded_at=timezone.now(),
        ),
    }

    tried = {name: REFUSED in refusal(write, by=other.profile_id) for name, write in writes.items()}
    assert tried == dict.fromkeys(writes, True)
    assert refusal(writes["a member"], by=ada.profile_id) == ""
