"""Parses a source, also one whose syntax is newer than the running interpreter.

`ast` accepts only what this interpreter does. Where it refuses, newer syntax is overwritten with older syntax of the same
byte length and read again, so that every position stays exact.
"""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache
from weakref import WeakValueDictionary

from ..source import Source

# def f[T: int](...), class A[T](...), type X[T] = ...: the bracket after the name goes.
_GENERIC = re.compile(rb"^([ \t]*(?:async[ \t]+def|def|class)[ \t]+\w+[ \t]*)(\[[^\[\]\n]*(?:\[[^\[\]\n]*\][^\[\]\n]*)*\])", re.MULTILINE)
_TYPE_ALIAS = re.compile(rb"^([ \t]*)(type[ \t]+)(\w+)([ \t]*)(?:(\[[^\n=]*\])([ \t]*))?=", re.MULTILINE)
_FSTRING_START = re.compile(rb"(?<![\w])([rR]?[fFtT][rR]?)('''|\"\"\"|'|\")")
_EXCEPT_WITHOUT_PARENTHESES = re.compile(rb"^([ \t]*except[ \t]+)([\w.]+[ \t]*,[^:\n(]*)(:)", re.MULTILINE)

# The trees that somebody still holds: who asks for one of these gets the same. Nobody changes a tree.
_alive: WeakValueDictionary[Source, ast.Module] = WeakValueDictionary()

# How often the text is read to its end, at most, for f-strings that never close.
_MOST_READ = 4


def parse(source: Source) -> tuple[ast.Module, bool]:
    """The syntax tree, and whether newer syntax was masked for it.

    Raises SyntaxError (of the unmasked text) when masking does not help, ValueError for NUL bytes.
    """
    if (alive := _alive.get(source)) is not None:
        return alive, False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            # Text, not bytes: bytes would be decoded once more as their coding cookie says.
            _alive[source] = tree = ast.parse(source.text)
            return tree, False
        except SyntaxError as error:
            for masked in _masked(source.utf8):
                try:
                    return ast.parse(masked.decode("utf-8")), True
                except SyntaxError:
                    continue
            raise error from None


@lru_cache(maxsize=4)
def parsed(source: Source) -> tuple[ast.Module, bool]:
    """What `parse` gives, held for a while: a text that a rewrite has made is looked at by several, none of which holds its tree."""
    return parse(source)


def _masked(data: bytes) -> list[bytes]:
    """Candidates, each masking more than the one before."""
    masked = _GENERIC.sub(lambda found: found[1] + b" " * len(found[2]), data)
    # `type X = ...` becomes `0; X = ...`.
    masked = _TYPE_ALIAS.sub(
        lambda found: b"".join(
            [found[1], b"0;".ljust(len(found[2])), found[3], found[4], b" " * len(found[5] or b""), found[6] or b"", b"="]
        ),
        masked,
    )
    masked = _EXCEPT_WITHOUT_PARENTHESES.sub(_parenthesised, masked)
    return [masked, _without_fstrings(masked)]


def _parenthesised(found: re.Match[bytes]) -> bytes:
    """`except A, B:` catches, for a reader, what its first name says: the others become spaces."""
    return found[1] + found[2].partition(b",")[0].ljust(len(found[2])) + found[3]


def _without_fstrings(data: bytes) -> bytes:
    """Every f-string that this interpreter refuses becomes a plain string of spaces of the same length."""
    out = bytearray(data)
    at = read = 0
    while (found := _FSTRING_START.search(data, at)) is not None and read <= _MOST_READ * len(data):
        end = _fstring_end(data, found.end(), found[2])
        read += (len(data) if end is None else end) - found.end()
        if end is None:
            at = found.end()
            continue
        text = data[found.start() : end]
        try:
            ast.parse(b"(" + text + b"\n)")
        except SyntaxError:
            prefix, quote = found[1], found[2]
            inner = data[found.end() : end - len(quote)]
            # Line breaks stay where they are, or every later position would move.
            blank = re.sub(rb"[^\r\n]", b" ", inner) if len(quote) == 3 or b"\n" not in inner else None
            if blank is not None:
                out[found.start() : end] = b" " * len(prefix) + quote + blank + quote
        at = end
    return bytes(out)


def _fstring_end(data: bytes, at: int, quote: bytes) -> int | None:
    """Where the f-string that opened before `at` closes; nested quotes inside braces do not close it."""
    depth = 0
    while at < len(data):
        if (data[at : at + 1] == b"\\" and depth == 0) or (data[at : at + 2] in (b"{{", b"}}") and depth == 0):
            at += 2
        elif data[at : at + 1] == b"{":
            depth += 1
            at += 1
        elif data[at : at + 1] == b"}":
            depth = max(0, depth - 1)
            at += 1
        elif depth == 0 and data.startswith(quote, at):
            return at + len(quote)
        elif depth == 0 and len(quote) == 1 and data[at : at + 1] == b"\n":
            return None
        else:
            at += 1
    return None
