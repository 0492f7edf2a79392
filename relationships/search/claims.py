"""Records put into words: who says what of what, with names ("Normal Recall And Trace")."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final
from uuid import UUID

from densemem.core.words import GONE, REDACTED
from entities.queries import entity_views, value_displays
from relationships.identity import claim_sentence
from relationships.models import RelationshipRecord, Transition
from relationships.vocabulary import Polarity, Status

HELD: Final = "(held text)"


@dataclass(frozen=True, slots=True)
class Profile:
    """The author of a record or of evidence."""

    profile_id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class EntityEnd:
    """An Entity at one end of a claim."""

    entity_id: UUID
    name: str
    kind: str

    @property
    def words(self) -> str:
        """How the end reads in a sentence."""
        return self.name


@dataclass(frozen=True, slots=True)
class ValueEnd:
    """A typed value as the object of a claim: as it was written, and in its canonical form."""

    value_id: UUID
    display: str
    type: str
    value: str
    unit: str | None

    @property
    def words(self) -> str:
        """How the end reads in a sentence."""
        return self.display


@dataclass(frozen=True, slots=True)
class Claim:
    """One profile's record as it may be shown: no score, no evidence text. Times are UTC, half-open; None is open.

    A record whose evidence is held names neither end.
    """

    relationship_id: UUID
    author: Profile
    subject: EntityEnd
    predicate: str
    object: EntityEnd | ValueEnd
    polarity: str
    scope: str | None
    tier: str
    status: str
    support_count: int
    source_group_count: int
    valid_from: datetime | None
    valid_from_precision: str | None
    valid_to: datetime | None
    valid_to_precision: str | None
    version: int
    recorded_at: datetime
    sentence: str
    trace_available: bool = True


def claims_of(*, team_id: UUID, rows: Sequence[RelationshipRecord], known_at: datetime | None = None) -> list[Claim]:
    """Return the claims of these records of one team, in their order. Two queries, three with `known_at`.

    Load the rows with `select_related("owner")`.

    :param known_at: each claim stands as its ledger said by then; None for now. A name never changes but by redaction
    """
    entities = {row.subject_entity_id for row in rows} | {row.object_entity_id for row in rows if row.object_entity_id}
    views = entity_views(team_id=team_id, entity_ids=entities)
    values = value_displays(team_id=team_id, value_ids={row.object_value_id for row in rows if row.object_value_id})
    named = {i: EntityEnd(i, view.canonical_name, view.kind.value) for i, view in views.items()}
    typed = {i: ValueEnd(i, v.display, v.type, _unless_gone(v.canonical), v.unit) for i, v in values.items()}
    stood = _stood(team_id, rows, known_at) if known_at else {}
    return [
        _claim(row, stood.get(row.id, row), named[row.subject_entity_id], _object(row, named, typed)) for row in rows
    ]


def _stood(team_id: UUID, rows: Sequence[RelationshipRecord], at: datetime) -> dict[UUID, Transition]:
    """Return the newest step of each record by a moment."""
    steps = Transition.objects.of_team(team_id).filter(relationship__in=[row.id for row in rows]).known_by(at)
    newest = steps.order_by("relationship_id", "-version").distinct("relationship_id")
    return {step.relationship_id: step for step in newest}


def _object(
    row: RelationshipRecord, named: Mapping[UUID, EntityEnd], typed: Mapping[UUID, ValueEnd]
) -> EntityEnd | ValueEnd:
    if row.object_entity_id is not None:
        return named[row.object_entity_id]
    assert row.object_value_id is not None
    return typed[row.object_value_id]


def _unless_gone(words: str) -> str:
    return REDACTED if words.startswith(GONE) else words


def _unnamed(end: EntityEnd | ValueEnd) -> EntityEnd | ValueEnd:
    if isinstance(end, EntityEnd):
        return replace(end, name=HELD)
    return replace(end, display=HELD, value=HELD, unit=None)


def _claim(
    row: RelationshipRecord, stood: RelationshipRecord | Transition, subject: EntityEnd, object_: EntityEnd | ValueEnd
) -> Claim:
    if Status.QUARANTINED in (row.status, stood.status):  # what it says is, or was, the word of a text that is held
        subject, object_ = replace(subject, name=HELD), _unnamed(object_)
    return Claim(
        relationship_id=row.id,
        author=Profile(row.owner_id, row.owner.name),
        subject=subject,
        predicate=row.predicate_key,
        object=object_,
        polarity=row.polarity,
        scope=row.scope_key and _unless_gone(row.scope_key),
        tier=stood.tier,
        status=stood.status,
        support_count=stood.support_count,
        source_group_count=stood.source_group_count,
        valid_from=row.valid_from,
        valid_from_precision=row.valid_from_precision,
        valid_to=row.valid_to,
        valid_to_precision=row.valid_to_precision,
        version=stood.version,
        recorded_at=row.recorded_at,
        sentence=claim_sentence(subject.words, row.predicate_key, object_.words, Polarity(row.polarity)),
    )
