"""Trace: why the team holds something to be so, down to the exact words ("Normal Recall And Trace").

Every list comes in pages, the newest entry first, with its length and the cursor of the next page.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.utils import timezone

from densemem.auth import Principal
from densemem.core import limits
from densemem.core.faults import NotThere, Refused
from densemem.core.words import Scope
from densemem.db.clock import settled
from densemem.paging import Before
from relationships.models import RelationshipRecord, Transition
from relationships.search import Claim, claims_of, faults_of_known_at
from relationships.trace.conflicts import CONFLICTS
from relationships.trace.evidence import SUPPORTS
from relationships.trace.history import LINEAGE, REFERENCES, SUPPORT_DECISIONS, TRANSITIONS
from relationships.trace.judgments import OBSERVATIONS, VERIFICATIONS
from relationships.trace.paged import Asked, Kind, counted, unsent
from relationships.trace.registry import meaning_of
from relationships.trace.shapes import Listed, Trace

__all__ = ["LISTS", "Listed", "Trace", "TraceRefused", "get_relationship", "trace"]

LISTS: Final[Mapping[str, Kind[Any]]] = {
    "supports": SUPPORTS,
    "support_decisions": SUPPORT_DECISIONS,
    "observations": OBSERVATIONS,
    "verifications": VERIFICATIONS,
    "transitions": TRANSITIONS,
    "references": REFERENCES,
    "lineage": LINEAGE,
    "conflicts": CONFLICTS,
}


class TraceRefused(Refused):
    """A moment that cannot be asked about."""

    code = "invalid_request"


def get_relationship(*, principal: Principal, relationship_id: UUID) -> Claim:
    """
    Return one record of the caller's team as it is now, whoever owns it.

    :raises NotThere: no such record in the team
    :raises ScopeMissing: the caller may not read
    """
    return _claim(Asked(_record(principal, relationship_id), known_at=None))


def trace(
    *,
    principal: Principal,
    relationship_id: UUID,
    known_at: datetime | None = None,
    only: str | None = None,
    before: Before | None = None,
    limit: int = limits.PAGE_DEFAULT,
    now: datetime | None = None,
) -> Trace:
    """
    Return a record of the caller's team with everything that it rests on and that happened to it.

    The words of a text that is held today stay out; the answer says `held` in their place. The number of queries does
    not grow with the record.

    :param known_at: the moment, aware and not after `now`, by which everything had to be recorded; None for now
    :param only: the one of `LISTS` whose entries are sent; the others then tell their length alone. None for all
    :param before: where the page of that list begins; None for the newest entry
    :param limit: entries of a page, at most `limits.PAGE_ITEMS`
    :param now: the present moment, without it that of the clock
    :raises TraceRefused: `known_at` has no offset, or lies ahead
    :raises NotThere: no such record in the team, or not by that moment
    :raises ScopeMissing: the caller may not read
    """
    principal.require(Scope.READ)
    now = now or timezone.now()
    past = min(now, settled(principal.team_id)) if known_at else now
    if faults := list(faults_of_known_at(known_at, now=past)):
        raise TraceRefused("The trace cannot be made as it is asked for.", faults=faults)
    asked = Asked(_record(principal, relationship_id, known_at=known_at), known_at)
    counts, limit = counted(asked, LISTS), min(limit, limits.PAGE_ITEMS)
    lists: dict[str, Listed[Any]] = {
        name: kind.page(asked, before=before, limit=limit, count=counts[name])
        if only in (None, name)
        else unsent(counts[name])
        for name, kind in LISTS.items()
    }
    return Trace(relationship=_claim(asked), known_at=known_at, meaning=meaning_of(asked.record), **lists)


def _record(principal: Principal, relationship_id: UUID, *, known_at: datetime | None = None) -> RelationshipRecord:
    principal.require(Scope.READ)
    rows = RelationshipRecord.objects.of_team(principal.team_id).select_related("owner")
    if known_at is not None:
        steps = Transition.objects.of_team(principal.team_id).filter(relationship=relationship_id)
        rows = rows.filter(pk__in=steps.known_by(known_at).values("relationship_id"))
    record = rows.filter(pk=relationship_id).first()
    if record is None:
        raise NotThere
    return record


def _claim(asked: Asked) -> Claim:
    return claims_of(team_id=asked.team_id, rows=[asked.record], known_at=asked.known_at)[0]
