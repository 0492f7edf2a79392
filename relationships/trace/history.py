"""What happened to a record: decisions on its supports, its versions, what others say of it, what took its place."""

from collections.abc import Collection
from uuid import UUID

from django.db.models import Q

from densemem import models as access
from densemem.core import limits
from relationships.models import CrossReference, Lineage, RelationshipRecord, SupportDecision, Transition
from relationships.search import Claim, Profile, claims_of
from relationships.trace.shapes import Decision, Listed, Reference, Step, Succession

MOST = limits.TRACE_ITEMS + 1


def decisions_of(record: RelationshipRecord) -> Listed[Decision]:
    """Return what was decided about the supports of a record."""
    rows = SupportDecision.objects.of_team(record.team_id).filter(support__relationship=record)
    newest = rows.select_related("actor").order_by("-seq")[:MOST]
    return Listed.of([Decision(r.support_id, r.action, r.reason, _actor(r.actor), r.recorded_at) for r in newest])


def transitions_of(record: RelationshipRecord) -> Listed[Step]:
    """Return the versions of a record."""
    rows = Transition.objects.of_team(record.team_id).filter(relationship=record)
    return Listed.of([_step(row) for row in rows.select_related("actor").order_by("-seq")[:MOST]])


def references_of(record: RelationshipRecord) -> Listed[Reference]:
    """Return what the record says of others, and what others say of it."""
    either = Q(source_relationship=record) | Q(target_relationship=record)
    rows = CrossReference.objects.of_team(record.team_id).filter(either).select_related("author")
    newest = list(rows.order_by("-seq")[:MOST])
    ends = {end for r in newest for end in (r.source_relationship_id, r.target_relationship_id)}
    claims = _claims(record.team_id, ends - {record.id})
    return Listed.of([_reference(row, record.id, claims) for row in newest])


def lineage_of(record: RelationshipRecord) -> Listed[Succession]:
    """Return which records this one replaced, and which replaced it."""
    either = Q(successor=record) | Q(predecessor=record)
    newest = list(Lineage.objects.of_team(record.team_id).filter(either).order_by("-seq")[:MOST])
    claims = _claims(record.team_id, {end for r in newest for end in (r.successor_id, r.predecessor_id)} - {record.id})
    return Listed.of([_succession(row, record.id, claims) for row in newest])


def _claims(team_id: UUID, record_ids: Collection[UUID]) -> dict[UUID, Claim]:
    rows = RelationshipRecord.objects.of_team(team_id).filter(pk__in=record_ids).select_related("owner")
    return {claim.relationship_id: claim for claim in claims_of(team_id=team_id, rows=list(rows))}


def _actor(profile: access.Profile | None) -> Profile | None:
    return Profile(profile.id, profile.name) if profile else None


def _step(row: Transition) -> Step:
    return Step(
        version=row.version,
        tier_before=row.tier_before,
        status_before=row.status_before,
        tier=row.tier,
        status=row.status,
        support_count=row.support_count,
        source_group_count=row.source_group_count,
        reason=row.reason,
        verification_id=row.verification_id,
        actor=_actor(row.actor),
        recorded_at=row.recorded_at,
    )


def _reference(row: CrossReference, traced: UUID, claims: dict[UUID, Claim]) -> Reference:
    made = row.source_relationship_id == traced
    return Reference(
        kind=row.kind,
        author=Profile(row.author_id, row.author.name),
        source_relationship_id=row.source_relationship_id,
        source_version=row.source_version,
        target_relationship_id=row.target_relationship_id,
        target_version=row.target_version,
        verification_id=row.verification_id,
        other=claims[row.target_relationship_id if made else row.source_relationship_id],
        recorded_at=row.recorded_at,
    )


def _succession(row: Lineage, traced: UUID, claims: dict[UUID, Claim]) -> Succession:
    return Succession(
        kind=row.kind,
        successor_id=row.successor_id,
        predecessor_id=row.predecessor_id,
        effective_at=row.effective_at,
        other=claims[row.predecessor_id if row.successor_id == traced else row.successor_id],
        recorded_at=row.recorded_at,
    )
