"""Knowledge in the admin: records and every ledger behind them, to be read."""

from densemem.admin import show
from relationships.models import (
    ConflictCase,
    ConflictEvent,
    ConflictPosition,
    ConflictStatement,
    CrossReference,
    EvidenceSupport,
    Lineage,
    Observation,
    ObservationResolution,
    ObservationSpan,
    PredicateDefinition,
    RelationshipRecord,
    SearchDocument,
    SupportDecision,
    Transition,
    VerificationEvent,
)

show(
    PredicateDefinition,
    columns=("key", "version", "kind", "cardinality", "lifecycle", "recorded_at"),
    search=("key",),
    filters=("kind", "cardinality", "lifecycle", "recorded_at"),
)
show(
    RelationshipRecord,
    columns=("owner", "predicate_key", "polarity", "tier", "status", "version", "recorded_at"),
    search=("predicate_key", "subject_entity__id__exact", "object_entity__id__exact"),
    filters=("tier", "status", "recorded_at"),
)
show(
    Transition,
    columns=("relationship", "version", "tier", "status", "reason", "recorded_at"),
    search=("relationship__id__exact",),
    filters=("tier", "status", "recorded_at"),
)
show(
    EvidenceSupport,
    columns=("relationship", "fragment", "start", "end", "recorded_at"),
    search=("relationship__id__exact", "fragment__id__exact"),
    filters=("authoritative", "recorded_at"),
)
show(
    SupportDecision,
    columns=("support", "action", "reason", "actor", "recorded_at"),
    search=("support__id__exact",),
    filters=("action", "recorded_at"),
)
show(
    Observation,
    columns=("owner", "fragment", "polarity", "modality", "recorded_at"),
    search=("fragment__id__exact", "item__id__exact"),
    filters=("polarity", "modality", "recorded_at"),
)
show(
    ObservationSpan,
    columns=("observation", "fragment", "start", "end", "recorded_at"),
    search=("observation__id__exact", "fragment__id__exact"),
    filters=("recorded_at",),
)
show(
    ObservationResolution,
    columns=("observation", "predicate_key", "relationship", "outcome", "reason", "recorded_at"),
    search=("observation__id__exact", "relationship__id__exact"),
    filters=("outcome", "recorded_at"),
)
show(
    VerificationEvent,
    columns=("observation", "verdict", "confidence", "model", "recorded_at"),
    search=("observation__id__exact",),
    filters=("verdict", "model", "recorded_at"),
)
show(
    CrossReference,
    columns=("author", "kind", "source_relationship", "target_relationship", "recorded_at"),
    search=("source_relationship__id__exact", "target_relationship__id__exact"),
    filters=("kind", "recorded_at"),
)
show(
    Lineage,
    columns=("kind", "successor", "predecessor", "effective_at", "recorded_at"),
    search=("successor__id__exact", "predecessor__id__exact"),
    filters=("kind", "recorded_at"),
)
show(
    ConflictCase,
    columns=("status", "reason", "version", "opened_at", "closed_at", "merged_into"),
    filters=("status", "reason", "opened_at"),
)
show(
    ConflictPosition,
    columns=("case", "version", "semantic_group_key", "recorded_at"),
    search=("case__id__exact", "semantic_group_key"),
    filters=("recorded_at",),
)
show(
    ConflictEvent,
    columns=("case", "version", "kind", "status", "reason", "recorded_at"),
    search=("case__id__exact",),
    filters=("kind", "status", "recorded_at"),
)
show(
    ConflictStatement,
    columns=("case", "version", "owner", "relationship", "decision", "recorded_at"),
    search=("case__id__exact", "relationship__id__exact"),
    filters=("recorded_at",),
)
# Derived text may copy words of evidence that is held by now.
show(
    SearchDocument,
    columns=("relationship", "source_version", "eligible", "search_state", "written_at"),
    search=("relationship__id__exact",),
    filters=("eligible", "search_state", "written_at"),
    hidden=("text", "terms"),
)
