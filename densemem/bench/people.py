"""Who sends the load: teams of invented people, made as the product makes them."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.utils import timezone

from densemem.access import create_person, create_team, create_token
from densemem.auth import Principal, principal_of
from densemem.bench.notes import note
from densemem.models import Profile
from placement.remember import remember


def new_team(people: int) -> list[Principal]:
    """Make a team of so many people."""
    number = uuid4().hex[:12]
    team = create_team(name=f"Bench {number} (sample)").team_id
    return [_person(team, f"bench-{number}-{index}") for index in range(people)]


def _person(team_id: UUID, login: str) -> Principal:
    User.objects.create(username=login)  # without a password: nobody signs in, and hashing one takes long
    made = create_person(team_id=team_id, name=login, login=login)
    found = principal_of(Profile.objects.get(pk=made.profile_id))
    assert found is not None
    return found


def token_of(who: Principal) -> str:
    """Return a fresh bearer token."""
    return create_token(team_id=who.team_id, profile_id=who.profile_id, label="bench").secret


def body_of(numbers: Sequence[int], *, seed: int) -> dict[str, object]:
    """Return a request to remember the notes of these numbers."""
    return {"evidence": [{"content": note(n, seed=seed), "source_type": "document"} for n in numbers]}


def tell(who: Principal, numbers: Sequence[int], *, seed: int, now: datetime | None = None) -> UUID:
    """Remember the notes of these numbers by a call, without the door; return the ingest."""
    body = body_of(numbers, seed=seed)
    return remember(principal=who, body=body, idempotency_key=uuid4().hex, now=now or timezone.now()).ingest_id
