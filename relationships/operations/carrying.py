"""Supports that move from one record of their owner to another: each keeps span, text, source and judgment."""

from collections.abc import Collection, Iterable
from datetime import datetime
from uuid import UUID

from densemem.core.ids import derived_id
from relationships.models import EvidenceSupport, ObservationResolution, SupportDecision
from relationships.policy import Place, StoredRecord, place_of
from relationships.vocabulary import Outcome, SupportAction


def rows_of(record: StoredRecord, places: Collection[Place]) -> list[EvidenceSupport]:
    """Return the supports of a record at these spans, in their order."""
    rows = EvidenceSupport.objects.of_team(record.identity.team_id).filter(relationship_id=record.id).order_by("seq")
    return [row for row in rows if place_of(row) in places]


def id_at(row: EvidenceSupport, record_id: UUID) -> UUID:
    """Return the id that a span's support of a record always has."""
    return derived_id("support", record_id, row.fragment_id, row.start, row.end)


def copied(row: EvidenceSupport, record_id: UUID, *, now: datetime) -> EvidenceSupport:
    """Return the same support of another record."""
    return EvidenceSupport(
        id=id_at(row, record_id),
        team_id=row.team_id,
        owner_id=row.owner_id,
        relationship_id=record_id,
        observation_id=row.observation_id,
        verification_id=row.verification_id,
        fragment_id=row.fragment_id,
        group_id=row.group_id,
        authoritative=row.authoritative,
        start=row.start,
        end=row.end,
        recorded_at=now,
    )


def decided(
    row: EvidenceSupport,
    support_id: UUID,
    action: SupportAction,
    *,
    reason: str,
    now: datetime,
    identity_id: UUID | None = None,
) -> SupportDecision:
    """Return the owner's decision about one support."""
    return SupportDecision(
        team_id=row.team_id,
        support_id=support_id,
        action=action,
        actor_id=row.owner_id,
        identity_id=identity_id,
        reason=reason,
        recorded_at=now,
    )


def read_in(rows: Iterable[EvidenceSupport], old: StoredRecord) -> list[UUID]:
    """Return the observations that these supports were granted for, also of a text that was read anew since."""
    found = list(rows)
    said = ObservationResolution.objects.of_team(old.identity.team_id).filter(
        relationship_id=old.id,
        outcome__in=(Outcome.CLAIM, Outcome.FACT),
        observation__fragment_id__in={row.fragment_id for row in found},
    )
    return sorted({row.observation_id for row in found} | set(said.values_list("observation_id", flat=True)))
