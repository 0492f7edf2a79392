"""The records that one item works on, in memory."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from densemem.core.ids import derived_id
from evidence.policy import count_voices
from placement.plan.given import Given, Ready
from relationships.identity import Identity, same_claim
from relationships.plan import Change, NewObservation, NewSupport
from relationships.policy import Behaviour, Position, Standing, StoredRecord, StoredSupport, effective_at
from relationships.vocabulary import CrossReferenceKind, LineageKind, Status, Tier, TimePrecision

NEWEST: Final = 2**62  # the recording order of what is not recorded yet


@dataclass(slots=True)
class Working:
    """A record in the state that it has reached; `tier` and `status` are None until a first decision."""

    id: UUID
    identity: Identity
    behaviour: Behaviour
    tier: Tier | None
    status: Status | None
    held_by_person: bool
    version: int
    recorded_at: datetime
    valid_from_precision: TimePrecision | None
    valid_to_precision: TimePrecision | None
    support_count: int = 0
    source_group_count: int = 0
    supports: list[StoredSupport] = field(default_factory=list)
    references: set[tuple[UUID, CrossReferenceKind]] = field(default_factory=set)
    superseded: tuple[LineageKind, datetime] | None = None
    created: bool = False

    @property
    def effective(self) -> list[StoredSupport]:
        """The supports that count."""
        return [s for s in self.supports if s.effective]


class Workbench:
    """Everything that the observations of one item can meet."""

    def __init__(self, given: Given, stored: Sequence[StoredRecord], joins: Mapping[UUID, Set[UUID]]) -> None:
        self.given = given
        self.joins = joins
        self.records = {s.identity: _working(s) for s in stored}

    def created(self) -> list[Working]:
        """Return the records that the item makes."""
        return [w for w in self.records.values() if w.created and w.status is not None]

    def known(self, identity: Identity, draft: Ready) -> Working | None:
        """Return the caller's record that a draft is about, or None."""
        return self.records.get(identity) or self._same_ended(identity, draft)

    def record_for(self, identity: Identity, behaviour: Behaviour, draft: Ready) -> Working:
        """Return the caller's record of this identity, making it if it is new."""
        known = self.known(identity, draft)
        if known is None:
            known = Working(
                id=derived_id("record", self.given.seed, self.given.item_id, self.given.cycle, draft.draft.ref),
                identity=identity,
                behaviour=behaviour,
                tier=None,
                status=None,
                held_by_person=False,
                version=0,
                recorded_at=self.given.now,
                valid_from_precision=draft.valid_from_precision,
                valid_to_precision=draft.valid_to_precision,
                created=True,
            )
            self.records[identity] = known
        return known

    def meant(self, record: Working) -> Working:
        """Return what the owner corrected a record to, where it was misread in this text; else the record itself."""
        number = record.id
        for _ in self.given.meant:
            number = self.given.meant.get(number, number)
        return next((w for w in self.records.values() if w.id == number), record)

    def _same_ended(self, identity: Identity, draft: Ready) -> Working | None:
        """Return the caller's record that already says "this has ended", where no text tells when."""
        if draft.valid_to_precision is not TimePrecision.BY:
            return None
        for record in self.records.values():
            other = record.identity
            if (
                other.owner_id == identity.owner_id
                and same_claim(other, identity)
                and other.polarity is identity.polarity
                and other.valid_from == identity.valid_from
                and record.valid_to_precision is TimePrecision.BY
            ):
                return record
        return None

    def voices(self, record: Working, *, with_item: bool = False) -> int:
        """Count the independent source groups that hold the record up, with or without the item's own."""
        said = [s.source for s in record.effective]
        item = [(self.given.fragment_id, self.given.group_id)] if with_item else []
        return count_voices(said + item, self.joins)

    def position(self, record: Working, *, tier: Tier | None = None) -> Position:
        """Return the record as it is compared; with a hoped-for `tier` it counts as said by this item too."""
        counting = record.effective
        seen = [s.observed_at for s in counting] + ([self.given.observed_at] if tier else [])
        known = record.tier or Tier.CANDIDATE
        return Position(
            identity=record.identity,
            tier=tier or known,
            kind=record.behaviour.kind,
            cardinality=record.behaviour.cardinality,
            observed_at=max(seen, default=None),
            recorded_at=record.recorded_at,
            sequence=NEWEST if tier else max((s.sequence for s in counting), default=0),
        )

    def active_of_owner(self, record: Working) -> list[Working]:
        """Return the caller's other active records."""
        return [w for w in self._active() if w.identity.owner_id == self.given.owner_id and w is not record]

    def active_of_others(self, record: Working) -> list[Working]:
        """Return the active records of other profiles."""
        return [w for w in self._active() if w.identity.owner_id != self.given.owner_id]

    def _active(self) -> Iterator[Working]:
        return (w for w in self.records.values() if w.status is Status.ACTIVE)

    def returns(self, record: Working, new: Position) -> bool:
        """Tell if a superseded record holds again: it is said later than what took its place, and was no mistake."""
        if record.superseded is None:
            return False
        kind, moment = record.superseded
        return kind in (LineageKind.REPLACED, LineageKind.CLOSED) and effective_at(new) > moment

    def support(self, record: Working, seen: NewObservation) -> list[NewSupport]:
        """Let the spans of an observation support a record.

        A span that counts already is not counted twice; one that was revoked counts again.
        """
        given = self.given
        known = {(s.start, s.end): s.effective for s in record.supports if s.fragment_id == given.fragment_id}
        fresh = [span for span in dict.fromkeys(seen.spans) if not known.get(span, False)]
        record.supports = [
            s for s in record.supports if s.fragment_id != given.fragment_id or (s.start, s.end) not in fresh
        ]
        record.supports += [
            StoredSupport(
                given.fragment_id,
                start,
                end,
                given.group_id,
                given.authoritative,
                True,
                given.observed_at,
                NEWEST,
                seen.id,
            )
            for start, end in fresh
        ]
        return [
            NewSupport(
                id=_support_id(record, given.fragment_id, start, end),
                relationship_id=record.id,
                observation_id=seen.id,
                verification_id=seen.verification_id,
                start=start,
                end=end,
                again=(start, end) in known,
            )
            for start, end in fresh
        ]

    def revoke(self, record: Working, seen: NewObservation) -> list[UUID]:
        """Let the spans of an observation support a record no more, and return the supports that counted.

        A text that was released is read anew, and its supports keep the observation that they were first granted for.
        """
        spans = set(seen.spans)
        gone = [s for s in record.effective if s.fragment_id == self.given.fragment_id and (s.start, s.end) in spans]
        record.supports = [replace(s, effective=False) if s in gone else s for s in record.supports]
        return [_support_id(record, s.fragment_id, s.start, s.end) for s in gone]

    def step(
        self, record: Working, standing: Standing, *, verification_id: UUID, actor_id: UUID | None = None
    ) -> Change | None:
        """Bring a record to a standing and to its counts; None when that changes nothing.

        :param actor_id: the person who decided; what a person takes out is held by a person
        """
        counts = len(record.effective), self.voices(record)
        before = record.tier, record.status, record.support_count, record.source_group_count
        if before == (standing.tier, standing.status, *counts):
            return None
        taken_out = actor_id is not None and standing.status is not Status.ACTIVE
        held = taken_out or (record.held_by_person and standing.status is record.status)
        change = Change(
            relationship_id=record.id,
            version=record.version + 1,
            tier_before=record.tier,
            status_before=record.status,
            tier=standing.tier,
            status=standing.status,
            held_by_person=held,
            support_count=counts[0],
            source_group_count=counts[1],
            reason=standing.reason,
            verification_id=verification_id,
            actor_id=actor_id,
        )
        record.tier, record.status, record.version = change.tier, change.status, change.version
        record.held_by_person = change.held_by_person
        record.support_count, record.source_group_count = counts
        return change


def _support_id(record: Working, fragment_id: UUID, start: int, end: int) -> UUID:
    return derived_id("support", record.id, fragment_id, start, end)


def _working(stored: StoredRecord) -> Working:
    return Working(
        id=stored.id,
        identity=stored.identity,
        behaviour=stored.behaviour,
        tier=stored.tier,
        status=stored.status,
        held_by_person=stored.held_by_person,
        version=stored.version,
        recorded_at=stored.recorded_at,
        valid_from_precision=stored.valid_from_precision,
        valid_to_precision=stored.valid_to_precision,
        support_count=stored.support_count,
        source_group_count=stored.source_group_count,
        supports=list(stored.supports),
        references=set(stored.references),
        superseded=stored.superseded,
    )
