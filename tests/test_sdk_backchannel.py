"""Servers that ask their client give the same answers after `fix`: to clients of version 1, and to those of version 2 in both ways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sdk
import warm
from fixture_cases import FIXTURES, plain
from mcp_migrate import catalog, engine
from mcp_migrate.project import Project, read
from mcp_migrate.rewrite import module
from mcp_migrate.source import Source

CATALOG = catalog.load()
ANSWERS = ["accept", "decline", "cancel"]
CLIENT = r"""
import asyncio, json, logging, os, sys, warnings
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
from mcp import types

calls, answers, ways = json.loads(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3].split()
content = {"accept": {"sure": True, "go_ahead": True, "day": "monday"}}
answer = ""

async def elicit(ctx, params):
    return types.ElicitResult(action=answer, content=content.get(answer))

async def sample(ctx, params):
    text = f"about {params.messages[0].content.text}"
    return types.CreateMessageResult(role="assistant", content=types.TextContent(type="text", text=text), model="m")

async def roots(ctx):
    return types.ListRootsResult(roots=[types.Root(uri="file:///r")])

def callbacks():
    return {} if answer == "none" else dict(elicitation_callback=elicit, sampling_callback=sample, list_roots_callback=roots)

def shown(result):
    failed = getattr(result, "isError", None) or getattr(result, "is_error", None)
    return [bool(failed), [part.text for part in result.content]]

async def told(session):
    found = []
    for kind, name, arguments in calls:
        try:
            if kind == "tool":
                found.append(shown(await session.call_tool(name, arguments)))
            else:
                found.append([False, [one.content.text for one in (await session.get_prompt(name, arguments)).messages]])
        except Exception as error:
            found.append([True, [type(error).__name__, getattr(error, "code", None) or getattr(getattr(error, "error", None), "code", None)]])
    listed = await session.list_tools()
    return {"answers": found, "tools": {tool.name: sorted((getattr(tool, "inputSchema", None) or tool.input_schema)["properties"]) for tool in listed.tools}}

async def old(target):
    from mcp.shared.memory import create_connected_server_and_client_session
    async with create_connected_server_and_client_session(target, **callbacks()) as session:
        return await told(session)

async def old_over_stdio(python):
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    async with stdio_client(StdioServerParameters(command=python, args=["-W", "ignore", "run.py"]), errlog=open(os.devnull, "w")) as (read, write):
        async with ClientSession(read, write, **callbacks()) as session:
            await session.initialize()
            return await told(session)

async def new(target, mode):
    from mcp import Client
    async with Client(target, mode=mode, **callbacks()) as session:
        return await told(session)

async def main(how):
    if how == "old":
        import server
        return await old(getattr(server, "mcp", None) or server.server)
    if how == "old-stdio":
        return await old_over_stdio(sys.argv[4])
    if how.endswith("-stdio"):
        from mcp import StdioServerParameters
        from mcp.client.stdio import stdio_client
        target = stdio_client(StdioServerParameters(command=sys.executable, args=["-W", "ignore", "run.py"]), errlog=open(os.devnull, "w"))
        return await new(target, how.removesuffix("-stdio"))
    import server
    return await new(getattr(server, "mcp", None) or server.server, how)

found = {}
for how in ways:
    found[how] = {}
    for answer in answers:
        found[how][answer] = asyncio.run(main(how))
