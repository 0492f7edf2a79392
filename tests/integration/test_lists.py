"""Lists over REST, page by page: nothing twice, nothing left out, and the same cost for one row and for many."""

import base64
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from densemem.core.words import Scope
from densemem.models import Profile
from evidence.models import Fragment, Ingest, Quarantine
from placement.models import Item, Run
from review.models import Task
from tests import console_rows as rows
from tests import factories

pytestmark = pytest.mark.django_db

INGESTS, REVIEWS = "/api/v1/ingests", "/api/v1/reviews"
LISTS = [INGESTS, REVIEWS]


@pytest.fixture
def mara(db: None) -> Profile:
    return rows.person(rows.team(), "Mara")


@pytest.fixture
def teo(mara: Profile) -> Profile:
    return rows.person(mara.team, "Teo")


def get(profile: Profile, address: str, *, scopes: tuple[Scope, ...] = tuple(Scope)) -> Any:
    """Read as a profile."""
    return Client().get(address, headers=factories.bearer(profile, scopes=scopes))


def imported(owner: Profile, count: int, *, at: datetime = rows.NOON, **item: Any) -> list[UUID]:
    """Store ingests of one item each, and one question about each, all of the same moment."""
    of: dict[str, Any] = {"team_id": owner.team_id}
    text = factories.Content(team=owner.team)
    group = factories.SourceGroup(team=owner.team, key=str(owner.id))
    sent = Ingest.objects.bulk_create(
        Ingest(**of, owner=owner, idempotency_key=uuid4().hex, request_hash="0", recorded_at=at) for _ in range(count)
    )
    told: dict[str, Any] = {"source_type": "document", "authority": "unknown", "content": text, "group": group}
    texts = Fragment.objects.bulk_create(
        Fragment(**of, **told, owner=owner, ingest=i, evidence_index=0, recorded_at=at) for i in sent
    )
    runs = Run.objects.bulk_create(Run(**of, ingest=i, recorded_at=at) for i in sent)
    stands = {"state": "awaiting_review", "available_at": at, **item}
    items = Item.objects.bulk_create(
        Item(**of, **stands, run=run, ingest=run.ingest, owner=owner, fragment=fragment, evidence_index=0)
        for run, fragment in zip(runs, texts, strict=True)
    )
    Task.objects.bulk_create(
        Task(
            **of,
            owner=owner,
            kind="relationship_needs_review",
            subject=uuid4().hex,
            reason="conflict_held",
            fragment_id=i.fragment_id,
            item=i,
            opened_at=at,
        )
        for i in items
    )
    return [run.ingest_id for run in runs]


def pages(profile: Profile, address: str | None, way: str) -> Iterator[dict[str, Any]]:
    """Yield the pages from an address on, or back."""
    while address:
        body = get(profile, address).json()
        yield body
        address = body[way]


def shown(found: Any) -> list[str]:
    """Return the ids of all rows of some pages, in the order in which they were shown."""
    return [row.get("review_id") or row["ingest_id"] for page in found for row in page["results"]]


def ingests(profile: Profile, query: str = "") -> list[str]:
    """Return the ids that a filter leaves."""
    return shown([get(profile, f"{INGESTS}{query}").json()])


