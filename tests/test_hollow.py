"""What deleted code has left empty goes; what was empty before stays."""

from __future__ import annotations

from textwrap import dedent

import pytest
from mcp_migrate.rewrite import edits
from mcp_migrate.rewrite.hollow import hollows
from mcp_migrate.rewrite.tree import Tree
from mcp_migrate.source import Source


def without(before: str, after: str) -> str:
    before, after = dedent(before).lstrip(), dedent(after).lstrip()
    groups = list(hollows(Source("app.py", before), Tree(Source("app.py", after))))
    taken, _ = edits.compose(groups)
    return edits.apply(after.encode(), taken).decode()


def cut(text: str, *lines: str) -> str:
    """A text without some lines, as other deletions leave it."""
    return "\n".join(line for line in dedent(text).lstrip().split("\n") if line.strip() not in lines)


SECTIONS = """
    class Server:
        # -- protocol ------

        def handle(self): ...

        # -- HTTP+SSE ------

        def sse(self): ...

        # -- plain POST ----

        def post(self): ...

        # -- old ------
"""


def test_a_heading_goes_with_the_last_thing_below_it() -> None:
    after = without(SECTIONS, cut(SECTIONS, "def sse(self): ..."))
    assert "HTTP+SSE" not in after
    assert "def handle(self): ...\n\n    # -- plain POST ----\n\n    def post" in after


def test_a_heading_that_stood_above_nothing_before_stays() -> None:
    assert "# -- old ------" in without(SECTIONS, cut(SECTIONS, "def sse(self): ..."))


def test_a_heading_above_something_stays() -> None:
    assert without(SECTIONS, SECTIONS) == dedent(SECTIONS).lstrip()


def test_a_heading_of_three_lines_goes_whole() -> None:
    text = "# ------\n# Hello\n# ------\n\n\ndef hello(): ...\n\n\n# ------\n# Tools\n# ------\n\n\ndef tools(): ...\n"
    assert without(text, cut(text, "def hello(): ...")) == "# ------\n# Tools\n# ------\n\n\ndef tools(): ...\n"


def test_the_last_heading_of_a_block_goes_with_the_gap_above_it() -> None:
    text = "def a(): ...\n\n\n# -- sessions ----\n\nX = 1\n"
    assert without(text, cut(text, "X = 1")) == "def a(): ...\n"


def test_a_line_of_a_text_is_no_heading() -> None:
    text = 'T = """\n# -- a ----\nb\n# -- c ----\nd\n"""\n'
    after = text.replace("b\n", "")
    assert without(text, after) == after


HEADERS = """
    from starlette.responses import Response
    def post(request):
        headers = {}
        if request.new:
            headers["Mcp-Session-Id"] = new()
        return Response(answer(request), headers=headers)
"""


def test_headers_that_nothing_fills_any_more_go() -> None:
    after = cut(HEADERS, "if request.new:", 'headers["Mcp-Session-Id"] = new()')
    assert without(HEADERS, after) == "from starlette.responses import Response\ndef post(request):\n    return Response(answer(request))\n"


def test_headers_go_to_a_function_that_may_want_them_wherever_it_is_from() -> None:
    for maker in (
        "from app.replies import Response",
        "from .starlette import Response",
        "Response = make()",
        "import starlette, app\nResponse = app.R",
    ):
        text = dedent(HEADERS).replace("from starlette.responses import Response", maker).lstrip()
        after = cut(text, "if request.new:", 'headers["Mcp-Session-Id"] = new()')
        assert without(text, after) == after


@pytest.mark.parametrize(
    "more",
    ["def Response(body, headers): ...\n", "def other():\n    pass\n"],
    ids=["a function of the file may want them", "untouched"],
)
def test_headers_that_somebody_may_want_stay(more: str) -> None:
    after = cut(HEADERS, "if request.new:", 'headers["Mcp-Session-Id"] = new()') if "Response" in more else dedent(HEADERS).lstrip()
    assert without(dedent(HEADERS).lstrip() + more, after + more) == after + more


def test_a_test_before_nothing_goes_unless_it_does_something() -> None:
    before = "def f(m):\n    if m.get('method') != 'initialize':\n        touch()\n    return m\n"
    assert without(before, before.replace("touch()", "pass")) == "def f(m):\n    return m\n"
    acts = before.replace("m.get('method') != 'initialize'", "send(m)")
    assert "send(m)" in without(acts, acts.replace("touch()", "pass"))
    idle = "def f(m):\n    if m:\n        pass\n    return m\n"
    assert without(idle, idle) == idle


GUARD = """
    from fastapi import Depends, FastAPI

    app = FastAPI()

    def require_session(sid=None):
        if not sid:
            raise HTTPException(400)

    @app.post("/mcp", dependencies=[Depends(require_session)])
    def post(request, _=Depends(require_session)):
        require_session()
        return answer(request)
"""
EMPTIED = cut(GUARD, "if not sid:", "raise HTTPException(400)").replace("(sid=None):", "():\n    pass")


def test_a_guard_that_refuses_nothing_any_more_is_called_by_nobody() -> None:
    after = without(GUARD, EMPTIED)
    assert '@app.post("/mcp")\ndef post(request):\n    return answer(request)' in after


@pytest.mark.parametrize("kept", ["GUARDS = [require_session]", "@use(require_session)\ndef other(): ...", "print(require_session())"])
def test_a_guard_that_something_else_is_done_with_stays(kept: str) -> None:
    assert without(f"{dedent(GUARD)}{kept}\n", f"{EMPTIED}{kept}\n") == f"{EMPTIED}{kept}\n"


def test_a_guard_that_did_nothing_before_stays() -> None:
    assert without(EMPTIED, EMPTIED) == EMPTIED
