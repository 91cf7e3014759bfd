"""Moves existing Python MCP code to protocol revision 2026-07-28."""

__version__ = "0.1.0"
