"""The MCP door: one registry of tools, each the same call as its REST twin ("Interfaces")."""
