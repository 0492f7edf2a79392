"""What people decide: one function for each, whatever the door ("Client Review"; "Decisions", who decides, 22 to 24).

A decision is recorded with its author. It never edits an edge: the item that it answers goes back to its worker, and
policy decides with the answer as a given. Locks are taken in the one order of all writes: items, sources, groups,
records, questions.
"""

from placement.decide.adopt import adopt
from placement.decide.again import verify_again
from placement.decide.answer import decide
from placement.decide.conflicts import state_not_competing
from placement.decide.corrections import correct_relationship
from placement.decide.desk import Decided, DecisionRefused, EvidenceUnusable
from placement.decide.holds import dispute, lift
from placement.decide.identity import IdentityImpact, ImpactStale, decide_identity, preview_identity
from placement.decide.names import rename
from placement.decide.redact import Receipt, Redacted, get_redaction, redact
from placement.decide.registry import RegistryDecided, change_lifecycle, register_predicate, register_wording
from placement.decide.supports import reinstate_support, retire_evidence
from placement.decide.unasked import Inspected, forget, inspect, quarantine, retry
from placement.decide.withdrawals import withdraw_decision

__all__ = [
    "Decided",
    "DecisionRefused",
    "EvidenceUnusable",
    "IdentityImpact",
    "ImpactStale",
    "Inspected",
    "Receipt",
    "Redacted",
    "RegistryDecided",
    "adopt",
    "change_lifecycle",
    "correct_relationship",
    "decide",
    "decide_identity",
    "dispute",
    "forget",
    "get_redaction",
    "inspect",
    "lift",
    "preview_identity",
    "quarantine",
    "redact",
    "register_predicate",
    "register_wording",
    "rename",
    "reinstate_support",
    "retire_evidence",
    "retry",
    "state_not_competing",
    "verify_again",
    "withdraw_decision",
]
