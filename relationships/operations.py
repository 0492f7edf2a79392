"""Writes of knowledge. Each is called inside the transaction of the operation that conducts it.

A change of a record is one `Change`: it appends the transition and then updates the row, so the newest transition
always equals the record.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from densemem.core import limits
from densemem.core.faults import Because, NotThere, Refused
from evidence.queries import count_voices, joins_around
from relationships.identity import semantic_group_key
from relationships.models import (
    CrossReference,
    EvidenceSupport,
    Lineage,
    Observation,
    ObservationResolution,
    ObservationSpan,
    RelationshipRecord,
    SupportDecision,
    Transition,
    VerificationEvent,
)
from relationships.plan import Change, KnowledgePlan, NewObservation, NewSupport, Origin
from relationships.policy import Standing, StepRefused, StoredRecord, check_standing, check_step, reevaluate
from relationships.queries import records_about, records_by_id, records_of_groups, supports_of_fragments
from relationships.search import write_documents
from relationships.vocabulary import Status, SupportAction, Tier


class NotOwned(Refused):
    """The record belongs to another profile of the team."""

    because = Because.FORBIDDEN
    code = "not_owner"


class VersionStale(Refused):
    """The record changed since the caller looked at it."""

    because = Because.STALE
    code = "version_stale"


class FanoutExceeded(Refused):
    """More knowledge depends on the source than one transaction may change; nothing was changed."""

    because = Because.CONFLICT
    code = "source_fanout_exceeded"


def write_knowledge(*, origin: Origin, plan: KnowledgePlan, model: str, response_hash: str, now: datetime) -> None:
    """Write a plan: observations, judgments, records, supports, transitions, references, search documents."""
    team = origin.team_id
    _write_observations(origin, plan.observations, model=model, response_hash=response_hash, now=now)
    _insert_records(origin, plan, now=now)
    _write_resolutions(team, plan.observations, now=now)
    _grant(origin, plan.supports, now=now)
    apply_changes(team_id=team, changes=plan.changes, created={r.id for r in plan.records}, now=now)
    CrossReference.objects.bulk_create(
        CrossReference(
            team_id=team,
            author_id=origin.owner_id,
            source_relationship_id=r.source_id,
            source_version=r.source_version,
            target_relationship_id=r.target_id,
            target_version=r.target_version,
            kind=r.kind,
            verification_id=r.verification_id,
            recorded_at=now,
        )
        for r in plan.references
    )
    Lineage.objects.bulk_create(
        Lineage(
            team_id=team,
            successor_id=x.successor_id,
            predecessor_id=x.predecessor_id,
            kind=x.kind,
            effective_at=x.effective_at,
            recorded_at=now,
        )
        for x in plan.lineage
    )
    write_documents(team_id=team, record_ids={c.relationship_id for c in plan.changes}, now=now)


def apply_changes(
    *, team_id: UUID, changes: Sequence[Change], now: datetime, created: Collection[UUID] = frozenset()
) -> None:
    """Append the transition of each change and bring the rows to the newest one.

    :param created: records whose row was just inserted in its final state
    :raises StepRefused: a step that the table of legal steps does not have
    """
    for change in changes:
        check_standing(tier=change.tier, status=change.status)
        if change.status_before is not None:
            check_step(before=change.status_before, after=change.status)
    Transition.objects.bulk_create(
        Transition(
            team_id=team_id,
            relationship_id=c.relationship_id,
            version=c.version,
            tier_before=c.tier_before,
            status_before=c.status_before,
            tier=c.tier,
            status=c.status,
            held_by_person=c.held_by_person,
            support_count=c.support_count,
            source_group_count=c.source_group_count,
            reason=c.reason,
            verification_id=c.verification_id,
            actor_id=c.actor_id,
            recorded_at=now,
        )
        for c in changes
    )
    last = {c.relationship_id: c for c in changes if c.relationship_id not in created}
    rows = [
        RelationshipRecord(
            id=c.relationship_id,
            tier=c.tier,
            status=c.status,
            held_by_person=c.held_by_person,
            support_count=c.support_count,
            source_group_count=c.source_group_count,
            version=c.version,
        )
        for c in last.values()
    ]
    fields = ["tier", "status", "held_by_person", "support_count", "source_group_count", "version"]
    RelationshipRecord.objects.of_team(team_id).bulk_update(rows, fields)


def revoke_for_fragments(
    *,
    team_id: UUID,
    fragment_ids: Collection[UUID],
    reason: str,
    now: datetime,
    bare: Status = Status.PENDING,
    actor_id: UUID | None = None,
) -> set[UUID]:
    """Revoke every support that cites these fragments, whoever owns it, and judge the records again.

    Returns the records that were touched. This is the named system writer: nobody chooses records here.

    :param bare: what becomes of a record that is left without support
    :param actor_id: the person who decided; None for the server's policy
    :raises FanoutExceeded: before anything is written
    """
    hit = supports_of_fragments(team_id=team_id, fragment_ids=fragment_ids)
    records = {record for _, record in hit}
    if len(hit) > limits.FANOUT_SUPPORTS or len(records) > limits.FANOUT_RECORDS:
        raise FanoutExceeded("Too much knowledge depends on this source to change it at once.")
    locked = records_by_id(team_id=team_id, record_ids=records, lock=True)
    SupportDecision.objects.bulk_create(
        SupportDecision(
            team_id=team_id,
            support_id=support,
            action=SupportAction.REVOKE,
            actor_id=actor_id,
            reason=reason,
            recorded_at=now,
        )
        for support, _ in supports_of_fragments(team_id=team_id, fragment_ids=fragment_ids)
    )
    recompute(team_id=team_id, record_ids={r.id for r in locked}, reason=reason, now=now, bare=bare)
    return records


def retract(*, team_id: UUID, owner_id: UUID, relationship_id: UUID, expected_version: int, now: datetime) -> None:
    """Take one of the caller's records out of recall; its history, evidence and entities stay.

    :raises NotThere: no such record in the team
    :raises NotOwned: it belongs to another profile
    :raises VersionStale: it changed since the caller looked
    :raises StepRefused: it is taken out already
    """
    rows = RelationshipRecord.objects.of_team(team_id).select_for_update().filter(pk=relationship_id)
    row: RelationshipRecord | None = rows.first()
    if row is None:
        raise NotThere
    if row.owner_id != owner_id:
        raise NotOwned("Only the profile that owns a Relationship can forget it. Remember your own evidence instead.")
    if row.version != expected_version:
        raise VersionStale(f"The Relationship is at version {row.version} now. Look at it again, then decide.")
    before = Status(row.status)
    if before is Status.RETRACTED:
        raise StepRefused("This Relationship is forgotten already.")
    change = Change(
        relationship_id=row.id,
        version=row.version + 1,
        tier_before=Tier(row.tier),
        status_before=before,
        tier=Tier(row.tier),
        status=Status.RETRACTED,
        held_by_person=True,
        support_count=row.support_count,
        source_group_count=row.source_group_count,
        reason="forgotten_by_owner",
        actor_id=owner_id,
    )
    apply_changes(team_id=team_id, changes=[change], now=now)
    write_documents(team_id=team_id, record_ids={row.id}, now=now)


def refresh_documents(*, team_id: UUID, entity_ids: Collection[UUID], now: datetime) -> None:
    """Write the search documents of these entities' records anew: they have learned a name to be found by."""
    if entity_ids:
        records = records_about(team_id=team_id, entity_ids=entity_ids)
        write_documents(team_id=team_id, record_ids=records, now=now)


