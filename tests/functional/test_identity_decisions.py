"""Who is who, as a profile decides it: merge, split, distinct, and taken back."""

from typing import Any

import pytest

from densemem.auth import Principal
from densemem.models import Team
from entities.models import IdentityDecision
from relationships.models import Observation, RelationshipRecord
from tests.deciding import of_source
from tests.factories import access
from tests.identity import decided, merging, named, previewed, report_of, splitting, withdrawing, works
from tests.said import say, someone

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Team:
    return access.Team()


@pytest.fixture
def ada(team: Team) -> Principal:
    return someone(team, "Ada")


def records(who: Principal) -> dict[str, tuple[str, str, int, int]]:
    """Return, by subject and object, how a profile's records stand."""
    found = RelationshipRecord.objects.filter(owner_id=who.profile_id)
    return {
        f"{name(r.subject_entity)} {name(r.object_entity)}": (r.status, r.tier, r.support_count, r.source_group_count)
        for r in found
    }


def name(entity: Any) -> str:
    return entity.names.filter(kind="canonical").latest("version").display


def test_merge_moves_what_the_author_holds(ada: Principal) -> None:
    say(ada, "Mark works on Harbor.", works("Mark", "Harbor"), **of_source("a"))
    say(ada, "Mark Huang works on Harbor.", works("Mark Huang", "Harbor"), **of_source("b"))
    basis = [report_of(ada)]
    survivor, absorbed = named("Mark Huang"), named("Mark")
    body = merging(survivor, absorbed, basis=basis)
    impact = previewed(ada, body)
    print(impact)
    assert not IdentityDecision.objects.exists()
    done = decided(ada, body)
    assert done.changes == impact.changes
    assert records(ada) == {
        "Mark Harbor": ("superseded", "validated_claim", 0, 0),
        "Mark Huang Harbor": ("active", "fact", 2, 2),
    }
    back = decided(ada, withdrawing(done.identity_id))
    print(back)
    assert records(ada) == {
        "Mark Harbor": ("active", "validated_claim", 1, 1),
        "Mark Huang Harbor": ("active", "validated_claim", 1, 1),
    }


def test_split(ada: Principal) -> None:
    say(ada, "Mark works on Harbor.", works("Mark", "Harbor"), **of_source("a"))
    say(ada, "Mark works on Skiff.", works("Mark", "Skiff"), **of_source("b"))
    say(ada, "Mark works on Dinghy.", works("Mark", "Dinghy"), **of_source("c"))
    one, two, three = Observation.objects.order_by("seq")
    done = decided(ada, splitting(named("Mark"), [one.id], [two.id]))
    print(done, records(ada))
    for r in RelationshipRecord.objects.all():
        print(r.subject_entity_id, r.status, r.support_count)
    back = decided(ada, withdrawing(done.identity_id))
    print(back)
    for r in RelationshipRecord.objects.all():
        print(r.subject_entity_id, r.status, r.support_count)