print(json.dumps(found))
"""
RUN = """\
import server
server.mcp.run()
"""
CASES: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
    "first_of_all": [("tool", "book", {"date": "monday"}), ("tool", "book", {"date": "friday", "people": 5})],
    "refused_before": [("tool", "delete", {"path": "/tmp/x/"}), ("tool", "delete", {"path": "/etc/"}), ("tool", "delete", {})],
    "sampling": [("tool", "poem", {"topic": "rain"})],
    "roots": [("tool", "folders", {})],
    "asked_by_a_function": [("tool", "drop", {"name": "roads"}), ("tool", "clear", {})],
    "several_questions": [("tool", "plan", {"city": "Rome"})],
    "work_first": [("tool", "order", {"item": "pen"}), ("prompt", "choose", {"item": "pen"})],
    "another_module": [("tool", "delete", {"path": "/nowhere/at/all"})],
    "written_before": [("tool", "write", {"title": "rain"}), ("tool", "research", {"topic": "snow"})],
    "in_a_loop": [("tool", "delete", {"names": ["a", "b", "c"]})],
    "on_one_day_only": [("tool", "book", {"date": "monday"}), ("tool", "book", {"date": "friday"})],
    "low_level": [("tool", "roots", {})],
}
# What is done before a question is done again, or a loop may ask too often: a human has to look. The others are rewritten as they are.
UNSAFE = ["work_first", "another_module", "in_a_loop"]
OVER_STDIO = ["refused_before", "several_questions"]


@pytest.mark.parametrize("case", CASES)
def test_all_clients_get_what_version_1_has_answered(case: str, tmp_path: Path) -> None:
    before, after = written(case, tmp_path)
    expected = ask(1, before, case, ANSWERS, "old")["old"]
    for mode, told in ask(2, after, case, [*ANSWERS, "none"], "legacy auto").items():
        none = told.pop("none")["answers"][0]
        assert same(told) == same(expected), mode
        assert none[0], "who cannot be asked gets an error"
        assert case in ("low_level", *UNSAFE) or mode == "legacy" or none[1] == ["MCPError", -32021]


@pytest.mark.parametrize("case", OVER_STDIO)
def test_a_process_answers_clients_of_both_versions(case: str, tmp_path: Path) -> None:
    before, after = written(case, tmp_path)
    for folder in (before, after):
        (folder / "run.py").write_text(RUN)
    answers = ["accept", "decline"]
    expected = ask(1, before, case, answers, "old-stdio", str(sdk.python(1)))["old-stdio"]
    assert same(ask(1, after, case, answers, "old-stdio", str(sdk.python(2)))["old-stdio"]) == same(expected)
    for mode, told in ask(2, after, case, answers, "legacy-stdio auto-stdio").items():
        assert same(told) == same(expected), mode


def test_those_that_listen_hear_of_changes(tmp_path: Path) -> None:
    _, after = written("in_tools", tmp_path, rule="unheard_change")
    script = """
import asyncio, json, logging, warnings
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
from mcp import Client
import server

async def main():
    heard = []
    async with Client(server.mcp) as client:
        async with client.listen(tools_list_changed=True, resource_subscriptions=["note://a"]) as stream:
            await client.call_tool("add", {"name": "a"})
            async for event in stream:
                heard.append(type(event).__name__)
                if len(heard) == 2:
                    break
    return heard

print(json.dumps(asyncio.run(asyncio.wait_for(main(), 20))))
"""
    assert json.loads(run(2, after, "-c", script)) == ["ToolsListChanged", "ResourceUpdated"]


def test_the_module_is_that_of_the_package() -> None:
    text = module.questions()
    assert "def asks(" in text
    assert "def asker(" in text
    compile(text, "mcp_questions.py", "exec")


def written(case: str, folder: Path, rule: str = "server_question") -> tuple[Path, Path]:
    """A case as it is, and as `fix` makes it, each in a folder of its own."""
    source = FIXTURES / "mcp2" / rule / case
    files = sorted((source / "before").glob("*.py")) if (source / "before").is_dir() else [source / "before.py"]
    texts = {path.name if path.parent.name == "before" else "server.py": plain(path.read_text(encoding="utf-8")) for path in files}
    fixed = engine.fix(Project.link(read(Source(path, text)) for path, text in texts.items()), CATALOG, unsafe=case in UNSAFE)
    before, after = folder / "before", folder / "after"
    for home, made in (
        (before, texts),
        (after, {**{path: file.source.text for path, file in fixed.project.files.items()}, **fixed.created}),
    ):
        home.mkdir()
        for path, text in made.items():
            (home / path).write_text(text, encoding="utf-8")
    return before, after


def ask(major: int, folder: Path, case: str, answers: list[str], ways: str, *more: str) -> dict[str, Any]:
    """What a client is told by a server in each way that it speaks, by what its user answers."""
    found = run(major, folder, "-c", CLIENT, json.dumps(CASES[case]), json.dumps(answers), ways, *more)
    return json.loads(found)  # type: ignore[no-any-return]


def same(told: dict[str, Any]) -> dict[str, Any]:
    """Without the texts of errors, which name what validates arguments."""
    return {
        answer: {**found, "answers": [[failed, [] if failed else texts] for failed, texts in found["answers"]]}
        for answer, found in told.items()
    }


def run(major: int, folder: Path, *argv: str) -> str:
    done = warm.run(sdk.python(major), "-W", "ignore", *argv, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip().splitlines()[-1]
