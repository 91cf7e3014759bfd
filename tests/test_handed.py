"""Functions that are handed on: who calls them in the end."""

from __future__ import annotations

import ast

import pytest
from mcp_migrate.facts.code import Code
from modules import Files, place

SERVER = "def handle(msg, tools=None):\n    return msg\n"
LOOP = "def loop(react):\n    for line in source:\n        react(line)\n"
START = "def start():\n    from server import handle\n    {start}\n\n"
HOLDER = """
class Loop:
    def __init__(self, react, name=''):
        self.react = react
    def run(self):
        for line in source:
            self.react(line)
"""


def calls(app: str, **others: str) -> list[tuple[str, str, str]]:
    """Where the dispatcher is called, how, and with what message."""
    code = Code(Files({"server": SERVER, "app": app, **others}))
    handle = place(code, "handle")
    assert handle.function
    found = [call for call in code.callers(handle) if call.direct]
    given = [call.argument("msg", handle.function) for call in found]
    return [(c.place.name, ast.unparse(c.node), ast.unparse(g) if g else "") for c, g in zip(found, given, strict=True)]


@pytest.mark.parametrize(
    ("start", "loop", "expected"),
    [
        ("loop(handle)", LOOP, ("loop", "react(line)", "line")),
        ("loop(react=handle)", LOOP, ("loop", "react(line)", "line")),
        ("react = handle\n    loop(react)", LOOP, ("loop", "react(line)", "line")),
        ("loop(partial(handle, tools=3))", LOOP, ("loop", "react(line)", "line")),
        ("loop(lambda line: handle(line, 3))", LOOP, ("loop", "react(line)", "line")),
        ("outer(handle)", "def outer(first):\n    loop(first)\n" + LOOP, ("loop", "react(line)", "line")),
        ("Loop(handle).run()", HOLDER, ("Loop.run", "self.react(line)", "line")),
        ("Loop(react=handle).run()", HOLDER, ("Loop.run", "self.react(line)", "line")),
        ("Loop(handle).run()", "@dataclass" + HOLDER.replace("    def __init__(self, react, name=''):\n        self.react = react\n", ""), None),
        ("loop(react=handle)", LOOP.replace("react(line)", "run_in_executor(None, react, line)"), ("loop", "run_in_executor(None, react, line)", "line")),
        ("loop(handle)", "def loop(react):\n    def step(line):\n        return react(line)\n", ("loop.step", "react(line)", "line")),
    ],
    ids=[
        "parameter", "keyword", "another name", "partial", "lambda", "twice", "attribute", "attribute by keyword",
        "class that takes nothing", "executor", "function inside",
    ],
)  # fmt: skip
def test_calls_are_found_where_a_function_is_handed_to(start: str, loop: str, expected: tuple[str, str, str] | None) -> None:
    assert calls(START.format(start=start) + loop) == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("start", "loop"),
    [
        ("loop(other)", LOOP),
        ("loop(handle)", "def loop(react):\n    react = other\n    react(line)\n"),
        ("loop(handle)", "def loop(react):\n    def step(react):\n        return react(line)\n"),
        ("loop(*[handle])", LOOP),
    ],
    ids=["another one", "given another value", "parameter of another function", "starred"],
)
def test_what_only_has_the_name_is_left_alone(start: str, loop: str) -> None:
    assert calls(START.format(start=start) + loop) == []


def test_a_loop_in_another_module_is_followed() -> None:
    start = "def start():\n    from server import handle\n    from lines import loop\n    loop(handle)\n"
    assert calls(start, lines=LOOP) == [("loop", "react(line)", "line")]


def test_an_import_under_another_name_is_the_same_function() -> None:
    assert calls("def start():\n    from server import handle as react\n    react(line)\n") == [("start", "react(line)", "line")]


def test_each_function_has_its_own_imports() -> None:
    app = "def one():\n    from server import handle\n    handle(1)\n\ndef two():\n    from other import handle\n    handle(2)\n"
    assert calls(app, other="def handle(msg):\n    return msg\n") == [("one", "handle(1)", "1")]


def test_a_parameter_that_is_given_different_functions_is_none_of_them() -> None:
    code = Code(Files({"server": SERVER + LOOP + "def other(msg):\n    pass\n\nloop(handle)\nloop(other)\n"}))
    unit = code.unit("server")
    assert unit is not None
    call = next(node for node in place(code, "loop").nodes if isinstance(node, ast.Call))
    assert code.function(call, place(code, "loop")) is None
