"""What people decide: one function for each, whatever the door ("Client Review"; "Decisions", who decides, 22 to 24).

A decision is recorded with its author. It never edits an edge: the item that it answers goes back to its worker, and
policy decides with the answer as a given. Locks are taken in the one order of all writes: items, sources, groups,
records, questions.
"""

from placement.decide.again import verify_again
from placement.decide.answer import decide
from placement.decide.corrections import correct_relationship
from placement.decide.desk import Decided, DecisionRefused, EvidenceUnusable
from placement.decide.holds import dispute, lift
from placement.decide.supports import reinstate_support, retire_evidence
from placement.decide.unasked import Inspected, forget, inspect, quarantine, retry
from placement.decide.withdrawals import withdraw_decision

__all__ = [
    "Decided",
    "DecisionRefused",
    "EvidenceUnusable",
    "Inspected",
    "correct_relationship",
    "decide",
    "dispute",
    "forget",
    "inspect",
    "lift",
    "quarantine",
    "reinstate_support",
    "retire_evidence",
    "retry",
    "verify_again",
    "withdraw_decision",
]
