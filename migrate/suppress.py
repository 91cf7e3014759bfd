"""Comments that silence findings: `# mcp-migrate: ignore[MCP103] -- reason`, and `# mcp-migrate: ignore-file`."""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from . import documents
from .house import UNUSED, finding
from .rule import Entry, Finding, Severity
from .selection import UnknownRule, ids_of
from .source import Source, Span

_MARK = "mcp-migrate:"
_DIRECTIVE = re.compile(r"#\s*mcp-migrate:\s*(?P<word>[\w-]*)\s*(?P<brackets>\[(?P<rules>[^\]#]*)\])?")
_REASON = re.compile(r"\s*--(?P<reason>.*)")
_NEXT = re.compile(r"#\s*mcp-migrate:")
_COMMENT = re.compile(r"^([ \t]*)(<!--|\.\.)(?=[ \t]*(?:#[ \t]*)?mcp-migrate:)")
_PYTHON = (".py", ".pyw", ".pyi", ".ipynb")
_MOST = 50  # directives of one comment; more are nobody's
_WORDS = ("ignore", "ignore-file")
_MARKS = "TODO"  # `fix --mark` writes them


class Suppression(NamedTuple):
    """One comment. `rules` is spelled as in the comment; None stands for all. `reason` is what stands behind its `--`.

    It counts for the lines from its own to `last`: one above an example of a document counts for all of that.
    """

    span: Span
    line: int
    rules: tuple[str, ...] | None
    whole_file: bool
    reason: str = ""
    last: int = 0


class Stray(NamedTuple):
    """A comment that is addressed to us, but says nothing that we know."""

    span: Span
    word: str


class Judged(NamedTuple):
    """The findings of a file that stay, how many each comment silences, and a finding for each comment that does nothing.

    A finding that two comments silence is counted for both.
    """

    kept: list[Finding]
    silenced: dict[Suppression, int]
    unused: list[Finding]


def judge(
    source: Source,
    findings: Iterable[Finding],
    entries: Mapping[str, Entry],
    active: frozenset[str],
    *,
    settled: Iterable[Finding] = (),
    reasons: bool = False,
) -> Judged:
    """Splits one file's findings by its comments. `entries` has every rule by id; only the `active` ones ran.

    With `reasons` a comment without one is a finding.

    A comment counts for a finding if it stands on the first or the last line of the finding's span. One for a `settled` finding
    is not unused.
    """
    findings = list(findings)
    directives = list(_directives(source))
    suppressions = [directive for directive in directives if isinstance(directive, Suppression)]
    if not directives:
        return Judged(findings, {}, [])
    spelled = {spelling: _ids(spelling, entries) for suppression in suppressions for spelling in suppression.rules or ()}

    wide = [one for one in suppressions if one.whole_file or one.last > one.line]
    narrow: defaultdict[int, list[Suppression]] = defaultdict(list)
    for one in suppressions:
        if not (one.whole_file or one.last > one.line):
            narrow[one.line].append(one)

    def silencing(found: Finding) -> set[tuple[Suppression, str]]:
        lines = {source.position(found.span.start).line, source.position(found.span.end).line}
        return {
            (suppression, spelling)
            for suppression in (*wide, *(one for line in lines for one in narrow.get(line, ())))
            if suppression.whole_file or any(suppression.line <= line <= max(suppression.line, suppression.last) for line in lines)
            for spelling in _spellings(suppression)
            if spelling == "" or found.rule in spelled[spelling]
        }

    by = [silencing(found) for found in findings]
    used = set[tuple[Suppression, str]]().union(*by, *map(silencing, settled))
    kept = [found for found, comments in zip(findings, by, strict=True) if not comments]
    is_told = _is_told(source)
    unused = [
        _stray(entries[UNUSED], source, directive)
        for directive in directives
        if isinstance(directive, Stray) and is_told(source.position(directive.span.start).line)
    ]
    for suppression in suppressions:
        if not is_told(suppression.line):
            continue
        idle = [
            spelling
            for spelling in _spellings(suppression)
            if (suppression, spelling) not in used and (spelled[spelling] if spelling else entries.keys()) <= active
        ]
        if idle or suppression.rules == ():
            unused.append(_note(entries[UNUSED], source, suppression, idle, spelled))
        elif reasons and not suppression.reason:
            unused.append(_unreasoned(entries[UNUSED], source, suppression))
    silenced = Counter(suppression for comments in by for suppression in {suppression for suppression, _ in comments})
    return Judged(kept, silenced, unused if UNUSED in active else [])


def is_commented(source: Source) -> bool:
    """Whether a file may hold suppressions; cheaper than looking for them."""
    return _MARK in source.text


