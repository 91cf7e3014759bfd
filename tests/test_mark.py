"""TODO comments stand above statements, only there, and only once."""

from __future__ import annotations

import ast

import pytest
from mcp_migrate.mark import mark
from mcp_migrate.rule import Applicability
from mcp_migrate.source import Source, decode
from samples import CODES, PING, at

TODO = "# mcp-migrate: TODO[MCP103] `ping` is gone"


def marked(text: str, word: str = "ping") -> str:
    source = Source("a.py", text)
    return mark(source, [at(source, word)])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = ping\n", f"{TODO}\nx = ping\n"),
        ("if x:\n    y = ping\n", f"if x:\n    {TODO}\n    y = ping\n"),
        ("if x:\n\ty = ping\n", f"if x:\n\t{TODO}\n\ty = ping\n"),
        ("call(\n    a,\n    ping,\n)\n", f"{TODO}\ncall(\n    a,\n    ping,\n)\n"),
        ("x = 1\ny = '''\nping\n'''\n", f"x = 1\n{TODO}\ny = '''\nping\n'''\n"),
        ("x = 1 + \\\n    ping\n", f"{TODO}\nx = 1 + \\\n    ping\n"),
        ("if a:\n    pass\nelif ping:\n    pass\n", f"if a:\n    pass\n{TODO}\nelif ping:\n    pass\n"),
        ("x = 1; y = ping\n", f"{TODO}\nx = 1; y = ping\n"),
        ("@ping\ndef f(): ...\n", f"{TODO}\n@ping\ndef f(): ...\n"),
        ("# head\n\nx = 1\n# ping\ny = 2\n", f"# head\n\n{TODO}\nx = 1\n# ping\ny = 2\n"),
        ("x = ping", f"{TODO}\nx = ping"),
        ("x = 1\r\ny = ping\r\n", f"x = 1\r\n{TODO}\r\ny = ping\r\n"),
    ],
    ids=["module", "block", "tab", "call", "string", "backslash", "elif", "semicolon", "decorator", "comment", "no newline", "crlf"],
)
def test_the_comment_stands_where_the_statement_begins(before, after):
    assert marked(before) == after
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(before))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("call(\n    a,\n    b,\n    ping,\n)\n", f"call(\n    a,\n    b,\n    {TODO}\n    ping,\n)\n"),
        ("call(\n    a,\n    # b\n    c, ping)\n", f"call(\n    a,\n    # b\n    {TODO}\n    c, ping)\n"),
        ("call(a, '''\n\n\nping''')\n", f"{TODO}\ncall(a, '''\n\n\nping''')\n"),
        ("call(\n    a + \\\n    b + \\\n    ping)\n", f"call(\n    {TODO}\n    a + \\\n    b + \\\n    ping)\n"),
        (
            "if x:\n    y = [\n        1,\n        2,\n        ping,\n    ]\n",
            f"if x:\n    y = [\n        1,\n        2,\n        {TODO}\n        ping,\n    ]\n",
        ),
    ],
    ids=["call", "comment", "string", "backslash", "block"],
)
def test_in_a_long_statement_the_comment_stands_above_the_line_itself(before, after):
    assert marked(before) == after
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(before))
    assert mark(Source("a.py", after), [at(Source("a.py", after), "ping", nth=1)]) == after


def test_marking_again_changes_nothing():
    once = marked("if x:\n    y = ping\n")
    assert marked(once, "y = ping") == once


def test_a_mark_goes_when_its_finding_is_gone():
    source = Source("a.py", f"x = 1\n{TODO}\ny = 2\nz = '''\n{TODO}\n'''  {TODO}\n")
    assert mark(source, []) == f"x = 1\ny = 2\nz = '''\n{TODO}\n'''  {TODO}\n"


def test_several_findings_of_a_statement_get_a_comment_each_and_equal_ones_one():
    source = Source("a.py", "f(ping, ping, -32002)\n")
    text = mark(source, [at(source, "ping"), at(source, "ping", nth=1), at(source, "-32002", CODES)])
    assert text.splitlines() == [TODO, "# mcp-migrate: TODO[MCP201] `error_code` is gone", "f(ping, ping, -32002)"]


def test_a_message_is_one_line_in_the_encoding_of_the_file():
    source = decode("a.py", "# coding: latin-1\nx = 'é'\n".encode("latin-1"))
    text = mark(source, [at(source, "x", PING, message="first\nsecond 中\x1b é")])
    assert text.splitlines()[1] == "# mcp-migrate: TODO[MCP103] first second \\u4e2d  é"
    source.encode(text)


@pytest.mark.parametrize(("hint", "more"), [("look", ": look"), ("", "")], ids=["with a hint", "without"])
def test_a_fix_that_a_human_should_look_at_says_what_it_would_do(hint, more):
    source = Source("a.py", "x = ping\n")
    finding = at(source, "ping", applicability=Applicability.UNSAFE, hint=hint)
    assert mark(source, [finding]) == f"{TODO}; fix needs --unsafe-fixes{more}\nx = ping\n"


@pytest.mark.parametrize("text", ["x = (ping\n", "  x = ping\n y = 2\n"], ids=["open bracket", "indentation"])
def test_text_that_cannot_be_tokenized_stays_as_it_is(text):
    assert marked(text) == text