class TestPaging:
    @pytest.mark.parametrize("address", LISTS)
    def test_of_one_moment_shows_each_of_250_rows_once_on_and_back(self, mara: Profile, address: str) -> None:
        imported(mara, 250)

        on = list(pages(mara, f"{address}?limit=50", "next"))
        back = list(pages(mara, on[-1]["previous"], "previous"))

        assert [len(page["results"]) for page in on] == [50] * 5
        assert len(set(shown(on))) == 250
        assert [shown([page]) for page in back] == [shown([page]) for page in reversed(on[:-1])]
        assert (on[0]["previous"], on[-1]["next"], back[-1]["previous"]) == (None, None, None)

    def test_is_not_shifted_by_newer_rows(self, mara: Profile) -> None:
        old = {str(i) for i in imported(mara, 250)}
        first, second = (page for page, _ in zip(pages(mara, f"{INGESTS}?limit=50", "next"), "12", strict=False))
        newer = {str(i) for i in imported(mara, 10, at=rows.NOON + timedelta(seconds=1))}

        rest = list(pages(mara, second["next"], "next"))
        back = list(pages(mara, rest[-1]["previous"], "previous"))

        assert sorted(shown([first, second, *rest])) == sorted(old)
        # Going back from the end shows the same pages, and then what has come since.
        assert shown(back[:4]) == shown([rest[1], rest[0], second, first])
        assert (set(shown(back[4:])), len(shown(back))) == (newer, 210)

    def test_appends_newer_questions_at_the_end(self, mara: Profile) -> None:
        imported(mara, 4)
        first = get(mara, f"{REVIEWS}?limit=2").json()
        imported(mara, 1, at=rows.NOON + timedelta(seconds=1))

        rest = list(pages(mara, first["next"], "next"))

        assert len(shown([first, *rest])) == len(set(shown([first, *rest]))) == 5

    def test_of_rows_that_went_away_leads_back_to_those_that_are_left(self, mara: Profile) -> None:
        imported(mara, 5)
        first = get(mara, f"{REVIEWS}?limit=3").json()
        last = get(mara, first["next"]).json()
        Task.objects.filter(pk__in=shown([last])).update(status="resolved")

        emptied = get(mara, first["next"]).json()

        assert (emptied["results"], emptied["next"]) == ([], None)
        assert shown([get(mara, emptied["previous"]).json()]) == shown([first])

        Task.objects.filter(pk__in=shown([last])).update(status="open")
        Task.objects.filter(pk__in=shown([first])).update(status="resolved")
        emptied = get(mara, last["previous"]).json()

        assert (emptied["results"], emptied["previous"]) == ([], None)
        assert shown([get(mara, emptied["next"]).json()]) == shown([last])

    @pytest.mark.parametrize("address", LISTS)
    def test_links_both_ways_and_keeps_the_filters(self, mara: Profile, address: str) -> None:
        imported(mara, 6)
        second = get(mara, get(mara, f"{address}?mine=true&limit=2").json()["next"])

        body = second.json()

        assert second["Link"] == f'<{body["next"]}>; rel="next", <{body["previous"]}>; rel="prev"'
        assert all(re.match(rf"{address}\?mine=true&limit=2&cursor=[\w-]+$", body[w]) for w in ("next", "previous"))
        assert "Link" not in get(mara, f"{address}?limit=6")

    @pytest.mark.parametrize("limit", ["101", "100000", "9" * 40])
    def test_gives_at_most_a_hundred_rows(self, mara: Profile, limit: str) -> None:
        imported(mara, 101)

        body = get(mara, f"{INGESTS}?limit={limit}").json()

        assert len(body["results"]) == 100
        assert "limit=100&" in body["next"]

    def test_gives_fifty_rows_unasked(self, mara: Profile) -> None:
        imported(mara, 51)

        assert len(ingests(mara)) == 50

    @pytest.mark.parametrize("limit", ["0", "-1", "", "ten", "1.5", "१", "+5"])
    def test_refuses_a_limit_that_is_none(self, mara: Profile, limit: str) -> None:
        answer = get(mara, f"{INGESTS}?limit={limit.replace('+', '%2B')}")

        assert answer.status_code == 422
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [("/limit", "limit_out_of_range")]

    @pytest.mark.parametrize(
        "text",
        [
            "x",
            "~~~",
            "%00",
            "é",
            "A" * 5_000,
            *(
                base64.urlsafe_b64encode(raw.encode()).decode()
                for raw in (
                    "> 1 2",
                    f"? 1 {UUID(int=7)}",
                    f"> x {UUID(int=7)}",
                    f"> {'9' * 30} {UUID(int=7)}",
                    f"> {'9' * 5000} {UUID(int=7)}",
                )
            ),
        ],
    )
    @pytest.mark.parametrize("address", LISTS)
    def test_refuses_a_cursor_that_it_never_gave(self, mara: Profile, address: str, text: str) -> None:
        answer = get(mara, f"{address}?cursor={text}")

        assert (answer.status_code, answer.json()["code"]) == (400, "cursor_invalid")
        assert answer.json()["errors"][0]["pointer"] == "/cursor"

    @pytest.mark.parametrize("address", LISTS)
    @pytest.mark.parametrize(
        ("query", "fault"),
        [
            ("page=2", ("/page", "unknown")),
            ("mine=yes", ("/mine", "unknown_word")),
            ("limit=1&limit=2", ("/limit", "repeated")),
        ],
    )
    def test_names_a_parameter_that_it_does_not_know(
        self, mara: Profile, address: str, query: str, fault: tuple[str, str]
    ) -> None:
        answer = get(mara, f"{address}?{query}")

        assert answer.status_code == 422
        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [fault]

    @pytest.mark.parametrize("address", LISTS)
    def test_needs_the_scope_to_read(self, mara: Profile, address: str) -> None:
        assert get(mara, address, scopes=(Scope.WRITE,)).json()["code"] == "scope_missing"

    @pytest.mark.parametrize("address", LISTS)
    def test_shows_the_team_and_no_other(self, mara: Profile, teo: Profile, address: str) -> None:
        imported(teo, 2)
        imported(rows.person(rows.team("Other"), "Stranger"), 3)

        assert {row["owner"]["name"] for row in get(mara, address).json()["results"]} == {"Teo"}
        assert get(mara, f"{address}?mine=true").json()["results"] == []
        assert len(get(teo, f"{address}?mine=true").json()["results"]) == 2

    @pytest.mark.parametrize("address", LISTS)
    @pytest.mark.parametrize("way", ["first", "next", "previous"])
    def test_costs_the_same_for_one_row_and_for_ten(self, mara: Profile, address: str, way: str) -> None:
        def costs(limit: int) -> int:
            asked = f"{address}?limit={limit}"
            if way != "first":
                asked = get(mara, asked).json()["next"]
            if way == "previous":
                asked = get(mara, asked).json()["previous"]
            with CaptureQueriesContext(connection) as queries:
                assert len(Client().get(asked, headers=token).json()["results"]) == limit
            return len(queries)

        imported(mara, 30)
        token = factories.bearer(mara)
        Client().get(address, headers=token)  # the first use of a token is noted

        assert costs(1) == costs(10)


