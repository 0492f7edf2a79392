"""The database refuses to write into another owner's knowledge, even if the code tried."""

from collections.abc import Callable
from uuid import UUID

import pytest
from django.db import ProgrammingError, connection, transaction

from densemem.db.writer import Writer, write_as, writing_for_all
from relationships.models import (
    EvidenceSupport,
    Lineage,
    Observation,
    ObservationResolution,
    RelationshipRecord,
    SupportDecision,
    Transition,
)
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
        "a lineage": lambda: Lineage.objects.create(
            team=theirs.team, successor=mine, predecessor=theirs, kind="replaced", effective_at=theirs.recorded_at
        ),
    }


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


@pytest.mark.parametrize("writer", Writer)
def test_named_parts_of_the_server_recount_and_make_nothing(
    theirs: RelationshipRecord, mine: RelationshipRecord, writer: Writer
) -> None:
    tried = writes(theirs, mine)

    def as_server(write: Callable[[], object]) -> str:
        def wrapped() -> None:
            with writing_for_all(writer):
                write()

        return refusal(wrapped, by=None)

    passed = {name for name, write in tried.items() if not as_server(write)}
    assert passed == {"a record", "a version", "a decision"}


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
