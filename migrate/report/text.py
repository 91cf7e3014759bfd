"""The report for people: a code frame for each finding, grouped by file, and a summary of what to do next."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from ..rule import Applicability, Severity
from .model import Place, Report, visible

Piece = tuple[str, str]  # text and its style, in rich's words
Line = list[Piece]

# A line longer than this (minified code, data) is cut around the finding.
WIDTH = 120

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold blue"}
FIXES = {"always": "fix", "sometimes": "some fixes", "never": "no fix"}  # whether a rule has a fix
_REMEDIES = {Applicability.SAFE: "fix is safe", Applicability.UNSAFE: "fix needs --unsafe-fixes", Applicability.MANUAL: "by hand"}


def render(report: Report, *, colour: bool = False, summary: bool = True) -> str:
    """The findings with their frames, then the summary."""
    return paint(_lines(report, summary=summary), colour=colour)


def statistics(report: Report, *, colour: bool = False) -> str:
    """How often each rule was found, the most frequent first, and how many of these have a fix."""
    return paint(_statistics(report), colour=colour)


def fixes(
    applied: Mapping[str, Mapping[str, int]],
    created: Iterable[str],
    names: Mapping[str, str],
    *,
    settled: int = 0,
    left: int = 0,
    also: Iterable[str] = (),
    would: bool,
) -> str:
    """What `fix` has done, or would do: by path the number of fixes of each rule, and the new files.

    `names` has the rules' names; `settled` is how many findings went without an edit of their own, `left` how many stay,
    `also` what the new files need beside the code.
    """
    created = sorted(created)
    number = sum(sum(rules.values()) for rules in applied.values())
    if not number and not created:
        return "Nothing could be fixed.\n" if left else "Nothing to fix.\n"
    verb, writes = ("Would fix", "write") if would else ("Fixed", "wrote")
    new = f" and {writes} {count(len(created), 'new file')}" if created else ""
    more = f", which settles {settled} more" if settled > 0 else ""
    lines = [f"{verb} {count(number, 'finding')} in {count(len(applied), 'file')}{new}{more}:"]
    for path, rules in sorted(applied.items()):
        lines.append(f"  {visible(path)}: " + ", ".join(f"{rule} {names[rule]} ({rules[rule]})" for rule in sorted(rules)))
    lines += [*(f"  {visible(path)}: new" for path in created), *(f"  {visible(line)}" for line in also)]
    return "".join(f"{line}\n" for line in lines)


def diff(patch: bytes) -> str:
    """A patch for the eyes: coloured, and with nothing in it that could paint the terminal itself."""
    lines = patch.decode("utf-8", "backslashreplace").split("\n")
    return paint(([(visible(line.removesuffix("\r")), _diff_style(line))] for line in lines[:-1]), colour=True)


def paint(lines: Iterable[Line], *, colour: bool) -> str:
    """Styled lines as text, with terminal colours or plain. Every piece must be visible text already."""
    if not colour:
        return "".join(f"{''.join(text for text, _ in line).rstrip()}\n" for line in lines)
    # Costs 36 ms to import, so only a terminal pays for it.
    from rich.color import ColorSystem
    from rich.style import Style

    def painted(text: str, style: str) -> str:
        return Style.parse(style).render(text, color_system=ColorSystem.STANDARD)

    return "".join(f"{''.join(painted(text, style) for text, style in line)}\n" for line in lines)


def _diff_style(line: str) -> str:
    if line.startswith(("diff ", "--- ", "+++ ", "new file ")):
        return "bold"
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")


def _lines(report: Report, *, summary: bool) -> Iterator[Line]:
    for path, group in groupby(report.places, key=lambda place: place.path):
        places = list(group)
        yield [(visible(path), "bold"), (f": {count(len(places), 'finding')}", "")]
        for place in places:
            yield from _finding(place)
        yield []
    if summary:
        yield from _summary(report)


def _finding(place: Place) -> Iterator[Line]:
    margin = len(str(place.line + len(place.lines) - 1))
    bar: Piece = (f"{'':{margin}} |", "blue")
    yield [(f"{place.severity.word}[{place.rule}]", _STYLES[place.severity]), (f" {visible(place.message)}", "bold")]
    yield [(f"{'':{margin}}--> ", "blue"), (visible(f"{place.path}:{place.line}:{place.column}"), "")]
    if any(line.strip() for line in place.lines):
        yield [bar]
        for number, marker, text, carets in _frame(place):
            yield [(f"{number:>{margin}} |", "blue"), (marker, _STYLES[place.severity]), (text, "")]
            if carets:
                yield [bar, (carets, _STYLES[place.severity])]
    hint = f": {visible(place.hint)}" if place.hint else ""
    yield [(f"{'':{margin}} = ", "blue"), (f"{_REMEDIES[place.applicability]}{hint}", "")]


def _frame(place: Place) -> Iterator[tuple[str, str, str, str]]:
    """Number, marker, text and carets of each line of the frame."""
    if place.line == place.end_line:
        text, carets = _pointed(place.lines[0], place.column - 1, place.end_column - 1)
        yield str(place.line), " ", text, f" {carets}"
        return
    # Over several lines a bar beside the code says more than carets under each of them.
    for number, text in enumerate(place.lines, start=place.line):
        marker = "/" if number == place.line else "\\" if number == place.end_line else "|"
        shown = visible(text)
        yield str(number), f" {marker} ", shown if len(shown) <= WIDTH else f"{shown[:WIDTH]}...", ""
    if place.line + len(place.lines) <= place.end_line:
        yield "...", " |", "", ""


def _pointed(line: str, start: int, end: int) -> tuple[str, str]:
    """A line, cut around the characters from `start` to `end` where it is too long, and the carets under these."""
    first = max(0, start - WIDTH // 3) if len(line) > WIDTH else 0
    before, inside, after = line[first:start], line[start:end], line[end : first + WIDTH]
    inside = inside[: max(1, WIDTH - len(before))]
    lead = "..." if first else ""
    tail = "..." if len(before) + len(inside) + len(after) < len(line) - first else ""
    shown = [visible(part) for part in (before, inside, after)]
    return f"{lead}{''.join(shown)}{tail}", " " * (len(lead) + _cells(shown[0])) + "^" * max(1, _cells(shown[1]))


def _cells(text: str) -> int:
    """How many terminal cells a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _summary(report: Report) -> Iterator[Line]:
    files = count(report.checked, "file")
    if report.places:
        hit = len({place.path for place in report.places})
        counts = report.by_severity
        severities = [count(counts[severity], severity.word) for severity in reversed(Severity) if counts[severity]]
        yield [(f"{count(len(report.places), 'finding')} in {hit} of {files}: {', '.join(severities)}.", "bold")]
        yield from _next_steps(report)
    else:
        yield [(f"No findings in {files}.", "bold")]
    fine = sorted({seen.path for seen in report.seen} - {place.path for place in report.places})
    if fine:
        yield [(f"  {count(len(fine), 'file')} with MCP code and no finding: {some(fine)}.", "")]
    elif not report.places and not report.seen:
        yield [("  None of them holds MCP code.", "")]
    for seen in report.seen:
        if seen.boundary:
            yield [(f"  Behind a stateless boundary: {some(':'.join(filter(None, (seen.path, name))) for name in seen.boundary)}.", "")]
    if aside := _aside(report):
        yield [(f"  {aside}.", "")]
    if report.places:
        first = max(report.places, key=lambda place: place.severity).rule
        yield [(f"  `mcp-migrate explain {first}` says why, and what to write instead.", "")]


