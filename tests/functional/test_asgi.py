"""One server for pages, REST and MCP: who is let in, and how it starts and ends."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

import anyio
import httpx
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from mcp import Client, StdioServerParameters

from densemem.auth import Principal
from densemem.core import limits
from densemem.management.commands import serve
from densemem.models import AccessToken, Team
from tests.said import Fact, say, someone
from tests.served import serving, token_of

pytestmark = pytest.mark.django_db(transaction=True)

MODERN = {
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/list",
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}


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


def post(base: str, secret: str | None, body: Any = LIST, **headers: str) -> httpx.Response:
    """Send one message to the MCP door."""
    bearer = {"Authorization": f"Bearer {secret}"} if secret else {}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx.post(f"{base}/mcp", content=raw, headers={**MODERN, **bearer, **named}, timeout=60)


def code(response: httpx.Response) -> tuple[int, str]:
    """Return the status and the code of a problem."""
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.json()["request_id"] == response.headers["X-Request-ID"]
    return response.status_code, response.json()["code"]


class TestMcpDoor:
    def test_answers_a_single_request_without_a_session(self, base: str, secret: str) -> None:
        response = post(base, secret, X_Request_ID="asked-1")

        assert response.status_code == 200
        assert [t["name"] for t in response.json()["result"]["tools"]][0] == "remember"
        assert response.headers["X-Request-ID"] == "asked-1"
        assert response.headers["Cache-Control"] == "no-store"
        assert "Mcp-Session-Id" not in response.headers

    @pytest.mark.parametrize("header", [None, "Bearer", "Bearer dm_wrong", "Basic dm_x", "Bearer é", "Bearer a b"])
    def test_asks_for_a_token_before_anything_else(self, base: str, db: None, header: str | None) -> None:
        headers = {"Authorization": header.encode("latin-1")} if header else {}
        response = httpx.post(f"{base}/mcp", content=b"{", headers={**MODERN, **headers})

        assert code(response) == (401, "not_authenticated")
        assert response.headers["WWW-Authenticate"] == "Bearer"

    def test_a_revoked_token_is_no_token(self, base: str, secret: str) -> None:
        AccessToken.objects.all().delete()

        assert code(post(base, secret)) == (401, "not_authenticated")

    @pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
    def test_takes_only_posts(self, base: str, secret: str, method: str) -> None:
        response = httpx.request(method, f"{base}/mcp", headers={"Authorization": f"Bearer {secret}"})

        assert code(response) == (405, "method_not_allowed")
        assert response.headers["Allow"] == "POST"

    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            ({"Host": "evil.example"}, 421),
            ({"Host": "evil.example:80"}, 421),
            ({"Origin": "https://evil.example"}, 403),
            ({"Origin": "null"}, 403),
            ({"Origin": "http://127.0.0.1:1"}, 403),
        ],
    )
    def test_answers_no_foreign_host_or_page(
        self, base: str, secret: str, headers: Mapping[str, str], status: int
    ) -> None:
        assert post(base, secret, **headers).status_code == status

    def test_answers_a_page_of_its_own(self, base: str, secret: str) -> None:
        assert post(base, secret, Origin=base).status_code == 200

    @pytest.mark.parametrize(
        ("body", "expected"),
        [
            (b"{", (400, "malformed_json")),
            (b'{"id": 1, "id": 2}', (400, "malformed_json")),
            (b'{"id": NaN}', (400, "malformed_json")),
            (b"\xff", (400, "malformed_json")),
            (b"[" * 100_000, (400, "malformed_json")),
            (b" " * (limits.BODY_BYTES + 1), (413, "body_too_large")),
        ],
        ids=["broken", "twice", "nan", "bytes", "deep", "large"],
    )
    def test_is_as_strict_about_json_as_rest(
        self, base: str, secret: str, body: bytes, expected: tuple[int, str]
    ) -> None:
        assert code(post(base, secret, body)) == expected

    def test_tells_a_header_that_contradicts_its_body(self, base: str, secret: str) -> None:
        response = post(base, secret, Mcp_Method="tools/call")

        assert (response.status_code, response.json()["error"]["code"]) == (400, -32020)

    def test_tells_a_version_that_nobody_speaks(self, base: str, secret: str) -> None:
        response = post(base, secret, MCP_Protocol_Version="2031-01-01")

        assert response.status_code == 400
        assert response.json()["error"]["code"] in (-32020, -32022)

    def test_takes_a_notification_in_silence(self, base: str, secret: str) -> None:
        assert post(base, secret, {"jsonrpc": "2.0", "method": "notifications/initialized"}).status_code == 202


class TestOtherDoors:
    def test_rest_is_served_beside_it(self, base: str, ada: Principal, secret: str) -> None:
        view = say(ada, "Mara Lind works on Harbor.", Fact("Mara Lind", "works on", "Harbor", "works_on"))
        headers = {"Authorization": f"Bearer {secret}"}
        response = httpx.get(f"{base}/api/v1/ingests/{view.ingest_id}", headers=headers)

        assert (response.status_code, response.json()["processing_state"]) == (200, "completed")

    def test_rest_refuses_who_has_no_token(self, base: str, db: None) -> None:
        assert httpx.get(f"{base}/api/v1/ingests/1").status_code == 401

    def test_an_address_that_only_begins_like_the_door_is_another(self, base: str, db: None) -> None:
        assert httpx.get(f"{base}/mcpx").status_code == 404


class TestWithoutLifespan:
    def test_says_that_the_door_is_closed(self) -> None:
        from densemem.asgi import Application

        async def never(scope: Any, receive: Any, send: Any) -> None:
            raise AssertionError("not for Django")

        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(Application(never))
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return await client.post("/mcp/")

        response = anyio.run(ask)
        assert (response.status_code, response.json()["code"]) == (503, "mcp_not_started")


class TestServe:
    def test_serves_with_a_worker_and_leaves_no_process_behind(self, secret: str) -> None:
        with served("--with-worker", "--processes", "2") as (process, found):
            response = post(found["MCP"].removesuffix("/mcp"), secret)
            worker_and_second = children_of(process.pid)
            process.send_signal(signal.SIGTERM)
            status = process.wait(60)

        assert (response.status_code, status) == (200, 0)
        assert len(worker_and_second) == 2
        assert not any(map(is_there, worker_and_second))

    def test_stops_when_one_of_its_processes_ends_by_itself(self, secret: str) -> None:
        with served("--processes", "2") as (process, found):
            post(found["MCP"].removesuffix("/mcp"), secret)
            (second,) = children_of(process.pid)
            os.kill(second, signal.SIGKILL)
            status = process.wait(60)

        assert status == 1

    def test_its_processes_end_with_it_even_when_it_is_killed(self, secret: str) -> None:
        with served("--processes", "3") as (process, found):
            post(found["MCP"].removesuffix("/mcp"), secret)
            others = children_of(process.pid)
            process.kill()
            ends = time.monotonic() + 30
            while any(map(is_there, others)) and time.monotonic() < ends:
                time.sleep(0.1)

        assert len(others) == 2
        assert not any(map(is_there, others))

    def test_lets_no_open_connection_wait_for_the_clients_next_acknowledgement(self, secret: str) -> None:
        with served("--processes", "1") as (_, found), httpx.Client(base_url=found["pages"]) as client:
            took = [client.get("healthz").elapsed.total_seconds() for _ in range(60)]

        assert min(took[30:]) < 0.03  # it would come after 0.04

    def test_bounds_what_comes_before_the_body(self, secret: str) -> None:
        long = {"X-Long": "a" * 200_000}
        with served("--processes", "1") as (_, found), pytest.raises((httpx.HTTPStatusError, httpx.NetworkError)):
            httpx.get(f"{found['pages']}healthz", headers=long).raise_for_status()

    def test_says_why_it_cannot_listen(self) -> None:
        with serve.listen("127.0.0.1", 0) as taken, pytest.raises(CommandError, match="in use"):
            call_command("serve", port=taken.getsockname()[1])

    def test_names_every_door(self) -> None:
        assert serve.addresses("::1", 8000)["MCP"] == "http://[::1]:8000/mcp"


class TestStdio:
    def test_gives_a_local_agent_the_same_tools(self, secret: str) -> None:
        async def ask() -> tuple[list[str], Any]:
            arguments = [str(settings.BASE_DIR / "manage.py"), "mcp_stdio"]
            environment = {**os.environ, "DENSEMEM_TOKEN": secret}
            start = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
            async with Client(start) as client:
                names = [tool.name for tool in (await client.list_tools()).tools]
                return names, (await client.call_tool("recall_memory", {"query": "Harbor"})).structured_content

        names, answer = anyio.run(ask)
        assert names[0] == "remember"
        assert answer["results"] == []

    def test_does_not_start_without_a_token(self, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("DENSEMEM_TOKEN", raising=False)

        with pytest.raises(CommandError, match="DENSEMEM_TOKEN"):
            call_command("mcp_stdio")


def children_of(pid: int) -> list[int]:
    """Return the direct children of a process."""
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


def is_there(pid: int) -> bool:
    """Tell if a process runs; one that nobody has waited for yet has ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class served:
    """`manage.py serve` as a process of its own, on a free port; it is ended in any case."""

    def __init__(self, *words: str) -> None:
        command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "serve", "--port", "0", "--json", *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> tuple[subprocess.Popen[str], dict[str, str]]:
        assert self.process.stdout
        return self.process, json.loads(self.process.stdout.readline())

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=60)
