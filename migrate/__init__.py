"""Moves existing Python MCP code to protocol revision 2026-07-28."""
