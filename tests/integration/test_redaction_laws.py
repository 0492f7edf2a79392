"""What the database refuses around redactions: nobody takes out words but the one function, and nothing but words."""

import threading
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.db import DatabaseError, IntegrityError, connection, connections, transaction
from django.test import Client
from django.utils import timezone

from densemem.auth import Principal
from densemem.models import Profile, Team
from entities.models import Name
from evidence.models import Content, Fragment
from placement.decide import redact
from placement.tasks import drain
from relationships.models import RelationshipRecord
from tests import factories
from tests.integration.test_decisions_api import post
from tests.said import Fact, model, say, send, someone

WORKS = Fact("Zelda Quist", "works on", "Harbor", "works_on")
TEXT = "Zelda Quist (Q42) works on Harbor."
TOMBSTONE = "SET text = repeat(U&'\\2588', char_length(text)), redacted_at = now()"
AS_THE_FUNCTION = "SELECT set_config('densemem.redacting', 'on', true)"
CHANGES = [
    ("evidence_content", TOMBSTONE),
    ("evidence_content", "SET text = 'other'"),
    ("evidence_wording", "SET text = '[redacted]'"),
    ("entities_name", "SET display = '[redacted]', key = 'REDACTED:' || id, forms = '{}'"),
    ("entities_identifier", "SET display = '[redacted]', value = 'REDACTED:' || id"),
    ("placement_itemanswer", "SET payload = '{}'"),
    ("relationships_observation", "SET ref = 'REDACTED:' || id, subject_ref = '[redacted]', object_ref = '[redacted]'"),
]
FORGED = [
    ("evidence_content", "SET text = 'Zelda Quist leads Harbor.', redacted_at = now()"),
    ("evidence_content", f"{TOMBSTONE}, digest = 'other'"),
    ("evidence_wording", "SET text = 'other'"),
    ("entities_name", "SET display = 'Somebody else', key = 'REDACTED:' || id, forms = '{}'"),
    ("entities_name", "SET display = '[redacted]', key = 'somebody else', forms = '{}'"),
    ("entities_name", "SET display = '[redacted]', key = 'REDACTED:' || id, forms = '{1}'"),
    ("entities_identifier", "SET display = 'Q43', value = 'REDACTED:' || id"),
    ("entities_identifier", "SET display = '[redacted]', value = 'Q43'"),
    ("entities_identifier", "SET display = '[redacted]', value = 'REDACTED:' || id, scheme = 'orcid'"),
    ("placement_itemanswer", "SET payload = '{\"forged\": true}'"),
    ("relationships_relationshiprecord", "SET predicate_key = 'leads'"),
]


@pytest.fixture
def team(db: None) -> Team:
    return Team.objects.create(name="Northwind (sample)")


@pytest.fixture
def ada(team: Team) -> Principal:
    return someone(team, "Ada")


