"""Pieces of code that are read as one module, such as the cells of a notebook: put together, taken apart, and without what is no Python."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .facts.mask import parse
from .source import Source

# A statement, so that no rule takes it for the comment of what follows it; only between cells, so that the first one may begin with its
# docstring.
_BORDER = '"-- next cell --"'
# Behind this stands a line that is no Python. The number tells whether all of them are there, in their order.
_HIDDEN = re.compile(r"^(?P<lead>[ \t]*(?:pass |\w[\w, ]* = None )?#hidden-(?P<number>\d+): )(?P<text>.*)", re.DOTALL)
_ASSIGNED = re.compile(r"(?P<names>[A-Za-z_]\w*(?:[ \t]*,[ \t]*[A-Za-z_]\w*)*)[ \t]*=[ \t]*[!%]")
_ESCAPED = re.compile(r"[ \t]*[!%?]")
_ASKED = re.compile(r"[ \t]*[\w.*\[\]\"']+\?{1,2}[ \t]*$")
_MAX_HIDDEN = 50  # lines of one cell, each of which costs a parse

_CELL = re.compile(r"[ \t]*%%(?P<magic>\w+)")
# Those whose cells hold Python for this kernel.
_PYTHON = frozenset({"capture", "debug", "ipytest", "prun", "pypy", "python", "python3", "time", "timeit", "memray_flamegraph", "mprun"})


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends, as positions count them."""
    return [line.decode("utf-8") for line in text.encode("utf-8").splitlines(keepends=True)]


def join(texts: Sequence[str], newline: str = "\n") -> str:
    """The texts as one module."""
    return "".join(f"{_ended(text, newline)}{_BORDER}{newline}" for text in texts[:-1]) + (texts[-1] if texts else "")


def split(text: str) -> list[str]:
    """The texts that a module was put together from, each with an end of line behind its last line."""
    cells = [""]
    for line in lines_of(text):
        if line.strip() == _BORDER:
            cells.append("")
        else:
            cells[-1] += line
    return cells


def readable(text: str, first: int = 0) -> str | None:
    """A cell with all lines hidden that are commands of IPython, numbered from `first`; None for one that is no Python besides.

    The line of which Python says that it cannot be parsed is hidden if it may be such a command: so none is hidden that is part of an
    expression or a text. Every line stays where it is.
    """
    lines = lines_of(text)
    if any(_HIDDEN.match(line) or line.strip() == _BORDER for line in lines):
        return None
    if magic := _CELL.match(text.lstrip("\r\n")):
        row = next(number for number, line in enumerate(lines) if line.strip())
        if magic["magic"] not in _PYTHON:
            return hidden(text, first)
        lines[row] = _hide(lines[row], first)
        first += 1
    number = first
    while number < first + _MAX_HIDDEN:
        try:
            parse(Source("", "".join(lines)))
        except SyntaxError as error:
            row = (error.lineno or 0) - 1
            if not (0 <= row < len(lines) and _is_command(lines[row])):
                return None
            line, lines[row] = lines[row], _hide(lines[row], number)
            number += 1
            while line.rstrip().endswith("\\") and row + 1 < len(lines):
                row += 1
                line, lines[row] = lines[row], f"#hidden-{number}: {lines[row]}"
                number += 1
        except (ValueError, RecursionError, MemoryError):
            return None
        else:
            return "".join(lines)
    return None


def hidden(text: str, first: int = 0) -> str:
    """A cell of something else than Python, as a module that does nothing."""
    return "".join(f"#hidden-{number}: {line}" if line.strip() else line for number, line in enumerate(lines_of(text), start=first))


def count(text: str) -> int:
    """How many lines of a text are hidden."""
    return sum(_HIDDEN.match(line) is not None for line in lines_of(text))


def lead(line: str) -> str:
    """What stands before a hidden line; nothing for any other."""
    found = _HIDDEN.match(line)
    return found["lead"] if found else ""


def restored(text: str) -> str:
    """The text with its hidden lines as they were."""
    return "".join(line[len(lead(line)) :] for line in lines_of(text))


def trimmed(text: str) -> str:
    """The text without blank lines at its ends."""
    lines = lines_of(text)
    said = [number for number, line in enumerate(lines) if line.strip()]
    return "".join(lines[said[0] : said[-1] + 1]) if said else ""


def objection(before: str, after: str) -> str | None:
    """Why a module cannot be taken apart any more as it was put together; None where it can, and for any other module."""
    if "-- next cell --" not in before and "#hidden-" not in before:
        return None
    if _marks(before) != _marks(after):
        return "the fix would go over the border of a cell"
    return None


def _marks(text: str) -> list[str]:
    marks = []
    for line in lines_of(text):
        if line.strip() == _BORDER:
            marks.append("")
        elif found := _HIDDEN.match(line):
            marks.append(found["number"])
    return marks


def _hide(line: str, number: int) -> str:
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    if assigned := _ASSIGNED.match(line.strip()):
        return f"{indent}{', '.join(assigned['names'].replace(' ', '').split(','))} = None #hidden-{number}: {line}"
    return f"{indent}{'pass ' if indent else ''}#hidden-{number}: {line}"


def _is_command(line: str) -> bool:
    return bool(_ESCAPED.match(line) or _ASKED.match(line) or _ASSIGNED.match(line.strip()))


def _ended(text: str, newline: str) -> str:
    return text if text.endswith(("\n", "\r")) else f"{text}{newline}"
