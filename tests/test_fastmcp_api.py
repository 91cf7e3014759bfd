"""What the rules say of the standalone package, held against what its installed releases define."""

from __future__ import annotations

import functools
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sdk
from mcp_migrate import catalog
from mcp_migrate.facts.versions import Version
from mcp_migrate.rule import Entry

ROOT = Path(__file__).parent.parent
TABLE: dict[str, Any] = json.loads((ROOT / "rules/fastmcp4/api.json").read_text(encoding="utf-8"))
OLD = ("2", "3")
DATA = catalog.load().entries[0].data


def entry(name: str) -> Entry:
    found = catalog.load().rule(name)
    assert found is not None
    return found


def parameters(major: str, name: str) -> list[str] | None:
    """The parameters of a function, a method or a constructor in one release."""
    table = TABLE[major]
    if name in table["signatures"]:
        return list(table["signatures"][name])
    if name in table["classes"]:
        own = [name, *table["classes"][name]["bases"]]
        return next((list(found) for one in own if (found := table["classes"].get(one, {}).get("parameters"))), None)
    cls, _, method = name.rpartition(".")
    for base in (cls, *table["classes"].get(cls, {}).get("bases", ())):
        if f"{base}.{method}" in table["signatures"]:
            return list(table["signatures"][f"{base}.{method}"])
    return None


def members(major: str, name: str) -> set[str]:
    table = TABLE[major]["classes"]
    own = [name, *table.get(name, {}).get("bases", ())]
    return {member for one in own for kind in ("fields", "methods") for member in table.get(one, {}).get(kind, ())}


def changes() -> Iterator[tuple[str, str, str]]:
    for key in entry("standalone_argument").match["Standalone"]:
        for change in entry("standalone_argument").data.get(key, ()):
            left, arrow, new = change.partition("->")
            yield key, left.split()[0], new.strip() if arrow else ""


# What no release that is known here had: it was given up before, or taken with `**`.
UNKNOWN = {
    ("fastmcp.FastMCP", "dependencies"),
    ("fastmcp.FastMCP.from_openapi", "timeout"),
    ("fastmcp.FastMCP.from_fastapi", "timeout"),
    ("fastmcp.FastMCP.tool", "serializer"),
    ("fastmcp.server.providers.proxy.FastMCPProxy", "client"),
    ("fastmcp.server.providers.OpenAPIProvider", "timeout"),
    ("fastmcp.tools.tool", "enabled"),
}


@pytest.mark.parametrize(("key", "old", "new"), [*changes()])
def test_an_argument_that_is_renamed_or_gone_is_so(key: str, old: str, new: str) -> None:
    had = [found for major in OLD if (found := parameters(major, key)) is not None]
    has = parameters("4", key)
    assert has is not None, key
    assert old not in has
    assert any(old in found for found in had) != ((key, old) in UNKNOWN)
    assert not new or new in has


@pytest.mark.parametrize("key", [*entry("removed_part").match["Standalone"]])
def test_a_part_that_is_gone_is_so(key: str) -> None:
    cls, _, name = key.rpartition(".")
    if name in ("enable", "disable"):  # they are there to say so
        assert any(name in members(major, cls) for major in OLD)
        return
    private = name.endswith("_mcp") or name.startswith("_mcp_") or name in ("_deprecated_settings", "_mounted_servers")  # no table has them
    assert any(name in members(major, cls) for major in OLD) or private
    assert name not in members("4", cls)


@pytest.mark.parametrize("line", [*entry("standalone_name").data["modules"]])
def test_a_module_that_has_moved_is_where_the_rule_says(line: str) -> None:
    old, _, new = line.partition(" -> ")
    assert any(old in TABLE[major]["modules"] for major in OLD)
    assert old not in TABLE["4"]["modules"]
    assert new in TABLE["4"]["modules"]


