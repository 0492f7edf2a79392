"""A record of the owner's own that was wrong: one with the corrected identity takes its place, on the same evidence."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from densemem.core.faults import Because, Refused
from densemem.core.ids import derived_id
from densemem.db.insert import insert
from entities.operations import store_values
from relationships.models import EvidenceSupport, Lineage, ObservationResolution
from relationships.operations.carrying import copied, decided, id_at, read_in, rows_of
from relationships.operations.conflicts import settling
from relationships.operations.knowledge import insert_records
from relationships.operations.meeting import Meeting, change_of, check_alone, check_own, judged, meet, refer, risen
from relationships.operations.standing import apply_changes
from relationships.plan import Amendment, NewRecord
from relationships.policy import Standing, StoredRecord, StoredSupport, effective_at, is_taken_out, outcome_of, place_of
from relationships.search import write_documents
from relationships.vocabulary import BY_CORRECTION, LineageKind, Status, SupportAction, Tier


class AmendmentRefused(Refused):
    """The record cannot be corrected so; the code names the rule."""

    because = Because.CONFLICT
    code = "amendment_refused"


def amend(
    *, team_id: UUID, owner_id: UUID, relationship_id: UUID, expected_version: int, amendment: Amendment, now: datetime
) -> UUID:
    """Let the record with the corrected identity take the place of one of the caller's; return it.

    What supports the wrong record supports that one from here on.

    :raises NotThere: no such record in the team
    :raises NotOwned: it belongs to another profile
    :raises VersionStale: it changed since the caller looked
    :raises TimeRefused: the corrected validity ends before it begins
    :raises AmendmentRefused: it is not active, nothing is corrected, or what it becomes waits for its owner
    :raises MeetsAnother: another active record of the caller excludes the corrected one
    """
    meeting = meet(team_id=team_id, relationship_id=relationship_id)
    old = meeting.record
    check_own(old, owner_id=owner_id, expected_version=expected_version)
    if old.status is not Status.ACTIVE:
        detail = f"Only an active Relationship is corrected: this one is {old.status}."
        raise AmendmentRefused(detail, code="not_active")
    new = _corrected(meeting, amendment)
    rows = _resting_on(old)
    if amendment.value:
        # Any text that holds the record up will do: a value is kept under the first that brought it.
        store_values(team_id=team_id, fragment_id=rows[0].fragment_id, values=[amendment.value], now=now)
    others = [r for r in meeting.active(without=old.id) if r.id != new.id]
    new = replace(new, supports=(*new.effective, *_carry(rows, old, new, now=now)))
    standing, voices = judged(new.supports, team_id=team_id)
    if new.status is not Status.ACTIVE:
        check_alone(replace(new, tier=standing.tier).position(), others)
    counts = len(new.supports), voices
    change = change_of(new, replace(standing, reason=BY_CORRECTION), actor_id=owner_id, counts=counts)
    gone = change_of(old, Standing(old.tier, Status.SUPERSEDED, BY_CORRECTION), actor_id=owner_id, counts=(0, 0))
    made = set() if new.version else {new.id}
    if made:
        change = replace(change, tier_before=None, status_before=None)
        insert_records(team_id=team_id, owner_id=owner_id, records=[_row_of(new)], changes=[change], now=now)
    with settling(team_id=team_id, now=now):
        apply_changes(team_id=team_id, changes=[change, gone], created=made, now=now)
        _succeed(old, new, standing, rows, now=now)
        refer(risen(new, change), others, now=now)
    write_documents(team_id=team_id, record_ids={old.id, new.id}, now=now)
    return new.id


def _corrected(meeting: Meeting, amendment: Amendment) -> StoredRecord:
    """Return the owner's record of the corrected identity; one that does not exist yet has the version 0."""
    old = meeting.record
    identity = replace(
        old.identity,
        object_value_id=amendment.value.id if amendment.value else old.identity.object_value_id,
        valid_from=amendment.valid_from,
        valid_to=amendment.valid_to,
    )
    if identity == old.identity:
        raise AmendmentRefused("The Relationship says exactly that already.", code="nothing_corrected")
    known = next((r for r in meeting.others if r.identity == identity), None)
    if known is None:
        return replace(
            old,
            id=derived_id("record", old.id, old.version, "amended"),
            identity=identity,
            tier=Tier.CANDIDATE,
            status=Status.PENDING,
            version=0,
            valid_from_precision=amendment.valid_from_precision,
            valid_to_precision=amendment.valid_to_precision,
            supports=(),
            references=frozenset(),
            superseded=None,
        )
    if known.status is Status.REVIEW or is_taken_out(status=known.status, held_by_person=known.held_by_person):
        detail = f"Your Relationship {known.id} says that, and is {known.status}. Decide about that one first."
        raise AmendmentRefused(detail, code="corrected_is_held")
    return known


def _resting_on(record: StoredRecord) -> list[EvidenceSupport]:
    """Return the supports of a record that count."""
    counting = {place_of(s) for s in record.effective}
    return rows_of(record, counting)


def _carry(
    rows: Sequence[EvidenceSupport], old: StoredRecord, new: StoredRecord, *, now: datetime
) -> list[StoredSupport]:
    """Move what supports the old record to the new one, and return what the new one did not have."""
    there = {place_of(s): s.effective for s in new.supports}
    fresh = [s for s in old.effective if not there.get(place_of(s), False)]
    moving = {place_of(s) for s in fresh}
    insert(copied(row, new.id, now=now) for row in rows if place_of(row) not in there)
    insert(decided(row, row.id, SupportAction.REVOKE, reason=BY_CORRECTION, now=now) for row in rows)
    insert(
        decided(
            row,
            id_at(row, new.id),
            SupportAction.REINSTATE if place_of(row) in there else SupportAction.GRANT,
            reason=BY_CORRECTION,
            now=now,
        )
        for row in rows
        if place_of(row) in moving
    )
    return fresh


def _row_of(record: StoredRecord) -> NewRecord:
    return NewRecord(
        record.id, record.identity, record.behaviour, record.valid_from_precision, record.valid_to_precision
    )


def _succeed(
    old: StoredRecord, new: StoredRecord, standing: Standing, rows: Sequence[EvidenceSupport], *, now: datetime
) -> None:
    """Say what took the old record's place, and that its observations are about the new one."""
    identity = new.identity
    lineage = Lineage(
        team_id=identity.team_id,
        successor_id=new.id,
        predecessor_id=old.id,
        kind=LineageKind.CORRECTED,
        effective_at=effective_at(new.position()),
        recorded_at=now,
    )
    insert([lineage])
    insert(
        ObservationResolution(
            team_id=identity.team_id,
            observation_id=observation,
            subject_entity_id=identity.subject_id,
            object_entity_id=identity.object_entity_id,
            object_value_id=identity.object_value_id,
            predicate_key=new.behaviour.key,
            predicate_version=new.behaviour.version,
            relationship_id=new.id,
            outcome=outcome_of(standing),
            reason=BY_CORRECTION,
            recorded_at=now,
        )
        for observation in read_in(rows, old)
    )
