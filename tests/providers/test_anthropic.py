"""The vendor's provider, by its real SDK, against a local server that misbehaves."""

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from densemem.core import limits
from densemem.providers.anthropic import Claude, reduced
from densemem.providers.base import ProviderUnavailable, Role, Turn, Usage
from placement import contract
from tests.providers import messages_server as server
from tests.providers.contract import NOTHING_FOUND, ProviderContract, reviewer_call

Ask = Callable[..., Claude]


@pytest.fixture
def ask() -> Iterator[Ask]:
    """Return a function that starts a server with one behaviour and gives a provider that asks it."""
    running = []

    def start(behaviour: server.Behaviour) -> Claude:
        context = server.serving(behaviour)
        running.append(context)
        local = context.__enter__()
        provider = Claude(api_key="key-1", model="model-1", base_url=local.url)
        provider.server = local
        return provider

    yield start
    for context in running:
        context.__exit__(None, None, None)


def refusal(provider: Claude, *, seconds_max: float = 5.0) -> ProviderUnavailable:
    """Return how the provider says that no answer came."""
    with pytest.raises(ProviderUnavailable) as refused:
        provider.complete(reviewer_call(seconds_max=seconds_max))
    return refused.value


class TestClaude(ProviderContract):
    """Claude."""

    @pytest.fixture
    def provider(self, ask: Ask) -> Claude:
        return ask(server.says(NOTHING_FOUND))

    def test_records_model_and_usage(self, provider: Claude) -> None:
        answer = provider.complete(reviewer_call())

        assert answer.text == NOTHING_FOUND
        assert (answer.model, answer.usage) == ("local-1", Usage(tokens_in=11, tokens_out=7))

    def test_sends_the_conversation_the_key_and_no_tools(self, provider: Claude) -> None:
        call = reviewer_call()
        turns = (*call.turns, Turn(Role.MODEL, "{}"), Turn(Role.USER, "again"))

        provider.complete(type(call)(call.stage, call.system, turns, call.schema, 5.0))

        (seen,) = provider.server.requests
        assert seen.path == "/v1/messages"
        assert seen.headers["authorization"] == "Bearer key-1"
        assert [turn["role"] for turn in seen.body["messages"]] == ["user", "assistant", "user"]
        assert seen.body["messages"][0]["content"] == call.turns[0].text
        assert seen.body["system"] == call.system
        assert seen.body["model"] == "model-1" and seen.body["stream"] is True
        assert not seen.body.keys() & {"tools", "tool_choice", "mcp_servers", "container"}
        assert seen.body["output_config"]["format"] == {"type": "json_schema", "schema": reduced(call.schema)}

    def test_takes_an_answer_cut_at_the_output_limit_as_truncated(self, ask: Ask) -> None:
        answer = ask(server.says('{"security', stop="max_tokens")).complete(reviewer_call())

        assert (answer.text, answer.truncated) == ('{"security', True)

    def test_never_lets_the_model_continue_its_own_text(self, provider: Claude) -> None:
        call = reviewer_call()
        with pytest.raises(ValueError, match="user"):
            provider.complete(type(call)(call.stage, call.system, (Turn(Role.MODEL, "{"),), call.schema))
        assert provider.server.requests == []

    @pytest.mark.parametrize(
        ("behaviour", "reason"),
        [
            (server.fails(500), "server_error"),
            (server.fails(503), "server_error"),
            (server.fails(529, kind="overloaded_error"), "overloaded"),
            (server.fails(429), "rate_limited"),
            (server.fails(400), "request_refused"),
            (server.fails(401), "unauthorized"),
            (server.fails(403), "unauthorized"),
            (server.fails(404), "model_unknown"),
            (server.fails(413), "request_too_large"),
            (server.resets, "reset"),
            (server.breaks_off, "reset"),
            (server.resets_midway, "reset"),
            (server.says("I will not.", stop="refusal"), "refused"),
            (server.says("", stop="refusal"), "refused"),
            (server.says(""), "empty"),
            (server.says(" \n"), "empty"),
            (server.says("", stop="max_tokens"), "empty"),
            (server.says("x", stop="tool_use"), "broken"),
            (server.says("x" * 10_000_000), "too_large"),
            (server.floods, "too_large"),
            (server.sends(b""), "broken"),
            (server.sends(server.events("whole").split(b"event: message_stop")[0]), "broken"),
            (server.sends(server.events("whole", pieces=1).replace(b"whole", b"\\ud800")), "broken"),
            (server.sends(b'event: message_start\ndata: {"type": "message_sta\n\n'), "broken"),
            (server.sends(server.event("message_start", {"type": "message_start"})), "broken"),
            (server.sends(server.event("message_start", [1])), "broken"),
            (server.sends(server.event("message_start", None)), "broken"),
            (server.sends(server.event("content_block_delta", {"type": "content_block_delta", "delta": 1})), "broken"),
            (server.sends(server.events("x").replace(b'"text": "x"', b'"text": 5')), "broken"),
            (server.fails_midway("overloaded_error"), "overloaded"),
            (server.fails_midway("api_error"), "server_error"),
            (server.fails_midway("some_new_error"), "server_error"),
            (server.fails_midway("rate_limit_error"), "rate_limited"),
            (server.fails_midway("authentication_error"), "unauthorized"),
            (server.fails_midway("not_found_error"), "model_unknown"),
            (server.fails_midway("invalid_request_error"), "request_refused"),
        ],
    )
    def test_says_why_no_answer_came(self, ask: Ask, behaviour: server.Behaviour, reason: str) -> None:
        provider = ask(behaviour)

        assert refusal(provider).reason == reason
        assert len(provider.server.requests) == 1  # the SDK must not try again by itself

    @pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
    def test_knows_what_no_wait_can_mend(self, ask: Ask, status: int) -> None:
        assert refusal(ask(server.fails(status))).lasting is True

    @pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
    def test_knows_what_may_pass(self, ask: Ask, status: int) -> None:
        assert refusal(ask(server.fails(status))).lasting is False

    @pytest.mark.parametrize(("kind", "lasting"), [("permission_error", True), ("overloaded_error", False)])
    def test_knows_it_of_an_error_inside_a_stream_too(self, ask: Ask, kind: str, lasting: bool) -> None:
        assert refusal(ask(server.fails_midway(kind))).lasting is lasting

    @pytest.mark.parametrize("behaviour", [server.says("No.", stop="refusal"), server.says(" ")])
    def test_tells_what_a_call_without_an_answer_cost(self, ask: Ask, behaviour: server.Behaviour) -> None:
        away = refusal(ask(behaviour))

        assert (away.model, away.usage) == ("local-1", Usage(tokens_in=11, tokens_out=7))

    @pytest.mark.parametrize("text", ['{"security_signals": [], "men', "Sure! {}", "```json\n{}\n```", "\ufeff{}"])
    def test_hands_on_any_text_as_it_is(self, ask: Ask, text: str) -> None:
        assert ask(server.says(text)).complete(reviewer_call()).text == text

    def test_refuses_compressed_bodies(self, ask: Ask) -> None:
        def behave(handler: server.Handler) -> None:
            handler.send(b"\x1f\x8b", content_encoding="gzip")

        assert refusal(ask(behave)).reason == "too_large"

    def test_says_so_when_nobody_listens(self) -> None:
        with server.serving(server.hangs) as local:
            url = local.url
        assert refusal(Claude(api_key="k", model="m", base_url=url)).reason == "unreachable"

    @pytest.mark.parametrize(
        ("given", "seconds"),
        [("7", 7.0), ("1.5", 1.5), ("-3", 0.0), ("soon", None), ("nan", None), ("inf", None), ("", None)],
    )
    def test_passes_on_how_long_to_wait(self, ask: Ask, given: str, seconds: float | None) -> None:
        assert refusal(ask(server.fails(429, retry_after=given))).retry_after == seconds

    def test_reads_a_date_to_wait_for(self, ask: Ask) -> None:
        later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)

        waiting = refusal(ask(server.fails(503, retry_after=later))).retry_after
        assert waiting is not None and 80 < waiting <= 90

    @pytest.mark.parametrize(
        "behaviour", [server.hangs, server.trickles("headers"), server.trickles("body"), server.trickles("error")]
    )
    def test_ends_at_its_deadline_whatever_drips(self, ask: Ask, behaviour: server.Behaviour) -> None:
        provider, start = ask(behaviour), time.monotonic()

        assert refusal(provider, seconds_max=0.5).reason == "timeout"
        assert time.monotonic() - start < 2.0

    def test_lets_go_of_the_connection_when_the_text_is_too_large(self, ask: Ask) -> None:
        delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "x" * 100_000}}

        def behave(handler: server.Handler) -> None:
            handler.begin(**{"content-length": str(10**10)})
            for _ in range(1000):
                handler.wfile.write(server.event("content_block_delta", delta))

        provider = ask(behave)
        assert refusal(provider).reason == "too_large"
        assert provider.server.cut.wait(5)


def keys_of(schema: Any) -> set[str]:
    """Return every keyword that a schema uses."""
    inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return set(schema).union(*(keys_of(item) for item in inner))


class TestReduced:
    """reduced."""

    @pytest.mark.parametrize("schema", [contract.EXTRACTION, contract.VERIFIER_RESPONSE])
    def test_keeps_shapes_and_drops_what_the_vendor_does_not_know(self, schema: dict[str, Any]) -> None:
        small = reduced(schema)

        assert keys_of(small) <= {"type", "enum", "properties", "required", "items", "additionalProperties"}
        assert small["required"] == schema["required"]
        assert small["properties"].keys() == schema["properties"].keys()
        assert small["additionalProperties"] is False
        assert "minLength" in json.dumps(schema)  # the committed one stays whole

    def test_stays_within_the_vendors_number_of_unions(self) -> None:
        text = json.dumps(reduced(contract.EXTRACTION))

        assert text.count('"type": [') <= 16

    def test_leaves_no_answer_too_large_for_its_tokens(self) -> None:
        assert limits.ANSWER_TOKENS * 4 < limits.ANSWER_BYTES
