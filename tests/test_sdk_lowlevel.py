"""Low-level servers answer the same before and after: under version 1, and fixed under version 2, with the clients of both."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import sdk
import warm
from mcp_migrate import catalog, engine
from mcp_migrate.project import Project, read
from mcp_migrate.rule import Applicability, Severity
from mcp_migrate.source import Source

HERE = Path(__file__).parent / "lowlevel"
SERVERS = ["notes", "shapes self", "shapes derived", "shapes tables"]


def fixed(name: str, folder: Path) -> engine.Fixed:
    """Writes a server as `fix` leaves it, with what lies beside it."""
    project = Project.link([read(Source(f"{name}.py", (HERE / f"{name}.py").read_text(encoding="utf-8")))])
    done = engine.fix(project, catalog.load(), select=["mcp2"])
    for path, text in {**done.texts, **done.created}.items():
        (folder / path).write_text(text, encoding="utf-8")
    return done


def asked(mode: str, server: Path, *arguments: str, major: int) -> dict[str, Any]:
    """What a client of a mode hears from a server that runs under a major of the SDK."""
    client = sdk.python(1 if mode == "v1" else 2)
    argv = [HERE / "ask.py", mode, sdk.python(major), server, *arguments]
    done = warm.run(client, *argv, cwd=HERE, timeout=180, env={**os.environ, "PYTHONWARNINGS": "ignore"})
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], dict[str, Any]]:
    """All answers, by server and by who asks; `before` is version 1 on both sides."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for server in SERVERS:
        name, *arguments = server.split()
        folder = tmp_path_factory.mktemp(name)
        fixed(name, folder)
        found[server, "before"] = asked("v1", HERE / f"{name}.py", *arguments, major=1)
        for mode in ("v1", "legacy", "auto"):
            found[server, mode] = asked(mode, folder / f"{name}.py", *arguments, major=2)
    return found


@pytest.mark.parametrize("name", ["notes", "shapes"])
def test_everything_that_breaks_is_fixed(name: str, tmp_path: Path) -> None:
    done = fixed(name, tmp_path)
    assert done.dropped == ()
    left = [finding for finding in done.remaining if finding.severity is Severity.ERROR]
    assert [finding.message for finding in left if finding.applicability is not Applicability.MANUAL] == []
    again = engine.fix(done.project, catalog.load(), select=["mcp2"])
    assert (again.texts, again.created) == ({}, {})


@pytest.mark.parametrize("mode", ["v1", "legacy"])
@pytest.mark.parametrize("server", SERVERS)
def test_older_clients_hear_what_they_heard(heard: dict[tuple[str, str], dict[str, Any]], server: str, mode: str) -> None:
    before, after = heard[server, "before"], heard[server, mode]
    assert after["answers"] == {name: of_version_2(name, answer) for name, answer in before["answers"].items()}
    assert after["notes"] == before["notes"]
    assert after["start"]["serverInfo"] == before["start"]["serverInfo"]
    assert after["start"].get("instructions") == before["start"].get("instructions")
    capabilities = copy.deepcopy(before["start"]["capabilities"])
    # What version 2 says otherwise: it does not spell an empty dict, and tells of subscriptions.
    del capabilities["experimental"]
    if server == "notes":
        capabilities["resources"]["subscribe"] = True
    assert after["start"]["capabilities"] == capabilities


@pytest.mark.parametrize("server", SERVERS)
def test_clients_of_the_new_revision_hear_the_same_with_codes_that_they_know(
    heard: dict[tuple[str, str], dict[str, Any]], server: str
) -> None:
    before, after = heard[server, "before"]["answers"], heard[server, "auto"]["answers"]
    assert after.keys() <= before.keys()
    for name, answer in after.items():
        if name in ("seen", "works"):
            continue
        wanted = of_version_2(name, before[name])
        if "error" in wanted and wanted["error"][0] == 0:
            wanted = {"error": [-32602, *wanted["error"][1:]]}
        assert answer == wanted, name


def test_clients_of_the_new_revision_listen_for_updates(heard: dict[tuple[str, str], dict[str, Any]]) -> None:
    after = heard["notes", "auto"]
    # Log messages go to requests that ask for them only.
    assert after["notes"] == [["progress", 0.5, 1.0, "half"], ["heard", "ResourceUpdated", "note://a"]]
    assert json.loads(after["answers"]["seen"]["content"][0]["text"]) == [[], "info", ["note://a"]]


