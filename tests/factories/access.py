"""Teams, logins, profiles, memberships and tokens."""

from typing import Any

import factory
from django.conf import settings

from densemem import models
from densemem.auth import Principal
from densemem.auth import principal_of as resolve
from densemem.core.words import ProfileKind, Role, Scope


class Team(factory.django.DjangoModelFactory):
    class Meta:
        model = models.Team

    name = factory.Sequence(lambda n: f"Team {n}")


class User(factory.django.DjangoModelFactory):
    class Meta:
        model = settings.AUTH_USER_MODEL

    username = factory.Sequence(lambda n: f"user{n}")


class Profile(factory.django.DjangoModelFactory):
    """A person with a login and a membership that reads and writes; `agent=True` makes an agent with a steward."""

    class Meta:
        model = models.Profile
        skip_postgeneration_save = True

    class Params:
        agent = factory.Trait(
            kind=ProfileKind.AGENT,
            user=None,
            steward=factory.SubFactory("tests.factories.access.Profile", team=factory.SelfAttribute("..team")),
        )

    team = factory.SubFactory(Team)
    kind = ProfileKind.PERSON
    name = factory.Sequence(lambda n: f"Profile {n}")
    user = factory.SubFactory(User)
    membership = factory.RelatedFactory(
        "tests.factories.access.Membership", factory_related_name="profile", team=factory.SelfAttribute("..team")
    )


class Membership(factory.django.DjangoModelFactory):
    class Meta:
        model = models.Membership

    profile = factory.SubFactory(Profile, membership=None)
    team = factory.SelfAttribute("profile.team")
    role = Role.MEMBER
    scopes = factory.LazyFunction(lambda: [scope.value for scope in Scope])


class AccessToken(factory.django.DjangoModelFactory):
    """A token of a profile; its plain text is the attribute `secret`, kept nowhere else."""

    class Meta:
        model = models.AccessToken

    profile = factory.SubFactory(Profile)
    label = "test"
    scopes = factory.LazyFunction(lambda: [scope.value for scope in Scope])

    @classmethod
    def _create(cls, model_class: type[models.AccessToken], *args: Any, **fields: Any) -> models.AccessToken:
        profile = fields["profile"]
        user = profile.user or profile.steward.user
        token, secret = model_class.objects.create(user=user, **fields)
        token.secret = secret
        return token


def bearer(profile: models.Profile, *, scopes: tuple[Scope, ...] = tuple(Scope)) -> dict[str, str]:
    """Return the headers with which a client of the profile calls."""
    token = AccessToken(profile=profile, scopes=[scope.value for scope in scopes])
    return {"Authorization": f"Bearer {token.secret}"}


def principal_of(profile: models.Profile) -> Principal:
    """Return the profile as use cases know it."""
    found = resolve(profile)
    assert found is not None
    return found
