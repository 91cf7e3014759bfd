"""What `fix` makes of tools of the standalone `fastmcp` that ask: clients of both eras are asked on release 4, and answered alike."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sdk
import servers

SERVER = '''"""Books tables."""

from fastmcp import Context, FastMCP
from pydantic import BaseModel

mcp = FastMCP("desk")
RUNS = []


class Guest(BaseModel):
    name: str
    seats: int = 1


@mcp.tool
async def book(date: str, ctx: Context) -> str:
    """Book a table."""
    sure = await ctx.elicit(f"Book {date}?", response_type=bool)
    if sure.action != "accept" or not sure.data:
        return f"not booked: {sure.action}"
    guest = await ctx.elicit("For whom?", Guest)
    where = await ctx.elicit("Where?", response_type=["in", "out"])
    RUNS.append(date)
    return f"{date}: {guest.data}, {where.data}"
'''
ASK = """
import asyncio, json, logging, os, sys
os.environ["FASTMCP_CHECK_FOR_UPDATES"] = "off"
import fastmcp
logging.disable(logging.CRITICAL)
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
import server


async def told(mode, answers):
    left, asked = list(answers), []

    async def answer(message, response_type, params, context):
        one = left.pop(0)
        asked.append(message)
        return ElicitResult(action=one) if isinstance(one, str) else ElicitResult(action="accept", content=one)

    async with Client(server.mcp, mode=mode, **({"elicitation_handler": answer} if answers else {})) as client:
        [tool] = await client.list_tools()
        result = await client.call_tool("book", {"date": "Monday"}, raise_on_error=False)
        return [result.is_error, result.content[0].text, asked, tool.output_schema, len(server.RUNS)]


async def main():
    for answers in json.loads(sys.argv[1]):
        print(json.dumps([await told(mode, answers) for mode in ("legacy", "auto")]))


asyncio.run(main())
"""
ANSWERS: list[list[Any]] = [
    [{"value": True}, {"name": "Ann", "seats": 2}, {"value": "out"}],
    [{"value": False}],
    ["decline"],
    ["cancel"],
    [],
]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What a client of each era is told, for each series of answers."""
    folder: Path = tmp_path_factory.mktemp("desk")
    (folder / "server.py").write_text(SERVER)
    (folder / "pyproject.toml").write_text('[project]\nname = "desk"\nversion = "1"\ndependencies = ["fastmcp>=2.14,<3"]\n')
    assert servers.migrate("fix", ".", cwd=folder).returncode == 0
    assert (folder / "mcp_rounds.py").exists()
    (folder / "ask.py").write_text(ASK)
    argv = [str(sdk.fastmcp(4)), "-W", "error::RuntimeWarning", "ask.py", json.dumps(ANSWERS)]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_clients_of_both_eras_are_asked_the_same(told: list[Any]) -> None:
    questions = ["Book Monday?", "For whom?", "Where?"]
    assert [[asked for _, _, asked, *_ in both] for both in told] == [[questions[: len(answers)]] * 2 for answers in ANSWERS]


def test_their_answers_make_the_same_result(told: list[Any]) -> None:
    texts = ["Monday: name='Ann' seats=2, out", "not booked: accept", "not booked: decline", "not booked: cancel"]
    assert [[[error, text] for error, text, *_ in both] for both in told[:4]] == [[[False, text]] * 2 for text in texts]
    assert all(schema["properties"] == {"result": {"type": "string"}} for both in told for _, _, _, schema, _ in both)


def test_what_comes_after_the_last_answer_runs_once(told: list[Any]) -> None:
    assert [[runs for *_, runs in both] for both in told] == [[1, 2], *[[2, 2]] * 4]


def test_who_cannot_be_asked_gets_an_error(told: list[Any]) -> None:
    assert [error for error, *_ in told[4]] == [True, True]
    assert "cannot be asked" in told[4][1][1]


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    assert servers.migrate("fix", ".", cwd=tmp_path).returncode == 0
    first = {path.name: path.read_text() for path in tmp_path.glob("*.py")}
    assert servers.migrate("fix", ".", cwd=tmp_path).returncode == 0
    assert {path.name: path.read_text() for path in tmp_path.glob("*.py")} == first


CALLED = '''"""Deletes what its user agrees to."""

from fastmcp import Context, FastMCP

mcp = FastMCP("called")
DELETED = []


@mcp.tool
async def confirm(ctx: Context) -> str:
    answer = await ctx.elicit("Really?", response_type=bool)
    if answer.action != "accept" or not answer.data:
        raise PermissionError("refused")
    return "agreed"


@mcp.tool
async def purge(ctx: Context) -> str:
    await confirm(ctx)
    DELETED.append("all")
    return "deleted"


@mcp.tool
async def wipe(ctx: Context) -> str:
    await getattr(confirm, "fn", confirm)(ctx)
    DELETED.append("all")
    return "deleted"
'''
CALL = """
import asyncio, json, logging, os
os.environ["FASTMCP_CHECK_FOR_UPDATES"] = "off"
import fastmcp
logging.disable(logging.CRITICAL)
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
import server


async def refuse(message, response_type, params, context):
    return ElicitResult(action="decline")


async def main():
    for mode in ("legacy", "auto"):
        for name in ("purge", "wipe"):
            async with Client(server.mcp, mode=mode, elicitation_handler=refuse) as client:
                result = await client.call_tool(name, {}, raise_on_error=False)
                print(json.dumps([result.is_error, server.DELETED]))


asyncio.run(main())
"""


def test_a_tool_that_others_call_lets_nothing_go_on_without_an_answer(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(CALLED)
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "desk"\nversion = "1"\ndependencies = ["fastmcp>=2.14,<3"]\n')
    left = servers.migrate("fix", ".", cwd=tmp_path)
    assert "MCP614" in left.stdout + left.stderr
    (tmp_path / "call.py").write_text(CALL)
    done = subprocess.run([str(sdk.fastmcp(4)), "call.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == [[True, []]] * 4


GROUPED = """from {package} import Context, FastMCP
from pydantic import BaseModel

mcp = FastMCP("grouped")


class Sure(BaseModel):
    sure: bool


@mcp.tool()
async def delete(ctx: Context) -> str:
    try:
        await ctx.elicit("Really?", Sure)
    except{star} BaseException:
        pass
    return "deleted"
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="`except*` is a form of Python 3.11")
@pytest.mark.parametrize("star", ["", "*"])
@pytest.mark.parametrize("package", ["fastmcp", "mcp.server.fastmcp"])
def test_a_question_stays_where_its_handler_may_catch_what_leaves_the_tool(tmp_path: Path, package: str, star: str) -> None:
    (tmp_path / "server.py").write_text(GROUPED.format(package=package, star=star))
    left = servers.migrate("fix", ".", "--unsafe-fixes", cwd=tmp_path)
    assert "await ctx.elicit(" in (tmp_path / "server.py").read_text()
    assert ("MCP614" if package == "fastmcp" else "MCP585") in left.stdout + left.stderr
