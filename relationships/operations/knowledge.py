"""What a plan writes: observations, judgments, records, supports, references."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from densemem.db.insert import insert
from relationships.models import (
    CrossReference,
    EvidenceSupport,
    Lineage,
    Observation,
    ObservationResolution,
    ObservationSpan,
    RelationshipRecord,
    SupportDecision,
    VerificationEvent,
)
from relationships.operations.conflicts import settling, touch
from relationships.operations.standing import apply_changes
from relationships.plan import Change, KnowledgePlan, NewObservation, NewRecord, NewSupport, Origin
from relationships.stored import semantic_group_key
from relationships.vocabulary import AGAINST, SupportAction


def write_knowledge(*, origin: Origin, plan: KnowledgePlan, model: str, response_hash: str, now: datetime) -> None:
    """Write a plan: observations, judgments, records, supports, transitions, references.

    The search documents of what changed are the caller's, once all of it is written.
    """
    with settling(team_id=origin.team_id, now=now):
        _write(origin, plan, model=model, response_hash=response_hash, now=now)
        against = [(r.source_id, r.target_id) for r in plan.references if r.kind in AGAINST]
        touch(team_id=origin.team_id, now=now, against=against)


def _write(origin: Origin, plan: KnowledgePlan, *, model: str, response_hash: str, now: datetime) -> None:
    team = origin.team_id
    _write_observations(origin, plan.observations, model=model, response_hash=response_hash, now=now)
    insert_records(team_id=team, owner_id=origin.owner_id, records=plan.records, changes=plan.changes, now=now)
    _write_resolutions(team, plan.observations, now=now)
    _grant(origin, plan.supports, now=now)
    _revoke(origin, plan.revoked, now=now)
    apply_changes(team_id=team, changes=plan.changes, created={r.id for r in plan.records}, now=now)
    insert(
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
    lineage = [
        Lineage(
            team_id=team,
            successor_id=x.successor_id,
            predecessor_id=x.predecessor_id,
            kind=x.kind,
            effective_at=x.effective_at,
            recorded_at=now,
        )
        for x in plan.lineage
    ]
    insert(lineage)


def _write_observations(
    origin: Origin, observations: Sequence[NewObservation], *, model: str, response_hash: str, now: datetime
) -> None:
    """Append what is new of observations and judgments: an item that re-enters brings its earlier ones along."""
    team = origin.team_id
    new = observations if origin.extracted == origin.cycle else ()
    insert(_observation(origin, o, now=now) for o in new)
    insert(
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
    insert(
        VerificationEvent(
            id=o.verification_id,
            team_id=team,
            observation_id=o.id,
            cycle=origin.cycle,
            verdict=o.verdict,
            confidence=o.confidence,
            model=model,
            response_hash=response_hash,
            reason=o.asked_because,
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


def insert_records(
    *, team_id: UUID, owner_id: UUID, records: Sequence[NewRecord], changes: Sequence[Change], now: datetime
) -> None:
    """Insert the new records in the state of their last change."""
    last = {c.relationship_id: c for c in changes}
    insert(
        RelationshipRecord(
            id=r.id,
            team_id=team_id,
            owner_id=owner_id,
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
        for r in records
    )


def _write_resolutions(team_id: UUID, observations: Sequence[NewObservation], *, now: datetime) -> None:
    insert(
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
    insert(
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
    insert(
        SupportDecision(
            team_id=team,
            support_id=s.id,
            action=SupportAction.REINSTATE if s.again else SupportAction.GRANT,
            reason="entailed",
            recorded_at=now,
        )
        for s in supports
    )


def _revoke(origin: Origin, supports: Sequence[UUID], *, now: datetime) -> None:
    """Revoke what a further judgment took the ground from; its owner asked for that judgment."""
    insert(
        SupportDecision(
            team_id=origin.team_id,
            support_id=support,
            action=SupportAction.REVOKE,
            actor_id=origin.owner_id,
            reason="verified_again",
            recorded_at=now,
        )
        for support in supports
    )
