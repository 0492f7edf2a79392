"""What names, ends, references and lineage say, rebuilt from the resolutions, identities and steps they follow from."""

from collections.abc import Iterator, Sequence
from typing import Any, Final
from uuid import UUID

from densemem.audit.report import Check, Difference
from densemem.audit.tables import grouped, ids, newest, rows
from entities.vocabulary import NameKind, ResolutionAction
from relationships.vocabulary import BY_CORRECTION, CrossReferenceKind, LineageKind, Status

RESOLUTIONS: Final = "entities.ResolutionEvent"
RECORDS: Final = "relationships.RelationshipRecord"
SAME_MEANING: Final = (CrossReferenceKind.CONFIRMS, CrossReferenceKind.ADOPTS)
REASONS: Final = {f"superseded_{kind}": kind for kind in LineageKind} | {BY_CORRECTION: LineageKind.CORRECTED}
ENDS: Final = ("subject_entity_id", "object_entity_id")


def entities_follow_from_resolutions(chunk: Sequence[Any]) -> Iterator[Difference]:
    """An entity was created by the first resolution that chose it, of its kind and first ingest; it has its name."""
    chosen = rows(RESOLUTIONS).filter(entity_id__in=ids(chunk)).order_by("entity_id", "seq").distinct("entity_id")
    first = {event.entity_id: event for event in chosen}
    canonical = rows("entities.Name").filter(entity_id__in=ids(chunk), kind=NameKind.CANONICAL)
    named = set(canonical.values_list("entity_id", flat=True))
    for row in chunk:
        made = first.get(row.id)
        if made is None:
            yield Difference(row.id, "no resolution chose it")
        elif (made.action, made.ingest_id, made.kind) != (ResolutionAction.CREATE, row.first_ingest_id, row.kind):
            yield Difference(row.id, "the resolution that chose it first is no creation of its kind and first ingest")
        if row.id not in named:
            yield Difference(row.id, "has no canonical name")


def observations_mean_what_was_resolved(chunk: Sequence[Any]) -> Iterator[Difference]:
    """An observation has ends that were chosen for its item, and belongs to a record with these ends."""
    last = newest("relationships.ObservationResolution", "observation_id", ids(chunk))
    items = {row.item_id for row in chunk}
    chosen = set(rows(RESOLUTIONS).filter(item_id__in=items).values_list("item_id", "entity_id"))
    known = rows(RECORDS).in_bulk({r.relationship_id for r in last.values() if r.relationship_id})
    for row in chunk:
        meant = last.get(row.id)
        if meant is None:
            yield Difference(row.id, "was never resolved")
            continue
        if any((row.item_id, end) not in chosen for name in ENDS if (end := getattr(meant, name))):
            yield Difference(row.id, "has an end that nobody chose for its item")
        if meant.relationship_id and _meaning(meant) != _meaning(known[meant.relationship_id]):
            yield Difference(row.id, "belongs to a record of another meaning")


def references_follow_from_identities(chunk: Sequence[Any]) -> Iterator[Difference]:
    """A reference confirms or adopts exactly where both records mean the same; it is of two owners."""
    ends = {end for r in chunk for end in (r.source_relationship_id, r.target_relationship_id)}
    known = rows(RECORDS).in_bulk(ends)
    for row in chunk:
        source, target = known[row.source_relationship_id], known[row.target_relationship_id]
        if (source.semantic_group_key == target.semantic_group_key) != (row.kind in SAME_MEANING):
            yield Difference(row.id, f"{row.kind} is not what the identities of its records make it")
        if source.owner_id == target.owner_id:
            yield Difference(row.id, "is of one owner")


def lineage_follows_from_steps(chunk: Sequence[Any]) -> Iterator[Difference]:
    """A record has a lineage for each step that superseded it, of its kind and moment, and no other."""
    steps = rows("relationships.Transition").filter(relationship_id__in=ids(chunk), status=Status.SUPERSEDED)
    left = steps.filter(reason__in=REASONS).exclude(status_before=Status.SUPERSEDED)
    taken = rows("relationships.Lineage").filter(predecessor_id__in=ids(chunk))
    expected = grouped((r, (at, REASONS[why])) for r, at, why in left.values_list(*STEP))
    found = grouped((r, (at, LineageKind(kind))) for r, at, kind in taken.values_list(*SUCCESSION))
    for row in chunk:
        if sorted(expected.get(row.id, [])) != sorted(found.get(row.id, [])):
            yield Difference(row.id, "its lineage is not what its steps say")


STEP: Final = ("relationship_id", "recorded_at", "reason")
SUCCESSION: Final = ("predecessor_id", "recorded_at", "kind")


def _meaning(row: Any) -> tuple[str, frozenset[UUID], UUID | None]:
    """Return predicate and ends; a symmetric predicate has its ends in one order, whoever comes first."""
    return row.predicate_key, frozenset(filter(None, (getattr(row, end) for end in ENDS))), row.object_value_id


CHECKS = (
    Check("entities_follow_from_resolutions", "entities.Entity", entities_follow_from_resolutions),
    Check("observations_mean_what_was_resolved", "relationships.Observation", observations_mean_what_was_resolved),
    Check("references_follow_from_identities", "relationships.CrossReference", references_follow_from_identities),
    Check("lineage_follows_from_steps", RECORDS, lineage_follows_from_steps),
)
