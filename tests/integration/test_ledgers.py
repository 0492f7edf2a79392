"""The laws that the database itself keeps: history is append-only, and no row points into another team."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pgtrigger
import pytest
from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.search import SearchVectorField
from django.db import DatabaseError, IntegrityError, ProgrammingError, connections, models, transaction
from psycopg import ClientCursor

from densemem.auth import Principal
from densemem.core.ids import uuid7
from densemem.db.fields import IdField, TeamKey
from densemem.db.rows import TeamRow
from densemem.models import Team
from relationships.models import RelationshipRecord
from relationships.models.record import IDENTITY
from tests.said import Fact, say, someone
from tests.writing import writing

pytestmark = pytest.mark.django_db(databases=["default", "owner"])

LEDGERS = [model for model in apps.get_models() if getattr(model, "ledger", False)]
OF_TEAMS = [model for model in apps.get_models() if issubclass(model, TeamRow) and model._meta.managed]
KEYS = [
    (model, field)
    for model in OF_TEAMS
    for field in model._meta.local_fields
    if isinstance(field, models.ForeignKey) and issubclass(field.related_model, TeamRow)
]
ROLES = ["default", "owner"]  # the application's role, and the role that owns the tables
GUARDED = (
    "ConflictStatement",
    "CrossReference",
    "EvidenceSupport",
    "Lineage",
    "Observation",
    "ObservationResolution",
    "ObservationSpan",
    "SupportDecision",
    "Transition",
    "VerificationEvent",
)
# Of single ledgers, beside the laws of all.
LAWS = {f"relationships.{name}": {"pgtrigger_insert_by_owner"} for name in GUARDED} | {
    "entities.ResolutionEvent": {"pgtrigger_insert_by_owner"},
    "relationships.PredicateDefinition": {"pgtrigger_meaning_fixed"},
}
NUMBERS = itertools.count(1)
SOME_TIME = datetime(2025, 1, 1, tzinfo=UTC)
TRIGGERS = """
    SELECT t.tgname, t.tgtype & 1 = 1, t.tgenabled::text, pg_get_triggerdef(t.oid)
    FROM pg_trigger t WHERE t.tgrelid = %s::regclass AND NOT t.tgisinternal
"""
FOREIGN = """
    SELECT c.conname, c.confrelid::regclass::text, c.condeferrable AND c.condeferred, c.convalidated
    FROM pg_constraint c WHERE c.conrelid = %s::regclass AND c.contype = 'f'
    AND c.conkey = ARRAY(SELECT attnum FROM pg_attribute WHERE attrelid = c.conrelid AND attname = ANY(%s)
                         ORDER BY array_position(%s::name[], attname))
    AND c.confkey = ARRAY(SELECT attnum FROM pg_attribute WHERE attrelid = c.confrelid AND attname IN ('team_id', 'id')
                          ORDER BY attname DESC)
"""
UNIQUE = """
    SELECT count(*) FROM pg_constraint c WHERE c.conrelid = %s::regclass AND c.contype = 'u'
    AND c.conkey = ARRAY(SELECT attnum FROM pg_attribute WHERE attrelid = c.conrelid AND attname IN ('team_id', 'id')
                         ORDER BY attname DESC)
"""


def label(value: Any) -> str:
    """Name a model or a field in the ids of tests."""
    if isinstance(value, models.Field):
        return value.name
    return value._meta.label if isinstance(value, type) else str(value)


@contextmanager
def undone(alias: str = "default") -> Iterator[Any]:
    """Give a cursor of a role; nothing of what is done is kept, and deferred keys are never asked for."""
    with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
        yield cursor
        transaction.set_rollback(True, using=alias)


@contextmanager
def ignored(*triggers: str, alias: str) -> Iterator[Any]:
    """Give a cursor whose statements bring pgtrigger's word in front, as none can that was prepared."""
    made = connections[alias].connection
    kept, made.cursor_factory = made.cursor_factory, ClientCursor
    try:
        with pgtrigger.ignore(*triggers, databases=[alias]), connections[alias].cursor() as cursor:  # noqa: TID251
            yield cursor
    finally:
        made.cursor_factory = kept


def any_value(field: models.Field) -> Any:
    """Return some value that a column takes; numbers grow, so that spans are in order."""
    if field.null or field.has_default() or isinstance(field, IdField):
        return None if field.null else field.get_default()
    if isinstance(field, models.ForeignKey):
        return uuid4()
    if isinstance(field, ArrayField):
        return []
    if field.choices:
        return field.choices[0][0]
    made = {
        models.UUIDField: uuid4,
        models.JSONField: dict,
        models.BooleanField: bool,
        models.DateTimeField: lambda: SOME_TIME + timedelta(days=next(NUMBERS)),
        models.DateField: lambda: SOME_TIME.date(),
        models.DecimalField: lambda: 0,
        models.CharField: lambda: f"text {next(NUMBERS)}",
        models.TextField: lambda: "text",
        SearchVectorField: lambda: "text",
        models.IntegerField: lambda: next(NUMBERS),
    }
    return next(make() for kind, make in made.items() if isinstance(field, kind))


