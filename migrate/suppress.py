"""Comments that silence findings: `# mcp-migrate: ignore[MCP103] -- reason`, and `# mcp-migrate: ignore-file`."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from .house import UNUSED, finding
from .rule import Entry, Finding
from .source import Source, Span

_MARK = "mcp-migrate:"
_DIRECTIVE = re.compile(r"#\s*mcp-migrate:\s*(?P<word>[\w-]*)\s*(?P<brackets>\[(?P<rules>[^\]]*)\])?")


class Suppression(NamedTuple):
    """One comment. `rules` is spelled as in the comment; None stands for all."""

    span: Span
    line: int
    rules: tuple[str, ...] | None
    whole_file: bool


class Judged(NamedTuple):
    """The findings of a file that stay, how many were silenced, and a finding for each comment that silences nothing."""

    kept: list[Finding]
    silenced: int
    unused: list[Finding]


def judge(
    source: Source, findings: Iterable[Finding], entries: Mapping[str, Entry], active: frozenset[str], *, settled: Iterable[Finding] = ()
) -> Judged:
    """Splits one file's findings by its comments. `entries` has every rule by id; only the `active` ones ran.

    A comment counts for a finding if it stands on the first or the last line of the finding's span. One for a `settled` finding
    is not unused.
    """
    findings = list(findings)
    suppressions = list(suppressions_of(source))
    if not suppressions:
        return Judged(findings, 0, [])
    spelled = {spelling: entry.id for entry in entries.values() for spelling in (entry.id, entry.name)}

    def silencing(found: Finding) -> set[tuple[Suppression, str]]:
        lines = (source.position(found.span.start).line, source.position(found.span.end).line)
        return {
            (suppression, spelling)
            for suppression in suppressions
            if suppression.whole_file or suppression.line in lines
            for spelling in _spellings(suppression)
            if spelling == "" or spelled.get(spelling) == found.rule
        }

    by = [silencing(found) for found in findings]
    used = set[tuple[Suppression, str]]().union(*by, *map(silencing, settled))
    kept = [found for found, comments in zip(findings, by, strict=True) if not comments]
    unused = []
    for suppression in suppressions:
        idle = [
            spelling
            for spelling in _spellings(suppression)
            if (suppression, spelling) not in used and _could_be_used(spelling, spelled, active)
        ]
        if idle or suppression.rules == ():
            unused.append(_note(entries[UNUSED], source, suppression, idle, spelled))
    return Judged(kept, len(findings) - len(kept), unused if UNUSED in active else [])


def is_commented(source: Source) -> bool:
    """Whether a file may hold suppressions; cheaper than looking for them."""
    return _MARK in source.text


def suppressions_of(source: Source) -> Iterator[Suppression]:
    """Every suppression in the comments of a file, in order; text in strings does not count."""
    if not is_commented(source):
        return
    for token in _comments(source):
        for found in _DIRECTIVE.finditer(token.string):
            if found["word"] not in ("ignore", "ignore-file"):
                continue
            rules = None if found["brackets"] is None else tuple(name for part in found["rules"].split(",") if (name := part.strip()))
            line, column = token.start
            start = source.offset(line, len(source.line(line)[: column + found.start()].encode("utf-8")))
            yield Suppression(Span(start, start + len(found[0].encode("utf-8"))), line, rules, found["word"] == "ignore-file")


def _comments(source: Source) -> Iterator[tokenize.TokenInfo]:
    # Universal newlines, as the positions of `Source` count lines.
    lines = io.StringIO(source.text, newline=None).readline
    try:
        for token in tokenize.generate_tokens(lines):
            if token.type == tokenize.COMMENT and _MARK in token.string:
                yield token
    except (tokenize.TokenError, SyntaxError):
        # Syntax newer than this interpreter: the comments up to here are known, and a later one can only fail to silence.
        return


def _spellings(suppression: Suppression) -> tuple[str, ...]:
    return ("",) if suppression.rules is None else suppression.rules


def _could_be_used(spelling: str, spelled: Mapping[str, str], active: frozenset[str]) -> bool:
    """A rule that did not run cannot show that its comment is of no use."""
    ids = set(spelled.values()) if spelling == "" else {spelled.get(spelling, "")} - {""}
    return ids <= active


def _note(rule: Entry, source: Source, suppression: Suppression, idle: list[str], spelled: Mapping[str, str]) -> Finding:
    unknown = [name for name in idle if name and name not in spelled]
    if unknown:
        message = f"no rule is called {_quoted(unknown)}"
    elif suppression.rules and len(idle) < len(suppression.rules):
        message = f"{_quoted(idle)} in this suppression silences nothing"
    else:
        message = "this suppression silences nothing"
    return finding(rule, source.path, message, suppression.span)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
