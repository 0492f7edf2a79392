"""Trace: why the team holds something to be so, down to the exact words ("Normal Recall And Trace").

Every list holds at most `limits.TRACE_ITEMS` entries, the newest, in the order in which they happened.
"""

from uuid import UUID

from densemem.auth import Principal
from densemem.core.faults import NotThere
from densemem.core.words import Scope
from relationships.models import RelationshipRecord
from relationships.search import Claim, claims_of
from relationships.trace.conflicts import conflicts_of
from relationships.trace.evidence import supports_of
from relationships.trace.history import decisions_of, lineage_of, references_of, transitions_of
from relationships.trace.judgments import observations_of, verifications_of
from relationships.trace.registry import meaning_of
from relationships.trace.shapes import Trace

__all__ = ["Trace", "get_relationship", "trace"]


def get_relationship(*, principal: Principal, relationship_id: UUID) -> Claim:
    """
    Return one record of the caller's team as it is now, whoever owns it.

    :raises NotThere: no such record in the team
    :raises ScopeMissing: the caller may not read
    """
    return _claim(_record(principal, relationship_id))


def trace(*, principal: Principal, relationship_id: UUID) -> Trace:
    """
    Return a record of the caller's team with everything that it rests on and that happened to it.

    The words of a text that is held stay out; the answer says `held` in their place.

    :raises NotThere: no such record in the team
    :raises ScopeMissing: the caller may not read
    """
    record = _record(principal, relationship_id)
    return Trace(
        relationship=_claim(record),
        meaning=meaning_of(record),
        supports=supports_of(record),
        support_decisions=decisions_of(record),
        observations=observations_of(record),
        verifications=verifications_of(record),
        transitions=transitions_of(record),
        references=references_of(record),
        lineage=lineage_of(record),
        conflicts=conflicts_of(record),
    )


def _record(principal: Principal, relationship_id: UUID) -> RelationshipRecord:
    principal.require(Scope.READ)
    rows = RelationshipRecord.objects.of_team(principal.team_id).select_related("owner")
    record = rows.filter(pk=relationship_id).first()
    if record is None:
        raise NotThere
    return record


def _claim(record: RelationshipRecord) -> Claim:
    return claims_of(team_id=record.team_id, rows=[record])[0]
