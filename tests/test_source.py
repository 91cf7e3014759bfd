"""A file as its bytes, its lines and its places: what ast says, what a reader sees, and what was on disk."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_migrate.source import Position, Source, Span, decode

TEXT = "a = 1\nbé = 'ü'\n\n    c = 3  \nlast"


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        (0, (1, 1)),
        (4, (1, 5)),
        (5, (1, 6)),  # the end of a line belongs to it
        (6, (2, 1)),
        (9, (2, 3)),  # two bytes are one character
        (17, (3, 1)),
        (18, (4, 1)),
        (22, (4, 5)),
        (30, (5, 1)),
        (34, (5, 5)),  # the end of the file
    ],
)
def test_a_byte_has_a_line_and_a_column_of_characters(offset: int, expected: tuple[int, int]) -> None:
    assert Source("a.py", TEXT).position(offset) == Position(*expected)


def test_a_line_is_told_without_its_end() -> None:
    source = Source("a.py", TEXT)
    assert [source.line(number) for number in range(1, 6)] == ["a = 1", "bé = 'ü'", "", "    c = 3  ", "last"]
    assert Source("a.py", "a\r\nb\rc").line(2) == "b"


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", [0]),
        ("a", [0]),
        ("a\n", [0, 2]),
        ("a\r", [0, 2]),
        ("a\nb", [0, 2]),
        ("a\r\nb\n", [0, 3, 5]),
        ("é\n\n", [0, 3, 4]),
        ("a\x0cb\u2028c\n", [0, 8]),
    ],
)
def test_lines_begin_where_python_has_them(text: str, starts: list[int]) -> None:
    assert Source("a.py", text).line_starts == starts


@given(st.text(alphabet="aé\n\r\t\x0c\u2028 ", max_size=20))
def test_every_byte_is_where_its_line_says(text: str) -> None:
    source = Source("a.py", text)
    for offset in range(len(source.utf8) + 1):
        line, column = source.position(offset)
        start = source.line_starts[line - 1]
        assert start <= offset
        assert line == len(source.line_starts) or offset < source.line_starts[line]
        assert len(source.utf8[start:offset].decode("utf-8", "replace")) == column - 1


def test_places_of_ast_are_bytes_of_the_text() -> None:
    source = Source("a.py", "x = 'é'; y = 2\nz = (x,\n     y)\n")
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, ast.Name):
            start = source.offset(node.lineno, node.col_offset)
            assert source.slice(Span(start, start + 1)) == node.id


@pytest.mark.parametrize(
    ("text", "newline"),
    [
        ("", "\n"),
        ("a", "\n"),
        ("a\n", "\n"),
        ("a\r\n", "\r\n"),
        ("a\r", "\r"),
        ("a\r\nb\n", "\n"),
        ("a\r\nb\r\nc\n", "\r\n"),
        ("a\nb\nc\r\n", "\n"),
        ("a\rb\rc\n", "\r"),
        ("a\rb\nc\n", "\n"),
        ("a\r\nb\rc\rd\n", "\r"),
        ("a\r\nb\r\nc\r", "\r\n"),
        ("a\r\nb\r", "\r\n"),
        ("a\nb\r", "\n"),
    ],
)
def test_the_newline_is_the_one_that_the_file_uses_most(text: str, newline: str) -> None:
    assert Source("a.py", text).newline == newline


@pytest.mark.parametrize(
    "data",
    [b"# coding: no-such-codec\n", b"# coding: rot13\n", b"# coding: hex\n", b"# coding: undefined\n", b"# coding: utf-7\nx = '+AC0-'\n"],
    ids=["unknown", "of text to text", "of bytes to bytes", "undefined", "not given back"],
)
def test_an_encoding_that_cannot_be_used_is_a_syntax_error(data: bytes) -> None:
    with pytest.raises(SyntaxError):
        decode("a.py", data)


def test_bytes_that_do_not_fit_their_encoding_are_told_apart_from_that() -> None:
    with pytest.raises(UnicodeDecodeError):
        decode("a.py", b"# coding: ascii\nx = '\xe9'\n")


@pytest.mark.parametrize(
    "data",
    [b"x = 1\n", b"\xef\xbb\xbfx = 1\r\n", "# coding: latin-1\nx = 'é'\n".encode("latin-1"), b"# coding: cp1252\nx = '\x80'\n", b""],
    ids=["utf-8", "mark", "latin-1", "cp1252", "empty"],
)
def test_a_file_comes_back_as_it_was(data: bytes) -> None:
    source = decode("a.py", data)
    assert source.encode(source.text) == data
    assert "\ufeff" not in source.text
