"""How tests with real transactions leave the database: with what migrations made, and nothing else."""

import pytest
from django.contrib.auth.models import Permission
from django.db import connection, connections
from django.test import TransactionTestCase

from densemem.models import Team
from evidence.models import Content
from relationships.models import PredicateDefinition
from tests import database


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
class TestEmptyTables:
    def test_removes_rows_even_of_ledgers_and_keeps_what_migrations_made(self) -> None:
        shared = PredicateDefinition.objects.filter(team=None).count()
        permissions = Permission.objects.count()
        Content.objects.create(team=Team.objects.create(name="Gone"), digest="d", normal_digest="n", text="said once")

        database.empty_tables()

        assert not Team.objects.exists()
        assert not Content.objects.exists()
        assert PredicateDefinition.objects.filter(team=None).count() == shared > 0
        assert Permission.objects.count() == permissions > 0

    def test_is_how_every_test_with_real_transactions_ends(self) -> None:
        Team.objects.create(name="Gone")

        getattr(TransactionTestCase(), "_fixture_teardown")()  # noqa: B009

        assert not Team.objects.exists()

    def test_leaves_the_triggers_of_other_sessions_alone(self) -> None:
        database.empty_tables()
        with connection.cursor() as cursor:
            cursor.execute("SHOW session_replication_role")
            assert cursor.fetchone() == ("origin",)

    def test_sees_one_database_under_both_aliases(self) -> None:
        Team.objects.create(name="Seen")
        assert Team.objects.using("owner").filter(name="Seen").exists()
        assert connections["owner"].settings_dict["USER"] != connection.settings_dict["USER"]