@pytest.fixture
def cy(team: Team) -> Principal:
    return someone(team, "Cy", role="manager")


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
class TestLaws:
    @pytest.fixture(autouse=True)
    def said(self, transactional_db: None, ada: Principal) -> Iterator[None]:
        say(ada, TEXT, WORKS)
        yield
        assert Content.objects.get().text == TEXT

    @pytest.mark.parametrize(("table", "change"), CHANGES)
    @pytest.mark.parametrize("role", ["default", "owner"])
    def test_no_role_takes_out_words_itself(self, role: str, table: str, change: str) -> None:
        with (
            pytest.raises(DatabaseError, match="permission denied|append-only"),
            transaction.atomic(using=role),
            connections[role].cursor() as cursor,
        ):
            cursor.execute(f"UPDATE {table} {change}")

    @pytest.mark.parametrize(("table", "change"), CHANGES)
    def test_the_application_cannot_pretend_to_be_the_function(self, table: str, change: str) -> None:
        with (
            pytest.raises(DatabaseError, match="permission denied"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(AS_THE_FUNCTION)
            cursor.execute(f"UPDATE {table} {change}")

    @pytest.mark.parametrize(("table", "change"), FORGED)
    def test_not_even_the_function_could_write_anything_but_tombstones(self, table: str, change: str) -> None:
        with (
            pytest.raises(IntegrityError, match="append-only"),
            transaction.atomic(using="owner"),
            connections["owner"].cursor() as cursor,
        ):
            cursor.execute(AS_THE_FUNCTION)
            cursor.execute(f"UPDATE {table} {change}")

    @pytest.mark.parametrize(
        "table", ["evidence_content", "evidence_wording", "entities_identifier", "evidence_fragment"]
    )
    def test_the_function_could_delete_nothing(self, table: str) -> None:
        with (
            pytest.raises(IntegrityError, match="append-only"),
            transaction.atomic(using="owner"),
            connections["owner"].cursor() as cursor,
        ):
            cursor.execute(AS_THE_FUNCTION)
            cursor.execute(f"DELETE FROM {table}")

    def test_the_function_is_the_owners_with_a_fixed_path_and_for_the_application_alone(self) -> None:
        with connections["owner"].cursor() as cursor:
            cursor.execute(
                "SELECT prosecdef, proowner = current_user::regrole, proconfig, "
                "has_function_privilege('public', oid, 'EXECUTE'), has_function_privilege(%s, oid, 'EXECUTE') "
                "FROM pg_proc WHERE proname = 'evidence_redact'",
                [connection.settings_dict["USER"]],
            )
            (found,) = cursor.fetchall()
        assert found == (True, True, ["search_path=public, pg_temp"], False, True)

    def test_the_leave_ends_with_the_function(self, ada: Principal, cy: Principal) -> None:
        number = Fragment.objects.get().id
        with transaction.atomic():
            taken_out(cy, number)
            with connection.cursor() as cursor:
                cursor.execute("SELECT current_setting('densemem.redacting', true)")
                assert cursor.fetchone() == ("",)
            transaction.set_rollback(True)


def taken_out(who: Principal, fragment_id: Any) -> Any:
    body = {"reason": "Asked by the person."}
    return redact(principal=who, fragment_id=fragment_id, body=body, idempotency_key=uuid4().hex, now=timezone.now())


@pytest.mark.django_db(transaction=True)
class TestTogether:
    def test_a_commit_that_would_name_the_same_person_is_waited_for(self, ada: Principal, cy: Principal) -> None:
        """The other text is placed while the redaction runs: the name stays, since it stands there."""
        say(ada, TEXT, WORKS)
        number = Fragment.objects.get().id
        send(ada, "Zelda Quist leads Beacon.")
        with transaction.atomic():
            drain(using=model(Fact("Zelda Quist", "leads", "Beacon", "leads")), linger=False)
            thread = threading.Thread(target=_in_thread, args=(cy, number))
            thread.start()
            thread.join(1)
            assert thread.is_alive()
        thread.join(30)

        assert not thread.is_alive()
        assert Content.objects.order_by("seq").first().redacted_at is not None
        assert Name.objects.filter(display="Zelda Quist").exists()

    def test_the_same_text_that_comes_in_meanwhile_has_the_redaction_looked_at_again(
        self, ada: Principal, cy: Principal
    ) -> None:
        say(ada, TEXT, WORKS)
        number = Fragment.objects.get().id
        told: list[Any] = []
        with transaction.atomic():
            send(ada, TEXT)
            thread = threading.Thread(target=_in_thread, args=(cy, number, told))
            thread.start()
            thread.join(1)
            assert thread.is_alive()
        thread.join(30)

        assert [getattr(fault, "code", fault) for fault in told] == ["changed_meanwhile"]
        assert Content.objects.get().text == TEXT


def _in_thread(who: Principal, number: Any, told: list[Any] | None = None) -> None:
    try:
        taken_out(who, number)
    except Exception as fault:
        if told is None:
            raise
        told.append(fault)
    finally:
        connection.close()


@pytest.mark.django_db
class TestDoor:
    def test_answers_the_preview_with_200_the_deed_with_201_and_the_receipt(
        self, ada: Principal, cy: Principal
    ) -> None:
        say(ada, TEXT, WORKS)
        address = f"evidence/{Fragment.objects.get().id}/redactions"
        body = {"reason": "Asked by the person."}

        shown = post(cy, f"{address}?dry_run=true", body)
        done = post(cy, address, body)

        assert (shown.status_code, done.status_code) == (200, 201)
        assert shown.json()["receipt"]["removed"] == done.json()["receipt"]["removed"]
        assert RelationshipRecord.objects.get().status == "pending_evidence"
        assert "zelda" not in done.content.decode().lower()

    def test_refuses_without_a_reason_a_key_a_right_or_a_text(self, ada: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS)
        address = f"evidence/{Fragment.objects.get().id}/redactions"
        body = {"reason": "Asked by the person."}

        assert post(cy, address, {}).status_code == 422
        assert post(cy, address, body, **{"Idempotency-Key": ""}).json()["code"] == "idempotency_key_missing"
        assert post(ada, address, body).status_code == 403
        assert post(cy, f"evidence/{uuid4()}/redactions", body).status_code == 404
        assert Content.objects.get().text == TEXT

    def test_gives_the_receipt_to_the_team_alone(self, ada: Principal, cy: Principal) -> None:
        say(ada, TEXT, WORKS)
        number = taken_out(cy, Fragment.objects.get().id).receipt.redaction_id
        stranger = someone(Team.objects.create(name="Umbra (sample)"), "Uma")

        def read(who: Principal) -> Any:
            bearer = factories.bearer(Profile.objects.get(pk=who.profile_id))
            return Client().get(f"/api/v1/redactions/{number}", headers=bearer)

        assert read(ada).json()["redaction_id"] == str(number)
        assert read(stranger).status_code == 404
