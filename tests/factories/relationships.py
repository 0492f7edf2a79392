"""Records with everything that holds them up, so that the newest ledger rows always equal the record."""

from datetime import datetime
from decimal import Decimal
from typing import Any

import factory
from django.db.models import F

from densemem.core.ids import uuid7
from entities.vocabulary import EntityKind
from evidence.operations import Copied, copy_words
from evidence.vocabulary import WordingKind
from relationships import models
from relationships.operations.conflicts import touch
from relationships.search import claims_of, write_documents
from relationships.stored import identity_of, semantic_group_key
from relationships.vocabulary import (
    AGAINST,
    Cardinality,
    CrossReferenceKind,
    LineageKind,
    Modality,
    Outcome,
    Polarity,
    RelationshipKind,
    Status,
    SupportAction,
    Tier,
    Verdict,
)
from tests.factories.access import Profile, Team
from tests.factories.entities import Entity
from tests.factories.evidence import RECORDED, Fragment, Source
from tests.factories.placement import Item
from tests.writing import writing

VERDICT = {Status.PENDING: Verdict.INSUFFICIENT, Status.REJECTED: Verdict.CONTRADICTED}
OUTCOME = {Status.PENDING: Outcome.PENDING, Status.REJECTED: Outcome.REJECTED, Status.REVIEW: Outcome.REVIEW}
REASON = {Tier.CANDIDATE: "held", Tier.CLAIM: "single_source", Tier.FACT: "independent_sources"}


class RelationshipRecord(factory.django.DjangoModelFactory):
    """An active claim with one support; traits name the other states.

    `support_count` supports are made, each of a source group of its own; what is no longer active was active first.
    `history__text` gives the words of the first support, `history__at` the moment of the steps.
    """

    class Meta:
        model = models.RelationshipRecord
        skip_postgeneration_save = True

    class Params:
        fact = factory.Trait(tier=Tier.FACT, support_count=2)
        pending = factory.Trait(tier=Tier.CANDIDATE, status=Status.PENDING, support_count=0)
        review = factory.Trait(tier=Tier.CANDIDATE, status=Status.REVIEW, support_count=0)
        quarantined = factory.Trait(tier=Tier.CANDIDATE, status=Status.QUARANTINED, support_count=0)
        rejected = factory.Trait(tier=Tier.CANDIDATE, status=Status.REJECTED, support_count=0)
        superseded = factory.Trait(status=Status.SUPERSEDED)
        disputed = factory.Trait(status=Status.DISPUTED, held_by_person=True)
        retracted = factory.Trait(status=Status.RETRACTED, held_by_person=True)

    team = factory.SubFactory(Team)
    owner = factory.SubFactory(Profile, team=factory.SelfAttribute("..team"))
    subject_entity = factory.SubFactory(Entity, team=factory.SelfAttribute("..team"))
    predicate_key = "works_on"
    object_entity = factory.Maybe(
        "object_value",
        yes_declaration=None,
        no_declaration=factory.SubFactory(Entity, team=factory.SelfAttribute("..team"), kind=EntityKind.PROJECT),
    )
    object_value = None
    polarity = Polarity.PLUS
    predicate_version = 1
    relationship_kind = RelationshipKind.STATE
    current_cardinality = Cardinality.MANY
    tier = Tier.CLAIM
    status = Status.ACTIVE
    support_count = 1
    source_group_count = factory.SelfAttribute("support_count")
    version = factory.LazyAttribute(lambda o: 2 if o.support_count and o.status != Status.ACTIVE else 1)
    recorded_at = RECORDED

    @classmethod
    def _create(cls, model_class: Any, *args: Any, **fields: Any) -> models.RelationshipRecord:
        record = model_class(*args, **fields)
        record.semantic_group_key = semantic_group_key(identity_of(record))
        with writing(record.owner_id):
            record.save(force_insert=True)
        return record

    @factory.post_generation
    def history(self, create: bool, extracted: Any, **fields: Any) -> None:
        texts = [fields.get("text"), *[None] * (self.support_count - 1)]
        for number, text in enumerate(texts[: self.support_count]):
            source = Source(team=self.team, owner=self.owner) if number else None
            Support(relationship=self, text=text, source=source)
        if not self.support_count:
            Observation(relationship=self, text=fields.get("text"))
        with writing(self.owner_id):
            _transitions(self, fields.get("at", RECORDED))
        write_documents(team_id=self.team_id, record_ids=[self.id], now=RECORDED)


