from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from densemem.auth import Principal
from densemem.core.ids import uuid7
from densemem.db.insert import insert, together
from densemem.models import Team
from evidence.models import Content, Fragment, Ingest, SourceGroup
from evidence.vocabulary import SourceType
from tests.said import someone

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Principal:
    return someone(Team.objects.create(name="Northwind (sample)"), "Ada")


ODD = (
    '\u200bA\u0301 \u202etext\u202c \U0001f468\u200d\U0001f469 \\u0041 "quoted" \r\n\t\x7f \x01 {}[] \' % %s é e\u0301'
)
LATE = datetime(2026, 3, 1, 23, 59, 59, 999999, tzinfo=timezone(timedelta(hours=5, minutes=45)))


def group(ada: Principal, key: str, **given: Any) -> SourceGroup:
    return SourceGroup(team_id=ada.team_id, kind="owner", key=key, **given)


def content(ada: Principal, text: str) -> Content:
    return Content(team_id=ada.team_id, digest=uuid4().hex * 2, normal_digest=uuid4().hex * 2, text=text)


class TestInsert:
    @pytest.mark.parametrize(
        "text", [ODD, "x" * 1_000_000, "\u0b85\u0bb0\u0b9a\u0bc1 \u0645\u0631\u062d\u0628\u0627 \U00020000"]
    )
    def test_keeps_a_text_as_it_is(self, ada: Principal, text: str) -> None:
        insert([content(ada, text)])

        assert Content.objects.get().text == text

    def test_keeps_times_lists_and_nested_values_as_they_are(self, ada: Principal) -> None:
        ingest = Ingest(team_id=ada.team_id, owner_id=ada.profile_id, idempotency_key="k", request_hash="h")
        metadata = {"deep": [{"null": None, "big": 2**60, "float": 1.5, "text": ODD}], "empty": {}}
        said, own = content(ada, "said"), group(ada, "k")
        fragment = Fragment(
            team_id=ada.team_id,
            owner_id=ada.profile_id,
            ingest=ingest,
            evidence_index=0,
            content=said,
            group=own,
            source_type=SourceType.CONVERSATION,
            authority="unknown",
            observed_at=LATE,
            labels=["a,b", '{"x"}', ""],
            metadata=metadata,
        )
        insert([ingest])
        insert([said])
        insert([own])
        insert([fragment])

        found = Fragment.objects.get()
        assert (found.observed_at, found.labels, found.metadata) == (LATE.astimezone(UTC), fragment.labels, metadata)
        assert (found.source_id, found.revision_id) == (None, None)

    def test_keeps_the_order_of_the_rows_of_a_table(self, ada: Principal) -> None:
        insert(group(ada, f"{number:02}") for number in range(60))

        assert [g.key for g in SourceGroup.objects.order_by("seq")] == [f"{number:02}" for number in range(60)]

    def test_leaves_what_is_there_when_told_so(self, ada: Principal) -> None:
        first = group(ada, "k")
        insert([first])

        insert([group(ada, "k"), group(ada, "other")], ignore_conflicts=True)
        with pytest.raises(IntegrityError), transaction.atomic():
            insert([group(ada, "k")])

        assert SourceGroup.objects.get(key="k").id == first.id
        assert SourceGroup.objects.count() == 2

    @pytest.mark.parametrize("value", [b"bytes", object(), {1, 2}])
    def test_refuses_what_no_column_takes(self, ada: Principal, value: object) -> None:
        with pytest.raises(TypeError, match="is no value of a row"):
            insert([group(ada, value)])  # type: ignore[arg-type]

    def test_of_nothing_asks_nothing(self) -> None:
        with CaptureQueriesContext(connection) as made:
            insert([])

        assert not made.captured_queries


class TestTogether:
    def test_is_one_statement_for_all_tables(self, ada: Principal) -> None:
        with CaptureQueriesContext(connection) as made, together():
            insert([group(ada, "k")])
            insert([content(ada, "one"), content(ada, "two")])
            insert([group(ada, "m")])

        assert len(made) == 1
        assert (SourceGroup.objects.count(), Content.objects.count()) == (2, 2)

    def test_inside_another_goes_with_it(self, ada: Principal) -> None:
        with CaptureQueriesContext(connection) as made, together():
            with together():
                insert([group(ada, "k")])
            insert([content(ada, "one")])

        assert len(made) == 1

    def test_takes_rows_that_bring_different_columns(self, ada: Principal) -> None:
        with together():
            insert([group(ada, "k"), group(ada, "m", recorded_at=LATE), group(ada, "n", seq=7)])

        found = {g.key: g for g in SourceGroup.objects.all()}
        assert found["m"].recorded_at == LATE
        assert found["n"].seq == 7
        assert found["k"].recorded_at != LATE

    def test_sends_nothing_when_something_fails_inside(self, ada: Principal) -> None:
        with pytest.raises(ZeroDivisionError), together():
            insert([group(ada, "k")])
            raise ZeroDivisionError

        insert([content(ada, "later")])
        assert (SourceGroup.objects.count(), Content.objects.count()) == (0, 1)

    def test_reads_the_same_however_many_rows_it_brings(self, ada: Principal) -> None:
        asked: list[str] = []
        with connection.execute_wrapper(lambda execute, sql, *rest: (asked.append(sql), execute(sql, *rest))[1]):
            for number in (1, 3, 200):
                insert(group(ada, uuid7().hex) for _ in range(number))

        assert len(asked) == 3
        assert len(set(asked)) == 1
