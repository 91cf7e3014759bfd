"""The measurement of SDK moves finds a good one the same in every era and with every client, and tells what a bad one loses."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
import sdk
import yaml
from servers import ROOT

BENCHMARKS = ROOT / "benchmarks"
sys.path.append(str(BENCHMARKS))

import comparing  # noqa: E402

# The script has the name of a module beside these tests.
_SPEC = importlib.util.spec_from_file_location("measuring", BENCHMARKS / "sdk.py")
assert _SPEC is not None
assert _SPEC.loader is not None
measuring = importlib.util.module_from_spec(_SPEC)
sys.modules["measuring"] = measuring
_SPEC.loader.exec_module(measuring)

SERVER = '''"""Adds, and complains."""

import asyncio

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import TextContent, Tool

server = Server("adder", instructions="Adds.")


@server.list_tools()
async def list_tools() -> list[Tool]:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}
    return [Tool(name="add", description="Add.", inputSchema=schema)]


@server.call_tool()
async def call_tool(name: str, arguments: dict) -> list[TextContent]:
    if name != "add":
        raise ValueError(f"no tool {name}")
    return [TextContent(type="text", text=str(arguments["a"] + arguments["b"]))]


async def main() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
'''

ADAPTERS = """

def failed(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


async def on_list(context, params):
    return ListToolsResult(tools=await list_tools())


async def on_call(context, params):
    arguments = params.arguments or {}
    try:
        for tool in await list_tools():
            if tool.name == params.name:
                try:
                    jsonschema.validate(arguments, tool.input_schema)
                except jsonschema.ValidationError as error:
                    return failed(f"Input validation error: {error.message}")
        return CallToolResult(content=await call_tool(params.name, arguments))
    except Exception as error:
        return failed(str(error))


server.add_request_handler("tools/list", PaginatedRequestParams, on_list)
server.add_request_handler("tools/call", CallToolRequestParams, on_call)


async def main("""

# A `mcp-migrate` that does by heart what it is told to.
HAND = """
import pathlib, sys
if sys.argv[1] == "check":
    print('{"findings": []}')
elif MOVED:
    file = pathlib.Path("server.py")
    text = file.read_text()
    if "add_request_handler" not in text:
        text = text.replace("@server.list_tools()\\n", "").replace("@server.call_tool()\\n", "").replace("\\nasync def main(", ADAPTERS)
        names = "CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, TextContent, Tool"
        file.write_text(text.replace("import TextContent, Tool", "import " + names).replace("import asyncio\\n", "import asyncio\\n\\nimport jsonschema\\n"))
"""


def measure(folder: Path, *, moved: bool) -> subprocess.CompletedProcess[str]:
    project = folder / "corpus" / "ll-adder"
    project.mkdir(parents=True)
    (project / "server.py").write_text(SERVER)
    hand = folder / "hand.py"
    hand.write_text(f"MOVED = {moved}\nADAPTERS = {ADAPTERS!r}\n{HAND}")
    recipes = folder / "recipes.yaml"
    recipes.write_text(
        yaml.safe_dump({"ll-adder": {"ways": [{"run": "python server.py", "calls": ['add {"a": 1, "b": 2}', 'add {"a": "one"}']}]}})
    )
    places = ["--recipes", str(recipes), "--environments", str(sdk.measurements()), "--tool", f"{sys.executable} {hand}"]
    command = [sys.executable, str(BENCHMARKS / "sdk.py"), *places, str(folder / "corpus")]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=300)


def test_a_good_move_is_the_same_to_every_client(tmp_path: Path) -> None:
    done = measure(tmp_path, moved=True)
    assert "| ll-adder | 1 | 1 of 1, 0, 0 | same/same/same | 0 | 0 | - | - |" in done.stdout, done.stderr + done.stdout
    assert done.returncode == 0


def test_what_is_not_moved_is_lost_and_not_told(tmp_path: Path) -> None:
    done = measure(tmp_path, moved=False)
    assert "| ll-adder | 0 | 0 of 1, 0, 1 | none/none/none | 0 | 0 | - | - |" in done.stdout, done.stderr + done.stdout
    assert "'Server' object has no attribute 'list_tools' (NOT told)" in done.stdout
    assert done.returncode == 1


CODES = """
import asyncio, json, logging
from mcp import Client
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp.types import GetPromptRequestParams, ReadResourceRequestParams

logging.disable()
plain = Server("plain")


async def fail(context, params):
    raise ValueError("no such thing")


plain.add_request_handler("prompts/get", GetPromptRequestParams, fail)
plain.add_request_handler("resources/read", ReadResourceRequestParams, fail)


async def told(server, mode, ask):
    async with Client(server, mode=mode) as client:
        try:
            await ask(client)
        except MCPError as error:
            return [error.error.code, error.error.data, error.error.message]


async def main():
    asks = [(plain, lambda one: one.get_prompt("a")), (plain, lambda one: one.read_resource("a://b"))]
    asks += [(MCPServer("high"), asks[1][1]), (MCPServer("high"), asks[0][1])]
    print(json.dumps({mode: [await told(server, mode, ask) for server, ask in asks] for mode in ("legacy", "auto")}))


asyncio.run(main())
"""


def test_what_is_set_apart_the_sdk_does_of_itself() -> None:
    said = json.loads(subprocess.run([sdk.python(2), "-c", CODES], capture_output=True, text=True, check=True).stdout)
    missing = [-32602, {"uri": "a://b"}]
    assert {mode: [told[:2] for told in every] for mode, every in said.items()} == {
        "legacy": [[0, None], [0, None], missing, [0, None]],
        "auto": [[-32603, None], [-32603, None], missing, [-32603, None]],
    }
    assert [said[mode][3][2] for mode in ("legacy", "auto")] == ["Unknown prompt: a", "Internal server error"]
    unknown = [
        f'["prompt", "a", {{}}]: error.{part}' for part in ("code: 0 -> -32603", 'message: "Unknown prompt: a" -> "Internal server error"')
    ]
    assert list(measuring._own(unknown, "v2 modern")) == unknown
    assert list(measuring._own(unknown[1:], "v2 modern")) == list(measuring._own(unknown, "v1")) == []
    read, other = '["read", "a://b"]: ', '["prompt", "a", {}]: error.code: 0 -> '
    both = [f"{read}error.code: 0 -> -32602", f'{read}error.data: nothing -> {{"uri": "a://b"}}']
    assert list(measuring._own(both, "v1")) == both
    assert list(measuring._own(both[:1], "v1")) == []
    assert list(measuring._own([f"{other}-32603", f"{other}-32602", f"{other}-32000"], "v2 modern")) == [f"{other}-32603", f"{other}-32602"]
    assert list(measuring._own([f"{other}-32603"], "v2 legacy")) == []


WAITING = """
import asyncio
try:
    from mcp.server.mcpserver import MCPServer
except ImportError:
    from mcp.server.fastmcp import FastMCP as MCPServer
server = MCPServer("slow")


@server.tool()
async def wait() -> str:
    await asyncio.sleep(60)
    return ""


server.run()
"""

LEAVING = """
import asyncio, sys
from mcp import StdioServerParameters

SERVER = StdioServerParameters(command=sys.argv[1], args=["-c", sys.argv[2]])


async def older():
    from datetime import timedelta
    from mcp import ClientSession
    from mcp.client.stdio import stdio_client

    async with stdio_client(SERVER) as streams, ClientSession(*streams) as session:
        await session.initialize()
        await asked(session.call_tool("wait", read_timeout_seconds=timedelta(seconds=0.3)))


async def newer(mode):
    from mcp import Client

    async with Client(SERVER, mode=mode) as client:
        await asked(client.call_tool("wait", read_timeout_seconds=0.3))


async def asked(call):
    try:
        print("answered", await call)
    except Exception as error:
        print("late" if "imed out" in str(error) else error)


try:
    asyncio.run(newer(sys.argv[3]) if sys.argv[3:] else older())
    print("left")
except BaseException as error:
    while getattr(error, "exceptions", None):
        error = error.exceptions[0]
    print(type(error).__name__)
"""


@pytest.mark.parametrize(
    ("client", "server", "mode", "end"),
    [(1, 1, (), "left"), (1, 2, (), "BrokenResourceError"), (2, 2, ("legacy",), "left"), (2, 2, ("auto",), "left")],
    ids=["older client and server", "older client", "newer client in legacy mode", "newer client"],
)
def test_who_leaves_a_server_at_work_is_answered_and_the_older_client_fails_on_that(
    client: int, server: int, mode: tuple[str, ...], end: str
) -> None:
    argv = [sdk.python(client), "-c", LEAVING, sdk.python(server), WAITING, *mode]
    assert subprocess.run(argv, capture_output=True, text=True, timeout=60).stdout.split() == ["late", end]


def test_an_error_while_leaving_is_no_lost_session() -> None:
    before = {"server": {"info": {"name": "a"}, "instructions": None}, "lists": {}, "answers": {}}
    late = {**before, "leaving": f"BrokenResourceError: (a log line){measuring.UNANSWERED}"}
    [told] = measuring._differing(before, late)
    assert told == f"leaving: {late['leaving']}"
    assert list(measuring._differing(late, late)) == list(measuring._differing(late, before)) == []
    assert list(measuring._own([told], "v1")) == [told]
    assert list(measuring._own([told], "v2 legacy")) == []
    # Nothing was left unanswered, or what came is no message.
    others = [told.removesuffix(measuring.UNANSWERED), told.replace("a log line", "1 validation error for JSONRPCMessage")]
    assert list(measuring._own(others, "v1")) == []
    prints = {"rule": "MCP591"}
    assert [measuring._is_told(one, [prints]) for one in (told, *others)] == [False, False, True]


def test_what_is_not_listed_keeps_its_time(tmp_path: Path) -> None:
    listing = tmp_path / "pyproject.toml"
    listing.write_text('dependencies = [\n    "a-b>=1",\n    "a-bc",\n    "c[d]==1",\n]\n')
    time = listing.stat().st_mtime_ns
    measuring._unlist(listing, ["a-b", "c"])
    assert listing.read_text() == 'dependencies = [\n    "a-bc",\n]\n'
    assert listing.stat().st_mtime_ns == time


def test_a_failing_test_is_told_by_a_finding_in_it_or_by_one_that_names_the_same(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(
        "def test_one():\n    pass\n\n\ndef test_two():\n    pass\n\n\ndef test_three():\n    pass\n"
    )
    inside = {"severity": "error", "rule": "MCP597", "path": "tests/test_a.py", "line": 2, "message": "a"}
    named = {
        "severity": "error",
        "rule": "MCP552",
        "path": "a.py",
        "line": 9,
        "message": "version 2 drops `isError`, which is no field of `mcp.types.Tool`",
    }
    near = {"severity": "error", "rule": "MCP540", "path": "b.py", "line": 40, "message": "a"}
    failed = {
        "./tests.test_a::test_one[x]": "failure: 1 != 2",
        "./tests.test_a::test_two": "failure: 'Tool' object has no attribute 'isError'",
        "./tests.test_a::test_three": "failure: 'Tool' object has no attribute 'other'\ntests/test_a.py:10\nb.py:60",
    }
    row = {"announced": [named, inside], "findings": [near]}
    told = measuring._failures(failed, row, tmp_path)
    assert told == {"./tests.test_a::test_one[x]": "MCP597 tests/test_a.py:2", "./tests.test_a::test_two": "MCP552 a.py:9"}
    assert measuring._failures({"./tests.test_a::test_three": "failure: x\nb.py:41"}, row, tmp_path).values()
    helper = {
        "severity": "error",
        "rule": "MCP502",
        "path": "tests/test_a.py",
        "line": 4,
        "message": "version 2 of the SDK spells `isError` in snake case",
    }
    lost = {"./tests.test_a::test_three": "failure: hasattr(namespace(isError=False), 'is_error')"}
    assert measuring._failures(lost, {"announced": [helper], "findings": []}, tmp_path) == {
        "./tests.test_a::test_three": "MCP502 tests/test_a.py:4"
    }
    assert measuring._failures({"./tests.test_a::test_three": "failure: x"}, {"announced": [helper], "findings": []}, tmp_path) == {}


def test_a_failing_test_is_told_by_what_it_runs_as_far_as_names_tell(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(
        "def test_one(tool):\n    assert Server(tool).names()\n\n\ndef test_two():\n    assert Server(1)\n"
    )
    (tmp_path / "tests" / "conftest.py").write_text("class FakeTool:\n    isError = False\n\n\ndef tool():\n    return FakeTool()\n")
    (tmp_path / "a.py").write_text(
        "class Server:\n    kind = 1\n\n    def names(self):\n        return listed(self)\n\n\ndef listed(server):\n    return server.x\n"
    )

    def told(path: str, line: int, severity: str = "error") -> list[str]:
        finding = {"rule": "MCP597", "path": path, "line": line, "message": "a", "severity": severity}
        failed = {f"./tests.test_a::test_{one}": "failure: 1 != 2" for one in ("one", "two")}
        return [name.rpartition("_")[2] for name in measuring._failures(failed, {"announced": [finding], "findings": []}, tmp_path)]

    assert told("tests/conftest.py", 2) == ["one"]
    assert told("a.py", 9) == ["one"]
    assert told("a.py", 2) == ["one", "two"]
    assert told("a.py", 9, "note") == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": 1, "b": [1, 2]}, {"a": 1, "b": [1, 2]}, []),
        ({"a": True}, {"a": 1}, ["a: true -> 1"]),
        ({"tools": [{"name": "x", "t": 1}]}, {"tools": [{"name": "x"}]}, ["tools[x].t: 1 -> nothing"]),
        ([{"name": "x"}, {"name": "y"}], [{"name": "y"}, {"name": "x"}], [": in another order"]),
        ([1], [1, 2], [": [1] -> [1, 2]"]),
    ],
    ids=["same", "other type", "lost field", "order", "length"],
)
def test_differences(before: object, after: object, expected: list[str]) -> None:
    assert list(comparing.differences(before, after)) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (b"import mcp  # why\n", b"import mcp_types  # why\n", []),
        (b"import mcp  # why\n", b"import mcp_types\n", ["a.py: comment lost: # why"]),
        (b"import mcp\r\n", b"import mcp_types\n", ["a.py: line endings"]),
        (b"\xef\xbb\xbfimport mcp\n", b"import mcp_types\n", ["a.py: byte order mark"]),
        (b"import mcp\r\n\r\n", b"import mcp_types\r\n", []),
        (b"import mcp\n", b"import mcp_types", ["a.py: end of the file"]),
        (b"# /// script\n# 'mcp<2'\n# ///\n# why\n", b"# /// script\n# 'mcp<3'\n# ///\n", ["a.py: comment lost: # why"]),
    ],
    ids=["kept", "comment", "line endings", "byte order mark", "a line less", "last line", "script"],
)
def test_faults(before: bytes, after: bytes, expected: list[str]) -> None:
    assert list(comparing.faults({"a.py": before}, {"a.py": after})) == expected


def test_both_sides_of_a_snippet_are_read_from_the_map(tmp_path: Path) -> None:
    told = tmp_path / "map.md"
    told.write_text(
        "### Area\n\n#### one-entry  —  ASSIST\n*Check:* **verified**. v1 before: runs, prints `1`; v2 after: runs, prints `2`.\n"
        "```python\n# v1\nprint(asyncio, 1)\n# v2\nprint(2)\n```\n\n#### other-entry  —  MANUAL\n*Check:* not verified.\n"
    )
    script = f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r}); import pairs, pathlib; "
    script += f"print([(p.name, p.kind, p.one, p.two, p.prints) for p in pairs.read(pathlib.Path({str(told)!r}))])"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    one = ("one-entry", "ASSIST", "import asyncio\nprint(asyncio, 1)\n", "print(2)\n", {"1": "1", "2": "2"})
    assert eval(said) == [one, ("other-entry", "MANUAL", "", "", {})]
