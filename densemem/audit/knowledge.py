"""Records against their transitions, and against what identity they must have."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Count

from densemem.audit.report import Check, Difference
from densemem.audit.tables import grouped, ids, newest, rows, unequal
from relationships.identity import Identity, semantic_group_key
from relationships.vocabulary import Polarity, Status, Tier

STATE = ("tier", "status", "held_by_person", "support_count", "source_group_count", "version")
IDENTITY = (
    "team_id",
    "owner_id",
    "subject_entity_id",
    "predicate_key",
    "object_entity_id",
    "object_value_id",
    "polarity",
    "valid_from",
    "valid_to",
    "scope_key",
)


def equal_newest_transition(chunk: Sequence[Any]) -> Iterator[Difference]:
    """A record says what its newest transition says."""
    last = newest("relationships.Transition", "relationship_id", ids(chunk))
    for row in chunk:
        yield from unequal(row, last.get(row.id), STATE)


def transitions_are_whole(chunk: Sequence[Any]) -> Iterator[Difference]:
    """Transitions count 1, 2, 3 in the order of the ledger, and each begins where the one before ended."""
    ledger = rows("relationships.Transition").filter(relationship_id__in=ids(chunk)).order_by("relationship_id", "seq")
    at: dict[UUID, tuple[int, str | None, str | None]] = {}
    for step in ledger.iterator():
        version, tier, status = at.get(step.relationship_id, (0, None, None))
        if step.version != version + 1:
            yield Difference(step.relationship_id, f"transition {step.version} follows {version}")
        if (step.tier_before, step.status_before) != (tier, status):
            began, ended = f"{step.tier_before}/{step.status_before}", f"{tier}/{status}"
            yield Difference(
                step.relationship_id, f"transition {step.version} begins at {began}, the last ended at {ended}"
            )
        at[step.relationship_id] = (step.version, step.tier, step.status)


def identities_are_unique(chunk: Sequence[Any]) -> Iterator[Difference]:
    """No two records of one owner say the same; the database allows it no more than we do."""
    near = rows("relationships.RelationshipRecord").filter(subject_entity_id__in={r.subject_entity_id for r in chunk})
    twice = near.values(*IDENTITY).annotate(times=Count("pk")).filter(times__gt=1)
    doubled = {tuple(row[name] for name in IDENTITY) for row in twice}
    for row in chunk:
        if tuple(getattr(row, name) for name in IDENTITY) in doubled:
            yield Difference(row.id, "another record has the same identity")


def group_keys_follow(chunk: Sequence[Any]) -> Iterator[Difference]:
    """The key of the meaning follows from the identity."""
    for row in chunk:
        if row.semantic_group_key != semantic_group_key(_identity(row)):
            yield Difference(row.id, "semantic_group_key does not follow from the identity")


def no_candidate_is_active(chunk: Sequence[Any]) -> Iterator[Difference]:
    """A candidate never takes part."""
    for row in chunk:
        if row.tier == Tier.CANDIDATE and row.status == Status.ACTIVE:
            yield Difference(row.id, "is a candidate and active")


def references_name_real_versions(chunk: Sequence[Any]) -> Iterator[Difference]:
    """A cross-reference names versions that both records have reached."""
    ends = {r.source_relationship_id for r in chunk} | {r.target_relationship_id for r in chunk}
    versions = dict(rows("relationships.RelationshipRecord").filter(pk__in=ends).values_list("id", "version"))
    for row in chunk:
        if row.source_version > versions[row.source_relationship_id]:
            yield Difference(row.id, f"names version {row.source_version} of a source that has not reached it")
        if row.target_version > versions[row.target_relationship_id]:
            yield Difference(row.id, f"names version {row.target_version} of a target that has not reached it")


def documents_follow(chunk: Sequence[Any]) -> Iterator[Difference]:
    """Recall finds exactly what is active: one document a record, eligible as the record is, never ahead of it."""
    found = rows("relationships.SearchDocument").filter(relationship_id__in=ids(chunk)).defer("text", "terms")
    documents = grouped((d.relationship_id, d) for d in found)
    for row in chunk:
        recallable = row.status == Status.ACTIVE and row.tier in (Tier.CLAIM, Tier.FACT)
        if recallable and row.id not in documents:
            yield Difference(row.id, "is active and has no search document")
        for document in documents.get(row.id, ()):
            if document.eligible != recallable:
                yield Difference(row.id, f"its search document says eligible={document.eligible}")
            if document.source_version > row.version:
                yield Difference(row.id, f"its search document is of version {document.source_version}")


def _identity(row: Any) -> Identity:
    return Identity(
        team_id=row.team_id,
        owner_id=row.owner_id,
        subject_id=row.subject_entity_id,
        predicate_key=row.predicate_key,
        object_entity_id=row.object_entity_id,
        object_value_id=row.object_value_id,
        polarity=Polarity(row.polarity),
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        scope_key=row.scope_key,
    )


RECORDS = "relationships.RelationshipRecord"
CHECKS = (
    Check("records_equal_newest_transition", RECORDS, equal_newest_transition),
    Check("transitions_are_whole", RECORDS, transitions_are_whole),
    Check("no_candidate_is_active", RECORDS, no_candidate_is_active),
    Check("identities_are_unique", RECORDS, identities_are_unique),
    Check("group_keys_follow_from_identity", RECORDS, group_keys_follow),
    Check("search_documents_follow_records", RECORDS, documents_follow),
    Check("references_name_real_versions", "relationships.CrossReference", references_name_real_versions),
)
