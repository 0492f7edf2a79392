"""What a provider may do wrong, at each of the two model calls: nothing half is written, and the next item goes on.

The real SDK asks a local server. Waits are kept instead of waited, and the bounds are lowered so that each is reached.
"""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection

from densemem.auth import Principal
from densemem.core import limits
from densemem.providers.anthropic import Claude
from densemem.providers.base import Answer, Call
from placement import conversation
from placement.models import Attempt, Item
from placement.status import get_placement
from placement.tasks import drain
from relationships.models import RelationshipRecord
from tests.providers import messages_server as server
from tests.said import Fact, extraction, send, verification

POISON = "Ivo Brandt works on Skiff."
NEXT = "Mara Lind works on Harbor."
FACTS = {
    POISON: Fact("Ivo Brandt", "works on", "Skiff", "works_on"),
    NEXT: Fact("Mara Lind", "works on", "Harbor", "works_on"),
}
TRIES = CLAIMS = ANSWERS = 2
Spoil = Callable[[dict[str, Any]], object]


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Lower the bounds and keep the waits."""
    kept: list[float] = []
    for name, value in (
        ("TRANSPORT_TRIES", TRIES),
        ("ITEM_ATTEMPTS", CLAIMS),
        ("ANSWERS", ANSWERS),
        ("BACKOFF_FIRST_SECONDS", 0),
        ("ASKED_WAIT_MOST_SECONDS", 0),
    ):
        monkeypatch.setattr(limits, name, value)
    clock = SimpleNamespace(sleep=kept.append, monotonic=lambda: sum(kept))
    monkeypatch.setattr(conversation, "time", clock)
    return kept


def stage_of(handler: server.Handler) -> tuple[str, str, dict[str, Any]]:
    """Return which call a request is, about which text, and the question itself."""
    asked = json.loads(handler.server.requests[-1].body["messages"][0]["content"])
    return asked["request_id"].partition("_")[0], asked["evidence"][0]["content"], asked


def right(stage: str, text: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the answer without fault."""
    make = extraction if stage == "extract" else verification
    return make(asked, [FACTS[text]])


def faulty(at: str, fault: server.Behaviour) -> server.Behaviour:
    """Answer well, but for one call about one text."""

    def behave(handler: server.Handler) -> None:
        stage, text, asked = stage_of(handler)
        if (stage, text) == (at, POISON):
            fault(handler)
        else:
            server.says(json.dumps(right(stage, text, asked)))(handler)

    return behave


def spoils(change: Spoil) -> server.Behaviour:
    """Answer with a whole answer in which one thing is wrong."""

    def behave(handler: server.Handler) -> None:
        answer = right(*stage_of(handler))
        change(answer)
        server.says(json.dumps(answer))(handler)

    return behave


