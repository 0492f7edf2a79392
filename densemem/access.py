"""Who may come in: teams, profiles, what they may do, and tokens. Commands, demo and admin call the same functions."""

import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from densemem.auth import is_live
from densemem.core import limits
from densemem.core.faults import Because, NotThere, Refused
from densemem.core.words import ProfileKind, Role, Scope
from densemem.models import AccessToken, Membership, Profile, Team

ALL_SCOPES = (Scope.READ, Scope.WRITE)


class NameTaken(Refused):
    """The name belongs to something else already."""

    because = Because.CONFLICT
    code = "name_taken"


class StewardUnfit(Refused):
    """An agent's steward must be an active person of its team."""

    code = "steward_unfit"


class LastManager(Refused):
    """A team keeps at least one active manager."""

    because = Because.CONFLICT
    code = "last_manager"


class ScopeBeyondProfile(Refused):
    """A token may do nothing that its profile may not."""

    code = "scope_beyond_profile"


class NotActive(Refused):
    """The profile was deactivated, or nobody answers for it."""

    because = Because.CONFLICT
    code = "profile_not_active"


@dataclass(frozen=True, slots=True, kw_only=True)
class Powers:
    """What a membership gives; `grants` are source types for which the profile may claim authority."""

    role: Role = Role.MEMBER
    scopes: Collection[Scope] = ALL_SCOPES
    grants: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class MadeTeam:
    """A team; `made` is false when it was there already."""

    team_id: UUID
    made: bool


