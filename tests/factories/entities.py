"""Entities with their names, and typed values."""

from typing import Any

import factory

from densemem.core.names import lookup_key
from entities import models
from entities.policy import kept_forms
from entities.search import hashed
from entities.vocabulary import EntityKind, NameKind, ValueType
from tests.factories.access import Team
from tests.factories.evidence import RECORDED, Fragment, Ingest


class Entity(factory.django.DjangoModelFactory):
    """An Entity with a canonical name: `Entity(name="Mark", name__aliases=["Marcus"])`."""

    class Meta:
        model = models.Entity
        skip_postgeneration_save = True

    team = factory.SubFactory(Team)
    kind = EntityKind.PERSON
    first_ingest = factory.SubFactory(Ingest, team=factory.SelfAttribute("..team"))
    created_at = RECORDED

    @factory.post_generation
    def name(self, create: bool, display: str | None, **fields: Any) -> None:
        Name(entity=self, kind=NameKind.CANONICAL, version=1, display=display or f"Entity {self.id.hex[-12:]}")
        for alias in fields.get("aliases", ()):
            Name(entity=self, display=alias)


class Name(factory.django.DjangoModelFactory):
    """A name at the beginning of a text that says it; an alias unless told otherwise."""

    class Meta:
        model = models.Name

    entity = factory.SubFactory(Entity)
    team = factory.SelfAttribute("entity.team")
    owner = factory.SelfAttribute("entity.first_ingest.owner")
    kind = NameKind.ALIAS
    display = factory.Sequence(lambda n: f"Alias {n}")
    key = factory.LazyAttribute(lambda o: lookup_key(o.display))
    forms = factory.LazyAttribute(
        lambda o: sorted(hashed(o.team.id, kept_forms(o.display, canonical=o.kind == NameKind.CANONICAL)).values())
    )
    fragment = factory.SubFactory(
        Fragment,
        team=factory.SelfAttribute("..team"),
        owner=factory.SelfAttribute("..owner"),
        ingest=factory.SelfAttribute("..entity.first_ingest"),
        text=factory.LazyAttribute(lambda o: f"{o.factory_parent.display} is there."),
    )
    start = 0
    end = factory.LazyAttribute(lambda o: len(o.display))
    recorded_at = RECORDED


class Identifier(factory.django.DjangoModelFactory):
    """An identifier at the beginning of a text that gives it to an Entity: `Identifier(entity=mara, value="Q42")`."""

    class Meta:
        model = models.Identifier

    entity = factory.SubFactory(Entity)
    team = factory.SelfAttribute("entity.team")
    owner = factory.SelfAttribute("entity.first_ingest.owner")
    scheme = "wikidata"
    value = factory.Sequence(lambda n: f"Q{n + 1000}")
    display = factory.SelfAttribute("value")
    fragment = factory.SubFactory(
        Fragment,
        team=factory.SelfAttribute("..team"),
        owner=factory.SelfAttribute("..owner"),
        text=factory.LazyAttribute(lambda o: f"{o.factory_parent.display} is what it is filed under."),
    )
    start = 0
    end = factory.LazyAttribute(lambda o: len(o.display))
    recorded_at = RECORDED


class Value(factory.django.DjangoModelFactory):
    """A typed value: `Value(type=ValueType.NUMBER, display="12", unit="GB")`."""

    class Meta:
        model = models.Value

    team = factory.SubFactory(Team)
    type = ValueType.TEXT
    display = factory.Sequence(lambda n: f"value {n}")
    unit = None
    canonical = factory.SelfAttribute("display")
    fragment = factory.SubFactory(
        Fragment,
        team=factory.SelfAttribute("..team"),
        text=factory.LazyAttribute(lambda o: f"It reads {o.factory_parent.display}."),
    )
    recorded_at = RECORDED
