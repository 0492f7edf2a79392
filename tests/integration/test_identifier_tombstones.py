"""An identifier is a word of evidence: a redaction may put its tombstone in its place, and nobody anything else."""

from collections.abc import Iterator

import pytest
from django.db import DatabaseError, IntegrityError, connections, transaction

from densemem.auth import Principal
from densemem.models import Team
from entities.models import Identifier
from tests.integration.test_redaction_laws import AS_THE_FUNCTION
from tests.said import Fact, say, someone

TOMBSTONE = "UPDATE entities_identifier SET display = '[redacted]', value = 'REDACTED:' || id"


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
class TestTombstone:
    @pytest.fixture(autouse=True)
    def said(self, transactional_db: None) -> Iterator[None]:
        ada: Principal = someone(Team.objects.create(name="Northwind (sample)"), "Ada")
        say(ada, "Zelda Quist (Q42) works on Harbor.", Fact("Zelda Quist", "works on", "Harbor", "works_on"))
        yield
        assert Identifier.objects.get().value == "Q42"

    def test_is_what_the_function_may_write(self) -> None:
        with transaction.atomic(using="owner"), connections["owner"].cursor() as cursor:
            cursor.execute(AS_THE_FUNCTION)
            cursor.execute(TOMBSTONE)
            cursor.execute("SELECT display, value = 'REDACTED:' || id, scheme FROM entities_identifier")
            assert cursor.fetchone() == ("[redacted]", True, "wikidata")
            transaction.set_rollback(True, using="owner")

    @pytest.mark.parametrize("change", ["value = 'Q43'", "display = 'Q43'", "scheme = 'orcid'", "start = 0"])
    def test_is_all_that_the_function_may_write(self, change: str) -> None:
        with (
            pytest.raises(IntegrityError, match="append-only"),
            transaction.atomic(using="owner"),
            connections["owner"].cursor() as cursor,
        ):
            cursor.execute(AS_THE_FUNCTION)
            cursor.execute(f"UPDATE entities_identifier SET {change}")

    @pytest.mark.parametrize("role", ["default", "owner"])
    def test_is_written_by_no_role_itself(self, role: str) -> None:
        with (
            pytest.raises(DatabaseError, match="permission denied|append-only"),
            transaction.atomic(using=role),
            connections[role].cursor() as cursor,
        ):
            cursor.execute(TOMBSTONE)
