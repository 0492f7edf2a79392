"""What a decision about who is who writes: supports move, and records take the place of others."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from densemem.db.insert import insert
from relationships.models import (
    CrossReference,
    Lineage,
    ObservationResolution,
)
from relationships.operations.carrying import copied, decided, id_at, rows_of
from relationships.operations.conflicts import settling, touch
from relationships.operations.knowledge import insert_records
from relationships.operations.meeting import change_of, refer, risen
from relationships.operations.standing import apply_changes
from relationships.plan import Change, NewRecord
from relationships.policy import (
    Arrival,
    Departure,
    Place,
    Reattribution,
    StoredRecord,
    effective_at,
    outcome_of,
    place_of,
    reason_of,
)
from relationships.queries import records_by_id
from relationships.reattribute.around import Around, records_touching
from relationships.search import write_documents
from relationships.vocabulary import AGAINST, CrossReferenceKind, LineageKind, Outcome, Status, SupportAction


def carry_out(
    moved: Reattribution,
    around: Around,
    *,
    team_id: UUID,
    owner_id: UUID,
    identity_id: UUID,
    kind: LineageKind,
    now: datetime,
) -> None:
    """Write what was decided: supports, steps, lineage, what each observation is about, and what is said of others."""
    if not moved.departures and not moved.arrivals:
        return
    reason = reason_of(kind)
    arriving = [_arriving(a, owner_id, identity_id) for a in moved.arrivals]
    leaving = [_leaving(d, owner_id, identity_id) for d in moved.departures]
    fresh = [a for a in moved.arrivals if not a.record.version]
    insert_records(
        team_id=team_id, owner_id=owner_id, records=[_row_of(a.record) for a in fresh], changes=arriving, now=now
    )
    others = around.others(owner_id)
    with settling(team_id=team_id, now=now):
        _move_supports(moved, identity_id, reason=reason, now=now)
        changes = [*leaving, *arriving]
        apply_changes(team_id=team_id, changes=changes, created={a.record.id for a in fresh}, now=now)
        insert(_lineage(moved, identity_id, kind, now=now))
        _resolve_anew(moved, reason=reason, now=now)
        for arrival, change in zip(moved.arrivals, arriving, strict=True):
            if change.status is Status.ACTIVE:
                record = risen(replace(arrival.record, supports=arrival.supports), change)
                if change.status_before is not Status.ACTIVE:
                    refer(record, others, now=now)
                _inherit(record, [r.id for r, _ in arrival.left], now=now)
    write_documents(team_id=team_id, record_ids={c.relationship_id for c in changes}, now=now)


def rename(*, team_id: UUID, owner_id: UUID, entity_ids: Collection[UUID], now: datetime) -> None:
    """Let an owner's records about entities be found by every name of what it takes for them now.

    :raises FanoutExceeded: more than one transaction may change
    """
    records = records_touching(team_id=team_id, owner_id=owner_id, entity_ids=entity_ids)
    write_documents(team_id=team_id, record_ids=records, now=now)


def _arriving(arrival: Arrival, owner_id: UUID, identity_id: UUID) -> Change:
    counts = len(arrival.supports), arrival.voices
    change = change_of(arrival.record, arrival.standing, actor_id=owner_id, held=arrival.held, counts=counts)
    if not arrival.record.version:
        change = replace(change, tier_before=None, status_before=None)
    return replace(change, identity_id=identity_id)


def _leaving(departure: Departure, owner_id: UUID, identity_id: UUID) -> Change:
    record, counts = departure.record, (len(departure.kept), departure.voices)
    held = record.held_by_person and departure.standing.status is record.status
    change = change_of(record, departure.standing, actor_id=owner_id, held=held, counts=counts)
    return replace(change, identity_id=identity_id)


def _row_of(record: StoredRecord) -> NewRecord:
    return NewRecord(
        record.id, record.identity, record.behaviour, record.valid_from_precision, record.valid_to_precision
    )


def _move_supports(moved: Reattribution, identity_id: UUID, *, reason: str, now: datetime) -> None:
    given: dict[str, Any] = {"reason": reason, "now": now, "identity_id": identity_id}
    leaving = {d.record.id: rows_of(d.record, {place_of(s) for s in d.gone}) for d in moved.departures}
    row_at = {(record, place_of(row)): row for record, rows in leaving.items() for row in rows}
    for arrival in moved.arrivals:
        there = {place_of(s) for s in arrival.record.supports}
        rows = [row_at[record.id, place_of(support)] for record, support in arrival.came]
        target = arrival.record.id
        insert(copied(row, target, now=now) for row in rows if place_of(row) not in there)
        insert(
            decided(
                row,
                id_at(row, target),
                SupportAction.REINSTATE if place_of(row) in there else SupportAction.GRANT,
                **given,
            )
            for row in rows
        )
    insert(decided(row, row.id, SupportAction.REVOKE, **given) for rows in leaving.values() for row in rows)


def _lineage(moved: Reattribution, identity_id: UUID, kind: LineageKind, *, now: datetime) -> list[Lineage]:
    """Say which records took the place of each; what a person holds keeps its own."""
    return [
        Lineage(
            team_id=old.identity.team_id,
            successor_id=arrival.record.id,
            predecessor_id=old.id,
            kind=kind,
            identity_id=identity_id,
            effective_at=effective_at(replace(arrival.record, supports=arrival.supports).position()),
            recorded_at=now,
        )
        for arrival in moved.arrivals
        for old in {r.id: r for r, _ in arrival.left}.values()
        if old.status is Status.ACTIVE
    ]


def _resolve_anew(moved: Reattribution, *, reason: str, now: datetime) -> None:
    """Say what each observation is about now: what moved, and what is open."""
    for arrival in moved.arrivals:
        for old in {r.id: r for r, _ in arrival.left}.values():
            places = {place_of(s) for r, s in arrival.left if r.id == old.id}
            for row in _newest_about(old, places):
                insert([_about(row, arrival, reason=reason, now=now)])
    for old in {r.id: r for r, _ in moved.homeless}.values():
        places = {place_of(s) for r, s in moved.homeless if r.id == old.id}
        insert(_open(row, reason=reason, now=now) for row in _newest_about(old, places))


def _newest_about(record: StoredRecord, places: Collection[Place]) -> list[ObservationResolution]:
    """Return the newest resolution of each observation at these spans that is about a record."""
    spans = Q()
    for fragment, start, end in places:
        spans |= Q(
            observation__spans__fragment_id=fragment, observation__spans__start=start, observation__spans__end=end
        )
    team = record.identity.team_id
    about = ObservationResolution.objects.of_team(team).filter(spans, relationship_id=record.id)
    newest = (
        ObservationResolution.objects.of_team(team)
        .filter(observation_id__in=about.values("observation_id"))
        .order_by("observation_id", "-seq")
        .distinct("observation_id")
    )
    return [row for row in newest if row.relationship_id == record.id]


def _about(row: ObservationResolution, arrival: Arrival, *, reason: str, now: datetime) -> ObservationResolution:
    identity, behaviour = arrival.record.identity, arrival.record.behaviour
    return ObservationResolution(
        team_id=row.team_id,
        observation_id=row.observation_id,
        subject_entity_id=identity.subject_id,
        object_entity_id=identity.object_entity_id,
        object_value_id=identity.object_value_id,
        predicate_key=behaviour.key,
        predicate_version=behaviour.version,
        relationship_id=arrival.record.id,
        outcome=outcome_of(arrival.standing),
        reason=reason,
        recorded_at=now,
    )


def _open(row: ObservationResolution, *, reason: str, now: datetime) -> ObservationResolution:
    return ObservationResolution(
        team_id=row.team_id,
        observation_id=row.observation_id,
        object_value_id=row.object_value_id,
        predicate_key=row.predicate_key,
        predicate_version=row.predicate_version,
        outcome=Outcome.IDENTITY,
        reason=reason,
        recorded_at=now,
    )


def _inherit(record: StoredRecord, from_ids: Collection[UUID], *, now: datetime) -> None:
    """Keep what stood against the records that these supports left in conflict with the one that has them now."""
    team, mine = record.identity.team_id, record.identity.owner_id
    rows = CrossReference.objects.of_team(team).filter(
        Q(source_relationship_id__in=from_ids) | Q(target_relationship_id__in=from_ids), kind__in=AGAINST
    )
    ends = {
        end
        for pair in rows.values_list("source_relationship_id", "target_relationship_id")
        for end in pair
        if end not in from_ids
    }
    rivals = [
        r
        for r in records_by_id(team_id=team, record_ids=ends)
        if r.identity.owner_id != mine and r.status is Status.ACTIVE
    ]
    said = set(
        CrossReference.objects.of_team(team)
        .filter(source_relationship_id=record.id, kind__in=AGAINST)
        .values_list("target_relationship_id", flat=True)
    )
    insert(
        CrossReference(
            team_id=team,
            author_id=mine,
            source_relationship_id=record.id,
            source_version=record.version,
            target_relationship_id=rival.id,
            target_version=rival.version,
            kind=CrossReferenceKind.CHALLENGES,
            recorded_at=now,
        )
        for rival in rivals
        if rival.id not in said
    )
    touch(team_id=team, now=now, against=[(record.id, rival.id) for rival in rivals])
