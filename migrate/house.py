"""The two rules that are about a run itself: a file that cannot be read, and a suppression that silences nothing."""

from __future__ import annotations

from .rule import Applicability, Entry, Finding
from .source import Source, Span

# The ids that code has to know; everything else about these rules stands in the pack `engine` of the catalog.
UNREADABLE = "MCP000"
UNUSED = "MCP001"
# What `fix --pin-only` looks at: the requirements that it bounds, and what stands in the way of a move.
HELD = ("MCP701", "MCP706", "MCP712")


def finding(entry: Entry, path: str, message: str, span: Span | None = None) -> Finding:
    """A finding of one of these rules; without a span it stands at the top of the file."""
    return Finding(entry.id, entry.name, path, span or Span(0, 0), message, entry.severity, Applicability.MANUAL)


def unreadable(entry: Entry, path: str, error: Exception, source: Source | None = None) -> Finding:
    """Why a file could not be understood, at the place of its syntax error if it has one."""
    if not isinstance(error, SyntaxError):
        return finding(entry, path, _reason(error))
    span = None
    if source is not None and error.lineno is not None and error.lineno <= len(source.line_starts):
        line = source.line(max(error.lineno, 1))
        start = source.offset(max(error.lineno, 1), len(line[: max((error.offset or 1) - 1, 0)].encode("utf-8")))
        span = Span(start, start)
    return finding(entry, path, f"syntax error: {error.msg}" if source is not None else error.msg, span)


def _reason(error: Exception) -> str:
    match error:
        case UnicodeDecodeError():
            return f"not {error.encoding}: byte 0x{error.object[error.start]:02x} at offset {error.start}"
        case RecursionError() | MemoryError():
            return "nested too deeply"
        case _:
            return str(error)