# What the checks of single tables ask for beyond the kind of the column.
NEEDED: dict[str, dict[str, Any]] = {
    "entities.ResolutionEvent": {"action": "ambiguous"},
    "densemem.Membership": {"profile_id": uuid4},
    "evidence.FragmentRetirement": {"by_ingest_id": uuid4},
    "relationships.RelationshipRecord": {"object_entity_id": uuid4, "tier": "candidate", "status": "needs_review"},
    "densemem.Profile": {"kind": "person", "user_id": lambda: next(NUMBERS)},
    "evidence.Shingles": {"hashes": lambda: [1], "sample": lambda: [1]},
}

# What goes with a foreign key that is given.
BESIDE: dict[str, dict[str, Any]] = {
    "densemem.Profile.steward": {"kind": "agent", "user_id": None},
    "entities.ResolutionEvent.entity": {"action": "create"},
    "evidence.Fragment.source": {"revision_id": uuid4},
    "evidence.Fragment.revision": {"source_id": uuid4},
    "evidence.FragmentRetirement.by_profile": {"by_ingest_id": None},
    "relationships.RelationshipRecord.object_value": {"object_entity_id": None},
}


def made_up(model: Any, alias: str, *, writer: UUID | None = None, **fixed: Any) -> Any:
    """Insert a row whose foreign keys lead nowhere, as long as nobody asks; it is its writer's own."""
    fields = [f for f in model._meta.local_fields if not f.has_db_default()]
    given = {f.attname: any_value(f) for f in fields}
    needed = NEEDED.get(model._meta.label, {}) | fixed
    given |= {name: value() if callable(value) else value for name, value in needed.items()}
    given |= {name: writer for name in ("owner_id", "author_id") if writer and name in given and name not in fixed}
    with writing(given.get("owner_id") or writer or uuid4(), using=alias):
        return model.objects.using(alias).create(**given)


class TestMadeUpRow:
    """The tests below stand on these rows."""

    @pytest.mark.parametrize("alias", ROLES)
    @pytest.mark.parametrize("model", sorted({*LEDGERS, *OF_TEAMS}, key=label), ids=label)
    def test_is_taken_by_its_table(self, model: Any, alias: str) -> None:
        with undone(alias):
            row = made_up(model, alias)
            assert model.objects.using(alias).filter(pk=row.pk).exists()


@pytest.mark.parametrize("alias", ROLES)
@pytest.mark.parametrize("model", LEDGERS, ids=label)
class TestLedger:
    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE {table} SET recorded_at = recorded_at",
            "DELETE FROM {table}",
            "INSERT INTO {table} SELECT * FROM {table} ON CONFLICT (id) DO UPDATE SET recorded_at = now()",
        ],
        ids=["update", "delete", "upsert"],
    )
    def test_refuses_raw_sql(self, model: Any, alias: str, statement: str) -> None:
        with undone(alias) as cursor:
            made_up(model, alias)

            refused(cursor, alias, statement.format(table=model._meta.db_table))

    def test_refuses_to_be_emptied_even_when_it_is_empty(self, model: Any, alias: str) -> None:
        with undone(alias) as cursor:
            refused(cursor, alias, f"TRUNCATE {model._meta.db_table} CASCADE")

    def test_refuses_the_mapper(self, model: Any, alias: str) -> None:
        with undone(alias):
            row = made_up(model, alias)
            rows = model.objects.using(alias).filter(pk=row.pk)
            for change in (
                lambda: rows.update(recorded_at=SOME_TIME),
                lambda: rows.bulk_update([row], ["recorded_at"]),
                lambda: row.save(using=alias, force_update=True),
                lambda: row.delete(using=alias),
                lambda: rows._raw_delete(alias),
            ):
                with pytest.raises(REFUSED[alias], match=WORDS[alias]), transaction.atomic(using=alias):
                    change()
            assert rows.exists()

    def test_does_not_step_aside_when_triggers_are_ignored(self, model: Any, alias: str) -> None:
        uris = [f"{model._meta.label}:{name}" for name in ("append_only", "no_truncate")]
        with undone(alias), ignored(*uris, alias=alias) as cursor:
            refused(cursor, alias, f"TRUNCATE {model._meta.db_table} CASCADE")
            made_up(model, alias)
            for statement in ("DELETE FROM {}", "UPDATE {} SET recorded_at = now()"):
                refused(cursor, alias, statement.format(model._meta.db_table))


# The application's role lacks the right; the owner of the table meets the trigger.
REFUSED = {"default": ProgrammingError, "owner": IntegrityError}
WORDS = {"default": "permission denied", "owner": "history is append-only"}


def refused(cursor: Any, alias: str, statement: str) -> None:
    """Make sure that a statement is refused, for the reason that holds for the role."""
    with pytest.raises(REFUSED[alias], match=WORDS[alias]), transaction.atomic(using=alias):
        cursor.execute(statement)


