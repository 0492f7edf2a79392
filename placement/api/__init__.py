"""REST: remember, how far it is, and what people decide."""

from placement.api.decisions import Decisions, Inspections, Quarantines, Retractions, Retries
from placement.api.ingests import Ingest, Ingests
from placement.api.redactions import Redaction, Redactions

__all__ = [
    "Decisions",
    "Ingest",
    "Ingests",
    "Inspections",
    "Quarantines",
    "Redaction",
    "Redactions",
    "Retractions",
    "Retries",
]
