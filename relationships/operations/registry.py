"""Writes of the registry."""

from datetime import datetime
from uuid import UUID

from relationships.models import PredicateDefinition
from relationships.policy import PredicateView


def append_definition(*, team_id: UUID, predicate: PredicateView, now: datetime) -> None:
    """Append a version that holds for one team. The caller holds the lock `registry` of the team."""
    PredicateDefinition.objects.create(
        team_id=team_id,
        key=predicate.key,
        version=predicate.version,
        active=list(predicate.active),
        inverse=list(predicate.inverse),
        symmetric=predicate.symmetric,
        subject_kinds=sorted(predicate.subject_kinds),
        object_kinds=sorted(predicate.object_kinds),
        kind=predicate.kind,
        cardinality=predicate.cardinality,
        lifecycle=predicate.lifecycle,
        shelf_days=predicate.shelf_days,
        example=predicate.example,
        recorded_at=now,
    )
