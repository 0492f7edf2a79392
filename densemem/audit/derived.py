"""What names, ends, references and lineage say, rebuilt from the resolutions, identities and steps they follow from."""

from collections.abc import Iterator, Sequence
from typing import Any, Final
from uuid import UUID

from densemem.audit.report import Check, Difference
from densemem.audit.tables import grouped, ids, newest, rows
from entities.vocabulary import MemberRole, NameKind, ResolutionAction
from relationships.vocabulary import BY_CORRECTION, CrossReferenceKind, LineageKind, Status

RESOLUTIONS: Final = "entities.ResolutionEvent"
RECORDS: Final = "relationships.RelationshipRecord"
SAME_MEANING: Final = (CrossReferenceKind.CONFIRMS, CrossReferenceKind.ADOPTS)
MEMBERS: Final = "entities.IdentityMember"
BY_IDENTITY: Final = (LineageKind.REKEYED, LineageKind.SPLIT)
REASONS: Final = {f"superseded_{kind}": kind for kind in LineageKind} | {BY_CORRECTION: LineageKind.CORRECTED}
ENDS: Final = ("subject_entity_id", "object_entity_id")


def entities_follow_from_resolutions(chunk: Sequence[Any]) -> Iterator[Difference]:
    """An entity was created by the first resolution that chose it, or by a split; it has its kind, ingest and name."""
    chosen = rows(RESOLUTIONS).filter(entity_id__in=ids(chunk)).order_by("entity_id", "seq").distinct("entity_id")
    first = {event.entity_id: event for event in chosen}
    canonical = rows("entities.Name").filter(entity_id__in=ids(chunk), kind=NameKind.CANONICAL)
    named = set(canonical.values_list("entity_id", flat=True))
    parts = rows(MEMBERS).filter(entity_id__in=ids(chunk), role=MemberRole.CHILD)
    parted = set(parts.values_list("entity_id", "decision_id"))
    for row in chunk:
        made = first.get(row.id)
        if made is None:
            yield Difference(row.id, "no resolution chose it")
        elif (made.ingest_id, made.kind) != (row.first_ingest_id, row.kind) or not (
            made.action == ResolutionAction.CREATE or (row.id, made.identity_id) in parted
        ):
            yield Difference(row.id, "the resolution that chose it first is no creation of its kind and first ingest")
        if row.id not in named:
            yield Difference(row.id, "has no canonical name")


def observations_mean_what_was_resolved(chunk: Sequence[Any]) -> Iterator[Difference]:
    """An observation has ends that were chosen for its item, or that its owner takes these for; its record has them."""
    last = newest("relationships.ObservationResolution", "observation_id", ids(chunk))
    items = {row.item_id for row in chunk}
    chosen = set(rows(RESOLUTIONS).filter(item_id__in=items).values_list("item_id", "entity_id"))
    taken = _taken_for({row.owner_id for row in chunk})
    known = rows(RECORDS).in_bulk({r.relationship_id for r in last.values() if r.relationship_id})
    for row in chunk:
        meant = last.get(row.id)
        if meant is None:
            yield Difference(row.id, "was never resolved")
            continue
        meaning = {end for name in ENDS if (end := getattr(meant, name))}
        if any(not ({(row.item_id, e) for e in _behind(end, taken[row.owner_id])} & chosen) for end in meaning):
            yield Difference(row.id, "has an end that nobody chose for its item")
        if meant.relationship_id and _meaning(meant) != _meaning(known[meant.relationship_id]):
            yield Difference(row.id, "belongs to a record of another meaning")


def _taken_for(owners: set[UUID]) -> dict[UUID, dict[UUID, set[UUID]]]:
    """Return, by profile and survivor, what the merges of the profile that stand took for it, hop by hop."""
    merges = rows(MEMBERS).filter(decision__author_id__in=owners, decision__withdrawal=None)
    survivors = dict(merges.filter(role=MemberRole.SURVIVOR).values_list("decision_id", "entity_id"))
    taken: dict[UUID, dict[UUID, set[UUID]]] = {owner: {} for owner in owners}
    absorbed = merges.filter(role=MemberRole.ABSORBED).values_list("decision__author_id", "decision_id", "entity_id")
    for owner, decision, entity in absorbed:
        taken[owner].setdefault(survivors[decision], set()).add(entity)
    return taken


def _behind(entity: UUID, taken: dict[UUID, set[UUID]]) -> set[UUID]:
    """Return an entity with everything that is taken for it."""
    found, ends = {entity}, [entity]
    while ends:
        more = taken.get(ends.pop(), set()) - found
        found |= more
        ends += more
    return found


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
    """A record has a lineage for each step that superseded it, of its kind and moment, and no other.

    What a decision about who is who left has one for each record that took over, and none where none did.
    """
    steps = rows("relationships.Transition").filter(relationship_id__in=ids(chunk), status=Status.SUPERSEDED)
    left = steps.filter(reason__in=REASONS).exclude(status_before=Status.SUPERSEDED)
    moved = set(steps.filter(identity__isnull=False).values_list("relationship_id", "recorded_at"))
    every = rows("relationships.Lineage").filter(predecessor_id__in=ids(chunk))
    taken = every.exclude(kind__in=BY_IDENTITY)
    parted = grouped((r, at) for r, at in every.filter(kind__in=BY_IDENTITY).values_list(*SUCCESSION[:2]))
    expected = grouped((r, (at, REASONS[why])) for r, at, why in left.values_list(*STEP))
    found = grouped((r, (at, LineageKind(kind))) for r, at, kind in taken.values_list(*SUCCESSION))
    for row in chunk:
        strange = any((row.id, at) not in moved for at in parted.get(row.id, []))
        if strange or sorted(expected.get(row.id, [])) != sorted(found.get(row.id, [])):
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
