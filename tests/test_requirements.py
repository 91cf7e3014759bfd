"""What the rules say about releases of the SDK, held against both of them as they are installed."""

from __future__ import annotations

import ast
import functools
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
import sdk
from mcp_migrate import catalog
from mcp_migrate.facts import versions
from mcp_migrate.facts.borrowed import BORROWED
from mcp_migrate.facts.versions import Version, from_poetry
from mcp_migrate.rewrite import written

DATA: Mapping[str, tuple[str, ...]] = catalog.load().entries[0].data

ASK = """
import importlib.metadata as m, json
mcp = m.distribution("mcp")
print(json.dumps({
    "version": mcp.version,
    "python": mcp.metadata["Requires-Python"],
    "extras": mcp.metadata.get_all("Provides-Extra"),
    "requires": mcp.requires,
    "installed": sorted({d.metadata["Name"].lower().replace("_", "-") for d in m.distributions()} - {"pip", "setuptools", "mcp-migrate"}),
    "pinned": [d.metadata["Name"].lower().replace("_", "-") + "==" + d.version for d in m.distributions()],
    "modules": sorted(m.packages_distributions()) if hasattr(m, "packages_distributions") else None,
}))
"""


@functools.cache
def release(major: int) -> Any:
    done = subprocess.run([sdk.python(major), "-W", "ignore", "-c", ASK], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def test_what_is_asked_for_is_the_release_that_the_rules_were_checked_with() -> None:
    wanted, end, low = DATA["sdk"]
    assert wanted == f">={low},<3"
    assert release(2)["version"].startswith(f"{low}.")
    assert Version(release(1)["version"]) < Version(end) <= Version("2.0a1")


def test_the_packages_that_mcp_2_does_not_bring_are_those_that_are_not_installed_with_it() -> None:
    gone = {name.partition("[")[0]: name.partition("[")[2].rstrip("]") for name in DATA["gone"]}
    # The environment holds websockets beside it, for the modules that want it.
    assert gone.keys() == {*release(1)["installed"]} - {*release(2)["installed"], "websockets"}
    for name, extra in gone.items():
        bringing = [line for line in release(2)["requires"] if line.startswith(name) and "extra ==" in line]
        assert [f"extra == '{extra}'" in line for line in bringing] == ([True] if extra else [])
    # `ws` brings another one, which nobody has without asking.
    assert {*gone, "websockets"} == {*BORROWED.values()}
    assert release(1)["modules"] is None or {*BORROWED} - {"websockets"} <= {*release(1)["modules"]}


def test_the_extras_that_are_gone_are_those_that_only_mcp_1_has() -> None:
    assert {*DATA["gone_extras"]} == {*release(1)["extras"]} - {*release(2)["extras"]}
    brought = {line.partition("'")[2].rstrip("'"): line.partition(">")[0] for line in release(1)["requires"] if "extra ==" in line}
    assert [f"{extra} {brought[extra]}" for extra in DATA["gone_extras"]] == [*DATA["gone_with_extras"]]


def test_the_floors_are_those_of_the_metadata() -> None:
    asked: dict[str, set[str]] = {}
    for line in release(2)["requires"]:
        spelled, _, marker = line.partition(";")
        name, _, low = spelled.strip().partition(">=")
        if low and "'3.14'" not in marker.replace("< '3.14'", ""):
            asked.setdefault(name.partition("[")[0] + ("|cli" if "'cli'" in marker else "|rich" if "'rich'" in marker else ""), set()).add(
                low
            )
    told = dict(line.split() for line in DATA["floors"])
    told |= {f"{name}|cli": low for name, low in (line.split() for line in DATA["floors_of_cli"])}
    assert told.keys() == asked.keys() - {"rich|rich"}
    for name, low in told.items():
        assert {Version(one) for one in asked[name]} == {Version(low)}, name


def test_what_pydantic_needs_is_no_more_than_what_is_installed() -> None:
    installed = dict(line.split("==") for line in release(2)["pinned"])
    for name, low in (line.split() for line in DATA["floors_of_pydantic"]):
        assert Version(low) <= Version(installed[name])


def test_the_oldest_python_is_that_of_the_metadata() -> None:
    assert release(2)["python"] == f">={DATA['python'][0]}"


@pytest.mark.parametrize(
    ("specifier", "admits", "refuses"),
    [
        ("", ["0.1", "1.30.0", "9"], []),
        (">=1.2", ["1.2", "2.3"], ["1.1"]),
        ("<2", ["1.99"], ["2.0", "2.0b1"]),
        ("<=1.7.1", ["1.7.1"], ["1.7.2"]),
        ("~=1.20", ["1.20", "1.99"], ["1.19", "2.0"]),
        ("~=1.20.1", ["1.20.5"], ["1.21"]),
        ("==1.*", ["1.0", "1.30"], ["2.0"]),
        ("==1.5.0", ["1.5.0"], ["1.5.1", "1.4"]),
        (">=1.9,<3,!=2.0", ["1.9", "2.3"], ["3.0"]),
    ],
)
def test_bounds_are_what_an_installer_admits(specifier: str, admits: list[str], refuses: list[str]) -> None:
    found = versions.bounds(specifier)
    assert found is not None
    for text in admits:
        assert found.reaches(Version(text))
        assert not found.low or found.low <= Version(text)
    for text in refuses:
        assert not found.reaches(Version(text)) or (found.low is not None and Version(text) < found.low)


@pytest.mark.parametrize(
    ("spelled", "specifier"),
    [
        ("^1.9", ">=1.9,<2"),
        ("^0.3.2", ">=0.3.2,<0.4"),
        ("^0.0.3", ">=0.0.3,<0.0.4"),
        ("~1.9.2", ">=1.9.2,<1.10"),
        ("~1", ">=1,<2"),
        ("1.9.0", "==1.9.0"),
        ("1.*", "==1.*"),
        ("*", ""),
        (">=1.9, <2", ">=1.9,<2"),
        ("^1.9 || ^2", None),
        ("nonsense", None),
    ],
)
def test_a_constraint_of_poetry_is_spelled_as_pip_does(spelled: str, specifier: str | None) -> None:
    assert from_poetry(spelled) == specifier


@pytest.mark.parametrize("name", ["mcp_handlers.py", "mcp_questions.py", "mcp_http.py", "mcp_stateless.py", "mcp_stateless_client.py"])
def test_what_written_modules_import_comes_with_mcp_2(name: str) -> None:
    tree = ast.parse(written.source(name))
    named = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    named += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    always = {re.split(r"[^\w.-]", line)[0] for line in release(2)["requires"] if "extra ==" not in line}
    assert {"httpx2", "jsonschema", "pydantic"} <= always
    assert {one.partition(".")[0] for one in named} - {*sys.stdlib_module_names} <= always | {"mcp"}


def test_what_is_told_to_warn_does_so_in_mcp_2_alone() -> None:
    entry = catalog.load().rule("warnings_as_errors")
    assert entry is not None
    code = (
        "import functools, importlib, json, sys\nfound = {}\n"
        "for name in json.loads(sys.argv[1]):\n"
        "    module, owner, last = name.rsplit('.', 2)\n"
        "    found[name] = hasattr(getattr(getattr(importlib.import_module(module), owner), last), '__deprecated__')\n"
        "print(json.dumps(found))"
    )
    for major, warns in ((1, False), (2, True)):
        moved = [name.replace("fastmcp.server", "mcpserver.context") if major == 2 else name for name in entry.data["deprecated"]]
        done = subprocess.run([sdk.python(major), "-c", code, json.dumps(moved)], capture_output=True, text=True, check=True)
        assert json.loads(done.stdout) == dict.fromkeys(moved, warns)
    (line,) = entry.data["filter"]
    action, _, category = line.partition("::")
    assert action == "default"
    subprocess.run([sdk.python(2), "-c", f"import mcp; assert issubclass({category}, UserWarning)"], check=True)
