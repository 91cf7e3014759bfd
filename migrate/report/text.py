"""The report for people: a code frame for each finding, grouped by file, and a summary of what to do next."""

from __future__ import annotations

import textwrap
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..rule import Applicability, Severity
from .model import Place, Report, stale, visible

Piece = tuple[str, str]  # text and its style, in rich's words
Line = list[Piece]

# A line longer than this (minified code, data) is cut around the finding.
WIDTH = 120
MOST = 8  # names that a line lists

_TIE = "\xa0"  # a space at which no line is broken
_NARROW = 40  # cells: a terminal that has less gets lines that break

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold blue"}
_TRUST = {Applicability.SAFE: "green", Applicability.UNSAFE: "yellow", Applicability.MANUAL: ""}
_EDGE = "bright_blue"  # plain blue is hard to read on black
FIXES = {"always": "fix", "sometimes": "some fixes", "never": "no fix"}  # whether a rule has a fix
_REMEDIES = {Applicability.SAFE: "fix is safe", Applicability.UNSAFE: "fix needs --unsafe-fixes", Applicability.MANUAL: "by hand"}

_IN_DOCUMENTS = {
    Applicability.SAFE: "fix needs --docs",
    Applicability.UNSAFE: "fix needs --docs --unsafe-fixes",
    Applicability.MANUAL: "by hand",
}


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The lines of a frame: `head` stands before its place, `side` before its code, and before its hints `more`, and `foot` at the last.

    The others mark code of several lines.
    """

    head: str = "-->"
    side: str = " |"
    foot: str = " ="
    more: str = " ="
    caret: str = "^"
    first: str = "/"
    middle: str = "|"
    last: str = "\\"
    rest: str = "..."
    gap: bool = True  # whether a line keeps the place and the code apart


ASCII = Glyphs()
LINES = Glyphs(" ╭─▸", " │", " ╰─", " ├─", "━", "╭", "│", "╰", "┆", gap=False)


@dataclass(frozen=True, slots=True)
class Look:
    """What the place can show that a report goes to. Without a width, in cells, no line is broken."""

    colour: bool = False
    glyphs: Glyphs = ASCII
    width: int = 0


PLAIN = Look()


def render(report: Report, *, look: Look = PLAIN, summary: bool = True, verbose: bool = False) -> str:
    """The findings with their frames, then the summary. `verbose` says of each rule why it is there, and leaves no name out."""
    return paint(_lines(report, look, summary=summary, verbose=verbose), colour=look.colour)


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
    unsafe: int = 0,
    held: bool = False,
    also: Iterable[str] = (),
    would: bool,
) -> str:
    """What `fix` has done, or would do: by path the number of fixes of each rule, and the new files.

    `names` has the rules' names; `settled` is how many findings went without an edit of their own, `left` how many stay,
    `unsafe` how many of these --unsafe-fixes would settle, `held` is whether --paths keeps fixes from being written, and `also` is what
    the new files need beside the code.
    """
    created = sorted(created)
    number = sum(sum(rules.values()) for rules in applied.values())
    if not number and not created:
        if held:
            return "Nothing could be written: the fixes go together with files that are not among --paths.\n"
        return "Nothing to fix.\n" if not left else f"Nothing could be fixed{' without --unsafe-fixes' if unsafe else ''}.\n"
    verb, writes = ("Would fix", "write") if would else ("Fixed", "wrote")
    new = f" and {writes} {count(len(created), 'new file')}" if created else ""
    more = f", which settles {settled} more" if settled > 0 else ""
    lines = [f"{verb} {count(number, 'finding')} in {count(len(applied), 'file')}{new}{more}:"]
    for path, rules in sorted(applied.items()):
        lines.append(f"  {visible(path)}: " + ", ".join(f"{rule} {names[rule]} ({rules[rule]})" for rule in sorted(rules)))
    lines += [*(f"  {visible(path)}: new" for path in created), *(f"  {visible(line)}" for line in also)]
    return "".join(f"{line}\n" for line in lines)


def stops(imports: Sequence[str], *, colour: bool = False, would: bool) -> str:
    """What a human has to do before anything else: a half-moved program starts with neither release of the SDK."""
    if not imports:
        return ""
    rest = "would be written" if would else "is written"
    head = f"Does not start yet: the rest {rest} for newer releases, which do not have what is imported here. Do this first:"
    return paint([[(head, "bold red")], *([(f"  {visible(one)}", "")] for one in imports)], colour=colour)


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


def _lines(report: Report, look: Look, *, summary: bool, verbose: bool) -> Iterator[Line]:
    told: set[str] = set()
    for path, group in groupby(report.places, key=lambda place: place.path):
        places = list(group)
        yield [(visible(path), "bold"), (f": {count(len(places), 'finding')}", "")]
        for place in places:
            first = verbose and place.rule not in told
            yield from _finding(place, look, more=first)
            if first:
                told.add(place.rule)
                yield from _reasons(place, report, look)
        yield []
    if summary:
        for line in _summary(report, most=len(report.seen) + len(report.entries) if verbose else MOST):
            yield from _broken(line, look, 4)


def _finding(place: Place, look: Look, *, more: bool) -> Iterator[Line]:
    margin, glyphs = _margin(place), look.glyphs
    side: Piece = (f"{'':{margin}}{glyphs.side}", _EDGE)
    title = [(f"{place.severity.word}[{place.rule}]", _STYLES[place.severity]), (f" {visible(place.message)}", "bold")]
    yield from _broken(title, look, 2)
    yield [(f"{'':{margin}}{glyphs.head} ", _EDGE), (visible(place.spot), "")]
    if any(line.strip() for line in place.lines):
        if glyphs.gap:
            yield [side]
        for number, marker, text, carets in _frame(place, glyphs, min(WIDTH, look.width - margin - 9) if look.width else WIDTH):
            yield [(f"{number:>{margin}}{glyphs.side}", _EDGE), (marker, _STYLES[place.severity]), (text, "")]
            if carets:
                yield [side, (carets, _STYLES[place.severity])]
    remedies = _IN_DOCUMENTS if place.document else _REMEDIES
    remedy = (remedies[place.applicability], _TRUST[place.applicability])
    hint = f": {visible(place.hint)}" if place.hint else ""
    foot = (f"{'':{margin}}{glyphs.more if more else glyphs.foot} ", _EDGE)
    yield from _broken([foot, remedy, (hint, "")], look, margin + 4)


def _reasons(place: Place, report: Report, look: Look) -> Iterator[Line]:
    """Why the rule of a finding is there, and what to write instead."""
    entry, margin = report.entries[place.rule], _margin(place)
    for foot, head, text in ((look.glyphs.more, "why", entry.why), (look.glyphs.foot, "instead", entry.instead)):
        line = [(f"{'':{margin}}{foot} ", _EDGE), (f"{head}: ", "bold"), (visible(text.strip()), "")]
        yield from _broken(line, look, margin + 4)


def _margin(place: Place) -> int:
    """The cells that the numbers of a frame's lines take."""
    return len(str(place.line + len(place.lines) - 1))