def recompute_for_groups(*, team_id: UUID, groups: Collection[UUID], now: datetime) -> None:
    """Count again the records that rest on groups which were just found to be one voice.

    :raises FanoutExceeded: before anything is written
    """
    around = {g for pair in joins_around(team_id=team_id, groups=groups) for g in pair} | set(groups)
    records = records_of_groups(team_id=team_id, groups=around)
    if len(records) > limits.FANOUT_RECORDS:
        raise FanoutExceeded("Too much knowledge depends on these sources to join them at once.")
    recompute(team_id=team_id, record_ids=records, reason="source_groups_joined", now=now)


def recompute(
    *, team_id: UUID, record_ids: Collection[UUID], reason: str, now: datetime, bare: Status = Status.PENDING
) -> None:
    """Judge records again from the support that counts now. Holds are kept; only their counts change."""
    records = records_by_id(team_id=team_id, record_ids=record_ids, lock=True)
    joins = joins_around(team_id=team_id, groups={s.group_id for r in records for s in r.effective})
    changes = [c for r in records if (c := _recounted(r, joins, reason=reason, bare=bare))]
    apply_changes(team_id=team_id, changes=changes, now=now)
    write_documents(team_id=team_id, record_ids={c.relationship_id for c in changes}, now=now)


def _recounted(
    record: StoredRecord, joins: Collection[tuple[UUID, UUID]], *, reason: str, bare: Status
) -> Change | None:
    """Return the change that brings a record in line with its support, or None when it is."""
    counting = record.effective
    voices = count_voices([s.group_id for s in counting], joins)
    standing: Standing = reevaluate(
        tier=record.tier,
        status=record.status,
        groups=voices,
        authoritative=any(s.authoritative for s in counting),
        bare=bare,
    )
    before = (record.tier, record.status, record.support_count, record.source_group_count)
    if before == (standing.tier, standing.status, len(counting), voices):
        return None
    return Change(
        relationship_id=record.id,
        version=record.version + 1,
        tier_before=record.tier,
        status_before=record.status,
        tier=standing.tier,
        status=standing.status,
        held_by_person=record.held_by_person,
        support_count=len(counting),
        source_group_count=voices,
        reason=reason,
    )


