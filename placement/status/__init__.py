"""How far remembered evidence is, and what its team can do about it ("Processing And Search State")."""

from placement.status.listing import IngestSummary, list_ingests
from placement.status.reading import IngestView, ItemView, get_placement

__all__ = ["IngestSummary", "IngestView", "ItemView", "get_placement", "list_ingests"]