def item(owner: Profile, **row: Any) -> str:
    """Store an ingest of one item in a state, and return its id."""
    return str(imported(owner, 1, **row)[0])


class TestIngests:
    def test_says_how_far_each_is_and_what_it_waits_for(self, mara: Profile) -> None:
        number = item(mara, reason="conflict_held")

        (found,) = get(mara, INGESTS).json()["results"]

        assert found.pop("next_action").startswith("A person must decide")
        assert found == {
            "ingest_id": number,
            "address": f"{INGESTS}/{number}",
            "owner": {"profile_id": str(mara.id), "name": "Mara"},
            "processing_state": "awaiting_review",
            "reason": "conflict_held",
            "check_after_seconds": 0,
            "received_at": "2026-05-04T12:00:00Z",
            "items": {"awaiting_review": 1},
            "open_reviews": 1,
        }

    def test_says_the_same_as_the_placement(self, mara: Profile) -> None:
        now = timezone.now()
        for row in (
            {"state": "queued", "available_at": now + timedelta(seconds=90)},
            {"state": "failed", "reason": "provider_timeout"},
            {"state": "completed"},
            {"state": "superseded"},
            {"state": "quarantined", "reason": "held_by_scan"},
        ):
            item(mara, **row)
        same = ("processing_state", "reason", "next_action")

        for found in get(mara, INGESTS).json()["results"]:
            placed = get(mara, found["address"]).json()
            assert {name: found[name] for name in same} == {name: placed[name] for name in same}

    def test_filters_by_the_state_of_the_run(self, mara: Profile) -> None:
        now = timezone.now()
        lease = {"lease_until": now + timedelta(minutes=1), "attempt_token": uuid4()}
        stale = {"lease_until": now - timedelta(minutes=1), "attempt_token": uuid4()}
        made = {
            "processing": {item(mara, state="guarded", **lease)},
            "guarded": {item(mara, state="guarded")},
            "queued": {item(mara, state="queued"), item(mara, state="queued", **stale)},
            "failed": {item(mara, state="failed")},
            "awaiting_review": {item(mara)},
            "quarantined": {item(mara, state="quarantined")},
            "completed": {item(mara, state="completed")},
            "superseded": {item(mara, state="superseded")},
        }

        assert {state: set(ingests(mara, f"?state={state}")) for state in made} == made

    def test_of_several_items_are_found_by_the_most_pressing_state_alone(self, mara: Profile) -> None:
        number = item(mara, state="completed")
        known = Item.objects.get(ingest_id=number)
        text = factories.Fragment(team=mara.team, owner=mara, ingest=known.ingest, evidence_index=1)
        factories.Item(fragment=text, run=known.run, state="failed")

        (found,) = get(mara, f"{INGESTS}?state=failed").json()["results"]

        assert (found["ingest_id"], found["items"]) == (number, {"completed": 1, "failed": 1})
        assert ingests(mara, "?state=completed") == []

    def test_knows_no_other_state(self, mara: Profile) -> None:
        answer = get(mara, f"{INGESTS}?state=lost")

        assert [(e["pointer"], e["code"]) for e in answer.json()["errors"]] == [("/state", "unknown_word")]

    def test_of_held_text_give_the_one_public_reason(self, mara: Profile) -> None:
        number = item(mara, state="completed", reason="placed_well")
        (text,) = Fragment.objects.filter(ingest_id=number)
        Quarantine.objects.create(team=mara.team, fragment=text, status="active", opened_at=rows.NOON)

        (found,) = get(mara, INGESTS).json()["results"]

        assert found["reason"] == "evidence_held"


