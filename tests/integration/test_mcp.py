"""The MCP door, spoken to by the official client over real HTTP in both eras of the protocol."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import anyio
import pytest
from django.db import OperationalError, connections
from django.utils import timezone
from jsonschema import Draft202012Validator
from mcp import Client, MCPError
from mcp_types import CallToolResult, Tool

from densemem.auth import Principal
from densemem.mcp import server, tools
from densemem.models import AccessToken, Profile, Team
from evidence.models import Ingest
from placement.remember import remember
from placement.tasks import drain
from tests.said import Fact, model, say, someone
from tests.served import serving, talk, token_of

pytestmark = pytest.mark.django_db(transaction=True)

ERAS = [pytest.param("legacy", id="handshake"), pytest.param("auto", id="per-request")]
READ = ["get_memory_placement", "recall_memory", "trace_memory", "list_reviews", "get_review"]
TEXT = "Mara Lind works on Harbor."
QUOTED = ("quoted", "evidence")
WORKS = Fact("Mara Lind", "works on", "Harbor", "works_on")


@pytest.fixture(scope="module")
def base(django_db_setup: None) -> Iterator[str]:
    """Serve once for all tests of this file."""
    with serving() as address:
        yield address


@pytest.fixture
def ada(db: None) -> Principal:
    """A member who may read and write."""
    return someone(Team.objects.create(name=f"Northwind (sample) {uuid4().hex[:6]}"), "Ada")


@pytest.fixture
def secret(ada: Principal) -> str:
    """Ada's token."""
    return token_of(ada)


def request(content: str = TEXT, **change: Any) -> dict[str, Any]:
    """Return the arguments of remember."""
    key = {"idempotency_key": uuid4().hex}
    return {"evidence": [{"content": content, "source_type": "document"}], **key, **change}


def call(base: str, secret: str, name: str, arguments: dict[str, Any], *, mode: str = "auto") -> CallToolResult:
    """Call one tool."""

    async def once(client: Client) -> CallToolResult:
        return await client.call_tool(name, arguments)

    return talk(base, secret, once, mode=mode)


def listed(base: str, secret: str, *, mode: str = "auto") -> list[Tool]:
    """Return the tools that a token sees."""

    async def once(client: Client) -> list[Tool]:
        return (await client.list_tools()).tools

    return talk(base, secret, once, mode=mode)


def problem(result: CallToolResult) -> dict[str, Any]:
    """Return the problem of a call that failed as a tool, not as a connection."""
    assert result.is_error
    assert json.loads(result.content[0].text) == result.structured_content
    return result.structured_content


def faults(result: CallToolResult) -> set[tuple[str, str]]:
    """Return (pointer, code) of every fault of a refused call."""
    return {(fault["pointer"], fault["code"]) for fault in problem(result)["errors"]}


class TestListing:
    @pytest.mark.parametrize("mode", ERAS)
    def test_follows_the_scopes_of_the_token_in_a_fixed_order(self, base: str, ada: Principal, mode: str) -> None:
        for scopes, names in [
            (("read", "write"), ["remember", *READ, "resolve_memory_placement"]),
            (("read",), READ),
            (("write",), ["remember", "resolve_memory_placement"]),
            ((), []),
        ]:
            assert [t.name for t in listed(base, token_of(ada, scopes=scopes), mode=mode)] == names

    def test_tells_of_each_tool_what_a_model_must_know(self, base: str, secret: str) -> None:
        for tool in listed(base, secret):
            assert tool.title and tool.annotations and tool.description and tool.output_schema
            assert "Use it" in tool.description and "Do not use it" in tool.description
            example = json.loads(tool.description.partition("Example: ")[2])
            Draft202012Validator(tool.input_schema).validate(example)
            hints = tool.annotations
            assert hints.read_only_hint is (tool.name in READ)
            assert (hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint) == (False, True, False)

    def test_gives_closed_schemas(self, base: str, secret: str) -> None:
        for tool in listed(base, secret):
            assert tool.output_schema
            for schema in (tool.input_schema, tool.output_schema):
                Draft202012Validator.check_schema(schema)
                assert schema["type"] == "object" and schema["additionalProperties"] is False

    def test_may_be_kept_by_the_caller_alone(self, base: str, secret: str) -> None:
        async def hints(client: Client) -> tuple[int, str]:
            result = await client.list_tools()
            return result.ttl_ms, result.cache_scope

        assert talk(base, secret, hints) == (300_000, "private")


