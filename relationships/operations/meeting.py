"""A record that a person changes, beside everything that it can meet: locked, checked, and judged by its support."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from densemem.core.faults import Because, Fault, NotThere, Refused
from densemem.db.insert import insert
from densemem.db.locks import lock, share
from evidence.policy import count_voices
from evidence.queries import joins_of
from relationships.models import CrossReference, RelationshipRecord
from relationships.operations.conflicts import lock_cases, touch
from relationships.plan import Change
from relationships.policy import (
    Action,
    Position,
    Standing,
    StoredRecord,
    StoredSupport,
    compare,
    cross_reference,
    from_support,
)
from relationships.queries import stored_records
from relationships.vocabulary import AGAINST, CrossReferenceKind, Status


class NotOwned(Refused):
    """The record belongs to another profile of the team."""

    because = Because.FORBIDDEN
    code = "not_owner"


class VersionStale(Refused):
    """The record changed since the caller looked at it."""

    because = Because.STALE
    code = "version_stale"


class MeetsAnother(Refused):
    """Another active record of the same owner excludes this one; a person's act supersedes nothing beside it."""

    because = Because.CONFLICT
    code = "meets_active_relationship"


@dataclass(frozen=True, slots=True)
class Meeting:
    """A locked record, and every other one of its subject and predicate, of all owners, locked too."""

    record: StoredRecord
    others: tuple[StoredRecord, ...]

    def active(self, *, without: UUID) -> list[StoredRecord]:
        """Return the active records here, but for one."""
        return [r for r in (self.record, *self.others) if r.status is Status.ACTIVE and r.id != without]


def meet(*, team_id: UUID, relationship_id: UUID) -> Meeting:
    """Lock a record and what it can meet, in the order of a commit.

    :raises NotThere: no such record in the team
    """
    rows = RelationshipRecord.objects.of_team(team_id).filter(pk=relationship_id)
    slot = rows.values_list("subject_entity_id", "predicate_key").first()  # of the identity: it never changes
    if slot is None:
        raise NotThere
    share("groups", team_id)
    lock("slot", team_id, *slot)
    found = {r.id: r for r in stored_records(team_id=team_id, pairs={slot}, lock=True)}
    return Meeting(found.pop(relationship_id), tuple(found.values()))


def wait_to_meet(*, team_id: UUID, relationship_id: UUID) -> None:
    """Wait for a record, what it can meet, and the conflict cases that may come of it.

    :raises NotThere: no such record in the team
    """
    meet(team_id=team_id, relationship_id=relationship_id)
    lock_cases(team_id)


def check_own(record: StoredRecord, *, owner_id: UUID, expected_version: int) -> None:
    """Refuse another's record, and one that has changed since it was looked at.

    :raises NotOwned: it belongs to another profile
    :raises VersionStale: it changed since the caller looked
    """
    if record.identity.owner_id != owner_id:
        raise NotOwned("Only the profile that owns a Relationship decides so. Remember your own evidence instead.")
    if record.version != expected_version:
        raise VersionStale(f"The Relationship is at version {record.version} now. Look at it again, then decide.")


def check_alone(new: Position, active: Sequence[StoredRecord]) -> None:
    """Refuse a record that would become active beside one of the same owner that it does not go with.

    :raises MeetsAnother: it names the other and the rule
    """
    for other in active:
        old = other.position()
        answers = (compare(new, old), compare(old, new))  # whichever says more: either may give the other its end
        if rule := next((a.reason for a in answers if a.action is not Action.COEXIST), None):
            detail = f"Your active Relationship {other.id} excludes it ({rule}). Correct or forget that first."
            raise MeetsAnother(detail, faults=[Fault("", rule, f"The rule is {rule}.")])


def judged(supports: Sequence[StoredSupport], *, team_id: UUID) -> tuple[Standing, int]:
    """Return what these supports are worth, and how many independent voices they are."""
    said = [s.source for s in supports]
    voices = count_voices(said, joins_of(team_id=team_id, said=said))
    return from_support(groups=voices, authoritative=any(s.authoritative for s in supports)), voices


def change_of(
    record: StoredRecord,
    standing: Standing,
    *,
    actor_id: UUID | None = None,
    held: bool = False,
    counts: tuple[int, int] | None = None,
) -> Change:
    """Return the step of a record to a standing.

    :param actor_id: the owner who decided it; None where the server counts
    :param counts: of supports and of voices; as they are when left out
    """
    supports, voices = counts or (record.support_count, record.source_group_count)
    return Change(
        relationship_id=record.id,
        version=record.version + 1,
        tier_before=record.tier,
        status_before=record.status,
        tier=standing.tier,
        status=standing.status,
        held_by_person=held,
        support_count=supports,
        source_group_count=voices,
        reason=standing.reason,
        actor_id=actor_id,
    )


def refer(record: StoredRecord, active: Sequence[StoredRecord], *, now: datetime) -> None:
    """Append what a record that became active says of other profiles' active ones; nothing of theirs changes."""
    team = record.identity.team_id
    named = [(other, _said_of(record, other)) for other in active]
    insert(
        CrossReference(
            team_id=team,
            author_id=record.identity.owner_id,
            source_relationship_id=record.id,
            source_version=record.version,
            target_relationship_id=other.id,
            target_version=other.version,
            kind=kind,
            recorded_at=now,
        )
        for other, kind in named
        if kind is not None and (other.id, kind) not in record.references
    )
    touch(team_id=team, now=now, against=[(record.id, other.id) for other, kind in named if kind in AGAINST])


def _said_of(record: StoredRecord, other: StoredRecord) -> CrossReferenceKind | None:
    """Name what a record says of another; one that rests on the other's texts alone has adopted them."""
    kind = cross_reference(record.position(), other.position())
    texts = {s.fragment_id for s in record.effective}
    if kind is CrossReferenceKind.CONFIRMS and texts <= {s.fragment_id for s in other.effective}:
        return CrossReferenceKind.ADOPTS
    return kind


def risen(record: StoredRecord, change: Change) -> StoredRecord:
    """Return a record as a change leaves it."""
    return replace(record, tier=change.tier, status=change.status, version=change.version)