def _write_observations(
    origin: Origin, observations: Sequence[NewObservation], *, model: str, response_hash: str, now: datetime
) -> None:
    """Append what is new of observations and judgments: an item that re-enters brings its earlier ones along."""
    team = origin.team_id
    new = observations if origin.extracted == origin.cycle else ()
    Observation.objects.bulk_create(_observation(origin, o, now=now) for o in new)
    ObservationSpan.objects.bulk_create(
        ObservationSpan(
            team_id=team,
            observation_id=o.id,
            fragment_id=origin.fragment_id,
            position=position,
            start=start,
            end=end,
            recorded_at=now,
        )
        for o in new
        for position, (start, end) in enumerate(o.spans)
    )
    VerificationEvent.objects.bulk_create(
        VerificationEvent(
            id=o.verification_id,
            team_id=team,
            observation_id=o.id,
            cycle=origin.cycle,
            verdict=o.verdict,
            confidence=o.confidence,
            model=model,
            response_hash=response_hash,
            recorded_at=now,
        )
        for o in observations
        if o.judged_in == origin.cycle
    )


def _observation(origin: Origin, o: NewObservation, *, now: datetime) -> Observation:
    return Observation(
        id=o.id,
        team_id=origin.team_id,
        owner_id=origin.owner_id,
        ingest_id=origin.ingest_id,
        fragment_id=origin.fragment_id,
        item_id=origin.item_id,
        cycle=origin.extracted,
        ref=o.ref,
        subject_ref=o.subject_ref,
        object_ref=o.object_ref,
        polarity=o.polarity,
        modality=o.modality,
        valid_from=o.valid_from,
        valid_to=o.valid_to,
        valid_from_precision=o.valid_from_precision,
        valid_to_precision=o.valid_to_precision,
        scope_key=o.scope_key,
        proposal_id=o.proposal_id,
        observed_at=origin.observed_at,
        recorded_at=now,
    )


def _insert_records(origin: Origin, plan: KnowledgePlan, *, now: datetime) -> None:
    """Insert the new records in the state of their last change."""
    last = {c.relationship_id: c for c in plan.changes}
    RelationshipRecord.objects.bulk_create(
        RelationshipRecord(
            id=r.id,
            team_id=origin.team_id,
            owner_id=origin.owner_id,
            subject_entity_id=r.identity.subject_id,
            predicate_key=r.identity.predicate_key,
            object_entity_id=r.identity.object_entity_id,
            object_value_id=r.identity.object_value_id,
            polarity=r.identity.polarity,
            valid_from=r.identity.valid_from,
            valid_to=r.identity.valid_to,
            scope_key=r.identity.scope_key,
            semantic_group_key=semantic_group_key(r.identity),
            valid_from_precision=r.valid_from_precision,
            valid_to_precision=r.valid_to_precision,
            predicate_version=r.behaviour.version,
            relationship_kind=r.behaviour.kind,
            current_cardinality=r.behaviour.cardinality,
            tier=last[r.id].tier,
            status=last[r.id].status,
            held_by_person=last[r.id].held_by_person,
            support_count=last[r.id].support_count,
            source_group_count=last[r.id].source_group_count,
            version=last[r.id].version,
            recorded_at=now,
        )
        for r in plan.records
    )


def _write_resolutions(team_id: UUID, observations: Sequence[NewObservation], *, now: datetime) -> None:
    ObservationResolution.objects.bulk_create(
        ObservationResolution(
            team_id=team_id,
            observation_id=o.id,
            subject_entity_id=o.subject_id,
            object_entity_id=o.object_entity_id,
            object_value_id=o.object_value_id,
            predicate_key=o.predicate.key if o.predicate else "",
            predicate_version=o.predicate.version if o.predicate else None,
            relationship_id=o.relationship_id,
            outcome=o.outcome,
            reason=o.reason,
            recorded_at=now,
        )
        for o in observations
    )


def _grant(origin: Origin, supports: Sequence[NewSupport], *, now: datetime) -> None:
    team = origin.team_id
    EvidenceSupport.objects.bulk_create(
        EvidenceSupport(
            id=s.id,
            team_id=team,
            owner_id=origin.owner_id,
            relationship_id=s.relationship_id,
            observation_id=s.observation_id,
            verification_id=s.verification_id,
            fragment_id=origin.fragment_id,
            group_id=origin.group_id,
            authoritative=origin.authoritative,
            start=s.start,
            end=s.end,
            recorded_at=now,
        )
        for s in supports
        if not s.again
    )
    SupportDecision.objects.bulk_create(
        SupportDecision(
            team_id=team,
            support_id=s.id,
            action=SupportAction.REINSTATE if s.again else SupportAction.GRANT,
            reason="entailed",
            recorded_at=now,
        )
        for s in supports
    )
