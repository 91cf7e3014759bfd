"""The catalog: everything that knows MCP."""
