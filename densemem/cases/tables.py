"""What the tables hold after a step: counts under the names that cases use, and one fingerprint of everything."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from django.apps import apps
from django.db import connection

# A case counts rows by the name of the specification.
NAMED: Final[Mapping[str, tuple[str, str]]] = {
    "KnowledgeIngest": ("evidence.Ingest", ""),
    "EvidenceFragment": ("evidence.Fragment", ""),
    "EvidenceSecurityEvent": ("evidence.SecurityEvent", "decision <> 'pass'"),
    "Entity": ("entities.Entity", ""),
    "Value": ("entities.Value", ""),
    "PlacementRun": ("placement.Run", ""),
    "queue entries": ("placement.Item", ""),
    "RelationshipRecord": ("relationships.RelationshipRecord", ""),
    "SemanticEdge": ("relationships.SemanticEdge", ""),
    "RelationshipObservation": ("relationships.Observation", ""),
    "VerificationEvent": ("relationships.VerificationEvent", ""),
    "EvidenceSupport": ("relationships.EvidenceSupport", ""),
    "SupportDecision": ("relationships.SupportDecision", ""),
    "LifecycleTransition": ("relationships.Transition", ""),
    "CrossReference": ("relationships.CrossReference", ""),
    "search_documents": ("relationships.SearchDocument", ""),
    "ReviewTask": ("review.Task", ""),
}
OURS: Final = ("evidence", "entities", "relationships", "review", "placement")
TELEMETRY: Final = ("placement.Attempt",)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The tables at one moment; two equal fingerprints mean that no durable row differs."""

    counts: Mapping[str, int]
    fingerprint: str


def take_snapshot() -> Snapshot:
    """Look at all tables of the product, telemetry of model calls aside."""
    return Snapshot(_counts(), _fingerprint())


def _counts() -> dict[str, int]:
    parts, names = [], []
    for name, (label, condition) in NAMED.items():
        table = apps.get_model(label)._meta.db_table
        parts.append(f'SELECT count(*) FROM "{table}"' + (f" WHERE {condition}" if condition else ""))
        names.append(name)
    return dict(zip(names, _run(parts), strict=True))


def _fingerprint() -> str:
    return " ".join(str(found) for found in _run(_prints()))


@cache
def _prints() -> list[str]:
    models = [m for app in OURS for m in apps.get_app_config(app).get_models() if m._meta.managed]
    tables = [m._meta.db_table for m in models if m._meta.label not in TELEMETRY]
    one = "SELECT count(*) || ' ' || coalesce(md5(string_agg(t::text, '|' ORDER BY t::text)), '') FROM \"{}\" t"
    return [one.format(table) for table in tables]


def _run(queries: list[str]) -> list[int]:
    # Numbered, since a union may answer in any order.
    numbered = [f"SELECT {number}, ({query})" for number, query in enumerate(queries)]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(numbered) + " ORDER BY 1")
        return [value for _, value in cursor.fetchall()]
