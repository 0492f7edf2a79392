"""What a redaction changes of knowledge: search documents say no words that are gone. Supports are revoked as any."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from densemem.core import limits
from relationships.models import RelationshipRecord, SearchDocument
from relationships.search import write_documents


def lock_records(*, team_id: UUID, record_ids: Collection[UUID]) -> None:
    """Lock records in the order of their ids, so that nobody else writes their search documents meanwhile."""
    rows = RelationshipRecord.objects.of_team(team_id).filter(pk__in=record_ids)
    list(rows.select_for_update().order_by("pk").values_list("pk"))


def rewrite_documents(*, team_id: UUID, record_ids: Collection[UUID], now: datetime) -> int:
    """Write the search documents of these records anew, however many; return how many there were."""
    there = SearchDocument.objects.of_team(team_id).filter(relationship_id__in=record_ids).count()
    ordered = sorted(record_ids)
    for start in range(0, len(ordered), limits.FANOUT_RECORDS):
        write_documents(team_id=team_id, record_ids=ordered[start : start + limits.FANOUT_RECORDS], now=now)
    return int(there)
