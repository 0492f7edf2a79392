"""Writes of knowledge. Each is called inside the transaction of the operation that conducts it.

A change of a record is one `Change`: it appends the transition and then updates the row, so the newest transition
always equals the record.
"""

from relationships.operations.amendment import amend
from relationships.operations.conflicts import hold_cases_of, lock_cases, settling
from relationships.operations.holds import dispute, lift, retract
from relationships.operations.knowledge import write_knowledge
from relationships.operations.meeting import MeetsAnother, NotOwned, VersionStale, check_own, wait_to_meet
from relationships.operations.redaction import rewrite_documents
from relationships.operations.registry import append_definition
from relationships.operations.release import let_go, wait_to_let_go
from relationships.operations.standing import (
    FanoutExceeded,
    apply_changes,
    can_recount,
    hold_counted_in,
    hold_records,
    hold_resting_on,
    recompute_for_groups,
    refresh_documents,
    revoke_for_fragments,
)
from relationships.operations.statements import may_speak, say_not_competing
from relationships.operations.supports import reinstate
from relationships.operations.withdrawal import CorrectedSince, wait_to_withdraw, withdraw

__all__ = [
    "CorrectedSince",
    "FanoutExceeded",
    "MeetsAnother",
    "NotOwned",
    "VersionStale",
    "amend",
    "append_definition",
    "apply_changes",
    "check_own",
    "dispute",
    "hold_cases_of",
    "hold_counted_in",
    "hold_records",
    "hold_resting_on",
    "let_go",
    "lift",
    "lock_cases",
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
    "wait_to_meet",
    "wait_to_withdraw",
    "withdraw",
    "write_knowledge",
    "wait_to_let_go",
]
