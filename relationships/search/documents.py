"""Search documents: what full text finds a record by. They are derived and can be built again at any time."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection

from densemem.core.ids import uuid7
from densemem.core.words import GONE
from densemem.db.read import fetch
from entities.queries import names_of
from entities.stored import absorbed_into
from relationships.identity import claim_sentence
from relationships.queries import PredicateView, ever_registered
from relationships.search.claims import HELD
from relationships.search.terms import document_terms
from relationships.vocabulary import Polarity, SearchState, Status, Tier

READ: Final = """
SELECT record.id, record.version, record.status, record.tier, record.polarity, record.predicate_key,
       record.subject_entity_id, record.object_entity_id, value.display, value.canonical, value.unit, record.owner_id
FROM relationships_relationshiprecord AS record LEFT JOIN entities_value AS value ON value.id = record.object_value_id
WHERE record.team_id = %(team)s AND record.id = ANY(%(records)s)
"""

# The stemmed words find inflected forms; the plain words find names that English would drop, such as Will or IT.
UPSERT: Final = """
INSERT INTO relationships_searchdocument AS kept
  (id, team_id, relationship_id, source_version, document_version, text, terms, eligible, search_state, written_at)
SELECT given.id, %(team)s, given.record, given.version, 1, given.text,
       setweight(to_tsvector('simple', given.names) || to_tsvector('english', given.names), 'A')
       || setweight(to_tsvector('simple', given.predicate) || to_tsvector('english', given.predicate), 'B'),
       given.eligible, %(state)s, %(now)s
FROM unnest(%(ids)s::uuid[], %(records)s::uuid[], %(versions)s::int[], %(texts)s::text[], %(names)s::text[],
            %(predicates)s::text[], %(eligible)s::bool[])
  AS given(id, record, version, text, names, predicate, eligible)
ORDER BY given.record
ON CONFLICT (team_id, relationship_id) DO UPDATE SET
  source_version = excluded.source_version,
  document_version = kept.document_version + (kept.text <> excluded.text)::int,
  text = excluded.text,
  terms = excluded.terms,
  eligible = excluded.eligible,
  search_state = CASE WHEN kept.text = excluded.text THEN kept.search_state ELSE excluded.search_state END,
  written_at = excluded.written_at
"""

FOLLOW: Final = """
UPDATE relationships_searchdocument AS kept SET
  source_version = record.version,
  eligible = record.status = 'active' AND record.tier IN ('validated_claim', 'fact'),
  written_at = %(now)s
FROM relationships_relationshiprecord AS record
WHERE record.team_id = %(team)s AND record.id = ANY(%(records)s)
  AND (kept.team_id, kept.relationship_id) = (record.team_id, record.id)
"""


@dataclass(frozen=True, slots=True)
class Document:
    """The search document of one record; `names` and `predicate` are terms with spaces between."""

    relationship_id: UUID
    source_version: int
    text: str
    names: str
    predicate: str
    eligible: bool


def write_documents(*, team_id: UUID, record_ids: Collection[UUID], now: datetime) -> None:
    """Bring the search documents of these records in line with them. The queries do not grow with the records.

    A document's version rises when its text changes, and only then. Call it in the transaction of the change.
    """
    documents = _documents(team_id=team_id, record_ids=record_ids) if record_ids else []
    if documents:
        _upsert(team_id=team_id, documents=documents, now=now)


def follow_records(*, team_id: UUID, record_ids: Collection[UUID], now: datetime) -> None:
    """Do the same for records whose words stayed what they were: what changed is whether recall may serve them."""
    given: dict[str, Any] = {"team": team_id, "records": list(record_ids), "now": now}
    with connection.cursor() as cursor:
        cursor.execute(FOLLOW, given)


@dataclass(frozen=True, slots=True)
class Row:
    """A record as it is read for its document, with its typed value."""

    id: UUID
    version: int
    status: str
    tier: str
    polarity: str
    predicate: str
    subject_id: UUID
    object_id: UUID | None
    display: str | None
    canonical: str | None
    unit: str | None
    owner_id: UUID


def _documents(*, team_id: UUID, record_ids: Collection[UUID]) -> list[Document]:
    rows = [Row(*columns) for columns in fetch(READ, team=team_id, records=list(record_ids))]
    entities = {end for row in rows for end in (row.subject_id, row.object_id) if end}
    absorbed = absorbed_into(team_id=team_id, entity_ids=entities)
    every = entities.union(*absorbed.values()) if absorbed else entities
    names = names_of(team_id=team_id, entity_ids=every)
    predicates = ever_registered(team_id=team_id)
    return [_document(row, _with_absorbed(names, absorbed, row), predicates.get(row.predicate)) for row in rows]


def _with_absorbed(
    names: Mapping[UUID, list[str]], absorbed: Mapping[tuple[UUID, UUID], frozenset[UUID]], row: Row
) -> Mapping[UUID, list[str]]:
    """Return what both ends are called, also as what the owner of a record has taken for them."""
    ends = [(end, absorbed.get((row.owner_id, end))) for end in (row.subject_id, row.object_id) if end]
    if not any(also for _, also in ends):
        return names
    return {end: [*names[end], *(name for e in sorted(also or ()) for name in names[e])] for end, also in ends}


def _document(row: Row, names: Mapping[UUID, list[str]], predicate: PredicateView | None) -> Document:
    subject, object_ = _words(row, names)
    wording = [row.predicate.replace("_", " "), *(predicate.active if predicate else ())]
    return Document(
        relationship_id=row.id,
        source_version=row.version,
        text=claim_sentence(subject[0], row.predicate, object_[0], Polarity(row.polarity)),
        names=_terms_of([*subject, *object_]),
        predicate=_terms_of(wording),
        eligible=row.status == Status.ACTIVE and row.tier in (Tier.CLAIM, Tier.FACT),
    )


def _words(row: Row, names: Mapping[UUID, list[str]]) -> tuple[list[str], list[str]]:
    """Return everything that both ends are called, first what stands for them in a sentence."""
    if row.status == Status.QUARANTINED:  # what it says is the word of a text that is held
        return [HELD], [HELD]
    if row.object_id:
        return names[row.subject_id], names[row.object_id]
    words = (row.display, row.canonical, row.unit)
    return names[row.subject_id], [word for word in words if word and not word.startswith(GONE)]


def _terms_of(texts: list[str]) -> str:
    return " ".join(term for text in texts for term in document_terms(text))


def _upsert(*, team_id: UUID, documents: list[Document], now: datetime) -> None:
    given: dict[str, Any] = {
        "team": team_id,
        "state": SearchState.NOT_REQUIRED.value,
        "now": now,
        "ids": [uuid7() for _ in documents],
        "records": [d.relationship_id for d in documents],
        "versions": [d.source_version for d in documents],
        "texts": [d.text for d in documents],
        "names": [d.names for d in documents],
        "predicates": [d.predicate for d in documents],
        "eligible": [d.eligible for d in documents],
    }
    with connection.cursor() as cursor:
        cursor.execute(UPSERT, given)
