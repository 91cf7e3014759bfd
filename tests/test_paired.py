"""A session goes out of the tuples that hand it back, where everybody who returns or unpacks one can lose it."""

from __future__ import annotations

from textwrap import dedent

import pytest
from mcp_migrate.facts.code import Code
from mcp_migrate.rewrite import absent, edits, paired
from mcp_migrate.rewrite.tree import Tree
from modules import Files, place

SERVER = """
    def reply(rid, result, sid=None):
        return {"id": rid, "result": result}, sid

    def dispatch(msg, sid):
        if "id" not in msg:
            return None, sid
        return reply(msg["id"], {}, sid)

    def endpoint(request):
        sid = request.headers.get("Mcp-Session-Id")
        answer, sid = dispatch(request.json, sid)
        return answer
"""


def unpaired(text: str) -> str:
    """A module without the sessions in its tuples."""
    text = dedent(text).lstrip()
    code = Code(Files({"app": text}))
    start = place(code, "endpoint", "app")
    tree = Tree(start.unit.module.source)
    groups = list(paired.pairs(absent.follow(code, [start]), start.unit, tree))
    return edits.apply(tree.source.utf8, [edit for group in groups for edit in group]).decode()


def test_a_session_goes_out_of_a_pair_with_all_who_unpack_it() -> None:
    after = unpaired(SERVER)
    assert 'return {"id": rid, "result": result}\n' in after
    assert "return None\n" in after
    assert "    answer = dispatch(request.json, sid)\n" in after


def test_a_session_goes_out_of_three() -> None:
    three = (
        SERVER.replace("result}, sid", "result}, sid, 200")
        .replace("None, sid", "None, sid, 202")
        .replace("answer, sid =", "answer, sid, _ =")
    )
    after = unpaired(three)
    assert 'return {"id": rid, "result": result}, 200\n' in after
    assert "answer, _ = dispatch" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("answer, sid = dispatch(request.json, sid)", "answer = dispatch(request.json, sid)[0]"),
        ("return answer", "return answer, sid"),
        ("return None, sid", "return None"),
        ("return None, sid", "return None, sid, 1"),
        ("return None, sid", "return None, make()"),
        ("return reply(", "return other("),
        ("def endpoint", "HANDLERS = [dispatch]\n\n    def endpoint"),
        ("def endpoint", "def second(m):\n        a, s = dispatch(m, make())\n        return s\n\n    def endpoint"),
        ("def dispatch(msg, sid):", "def dispatch(msg, sid) -> Pair:"),
    ],
    ids=["an index", "asked for later", "one None", "lengths", "something else", "unknown", "mentioned", "another caller", "named type"],
)
def test_a_tuple_that_somebody_needs_stays(old: str, new: str) -> None:
    text = SERVER.replace(old, new)
    assert unpaired(text) == dedent(text).lstrip()
