"""Rows for the tests of pages and admin: a team, people, evidence, records and open questions, written straight."""

from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from uuid import uuid4

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.utils import timezone

from densemem import access
from densemem.core.names import fold
from densemem.core.words import Role
from densemem.models import Profile, Team
from entities.models import Entity, Name, ResolutionCandidate, ResolutionEvent
from evidence.models import Content, Fragment, Ingest, Quarantine, SourceGroup, Wording
from placement.models import Item, Run
from relationships.models import (
    CrossReference,
    EvidenceSupport,
    Observation,
    ObservationResolution,
    ObservationSpan,
    RelationshipRecord,
    SupportDecision,
    Transition,
    VerificationEvent,
)
from relationships.search import write_documents
from review.models import Task, TaskEvent
from tests.writing import by_its_owner

NOON = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
PASSWORD = "a quiet harbour"


def team(name: str = "Lumen") -> Team:
    return Team.objects.get(pk=access.create_team(name=name).team_id)


@cache
def hashed() -> str:
    """Hash the password once for all tests: it is slow by design."""
    return make_password(PASSWORD)


def person(of: Team, name: str, *, role: Role = Role.MEMBER) -> Profile:
    """Make a person who signs in with the name in small letters."""
    User.objects.get_or_create(username=name.lower(), defaults={"password": hashed()})
    made = access.create_person(team_id=of.id, name=name, login=name.lower(), powers=access.Powers(role=role))
    return Profile.objects.get(pk=made.profile_id)


def agent(steward: Profile, name: str) -> Profile:
    made = access.create_agent(team_id=steward.team_id, name=name, steward_id=steward.id)
    return Profile.objects.get(pk=made.profile_id)


def superuser() -> User:
    return User.objects.create(username="root", password=hashed(), is_staff=True, is_superuser=True)


def fragment(owner: Profile, text: str, *, held: bool = False, label: str = "Harbour notes") -> Fragment:
    """Store a text with its ingest, run and item."""
    of = {"team_id": owner.team_id}
    ingest = Ingest.objects.create(**of, owner=owner, idempotency_key=uuid4().hex, request_hash=uuid4().hex)
    group, _ = SourceGroup.objects.get_or_create(**of, kind="owner", key=str(owner.id))
    content = Content.objects.create(**of, digest=uuid4().hex, normal_digest=uuid4().hex, text=text)
    made = Fragment.objects.create(
        **of,
        owner=owner,
        ingest=ingest,
        evidence_index=0,
        content=content,
        source_type="document",
        authority="unknown",
        source_label=label,
        group=group,
    )
    run = Run.objects.create(**of, ingest=ingest)
    Item.objects.create(
        **of,
        run=run,
        ingest=ingest,
        owner=owner,
        fragment=made,
        evidence_index=0,
        state="awaiting_review",
        available_at=NOON,
    )
    if held:
        Quarantine.objects.create(**of, fragment=made, status="active", opened_at=NOON)
    return made


def item_of(source: Fragment) -> Item:
    return Item.objects.get(fragment=source)


def entity(source: Fragment, name: str, *, kind: str = "person") -> Entity:
    made = Entity.objects.create(team_id=source.team_id, kind=kind, first_ingest=source.ingest, created_at=NOON)
    Name.objects.create(
        team_id=source.team_id,
        entity=made,
        owner=source.owner,
        kind="canonical",
        display=name,
        key=fold(name),
        fragment=source,
        start=0,
        end=1,
    )
    return made


@by_its_owner
def observation(source: Fragment, quote: str, *, wording: str = "works at") -> Observation:
    """Store a statement of a text with its exact span and its original wording."""
    of = {"team_id": source.team_id}
    made = Observation.objects.create(
        **of,
        owner=source.owner,
        ingest=source.ingest,
        fragment=source,
        item=item_of(source),
        ref=uuid4().hex,
        subject_ref="s",
        polarity="+",
        modality="statement",
        observed_at=NOON,
    )
    start = source.content.text.index(quote)
    ObservationSpan.objects.create(
        **of, observation=made, fragment=source, position=0, start=start, end=start + len(quote)
    )
    Wording.objects.create(**of, fragment=source, of=made.id, kind="predicate", text=wording)
    return made


