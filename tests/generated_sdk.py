"""Servers for version 1 of the official SDK, as text, put together from pieces; each piece says what to ask of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import Any

from hypothesis import strategies as st

Step = list[Any]


@dataclass(frozen=True)
class Piece:
    """A handler: what it imports, its text with `mcp` for the server, and what to ask."""

    text: str
    imports: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Program:
    """A module that defines one server, and what to ask of that."""

    text: str
    steps: tuple[Step, ...]


CONTEXT = "from mcp.server.fastmcp import Context"
TOOLS = (
    Piece(
        '@mcp.tool()\ndef add(a: int, b: int = 2) -> int:\n    """Adds."""\n    return a + b\n',
        (),
        (["call", "add", {"a": 1}], ["call", "add", {"a": 1, "b": 5}]),
    ),
    Piece(
        '@mcp.tool(name="greet", description="Says hello")\nasync def hello(who: str) -> str:\n    return f"hello {who}"\n',
        (),
        (["call", "greet", {"who": "ä"}],),
    ),
    Piece(
        '@mcp.tool()\ndef refuse(word: str) -> str:\n    if word == "no":\n        raise ValueError(f"{word} is no word")\n    return word\n',
        (),
        (["call", "refuse", {"word": "no"}], ["call", "refuse", {"word": "yes"}]),
    ),
    Piece(
        '@mcp.tool()\ndef look(key: str) -> str:\n    table = {"a": "1"}\n    try:\n        return table[key]\n    except KeyError as error:\n        raise ToolError(f"no {key}") from error\n',
        ("from mcp.server.fastmcp.exceptions import ToolError",),
        (["call", "look", {"key": "a"}], ["call", "look", {"key": "b"}]),
    ),
    Piece(
        '@mcp.tool()\nasync def logged(text: str, ctx: Context) -> str:\n    await ctx.info(f"got {text}")\n    await ctx.report_progress(1, 2)\n    return text.upper()\n',
        (CONTEXT,),
        (["call", "logged", {"text": "x"}],),
    ),
    Piece('@mcp.tool()\ndef table(n: int) -> dict[str, int]:\n    return {"n": n, "twice": 2 * n}\n', (), (["call", "table", {"n": 3}],)),
    Piece('@mcp.tool()\ndef several() -> list[str]:\n    return ["a", "b"]\n', (), (["call", "several", {}],)),
    Piece("@mcp.tool()\ndef nothing() -> None:\n    return None\n", (), (["call", "nothing", {}],)),
    Piece(
        'class Point(BaseModel):\n    x: int\n    label: str = "p"\n\n\n@mcp.tool()\ndef moved(point: Point, by: int) -> Point:\n    return Point(x=point.x + by, label=point.label)\n',
        ("from pydantic import BaseModel",),
        (["call", "moved", {"point": {"x": 1}, "by": 2}],),
    ),
    Piece(
        '@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True, title="Peek"))\ndef peek(limit: int | None = None) -> str:\n    return f"{limit}"\n',
        ("from mcp.types import ToolAnnotations",),
        (["call", "peek", {}], ["call", "peek", {"limit": 3}]),
    ),
    Piece(
        '@mcp.tool()\ndef content() -> list[TextContent]:\n    return [TextContent(type="text", text="one"), TextContent(type="text", text="two")]\n',
        ("from mcp.types import TextContent",),
        (["call", "content", {}],),
    ),
    Piece(
        'def counted(function):\n    @functools.wraps(function)\n    def inner(*args, **kwargs):\n        return f"counted {function(*args, **kwargs)}"\n\n    return inner\n\n\n'
        "@mcp.tool()\n@counted\ndef stacked(a: str) -> str:\n    return a\n",
        ("import functools",),
        (["call", "stacked", {"a": "x"}],),
    ),
    Piece(
        'def plain(a: float) -> str:\n    """Registered by a call."""\n    return f"{a:.1f}"\n\n\nmcp.add_tool(plain, name="plainly")\n',
        (),
        (["call", "plainly", {"a": 1.25}],),
    ),
    Piece(
        '@mcp.tool()\nasync def asked(ctx: Context) -> str:\n    memo = await ctx.read_resource("memo://fixed")\n    return str(len(list(memo)))\n',
        (CONTEXT,),
        (),
    ),
    Piece(
        '@mcp.tool()\ndef bounded(n: Annotated[int, Field(ge=1, description="how many")]) -> str:\n    return "x" * n\n',
        ("from typing import Annotated", "from pydantic import Field"),
        (["call", "bounded", {"n": 2}],),
    ),
    Piece(
        '@mcp.tool()\nasync def nested(n: int) -> str:\n    def inner(k: int) -> int:\n        if k < 0:\n            raise RuntimeError("below zero")\n        return k * 2\n\n    return str(inner(n))\n',
        (),
        (["call", "nested", {"n": 2}], ["call", "nested", {"n": -1}]),
    ),
    Piece(
        '@mcp.tool()\ndef who(ctx: Context) -> str:\n    return "there" if ctx.request_id else "nobody"\n',
        (CONTEXT,),
        (["call", "who", {}],),
    ),
)
RESOURCES = (
    Piece('@mcp.resource("memo://fixed")\ndef fixed() -> str:\n    return "fixed"\n', (), (["read", "memo://fixed"],)),
    Piece(
        '@mcp.resource("memo://all/{name}", mime_type="text/markdown")\ndef memo(name: str) -> str:\n    return f"# {name}"\n',
        (),
        (["read", "memo://all/x"],),
    ),
    Piece(
        '@mcp.resource("data://table", mime_type="application/json")\nasync def data() -> str:\n    return json.dumps({"a": 1})\n',
        ("import json",),
        (["read", "data://table"],),
    ),
)
PROMPTS = (
    Piece(
        '@mcp.prompt()\ndef ask(topic: str) -> str:\n    """Asks."""\n    return f"Tell me of {topic}"\n',
        (),
        (["prompt", "ask", {"topic": "tea"}],),
    ),
    Piece(
        '@mcp.prompt(name="talk")\ndef talking(error: str) -> list[base.Message]:\n    return [base.UserMessage("I see this:"), base.UserMessage(error), base.AssistantMessage("Let us look.")]\n',
        ("from mcp.server.fastmcp.prompts import base",),
        (["prompt", "talk", {"error": "E1"}],),
    ),
)
OPTIONS = (
    'instructions="Be brief."',
    'host="127.0.0.1", port=9001',
    "stateless_http=True",
    "debug=False",
    'log_level="ERROR"',
    "json_response=True",
    'streamable_http_path="/api"',
)


@st.composite
def fastmcp(draw: st.DrawFn) -> Program:
    """A server of `FastMCP`."""
    pieces = [
        *draw(st.lists(st.sampled_from(TOOLS), min_size=1, max_size=4, unique_by=lambda piece: piece.text)),
        *draw(st.lists(st.sampled_from(RESOURCES), max_size=2, unique_by=lambda piece: piece.text)),
        *draw(st.lists(st.sampled_from(PROMPTS), max_size=2, unique_by=lambda piece: piece.text)),
    ]
    options = draw(st.lists(st.sampled_from(OPTIONS), max_size=2, unique=True))
    imports = {line for piece in pieces for line in piece.imports} | {"from mcp.server.fastmcp import FastMCP"}
    made = f"FastMCP({', '.join([_QUOTED, *options])})"
    name = draw(st.sampled_from(("mcp", "server", "app", "desk")))
    body = "\n\n".join(piece.text for piece in draw(st.permutations(pieces)))
    way = draw(st.sampled_from(("module", "factory", "run", "run") if not options else ("run", "run", "module")))
    if way == "factory" and "class Point" not in body:  # annotations are looked up in the module
        body = f"def build() -> FastMCP:\n    mcp = {made}\n\n{indent(body, '    ')}\n    return mcp\n\n\nmcp = build()\n"
    else:
        body = f"mcp = {made}\n\n\n{body}"
    if way == "run":
        body += '\n\nif __name__ == "__main__":\n    mcp.run(transport="stdio")\n'
    text = _headed(imports, body)
    return Program(_renamed(text, "mcp", name), tuple(step for piece in pieces for step in piece.steps))


_QUOTED = '"desk"'


def _headed(imports: set[str], body: str) -> str:
    ours = sorted(line for line in imports if "mcp" in line or "pydantic" in line)
    own = sorted(imports - {*ours})
    return "\n".join([*own, *([""] if own else []), *ours, "", "", body])


def _renamed(text: str, old: str, new: str) -> str:
    import re

    return re.sub(rf"\b{old}\b(?=\.(tool|resource|prompt|add_tool|run)\b| = |\n|$)(?<!from {old})", new, text)


LISTED = 'types.Tool(name="{name}", description="a tool", inputSchema={{"type": "object", "properties": {{"text": {{"type": "string"}}}}}})'
ANSWERS = {
    "say": 'return [types.TextContent(type="text", text=str((arguments or {}).get("text", "")))]',
    "two": 'return [types.TextContent(type="text", text="one"), types.TextContent(type="text", text="two")]',
    "fail": 'raise ValueError(f"{name} failed")',
    "data": 'return {"name": name}',
    "none": "return []",
}


@st.composite
def lowlevel(draw: st.DrawFn) -> Program:
    """A server of the low-level `Server`."""
    names = draw(st.lists(st.sampled_from(sorted(ANSWERS)), min_size=1, max_size=4, unique=True))
    sdk_import = draw(st.sampled_from(("from mcp.server import Server", "from mcp.server.lowlevel import Server")))
    typed = draw(st.booleans())
    rows = ['server = Server("low", version="1.0")' if draw(st.booleans()) else 'server = Server("low")', "", ""]
    rows += ["@server.list_tools()", f"async def list_tools(){' -> list[types.Tool]' if typed else ''}:", "    return ["]
    rows += [f"        {LISTED.format(name=name)}," for name in names]
    rows += [
        "    ]",
        "",
        "",
        "@server.call_tool()",
        f"async def call_tool(name{': str' if typed else ''}, arguments{': dict' if typed else ''}):",
    ]
    for name in names:
        rows += [f'    if name == "{name}":', f"        {ANSWERS[name]}"]
    rows += ['    raise ValueError(f"Unknown tool: {name}")']
    steps: list[Step] = [["list"], *(["call", name, {"text": "ö"}] for name in names), ["call", "nope", {}]]
    if draw(st.booleans()):
        rows += ["", "", "@server.list_prompts()", "async def prompts():"]
        rows += ['    return [types.Prompt(name="p", arguments=[types.PromptArgument(name="a", required=True)])]']
        rows += [
            "",
            "",
            "@server.get_prompt()",
            "async def prompt(name, arguments):",
            '    words = types.TextContent(type="text", text=str(arguments))',
        ]
        rows += ['    return types.GetPromptResult(description=name, messages=[types.PromptMessage(role="user", content=words)])']
        steps.append(["prompt", "p", {"a": "1"}])
    if draw(st.booleans()):
        rows += [
            "",
            "",
            "@server.list_resources()",
            "async def resources():",
            '    return [types.Resource(uri=AnyUrl("memo://a"), name="a")]',
        ]
        rows += ["", "", "@server.read_resource()", "async def read(uri):", '    return "text of " + str(uri)']
        steps.append(["read", "memo://a"])
    head = ["import mcp.types as types" if draw(st.booleans()) else "from mcp import types", sdk_import]
    head += ["from pydantic import AnyUrl"] if any("AnyUrl" in row for row in rows) else []
    return Program("\n".join([*head, "", *rows]) + "\n", tuple(steps))


def programs() -> st.SearchStrategy[Program]:
    return st.one_of(fastmcp(), lowlevel())


def batch(number: int) -> st.SearchStrategy[Sequence[Program]]:
    """Several programs: an interpreter that has loaded the SDK runs them all."""
    return st.lists(programs(), min_size=number, max_size=number)