class TestJourney:
    @pytest.mark.parametrize(("mode", "era"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
    def test_goes_from_evidence_to_knowledge_and_back(self, base: str, secret: str, mode: str, era: str) -> None:
        async def versions(client: Client) -> str:
            return client.protocol_version

        assert talk(base, secret, versions, mode=mode) == era
        ingest = call(base, secret, "remember", request(), mode=mode).structured_content
        assert (ingest["processing_state"], ingest["replayed"]) == ("queued", False)

        drain(using=model(WORKS), linger=False)
        asked = {"ingest_id": ingest["ingest_id"]}
        placed = call(base, secret, "get_memory_placement", asked, mode=mode).structured_content
        record = placed["items"][0]["outcomes"][0]["relationship_id"]
        recalled = call(base, secret, "recall_memory", {"query": "Mara Harbor"}, mode=mode).structured_content
        traced = call(base, secret, "trace_memory", {"relationship_id": record}, mode=mode).structured_content

        (item,) = recalled["results"][0]["relationships"]
        assert placed["processing_state"] == "completed"
        assert item["relationship_id"] == record
        assert {**traced["relationship"], "why": item["why"]} == item
        assert traced["supports"]["items"][0]["passage"]["marked"] == TEXT

    def test_answers_keep_their_schema_and_repeat_themselves_as_text(
        self, base: str, ada: Principal, secret: str
    ) -> None:
        view = say(ada, TEXT, WORKS)
        schemas = {tool.name: tool.output_schema for tool in listed(base, secret)}
        record = str(view.items[0].outcomes[0].relationship_id)
        asked = say(ada, "Mara Lind is hacking on Harbor.", Fact("Mara Lind", "is hacking on", "Harbor"))
        for name, arguments in [
            ("remember", request("Ivo lives in Graz.")),
            ("get_memory_placement", {"ingest_id": str(asked.ingest_id)}),
            ("list_reviews", {"mine": True, "kind": "predicate_needs_review", "limit": 1.0}),
            ("get_review", {"review_id": str(asked.items[0].review_tasks[0].review_id)}),
            ("get_memory_placement", {"ingest_id": str(view.ingest_id)}),
            ("recall_memory", {"query": "Harbor", "limit": 3.0, "valid_at": "2030-01-01"}),
            ("trace_memory", {"relationship_id": record}),
        ]:
            result = call(base, secret, name, arguments)
            formats = Draft202012Validator.FORMAT_CHECKER
            Draft202012Validator(schemas[name], format_checker=formats).validate(result.structured_content)
            assert not result.is_error
            assert json.loads(result.content[0].text) == result.structured_content

    def test_answers_many_calls_at_once(self, base: str, ada: Principal, secret: str) -> None:
        say(ada, TEXT, WORKS)
        found: list[int] = []

        async def many(client: Client) -> None:
            async def one() -> None:
                answer = await client.call_tool("recall_memory", {"query": "Harbor"})
                found.append(len(answer.structured_content["results"]))

            await client.list_tools()
            async with anyio.create_task_group() as group:
                for _ in range(50):
                    group.start_soon(one)

        talk(base, secret, many)
        assert found == [1] * 50


class TestResolve:
    def test_carries_out_what_a_person_decided(self, base: str, ada: Principal, secret: str) -> None:
        asked = say(ada, "Mara Lind is hacking on Harbor.", Fact("Mara Lind", "is hacking on", "Harbor", "works_on"))
        task = asked.items[0].review_tasks[0]
        seen = call(base, secret, "get_review", {"review_id": str(task.review_id)}).structured_content
        decision = {
            "review_id": str(task.review_id),
            "action": "select_predicate",
            "item_version": seen["item_version"],
            "observation_id": str(asked.items[0].outcomes[0].observation_id),
            "predicate_key": "works_on",
            "predicate_version": 1,
            "idempotency_key": "k",
        }

        done = call(base, secret, "resolve_memory_placement", decision)
        drain(using=model(Fact("Mara Lind", "is hacking on", "Harbor", "works_on")), linger=False)

        assert not done.is_error
        assert done.structured_content["compensation"] == "withdraw"
        assert len(call(base, secret, "recall_memory", {"query": "Harbor"}).structured_content["results"]) == 1

    def test_forgets_a_relationship_of_the_caller(self, base: str, ada: Principal, secret: str) -> None:
        record = say(ada, TEXT, WORKS).items[0].outcomes[0].relationship_id
        forgotten = {
            "action": "forget",
            "relationship_id": str(record),
            "expected_version": 1,
            "message": "Told by mistake.",
            "idempotency_key": "k",
        }

        done = call(base, secret, "resolve_memory_placement", forgotten)

        assert done.structured_content["relationship_id"] == str(record)
        assert call(base, secret, "recall_memory", {"query": "Harbor"}).structured_content["results"] == []

    @pytest.mark.parametrize(
        ("arguments", "pointer", "code"),
        [
            ({"action": "forget", "idempotency_key": "k"}, "", "missing_field"),
            ({"action": "reject", "idempotency_key": "k"}, "", "missing_field"),
            (
                {"action": "reject", "review_id": str(uuid4()), "tier": "fact", "idempotency_key": "k"},
                "",
                "field_is_set_by_server",
            ),
        ],
    )
    def test_names_what_is_missing(
        self, base: str, secret: str, arguments: dict[str, object], pointer: str, code: str
    ) -> None:
        answer = call(base, secret, "resolve_memory_placement", arguments)

        assert answer.is_error
        errors = answer.structured_content["errors"]
        assert (pointer, code) in [(e["pointer"], e["code"]) for e in errors]


class TestRemember:
    def test_waits_for_the_placement_when_asked_to(self, base: str, secret: str) -> None:
        def place() -> None:
            drain(using=model(WORKS), linger=False)
            connections.close_all()

        async def both(client: Client) -> CallToolResult:
            async with anyio.create_task_group() as group:
                group.start_soon(later)
                return await client.call_tool("remember", request(wait_seconds=20))

        async def later() -> None:
            while not await anyio.to_thread.run_sync(waiting):
                await anyio.sleep(0.05)
            await anyio.to_thread.run_sync(place)

        def waiting() -> bool:
            try:
                return Ingest.objects.exists()
            finally:
                connections.close_all()

        assert talk(base, secret, both).structured_content["processing_state"] == "completed"

    def test_answers_after_the_time_when_nothing_was_placed(self, base: str, secret: str) -> None:
        answer = call(base, secret, "remember", request(wait_seconds=0.2)).structured_content

        assert (answer["processing_state"], answer["check_after_seconds"]) == ("queued", 1)

    def test_stores_an_exact_retry_once(self, base: str, secret: str) -> None:
        wanted = request()
        first, again = (call(base, secret, "remember", wanted).structured_content for _ in range(2))

        assert (first["ingest_id"], again["replayed"]) == (again["ingest_id"], True)
        assert Ingest.objects.count() == 1

    def test_is_the_same_request_as_over_rest(self, base: str, ada: Principal, secret: str) -> None:
        wanted = request()
        body = {"evidence": wanted["evidence"]}
        stored = remember(principal=ada, body=body, idempotency_key=wanted["idempotency_key"], now=timezone.now())

        answer = call(base, secret, "remember", wanted).structured_content

        assert (answer["ingest_id"], answer["replayed"]) == (str(stored.ingest_id), True)

    def test_refuses_another_body_under_the_same_key(self, base: str, secret: str) -> None:
        wanted = request()
        call(base, secret, "remember", wanted)

        result = call(base, secret, "remember", {**wanted, **request("Another."), "idempotency_key": "k"})
        assert not result.is_error
        result = call(base, secret, "remember", {**request("A third."), "idempotency_key": "k"})

        assert problem(result)["code"] == "idempotency_key_reused"
        assert Ingest.objects.count() == 2

    @pytest.mark.parametrize(
        ("change", "fault"),
        [
            ({"entity_hints": []}, ("", "unknown_field")),
            ({"tier": "fact"}, ("", "field_is_set_by_server")),
            ({"profile_id": "x"}, ("", "field_is_set_by_server")),
            ({"wait_seconds": 21}, ("/wait_seconds", "broken_maximum")),
            ({"idempotency_key": ""}, ("/idempotency_key", "broken_minLength")),
            ({"evidence": []}, ("/evidence", "broken_minItems")),
            ({"evidence": [{"content": TEXT}]}, ("/evidence/0", "missing_field")),
            (
                {"evidence": [{"content": "a\0b", "source_type": "document"}]},
                ("/evidence/0/content", "bad_character"),
            ),
        ],
    )
    def test_names_every_place_that_is_wrong(
        self, base: str, secret: str, change: dict[str, Any], fault: tuple[str, str]
    ) -> None:
        assert fault in faults(call(base, secret, "remember", request(**change)))
        assert not Ingest.objects.exists()


class TestReading:
    @pytest.mark.parametrize(
        ("name", "arguments", "fault"),
        [
            ("recall_memory", {}, ("", "missing_field")),
            ("recall_memory", {"query": "x", "team_id": "y"}, ("", "field_is_set_by_server")),
            ("recall_memory", {"query": "x", "vector_weight": 1}, ("", "unknown_field")),
            ("recall_memory", {"query": "x", "limit": 51}, ("/limit", "broken_maximum")),
            ("recall_memory", {"query": 7}, ("/query", "wrong_type")),
            ("recall_memory", {"query": "a\0b"}, ("/query", "bad_character")),
            ("recall_memory", {"query": "x", "valid_at": "2026-01-01T10:00:00"}, ("/valid_at", "time_without_offset")),
            ("trace_memory", {"id": "x"}, ("", "missing_field")),
            ("list_reviews", {"kind": "gossip"}, ("/kind", "broken_enum")),
            ("list_reviews", {"limit": 101}, ("/limit", "broken_maximum")),
            ("list_reviews", {"cursor": "x"}, ("/cursor", "cursor_invalid")),
            ("get_review", {}, ("", "missing_field")),
            ("get_memory_placement", {"ingest_id": "x", "profile_id": "y"}, ("", "field_is_set_by_server")),
        ],
    )
    def test_names_every_place_that_is_wrong(
        self, base: str, secret: str, name: str, arguments: dict[str, Any], fault: tuple[str, str]
    ) -> None:
        assert fault in faults(call(base, secret, name, arguments))

    def test_tells_a_foreign_id_from_none_by_nothing(self, base: str, ada: Principal) -> None:
        view = say(ada, TEXT, WORKS)
        asked = say(ada, "Mara Lind is hacking on Harbor.", Fact("Mara Lind", "is hacking on", "Harbor"))
        stranger = token_of(someone(Team.objects.create(name="Umbra (sample)"), "Uma"))
        record = str(view.items[0].outcomes[0].relationship_id)
        answers = [
            call(base, stranger, name, {field: value})
            for name, field, theirs in [
                ("get_memory_placement", "ingest_id", str(view.ingest_id)),
                ("trace_memory", "relationship_id", record),
                ("get_review", "review_id", str(asked.items[0].review_tasks[0].review_id)),
            ]
            for value in (theirs, str(uuid4()), "no id at all")
        ]

        kept = [{k: v for k, v in problem(a).items() if k in ("code", "detail", "status")} for a in answers]
        assert kept == [kept[0]] * 9
        assert kept[0]["code"] == "not_found"
        found = call(base, stranger, "recall_memory", {"query": "Harbor"})
        assert not found.is_error, found
        assert found.structured_content["results"] == []
        listed_to_stranger = call(base, stranger, "list_reviews", {})
        assert listed_to_stranger.structured_content == {"results": [], "next_cursor": None}


class TestWhoAsks:
    def test_a_reader_cannot_remember(self, base: str, ada: Principal) -> None:
        result = call(base, token_of(ada, scopes=("read",)), "remember", request())

        assert problem(result)["code"] == "scope_missing"
        assert not Ingest.objects.exists()

    @pytest.mark.parametrize("name", READ)
    def test_a_writer_cannot_read(self, base: str, ada: Principal, name: str) -> None:
        result = call(base, token_of(ada, scopes=("write",)), name, {})

        assert problem(result)["code"] == "scope_missing"

    @pytest.mark.parametrize("mode", ERAS)
    def test_a_revoked_token_opens_nothing(self, base: str, secret: str, mode: str) -> None:
        AccessToken.objects.all().delete()

        with pytest.raises(MCPError):
            listed(base, secret, mode=mode)

    def test_a_deactivated_profile_opens_nothing(self, base: str, ada: Principal, secret: str) -> None:
        Profile.objects.filter(pk=ada.profile_id).update(deactivated_at=timezone.now())

        with pytest.raises(MCPError):
            listed(base, secret, mode="legacy")

    def test_an_unknown_tool_is_a_fault_of_the_protocol(self, base: str, secret: str) -> None:
        with pytest.raises(MCPError, match="no such tool"):
            call(base, secret, "forget_everything", {})


class TestFaultsOfOurs:
    def test_a_database_that_does_not_answer_is_told_to_the_model(
        self, base: str, secret: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(server, "principal_of_bearer", lost)
        result = call(base, secret, "recall_memory", {"query": "Harbor"})

        assert problem(result)["code"] == "database_unavailable"
        assert problem(result)["retry_after_seconds"] == 2
        with pytest.raises(MCPError, match="database does not answer"):
            listed(base, secret)

    def test_a_database_lost_inside_a_call_is_told_to_the_model(
        self, base: str, secret: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tools, "serve_recall", lost)

        assert problem(call(base, secret, "recall_memory", {"query": "x"}))["code"] == "database_unavailable"

    def test_an_unexpected_error_shows_and_logs_no_text_of_anybody(
        self, base: str, secret: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(tools, "serve_recall", broken)

        found = problem(call(base, secret, "recall_memory", {"query": "x"}))

        assert (found["code"], found["status"]) == ("internal_error", 500)
        assert found["request_id"] in caplog.text and "ValueError" in caplog.text
        assert " ".join(QUOTED) not in caplog.text + json.dumps(found)


def lost(*args: Any, **named: Any) -> None:
    """Fail as a database that went away."""
    raise OperationalError("gone")


def broken(*args: Any, **named: Any) -> None:
    """Fail as our own code may."""
    raise ValueError(" ".join(QUOTED))
