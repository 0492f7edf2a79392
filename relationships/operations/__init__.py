"""Writes of knowledge. Each is called inside the transaction of the operation that conducts it.

A change of a record is one `Change`: it appends the transition and then updates the row, so the newest transition
always equals the record.
"""

from relationships.operations.conflicts import settling
from relationships.operations.knowledge import write_knowledge
from relationships.operations.registry import append_definition
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
from relationships.operations.statements import may_speak, say_not_competing

__all__ = [
    "FanoutExceeded",
    "NotOwned",
    "VersionStale",
    "append_definition",
    "apply_changes",
    "may_speak",
    "recompute_for_groups",
    "refresh_documents",
    "retract",
    "revoke_for_fragments",
    "say_not_competing",
    "settling",
    "write_knowledge",
]
