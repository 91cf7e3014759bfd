"""Scripts that carry their boundary inside: `fix --inline`."""

from __future__ import annotations

import json
import runpy
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sdk
from mcp_migrate import inline
from mcp_migrate.inline import Carried, join, split
from mcp_migrate.rewrite.module import Part, render
from mcp_migrate.source import Source, Span
from servers import MODERN, ROOT, Client, Hosts, Server, copy, dialogue, load, migrate, migrated, talking, texts

CLIENTS = ROOT / "tests" / "clients"
SERVERS = [server for server in load() if server.fix == "migrates" and not server.http]
NAME = inline.BOUNDARY_MODULE
MODULE = render(frozenset({Part.BOUNDARY}))
SCRIPT = """\
#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# ///
import json

from mcp_stateless import Stateless

VERSION = "1"
Message = str

# What we are.
MCP = Stateless({"name": "a", "version": VERSION}, {"tools": {}})


@MCP.boundary
def handle(message):
    return {"jsonrpc": "2.0", "id": message["id"], "result": {}}
"""

both_eras = pytest.mark.parametrize("era", ["dual", "modern"])
one_by_one = pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
# The module itself is judged beside its servers; here a plain one, one that asks its client and one with subscriptions will do.
JUDGED = [server for server in SERVERS if server.name in ("notes_chain", "board_async", "watch_writer")]


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    up = Hosts()
    yield up
    up.close()


@pytest.fixture(scope="module", params=[1, 2])
def client(request: pytest.FixtureRequest, hosts: Hosts) -> Iterator[tuple[int, Client]]:
    running = Client(sdk.python(request.param), CLIENTS / f"client_v{request.param}.py", hosts)
    yield request.param, running
    running.close()


def inlined(text: str, module: str = MODULE) -> str:
    joined = join(Source("server.py", text), {NAME: module}, {NAME: Carried(module)})
    assert joined is not None
    return joined.source.text


def parted(text: str) -> tuple[Source, Carried]:
    script, carried = split(Source("server.py", text))
    assert [*carried] == [NAME]
    return script, carried[NAME]


@pytest.mark.parametrize("parts", [{Part.BOUNDARY}, {*Part}], ids=["one", "all"])
def test_the_block_defines_what_was_imported_and_nothing_else(parts):
    text = inlined(SCRIPT, render(frozenset(parts)))
    after: dict[str, Any] = {}
    exec(compile(text, "after", "exec"), after)
    names = {"json", "VERSION", "Message", "MCP", "handle", "Stateless", "_mcp_stateless"}
    assert {name for name in after if not name.startswith("__")} == names
    assert (after["VERSION"], after["Message"]) == ("1", str)
    assert after["handle"]({"jsonrpc": "2.0", "id": 1, "method": "x"})["result"] == {}


def test_the_block_stands_behind_the_imports_before_what_uses_it():
    lines = inlined(SCRIPT).splitlines()
    begin, end = (next(n for n, line in enumerate(lines) if line.startswith(mark)) for mark in ("# [mcp_stateless]", "# [/mcp_stateless]"))
    assert lines[:begin] == [*SCRIPT.splitlines()[:5], "", 'VERSION = "1"', "Message = str", "", ""]
    assert lines[end + 1 : end + 4] == ["", "# What we are.", SCRIPT.splitlines()[12]]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_what_is_taken_apart_is_put_together_again(newline):
    text = inlined(SCRIPT.replace("\n", newline))
    script, carried = parted(text)
    assert carried.module == MODULE.replace("\n", newline)
    assert "from mcp_stateless import Stateless" in script.text
    assert "def _mcp_stateless" not in script.text
    assert join(script, {NAME: carried.module}, {NAME: carried}).source.text == text
    assert text.count("\r") == (text.count("\n") if newline == "\r\n" else 0)


def test_the_block_grows_when_the_module_gets_parts():
    script, carried = parted(inlined(SCRIPT))
    larger = render(frozenset({Part.BOUNDARY, Part.LOGGING}))
    grown = join(script, {NAME: larger}, {NAME: carried}).source
    assert parted(grown.text)[1].module == larger
    assert grown.text.count("def _mcp_stateless") == 1


def test_a_block_that_somebody_has_changed_is_no_longer_ours():
    changed = inlined(SCRIPT).replace("_REMOVED = {", "_REMOVED = {'x', ")
    script, carried = parted(changed)
    assert carried.module != MODULE
    assert join(script, {NAME: carried.module}, {NAME: carried}).source.text == changed


def test_spans_of_the_script_are_told_in_the_whole_text():
    joined = join(Source("server.py", SCRIPT), {NAME: MODULE}, {NAME: Carried(MODULE)})
    source = Source("server.py", SCRIPT)
    for word in ("json", "VERSION", "def handle"):
        start = source.utf8.index(word.encode())
        assert joined.source.slice(joined.span(Span(start, start + len(word)))) == word


