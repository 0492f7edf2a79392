"""Who is asking: every request resolves to one frozen Principal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hmac import compare_digest
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import DEFAULT_DB_ALIAS, connection
from django.http import HttpRequest
from django.utils import timezone
from knox.crypto import hash_token
from knox.settings import CONSTANTS
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from densemem.core.words import Role, Scope
from densemem.models import AccessToken, Profile

if TYPE_CHECKING:  # the settings name classes of this module, and importing views reads the settings
    from rest_framework.views import APIView

USED_EVERY = timedelta(minutes=5)  # how coarse `last_used_at` is

# Every request asks this, so it is one statement that the server plans once: no model is made of it.
HELD: Final = """
SELECT token.digest, token.expiry, token.scopes, token.last_used_at, login.id, login.is_active,
       profile.team_id, profile.id, profile.name, profile.user_id,
       profile.deactivated_at IS NULL AND steward.deactivated_at IS NULL,
       membership.role, membership.scopes, membership.authority_grants
FROM densemem_accesstoken token
JOIN auth_user login ON login.id = token.user_id
JOIN densemem_profile profile ON profile.id = token.profile_id
LEFT JOIN densemem_profile steward ON steward.id = profile.steward_id
LEFT JOIN densemem_membership membership ON membership.profile_id = profile.id
WHERE token.token_key = %s
"""


class ScopeMissing(Exception):
    """The caller is known but its scopes do not allow this.

    :param scope: the scope that it lacks
    """

    def __init__(self, scope: str) -> None:
        super().__init__(scope)
        self.scope = scope


@dataclass(frozen=True, slots=True)
class Principal:
    """The one answer to "who is asking": a profile in its team, and what it may do there."""

    team_id: UUID
    profile_id: UUID
    profile_name: str
    role: Role
    scopes: frozenset[Scope]
    authority_grants: frozenset[str]
    user_id: int | None = None
    in_person: bool = False  # a login sat before the page: no token

    def require(self, scope: Scope) -> None:
        """Refuse a caller without `scope`.

        :raises ScopeMissing: it is not there
        """
        if scope not in self.scopes:
            raise ScopeMissing(scope)

    @property
    def is_manager(self) -> bool:
        """Whether the profile manages its team: it sees more, and owns nothing more."""
        return self.role is Role.MANAGER


def is_live(profile: Profile) -> bool:
    """Tell if a profile may act: it is active and, for an agent, so is the steward who answers for it."""
    steward = profile.steward
    return profile.deactivated_at is None and (steward is None or steward.deactivated_at is None)


def principal_of(profile: Profile) -> Principal | None:
    """Return the Principal of an active profile with a membership; else None."""
    membership = getattr(profile, "membership", None)
    if membership is None or not is_live(profile):
        return None
    return Principal(
        team_id=profile.team_id,
        profile_id=profile.id,
        profile_name=profile.name,
        role=Role(membership.role),
        scopes=frozenset(map(Scope, membership.scopes)),
        authority_grants=frozenset(membership.authority_grants),
        user_id=profile.user_id,
    )


def profiles_of_login(user: User | AnonymousUser) -> list[Profile]:
    """Return the active profiles a login may act as: its own first, then the agents it is steward of."""
    if not user.is_authenticated:
        return []
    live = Profile.objects.filter(deactivated_at=None, membership__isnull=False).select_related("team").order_by("name")
    return [*live.filter(user=user), *live.filter(steward__user=user, steward__deactivated_at=None)]


def principal_of_login(request: HttpRequest) -> Principal | None:
    """Return the Principal of a browser session: the chosen profile, or the login's first."""
    profiles = profiles_of_login(request.user)
    chosen = request.session.get("profile_id") if hasattr(request, "session") else None
    profile = next((p for p in profiles if str(p.id) == chosen), profiles[0] if profiles else None)
    found = principal_of(profile) if profile else None
    return replace(found, in_person=True) if found else None


class Held(NamedTuple):
    """A token and who holds it, as the columns of `HELD`; no role without a membership."""

    digest: str
    expiry: datetime | None
    scopes: list[str]
    last_used_at: datetime | None
    login_id: int
    login_active: bool
    team_id: UUID
    profile_id: UUID
    profile_name: str
    user_id: int | None
    live: bool
    role: str | None
    member_scopes: list[str]
    authority_grants: list[str]

    def is_valid(self, now: datetime) -> bool:
        """Tell if the token opens anything at all."""
        return self.login_active and (self.expiry is None or now < self.expiry)

    def note_use(self, now: datetime) -> None:
        """Note coarsely that the token was used."""
        if self.last_used_at is None or now - self.last_used_at > USED_EVERY:
            AccessToken.objects.filter(pk=self.digest).update(last_used_at=now)

    def principal(self) -> Principal | None:
        """Return the Principal, with the scopes that profile and token share; None if the profile may not act."""
        if self.role is None or not self.live:
            return None
        return Principal(
            team_id=self.team_id,
            profile_id=self.profile_id,
            profile_name=self.profile_name,
            role=Role(self.role),
            scopes=frozenset(map(Scope, self.member_scopes)) & frozenset(map(Scope, self.scopes)),
            authority_grants=frozenset(self.authority_grants),
            user_id=self.user_id,
        )


def principal_of_bearer(secret: str) -> tuple[User, Principal]:
    """Return the login and the Principal behind a bearer token, for REST and MCP alike.

    :raises AuthenticationFailed: unknown, expired or revoked token, or a profile that was deactivated
    """
    now = timezone.now()
    held = _held(secret) if secret.isascii() else None
    if held is None or not held.is_valid(now):
        raise AuthenticationFailed("Invalid token.")
    held.note_use(now)
    principal = held.principal()
    if principal is None:
        raise AuthenticationFailed("The profile of this token is not active.")
    # Its other columns are read if anybody asks for them.
    return User.from_db(DEFAULT_DB_ALIAS, ["id", "is_active"], [held.login_id, held.login_active]), principal


def _held(secret: str) -> Held | None:
    """Return the token of this secret, if there is one."""
    digest = hash_token(secret)
    with connection.cursor() as cursor:
        cursor.execute(HELD, [secret[: CONSTANTS.TOKEN_KEY_LENGTH]])
        alike = [Held(*row) for row in cursor.fetchall()]
    return next((held for held in alike if compare_digest(held.digest, digest)), None)


def principal_on(request: Request) -> Principal:
    """Return the Principal that a door put on a request; `HasPrincipal` let nobody in without one."""
    who: object = request.auth
    assert isinstance(who, Principal)
    return who


class TokenDoor(BaseAuthentication):
    """`Authorization: Bearer dm_...` -> (user, Principal)."""

    def authenticate(self, request: Request) -> tuple[AbstractBaseUser, Principal] | None:
        words = request.headers.get("Authorization", "").split()
        if not words or words[0].lower() != "bearer":
            return None
        if len(words) != 2:
            raise AuthenticationFailed("Send exactly one token: Authorization: Bearer dm_...")
        return principal_of_bearer(words[1])

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class SessionDoor(SessionAuthentication):
    """A signed-in browser -> (user, Principal); changes need the CSRF token."""

    def authenticate(self, request: Request) -> tuple[AbstractBaseUser, Principal] | None:
        found = super().authenticate(request)
        principal = principal_of_login(request) if found else None
        return (found[0], principal) if found and principal else None


class HasPrincipal(BasePermission):
    """Let nobody in whom no door has recognised."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.auth, Principal)
