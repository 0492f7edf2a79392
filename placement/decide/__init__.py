"""What people decide: one function for each, whatever the door ("Client Review"; "Decisions", who decides, 22 to 24).

A decision is recorded with its author. It never edits an edge: the item that it answers goes back to its worker, and
policy decides with the answer as a given. Locks are taken in the one order of all writes: items, sources, groups,
records, questions.
"""

from placement.decide.adopt import adopt
from placement.decide.answer import decide
from placement.decide.conflicts import state_not_competing
from placement.decide.desk import Decided, DecisionRefused, EvidenceUnusable
from placement.decide.registry import RegistryDecided, change_lifecycle, register_predicate, register_wording
from placement.decide.unasked import Inspected, forget, inspect, quarantine, retry

__all__ = [
    "Decided",
    "DecisionRefused",
    "EvidenceUnusable",
    "Inspected",
    "RegistryDecided",
    "adopt",
    "change_lifecycle",
    "decide",
    "forget",
    "inspect",
    "quarantine",
    "register_predicate",
    "register_wording",
    "retry",
    "state_not_competing",
]