def half(handler: server.Handler) -> None:
    """Send half of a good answer as if it were whole."""
    text = json.dumps(right(*stage_of(handler)))
    server.says(text[: len(text) // 2])(handler)


def stream_ends_early(handler: server.Handler) -> None:
    """Send a good answer without the events that end it."""
    text = json.dumps(right(*stage_of(handler)))
    handler.send(server.events(text).split(b"event: content_block_stop")[0])


def cut_at_the_limit(handler: server.Handler) -> None:
    """Say that a good answer was cut off."""
    server.says(json.dumps(right(*stage_of(handler))), stop="max_tokens")(handler)


def last(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the array of an answer that the cases spoil."""
    found: list[dict[str, Any]] = answer["relationship_results" if "relationship_results" in answer else "observations"]
    return found


def named(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the array of an answer that is about names."""
    found: list[dict[str, Any]] = answer["entity_results" if "entity_results" in answer else "mentions"]
    return found


def choose_foreign(answer: dict[str, Any]) -> None:
    """Name an entity that was never offered, in the way that each answer could."""
    foreign = "00000000-0000-7000-8000-000000000000"
    if "entity_results" in answer:
        named(answer)[0].update(action="reuse", candidate_entity_id=foreign)
    else:
        last(answer)[0].update(object_ref=foreign)


AWAY = {
    "429": (server.fails(429, retry_after="3"), "rate_limited"),
    "500": (server.fails(500), "server_error"),
    "529": (server.fails(529, kind="overloaded_error"), "overloaded"),
    "timeout": (server.hangs, "timeout"),
    "trickle": (server.trickles("body"), "timeout"),
    "reset": (server.resets, "reset"),
    "half-body": (server.breaks_off, "reset"),
    "half-stream": (stream_ends_early, "broken"),
    "10-MB": (server.says("x" * 10_000_000), "too_large"),
    "empty": (server.says(""), "empty"),
    "refusal": (server.says("No.", stop="refusal"), "refused"),
}
LASTING = {
    "400": (server.fails(400, kind="invalid_request_error"), "request_refused"),
    "401": (server.fails(401, kind="authentication_error"), "unauthorized"),
    "404": (server.fails(404, kind="not_found_error"), "model_unknown"),
    "413": (server.fails(413, kind="request_too_large"), "request_too_large"),
}
INVALID = {
    "half-json": (half, "not_json"),
    "prose": (server.says("Sure, here it is: {}"), "not_json"),
    "truncated": (cut_at_the_limit, "truncated"),
    "other-schema": (server.says('{"answer": 42}'), "schema_additionalProperties"),
    "nan": (spoils(lambda a: named(a)[0].update(confidence=float("nan"))), "not_finite"),
    "missing": (spoils(lambda a: named(a).pop()), None),
    "extra": (spoils(lambda a: last(a).append({**last(a)[0], "ref": "extra", "subject_ref": "nobody"})), None),
    "duplicate": (spoils(lambda a: last(a).append(last(a)[0])), None),
    "foreign-id": (spoils(choose_foreign), None),
}


class Hasty(Claude):
    """Waits only briefly for the one answer that never comes, and as long as ever for the others."""

    hasty_at = ""

    def complete(self, call: Call) -> Answer:
        """Ask with the shorter time where it matters."""
        short = call.stage.value == self.hasty_at and POISON in call.turns[0].text
        return super().complete(replace(call, seconds_max=0.3) if short else call)


@pytest.fixture
def claude() -> Iterator[Callable[..., Claude]]:
    """Return a function that starts a server and gives the provider that asks it."""
    opened = []

    def start(behaviour: server.Behaviour, *, hasty_at: str = "") -> Claude:
        context = server.serving(behaviour)
        opened.append(context)
        provider = Hasty(api_key="key-1", model="model-1", base_url=context.__enter__().url)
        provider.hasty_at = hasty_at
        return provider

    yield start
    for context in opened:
        context.__exit__(None, None, None)


Start = Callable[..., Claude]


def place(who: Principal, provider: Claude) -> dict[str, Any]:
    """Remember both texts and place them; return their items, and the calls about the first."""
    ingest = send(who, POISON, NEXT)
    drain(using=provider, linger=False)
    poisoned, following = get_placement(team_id=who.team_id, ingest_id=ingest).items
    calls = list(
        Attempt.objects.filter(item_id=poisoned.item_id).order_by("id").values_list("stage", "outcome", "code")
    )
    return {"poisoned": poisoned, "following": following, "calls": calls}


def rows_about(item_id: Any) -> dict[str, int]:
    """Count every row of the semantic tables that came from an item or its words."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM entities_resolutionevent WHERE item_id = %s", [item_id])
        events = cursor.fetchone()[0]
        cursor.execute("SELECT count(*) FROM relationships_observation WHERE item_id = %s", [item_id])
        observations = cursor.fetchone()[0]
        cursor.execute("SELECT count(*) FROM entities_name WHERE key IN ('ivo brandt', 'skiff')")
        names = cursor.fetchone()[0]
        cursor.execute("SELECT count(*) FROM review_task")
        tasks = cursor.fetchone()[0]
    return {"events": events, "observations": observations, "names": names, "tasks": tasks}


def check_nothing_half(placed: dict[str, Any]) -> None:
    """Make sure that the faulty item left nothing, ended visibly, and that the next one was placed."""
    assert set(rows_about(placed["poisoned"].item_id).values()) == {0}
    assert RelationshipRecord.objects.count() == 1
    assert placed["poisoned"].state == "failed"
    assert placed["poisoned"].category == "processing_failed"
    assert (placed["following"].state, len(placed["following"].outcomes)) == ("completed", 1)
    assert not Item.objects.exclude(lease_until=None).exists()


@pytest.mark.parametrize("at", ["extract", "verify"])
class TestFault:
    @pytest.mark.parametrize(("fault", "code"), AWAY.values(), ids=AWAY.keys())
    def test_without_an_answer_is_tried_again_within_bounds(
        self, ada: Principal, claude: Start, at: str, fault: server.Behaviour, code: str
    ) -> None:
        placed = place(ada, claude(faulty(at, fault), hasty_at=at if code == "timeout" else ""))

        check_nothing_half(placed)
        assert placed["poisoned"].reason == f"provider_{code}"
        away = [call for call in placed["calls"] if call[1] == "provider_error"]
        assert away == [(at, "provider_error", code)] * (TRIES * CLAIMS)

    @pytest.mark.parametrize(("fault", "code"), LASTING.values(), ids=LASTING.keys())
    def test_that_no_wait_can_mend_costs_one_try_a_claim(
        self, ada: Principal, claude: Start, waits: list[float], at: str, fault: server.Behaviour, code: str
    ) -> None:
        placed = place(ada, claude(faulty(at, fault)))

        check_nothing_half(placed)
        assert placed["poisoned"].reason == f"provider_{code}"
        assert [call for call in placed["calls"] if call[0] == at] == [(at, "provider_error", code)] * CLAIMS
        assert waits == []

    @pytest.mark.parametrize(("fault", "code"), INVALID.values(), ids=INVALID.keys())
    def test_of_the_answer_is_told_and_fails_within_bounds(
        self, ada: Principal, claude: Start, at: str, fault: server.Behaviour, code: str | None
    ) -> None:
        placed = place(ada, claude(faulty(at, fault)))

        check_nothing_half(placed)
        assert placed["poisoned"].reason == f"{at}_answers_{'truncated' if code == 'truncated' else 'invalid'}"
        told = [call for call in placed["calls"] if call[0] == at]
        assert [outcome for _, outcome, _ in told] == ["invalid"] * ANSWERS
        assert code is None or {found for _, _, found in told} == {code}

    def test_that_passes_is_forgotten(self, ada: Principal, claude: Start, waits: list[float], at: str) -> None:
        later = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
        left = iter([server.fails(429, retry_after=later), half])
        behaviour = faulty(at, lambda handler: next(left, well)(handler))

        placed = place(ada, claude(behaviour))

        assert (placed["poisoned"].state, placed["following"].state) == ("completed", "completed")
        assert [call[1] for call in placed["calls"] if call[0] == at] == ["provider_error", "invalid", "valid"]
        assert len(waits) == 1 and 50 < waits[0] <= 60
        assert RelationshipRecord.objects.count() == 2


def well(handler: server.Handler) -> None:
    """Answer without fault."""
    server.says(json.dumps(right(*stage_of(handler))))(handler)


def test_the_vendor_is_told_no_secret_and_given_no_tool(ada: Principal, claude: Start) -> None:
    seen: list[dict[str, Any]] = []
    lock = threading.Lock()

    def behave(handler: server.Handler) -> None:
        with lock:
            seen.append(handler.server.requests[-1].body)
        well(handler)

    place(ada, claude(behave))

    assert len(seen) == 4
    assert all(set(body) == {"model", "max_tokens", "system", "messages", "output_config", "stream"} for body in seen)
    assert not any("key-1" in json.dumps(body) for body in seen)
