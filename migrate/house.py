"""The two rules that are about a run itself: a file that cannot be read, and a suppression that silences nothing."""

from __future__ import annotations

from .rule import Applicability, Finding, Severity
from .source import Source, Span

# What the catalog says of these two stands in the pack `engine`; a file must be named even where no catalog is loaded.
UNREADABLE = ("MCP000", "unreadable_file", Severity.ERROR)
UNUSED = ("MCP001", "unused_suppression", Severity.NOTE)


def finding(rule: tuple[str, str, Severity], path: str, message: str, span: Span | None = None) -> Finding:
    """A finding of one of these rules; without a span it stands at the top of the file."""
    id, name, severity = rule
    return Finding(id, name, path, span or Span(0, 0), message, severity, Applicability.MANUAL)


def unreadable(path: str, error: Exception, source: Source | None = None) -> Finding:
    """Why a file could not be understood, at the place of its syntax error if it has one."""
    if not isinstance(error, SyntaxError):
        return finding(UNREADABLE, path, _reason(error))
    span = None
    if source is not None and error.lineno is not None and error.lineno <= len(source.line_starts):
        line = source.line(max(error.lineno, 1))
        start = source.offset(max(error.lineno, 1), len(line[: max((error.offset or 1) - 1, 0)].encode("utf-8")))
        span = Span(start, start)
    return finding(UNREADABLE, path, f"syntax error: {error.msg}" if source is not None else error.msg, span)


def _reason(error: Exception) -> str:
    match error:
        case UnicodeDecodeError():
            return f"not {error.encoding}: byte 0x{error.object[error.start]:02x} at offset {error.start}"
        case RecursionError() | MemoryError():
            return "nested too deeply"
        case _:
            return str(error)
