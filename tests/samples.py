"""Small values that several tests of the shell need: an entry, a source, a finding at a piece of its text."""

from __future__ import annotations

from mcp_migrate.rule import Applicability, Entry, Finding, Severity
from mcp_migrate.source import Source, Span


def entry(id: str, name: str, pack: str = "removed", severity: Severity = Severity.ERROR) -> Entry:
    return Entry(
        id=id,
        name=name,
        pack=pack,
        title=f"Something says `{name}`",
        message="`{fact.key}` is gone",
        messages={},
        match={},
        severity=severity,
        fix="sometimes",
        why="Nobody answers.",
        instead="Write something else.",
        spec="SEP-0000",
    )


PING, TASKS, CODES = entry("MCP103", "ping"), entry("MCP114", "core_tasks"), entry("MCP201", "error_code", "changed", Severity.WARNING)
UNUSED = entry("MCP001", "unused_suppression", "engine", Severity.NOTE)
ENTRIES = {rule.id: rule for rule in (PING, TASKS, CODES)}


def at(
    source: Source,
    text: str,
    rule: Entry = PING,
    *,
    nth: int = 0,
    applicability: Applicability = Applicability.SAFE,
    message: str | None = None,
    hint: str = "",
) -> Finding:
    """A finding at the nth place where `text` stands."""
    start = -1
    for _ in range(nth + 1):
        start = source.utf8.index(text.encode(), start + 1)
    return Finding(
        rule=rule.id,
        name=rule.name,
        path=source.path,
        span=Span(start, start + len(text.encode())),
        message=f"`{rule.name}` is gone" if message is None else message,
        severity=rule.severity,
        applicability=applicability,
        hint=hint,
    )
