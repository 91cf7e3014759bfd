"""What the measurement of fastmcp projects sets apart, fastmcp 4 does by itself, and nothing else passes for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sdk
import yaml
from servers import ROOT

BENCHMARKS = ROOT / "benchmarks"
sys.path.append(str(BENCHMARKS))

import fastmcp_own  # noqa: E402

# Code that every release from 2.7 to 4 takes as it is.
SERVER = '''"""Some of all that a server may have."""

from fastmcp import Context, FastMCP
from pydantic import BaseModel, Field

mcp = FastMCP("plain", instructions="Does little.")


class Item(BaseModel):
    """An item."""

    name: str
    price: float = 1.0


@mcp.tool
def add_up(a: int, b: int = 1) -> int:
    """Add two numbers.

    Args:
        a: the first
        b: the second
    """
    return a + b


@mcp.tool(description="Count them.")
def count(items: list[str]) -> int:
    """Count.

    Args:
        items: what to count, as a list
            of texts, such as the names of all that somebody has bought in a shop of a town that lies far away from here
    """
    return len(items)


@mcp.tool(annotations={"readOnlyHint": True, "icon": "i"})
async def buy(item: Item, ctx: Context) -> list[str]:
    """Buy it."""
    await ctx.info("bought")
    return [item.name, "bought"]


@mcp.tool
def untyped(value):
    """Fail."""
    raise ValueError(f"no {value}")


@mcp.resource("data://json", mime_type="application/json")
def some() -> dict:
    """Data."""
    return {"a": 1}


@mcp.resource("data://{name}/{kind}")
def either(name: str, kind: str) -> str:
    """One of many."""
    raise ValueError(f"no {name}")


@mcp.prompt
def ask(about: str, times: int = 1) -> str:
    """Ask.

    Args:
        about: of what
        times: how often
    """
    return f"What of {about}?" * times


@mcp.prompt(description="Tell.")
def tell(who: str) -> str:
    """Tell.

    Args:
        who: whom to tell
    """
    return f"Tell {who}"


@mcp.prompt
def kinds(kind: str = Field(default="black", description="Which.")) -> str:
    """Say it."""
    return f"Of {kind} tea"


@mcp.prompt
def bad() -> str:
    """Fail."""
    raise ValueError("bad prompt")


if __name__ == "__main__":
    mcp.run()
'''
WAY = {
    "run": "python server.py",
    "calls": ['add_up {"a": 1}', 'add_up {"a": "x"}', 'buy {"item": {"name": "tea"}}', 'untyped {"value": [1, "a"]}'],
    "reads": ["data://json", "data://a/b", "data://nowhere"],
    "prompts": ['ask {"about": "tea"}', 'ask {"about": "tea", "times": "x"}', "ask {}", "bad {}", "none {}", "kinds {}"],
}
# A server that is made of the description of an API.
DESCRIBED = '''"""Serves an API that nobody answers for."""

try:
    import httpx2 as http
except ImportError:
    import httpx as http
from fastmcp import FastMCP

KIND = {"name": "kind", "in": "query", "schema": {"type": "string"}, "example": "tea"}
ITEMS = {"application/json": {"schema": {"type": "array", "items": {"type": "string"}}}}
LIST = {"operationId": "list_items", "parameters": [KIND], "responses": {"200": {"description": "all", "content": ITEMS}}}
API = {"openapi": "3.0.0", "info": {"title": "shop", "version": "1"}, "paths": {"/items": {"get": LIST}}}

FastMCP.from_openapi(API, client=http.AsyncClient(base_url="http://127.0.0.1:9"), name="shop", validate_output=False).run()
'''
# Tools whose results are not what their schemas say, and annotations that are none.
CARELESS = '''from mcp.types import TextContent


@mcp.tool
def name() -> str:
    """Return no text."""
    return {"name": "tea"}


@mcp.tool
def listed() -> dict:
    """Return a list."""
    return [TextContent(type="text", text="no")]


@mcp.resource("careless://{name}", annotations={"readOnlyHint": True, "idempotentHint": True})
def read(name: str) -> str:
    """Read it."""
    return name


'''
# A `mcp-migrate` that has nothing to do.
IDLE = """
import sys
if sys.argv[1] == "check":
    print('{"findings": []}')
