"""What the application's role may do after a migration."""

import pytest
from django.apps import apps
from django.conf import settings
from django.db import ProgrammingError, connection, transaction

from densemem import checks
from densemem.db.roles import split_tables

pytestmark = pytest.mark.django_db

ALLOWED = "SELECT has_table_privilege(current_user, %s, %s)"


def allowed(table: str, right: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(ALLOWED, [f'"{table}"', right])
        return bool(cursor.fetchone()[0])


class TestApplication:
    def test_connects_as_its_own_role(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_user")
            assert cursor.fetchone() == (settings.DATABASES["default"]["USER"],)
        assert settings.DATABASES["default"]["USER"] != settings.DATABASES["owner"]["USER"]

    def test_may_only_read_and_add_to_a_ledger(self) -> None:
        ledgers, _ = split_tables(apps.get_models(include_auto_created=True))
        assert ledgers
        for table in ledgers:
            assert all(allowed(table, right) for right in ("SELECT", "INSERT")), table
            assert not any(allowed(table, right) for right in ("UPDATE", "DELETE", "TRUNCATE", "TRIGGER")), table

    def test_may_change_rows_of_the_other_tables_but_not_empty_them(self) -> None:
        managed = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]
        _, editable = split_tables(managed)
        for table in editable:
            assert all(allowed(table, right) for right in ("SELECT", "INSERT", "UPDATE", "DELETE")), table
            assert not any(allowed(table, right) for right in ("TRUNCATE", "TRIGGER")), table

    def test_may_only_read_a_view(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT viewname FROM pg_views WHERE schemaname = 'public'")
            views = [name for (name,) in cursor.fetchall()]
        assert views
        for view in views:
            assert allowed(view, "SELECT"), view
            assert not any(allowed(view, right) for right in ("INSERT", "UPDATE", "DELETE")), view

    def test_may_not_touch_what_no_model_describes(self) -> None:
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            connection.cursor().execute("DELETE FROM django_migrations")


class TestCheckDatabase:
    def test_finds_nothing_wrong_with_a_migrated_database(self) -> None:
        assert checks.check_database(databases=["default"]) == []

    def test_asks_no_database_unless_told_to(self) -> None:
        assert checks.check_database(databases=None) == []
