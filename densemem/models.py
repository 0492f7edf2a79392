"""Who is there: teams, profiles, memberships and tokens."""

from typing import Any, ClassVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from knox.models import AbstractAuthToken, AuthTokenManager

from densemem.core.words import ProfileKind, Role, Scope
from densemem.db.fields import IdField, TeamKey, TeamOneKey, word, word_check
from densemem.db.rows import TeamRow, one_per_team


class Team(models.Model):
    """A group that shares one memory; nothing is shared between teams."""

    id = IdField()
    name = models.CharField(max_length=128, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Profile(TeamRow):
    """A person or an agent inside a team: the author of evidence and the owner of Relationships.

    A person has a login; an agent has a steward, who answers for it. A deactivated profile keeps its records.
    """

    kind = word(ProfileKind)
    name = models.CharField(max_length=128)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="profiles")
    steward = TeamKey("densemem.Profile", null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    deactivated_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            one_per_team("profile"),
            word_check("profile", "kind", ProfileKind),
            models.UniqueConstraint(name="profile_name_in_team", fields=["team", "name"]),
            models.CheckConstraint(
                name="profile_agent_has_steward_person_has_none",
                condition=Q(kind=ProfileKind.AGENT, steward__isnull=False)
                | Q(kind=ProfileKind.PERSON, steward__isnull=True),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Membership(TeamRow):
    """What a profile may do in its team. A manager sees more and owns nothing more."""

    profile = TeamOneKey("densemem.Profile", related_name="membership")
    role = word(Role, default=Role.MEMBER)
    scopes = ArrayField(models.CharField(max_length=16), default=list)
    # Source types for which this profile may claim authority; a manager gives them.
    authority_grants = ArrayField(models.CharField(max_length=32), default=list, blank=True)

    class Meta:
        constraints: ClassVar = [
            one_per_team("membership"),
            word_check("membership", "role", Role),
            models.CheckConstraint(
                name="membership_scopes_are_known", condition=Q(scopes__contained_by=[s.value for s in Scope])
            ),
        ]

    def __str__(self) -> str:
        return f"{self.profile} ({self.role})"


class TokenManager(AuthTokenManager):
    """Makes tokens; the plain text is shown once and kept nowhere."""


class AccessToken(AbstractAuthToken):
    """A bearer token of one profile, hashed at rest, with its own scopes."""

    profile = models.ForeignKey(Profile, models.CASCADE, related_name="+")
    label = models.CharField(max_length=64, blank=True)
    scopes = ArrayField(models.CharField(max_length=16), default=list)
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[Any] = TokenManager()

    def __str__(self) -> str:
        return f"{self.label or 'token'} of {self.profile}"
