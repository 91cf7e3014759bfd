"""Which server a name, an attribute or a call stands for, in one module or through several."""

from __future__ import annotations

import ast

import pytest
from mcp_migrate.project import Project, read
from mcp_migrate.sdk.handlers import handlers
from mcp_migrate.sdk.servers import Origins
from mcp_migrate.source import Source

HEAD = "from mcp.server.fastmcp import FastMCP\n"


def project(files: dict[str, str]) -> Project:
    return Project.link(read(Source(path, text)) for path, text in files.items())


def made(files: dict[str, str]) -> str:
    """The names of the servers that the argument of `reveal(...)` may be; a question mark where it may be something else."""
    program = project(files).sdk
    assert program is not None
    for path in files:
        module = program.module_at(path)
        for node in module.nodes:
            match node:
                case ast.Call(func=ast.Name(id="reveal"), args=[argument]):
                    origins = Origins(program)
                    found = sorted(str(call.args[0].value) for call in origins.of(argument, module))  # type: ignore[attr-defined]
                    return " ".join([*found, *(["?"] if origins.open else [])])
    raise AssertionError("nothing to reveal")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = FastMCP('a')\nreveal(a)\n", "a"),
        ("a = FastMCP('a')\nb = a\ndef f():\n    reveal(b)\n", "a"),
        ("def make():\n    s = FastMCP('a')\n    return s\nreveal(make())\n", "a"),
        ("class C:\n    def __init__(self):\n        self.s = FastMCP('a')\n    def f(self):\n        reveal(self.s)\n", "a"),
        ("def f(s):\n    reveal(s)\nf(FastMCP('a'))\nf(s=FastMCP('b'))\n", "a b"),
        ("a, b = FastMCP('a'), 1\ndef f(x):\n    reveal(x if x else FastMCP('b'))\n", "b ?"),
        ("s = None\ndef start():\n    global s\n    s = FastMCP('a')\ndef f():\n    reveal(s)\n", "a"),
        ("def f(s: FastMCP):\n    reveal(s)\n", "?"),
        ("import other\nreveal(other.s)\n", "?"),
        ("a = FastMCP('a')\na = FastMCP('b')\nreveal(a)\n", "b"),
    ],
    ids=["name", "alias", "factory", "attribute", "parameter", "conditional", "global", "annotation", "unknown", "second life"],
)
def test_where_a_server_comes_from(text: str, expected: str) -> None:
    assert made({"server.py": HEAD + text}) == expected


@pytest.mark.parametrize(
    "text",
    [
        "from app import s\nreveal(s)\n",
        "import app\nreveal(app.s)\n",
        "from app import s as t\nreveal(t)\n",
        "from app import *\nreveal(s)\n",
    ],
    ids=["name", "module", "alias", "star"],
)
def test_a_server_of_another_module(text: str) -> None:
    assert made({"app.py": f"{HEAD}s = FastMCP('a')\n", "main.py": text + "s.run()\n"}) == "a"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@s.tool()\ndef f(): ...\n", ["tool f plain"]),
        ("@s.tool()\n@other\ndef f(): ...\n", ["tool f"]),
        ("def f(): ...\ns.tool()(f)\ns.add_tool(f, name='g')\n", ["tool f plain", "tool f plain"]),
        ("@s.resource('a://{b}')\nasync def f(b): ...\n@s.prompt()\ndef g(): ...\n", ["prompt g plain", "resource f plain"]),
        ("def tool():\n    def inner(fn):\n        return s.tool()(fn)\n    return inner\n@tool()\ndef f(): ...\n", ["tool f plain"]),
        ("@other.tool()\ndef f(): ...\n", []),
    ],
    ids=["decorator", "two decorators", "calls", "others", "decorator of the project", "another object"],
)
def test_which_functions_answer(text: str, expected: list[str]) -> None:
    program = project({"server.py": f"{HEAD}s = FastMCP('a')\n{text}"}).sdk
    assert program is not None
    found = [f"{one.kind} {one.function.name}{' plain' if one.is_plain else ''}" for one in handlers(program)]
    assert sorted(found) == expected
