"""`manage.py mcp_stdio`: the MCP tools over standard input and output, for agents that start their own server."""

import os
from typing import Any, Final

import anyio
from django.core.management.base import BaseCommand, CommandError
from mcp.server.stdio import stdio_server

from densemem.core.ids import uuid7
from densemem.http import Problem
from densemem.mcp.server import Caller, Context, build_server, caller_of_token
from densemem.mcp.threads import in_thread

TOKEN: Final = "DENSEMEM_TOKEN"


class Command(BaseCommand):
    help = f"Serve the MCP tools over standard input and output. The environment variable {TOKEN} holds the token."

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve until the input ends."""
        secret = os.environ.get(TOKEN, "")
        caller = caller_of_token(secret)
        if isinstance(caller, Problem):
            raise CommandError(f"{TOKEN}: {caller.detail}")
        anyio.run(serve, secret)


async def serve(secret: str) -> None:
    """Answer requests; the token is read again for each, so that revoking it stops the tools."""

    async def caller_of(_: Context) -> Caller:
        return await in_thread(caller_of_token, secret)

    server = build_server(caller_of, request_id_of=lambda _: uuid7().hex)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