class TestReviews:
    def test_of_every_kind_are_filtered_by_kind_and_status(self, mara: Profile) -> None:
        held = rows.held_task(mara, "one")
        wording = rows.predicate_task(rows.fragment(mara, "Mara tends Buoy 14."), "tends", "tends")
        Task.objects.filter(pk=wording.pk).update(status="acknowledged")
        done = rows.held_task(mara, "two")
        Task.objects.filter(pk=done.pk).update(status="resolved")

        def found(query: str) -> set[str]:
            return set(shown([get(mara, f"{REVIEWS}?{query}").json()]))

        assert found("") == {str(held.id), str(wording.id)}
        assert found("kind=policy_needs_review") == {str(held.id)}
        assert found("status=acknowledged") == {str(wording.id)}
        assert found("status=resolved") == {str(done.id)}
        assert found("status=resolved&kind=predicate_needs_review") == set()

    def test_begin_with_what_waits_longest(self, mara: Profile) -> None:
        imported(mara, 1, at=rows.NOON)
        imported(mara, 1, at=rows.NOON - timedelta(days=1))

        opened = [row["opened_at"] for row in get(mara, REVIEWS).json()["results"]]

        assert opened == sorted(opened)

    @pytest.mark.parametrize("query", ["kind=gossip", "status=lost"])
    def test_know_no_other_filters(self, mara: Profile, query: str) -> None:
        assert get(mara, f"{REVIEWS}?{query}").status_code == 422

    def test_of_one_ingest_are_those_that_it_asked(self, mara: Profile, teo: Profile) -> None:
        number, _ = imported(mara, 2)
        theirs = item(rows.person(rows.team("Other"), "Stranger"))

        (found,) = get(teo, f"{REVIEWS}?ingest_id={number}").json()["results"]

        assert found["ingest_id"] == str(number)
        assert get(teo, f"{REVIEWS}?ingest_id={theirs}").json() == get(teo, f"{REVIEWS}?ingest_id={uuid4()}").json()
