"""What a decision about who is who does to the records of its author ("Merge and split require identity evidence").

A record never changes what it is about. One with the right ends takes its supports over, each with its span, source and
judgment; the record that they left keeps its history. No source counts twice: supports of one span fold into one.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol
from uuid import UUID

from densemem.core.faults import Because, Fault, Refused
from densemem.core.ids import derived_id
from relationships.identity import Identity
from relationships.policy.compare import Action, compare
from relationships.policy.standing import Standing, is_taken_out
from relationships.policy.stored import StoredRecord, StoredSupport
from relationships.vocabulary import LineageKind, Status, Tier

Place = tuple[UUID, int, int]  # fragment, start, end
Worth = Callable[[Sequence[StoredSupport]], tuple[Standing, int]]  # of supports: the standing, and how many voices
Home = Callable[[StoredRecord, StoredSupport | None], Identity | None]
HISTORY: Final = (LineageKind.CORRECTED, LineageKind.REKEYED, LineageKind.SPLIT)


class QuestionsOpen(Refused):
    """Something about these entities waits for its owner: it is answered first."""

    because = Because.CONFLICT
    code = "questions_open"


@dataclass(frozen=True, slots=True)
class Arrival:
    """
    A record that takes supports over.

    :param record: as it was; version 0 for one that does not exist yet
    :param came: what it takes over, from which record; one of each place
    :param left: what leaves its records for it; a span that it had already is among them
    :param supports: everything that counts for it then
    :param rival: the active record that it cannot stand beside
    """

    record: StoredRecord
    came: tuple[tuple[StoredRecord, StoredSupport], ...]
    left: tuple[tuple[StoredRecord, StoredSupport], ...]
    supports: tuple[StoredSupport, ...]
    standing: Standing
    voices: int
    held: bool
    rival: UUID | None = None


@dataclass(frozen=True, slots=True)
class Departure:
    """A record that supports leave.

    :param gone: what counted for it, and does not any more
    :param kept: what counts for it still
    """

    record: StoredRecord
    gone: tuple[StoredSupport, ...]
    kept: tuple[StoredSupport, ...]
    standing: Standing
    voices: int


@dataclass(frozen=True, slots=True)
class Reattribution:
    """Everything that moves, and what is left without a home: places that nobody attributed, by record."""

    arrivals: tuple[Arrival, ...]
    departures: tuple[Departure, ...]
    homeless: tuple[tuple[StoredRecord, StoredSupport], ...]


class Citing(Protocol):
    """Whatever cites an exact span: a support as the rules see it, or its row."""

    @property
    def fragment_id(self) -> UUID: ...

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


def place_of(support: Citing) -> Place:
    """Return the exact span of a support."""
    return support.fragment_id, support.start, support.end


def reattribute(
    leaving: Sequence[StoredRecord], *, own: Sequence[StoredRecord], home: Home, worth: Worth, kind: LineageKind
) -> Reattribution:
    """Decide what becomes of the records of one owner that are about an Entity which it takes for another now.

    :param leaving: those records, in every status
    :param own: the owner's records that the moved ones can meet; those of `leaving` may be among them
    :param home: where a support of a record belongs; None for nowhere. Asked without a support for a record that was
        forgotten, disputed or rejected by a person: its hold goes along
    :raises QuestionsOpen: one of the records waits for a person
    """
    _check_nothing_waits(leaving)
    moving = [r for r in leaving if _moves(r)]
    stays = {r.identity: r for r in own if r.id not in {m.id for m in moving}}
    bound = _gather(moving, home)
    _check_nothing_waits([stays[identity] for identity in bound if identity in stays])
    arrivals: list[Arrival] = []
    standing = [r for r in stays.values() if r.status is Status.ACTIVE]
    for identity, came in bound.items():
        arrival = _arrive(identity, came, stays.get(identity), worth=worth, kind=kind)
        if arrival is None:
            continue
        beside = [*standing, *(_stood(a) for a in arrivals if _rises(a))]
        arrivals.append(_unless_it_meets(arrival, beside))
    taken = {(r.id, place_of(s)) for a in arrivals for r, s in a.left}
    homeless = [(r, s) for r in moving if r.status is Status.ACTIVE for s in r.effective if home(r, s) is None]
    lost = taken | {(r.id, place_of(s)) for r, s in homeless}
    departures = [d for r in moving if (d := _depart(r, lost, worth=worth, kind=kind))]
    return Reattribution(tuple(arrivals), tuple(departures), tuple(homeless))


def moved_to(identity: Identity, ends: Mapping[UUID, UUID], *, symmetric: bool) -> Identity:
    """Return an identity with other entities at its ends; those of a symmetric predicate stay in their one order."""
    subject = ends.get(identity.subject_id, identity.subject_id)
    entity = identity.object_entity_id
    if entity is not None:
        entity = ends.get(entity, entity)
        if symmetric and entity < subject:
            subject, entity = entity, subject
    return replace(identity, subject_id=subject, object_entity_id=entity)


def _moves(record: StoredRecord) -> bool:
    """Tell if a record follows its Entity: what is active, and what a person holds. The rest is history, or bare."""
    held = is_taken_out(status=record.status, held_by_person=record.held_by_person)
    return held or (record.status is Status.ACTIVE and bool(record.effective))


def _check_nothing_waits(records: Iterable[StoredRecord]) -> None:
    if waiting := [r for r in records if r.status is Status.REVIEW]:
        faults = [Fault("", "needs_review", f"Your Relationship {r.id} waits for your answer.") for r in waiting]
        raise QuestionsOpen("Answer what is open about these entities first.", faults=faults)


def _gather(
    moving: Sequence[StoredRecord], home: Home
) -> dict[Identity, list[tuple[StoredRecord, StoredSupport | None]]]:
    """Group what moves by where it belongs; what is active comes first."""
    bound: dict[Identity, list[tuple[StoredRecord, StoredSupport | None]]] = defaultdict(list)
    for record in sorted(moving, key=lambda r: (r.status is not Status.ACTIVE, r.id)):
        for support in record.effective or (None,):
            identity = home(record, support)
            if identity is not None and identity != record.identity:
                bound[identity].append((record, support))
    return bound


def _arrive(
    identity: Identity,
    came: Sequence[tuple[StoredRecord, StoredSupport | None]],
    there: StoredRecord | None,
    *,
    worth: Worth,
    kind: LineageKind,
) -> Arrival | None:
    """Return the record that takes over, judged; None when nothing moves to it.

    What a person took out and what is said meet: neither undoes the other, so the owner is asked.
    """
    active = [c for c in came if c[0].status is Status.ACTIVE]
    if there is not None and not active:
        return None  # what is held stays with what it was held about
    first = next((r for r, _ in came if r.status is not Status.ACTIVE), came[0][0])
    record = there or _new(identity, first, kind)
    left = [(r, s) for r, s in (active if there else came) if s is not None]
    taken = _once(left, {place_of(s) for s in record.effective})
    supports = (*record.effective, *(s for _, s in taken))
    judged, voices = worth(supports)
    standing, held = _standing(record, active, first, judged, more=voices > worth(record.effective)[1], kind=kind)
    return Arrival(record, tuple(taken), tuple(left), supports, standing, voices, held)


def _once(
    came: Sequence[tuple[StoredRecord, StoredSupport]], there: Collection[Place]
) -> list[tuple[StoredRecord, StoredSupport]]:
    """Keep one support of each span."""
    seen, kept = set(there), []
    for record, support in came:
        if place_of(support) not in seen:
            seen.add(place_of(support))
            kept.append((record, support))
    return kept


def _standing(
    record: StoredRecord,
    active: Sequence[tuple[StoredRecord, StoredSupport | None]],
    first: StoredRecord,
    judged: Standing,
    *,
    more: bool,
    kind: LineageKind,
) -> tuple[Standing, bool]:
    """Return where the record stands, and if a person holds it."""
    if not record.version:
        if first.status is not Status.ACTIVE:
            reason = f"stated_again_after_{first.status}" if active else reason_of(kind)
            return Standing(Tier.CANDIDATE, first.status, reason, task=bool(active)), first.held_by_person
        return replace(judged, reason=reason_of(kind)), False
    if is_taken_out(status=record.status, held_by_person=record.held_by_person):
        again = Standing(record.tier, record.status, f"stated_again_after_{record.status}", task=more)
        return again, record.held_by_person
    if record.status is Status.SUPERSEDED:
        if record.superseded and record.superseded[0] in HISTORY:
            return Standing(record.tier, record.status, reason_of(kind)), False
        return Standing(Tier.CANDIDATE, Status.REVIEW, "conflict_held", task=True), False
    return replace(judged, reason=reason_of(kind)), False


def reason_of(kind: LineageKind) -> str:
    """Return the reason that every step of a decision about identity gives."""
    return "identity_merge" if kind is LineageKind.REKEYED else "identity_split"


def _new(identity: Identity, like: StoredRecord, kind: LineageKind) -> StoredRecord:
    """Return the record of an identity that the owner does not have yet; its id follows from the one it comes from."""
    return replace(
        like,
        id=derived_id("record", like.id, like.version, kind, identity.subject_id, *map(str, identity.object)),
        identity=identity,
        tier=Tier.CANDIDATE,
        status=Status.PENDING,
        held_by_person=False,
        version=0,
        support_count=0,
        source_group_count=0,
        supports=(),
        references=frozenset(),
        superseded=None,
    )


def _rises(arrival: Arrival) -> bool:
    """Tell if a record becomes active by what arrives."""
    return arrival.standing.status is Status.ACTIVE and arrival.record.status is not Status.ACTIVE


def _stood(arrival: Arrival) -> StoredRecord:
    """Return a record as it stands when everything has arrived."""
    return replace(
        arrival.record, tier=arrival.standing.tier, status=arrival.standing.status, supports=arrival.supports
    )


def _unless_it_meets(arrival: Arrival, standing: Sequence[StoredRecord]) -> Arrival:
    """Hold what would become active beside a record that it does not go with: identity supersedes nothing."""
    if not _rises(arrival):
        return arrival
    if arrival.record.identity.is_self_relation:
        return _asked(arrival, "self_relation", None)
    new = _stood(arrival).position()
    for other in standing:
        old = other.position()
        if any(c.action is not Action.COEXIST for c in (compare(new, old), compare(old, new))):
            return _asked(arrival, "conflict_held", other.id)
    return arrival


def _asked(arrival: Arrival, reason: str, rival: UUID | None) -> Arrival:
    return replace(arrival, standing=Standing(Tier.CANDIDATE, Status.REVIEW, reason, task=True), rival=rival)


def _depart(
    record: StoredRecord, lost: Collection[tuple[UUID, Place]], *, worth: Worth, kind: LineageKind
) -> Departure | None:
    gone = tuple(s for s in record.effective if (record.id, place_of(s)) in lost)
    if not gone:
        return None
    kept = tuple(s for s in record.effective if s not in gone)
    status = Status.SUPERSEDED if record.status is Status.ACTIVE else record.status
    return Departure(record, gone, kept, Standing(record.tier, status, reason_of(kind)), worth(kept)[1])
