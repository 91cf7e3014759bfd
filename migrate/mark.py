"""Comments that say where a human must act or look: `# mcp-migrate: TODO[MCP201] message`, above the statement of a finding.

In a statement of many lines they stand above the line itself.
"""

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
_NEAR = 2  # lines that a comment above a statement still speaks of
_NO_STATEMENT = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER})

_OPENING = frozenset(getattr(tokenize, name) for name in ("FSTRING_START", "TSTRING_START") if hasattr(tokenize, name))
_CLOSING = frozenset(getattr(tokenize, name) for name in ("FSTRING_END", "TSTRING_END") if hasattr(tokenize, name))


def mark(source: Source, findings: Iterable[Finding]) -> str:
    """The text with one comment for each of these findings, and without the comments of earlier runs.

    A comment stands on a line of its own where a statement begins, or a line between its brackets, so no string and no continued
    line is ever cut.
    """
    starts, inner, marks = _layout(source)
    if not starts:
        return source.text
    wanted: defaultdict[int, list[str]] = defaultdict(list)
    for finding in findings:
        line = source.position(finding.span.start).line
        start = starts[max(bisect_right(starts, line) - 1, 0)]
        if line - start - sum(start < row < line for row in marks) > _NEAR:
            start = max((row for row in inner if start < row <= line), default=start)
        comments = wanted[start]
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


def _layout(source: Source) -> tuple[list[int], list[int], set[int]]:
    """The rows where statements begin, those that go on between brackets, and those that hold a mark and nothing else.

    Nothing for text that cannot be tokenized.
    """
    starts: list[int] = []
    inner: list[int] = []
    marks: set[int] = set()
    begins, goes_on = True, False
    strings = 0
    try:
        # Universal newlines, as the positions of `Source` count lines.
        for token in tokenize.generate_tokens(io.StringIO(source.text, newline=None).readline):
            # Newer interpreters look into strings: no comment may stand there in older ones.
            strings += (token.type in _OPENING) - (token.type in _CLOSING)
            if token.type == tokenize.COMMENT and token.string.startswith(_MARK) and not token.line[: token.start[1]].strip():
                marks.add(token.start[0])
            elif token.type == tokenize.NEWLINE:
                begins, goes_on = True, False
            elif token.type == tokenize.NL:
                goes_on = not begins and not strings
            elif begins and token.type not in _NO_STATEMENT:
                starts.append(token.start[0])
                begins, goes_on = False, False
            elif goes_on and token.type not in _NO_STATEMENT:
                inner.append(token.start[0])
                goes_on = False
    except (tokenize.TokenError, SyntaxError):
        return [], [], set()
    return starts, inner, marks


def _lines(source: Source) -> list[str]:
    bounds = [*source.line_starts, len(source.utf8)]
    return [source.utf8[start:end].decode("utf-8") for start, end in pairwise(bounds)]


def _one_line(message: str, encoding: str) -> str:
    text = "".join(char if char.isprintable() else " " for char in " ".join(message.split()))
    return text.encode(encoding, "backslashreplace").decode(encoding)
