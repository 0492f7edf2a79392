"""Writes of knowledge. Each is called inside the transaction of the operation that conducts it.

A change of a record is one `Change`: it appends the transition and then updates the row, so the newest transition
always equals the record.
"""

from relationships.operations.amendment import amend
from relationships.operations.conflicts import settling
from relationships.operations.holds import dispute, lift, retract
from relationships.operations.knowledge import write_knowledge
from relationships.operations.meeting import MeetsAnother, NotOwned, VersionStale, check_own
from relationships.operations.redaction import lock_records, rewrite_documents
from relationships.operations.registry import append_definition
from relationships.operations.standing import (
    FanoutExceeded,
    apply_changes,
    can_recount,
    recompute_for_groups,
    refresh_documents,
    revoke_for_fragments,
)
from relationships.operations.statements import may_speak, say_not_competing
from relationships.operations.supports import reinstate
from relationships.operations.withdrawal import withdraw

__all__ = [
    "FanoutExceeded",
    "MeetsAnother",
    "NotOwned",
    "VersionStale",
    "amend",
    "append_definition",
    "apply_changes",
    "check_own",
    "dispute",
    "lift",
    "lock_records",
    "may_speak",
    "can_recount",
    "recompute_for_groups",
    "refresh_documents",
    "reinstate",
    "retract",
    "revoke_for_fragments",
    "rewrite_documents",
    "say_not_competing",
    "settling",
    "withdraw",
    "write_knowledge",
]