@pytest.mark.parametrize(
    "text",
    [
        SCRIPT.replace("import Stateless", "import Stateless as S"),
        "try:\n    from .mcp_stateless import Stateless\nexcept ImportError:\n    from mcp_stateless import Stateless\n",
        SCRIPT + "\n\ndef later():\n    from mcp_stateless import InputRequired\n",
        SCRIPT.replace("VERSION", "_mcp_stateless"),
        "x = (\n",
        "import json\n",
    ],
    ids=["alias", "either", "second import", "taken name", "broken", "no import"],
)
def test_what_cannot_carry_its_boundary_is_left(text):
    assert join(Source("server.py", text), {NAME: MODULE}, {NAME: Carried(MODULE)}) is None


@one_by_one
@both_eras
def test_fix_writes_one_file_and_a_second_run_nothing(server: Server, era: str, tmp_path: Path) -> None:
    folder = copy(server.before, tmp_path / "server")
    done = migrate("fix", "--inline", "--era", era, ".", cwd=folder)
    first = texts(folder)
    assert first.keys() == texts(server.before).keys(), done.stdout + done.stderr
    for flags in ((), ("--inline",)):
        again = migrate("fix", *flags, "--era", era, ".", cwd=folder)
        assert texts(folder) == first, again.stdout
    checked = migrate("check", "--era", era, "--output-format", "json", ".", cwd=folder)
    assert sorted({finding["rule"] for finding in json.loads(checked.stdout)["findings"]}) == sorted(server.left.get(era, ()))


@pytest.mark.parametrize("server", JUDGED, ids=lambda server: server.name)
@both_eras
def test_clients_are_served_as_by_a_module_beside(server: Server, era: str, tmp_path: Path, client: tuple[int, Client]) -> None:
    major, one = client
    beside = migrated(server, era).folder
    inside = copy(server.before, tmp_path / "inside")
    migrate("fix", "--inline", "--era", era, ".", cwd=inside)
    if major == 2:
        report = one.session(server, inside, mode=MODERN)
        assert report["version"] == MODERN
        assert report == one.session(server, beside, mode=MODERN)
    elif era == "dual":
        assert one.session(server, inside) == one.session(server, server.before)
        assert dialogue(server, inside) == dialogue(server, server.before)
    else:
        with talking(server, inside) as wire:
            assert "error" in wire.ask("tools/list", {}, meta=None)


def test_findings_stand_where_they_are_in_the_whole_script(tmp_path: Path) -> None:
    folder = copy(ROOT / "fixtures/servers/notes_chain/before", tmp_path / "server")
    migrate("fix", "--inline", ".", cwd=folder)
    file = folder / "server.py"
    file.write_text(file.read_text() + "\n\nHEALTH = 1  # mcp-migrate: ignore[MCP103]\n")
    (found,) = json.loads(migrate("check", "--output-format", "json", ".", cwd=folder).stdout)["findings"]
    assert (found["rule"], found["line"]) == ("MCP001", len(file.read_text().splitlines()))
    shown = migrate("check", ".", cwd=folder).stdout
    assert f"{found['line']} | HEALTH = 1" in shown


def test_a_script_on_standard_input_can_carry_its_boundary() -> None:
    text = (ROOT / "fixtures/servers/notes_chain/before/server.py").read_text()
    done = migrate("fix", "--inline", "-", cwd=ROOT, given=text)
    assert "\n@MCP.boundary\n" in done.stdout
    assert "# [mcp_stateless]" in done.stdout


def test_it_can_be_a_setting(tmp_path: Path) -> None:
    folder = copy(ROOT / "fixtures/servers/notes_chain/before", tmp_path / "server")
    (folder / ".mcp-migrate.toml").write_text("inline = true\n")
    migrate("fix", ".", cwd=folder)
    assert not (folder / inline.BOUNDARY_MODULE).exists()
    assert "# [mcp_stateless]" in (folder / "server.py").read_text()
    migrate("fix", "--no-inline", ".", cwd=folder)
    assert not (folder / inline.BOUNDARY_MODULE).exists(), "what is inside stays there"


def test_servers_that_share_a_module_keep_it_where_one_cannot_carry_it(tmp_path: Path) -> None:
    source = ROOT / "fixtures/servers/notes_chain/before/server.py"
    for name in ("one.py", "other.py"):
        (tmp_path / name).write_text(source.read_text())
    migrate("fix", "--inline", ".", cwd=tmp_path)
    assert sorted(texts(tmp_path)) == ["one.py", "other.py"]
    assert all(text.count("def _mcp_stateless") == 1 for text in texts(tmp_path).values())
    (tmp_path / "third.py").write_text(source.read_text().replace("import json\n", "import json\n_mcp_stateless = None\n"))
    done = migrate("fix", "--inline", ".", cwd=tmp_path)
    assert "not inside: mcp_stateless.py" in done.stdout
    assert sorted(texts(tmp_path)) == ["mcp_stateless.py", "one.py", "other.py", "third.py"]


