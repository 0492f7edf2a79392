"""What people decide: one function for each, whatever the door ("Client Review"; "Decisions", who decides, 22 to 24).

A decision is recorded with its author. It never edits an edge: the item that it answers goes back to its worker, and
policy decides with the answer as a given. Locks are taken in the one order of all writes: items, sources, groups,
records, questions.
"""

from placement.decide.answer import decide
from placement.decide.desk import Decided, DecisionRefused, EvidenceUnusable
from placement.decide.redact import Receipt, Redacted, get_redaction, redact
from placement.decide.unasked import Inspected, forget, inspect, quarantine, retry

__all__ = [
    "Decided",
    "DecisionRefused",
    "EvidenceUnusable",
    "Inspected",
    "Receipt",
    "Redacted",
    "decide",
    "forget",
    "get_redaction",
    "inspect",
    "quarantine",
    "redact",
    "retry",
]
