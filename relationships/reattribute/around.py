"""An owner's records about entities, locked with everything that they can meet, and what becomes of them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from django.db.models import Q

from densemem.core import limits
from densemem.core.faults import Because, Refused
from densemem.db.locks import lock
from densemem.db.read import fetch
from relationships.identity import Identity
from relationships.models import (
    Observation,
    RelationshipRecord,
)
from relationships.operations.meeting import judged
from relationships.operations.standing import FanoutExceeded
from relationships.policy import (
    Home,
    Place,
    Reattribution,
    Standing,
    StoredRecord,
    StoredSupport,
    moved_to,
    place_of,
    reattribute,
)
from relationships.queries import ever_registered, records_by_id, stored_records
from relationships.vocabulary import LineageKind, Status

Ends = tuple[UUID | None, UUID | None]  # whom the subject and the object of an observation mean now; None: not said

CITING: Final = """
    SELECT DISTINCT ON (seen.id) seen.id, seen.item_id, seen.fragment_id, seen.subject_ref, seen.object_ref,
      become.relationship_id, become.subject_entity_id, become.object_entity_id,
      (SELECT array_agg(ARRAY[span.start, span."end"] ORDER BY span.position)
       FROM relationships_observationspan AS span WHERE span.observation_id = seen.id)
    FROM relationships_observation AS seen
    JOIN relationships_observationresolution AS become
      ON (become.team_id, become.observation_id) = (seen.team_id, seen.id)
    WHERE seen.team_id = %(team)s AND seen.owner_id = %(owner)s AND seen.item_id = ANY(%(items)s)
      AND seen.cycle = (
        SELECT max(newest.cycle) FROM relationships_observation AS newest
        WHERE (newest.team_id, newest.item_id) = (seen.team_id, seen.item_id))
    ORDER BY seen.id, become.seq DESC"""


class ChangedMeanwhile(Refused):
    """Something came in between looking and locking; the same request may be sent again."""

    because = Because.CONFLICT
    code = "changed_meanwhile"


@dataclass(frozen=True, slots=True)
class Cited:
    """An observation of the newest reading of its text, and what its ends were taken for last."""

    observation_id: UUID
    item_id: UUID
    fragment_id: UUID
    subject_ref: str
    object_ref: str
    relationship_id: UUID | None
    subject_id: UUID | None
    object_id: UUID | None
    places: frozenset[Place]


@dataclass(frozen=True, slots=True)
class Around:
    """Records of one owner about entities, locked with everything that they can meet where they go."""

    leaving: tuple[StoredRecord, ...]
    met: tuple[StoredRecord, ...]
    symmetric: frozenset[str]

    def own(self, owner_id: UUID) -> list[StoredRecord]:
        """Return the owner's among those that can be met."""
        return [r for r in self.met if r.identity.owner_id == owner_id]

    def others(self, owner_id: UUID) -> list[StoredRecord]:
        """Return other profiles' active ones."""
        return [r for r in self.met if r.identity.owner_id != owner_id and r.status is Status.ACTIVE]


def observations_citing(*, team_id: UUID, owner_id: UUID, item_ids: Collection[UUID]) -> list[Cited]:
    """Return what an owner's items said when they were read last, each with its newest resolution."""
    rows = fetch(CITING, team=team_id, owner=owner_id, items=list(item_ids))
    return [
        Cited(number, item, fragment, subject, object_, record, one, other, _places(fragment, spans))
        for number, item, fragment, subject, object_, record, one, other, spans in rows
    ]


def _places(fragment_id: UUID, spans: Sequence[Sequence[int]] | None) -> frozenset[Place]:
    return frozenset((fragment_id, start, end) for start, end in spans or ())


def records_touching(*, team_id: UUID, owner_id: UUID, entity_ids: Collection[UUID]) -> set[UUID]:
    """Return every record of an owner that has one of these entities at an end.

    :raises FanoutExceeded: more than one transaction may change
    """
    about = Q(subject_entity_id__in=entity_ids) | Q(object_entity_id__in=entity_ids)
    rows = RelationshipRecord.objects.of_team(team_id).filter(about, owner_id=owner_id)
    found = set(rows.values_list("pk", flat=True)[: limits.FANOUT_RECORDS + 1])
    if len(found) > limits.FANOUT_RECORDS:
        raise FanoutExceeded("Too many Relationships are about these entities to move them at once.")
    return found


def items_resting(*, team_id: UUID, record_ids: Collection[UUID]) -> set[UUID]:
    """Return the items whose statements hold these records up."""
    records = records_by_id(team_id=team_id, record_ids=record_ids)
    seen = {s.observation_id for r in records for s in r.effective if s.observation_id}
    return set(items_of_observations(team_id=team_id, observation_ids=seen).values())


