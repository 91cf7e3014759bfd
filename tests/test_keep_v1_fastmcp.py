"""Code for the standalone `fastmcp` that `fix --keep-v1` has rewritten does the same under 3 and 4, from one source."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sdk
import warm
from fixture_cases import FIXTURES, Case, cases, plain
from mcp_migrate import catalog, engine
from mcp_migrate.rewrite import written
from mcp_migrate.rule import Aim, Applicability, Both, Severity
from mcp_migrate.sdk import majors
from mcp_migrate.sdk.api import load
from mcp_migrate.sdk.vocabulary import STANDALONE
from servers import ROOT
from test_fastmcp_api import parameters
from test_fastmcp_programs import MAJORS, PROGRAMS
from test_keep_v1 import errors, fixed, link, module_of, texts, texts_of, write

CATALOG = catalog.load()
WHOLE = {path.name: path for path in sorted((FIXTURES / "both_fastmcp").iterdir())}
OF_FASTMCP = [case for case in cases() if case.pack == "fastmcp4"]
RULES = [entry for entry in CATALOG.entries if entry.pack == "fastmcp4"]
_ROOTS = ("fastmcp", "mcp", "mcp_types", "httpx2")


# -- whole programs ----------------------------------------------------------------
@pytest.mark.parametrize("name", WHOLE)
def test_fix_makes_exactly_this_text_and_a_second_run_nothing(name: str) -> None:
    first = fixed(texts_of(WHOLE[name] / "before"))
    assert first.dropped == ()
    made = texts(first)
    assert _without_modules(made) == texts_of(WHOLE[name] / "after")
    second = fixed(made)
    assert (second.texts, second.created) == ({}, {})
    assert not [finding for finding in second.remaining if finding.severity is Severity.ERROR]


@pytest.mark.parametrize("name", WHOLE)
def test_a_program_prints_the_same_under_both(name: str, tmp_path: Path) -> None:
    before, after = texts_of(WHOLE[name] / "before"), texts(fixed(texts_of(WHOLE[name] / "before")))
    said = printed(2, before, tmp_path / "before")
    assert said
    assert printed(3, after, tmp_path / "three") == said
    assert printed(4, after, tmp_path / "four") == said


@pytest.mark.parametrize("name", WHOLE)
def test_a_look_without_the_option_finds_no_errors_in_the_code(name: str) -> None:
    made = texts(fixed(texts_of(WHOLE[name] / "before")))
    found = engine.check(link(made, keeps=False), CATALOG)
    assert not [finding for finding in found if finding.severity is Severity.ERROR and finding.path.endswith(".py")]


# What has no form for both releases, and is told.
ALONE = {"left_out": ["MCP602"]}


@pytest.mark.parametrize("name", ALONE)
def test_what_a_small_program_has_for_one_release_alone_is_told(name: str) -> None:
    made = engine.fix(link({"program.py": PROGRAMS[name]}), CATALOG, aim=Aim.BOTH, unsafe=True)
    assert errors(made.remaining) == ALONE[name]


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - ALONE.keys()))
def test_a_small_program_prints_the_same_under_both(name: str, tmp_path: Path) -> None:
    made = engine.fix(link({"program.py": PROGRAMS[name]}), CATALOG, aim=Aim.BOTH, unsafe=True)
    assert made.texts
    assert errors(made.remaining) == []
    said = printed(MAJORS[name][0], {"program.py": PROGRAMS[name]}, tmp_path / "before")
    assert said
    assert printed(3, texts(made), tmp_path / "three") == said
    assert printed(4, texts(made), tmp_path / "four") == said


# -- fixtures of rules ---------------------------------------------------------------
@pytest.mark.parametrize("case", OF_FASTMCP, ids=lambda case: case.id)
def test_no_fixture_gets_an_import_that_only_one_release_has(case: Case) -> None:
    before = {path: plain(text) for path, text in case.before().items()}
    first = fixed(before)
    made = texts(first)
    api = load(standalone=True)
    for path, text in made.items():
        if path.endswith(".py") and written.parts(text) is None:
            old = majors.unguarded(module_of(path, before[path]), api, STANDALONE) if path in before else frozenset()
            assert majors.unguarded(module_of(path, text), api, STANDALONE) <= old
    second = fixed(made)
    assert (second.texts, second.created) == ({}, {})
    # What was left to a human is found again by a run that knows nothing of the first one.
    assert errors(first.remaining) == errors(second.remaining)


@pytest.mark.parametrize("major", [3, 4])
def test_every_import_that_a_fixture_gets_can_be_made(major: int) -> None:
    imports = sorted(_written_into_fixtures())
    assert len(imports) > 15
    assert any("Cachable" in text for text in imports)
    assert _failing(major, imports) == []


# What fails when it is loaded, whatever the release.
NOT_LOADED: Mapping[str, str] = {
    "fastmcp4-standalone_name-experimental": "needs the package openai",
    "fastmcp4-foreign_http-caught": "needs the package httpx, which fastmcp 4 does not bring along",
    "fastmcp4-constructor_transport-remarks": "runs its servers at once",
    "fastmcp4-component_object-others": "reads `fn` of functions",
    "fastmcp4-server_transformation-others": "takes away a tool that is not there",
}


@pytest.mark.parametrize("major", [3, 4])
def test_a_fixture_without_an_error_left_is_loaded(major: int, tmp_path: Path) -> None:
    loaded = []
    for case in OF_FASTMCP:
        first = fixed({path: plain(text) for path, text in case.before().items()})
        if first.texts and not errors(first.remaining) and case.id not in NOT_LOADED:
            write(texts(first), tmp_path / case.id)
            loaded += [f"{case.id}/{path}" for path in first.texts if path.endswith(".py")]
    assert len(loaded) > 8
    ask = (
        "import json, pathlib, runpy, sys\nfailed = []\nfor path in json.load(sys.stdin):\n"
        "    folder = str(pathlib.Path(path).resolve().parent)\n    sys.path.insert(0, folder)\n"
        "    try:\n        runpy.run_path(path, run_name='loaded')\n    except BaseException as error:\n"
        "        failed.append(f'{path}: {type(error).__name__}: {error}')\n"
        "    sys.path.remove(folder)\n"
        "    for name in [name for name, one in sys.modules.items() if (getattr(one, '__file__', '') or '').startswith(folder)]:\n"
        "        del sys.modules[name]\n"
        "print(json.dumps(failed))"
    )
    failing = _asked(major, ask, loaded, tmp_path)
    assert not failing, "\n".join(failing)


# -- parts ---------------------------------------------------------------------------
@pytest.mark.parametrize("entry", RULES, ids=lambda entry: entry.name)
def test_every_rule_says_what_becomes_of_it_where_both_have_to_work(entry: Any) -> None:
    text = (ROOT / "rules" / "fastmcp4" / f"{entry.name}.yaml").read_text(encoding="utf-8")
    assert ("\nboth: " in text) is (entry.fix != "never")
    assert hasattr(CATALOG.module(entry), "keep") is (entry.both is Both.OWN)


def test_every_new_name_of_an_argument_is_taken_by_fastmcp_3() -> None:
    entry = CATALOG.rule("standalone_argument")
    assert entry is not None
    renamed = [
        (call, pair)
        for call, pairs in entry.data.items()
        if call.startswith("fastmcp.")
        for pair in pairs
        if "->" in pair and pair.partition("->")[2].strip()
    ]
    assert len(renamed) >= 5
    for call, pair in renamed:
        taken = parameters("3", call)
        assert taken is not None
        assert pair.partition("->")[2].strip() in taken, (call, pair)


@pytest.mark.parametrize("kind", ["http", "sse", "app"])
def test_what_runs_a_server_of_fastmcp_3_takes_the_options_that_it_is_given(kind: str) -> None:
    entry = CATALOG.rule("constructor_transport")
    assert entry is not None
    taken = parameters("3", "fastmcp.FastMCP.http_app" if kind == "app" else "fastmcp.FastMCP.run_http_async")
    assert taken is not None
    assert {pair.split(" -> ")[1] for pair in entry.data[kind]} <= {*taken}


def test_a_name_that_no_table_holds_is_in_fastmcp_3() -> None:
    ask = (
        "import fastmcp, json, pathlib, sys\nprint(json.dumps((pathlib.Path(fastmcp.__file__).parent / json.load(sys.stdin)).read_text()))"
    )
    text = _asked(3, ask, "client/sampling/handlers/openai.py")
    assert load(standalone=True).kept("fastmcp.client.sampling.handlers.openai", "OpenAISamplingHandler")
    assert "OpenAISamplingHandler" in {node.name for node in ast.walk(ast.parse(str(text))) if isinstance(node, ast.ClassDef)}


def test_what_2_alone_had_is_none_of_3() -> None:
    api = load(standalone=True)
    assert api.was("fastmcp.server.auth.providers.bearer", "BearerAuthProvider") or api.was("fastmcp.tools", "ToolManager")
    assert not api.kept("fastmcp.tools", "ToolManager")
    assert not api.kept("fastmcp.server.middleware.caching", "CacheableToolResult")
    assert api.kept("fastmcp.server", "create_proxy")


def test_a_file_with_a_guard_is_for_both() -> None:
    made = texts(fixed(texts_of(WHOLE["guarded"] / "before")))
    assert made["own.py"] == texts_of(WHOLE["guarded"] / "before")["own.py"]
    program = link(made).sdk
    assert program is not None
    assert {program.line("results.py"), program.line("own.py")} == {majors.Line.BOTH}


def test_a_guard_of_the_project_itself_is_left_alone() -> None:
    code = (
        "try:\n    from fastmcp.server.middleware.caching import CacheableToolResult as Held\nexcept ImportError:\n"
        "    from fastmcp.server.middleware.caching import CachableToolResult as Held\n\n"
        "from fastmcp.tools.tool import ToolResult\n\nKINDS = (Held, ToolResult)\n"
    )
    made = fixed({"results.py": code})
    assert (made.texts, made.remaining) == ({}, [])


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("fastmcp>=2.12,<3", "fastmcp>=3.4,<5"),
        ("fastmcp>=2.12", "fastmcp>=3.4,<5"),
        ("fastmcp==2.14.7", "fastmcp>=3.4,<5"),
        ("fastmcp", "fastmcp>=3.4,<5"),
        ("fastmcp[tasks]>=3.4.5,<4", "fastmcp[tasks]>=3.4.5,<5"),
        ("fastmcp>=3.4,<5", "fastmcp>=3.4,<5"),
        ("fastmcp>=2,<3\nmcp>=1.9", "fastmcp>=3.4,<5\nmcp>=1.9"),
    ],
)
def test_a_range_has_room_for_both(asked: str, expected: str) -> None:
    code = "from fastmcp import FastMCP\nfrom fastmcp.server.proxy import ProxyClient\n\nmcp = FastMCP('x')\nCLIENT = ProxyClient\n"
    made = texts(fixed({"server.py": code, "requirements.txt": f"{asked}\n"}))
    assert made["requirements.txt"] == f"{expected}\n"
    assert "providers.proxy" in made["server.py"]


def test_code_that_looks_the_same_for_all_releases_gets_the_range_as_well() -> None:
    code = "from fastmcp import FastMCP\n\nmcp = FastMCP('x')\nmcp.mount(FastMCP('y'), prefix='y')\n"
    made = texts(fixed({"server.py": code, "requirements.txt": "fastmcp>=2.12\n"}))
    assert made["requirements.txt"] == "fastmcp>=3.4,<5\n"


def test_an_end_of_mcp_is_told_where_only_fastmcp_needs_it() -> None:
    made = fixed({"server.py": "from fastmcp import FastMCP\n\nmcp = FastMCP('x')\n", "requirements.txt": "fastmcp>=2.12\nmcp<2\n"})
    assert texts(made)["requirements.txt"] == "fastmcp>=3.4,<5\nmcp<2\n"
    assert [(one.rule, one.applicability) for one in made.remaining] == [("MCP701", Applicability.MANUAL)]


def test_python_stays_as_fastmcp_3_takes_it() -> None:
    manifest = '[project]\nname = "a"\nversion = "1"\nrequires-python = ">=3.10"\ndependencies = ["fastmcp>=3.4,<5"]\n'
    made = fixed({"server.py": "from fastmcp import FastMCP\n\nmcp = FastMCP('x')\n", "pyproject.toml": manifest})
    assert made.texts == {}
    assert made.remaining == []


def test_what_has_no_form_for_both_is_a_finding_and_stays() -> None:
    code = "from fastmcp import Client\n\n\nasync def ask(url: str) -> object:\n    async with Client(url) as client:\n        return await client.ping()\n"
    made = fixed({"asking.py": code})
    assert made.texts == {}
    assert [(one.rule, one.applicability) for one in made.remaining] == [("MCP618", Applicability.MANUAL)]
    assert "fastmcp 3 and fastmcp 4" in made.remaining[0].hint


# -- helpers ---------------------------------------------------------------------------
def printed(major: int, files: Mapping[str, str], folder: Path) -> str:
    env = {**os.environ, "PYTHONWARNINGS": "ignore"}
    write(files, folder)
    done = warm.run(sdk.fastmcp(major), "program.py", cwd=folder, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _asked(major: int, ask: str, given: object, folder: Path | None = None) -> object:
    done = warm.run(sdk.fastmcp(major), "-W", "ignore", "-c", ask, cwd=folder or Path.cwd(), said=json.dumps(given), timeout=240)
    assert done.returncode == 0, done.stderr
    found: object = json.loads(done.stdout.splitlines()[-1])
    return found


def _failing(major: int, imports: list[str]) -> object:
    ask = (
        "import json, sys\nfailed = []\nfor text in json.load(sys.stdin):\n    try:\n        exec(text, {})\n"
        "    except Exception as error:\n        failed.append(f'{text}: {error}')\nprint(json.dumps(failed))"
    )
    return _asked(major, ask, imports)


@cache
def _written_into_fixtures() -> frozenset[str]:
    """The imports and guards that the results have and the code before had not, each as a statement."""
    return frozenset(text for case in OF_FASTMCP for text in _new_imports(case) if "openai" not in text)


def _new_imports(case: Case) -> Iterator[str]:
    before = {path: plain(text) for path, text in case.before().items()}
    for path, text in fixed(before).texts.items():
        if path.endswith(".py"):
            yield from {*_imports(text)} - {*_imports(before[path])}


def _imports(text: str) -> Iterator[str]:
    tree = ast.parse(text)
    guards = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Try) and all(isinstance(one, ast.Import | ast.ImportFrom) for one in node.body)
    ]
    inside = {inner for guard in guards for inner in ast.walk(guard)}
    yield from map(ast.unparse, guards)
    for node in ast.walk(tree):
        if node in inside:
            continue
        if isinstance(node, ast.ImportFrom) and not node.level and f"{node.module}".partition(".")[0] in _ROOTS:
            yield from (f"from {node.module} import {alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (f"import {alias.name}" for alias in node.names if alias.name.partition(".")[0] in _ROOTS)


def _without_modules(files: Mapping[str, str]) -> dict[str, str]:
    return {path: text for path, text in files.items() if written.parts(text) is None}
