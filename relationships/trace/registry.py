"""The meaning that a record keeps, whatever the registry says today."""

from django.db.models import F, Q

from relationships.models import PredicateDefinition, RelationshipRecord
from relationships.trace.shapes import Meaning


def meaning_of(record: RelationshipRecord) -> Meaning:
    """Return the definition that the record was made with; a team's own comes before a shared one."""
    of_team = Q(team_id=record.team_id) | Q(team_id__isnull=True)
    definitions = PredicateDefinition.objects.filter(
        of_team, key=record.predicate_key, version=record.predicate_version
    )
    definition = definitions.order_by(F("team_id").asc(nulls_last=True)).first()
    return Meaning(
        predicate=record.predicate_key,
        version=record.predicate_version,
        kind=record.relationship_kind,
        cardinality=record.current_cardinality,
        symmetric=bool(definition and definition.symmetric),
        active=tuple(definition.active if definition else ()),
        inverse=tuple(definition.inverse if definition else ()),
    )