@dataclass(frozen=True, slots=True)
class MadeProfile:
    """A profile; `password` is there once, when a login was made for it."""

    profile_id: UUID
    made: bool
    password: str | None = None


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A new token: `secret` is shown now and never again."""

    secret: str
    key: str
    scopes: tuple[Scope, ...]
    expires_at: datetime | None


def create_team(*, name: str) -> MadeTeam:
    """Make a team, or return the one of this name."""
    team, made = Team.objects.get_or_create(name=_checked_name(name))
    return MadeTeam(team.id, made)


@transaction.atomic
def create_person(
    *, team_id: UUID, name: str, login: str, powers: Powers = Powers(), password: str | None = None
) -> MadeProfile:
    """Make a person's profile with a login, or return the one that is there unchanged.

    A login that exists is used as it is; a new one gets `password`, or one of ours.

    :raises NameTaken: the name is another profile's
    """
    found = _existing(team_id, name, ProfileKind.PERSON)
    if found is not None:
        if found.user is None or found.user.get_username() != login:
            raise NameTaken(f"The name {name!r} belongs to another login of this team.")
        return MadeProfile(found.id, made=False)
    user = User.objects.filter(username=login).first()
    fresh = None if user else password or secrets.token_urlsafe(15)
    user = user or User.objects.create_user(username=login, password=fresh)
    person = Profile.objects.create(team_id=team_id, kind=ProfileKind.PERSON, name=_checked_name(name), user=user)
    _join(person, powers)
    return MadeProfile(person.id, made=True, password=fresh)


@transaction.atomic
def create_agent(*, team_id: UUID, name: str, steward_id: UUID, powers: Powers = Powers()) -> MadeProfile:
    """Make an agent's profile, or return the one that is there unchanged.

    :raises NameTaken: the name is another profile's
    :raises StewardUnfit: the steward is no active person of the team
    """
    found = _existing(team_id, name, ProfileKind.AGENT)
    if found is not None:
        if found.steward_id != steward_id:
            raise NameTaken(f"The name {name!r} belongs to an agent with another steward.")
        return MadeProfile(found.id, made=False)
    _check_steward(team_id, steward_id)
    agent = Profile.objects.create(
        team_id=team_id, kind=ProfileKind.AGENT, name=_checked_name(name), steward_id=steward_id
    )
    _join(agent, powers)
    return MadeProfile(agent.id, made=True)


@transaction.atomic
def set_membership(*, team_id: UUID, profile_id: UUID, powers: Powers) -> None:
    """Replace role, scopes and authority grants of a profile.

    :raises NotThere: no such profile in the team
    :raises LastManager: the team would have none
    """
    profile = _locked(team_id, profile_id)
    if powers.role is not Role.MANAGER:
        _check_not_last_manager(profile)
    Membership.objects.of_team(team_id).filter(profile=profile).update(**_columns(powers))


@transaction.atomic
def deactivate_profile(*, team_id: UUID, profile_id: UUID, now: datetime) -> None:
    """Stop a profile: its tokens end, its records stay. Doing it again changes nothing.

    :raises NotThere: no such profile in the team
    :raises LastManager: the team would have none
    """
    profile = _locked(team_id, profile_id)
    if profile.deactivated_at is not None:
        return
    _check_not_last_manager(profile)
    profile.deactivated_at = now
    profile.save(update_fields=["deactivated_at"])
    AccessToken.objects.filter(profile=profile).delete()


@transaction.atomic
def create_token(
    *, team_id: UUID, profile_id: UUID, label: str, scopes: Collection[Scope] = ALL_SCOPES, days: int | None = None
) -> IssuedToken:
    """Make a token of a profile; without `days` it holds until it is revoked.

    :raises NotThere: no such profile in the team
    :raises NotActive: the profile was deactivated, or nobody answers for it
    :raises ScopeBeyondProfile: the membership does not have these scopes
    """
    profile = _locked(team_id, profile_id)
    user = profile.user or (profile.steward.user if profile.steward else None)
    if not is_live(profile) or user is None:
        raise NotActive(f"The profile {profile.name!r} is not active.")
    beyond = set(scopes) - {Scope(s) for s in profile.membership.scopes}
    if beyond or not scopes:
        raise ScopeBeyondProfile(f"The profile {profile.name!r} may only: {', '.join(profile.membership.scopes)}.")
    wanted = tuple(sorted(set(scopes)))
    token, secret = AccessToken.objects.create(
        user, expiry=timedelta(days=days) if days else None, profile=profile, label=label, scopes=list(wanted)
    )
    return IssuedToken(secret, token.token_key, wanted, token.expiry)


def revoke_token(*, team_id: UUID, key: str) -> None:
    """End a token, named by its first characters as `IssuedToken.key` gives them.

    :raises NotThere: no such token in the team
    """
    ended, _ = AccessToken.objects.filter(profile__team_id=team_id, token_key=key).delete()
    if not ended:
        raise NotThere


def find_team(*, name: str) -> Team:
    """Return the team of this name.

    :raises NotThere: there is none
    """
    found = Team.objects.filter(name=name).first()
    if found is None:
        raise NotThere
    return found


def find_profile(*, team_id: UUID, name: str) -> Profile:
    """Return the profile of this name.

    :raises NotThere: there is none in the team
    """
    found = Profile.objects.of_team(team_id).filter(name=name).first()
    if found is None:
        raise NotThere
    return found


def _checked_name(name: str) -> str:
    wanted = name.strip()
    if not wanted or len(wanted) > limits.REF_CHARS or not wanted.isprintable():
        raise Refused(f"A name has 1 to {limits.REF_CHARS} characters that can be seen.", code="name_refused")
    return wanted


def _existing(team_id: UUID, name: str, kind: ProfileKind) -> Profile | None:
    found = Profile.objects.of_team(team_id).select_related("user").filter(name=_checked_name(name)).first()
    if found is not None and found.kind != kind:
        raise NameTaken(f"The name {name!r} belongs to a profile of another kind in this team.")
    return found


def _check_steward(team_id: UUID, steward_id: UUID) -> None:
    people = Profile.objects.of_team(team_id).filter(kind=ProfileKind.PERSON, deactivated_at=None)
    if not people.filter(pk=steward_id, user__isnull=False).exists():
        raise StewardUnfit("The steward of an agent must be an active person of the same team.")


def _join(profile: Profile, powers: Powers) -> None:
    Membership.objects.create(team_id=profile.team_id, profile=profile, **_columns(powers))


def _columns(powers: Powers) -> dict[str, object]:
    return {
        "role": powers.role,
        "scopes": sorted(set(powers.scopes)),
        "authority_grants": sorted(set(powers.grants)),
    }


def _locked(team_id: UUID, profile_id: UUID) -> Profile:
    """Return a profile; whoever changes the team's access waits for the team's row."""
    Team.objects.select_for_update().filter(pk=team_id).first()
    rows = Profile.objects.of_team(team_id).select_related("membership", "user", "steward__user")
    found = rows.filter(pk=profile_id).first()
    if found is None:
        raise NotThere
    return found


def _check_not_last_manager(profile: Profile) -> None:
    managers = Membership.objects.of_team(profile.team_id).filter(role=Role.MANAGER, profile__deactivated_at=None)
    if profile.membership.role == Role.MANAGER and not managers.exclude(profile=profile).exists():
        raise LastManager(f"The team would have no manager without {profile.name!r}. Make another one first.")