@by_its_owner
def record(source: Fragment, quote: str, *, subject: str, obj: str, status: str = "active") -> RelationshipRecord:
    """Store a record that rests on one span, with the whole history behind it."""
    of = {"team_id": source.team_id}
    seen = observation(source, quote)
    ends = entity(source, subject), entity(source, obj, kind="organization")
    tier = "validated_claim" if status == "active" else "candidate"
    made = RelationshipRecord.objects.create(
        **of,
        owner=source.owner,
        subject_entity=ends[0],
        predicate_key="works_at",
        object_entity=ends[1],
        polarity="+",
        semantic_group_key=uuid4().hex,
        predicate_version=1,
        relationship_kind="state",
        current_cardinality="many",
        tier=tier,
        status=status,
        support_count=1,
        source_group_count=1,
        recorded_at=NOON,
    )
    judged = VerificationEvent.objects.create(
        **of, observation=seen, verdict="entailed", confidence="0.9500", model="rules", response_hash="0"
    )
    Wording.objects.create(**of, fragment=source, of=judged.id, kind="rationale", text="The span says it outright.")
    ObservationResolution.objects.create(
        **of,
        observation=seen,
        subject_entity=ends[0],
        object_entity=ends[1],
        predicate_key="works_at",
        predicate_version=1,
        relationship=made,
        outcome="relationship_validated_claim",
        reason="single_source",
    )
    _grant(made, seen, judged, source, quote)
    write_documents(team_id=source.team_id, record_ids=[made.id], now=NOON)
    return made


def _grant(made: RelationshipRecord, seen: Observation, judged: Any, source: Fragment, quote: str) -> None:
    of = {"team_id": source.team_id}
    start = source.content.text.index(quote)
    support = EvidenceSupport.objects.create(
        **of,
        owner=source.owner,
        relationship=made,
        observation=seen,
        verification=judged,
        fragment=source,
        group=source.group,
        authoritative=False,
        start=start,
        end=start + len(quote),
    )
    SupportDecision.objects.create(**of, support=support, action="grant", reason="single_source")
    Transition.objects.create(
        **of,
        relationship=made,
        version=1,
        tier=made.tier,
        status=made.status,
        support_count=1,
        source_group_count=1,
        reason="single_source",
        verification=judged,
    )


@by_its_owner
def revoke(known: RelationshipRecord) -> None:
    """Take the support of a record away."""
    for support in EvidenceSupport.objects.filter(relationship=known):
        SupportDecision.objects.create(
            team_id=known.team_id, support=support, action="revoke", reason="source_revision_advanced"
        )


@by_its_owner
def refer(source: RelationshipRecord, target: RelationshipRecord, kind: str) -> None:
    """Let one record say something of another."""
    CrossReference.objects.create(
        team_id=source.team_id,
        author=source.owner,
        source_relationship=source,
        source_version=1,
        target_relationship=target,
        target_version=1,
        kind=kind,
    )


def task(kind: str, source: Fragment, *, reason: str, waited: timedelta = timedelta(hours=3), **about: Any) -> Task:
    """Ask the owner of a text."""
    made = Task.objects.create(
        team_id=source.team_id,
        owner=source.owner,
        kind=kind,
        subject=uuid4().hex,
        reason=reason,
        fragment=source,
        item=item_of(source),
        opened_at=timezone.now() - waited,
        **about,
    )
    TaskEvent.objects.create(team_id=source.team_id, task=made, version=1, status="open", reason=reason)
    return made


@by_its_owner
def identity_task(source: Fragment, surface: str, candidates: list[Entity]) -> Task:
    """Ask which entity a mention means."""
    start = source.content.text.index(surface)
    event = ResolutionEvent.objects.create(
        team_id=source.team_id,
        ingest=source.ingest,
        fragment=source,
        item=item_of(source),
        mention_ref=uuid4().hex,
        kind="person",
        start=start,
        end=start + len(surface),
        action="ambiguous",
        confidence="0.5000",
        reason="not_told_apart",
    )
    for candidate in candidates:
        ResolutionCandidate.objects.create(team_id=source.team_id, event=event, entity=candidate, reason="exact_key")
    return task("identity_needs_review", source, reason="not_told_apart", resolution=event)


def predicate_task(source: Fragment, quote: str, wording: str) -> Task:
    """Ask what a wording means."""
    seen = observation(source, quote, wording=wording)
    return task("predicate_needs_review", source, reason="predicate_not_registered", observation=seen)


def conflict_task(source: Fragment, mine: RelationshipRecord, rival: RelationshipRecord) -> Task:
    """Ask which of two records holds."""
    return task("relationship_needs_review", source, reason="conflict_held", relationship=mine, rival=rival)


def held_task(owner: Profile, text: str) -> Task:
    """Ask a manager about a text that is held."""
    return task("policy_needs_review", fragment(owner, text, held=True), reason="evidence_held")
