"""REST: remember, how far it is, and what people decide."""

from placement.api.decisions import Decisions, Inspections, Quarantines, Retractions, Retries
from placement.api.ingests import Ingest, Ingests
from placement.api.owners import Corrections, Disputes, Lifts, Reinstatements, Retirements, Verifications, Withdrawals

__all__ = [
    "Corrections",
    "Decisions",
    "Disputes",
    "Ingest",
    "Ingests",
    "Inspections",
    "Lifts",
    "Quarantines",
    "Reinstatements",
    "Retirements",
    "Retractions",
    "Retries",
    "Verifications",
    "Withdrawals",
]