def _broken(line: Line, look: Look, indent: int) -> Iterator[Line]:
    """A line in pieces that fit, those behind the first one indented. Only its last piece is broken, which holds the words."""
    head, (text, style) = line[:-1], line[-1]
    before = sum(_cells(piece) for piece, _ in head)
    if look.width < _NARROW or before + _cells(text) <= look.width:
        yield [*head, (text.replace(_TIE, " "), style)]
        return
    first, *others = textwrap.wrap(
        f"{'':{before}}{text}",
        look.width,
        subsequent_indent=" " * indent,
        drop_whitespace=True,
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield [*head, (first[before:].replace(_TIE, " "), style)]
    yield from ([(other.replace(_TIE, " "), style)] for other in others)


def _frame(place: Place, glyphs: Glyphs, width: int) -> Iterator[tuple[str, str, str, str]]:
    """Number, marker, text and carets of each line of the frame."""
    width = max(width, _NARROW)
    if place.line == place.end_line:
        text, carets = _pointed(place.lines[0], place.column - 1, place.end_column - 1, glyphs, width)
        yield str(place.line), " ", text, f" {carets}"
        return
    # Over several lines a bar beside the code says more than carets under each of them.
    for number, text in enumerate(place.lines, start=place.line):
        marker = glyphs.first if number == place.line else glyphs.last if number == place.end_line else glyphs.middle
        shown = visible(text)
        yield str(number), f" {marker} ", shown if len(shown) <= width else f"{shown[:width]}...", ""
    if place.line + len(place.lines) <= place.end_line:
        yield glyphs.rest, f" {glyphs.middle}", "", ""


def _pointed(line: str, start: int, end: int, glyphs: Glyphs, width: int) -> tuple[str, str]:
    """A line, cut around the characters from `start` to `end` where it is too long, and the carets under these."""
    first = max(0, start - width // 3) if len(line) > width else 0
    before, inside, after = line[first:start], line[start:end], line[end : first + width]
    inside = inside[: max(1, width - len(before))]
    lead = "..." if first else ""
    tail = "..." if len(before) + len(inside) + len(after) < len(line) - first else ""
    shown = [visible(part) for part in (before, inside, after)]
    return f"{lead}{''.join(shown)}{tail}", " " * (len(lead) + _cells(shown[0])) + glyphs.caret * max(1, _cells(shown[1]))


def _cells(text: str) -> int:
    """How many terminal cells a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _summary(report: Report, most: int) -> Iterator[Line]:
    files = count(report.checked, "file")
    if report.places:
        hit = len({place.path for place in report.places})
        counts = report.by_severity
        severities = [count(counts[severity], severity.word) for severity in reversed(Severity) if counts[severity]]
        yield [(f"{count(len(report.places), 'finding')} in {hit} of {files}: {', '.join(severities)}.", "bold")]
        yield from _next_steps(report, most)
    else:
        yield [(f"No findings in {files}.", "bold")]
    fine = sorted({seen.path for seen in report.seen} - {place.path for place in report.places})
    if fine:
        yield [(f"  {count(len(fine), 'file')} with MCP code and no finding: {some(fine, most)}.", "")]
    elif not report.places and not report.seen:
        yield [("  None of them holds MCP code.", "")]
    for seen in report.seen:
        if seen.boundary:
            yield [
                (f"  Behind a stateless boundary: {some((':'.join(filter(None, (seen.path, name))) for name in seen.boundary), most)}.", "")
            ]
    if aside := _aside(report):
        yield [(f"  {aside}.", "")]
    if report.places:
        first = max(report.places, key=lambda place: place.severity).rule
        yield [(f"  `mcp-migrate explain {first}` says why, and what to write instead.", "")]


def _next_steps(report: Report, most: int) -> Iterator[Line]:
    counts = Counter(place.applicability for place in report.places if not place.document)
    shown = Counter(place.applicability for place in report.places if place.document)
    safe, unsafe = counts[Applicability.SAFE], counts[Applicability.UNSAFE]
    how = " without --paths" if report.held else ""
    if safe:
        more = f" and with --unsafe-fixes {unsafe} more" if unsafe else ""
        yield [(f"  `mcp-migrate fix`{how} would settle {safe}{more}.", "green")]
    elif unsafe:
        yield [(f"  `mcp-migrate fix --unsafe-fixes`{how} would settle {unsafe}.", "green")]
    if number := shown[Applicability.SAFE]:
        yield [(f"  `mcp-migrate fix --docs`{how} would settle {number}{' more' if safe else ''} in examples of documents.", "green")]
    counts += shown
    if counts[Applicability.MANUAL]:
        by_rule = Counter(f"{place.rule}{_TIE}{place.name}" for place in report.places if not place.fix)
        rules = some((f"{rule}{_TIE}({number})" for rule, number in sorted(by_rule.items())), most)
        yield [(f"  {counts[Applicability.MANUAL]} left to you: {rules}.", "")]


def _aside(report: Report) -> str:
    parts = [
        (report.suppressed, f"{report.suppressed} silenced by comments"),
        (report.baselined, f"{report.baselined} accepted by the baseline"),
        (len(report.stale), visible(stale(report))),
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


def some(names: Iterable[str], most: int = MOST) -> str:
    """The first names of a list, and how many more there are."""
    names = [visible(name) for name in names]
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def count(number: int, word: str) -> str:
    """A number with its word, as `2 files`."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"
