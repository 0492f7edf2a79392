"""REST: remember, how far it is, and what people decide."""

from placement.api.decisions import Adoptions, Decisions, Inspections, Quarantines, Retractions, Retries, Statements
from placement.api.ingests import Ingest, Ingests
from placement.api.predicates import Predicate, PredicateAliases, PredicateLifecycle, Predicates

__all__ = [
    "Adoptions",
    "Decisions",
    "Ingest",
    "Ingests",
    "Inspections",
    "Predicate",
    "PredicateAliases",
    "PredicateLifecycle",
    "Predicates",
    "Quarantines",
    "Retractions",
    "Retries",
    "Statements",
]