def lock_around(*, team_id: UUID, owner_id: UUID, entity_ids: Collection[UUID], into: Collection[UUID]) -> Around:
    """Lock an owner's records about entities, and every record that those can meet with others at their ends.

    :param into: the entities that may stand in the place of the first
    :raises FanoutExceeded: more than one transaction may change
    :raises ChangedMeanwhile: a record came in between
    """
    ids = records_touching(team_id=team_id, owner_id=owner_id, entity_ids=entity_ids)
    symmetric = frozenset(key for key, view in ever_registered(team_id=team_id).items() if view.symmetric)
    pairs = {pair for r in records_by_id(team_id=team_id, record_ids=ids) for pair in _slots(r, entity_ids, into)}
    for subject, predicate in sorted(pairs):
        lock("slot", team_id, subject, predicate)
    if records_touching(team_id=team_id, owner_id=owner_id, entity_ids=entity_ids) != ids:
        raise ChangedMeanwhile("Something new came in about these entities. Send the same again.")
    met = stored_records(team_id=team_id, pairs=pairs, also=ids, lock=True)
    leaving = tuple(r for r in met if r.id in ids)
    if sum(len(r.effective) for r in leaving) > limits.FANOUT_SUPPORTS:
        raise FanoutExceeded("Too much evidence rests on these entities to move it at once.")
    return Around(leaving, tuple(met), symmetric)


def _slots(record: StoredRecord, entity_ids: Collection[UUID], into: Collection[UUID]) -> Iterator[tuple[UUID, str]]:
    """Yield each (subject, predicate) that a record has or may have, also with its ends the other way round."""
    for end in (record.identity.subject_id, record.identity.object_entity_id):
        if end is not None:
            for entity in (end, *(into if end in entity_ids else ())):
                yield entity, record.behaviour.key


def decide_merge(around: Around, *, owner_id: UUID, ends: Mapping[UUID, UUID]) -> Reattribution:
    """Decide what moves when a profile takes entities for others.

    :param ends: by absorbed Entity, the survivor
    :raises QuestionsOpen: a record waits for its owner
    """

    def home(record: StoredRecord, _: StoredSupport | None) -> Identity | None:
        return moved_to(record.identity, ends, symmetric=record.behaviour.key in around.symmetric)

    return _decide(around, owner_id=owner_id, home=home, kind=LineageKind.REKEYED)


def decide_split(
    around: Around, *, owner_id: UUID, parent_id: UUID, attributed: Mapping[tuple[UUID, Place], Ends]
) -> Reattribution:
    """Decide what moves when a profile tells an Entity apart: what was attributed, span by span.

    :param attributed: by record and span, whom its ends mean; what is not there has no home
    :raises QuestionsOpen: a record waits for its owner
    """

    def home(record: StoredRecord, support: StoredSupport | None) -> Identity | None:
        if support is None:
            return None
        ends = attributed.get((record.id, place_of(support)), (None, None))
        return _parted(record, ends, parent_id, symmetric=record.behaviour.key in around.symmetric)

    return _decide(around, owner_id=owner_id, home=home, kind=LineageKind.SPLIT)


def _parted(record: StoredRecord, ends: Ends, parent_id: UUID, *, symmetric: bool) -> Identity | None:
    """Return the identity with each end that was the parent told apart; None when one of them is not."""
    identity = record.identity
    if identity.is_self_relation:
        if None in ends:
            return None
        subject, entity = ends
        assert subject is not None and entity is not None
        if symmetric and entity < subject:
            subject, entity = entity, subject
        return replace(identity, subject_id=subject, object_entity_id=entity)
    meant = ends[0] or ends[1]
    return moved_to(identity, {parent_id: meant}, symmetric=symmetric) if meant else None


def _decide(around: Around, *, owner_id: UUID, home: Home, kind: LineageKind) -> Reattribution:
    team = around.leaving[0].identity.team_id if around.leaving else None

    def worth(supports: Sequence[StoredSupport]) -> tuple[Standing, int]:
        assert team is not None
        return judged(supports, team_id=team)

    return reattribute(around.leaving, own=around.own(owner_id), home=home, worth=worth, kind=kind)


def items_of_observations(*, team_id: UUID, observation_ids: Collection[UUID]) -> dict[UUID, UUID]:
    """Return, by observation, the item that it was read in."""
    rows = Observation.objects.of_team(team_id).filter(pk__in=list(observation_ids))
    return dict(rows.values_list("id", "item_id"))


def count_of_others(*, team_id: UUID, owner_id: UUID, entity_ids: Collection[UUID]) -> int:
    """Count the records of other profiles about these entities: none of them changes."""
    about = Q(subject_entity_id__in=entity_ids) | Q(object_entity_id__in=entity_ids)
    return RelationshipRecord.objects.of_team(team_id).filter(about).exclude(owner_id=owner_id).count()


def versions_of(*, team_id: UUID, record_ids: Collection[UUID]) -> list[tuple[str, int]]:
    """Return (record, version) of these records, in the order of their ids."""
    rows = RelationshipRecord.objects.of_team(team_id).filter(pk__in=record_ids).order_by("pk")
    return [(str(number), version) for number, version in rows.values_list("id", "version")]
