"""The MCP door: one registry of tools, each the same call as its REST twin ("Interfaces")."""

# The framework's settings name classes of densemem.http, which needs this module: it must be loaded first.
import rest_framework.views  # noqa: F401
