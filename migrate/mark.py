"""Comments that say where a human must act or look: `# mcp-migrate: TODO[MCP201] message`, above the statement of a finding."""

from __future__ import annotations

import io
import tokenize
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

from .rule import Applicability, Finding
from .source import Source

_MARK = "# mcp-migrate: TODO["
_NO_STATEMENT = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER})


def mark(source: Source, findings: Iterable[Finding]) -> str:
    """The text with one comment for each of these findings, and without the comments of earlier runs.

    A comment stands on a line of its own where a statement begins, so no string and no continued line is ever cut.
    """
    starts, marks = _layout(source)
    if not starts:
        return source.text
    wanted: defaultdict[int, list[str]] = defaultdict(list)
    for finding in findings:
        line = source.position(finding.span.start).line
        comments = wanted[starts[max(bisect_right(starts, line) - 1, 0)]]
        comment = f"{_MARK}{finding.rule}] {_one_line(_text(finding), source.encoding)}"
        if comment not in comments:
            comments.append(comment)
    out = []
    for row, text in enumerate(_lines(source), start=1):
        if row not in marks:
            indent = text[: len(text) - len(text.lstrip(" \t"))]
            out += [*(f"{indent}{comment}{source.newline}" for comment in wanted[row]), text]
    return "".join(out)


def _text(finding: Finding) -> str:
    """The message; where there is a fix that was not asked for, with what it would do."""
    if finding.applicability is not Applicability.UNSAFE:
        return finding.message
    return f"{finding.message}; fix needs --unsafe-fixes{finding.hint and f': {finding.hint}'}"


def _layout(source: Source) -> tuple[list[int], set[int]]:
    """The rows where statements begin, and those that hold a mark and nothing else. Nothing for text that cannot be tokenized."""
    starts: list[int] = []
    marks: set[int] = set()
    begins = True
    try:
        # Universal newlines, as the positions of `Source` count lines.
        for token in tokenize.generate_tokens(io.StringIO(source.text, newline=None).readline):
            if token.type == tokenize.COMMENT and token.string.startswith(_MARK) and not token.line[: token.start[1]].strip():
                marks.add(token.start[0])
            elif token.type == tokenize.NEWLINE:
                begins = True
            elif begins and token.type not in _NO_STATEMENT:
                starts.append(token.start[0])
                begins = False
    except (tokenize.TokenError, SyntaxError):
        return [], set()
    return starts, marks


def _lines(source: Source) -> list[str]:
    bounds = [*source.line_starts, len(source.utf8)]
    return [source.utf8[start:end].decode("utf-8") for start, end in pairwise(bounds)]


def _one_line(message: str, encoding: str) -> str:
    text = "".join(char if char.isprintable() else " " for char in " ".join(message.split()))
    return text.encode(encoding, "backslashreplace").decode(encoding)
