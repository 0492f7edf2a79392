"""The official server with our registry behind it. It speaks both eras of the protocol."""

import logging
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import anyio
import mcp_types as types
from django.conf import settings
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from densemem.auth import Principal, principal_of_bearer
from densemem.http import Problem, as_problem
from densemem.mcp.descriptions import INSTRUCTIONS
from densemem.mcp.outputs import compact, plain, schema_of
from densemem.mcp.threads import in_thread
from densemem.mcp.tools import TOOLS, Tool, find_tool, tools_of

log = logging.getLogger(__name__)

Context = ServerRequestContext[Any, Any]
# Who asks; or, when nobody can tell, the problem to answer every tool with.
Caller = Principal | Problem

CACHE: Final = CacheHint(ttl_ms=300_000, scope="private")
FIRST_LOOK_SECONDS: Final = 0.05
LAST_LOOK_SECONDS: Final = 1.0


def build_server(
    caller_of: Callable[[Context], Awaitable[Caller]], *, request_id_of: Callable[[Context], str]
) -> Server[Any]:
    """
    Return a server of all tools.

    :param caller_of: tells who asks, for each request anew
    :param request_id_of: the id under which a fault of ours can be found in the log
    """

    async def list_tools(context: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        caller = await caller_of(context)
        if isinstance(caller, Problem):
            raise MCPError(types.INTERNAL_ERROR, caller.detail, document_of(caller, "tools/list", ""))
        return types.ListToolsResult(tools=[LISTED[tool.name] for tool in tools_of(caller)])

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = find_tool(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, "There is no such tool. Ask tools/list.")
        caller = await caller_of(context)
        return await _call(tool, caller, params.arguments or {}, request_id=request_id_of(context))

    return Server(
        "dense-mem",
        title="Dense-Mem",
        version=str(settings.SPECTACULAR_SETTINGS["VERSION"]),
        instructions=INSTRUCTIONS,
        cache_hints={"tools/list": CACHE, "server/discover": CACHE},
        get_tool_input_schema=_input_schema,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def caller_of_token(secret: str) -> Caller:
    """Return who holds the token, or the problem that says why nobody can be found."""
    try:
        return principal_of_bearer(secret)[1]
    except Exception as error:
        problem = as_problem(error)
        if problem is None:
            raise
        return problem


async def _call(tool: Tool, caller: Caller, arguments: Mapping[str, Any], *, request_id: str) -> types.CallToolResult:
    """Call a tool as the caller; whatever goes wrong in it is an answer to the model, never a lost connection."""
    try:
        if isinstance(caller, Problem):
            raise caller
        caller.require(tool.scope)
        answer = plain(await _answer(tool, caller, arguments))
    except Exception as error:
        problem = as_problem(error) or _fault_of_ours(error, request_id)
        return _result(document_of(problem, tool.name, request_id), is_error=True)
    return _result(answer, is_error=False)


async def _answer(tool: Tool, who: Principal, arguments: Mapping[str, Any]) -> Any:
    """Call, and look again until nothing waits for a worker or the caller's time is up. No thread is held meanwhile."""
    answer = await in_thread(tool.call, who, arguments)
    if tool.look_again is None:
        return answer
    ends = time.monotonic() + arguments.get("wait_seconds", 0)
    pause = FIRST_LOOK_SECONDS
    while answer.check_after_seconds and (left := ends - time.monotonic()) > 0:
        await anyio.sleep(min(pause, left))
        pause = min(2 * pause, LAST_LOOK_SECONDS)
        answer = await in_thread(tool.look_again, who, answer)
    return answer


def document_of(problem: Problem, place: str, request_id: str) -> dict[str, Any]:
    """Return the problem as REST answers it; what REST says in a header stands in the document."""
    document = problem.body(instance=place, request_id=request_id)
    if "Retry-After" in problem.headers:
        document["retry_after_seconds"] = int(problem.headers["Retry-After"])
    return document


def _result(document: Mapping[str, Any], *, is_error: bool) -> types.CallToolResult:
    text = types.TextContent(type="text", text=compact(document))
    return types.CallToolResult(content=[text], structured_content=dict(document), is_error=is_error)


def _fault_of_ours(error: Exception, request_id: str) -> Problem:
    # The message of an error may quote evidence: the log gets its type and its frames.
    frames = "".join(traceback.format_tb(error.__traceback__))
    log.error("unexpected %s in request %s\n%s", type(error).__name__, request_id, frames)
    return Problem(500, "internal_error", "This is our fault. Nothing was stored halfway. Quote the request id.")


def _input_schema(name: str) -> Mapping[str, Any] | None:
    tool = find_tool(name)
    return tool.input_schema if tool else None


def _listed(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        read_only_hint=tool.reads_only, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        output_schema=schema_of(tool.answers),
        annotations=hints,
    )


LISTED: Final = {tool.name: _listed(tool) for tool in TOOLS}
