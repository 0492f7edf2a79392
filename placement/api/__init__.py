"""REST: remember, how far it is, and what people decide."""

from placement.api.decisions import Decisions, Inspections, Quarantines, Retractions, Retries, Statements
from placement.api.ingests import Ingest, Ingests

__all__ = ["Decisions", "Ingest", "Ingests", "Inspections", "Quarantines", "Retractions", "Retries", "Statements"]