@pytest.mark.parametrize("line", [*entry("standalone_name").data["names"], *entry("standalone_name").data["earlier"]])
def test_a_name_that_has_moved_is_where_the_rule_says(line: str) -> None:
    old, _, new = line.partition(" ->")
    module, _, name = old.rpartition(".")
    assert name not in TABLE["4"]["modules"].get(module, {})
    if new.strip().startswith("fastmcp.") and "OpenAI" not in new:
        module, _, name = new.strip().rpartition(".")
        assert name in TABLE["4"]["modules"][module]


@pytest.mark.parametrize("kind", ["http", "sse", "app"])
def test_what_runs_a_server_takes_the_options_that_it_is_given(kind: str) -> None:
    taken = parameters("4", "fastmcp.FastMCP.http_app" if kind == "app" else "fastmcp.FastMCP.run_http_async")
    assert taken is not None
    for pair in entry("constructor_transport").data[kind]:
        assert pair.split(" -> ")[1] in taken


def test_the_options_are_those_of_the_older_constructor() -> None:
    had, has = parameters("2", "fastmcp.FastMCP"), parameters("4", "fastmcp.FastMCP")
    assert had is not None
    assert has is not None
    told = {*entry("constructor_transport").data["options"]}
    told |= {line.split()[0] for line in entry("standalone_argument").data["fastmcp.FastMCP"]}
    told |= {"on_duplicate_tools", "on_duplicate_resources", "on_duplicate_prompts"}
    assert {*had} - {*has} <= told


@functools.cache
def metadata(major: int) -> dict[str, Any]:
    ask = (
        "import importlib.metadata as m, json; d = [m.distribution(n) for n in ('fastmcp', 'fastmcp-slim') if n in "
        "{x.metadata['Name'] for x in m.distributions()}]; "
        "print(json.dumps({'version': d[0].version, 'python': d[0].metadata['Requires-Python'], 'requires': sum((x.requires for x in d), []),"
        " 'installed': sorted({x.metadata['Name'].lower().replace('_', '-') for x in m.distributions()})}))"
    )
    done = subprocess.run([sdk.fastmcp(major), "-W", "ignore", "-c", ask], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_what_is_asked_for_is_the_major_that_the_rules_were_checked_with() -> None:
    wanted, end, low = DATA["standalone"]
    assert wanted == f">={low.partition('.')[0]},<5"
    assert metadata(4)["version"].startswith(f"{low}.")
    assert Version(metadata(3)["version"]) < Version(end) <= Version("4.0a1")
    assert metadata(4)["python"] == f">={DATA['python_of_fastmcp'][0]}"


def test_the_floors_are_those_of_the_metadata() -> None:
    asked = {found[1]: found[2] for line in metadata(4)["requires"] if (found := re.match(r"([\w-]+)(?:\[[^\]]*\])?>=([\d.]+)", line))}
    for name, low in (line.split() for line in DATA["floors_of_fastmcp"]):
        if name != "fastapi":  # which asks for starlette itself
            assert Version(low) == Version(asked[name]), name


def test_what_fastmcp_brings_is_installed_with_it() -> None:
    assert {*DATA["brought_by_fastmcp"]} <= {*metadata(4)["installed"]}
    gone = {name.partition("[")[0] for name in DATA["gone"]} - {*DATA["brought_by_fastmcp"]}
    assert not gone & {*metadata(4)["installed"]}
    assert gone <= {*metadata(2)["installed"]}


CALLED = """
import json, sys
from fastmcp import FastMCP
print(json.dumps([name for name in sys.argv[1:] if hasattr(FastMCP, name)]))
"""


def test_what_a_server_class_overrides_in_vain_is_what_release_4_does_not_have() -> None:
    hooks = entry("uncalled_hook").data["hooks"]
    command = ["-W", "ignore", "-c", CALLED, *hooks]
    held = {
        major: json.loads(subprocess.run([sdk.fastmcp(major), *command], capture_output=True, text=True, check=True).stdout)
        for major in (2, 3, 4)
    }
    assert held[4] == []
    # Releases before those that are known here had the others.
    assert {hook for hook in hooks if not hook.startswith("_mcp_")} == {*held[2], *held[3]}