"""


@pytest.mark.parametrize(
    ("release", "older", "server", "way"),
    [
        ("2.7.0", ["pydantic==2.11.10"], SERVER, WAY),
        ("2.11.3", ["pydantic==2.11.10"], SERVER, WAY),
        ("2.14.7", [], SERVER.replace("if __name__", CARELESS + "if __name__"), {**WAY, "calls": [*WAY["calls"], "name {}", "listed {}"]}),
        ("3.4.11", [], SERVER, WAY),
        ("3.4.11", [], DESCRIBED, {"run": "python server.py", "calls": ["list_items {}"]}),
    ],
    ids=["before structured results", "with a wrapper that has a name", "2, and careless", "3", "of a description"],
)
def test_all_that_a_server_that_stays_as_it_is_says_otherwise_is_set_apart(
    release: str, older: list[str], server: str, way: dict[str, Any], tmp_path: Path
) -> None:
    project = tmp_path / "corpus" / "fm2-plain"
    project.mkdir(parents=True)
    (project / "server.py").write_text(server)
    (tmp_path / "idle.py").write_text(IDLE)
    recipes = tmp_path / "recipes.yaml"
    recipes.write_text(yaml.safe_dump({"fm2-plain": {"fastmcp": release, "older": older, "ways": [way]}}))
    places = [
        "--recipes",
        str(recipes),
        "--environments",
        str(sdk.measurements()),
        "--tool",
        f"{sys.executable} {tmp_path / 'idle.py'}",
    ]
    rows = tmp_path / "rows.json"
    command = [
        sys.executable,
        str(BENCHMARKS / "sdk.py"),
        *places,
        "--parts",
        "sessions",
        "--prefix",
        "fm2-",
        "--json",
        str(rows),
        str(tmp_path / "corpus"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=500)
    assert done.returncode == 0, done.stdout + done.stderr
    [row] = json.loads(rows.read_text())
    [told] = row["sessions"]
    assert told["asked"] >= sum(len(way.get(kind, ())) for kind in ("calls", "reads", "prompts"))
    for client, differs in told["differs"].items():
        assert differs
        for named in ("[listed]", "[read]") if server is not SERVER and "careless" in server else ():
            assert any(named in one for one in differs)
        assert [one for one in differs if one not in told["own"][client]] == []


TOOL = "list of tools.result.tools[add_up]"
CUT = f'{TOOL}.description: "Add.\\n\\nArgs:\\n a: the first" -> "Add."'
READ = '["read", "a://b"]: error'


@pytest.mark.parametrize(
    "differs",
    [
        [f'{TOOL}.title: nothing -> "Add"'],
        [f'{TOOL}.title: "Add Up" -> nothing'],
        [f'{TOOL}.outputSchema.title: "Sum" -> nothing'],
        ["list of templates.result.resourceTemplates[a].annotations.audience: true -> nothing"],
        [f'{TOOL}.description: "Add." -> nothing'],
        [f'{TOOL}.description: "Add." -> "Take."'],
        [f'{TOOL}.inputSchema.properties.a.description: nothing -> "the first"'],
        [CUT.replace("add_up", "buy"), f'{TOOL}.inputSchema.properties.a.description: nothing -> "the first"'],
        [f"{TOOL}.inputSchema.additionalProperties: true -> false"],
        [f"{TOOL}.annotations.readOnlyHint: true -> nothing"],
        [f"{TOOL}: {{}} -> nothing", f"{TOOL}: nothing -> {{}}"],
        [f"{READ}.code: 0 -> -32601", f"{READ}.code: -32602 -> 0"],
        [f'{READ}.data: nothing -> {{"uri": "a://b"}}'],
        [f"{READ}.message: \"Unknown resource: 'a://b'\" -> \"Resource not found: 'a://b'\""],
        [f"{READ}.code: 0 -> -32602", f"{READ}.message: \"Unknown resource: 'a://b'\" -> \"Resource not found: 'a://c'\""][1:],
        ['["call", "a", {}]: error.code: 0 -> -32602'],
        ['["call", "a", {}]: result.content[0].text: "Unknown tool: a" -> "Unknown tool: \'b\'"'],
        ['["call", "a", {}]: result.isError: false -> true'],
        ['["read", "a://b"]: result.contents[0].text: "{\\"a\\":1}" -> "{\\"a\\": 2}"'],
        ['["read", "a://b"]: result.contents[0].text: "a b" -> "ab"'],
        ['["call", "a", {}]: result.content[0].text: "Error calling tool \'a\': structured_content must be a dict" -> "Error"'],
        ["no session: MCPError: Connection closed"],
        ['["prompt", "a", {}]: result.messages[0].content.text: "a annotation=str required=False default=\'b\'" -> "a c"'],
    ],
)
def test_what_is_like_it_is_not_set_apart(differs: list[str]) -> None:
    assert [one for one in fastmcp_own.own(differs) if not one.startswith(CUT.replace("add_up", "buy"))] == []


@pytest.mark.parametrize(
    ("docstring", "told", "expected"),
    [
        ("Add.\n\nArgs:\n    a: the first", "the first", True),
        ('Add.\n\nArgs:\n    a: the "first"\n        of two', 'the \\"first\\"\\nof two', True),
        ("Add.\n\nArgs:\n    a: the first", "the second", False),
        ("", "the first", False),
        (f"Args:\n    a: {'so ' * 50}long", f"{'so ' * 30}... {'so ' * 16}long", True),
        (f"Args:\n    a: {'so ' * 50}long", f"{'so ' * 30}... {'so ' * 16}short", False),
    ],
    ids=["the docstring says it", "in lines", "it does not", "there is none", "the middle of it is not shown", "of which the end differs"],
)
def test_what_a_docstring_says_of_a_parameter_is_set_apart(docstring: str, told: str, expected: bool) -> None:
    difference = f'{TOOL}.inputSchema.properties.a.description: nothing -> "{told}"'
    assert list(fastmcp_own.own([difference], {"add_up": docstring}.__getitem__)) == [difference] * expected


def test_a_schema_is_the_same_with_and_without_names_for_its_parts() -> None:
    part = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Part"}}}
    named = {"$defs": {"Part": part}, "properties": {"a": {"$ref": "#/$defs/Part", "description": "one"}}}
    plain = {"properties": {"a": {**part, "description": "one"}}}
    assert fastmcp_own.inlined(named) == plain
    assert fastmcp_own.inlined(plain) == plain
    assert fastmcp_own.inlined({"properties": {"a": {"$ref": "#/$defs/Other"}}}) == {"properties": {"a": {"$ref": "#/$defs/Other"}}}
