"""What was said: ingests, texts, fragments and sources."""

from datetime import UTC, datetime
from typing import Any

import factory
from django.conf import settings

from densemem.core.canonical import digest, keyed_digest
from evidence import models
from evidence.policy import normal_text
from evidence.vocabulary import (
    Authority,
    GroupKind,
    QuarantineStatus,
    SecurityDecision,
    SecurityEventKind,
    SourceType,
)
from tests.factories.access import Profile, Team

RECORDED = datetime(2026, 3, 2, 9, tzinfo=UTC)
KEY = settings.CONTENT_KEY.encode()


class Ingest(factory.django.DjangoModelFactory):
    class Meta:
        model = models.Ingest

    team = factory.SubFactory(Team)
    owner = factory.SubFactory(Profile, team=factory.SelfAttribute("..team"))
    idempotency_key = factory.Sequence(lambda n: f"key-{n}")
    request_hash = factory.LazyAttribute(lambda o: digest(o.idempotency_key))
    recorded_at = RECORDED


class Content(factory.django.DjangoModelFactory):
    """A text, once a team."""

    class Meta:
        model = models.Content
        django_get_or_create = ("team", "digest")

    team = factory.SubFactory(Team)
    text = factory.Sequence(lambda n: f"Text number {n}.")
    digest = factory.LazyAttribute(lambda o: keyed_digest(KEY, o.text))
    normal_digest = factory.LazyAttribute(lambda o: keyed_digest(KEY, normal_text(o.text)))
    recorded_at = RECORDED


class SourceGroup(factory.django.DjangoModelFactory):
    class Meta:
        model = models.SourceGroup
        django_get_or_create = ("team", "kind", "key")

    team = factory.SubFactory(Team)
    kind = GroupKind.SOURCE
    key = factory.Sequence(lambda n: f"group-{n}")
    recorded_at = RECORDED


class Source(factory.django.DjangoModelFactory):
    """A source with one current revision, `r1`."""

    class Meta:
        model = models.Source
        skip_postgeneration_save = True

    team = factory.SubFactory(Team)
    owner = factory.SubFactory(Profile, team=factory.SelfAttribute("..team"))
    source_key = factory.Sequence(lambda n: f"source-{n}")
    group = factory.SubFactory(
        SourceGroup,
        team=factory.SelfAttribute("..team"),
        key=factory.LazyAttribute(lambda o: f"{o.factory_parent.owner.id}:{o.factory_parent.source_key}"),
    )
    created_at = RECORDED

    @factory.post_generation
    def revision(self, create: bool, token: str | None, **fields: Any) -> None:
        made = SourceRevision(team=self.team, source=self, token=token or "r1", ingest__owner=self.owner)
        self.current_revision = made
        self.save(update_fields=["current_revision"])


class SourceRevision(factory.django.DjangoModelFactory):
    class Meta:
        model = models.SourceRevision

    team = factory.SelfAttribute("source.team")
    source = factory.SubFactory(Source)
    token = factory.Sequence(lambda n: f"r{n + 2}")
    previous = factory.SelfAttribute("source.current_revision")
    content_hash = factory.LazyAttribute(lambda o: digest(o.token))
    ingest = factory.SubFactory(Ingest, team=factory.SelfAttribute("..team"))
    recorded_at = RECORDED


class Fragment(factory.django.DjangoModelFactory):
    """One unkeyed text of a profile; give `text`, or a `source` to key it to the source's current revision."""

    class Meta:
        model = models.Fragment
        exclude = ("text",)

    team = factory.SubFactory(Team)
    owner = factory.SubFactory(Profile, team=factory.SelfAttribute("..team"))
    text = factory.Sequence(lambda n: f"Fragment number {n}.")
    ingest = factory.SubFactory(Ingest, team=factory.SelfAttribute("..team"), owner=factory.SelfAttribute("..owner"))
    evidence_index = factory.LazyAttribute(lambda o: o.ingest.fragments.count())
    content = factory.SubFactory(Content, team=factory.SelfAttribute("..team"), text=factory.SelfAttribute("..text"))
    source_type = SourceType.DOCUMENT
    authority = Authority.PRIMARY
    source = None
    revision = factory.LazyAttribute(lambda o: o.source.current_revision if o.source else None)
    group = factory.LazyAttribute(lambda o: o.source.group if o.source else group_of(o.owner))
    recorded_at = RECORDED


class Quarantine(factory.django.DjangoModelFactory):
    """An active hold with the scan event that opened it."""

    class Meta:
        model = models.Quarantine
        skip_postgeneration_save = True

    team = factory.SelfAttribute("fragment.team")
    fragment = factory.SubFactory(Fragment)
    status = QuarantineStatus.ACTIVE
    opened_at = RECORDED

    @factory.post_generation
    def event(self, create: bool, extracted: Any, **fields: Any) -> None:
        models.SecurityEvent.objects.create(
            team=self.team,
            fragment=self.fragment,
            kind=SecurityEventKind.SCAN,
            decision=SecurityDecision.QUARANTINE,
            recorded_at=RECORDED,
        )


def group_of(owner: Any) -> models.SourceGroup:
    """Return the group of all unkeyed texts of a profile."""
    return SourceGroup(team=owner.team, kind=GroupKind.OWNER, key=str(owner.id))
