"""The two rules that are about a run itself: a file that cannot be read, and a suppression that silences nothing."""

from __future__ import annotations

from .rule import Applicability, Entry, Finding, Severity
from .source import Source, Span

UNREADABLE = Entry(
    id="MCP000",
    name="unreadable_file",
    pack="house",
    title="A file or folder cannot be read",
    message="this cannot be read",
    messages={},
    match={},
    severity=Severity.ERROR,
    fix="never",
    why="What cannot be read may hold anything: a run that passed it over would call it migrated. It ends with exit status 2.",
    instead="Repair the file, or leave it out with `exclude`.",
    spec="",
)

UNUSED = Entry(
    id="MCP001",
    name="unused_suppression",
    pack="house",
    title="A suppression comment silences nothing",
    message="this suppression silences nothing",
    messages={},
    match={},
    severity=Severity.NOTE,
    fix="never",
    why="A comment that silences nothing hides the next finding on its line, which nobody has judged.",
    instead="Delete the comment, or name in brackets the rule that it is for.",
    spec="",
)

ENTRIES = (UNREADABLE, UNUSED)


def finding(entry: Entry, path: str, message: str, span: Span | None = None) -> Finding:
    """A finding of one of these rules; without a span it stands at the top of the file."""
    return Finding(
        rule=entry.id,
        name=entry.name,
        path=path,
        span=span or Span(0, 0),
        message=message,
        severity=entry.severity,
        applicability=Applicability.MANUAL,
    )


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
