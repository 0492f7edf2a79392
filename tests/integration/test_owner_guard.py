"""The database refuses to write into another owner's knowledge, even if the code tried."""

from collections.abc import Callable
from uuid import UUID

import pytest
from django.db import ProgrammingError, connection, transaction

from densemem.db.writer import Writer, write_as, writing_for_all
from entities.models import ResolutionEvent
from relationships.models import (
    EvidenceSupport,
    Lineage,
    Observation,
    ObservationResolution,
    RelationshipRecord,
    SupportDecision,
    Transition,
)
from relationships.vocabulary import Status
from tests import factories

pytestmark = pytest.mark.django_db

REFUSED = "into knowledge of another owner is refused"


def copy_of(row: object, **changed: object) -> Callable[[], None]:
    """Return a write of the same row once more, with other columns where they must be."""
    model = type(row)

    def write() -> None:
        given = {
            f.attname: getattr(row, f.attname) for f in model._meta.concrete_fields if f.attname not in ("id", "seq")
        }
        model.objects.create(**{**given, **changed})

    return write


@pytest.fixture
def theirs() -> RelationshipRecord:
    return factories.RelationshipRecord()


@pytest.fixture
def mine(theirs: RelationshipRecord) -> RelationshipRecord:
    return factories.RelationshipRecord(team=theirs.team)


def writes(theirs: RelationshipRecord, mine: RelationshipRecord) -> dict[str, Callable[[], object]]:
    """Return a forbidden write for each table that holds knowledge of an owner, as the owner of `mine`."""
    support = EvidenceSupport.objects.get(relationship=theirs)
    seen = Observation.objects.get(pk=support.observation_id)
    step = Transition.objects.get(relationship=theirs)
    reference = factories.CrossReference(source_relationship=theirs, target_relationship=mine)
    return {
        "a record": lambda: RelationshipRecord.objects.filter(pk=theirs.id).update(version=9),
        "a new record": copy_of(theirs, predicate_key="uses"),
        "a version": copy_of(step, version=2),
        "a support": copy_of(support, start=support.start + 1),
        "a support on one's own name": copy_of(support, start=support.start + 1, owner_id=mine.owner_id),
        "a decision": copy_of(SupportDecision.objects.get(support=support), action="revoke"),
        "an observation": copy_of(seen, ref="o9"),
        "a resolution": copy_of(ObservationResolution.objects.get(observation=seen)),
        "a reference": copy_of(reference, kind="corrects"),
        "a reference on one's own name": copy_of(reference, kind="corrects", author_id=mine.owner_id),
        "a mention": resolved(seen),
        "a lineage": lambda: Lineage.objects.create(
            team=theirs.team, successor=mine, predecessor=theirs, kind="replaced", effective_at=theirs.recorded_at
        ),
    }


def resolved(seen: Observation) -> Callable[[], object]:
    """Return a write of what a mention of a text means."""
    about = {name: getattr(seen, name) for name in ("team_id", "ingest_id", "fragment_id", "item_id")}
    meant = {"kind": "person", "start": 0, "end": 4, "action": "ambiguous", "confidence": 1, "reason": "open"}
    return lambda: ResolutionEvent.objects.create(**about, mention_ref="m9", **meant)


def refusal(write: Callable[[], object], *, by: UUID | None) -> str:
    """Return how the database answers a write; empty when it lets it pass."""
    try:
        with transaction.atomic():
            if by:
                write_as(by)
            write()
            transaction.set_rollback(True)
    except ProgrammingError as refused:
        return str(refused)
    return ""


def test_nobody_writes_into_the_knowledge_of_another(theirs: RelationshipRecord, mine: RelationshipRecord) -> None:
    tried = writes(theirs, mine)

    assert {name: REFUSED in refusal(write, by=mine.owner_id) for name, write in tried.items()} == dict.fromkeys(
        tried, True
    )


def test_without_a_named_profile_nothing_is_written(theirs: RelationshipRecord, mine: RelationshipRecord) -> None:
    tried = writes(theirs, mine)

    assert {name: REFUSED in refusal(write, by=None) for name, write in tried.items()} == dict.fromkeys(tried, True)


def test_the_owner_writes(theirs: RelationshipRecord, mine: RelationshipRecord) -> None:
    tried = writes(theirs, mine)
    forged = ("on one's own name", "a lineage")  # that the owner does not write either: two names, or two owners
    own = {name: write for name, write in tried.items() if not any(word in name for word in forged)}

    assert {name: refusal(write, by=theirs.owner_id) for name, write in own.items()} == dict.fromkeys(own, "")
    others = tried.keys() - own.keys()
    assert all(REFUSED in refusal(tried[name], by=theirs.owner_id) for name in others)