class Observation(factory.django.DjangoModelFactory):
    """What a text of the record's owner says of a record, judged and resolved; `verification` is the judgment.

    The text is the claim between two other sentences, unless `text` gives it; then all of it is the cited span.
    """

    class Meta:
        model = models.Observation

    relationship = factory.SubFactory(RelationshipRecord)
    owner = factory.SelfAttribute("relationship.owner")
    text = None
    source = None
    ref = "o1"
    subject_ref = "m1"
    object_ref = factory.LazyAttribute(lambda o: "m2" if o.relationship.object_entity_id else "")
    polarity = factory.SelfAttribute("relationship.polarity")
    modality = Modality.STATEMENT
    rationale = "The span says it outright."

    @classmethod
    def _create(cls, model_class: Any, *args: Any, **fields: Any) -> models.Observation:
        record, given, source, rationale = (fields.pop(n) for n in ("relationship", "text", "source", "rationale"))
        text, start, end = _words(record, given)
        fragment = Fragment(team=record.team, owner=fields["owner"], text=text, source=source)
        item = Item(fragment=fragment)
        with writing(record.owner_id):
            observation = model_class.objects.create(
                team=record.team,
                ingest=fragment.ingest,
                fragment=fragment,
                item=item,
                observed_at=RECORDED,
                recorded_at=RECORDED,
                **fields,
            )
            observation.spans.create(
                team=record.team, fragment=fragment, position=0, start=start, end=end, recorded_at=RECORDED
            )
            _judge(observation, record, rationale=rationale)
        return observation


class Support(factory.django.DjangoModelFactory):
    """A granted support of a record, with its observation. It does not count itself into the record."""

    class Meta:
        model = models.EvidenceSupport

    relationship = factory.SubFactory(RelationshipRecord)
    text = None
    source = None

    @classmethod
    def _create(cls, model_class: Any, *args: Any, **fields: Any) -> models.EvidenceSupport:
        record = fields["relationship"]
        observation = Observation(relationship=record, text=fields.pop("text"), source=fields.pop("source"))
        span = observation.spans.get()
        with writing(record.owner_id):
            support = model_class.objects.create(
                team=record.team,
                owner=record.owner,
                observation=observation,
                verification=observation.verification,
                fragment=observation.fragment,
                group=observation.fragment.group,
                authoritative=False,
                start=span.start,
                end=span.end,
                recorded_at=RECORDED,
                **fields,
            )
            support.decisions.create(
                team=record.team, action=SupportAction.GRANT, reason="entailed", recorded_at=RECORDED
            )
        return support


class _Written(factory.django.DjangoModelFactory):
    """A row about a record, written by the record's owner."""

    class Meta:
        abstract = True

    @classmethod
    def _create(cls, model_class: Any, *args: Any, **fields: Any) -> Any:
        record = fields.get("source_relationship") or fields["successor"]
        with writing(record.owner_id):
            return super()._create(model_class, *args, **fields)


class CrossReference(_Written):
    """What one record says of another; a challenge unless told otherwise."""

    class Meta:
        model = models.CrossReference
        skip_postgeneration_save = True

    source_relationship = factory.SubFactory(RelationshipRecord)
    target_relationship = factory.SubFactory(RelationshipRecord, team=factory.SelfAttribute("..team"))
    team = factory.SelfAttribute("source_relationship.team")
    author = factory.SelfAttribute("source_relationship.owner")
    source_version = factory.SelfAttribute("source_relationship.version")
    target_version = factory.SelfAttribute("target_relationship.version")
    kind = CrossReferenceKind.CHALLENGES
    recorded_at = RECORDED

    @factory.post_generation
    def case(self, create: bool, extracted: Any, **fields: Any) -> None:
        if self.kind in AGAINST:
            ends = (self.source_relationship_id, self.target_relationship_id)
            touch(team_id=self.team_id, now=self.recorded_at, against=[ends])


class Lineage(_Written):
    """One record took another's place."""

    class Meta:
        model = models.Lineage

    successor = factory.SubFactory(RelationshipRecord)
    team = factory.SelfAttribute("successor.team")
    predecessor = factory.SubFactory(
        RelationshipRecord, team=factory.SelfAttribute("..team"), owner=factory.SelfAttribute("..successor.owner")
    )
    kind = LineageKind.REPLACED
    effective_at = RECORDED
    recorded_at = RECORDED


