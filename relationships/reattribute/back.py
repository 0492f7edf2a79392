"""What a decision about who is who moved, given back when it is withdrawn."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from densemem.db.insert import insert
from densemem.db.locks import lock
from evidence.queries import usable_among
from relationships.models import (
    ObservationResolution,
    SupportDecision,
    Transition,
)
from relationships.operations.conflicts import settling
from relationships.operations.meeting import change_of, check_alone, judged, refer, risen
from relationships.operations.standing import apply_changes
from relationships.plan import Change
from relationships.policy import (
    Place,
    Standing,
    StoredRecord,
    place_of,
    reason_of,
    reevaluate,
)
from relationships.queries import records_by_id, stored_records
from relationships.search import write_documents
from relationships.vocabulary import LineageKind, Status, SupportAction, Tier


@dataclass(frozen=True, slots=True)
class Written:
    """What a decision about identity did to records: the version that it brought each to, and what it was before."""

    steps: Mapping[UUID, Transition]

    @property
    def record_ids(self) -> set[UUID]:
        """The records that it touched."""
        return set(self.steps)


def written_by(*, team_id: UUID, identity_id: UUID) -> Written:
    """Return what a decision about identity did to records."""
    rows = Transition.objects.of_team(team_id).filter(identity_id=identity_id).order_by("version")
    return Written({row.relationship_id: row for row in rows})


def changed_by(*, team_id: UUID, record_ids: Collection[UUID]) -> dict[UUID, frozenset[UUID]]:
    """Return, by decision about identity, which of these records it changed."""
    rows = Transition.objects.of_team(team_id).filter(relationship_id__in=record_ids, identity_id__isnull=False)
    found: dict[UUID, set[UUID]] = defaultdict(set)
    for decision, record in rows.values_list("identity_id", "relationship_id"):
        found[decision].add(record)
    return {decision: frozenset(records) for decision, records in found.items()}


def give_back(
    *,
    team_id: UUID,
    owner_id: UUID,
    of_identity: UUID,
    identity_id: UUID,
    settled_since: Collection[Place],
    now: datetime,
) -> int:
    """Take back what a decision about identity moved. What was said or decided since stays, but for its counts.

    Returns how many supports count again.

    :param of_identity: the decision that is withdrawn
    :param identity_id: the withdrawal
    :param settled_since: spans whose mention its owner has attributed by itself since
    :raises MeetsAnother: what would be given back meets another active record of the owner
    """
    written = written_by(team_id=team_id, identity_id=of_identity)
    met = _lock_met(team_id, written)
    returned = _decide_back(team_id, owner_id, of_identity, identity_id, settled_since, now=now)
    records = records_by_id(team_id=team_id, record_ids=written.record_ids)
    found = [(r, _returned(r, written.steps[r.id], owner_id=owner_id)) for r in records]
    changes = {r.id: replace(c, identity_id=identity_id) for r, c in found if c is not None}
    fallen = {number for number, c in changes.items() if c.status is not Status.ACTIVE}
    standing = [r for r in met if r.status is Status.ACTIVE and r.id not in fallen]
    back = [r for r in records if r.id in changes and _rises(changes[r.id])]
    for record in back:
        check_alone(
            replace(record, tier=changes[record.id].tier).position(), [r for r in standing if r.id != record.id]
        )
    others = [r for r in met if r.status is Status.ACTIVE and r.identity.owner_id != owner_id]
    with settling(team_id=team_id, now=now):
        apply_changes(team_id=team_id, changes=list(changes.values()), now=now)
        _resolve_back(team_id, owner_id, written, now=now)
        for record in back:
            refer(risen(record, changes[record.id]), others, now=now)
    write_documents(team_id=team_id, record_ids=written.record_ids, now=now)
    return returned


def _rises(change: Change) -> bool:
    return change.status is Status.ACTIVE and change.status_before is not Status.ACTIVE


def wait_to_give_back(*, team_id: UUID, written: Written) -> None:
    """Wait for the records that a decision touched, and for what they can meet."""
    _lock_met(team_id, written)


def _lock_met(team_id: UUID, written: Written) -> list[StoredRecord]:
    rows = records_by_id(team_id=team_id, record_ids=written.record_ids)
    pairs = {(r.identity.subject_id, r.behaviour.key) for r in rows}
    for subject, predicate in sorted(pairs):
        lock("slot", team_id, subject, predicate)
    return stored_records(team_id=team_id, pairs=pairs, also=written.record_ids, lock=True)


def _decide_back(
    team_id: UUID,
    owner_id: UUID,
    of_identity: UUID,
    identity_id: UUID,
    settled_since: Collection[Place],
    *,
    now: datetime,
) -> int:
    """Revoke what the decision granted and reinstate what it revoked, where nothing else decided since."""
    rows = SupportDecision.objects.of_team(team_id).filter(identity_id=of_identity).select_related("support")
    newest = dict(
        SupportDecision.objects.of_team(team_id)
        .filter(support_id__in=[row.support_id for row in rows])
        .order_by("support_id", "-seq")
        .distinct("support_id")
        .values_list("support_id", "id")
    )
    standing = [row for row in rows if newest[row.support_id] == row.id]
    usable = usable_among(team_id=team_id, fragment_ids={row.support.fragment_id for row in standing})
    reverse = {
        SupportAction.GRANT: SupportAction.REVOKE,
        SupportAction.REINSTATE: SupportAction.REVOKE,
        SupportAction.REVOKE: SupportAction.REINSTATE,
    }
    back = [
        row
        for row in standing
        if row.action != SupportAction.REVOKE
        or (row.support.fragment_id in usable and place_of(row.support) not in settled_since)
    ]
    insert(
        SupportDecision(
            team_id=team_id,
            support_id=row.support_id,
            action=reverse[SupportAction(row.action)],
            actor_id=owner_id,
            identity_id=identity_id,
            reason="identity_withdrawn",
            recorded_at=now,
        )
        for row in back
    )
    return sum(row.action == SupportAction.REVOKE for row in back)


def _returned(record: StoredRecord, step: Transition, *, owner_id: UUID) -> Change | None:
    """Return the change that brings a record back to where it was, judged by what counts now; None when it is there."""
    worth, voices = judged(record.effective, team_id=record.identity.team_id)
    counts = len(record.effective), voices
    standing, held = _standing_back(record, step, worth, voices)
    if (record.tier, record.status, record.held_by_person, record.support_count, record.source_group_count) == (
        standing.tier,
        standing.status,
        held,
        *counts,
    ):
        return None
    reason = replace(standing, reason="identity_withdrawn")
    return change_of(record, reason, actor_id=owner_id, held=held, counts=counts)


def _standing_back(record: StoredRecord, step: Transition, worth: Standing, voices: int) -> tuple[Standing, bool]:
    """Return where a record stands again: what changed since by something else is only counted anew."""
    if record.version != step.version:
        again = reevaluate(
            tier=record.tier,
            status=record.status,
            groups=voices,
            authoritative=any(s.authoritative for s in record.effective),
        )
        return again, record.held_by_person
    before = Status(step.status_before) if step.status_before else Status.PENDING
    if before in (Status.ACTIVE, Status.PENDING, Status.QUARANTINED):
        bare = worth.status is not Status.ACTIVE and before is Status.QUARANTINED
        return (Standing(Tier.CANDIDATE, before, "identity_withdrawn") if bare else worth), False
    tier = Tier(step.tier_before) if step.tier_before else Tier.CANDIDATE
    return Standing(tier, before, "identity_withdrawn"), record.held_by_person


def _resolve_back(team_id: UUID, owner_id: UUID, written: Written, *, now: datetime) -> None:
    """Let each observation be about again what it was about, unless something else was decided of it since."""
    steps = list(written.steps.values())
    if not steps:
        return
    moment = steps[0].recorded_at
    reasons = [reason_of(kind) for kind in (LineageKind.REKEYED, LineageKind.SPLIT)]
    mine = ObservationResolution.objects.of_team(team_id).filter(
        observation__owner_id=owner_id, recorded_at=moment, reason__in=reasons
    )
    moved = {row.observation_id: row for row in mine.order_by("seq")}
    rows = ObservationResolution.objects.of_team(team_id).filter(observation_id__in=moved).order_by("seq")
    history: dict[UUID, list[ObservationResolution]] = {}
    for row in rows:
        history.setdefault(row.observation_id, []).append(row)
    for number, row in moved.items():
        newest = history[number][-1]
        before = [r for r in history[number] if r.seq < row.seq]
        if before and (newest.relationship_id, newest.outcome) == (row.relationship_id, row.outcome):
            insert([_again(before[-1], now=now)])


def _again(row: ObservationResolution, *, now: datetime) -> ObservationResolution:
    named = (
        "team_id",
        "observation_id",
        "subject_entity_id",
        "object_entity_id",
        "object_value_id",
        "predicate_key",
        "predicate_version",
        "relationship_id",
        "outcome",
    )
    return ObservationResolution(
        **{name: getattr(row, name) for name in named}, reason="identity_withdrawn", recorded_at=now
    )