class TestCatalogue:
    def test_knows_the_ledgers(self) -> None:
        assert len(LEDGERS) > 20
        assert len(KEYS) > 60

    @pytest.mark.parametrize("model", LEDGERS, ids=label)
    def test_has_both_triggers_of_every_ledger_enabled(self, model: Any) -> None:
        with undone() as cursor:
            cursor.execute(TRIGGERS, [model._meta.db_table])
            found = {name.rsplit("_", 1)[0]: rest for name, *rest in cursor.fetchall()}

        assert set(found) == {"pgtrigger_append_only", "pgtrigger_no_truncate", *LAWS.get(model._meta.label, ())}
        assert all(enabled in "OA" and " WHEN " not in text for _, enabled, text in found.values())
        assert found["pgtrigger_append_only"][0] and not found["pgtrigger_no_truncate"][0]
        assert "BEFORE DELETE OR UPDATE ON" in found["pgtrigger_append_only"][2]
        assert "BEFORE TRUNCATE ON" in found["pgtrigger_no_truncate"][2]

    @pytest.mark.parametrize("model", OF_TEAMS, ids=label)
    def test_has_team_and_id_unique_together(self, model: Any) -> None:
        with undone() as cursor:
            cursor.execute(UNIQUE, [model._meta.db_table])
            assert cursor.fetchone() == (1,)

    def test_knows_every_key_that_is_said_to_stay_in_a_team(self) -> None:
        said = {field for m in apps.get_models() for field in m._meta.local_fields if isinstance(field, TeamKey)}

        assert said <= {field for _, field in KEYS}


@pytest.mark.parametrize(("model", "field"), KEYS, ids=label)
class TestTeamKey:
    def test_has_its_foreign_key_of_two_columns(self, model: Any, field: models.ForeignKey) -> None:
        columns = ["team_id", field.column]
        with undone() as cursor:
            cursor.execute(FOREIGN, [model._meta.db_table, columns, columns])
            (found,) = cursor.fetchall()

        assert found[1:] == (field.related_model._meta.db_table, True, True)

    def test_refuses_a_row_of_another_team(self, model: Any, field: models.ForeignKey) -> None:
        team, other = (Team.objects.create(name=name) for name in ("Mine", "Theirs"))
        name = f"{model._meta.db_table}_{field.column}_in_team"[:63]
        with undone() as cursor:
            near, far = (made_up(field.related_model, "default", team_id=t.id) for t in (team, other))
            beside = BESIDE.get(f"{model._meta.label}.{field.name}", {})
            whose = {"writer": getattr(near, "owner_id", None)}
            made_up(model, "default", team_id=team.id, **whose | beside | {field.attname: near.pk})
            cursor.execute(f'SET CONSTRAINTS "{name}" IMMEDIATE')  # a row of the same team is taken
            with pytest.raises(IntegrityError, match=name), transaction.atomic():
                whose = {"writer": getattr(far, "owner_id", None)}
                made_up(model, "default", team_id=team.id, **whose | beside | {field.attname: far.pk})


class TestRecord:
    WORKS = Fact("Mara Lind", "works on", "Harbor", "works_on")

    @pytest.fixture
    def speaker(self) -> Principal:
        """Somebody who said one thing."""
        who = someone(Team.objects.create(name="Northwind (sample)"), "Ada")
        say(who, "Mara Lind works on Harbor.", self.WORKS)
        return who

    @pytest.mark.parametrize("column", [*IDENTITY, "semantic_group_key", "recorded_at"])
    def test_refuses_another_identity(self, speaker: Principal, column: str) -> None:
        field = RelationshipRecord._meta.get_field(column)
        other = {"polarity": "-", "predicate_key": "leads", "scope_key": "role=x", "semantic_group_key": "k"}
        value = other.get(column, SOME_TIME if isinstance(field, models.DateTimeField) else uuid7())

        with pytest.raises(IntegrityError, match="UPDATE on relationships_relationshiprecord"), transaction.atomic():
            RelationshipRecord.objects.update(**{field.attname: value})

    def test_refuses_to_be_deleted(self, speaker: Principal) -> None:
        with (
            pytest.raises(IntegrityError, match="DELETE on relationships_relationshiprecord"),
            ignored("relationships.RelationshipRecord:no_delete", alias="default"),
            transaction.atomic(),
        ):
            RelationshipRecord.objects.all()._raw_delete("default")

    def test_takes_a_change_of_its_state(self, speaker: Principal) -> None:
        with writing(speaker.profile_id):
            assert RelationshipRecord.objects.update(tier="fact", version=2) == 1

    def test_refuses_to_say_the_same_twice(self, speaker: Principal) -> None:
        twin = RelationshipRecord.objects.get()
        twin.id = uuid7()

        with pytest.raises(DatabaseError, match="record_identity"), writing(speaker.profile_id):
            twin.save(force_insert=True)