LOW_LEVEL = """\
# /// script
# dependencies = ["mcp>=1.9"]
# ///
import asyncio

from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.types import TextContent, Tool

server = Server("notes")


@server.list_tools()
async def list_tools() -> list[Tool]:
    return [Tool(name="echo", inputSchema={"type": "object", "required": ["text"]})]


@server.call_tool()
async def call_tool(name: str, arguments: dict) -> list[TextContent]:
    return [TextContent(type="text", text=arguments["text"])]


async def main() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
"""
ASKING = """\
from mcp.server.fastmcp import Context, FastMCP
from pydantic import BaseModel

mcp = FastMCP("desk")


class Yes(BaseModel):
    yes: bool


@mcp.tool()
async def book(day: str, ctx: Context) -> str:
    reply = await ctx.elicit(f"Book {day}?", Yes)
    if reply.action != "accept":
        return "no"
    again = await ctx.elicit(f"Surely {day}?", Yes)
    return again.action
"""
CONNECTING = """\
from mcp.client.streamable_http import streamablehttp_client

open_stream = streamablehttp_client
"""
CALLS = """
import asyncio, runpy, sys, mcp
from mcp import types
names = runpy.run_path(sys.argv[1])
async def answer(context, params):
    return types.ElicitResult(action="accept", content={"yes": True})
async def main():
    for mode in ("legacy", "auto"):
        async with mcp.Client(names[sys.argv[2]], elicitation_callback=answer, mode=mode) as client:
            for arguments in ({"text": "a", "day": "Monday"}, {}):
                print((await client.call_tool(sys.argv[3], arguments)).content[0].text)
asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("text", "module", "call", "told"),
    [
        (LOW_LEVEL, "mcp_handlers", ("server", "echo"), "a\nInput validation error: 'text' is a required property\n"),
        (ASKING, "mcp_questions", ("mcp", "book"), "accept\n"),
        (CONNECTING, "mcp_http", (), ""),
    ],
    ids=["handlers", "questions", "connections"],
)
def test_a_script_on_the_sdk_carries_what_it_needs(text: str, module: str, call: tuple[str, ...], told: str, tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(text)
    migrate("fix", "--inline", ".", cwd=tmp_path)
    first = script.read_text()
    assert [*texts(tmp_path)] == ["server.py"]
    assert first.count(f"def _{module}():") == 1
    assert f"import {module}\n" not in first
    for flags in ((), ("--inline",)):
        again = migrate("fix", *flags, ".", cwd=tmp_path)
        assert texts(tmp_path) == {"server.py": first}, again.stdout
    code = CALLS if call else "import runpy, sys\nassert callable(runpy.run_path(sys.argv[1])['open_stream'])"
    done = subprocess.run([sdk.python(2), "-W", "ignore", "-c", code, str(script), *call], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(told.splitlines()[0] if told else "") >= 1
    for line in told.splitlines():
        assert done.stdout.count(f"{line}\n") == 2, done.stdout


def test_a_block_of_handlers_grows_with_the_script(tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    script.write_text(LOW_LEVEL)
    migrate("fix", "--inline", ".", cwd=tmp_path)
    more = "@server.list_prompts()\nasync def list_prompts():\n    return []\n\n\nasync def main()"
    script.write_text(script.read_text().replace("async def main()", more))
    migrate("fix", ".", cwd=tmp_path)
    assert [*texts(tmp_path)] == ["server.py"]
    assert "parts: tools prompts;" in script.read_text()
    assert script.read_text().count("def _mcp_handlers():") == 1


def test_what_several_files_share_is_no_part_of_one(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(LOW_LEVEL)
    (tmp_path / "more.py").write_text(
        "from mcp.types import Prompt\nfrom server import server\n\n\n@server.list_prompts()\nasync def list_prompts() -> list[Prompt]:\n    return []\n"
    )
    done = migrate("fix", "--inline", ".", cwd=tmp_path)
    assert sorted(texts(tmp_path)) == ["mcp_handlers.py", "more.py", "server.py"]
    assert "not inside: mcp_handlers.py is shared by 2 files" in done.stdout


def test_a_script_on_standard_input_can_carry_what_it_needs_of_the_sdk() -> None:
    done = migrate("fix", "--inline", "-", cwd=ROOT, given=LOW_LEVEL)
    assert done.stdout.count("def _mcp_handlers():") == 1
    alone = migrate("fix", "-", cwd=ROOT, given=LOW_LEVEL)
    assert "mcp_handlers" not in alone.stdout
    assert "mcp_handlers.py cannot be written beside standard input" in alone.stderr


@pytest.mark.parametrize("name", ["plain_functions", "pipe_methods", "urllib_messages"])
def test_a_client_carries_its_boundary(name: str, tmp_path: Path) -> None:
    script = tmp_path / "client.py"
    script.write_text((ROOT / "fixtures" / "clients" / name / "before.py").read_text())
    migrate("fix", "--inline", ".", cwd=tmp_path)
    first = script.read_text()
    assert [*texts(tmp_path)] == ["client.py"]
    assert first.count("def _mcp_stateless_client():") == 1
    assert callable(runpy.run_path(str(script), run_name="client")["Era"])
    migrate("fix", ".", cwd=tmp_path)
    assert texts(tmp_path) == {"client.py": first}