def moved(record: RelationshipRecord, status: str) -> Callable[[], object]:
    """Return a write that brings a record to a status."""
    fallen = {"tier": "candidate", "support_count": 0} if status != record.status else {}
    return lambda: RelationshipRecord.objects.filter(pk=record.id).update(version=9, status=status, **fallen)


def as_part(writer: Writer, write: Callable[[], object], *, by: UUID | None = None) -> str:
    """Return how the database answers a write of a named part of the server."""

    def wrapped() -> None:
        with writing_for_all(writer):
            write()

    return refusal(wrapped, by=by)


PENDING, HELD, ADMITTED = "pending_evidence", "quarantined", "active"
# By part, what it may do to a support, and to what it may bring a record that is active, quarantined, or waits.
PARTS: dict[Writer, tuple[set[str], ...]] = {
    Writer.SOURCE: ({"revoke"}, {ADMITTED, PENDING}, {PENDING, HELD}, {PENDING, ADMITTED}),
    Writer.JOIN: (set(), {ADMITTED}, {HELD}, {PENDING, ADMITTED}),
    Writer.HOLD: ({"revoke"}, {ADMITTED, PENDING, HELD}, {PENDING, HELD}, {PENDING, HELD, ADMITTED}),
    Writer.REDACTION: ({"revoke"}, {ADMITTED, PENDING}, {PENDING, HELD}, {PENDING, ADMITTED}),
    Writer.REINSTATE: ({"reinstate"}, {ADMITTED}, {HELD, ADMITTED}, {PENDING, ADMITTED}),
}


@pytest.mark.parametrize("writer", Writer)
def test_a_named_part_of_the_server_decides_about_supports_what_is_its_own_alone(
    theirs: RelationshipRecord, writer: Writer
) -> None:
    made = SupportDecision.objects.get(support__relationship=theirs)

    actions = ("grant", "revoke", "reinstate")
    assert {a for a in actions if not as_part(writer, copy_of(made, action=a))} == PARTS[writer][0]


@pytest.mark.parametrize("writer", Writer)
def test_a_named_part_of_the_server_moves_a_record_no_further_than_its_work_asks(
    theirs: RelationshipRecord, writer: Writer
) -> None:
    step = Transition.objects.get(relationship=theirs)
    steps = {"version": 2, "tier": "validated_claim", "tier_before": "validated_claim"}

    def reached(before: str) -> set[str]:
        steps_to = {s: copy_of(step, status_before=before, status=s, **steps) for s in Status}
        return {s.value for s, write in steps_to.items() if not as_part(writer, write)}

    assert (reached(ADMITTED), reached(HELD), reached(PENDING)) == PARTS[writer][1:]


@pytest.mark.parametrize("writer", Writer)
def test_a_named_part_of_the_server_changes_a_row_no_further_than_its_steps(
    theirs: RelationshipRecord, writer: Writer
) -> None:
    reached = {s.value for s in Status if not as_part(writer, moved(theirs, s.value))}

    assert reached == PARTS[writer][1]


@pytest.mark.parametrize("writer", Writer)
def test_a_named_part_of_the_server_makes_nothing(
    theirs: RelationshipRecord, mine: RelationshipRecord, writer: Writer
) -> None:
    tried = writes(theirs, mine)
    tried["a record of one's own"] = copy_of(mine, predicate_key="uses")
    told = {"a reference"} if writer is Writer.REINSTATE else set()
    counted = {"a record", "a version", "a decision"}

    passed = {name for name, write in tried.items() if not as_part(writer, write, by=mine.owner_id)}

    assert passed - counted == told


def test_the_right_of_the_server_ends_with_its_part(theirs: RelationshipRecord) -> None:
    with transaction.atomic():
        with writing_for_all(Writer.SOURCE):
            pass
        with pytest.raises(ProgrammingError, match=REFUSED), transaction.atomic():
            RelationshipRecord.objects.filter(pk=theirs.id).update(version=9)


def test_a_name_that_is_no_part_of_the_server_opens_nothing(theirs: RelationshipRecord) -> None:
    def write() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('densemem.writer', 'anybody', true)")
        RelationshipRecord.objects.filter(pk=theirs.id).update(version=9)

    assert REFUSED in refusal(write, by=None)
