"""The people and the agent of the sample: made once, found again on every later run."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User

from densemem.access import Powers, create_agent, create_person, create_team, create_token, revoke_token
from densemem.auth import Principal, principal_of
from densemem.core.words import ProfileKind, Role
from densemem.demo.corpus import Corpus, SampleProfile
from densemem.models import AccessToken, Profile

LABEL: Final = "sample"
TOKEN_DAYS: Final = 7


@dataclass(frozen=True, slots=True)
class Cast:
    """Everybody of the sample's team, by their refs in the corpus; `manager` is the ref of the first manager."""

    team_id: UUID
    principals: Mapping[str, Principal]
    manager: str


@dataclass(frozen=True, slots=True)
class Key:
    """How to come in; `password` is None for a login that somebody uses for other things too: it stays as it is."""

    login: str
    password: str | None
    token: str


def make_cast(corpus: Corpus) -> Cast:
    """Make the sample's team and profiles, or find them.

    :raises NameTaken: the name of the team or of a profile is used for something else
    """
    team_id = create_team(name=corpus.team).team_id
    made: dict[str, UUID] = {}
    for profile in corpus.profiles:
        made[profile.ref] = _make(team_id, profile, made)
    found = {ref: principal_of(Profile.objects.get(pk=profile_id)) for ref, profile_id in made.items()}
    principals = {ref: principal for ref, principal in found.items() if principal is not None}
    manager = next(p.ref for p in corpus.profiles if p.role == Role.MANAGER)
    return Cast(team_id, principals, manager)


def hand_over_key(cast: Cast) -> Key:
    """Return a new password and a new token of the manager; the ones of earlier runs stop."""
    profile = Profile.objects.select_related("user").get(pk=cast.principals[cast.manager].profile_id)
    for key in AccessToken.objects.filter(profile=profile, label=LABEL).values_list("token_key", flat=True):
        revoke_token(team_id=cast.team_id, key=key)
    token = create_token(team_id=cast.team_id, profile_id=profile.id, label=LABEL, days=TOKEN_DAYS)
    user = profile.user
    assert isinstance(user, User)
    return Key(user.get_username(), _new_password(user, cast.team_id), token.secret)


def _make(team_id: UUID, profile: SampleProfile, made: Mapping[str, UUID]) -> UUID:
    powers = Powers(role=Role(profile.role))
    if profile.kind == ProfileKind.AGENT:
        steward = made[profile.steward or ""]
        return create_agent(team_id=team_id, name=profile.name, steward_id=steward, powers=powers).profile_id
    person = create_person(team_id=team_id, name=profile.name, login=profile.login or profile.ref, powers=powers)
    return person.profile_id


def _new_password(user: User, team_id: UUID) -> str | None:
    """Set a new password for a login that is the sample's alone."""
    elsewhere = user.profiles.exclude(team_id=team_id).exists()
    if elsewhere or user.is_superuser:
        return None
    password = secrets.token_urlsafe(12)
    user.set_password(password)
    user.save(update_fields=["password"])
    return password