def of_version_2(name: str, answer: dict[str, Any]) -> dict[str, Any]:
    """What was answered, with what no server decides: the code for methods that it does not have."""
    if answer == {"error": [-32601, "Method not found", None]}:
        kind = {"prompts": "prompts/list", "more": "prompts/list", "prompt": "prompts/get", "resources": "resources/list"}
        kind |= {"templates": "resources/templates/list", "read": "resources/read", "complete": "completion/complete"}
        return {"error": [-32601, "Method not found", kind[name.split()[0]]]}
    return answer


@pytest.mark.parametrize(
    "parts",
    [
        "tools",
        "prompts",
        "resources",
        "completion",
        "logging",
        "subscriptions",
        "progress",
        "request_handler",
        "notification_handler",
        "answering",
        "listening",
        "tools prompts listening answering",
    ],
)
def test_every_part_of_the_module_stands_alone(parts: str, tmp_path: Path) -> None:
    from mcp_migrate.rewrite import adapters, module, written

    text = module.handlers(parts.split())
    assert written.parts(text) == tuple(part for part in module.HANDLER_PARTS if part in parts.split())
    (tmp_path / adapters.FILE_NAME).write_text(text, encoding="utf-8")
    ruff = subprocess.run([sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F", tmp_path], capture_output=True, text=True)
    assert ruff.returncode == 0, ruff.stdout
    done = warm.run(sdk.python(2), "-c", "import mcp_handlers", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_module_has_the_types_of_the_sdk(tmp_path: Path) -> None:
    from mcp_migrate.rewrite import adapters, module

    (tmp_path / adapters.FILE_NAME).write_text(module.handlers({*module.HANDLER_PARTS} - {"both"}), encoding="utf-8")
    (tmp_path / "server.py").write_text(
        "from mcp import types\nfrom mcp.server import Server\n\nimport mcp_handlers\n\nserver = Server('s')\n\n\n"
        "@mcp_handlers.list_tools(server)\nasync def tools() -> list[types.Tool]:\n    return []\n\n\n"
        "async def main() -> None:\n    found: list[types.Tool] = await tools()\n    print(found)\n"
    )
    argv = [sys.executable, "-m", "mypy", "--strict", "--disable-error-code=import-untyped", f"--python-executable={sdk.python(2)}"]
    done = subprocess.run([*argv, "server.py", adapters.FILE_NAME], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("major", [1, 2])
def test_the_methods_of_requests_are_those_of_the_sdk(major: int) -> None:
    from mcp_migrate.rewrite import adapters

    code = "import json, mcp.types as t; print(json.dumps({n: getattr(t, n).model_fields['method'].default for n in %r}))"
    argv = [sdk.python(major), "-c", code % [*adapters.METHODS]]
    told = json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)
    if major == 2:
        assert told == adapters.METHODS
    else:  # version 1 has no defaults for some
        assert all(method in (None, adapters.METHODS[name]) or not isinstance(method, str) for name, method in told.items())


@pytest.mark.parametrize(("major", "there"), [(1, True), (2, False)])
def test_the_decorators_are_those_of_version_1(major: int, there: bool) -> None:
    from mcp_migrate.rewrite import adapters

    names = [*adapters.DECORATORS, *adapters.TABLES, "request_context"]
    code = f"from mcp.server import Server; s = Server('s'); print([n for n in {names!r} if hasattr(type(s), n) or n in vars(s)])"
    found = subprocess.run([sdk.python(major), "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == repr(names if there else [])


REFUSING = """
from mcp import Client, MCPError, types
from mcp.server import Server
import asyncio
import mcp_handlers

server = Server("refusing", version="1")


@mcp_handlers.call_tool(server)
async def refuse(name, arguments):
    raise MCPError(arguments["code"], "refused")


async def main():
    async with Client(server) as client:
        for code in (types.INVALID_PARAMS, types.MISSING_REQUIRED_CLIENT_CAPABILITY):
            try:
                print((await client.call_tool("refuse", {"code": code})).is_error)
            except MCPError as error:
                print(error.error.code)


asyncio.run(main())
"""


def test_a_client_hears_of_what_it_lacks_and_the_model_of_the_rest(tmp_path: Path) -> None:
    from mcp_migrate.rewrite import adapters, module

    (tmp_path / adapters.FILE_NAME).write_text(module.handlers(["tools"]), encoding="utf-8")
    done = subprocess.run([sdk.python(2), "-c", REFUSING], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "-32021"], done.stderr
