"""Writes of knowledge. Each is called inside the transaction of the operation that conducts it.

A change of a record is one `Change`: it appends the transition and then updates the row, so the newest transition
always equals the record.
"""

from relationships.operations.knowledge import write_knowledge
from relationships.operations.redaction import lock_records, rewrite_documents
from relationships.operations.standing import (
    FanoutExceeded,
    NotOwned,
    VersionStale,
    apply_changes,
    recompute_for_groups,
    refresh_documents,
    retract,
    revoke_for_fragments,
)

__all__ = [
    "FanoutExceeded",
    "NotOwned",
    "VersionStale",
    "apply_changes",
    "lock_records",
    "recompute_for_groups",
    "refresh_documents",
    "retract",
    "revoke_for_fragments",
    "rewrite_documents",
    "write_knowledge",
]