def adopted(support: models.EvidenceSupport, *, by: Any, now: datetime = RECORDED) -> models.RelationshipRecord:
    """Return the record of another profile that adopted the evidence of a support: same fragment, same group."""
    theirs = support.relationship
    record: models.RelationshipRecord = RelationshipRecord(
        team=theirs.team,
        owner=Profile._meta.model.objects.get(pk=by),
        subject_entity=theirs.subject_entity,
        predicate_key=theirs.predicate_key,
        object_entity=theirs.object_entity,
        object_value=theirs.object_value,
        pending=True,
    )
    with writing(by):
        observation = models.Observation.objects.get(resolutions__relationship=record)
        observation.spans.create(
            team=record.team,
            fragment=support.fragment,
            position=1,
            start=support.start,
            end=support.end,
            recorded_at=now,
        )
        link = models.EvidenceSupport.objects.create(
            team=record.team,
            owner_id=by,
            relationship=record,
            observation=observation,
            verification=observation.verifications.get(),
            fragment=support.fragment,
            group=support.group,
            authoritative=False,
            start=support.start,
            end=support.end,
            recorded_at=now,
        )
        link.decisions.create(team=record.team, action=SupportAction.GRANT, reason="adopted", recorded_at=now)
        before = (record.tier, record.status)
        record.tier, record.status, record.version = Tier.CLAIM, Status.ACTIVE, 2
        record.support_count = record.source_group_count = 1
        record.save()
        _step(record, before=before, reason="single_source", now=now)
        write_documents(team_id=record.team_id, record_ids=[record.id], now=now)
    return record


def revoke(support: models.EvidenceSupport, *, reason: str = "source_revision_advanced", now: datetime) -> None:
    """Revoke a support and bring its record down with it, as the ledger would."""
    with writing(support.owner_id):
        support.decisions.create(team=support.team, action=SupportAction.REVOKE, reason=reason, recorded_at=now)
        record = models.RelationshipRecord.objects.get(pk=support.relationship_id)
        before = (record.tier, record.status)
        record.support_count -= 1
        record.source_group_count -= 1
        record.version = F("version") + 1
        tiers = {0: (Tier.CANDIDATE, Status.PENDING), 1: (Tier.CLAIM, Status.ACTIVE)}
        record.tier, record.status = tiers.get(record.source_group_count, before)
        record.save()
        record.refresh_from_db()
        _step(record, before=before, reason=reason, now=now)
        write_documents(team_id=record.team_id, record_ids=[record.id], now=now)


def _words(record: models.RelationshipRecord, given: str | None) -> tuple[str, int, int]:
    """Return a text that says what the record holds, and the span that says it."""
    if given is not None:
        return given, 0, len(given)
    sentence = claims_of(team_id=record.team_id, rows=[record])[0].sentence
    opening = f"Note {uuid7().hex[-8:]}. "
    return f"{opening}{sentence}. Nothing else.", len(opening), len(opening) + len(sentence)


def _judge(observation: models.Observation, record: models.RelationshipRecord, *, rationale: str) -> None:
    observation.verification = observation.verifications.create(
        team=record.team,
        verdict=VERDICT.get(record.status, Verdict.ENTAILED),
        confidence=Decimal("0.9000"),
        model="scripted",
        response_hash="0" * 64,
        recorded_at=RECORDED,
    )
    observation.resolutions.create(
        team=record.team,
        subject_entity=record.subject_entity,
        object_entity=record.object_entity,
        object_value=record.object_value,
        predicate_key=record.predicate_key,
        predicate_version=record.predicate_version,
        relationship=record,
        outcome=OUTCOME.get(record.status, Outcome.CLAIM),
        reason=REASON[record.tier],
        recorded_at=RECORDED,
    )
    words = [
        Copied(observation.id, WordingKind.PREDICATE, record.predicate_key.replace("_", " ")),
        Copied(observation.verification.id, WordingKind.RATIONALE, rationale),
    ]
    copy_words(team_id=record.team_id, fragment_id=observation.fragment_id, words=words, now=RECORDED)


def _transitions(record: models.RelationshipRecord, now: datetime) -> None:
    """Append the versions of a new record: active first, if it was ever held up, then what it is now."""
    if record.version == 1:
        return _step(record, before=(None, None), reason=REASON[record.tier], now=now)
    state = (record.status, record.version)
    record.status, record.version = Status.ACTIVE, 1
    _step(record, before=(None, None), reason=REASON[record.tier], now=now)
    record.status, record.version = state
    return _step(record, before=(record.tier, Status.ACTIVE), reason="changed", now=now)


def _step(
    record: models.RelationshipRecord, *, before: tuple[str | None, str | None], reason: str, now: datetime
) -> None:
    record.transitions.create(
        team=record.team,
        version=record.version,
        tier_before=before[0],
        status_before=before[1],
        tier=record.tier,
        status=record.status,
        held_by_person=record.held_by_person and record.status != Status.ACTIVE,
        support_count=record.support_count,
        source_group_count=record.source_group_count,
        reason=reason,
        recorded_at=now,
    )
