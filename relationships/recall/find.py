"""Which records a question finds, best first.

All terms together first; when nothing holds them all, any of them. Words that say nothing in English count only when
the question has no others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.contrib.postgres.search import SearchQuery, SearchRank
from django.db import connection
from django.db.models import BooleanField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet, Subquery

from densemem.core import limits
from relationships.models import Lineage, SearchDocument, Transition
from relationships.recall.question import Question
from relationships.vocabulary import LineageKind, Status, Tier

CONTENT_TERMS: Final = """
SELECT term FROM unnest(%s::text[]) WITH ORDINALITY AS asked(term, place)
WHERE numnode(plainto_tsquery('english', term)) > 0 ORDER BY place
"""
MATCHED: Final = """
SELECT document.relationship_id, array_agg(term ORDER BY place)
FROM relationships_searchdocument AS document, unnest(%(terms)s::text[]) WITH ORDINALITY AS asked(term, place)
WHERE document.team_id = %(team)s AND document.relationship_id = ANY(%(records)s)
  AND document.terms @@ plainto_tsquery(%(language)s::regconfig, term)
GROUP BY document.relationship_id
"""
STEMMED: Final = "english"
PLAIN: Final = "simple"


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that a question found, its meaning, and which terms it matched."""

    relationship_id: UUID
    group: str
    matched: tuple[str, ...]


def find(question: Question) -> list[Hit]:
    """Return the records that the question finds, best first, at most `limits.RECALL_CANDIDATES`."""
    content = _content_terms(question.terms)
    terms, language = (content, STEMMED) if content else (question.terms, PLAIN)
    if not terms:
        return []
    found = _search(question, " & ".join(terms), language) or _search(question, " | ".join(terms), language)
    matched = _matched(question.team_id, terms, language, [record for record, _ in found])
    hits = [Hit(record, group, matched.get(record, ())) for record, group in found]
    return sorted(hits, key=lambda hit: -len(hit.matched))


def recallable(question: Question, prefix: str = "") -> Q:
    """Return the condition of records that may answer: active ones, and for a named moment those replaced after it.

    With `known_at` a record stands where its newest step by then put it.
    """
    if question.known_at is None:
        return _stands(question, prefix, record=f"{prefix}pk") & question.holds(prefix)
    steps = Transition.objects.of_team(question.team_id).known_by(question.known_at)
    newest = steps.filter(relationship=OuterRef(f"{prefix}pk")).order_by("-version")
    stood = ExpressionWrapper(_stands(question, record="relationship"), output_field=BooleanField())
    return Q(Subquery(newest.annotate(stood=stood).values("stood")[:1])) & question.holds(prefix)


def _content_terms(terms: Sequence[str]) -> tuple[str, ...]:
    """Return the terms that say something in English; of other languages nearly all do."""
    with connection.cursor() as cursor:
        cursor.execute(CONTENT_TERMS, [list(terms)])
        return tuple(row[0] for row in cursor.fetchall())


def _search(question: Question, expression: str, language: str) -> list[tuple[UUID, str]]:
    """Return (record, meaning) of the documents that a `tsquery` expression finds, those that fit it closest first."""
    asked = SearchQuery(expression, config=language, search_type="raw")
    documents = SearchDocument.objects.of_team(question.team_id).filter(recallable(question, "relationship__"))
    if not question.past and question.known_at is None:
        documents = documents.filter(eligible=True)
    rank = SearchRank(F("terms"), asked, cover_density=True)
    best = documents.filter(terms=asked).order_by(rank.desc(), "-relationship__recorded_at", "relationship_id")
    return list(best.values_list("relationship_id", "relationship__semantic_group_key")[: limits.RECALL_CANDIDATES])


def _matched(team_id: UUID, terms: Sequence[str], language: str, records: list[UUID]) -> dict[UUID, tuple[str, ...]]:
    given: dict[str, Any] = {"team": team_id, "terms": list(terms), "language": language, "records": records}
    with connection.cursor() as cursor:
        cursor.execute(MATCHED, given)
        return {record: tuple(matched) for record, matched in cursor.fetchall()}


def _stands(question: Question, prefix: str = "", *, record: str) -> Q:
    """Return the condition that tier and status let a record answer; `record` is the way to its id."""
    tiers = Q(**{f"{prefix}tier__in": (Tier.CLAIM, Tier.FACT)})
    active = Q(**{f"{prefix}status": Status.ACTIVE})
    if question.past:
        replaced = {f"{prefix}status": Status.SUPERSEDED, f"{prefix}support_count__gt": 0}
        active |= Q(**replaced, **{f"{record}__in": _replaced_later(question)})
    return tiers & active


def _replaced_later(question: Question) -> QuerySet[Lineage, UUID]:
    """Return the records whose place was taken last by what holds only after the moment asked about."""
    known = Lineage.objects.of_team(question.team_id).known_by(question.known_at)
    since = known.filter(predecessor=OuterRef("predecessor"), seq__gt=OuterRef("seq"))
    newest = known.filter(~Exists(since), kind=LineageKind.REPLACED, effective_at__gt=question.at)
    return newest.values_list("predecessor_id", flat=True)
