"""Records against what follows from their identity, and references against the versions that they name."""

from collections.abc import Iterator, Sequence
from typing import Any

from densemem.audit.report import Check, Difference
from densemem.audit.tables import rows
from densemem.core.words import GONE
from relationships.identity import Identity
from relationships.stored import semantic_group_key
from relationships.vocabulary import Polarity


def group_keys_follow(chunk: Sequence[Any]) -> Iterator[Difference]:
    """The key of the meaning follows from the identity, unless words of the identity were redacted."""
    for row in chunk:
        gone = (row.scope_key or "").startswith(GONE)
        if not gone and row.semantic_group_key != semantic_group_key(_identity(row)):
            yield Difference(row.id, "semantic_group_key does not follow from the identity")


def references_name_real_versions(chunk: Sequence[Any]) -> Iterator[Difference]:
    """A cross-reference names versions that both records have reached."""
    ends = {r.source_relationship_id for r in chunk} | {r.target_relationship_id for r in chunk}
    versions = dict(rows("relationships.RelationshipRecord").filter(pk__in=ends).values_list("id", "version"))
    for row in chunk:
        if row.source_version > versions[row.source_relationship_id]:
            yield Difference(row.id, f"names version {row.source_version} of a source that has not reached it")
        if row.target_version > versions[row.target_relationship_id]:
            yield Difference(row.id, f"names version {row.target_version} of a target that has not reached it")


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
    Check("group_keys_follow_from_identity", RECORDS, group_keys_follow),
    Check("references_name_real_versions", "relationships.CrossReference", references_name_real_versions),
)
