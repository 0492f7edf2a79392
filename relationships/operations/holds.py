"""What an owner takes out of recall, and lets take part again ("Forget And Retraction")."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db.models import F

from densemem.core.faults import NotThere
from relationships.models import Lineage, Transition
from relationships.operations.conflicts import settling
from relationships.operations.meeting import Meeting, change_of, check_alone, check_own, judged, meet, refer, risen
from relationships.operations.standing import apply_changes
from relationships.policy import Standing, StepRefused, is_taken_out
from relationships.queries import records_by_id
from relationships.search import write_documents
from relationships.vocabulary import Status

REASONS: Final[Mapping[Status, str]] = {
    Status.RETRACTED: "forgotten_by_owner",
    Status.DISPUTED: "disputed_by_owner",
}
WORDS: Final[Mapping[Status, str]] = {Status.RETRACTED: "forgotten", Status.DISPUTED: "disputed"}


def retract(*, team_id: UUID, owner_id: UUID, relationship_id: UUID, expected_version: int, now: datetime) -> None:
    """Take one of the caller's records out of recall; its history, evidence and entities stay.

    :raises NotThere: no such record in the team
    :raises NotOwned: it belongs to another profile
    :raises VersionStale: it changed since the caller looked
    :raises StepRefused: it is taken out already
    """
    _take_out(Status.RETRACTED, team_id, owner_id, relationship_id, expected_version, now)


def dispute(*, team_id: UUID, owner_id: UUID, relationship_id: UUID, expected_version: int, now: datetime) -> None:
    """Hold one of the caller's records back until its owner lifts the dispute.

    :raises NotThere: no such record in the team
    :raises NotOwned: it belongs to another profile
    :raises VersionStale: it changed since the caller looked
    :raises StepRefused: it is disputed already, or takes no part as it is
    """
    _take_out(Status.DISPUTED, team_id, owner_id, relationship_id, expected_version, now)


def lift(*, team_id: UUID, owner_id: UUID, relationship_id: UUID, expected_version: int, now: datetime) -> Status:
    """Undo what a person set on one of the caller's records, judge it by the support that counts, return its status.

    :raises NotThere: no such record in the team
    :raises NotOwned: it belongs to another profile
    :raises VersionStale: it changed since the caller looked
    :raises StepRefused: no person took it out, or another has taken its place
    :raises MeetsAnother: an active record of the caller excludes it
    """
    meeting = meet(team_id=team_id, relationship_id=relationship_id)
    record = meeting.record
    check_own(record, owner_id=owner_id, expected_version=expected_version)
    if not is_taken_out(status=record.status, held_by_person=record.held_by_person):
        raise StepRefused(f"Nobody took this Relationship out: it is {record.status}.", code="nothing_to_lift")
    _check_place(meeting)
    standing, _ = judged(record.effective, team_id=team_id)
    active = meeting.active(without=record.id)
    if standing.status is Status.ACTIVE:
        check_alone(replace(record, tier=standing.tier).position(), active)
    change = change_of(record, replace(standing, reason="lifted_by_owner"), actor_id=owner_id)
    with settling(team_id=team_id, now=now):
        apply_changes(team_id=team_id, changes=[change], now=now)
        if standing.status is Status.ACTIVE:
            refer(risen(record, change), active, now=now)
    write_documents(team_id=team_id, record_ids={record.id}, now=now)
    return standing.status


def _take_out(
    status: Status, team_id: UUID, owner_id: UUID, relationship_id: UUID, expected_version: int, now: datetime
) -> None:
    found = records_by_id(team_id=team_id, record_ids=[relationship_id], lock=True)
    if not found:
        raise NotThere
    (record,) = found
    check_own(record, owner_id=owner_id, expected_version=expected_version)
    if record.status is status:
        raise StepRefused(f"This Relationship is {WORDS[status]} already.")
    standing = Standing(record.tier, status, REASONS[status])
    apply_changes(team_id=team_id, changes=[change_of(record, standing, actor_id=owner_id, held=True)], now=now)
    write_documents(team_id=team_id, record_ids={record.id}, now=now)


def _check_place(meeting: Meeting) -> None:
    """Refuse to bring back what had been replaced before it was taken out, while its successor is active.

    :raises StepRefused: it names the successor
    """
    record = meeting.record
    steps = Transition.objects.of_team(record.identity.team_id).filter(relationship_id=record.id)
    before = steps.exclude(status_before=F("status")).order_by("-version").values_list("status_before", flat=True)
    if before.first() != Status.SUPERSEDED:
        return
    lineage = Lineage.objects.of_team(record.identity.team_id).filter(predecessor_id=record.id)
    successors = lineage.filter(identity__withdrawal__isnull=True)  # not of a merge or split that was taken back
    taken = successors.filter(successor__status=Status.ACTIVE).values_list("successor_id", flat=True).first()
    if taken:
        raise StepRefused(f"The Relationship {taken} has taken its place. Forget that first.", code="place_taken")