def _next_steps(report: Report) -> Iterator[Line]:
    counts = report.by_applicability
    safe, unsafe = counts[Applicability.SAFE], counts[Applicability.UNSAFE]
    if safe:
        more = f" and with --unsafe-fixes {unsafe} more" if unsafe else ""
        yield [(f"  `mcp-migrate fix` would settle {safe}{more}.", "green")]
    elif unsafe:
        yield [(f"  `mcp-migrate fix --unsafe-fixes` would settle {unsafe}.", "green")]
    if counts[Applicability.MANUAL]:
        by_rule = Counter(f"{place.rule} {place.name}" for place in report.places if not place.fix)
        rules = some(f"{rule} ({number})" for rule, number in sorted(by_rule.items()))
        yield [(f"  {counts[Applicability.MANUAL]} left to you: {rules}.", "")]


def _aside(report: Report) -> str:
    parts = [
        (report.suppressed, f"{report.suppressed} silenced by comments"),
        (report.baselined, f"{report.baselined} accepted by the baseline"),
        (report.stale, f"{report.stale} of the baseline without a finding any more (write it anew)"),
    ]
    return ", ".join(text for number, text in parts if number)


def _statistics(report: Report) -> Iterator[Line]:
    fixable = report.fixable
    names = {place.rule: place.name for place in report.places}
    width = max((len(str(number)) for _, number in report.by_rule), default=0)
    for rule, number in report.by_rule:
        mark = "[*]" if fixable[rule] == number else "[-]" if fixable[rule] else "[ ]"
        yield [(f"{number:>{width}}", "bold"), (f"  {rule}  {mark} {names[rule]}", "")]
    if fixable:
        yield [("[*] all of these have a fix, [-] some of them", "")]


def some(names: Iterable[str], most: int = 8) -> str:
    """The first names of a list, and how many more there are."""
    names = [visible(name) for name in names]
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def count(number: int, word: str) -> str:
    """A number with its word, as `2 files`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"
