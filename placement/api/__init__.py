"""REST: remember, how far it is, and what people decide."""

from placement.api.decisions import Adoptions, Decisions, Inspections, Quarantines, Retractions, Retries, Statements
from placement.api.explanations import IdentityExplanations, MentionExplanations
from placement.api.identity import Identities, Identity, IdentityPreviews
from placement.api.ingests import Ingest, Ingests
from placement.api.names import Names
from placement.api.owners import Corrections, Disputes, Lifts, Reinstatements, Retirements, Verifications, Withdrawals
from placement.api.predicates import Predicate, PredicateAliases, PredicateLifecycle, Predicates
from placement.api.redactions import Redaction, Redactions

__all__ = [
    "Adoptions",
    "Corrections",
    "Decisions",
    "Disputes",
    "Identities",
    "Identity",
    "IdentityExplanations",
    "IdentityPreviews",
    "Ingest",
    "Ingests",
    "Names",
    "Inspections",
    "Lifts",
    "MentionExplanations",
    "Predicate",
    "PredicateAliases",
    "PredicateLifecycle",
    "Predicates",
    "Quarantines",
    "Redaction",
    "Redactions",
    "Reinstatements",
    "Retirements",
    "Retractions",
    "Retries",
    "Statements",
    "Verifications",
    "Withdrawals",
]
