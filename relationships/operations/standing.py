"""Changes of records that stand: judged again, taken out, found by a new name."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection
from psycopg.types.json import Jsonb

from densemem.core import limits
from densemem.core.faults import Because, Refused
from densemem.db.insert import insert
from evidence.policy import count_voices
from evidence.queries import Joins, joined_to, joins_of
from relationships.models import EvidenceSupport, SupportDecision, Transition
from relationships.operations.conflicts import hold_cases_of, touch
from relationships.operations.redaction import lock_records
from relationships.plan import Change
from relationships.policy import Standing, StoredRecord, check_standing, check_step, reevaluate
from relationships.queries import records_about, records_by_id, records_joined, supports_of_fragments
from relationships.search import follow_records, write_documents
from relationships.vocabulary import Status, SupportAction

CURRENT: Final = ("tier", "status", "held_by_person", "support_count", "source_group_count", "version")
BRING: Final = f"""
    UPDATE relationships_relationshiprecord AS record SET {", ".join(f"{name} = given.{name}" for name in CURRENT)}
    FROM jsonb_to_recordset(%(rows)s) AS given(
        id uuid, tier text, status text, held_by_person boolean, support_count integer, source_group_count integer,
        version integer)
    WHERE record.team_id = %(team)s AND record.id = given.id"""  # noqa: S608 - our own words


class FanoutExceeded(Refused):
    """More knowledge depends on the source than one transaction may change; nothing was changed."""

    because = Because.CONFLICT
    code = "source_fanout_exceeded"


def apply_changes(
    *, team_id: UUID, changes: Sequence[Change], now: datetime, created: Collection[UUID] = frozenset()
) -> None:
    """Append the transition of each change, bring the rows to the newest one, and the conflict cases after them.

    :param created: records whose row was just inserted in its final state
    :raises StepRefused: a step that the table of legal steps does not have
    """
    for change in changes:
        check_standing(tier=change.tier, status=change.status)
        if change.status_before is not None:
            check_step(before=change.status_before, after=change.status)
    insert(
        Transition(
            team_id=team_id,
            relationship_id=c.relationship_id,
            version=c.version,
            tier_before=c.tier_before,
            status_before=c.status_before,
            tier=c.tier,
            status=c.status,
            held_by_person=c.held_by_person,
            support_count=c.support_count,
            source_group_count=c.source_group_count,
            reason=c.reason,
            verification_id=c.verification_id,
            actor_id=c.actor_id,
            identity_id=c.identity_id,
            recorded_at=now,
        )
        for c in changes
    )
    last = {c.relationship_id: c for c in changes if c.relationship_id not in created}
    if last:
        _bring(team_id, last.values())
    moved = {c.relationship_id for c in changes if (c.status is Status.ACTIVE) != (c.status_before is Status.ACTIVE)}
    touch(team_id=team_id, now=now, records=moved)


def _bring(team_id: UUID, changes: Iterable[Change]) -> None:
    """Bring the rows to what the changes say, in one statement of constant text however many there are."""
    rows = [{"id": str(c.relationship_id)} | {name: getattr(c, name) for name in CURRENT} for c in changes]
    given: dict[str, Any] = {"team": team_id, "rows": Jsonb(rows)}
    with connection.cursor() as cursor:
        cursor.execute(BRING, given)


def revoke_for_fragments(
    *,
    team_id: UUID,
    fragment_ids: Collection[UUID],
    reason: str,
    now: datetime,
    bare: Status = Status.PENDING,
    actor_id: UUID | None = None,
) -> set[UUID]:
    """Revoke every support that cites these fragments, whoever owns it, and judge the records again.

    Returns the records that were touched. This is the named system writer: nobody chooses records here.

    :param bare: what becomes of a record that is left without support; one that has none already and rests on a text
        that is held is quarantined too
    :param actor_id: the person who decided; None for the server's policy
    :raises FanoutExceeded: before anything is written
    """
    records = hold_resting_on(team_id=team_id, fragment_ids=fragment_ids, bare=bare)
    insert(
        SupportDecision(
            team_id=team_id,
            support_id=support,
            action=SupportAction.REVOKE,
            actor_id=actor_id,
            reason=reason,
            recorded_at=now,
        )
        for support, _ in supports_of_fragments(team_id=team_id, fragment_ids=fragment_ids)
    )
    recompute(team_id=team_id, record_ids=records, reason=reason, now=now, bare=bare)
    return records


def hold_resting_on(*, team_id: UUID, fragment_ids: Collection[UUID], bare: Status = Status.PENDING) -> set[UUID]:
    """Lock the records that a support holds up which cites these fragments, and their conflict cases; return them.

    :param bare: what becomes of a record without support; what waits for evidence is held with the text that it had
    :raises FanoutExceeded: more rests on them than one transaction may change
    """
    hit = supports_of_fragments(team_id=team_id, fragment_ids=fragment_ids)
    records = {record for _, record in hit}
    if bare is Status.QUARANTINED:
        records |= _waiting_for(team_id, fragment_ids)
    if len(hit) > limits.FANOUT_SUPPORTS or len(records) > limits.FANOUT_RECORDS:
        raise FanoutExceeded("Too much knowledge depends on this source to change it at once.")
    hold_records(team_id=team_id, record_ids=records)
    return records


def hold_counted_in(*, team_id: UUID, groups: Collection[UUID], others: Collection[UUID]) -> set[UUID]:
    """Lock the records whose count changes when source groups are bound to others, and their conflict cases.

    Return them. `can_recount` was asked.
    """
    records = _joined(team_id, groups, others)
    hold_records(team_id=team_id, record_ids=records)
    return records


def hold_records(*, team_id: UUID, record_ids: Collection[UUID]) -> None:
    """Lock records, and the conflict cases of the team when one of them stands in any."""
    if record_ids:
        lock_records(team_id=team_id, record_ids=record_ids)
        hold_cases_of(team_id=team_id, record_ids=record_ids)


def _waiting_for(team_id: UUID, fragment_ids: Collection[UUID]) -> set[UUID]:
    """Return the records that wait for evidence and rested on these texts: no more than are looked at."""
    rows = EvidenceSupport.objects.of_team(team_id).filter(fragment_id__in=fragment_ids)
    waiting = rows.filter(relationship__status=Status.PENDING).values_list("relationship_id", flat=True).distinct()
    return set(waiting[: limits.FANOUT_RECORDS + 1])


def refresh_documents(
    *, team_id: UUID, record_ids: Collection[UUID], entity_ids: Collection[UUID], now: datetime
) -> None:
    """Write anew the search documents of records that changed, and of entities that learned a name to be found by."""
    renamed = records_about(team_id=team_id, entity_ids=entity_ids) if entity_ids else set()
    write_documents(team_id=team_id, record_ids={*record_ids, *renamed}, now=now)


def can_recount(*, team_id: UUID, groups: Collection[UUID], others: Collection[UUID]) -> bool:
    """Tell if one transaction may count again what would change when source groups are bound to others."""
    return len(_joined(team_id, groups, others, most=limits.FANOUT_RECORDS + 1)) <= limits.FANOUT_RECORDS


def recompute_for_groups(*, team_id: UUID, groups: Collection[UUID], others: Collection[UUID], now: datetime) -> None:
    """Count again the records that rest on source groups which were just bound to others; `can_recount` was asked."""
    records = hold_counted_in(team_id=team_id, groups=groups, others=others)
    recompute(team_id=team_id, record_ids=records, reason="source_groups_joined", now=now)


def _joined(team_id: UUID, groups: Collection[UUID], others: Collection[UUID], *, most: int | None = None) -> set[UUID]:
    near = joined_to(team_id=team_id, groups=others)
    return records_joined(team_id=team_id, groups=groups, near=near, most=most)


def recompute(
    *, team_id: UUID, record_ids: Collection[UUID], reason: str, now: datetime, bare: Status = Status.PENDING
) -> None:
    """Judge records again from the support that counts now. Holds are kept; only their counts change."""
    records = records_by_id(team_id=team_id, record_ids=record_ids, lock=True)
    joins = joins_of(team_id=team_id, said={s.source for r in records for s in r.effective})
    changes = [c for r in records if (c := _recounted(r, joins, reason=reason, bare=bare))]
    apply_changes(team_id=team_id, changes=changes, now=now)
    hidden = {c.relationship_id for c in changes if Status.QUARANTINED in (c.status, c.status_before)}
    write_documents(team_id=team_id, record_ids=hidden, now=now)
    follow_records(team_id=team_id, record_ids={c.relationship_id for c in changes} - hidden, now=now)


def _recounted(record: StoredRecord, joins: Joins, *, reason: str, bare: Status) -> Change | None:
    """Return the change that brings a record in line with its support, or None when it is."""
    counting = record.effective
    voices = count_voices([s.source for s in counting], joins)
    standing: Standing = reevaluate(
        tier=record.tier,
        status=record.status,
        groups=voices,
        authoritative=any(s.authoritative for s in counting),
        bare=bare,
    )
    before = (record.tier, record.status, record.support_count, record.source_group_count)
    if before == (standing.tier, standing.status, len(counting), voices):
        return None
    return Change(
        relationship_id=record.id,
        version=record.version + 1,
        tier_before=record.tier,
        status_before=record.status,
        tier=standing.tier,
        status=standing.status,
        held_by_person=record.held_by_person,
        support_count=len(counting),
        source_group_count=voices,
        reason=reason,
    )
