"""REST: remember, how far it is, and what people decide."""

from placement.api.decisions import Adoptions, Decisions, Inspections, Quarantines, Retractions, Retries
from placement.api.ingests import Ingest, Ingests

__all__ = ["Adoptions", "Decisions", "Ingest", "Ingests", "Inspections", "Quarantines", "Retractions", "Retries"]
