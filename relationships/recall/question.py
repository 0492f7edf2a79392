"""The question of a recall, checked whole."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from densemem.core import limits
from densemem.core.faults import Fault, Refused
from relationships.search import faults_of_known_at, faults_of_offset, search_terms


class RecallRefused(Refused):
    """A question that cannot be asked; every fault is listed."""

    code = "invalid_request"


@dataclass(frozen=True, slots=True)
class Question:
    """
    What one team is asked, at which moment.

    :param terms: the search terms of the query, possibly none
    :param at: the moment at which the answer has to hold
    :param past: the caller named that moment, so knowledge that was replaced after it answers too
    :param known_at: the answer is what the ledgers said by then; None for what they say now
    """

    team_id: UUID
    query: str
    terms: tuple[str, ...]
    limit: int
    at: datetime
    past: bool
    known_at: datetime | None = None

    def holds(self, prefix: str = "") -> Q:
        """Return the condition that a record's validity contains the moment asked about."""
        begun = Q(**{f"{prefix}valid_from__isnull": True}) | Q(**{f"{prefix}valid_from__lte": self.at})
        return begun & (Q(**{f"{prefix}valid_to__isnull": True}) | Q(**{f"{prefix}valid_to__gt": self.at}))


def read_question(
    *, team_id: UUID, query: str, limit: int, valid_at: datetime | None, known_at: datetime | None, now: datetime
) -> Question:
    """
    Check a question and return it with its search terms; what was known at a moment is asked about that moment.

    :raises RecallRefused: with every fault
    """
    text = query.strip()
    faults = [
        *_faults_of_query(text),
        *_faults_of_limit(limit),
        *faults_of_offset("/valid_at", valid_at),
        *faults_of_known_at(known_at, now=now),
    ]
    if faults:
        raise RecallRefused("The question cannot be asked as it is.", faults=faults)
    return Question(
        team_id=team_id,
        query=text,
        terms=search_terms(text)[: limits.QUERY_TERMS],
        limit=limit,
        at=valid_at or known_at or now,
        past=valid_at is not None,
        known_at=known_at,
    )


def _faults_of_query(text: str) -> Iterator[Fault]:
    if not 1 <= len(text) <= limits.QUERY_CHARS:
        yield Fault("/query", "query_length", f"Send a query of 1 to {limits.QUERY_CHARS} characters.")
    if any(char == "\0" or unicodedata.category(char) == "Cs" for char in text):
        yield Fault("/query", "query_has_bad_character", "A query must not hold NUL or a lone surrogate.")


def _faults_of_limit(limit: int) -> Iterator[Fault]:
    if not 1 <= limit <= limits.RECALL_ITEMS:
        yield Fault("/limit", "limit_out_of_range", f"Ask for 1 to {limits.RECALL_ITEMS} results.")