def _directives(source: Source) -> Iterator[Suppression | Stray]:
    """What the comments of a file say to us, in order; text in strings does not count."""
    if not is_commented(source):
        return
    ends = _examples(source)
    for token in _comments(source):
        for found in islice(_DIRECTIVE.finditer(token.string), _MOST):
            reason = _REASON.match(token.string, found.end())
            line, column = token.start
            start = source.offset(line, len(source.line(line)[: column + found.start()].encode("utf-8")))
            span = Span(start, start + len(found[0].rstrip().encode("utf-8")))
            if found["word"] in _WORDS:
                rules = None if found["brackets"] is None else tuple(name for part in found["rules"].split(",") if (name := part.strip()))
                told = _NEXT.split(reason["reason"], maxsplit=1)[0].strip() if reason else ""
                yield Suppression(span, line, rules, found["word"] == "ignore-file", told, ends.get(line, line))
            elif found["word"] != _MARKS:
                yield Stray(span, found["word"])


def _comments(source: Source) -> Iterator[tokenize.TokenInfo]:
    if not source.path.endswith(_PYTHON):
        yield from _marks(source)
        return
    # Universal newlines, as the positions of `Source` count lines.
    lines = io.StringIO(source.text, newline=None).readline
    try:
        for token in tokenize.generate_tokens(lines):
            if token.type == tokenize.COMMENT and _MARK in token.string:
                yield token
    except (tokenize.TokenError, SyntaxError):
        # Syntax newer than this interpreter: the comments up to here are known, and a later one can only fail to silence.
        return


def _marks(source: Source) -> Iterator[tokenize.TokenInfo]:
    """The comments of files without Python: our own word is proof enough of one, also in the `<!-- # ... -->` of a document."""
    for number in range(1, len(source.line_starts) + 1):
        line = source.line(number)
        if documents.is_document(source.path):
            # A comment of the document itself: it is told as one of Python that begins at the same place.
            line = _COMMENT.sub(lambda found: found[1] + "#".ljust(len(found[2])), line)
        if _MARK in line and "#" in line:
            at = line.rindex("#", 0, line.index(_MARK)) if "#" in line[: line.index(_MARK)] else 0
            text = line[at:].removesuffix("-->").rstrip()
            yield tokenize.TokenInfo(tokenize.COMMENT, text, (number, at), (number, len(line)), line)


def _examples(source: Source) -> Mapping[int, int]:
    """The lines of comments that stand above an example of a document, with nothing between; each with the last line of that."""
    if not documents.is_document(source.path):
        return {}
    ends = {}
    for block in documents.blocks(source):
        row = block.first - 1
        while row and (not (line := source.line(row)).strip() or _COMMENT.match(line)):
            if line.strip():
                ends[row] = block.last
            row -= 1
    return ends


def _is_told(source: Source) -> Callable[[int], bool]:
    """Tells of a line whether a comment on it is one: documents may speak of such comments, outside of their examples."""
    if not documents.is_document(source.path):
        return lambda line: True
    blocks = [(block.first, block.last) for block in documents.blocks(source)]
    return lambda line: _COMMENT.match(source.line(line)) is not None or any(first <= line <= last for first, last in blocks)


def _spellings(suppression: Suppression) -> tuple[str, ...]:
    return ("",) if suppression.rules is None else suppression.rules


def _ids(spelling: str, entries: Mapping[str, Entry]) -> frozenset[str]:
    """The rules that a comment means, spelled as for `--select`."""
    try:
        return ids_of(spelling, entries.values())
    except UnknownRule:
        return frozenset()


def _stray(rule: Entry, source: Source, directive: Stray) -> Finding:
    message = f"{f'`{directive.word}`' if directive.word else 'this'} is no directive; `ignore` and `ignore-file` are"
    return replace(finding(rule, source.path, message, directive.span), severity=Severity.WARNING)


def _unreasoned(rule: Entry, source: Source, suppression: Suppression) -> Finding:
    message = "this suppression gives no reason; write one behind ` -- `"
    return replace(finding(rule, source.path, message, suppression.span), severity=Severity.WARNING)


def _note(rule: Entry, source: Source, suppression: Suppression, idle: list[str], spelled: Mapping[str, frozenset[str]]) -> Finding:
    unknown = [name for name in idle if name and not spelled[name]]
    if unknown:
        message = f"no rule is called {_quoted(unknown)}"
    elif suppression.rules and len(idle) < len(suppression.rules):
        message = f"{_quoted(idle)} in this suppression silences nothing"
    else:
        message = "this suppression silences nothing"
    return finding(rule, source.path, message, suppression.span)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
