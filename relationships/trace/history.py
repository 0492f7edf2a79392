"""What happened to a record: decisions on its supports, its versions, what others say of it, what took its place."""

from collections.abc import Collection, Sequence
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet

from densemem import models as access
from relationships.models import CrossReference, Lineage, RelationshipRecord, SupportDecision, Transition
from relationships.search import Claim, Profile, claims_of
from relationships.trace.paged import Asked, Kind
from relationships.trace.shapes import Decision, Reference, Step, Succession


def _decisions(asked: Asked) -> QuerySet[SupportDecision]:
    rows = SupportDecision.objects.of_team(asked.team_id).filter(support__relationship=asked.record)
    return rows.known_by(asked.known_at).select_related("actor")


def _transitions(asked: Asked) -> QuerySet[Transition]:
    rows = Transition.objects.of_team(asked.team_id).filter(relationship=asked.record)
    return rows.known_by(asked.known_at).select_related("actor")


def _references(asked: Asked) -> QuerySet[CrossReference]:
    """Return what the record says of others, and what others say of it."""
    either = Q(source_relationship=asked.record) | Q(target_relationship=asked.record)
    rows = CrossReference.objects.of_team(asked.team_id).filter(either)
    return rows.known_by(asked.known_at).select_related("author")


def _lineage(asked: Asked) -> QuerySet[Lineage]:
    """Return which records this one replaced, and which replaced it."""
    either = Q(successor=asked.record) | Q(predecessor=asked.record)
    return Lineage.objects.of_team(asked.team_id).filter(either).known_by(asked.known_at)


def _shown_decisions(_: Asked, rows: Sequence[SupportDecision]) -> list[Decision]:
    return [Decision(r.support_id, r.action, r.reason, _actor(r.actor), r.recorded_at) for r in rows]


def _shown_references(asked: Asked, rows: Sequence[CrossReference]) -> list[Reference]:
    claims = _claims(asked, {end for r in rows for end in (r.source_relationship_id, r.target_relationship_id)})
    return [_reference(row, asked.record.id, claims) for row in rows]


def _shown_lineage(asked: Asked, rows: Sequence[Lineage]) -> list[Succession]:
    claims = _claims(asked, {end for r in rows for end in (r.successor_id, r.predecessor_id)})
    return [_succession(row, asked.record.id, claims) for row in rows]


def _claims(asked: Asked, record_ids: Collection[UUID]) -> dict[UUID, Claim]:
    """Return the records at the other ends."""
    others = RelationshipRecord.objects.of_team(asked.team_id).filter(pk__in=record_ids).exclude(pk=asked.record.id)
    claims = claims_of(team_id=asked.team_id, rows=list(others.select_related("owner")), known_at=asked.known_at)
    return {claim.relationship_id: claim for claim in claims}


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
        identity_decision_id=row.identity_id,
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


SUPPORT_DECISIONS: Final = Kind(_decisions, _shown_decisions)
TRANSITIONS: Final = Kind(_transitions, lambda _, rows: [_step(row) for row in rows])
REFERENCES: Final = Kind(_references, _shown_references)
LINEAGE: Final = Kind(_lineage, _shown_lineage)
