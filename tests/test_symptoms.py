"""Symptoms are told with rules that exist, are found by what users paste, and really occur: both releases of the SDK are run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sdk
import yaml
from mcp_migrate import catalog, symptoms
from mcp_migrate.cli import app
from servers import ROOT, migrate

sys.path.insert(0, str(Path(__file__).parent / "symptoms"))

import shown

SYMPTOMS = symptoms.load()
each_symptom = pytest.mark.parametrize("symptom", SYMPTOMS, ids=lambda symptom: symptom.id)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What a user sees for each symptom."""
    folder = tmp_path_factory.mktemp("modern") / "server"
    shutil.copytree(ROOT / "fixtures/servers/notes_chain/before", folder)
    assert migrate("fix", "--era", "modern", ".", cwd=folder).returncode == 0
    standalone = [symptom.id for symptom in SYMPTOMS if symptom.id.startswith(shown.STANDALONE)]
    others = [symptom.id for symptom in SYMPTOMS if symptom.id not in standalone]
    by_major = {major: [id for id in others if shown.IN.get(id, 2) == major] for major in (1, 2)}
    halves = [(sdk.python(1), by_major[1]), (sdk.fastmcp(4), standalone)]
    halves += [(sdk.python(2), by_major[2][::2]), (sdk.python(2), by_major[2][1::2])]

    def run(python: Path, ids: list[str]) -> str:
        argv = [str(python), "-u", "-B", shown.__file__, str(folder / "server.py"), *ids]
        env = {**os.environ, "PYTHON_WITH_PIP": sys.executable, "PYTHON_WITH_SDK_2": str(sdk.python(2))}
        return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, env=env).stdout

    with ThreadPoolExecutor(2) as pool:
        told = "".join(pool.map(lambda half: run(*half), halves))
    return dict(re.findall(r"^== (\S+)\n(.*?)(?=^== |\Z)", told, re.MULTILINE | re.DOTALL))


@each_symptom
def test_a_symptom_really_occurs(symptom: symptoms.Symptom, seen: dict[str, str]) -> None:
    assert symptom.says in seen[symptom.id]


@each_symptom
def test_what_is_seen_leads_to_the_symptom(symptom: symptoms.Symptom, seen: dict[str, str]) -> None:
    lines = [line for line in seen[symptom.id].splitlines() if symptom.says in line]
    # A symptom that says more may go before.
    assert any(symptom.says in found.says for line in lines for found in symptoms.find(line))


@each_symptom
def test_every_rule_exists(symptom: symptoms.Symptom) -> None:
    assert [rule for rule in symptom.rules if catalog.load().rule(rule) is None] == []


def test_ids_and_texts_are_told_once() -> None:
    assert len({symptom.id for symptom in SYMPTOMS}) == len({symptom.says for symptom in SYMPTOMS}) == len(SYMPTOMS)


@each_symptom
def test_a_pattern_meets_the_text_that_it_stands_for(symptom: symptoms.Symptom) -> None:
    assert not symptom.like or re.search(symptom.like, symptom.says.replace('"', "'"))


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("connection  closed", "connection-closed"),
        ("mcp.shared.exceptions.MCPError: Connection closed", "connection-closed"),
        ("Traceback (most recent call last):\n  ...\nModuleNotFoundError: No module named 'mcp_handlers'", "no-module-boundary"),
        ("ImportError: cannot import name 'FastMCP' from 'mcp.server' (/a/b.py)", "cannot-import-fastmcp"),
        ("AttributeError: 'CallToolResult' object has no attribute 'isError'. Did you mean: 'is_error'?", "no-attribute-camel"),
        ("-32020", "header-mismatch"),
        ("-32022", "unsupported-version"),
        ("KeyError: 'mimeType'", "key-error-camel"),
        ("TypeError: FastMCP() no longer accepts `include_tags`. Use `server.enable(tags=..., only=True)`.", "fastmcp-constructor"),
        ("AttributeError: type object 'FastMCP' has no attribute 'as_proxy'", "fastmcp-no-method"),
        ("ModuleNotFoundError: No module named 'fastmcp.tools.tool'", "fastmcp-no-module"),
        ("TypeError: FastMCP.tool() got an unexpected keyword argument 'exclude_args'", "fastmcp-argument"),
        ("No module named 'pydantic_settings'", "no-module-httpx"),
    ],
)
def test_what_users_paste_is_understood(text: str, id: str) -> None:
    assert [symptom.id for symptom in symptoms.find(text)] == [id]


@pytest.mark.parametrize("text", ["", "x", "'Cat' object has no attribute 'lives'", "KeyError: 'name'", "No module named 'numpy'"])
def test_what_has_nothing_to_do_with_it_is_no_symptom(text: str) -> None:
    assert symptoms.find(text) == ()


@pytest.mark.parametrize("words", [["Connection closed"], ["connection", "closed"], ["-32020"]], ids=str)
def test_explain_says_cause_and_remedy(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        app(["explain", *words])
    said = capsys.readouterr().out
    assert not left.value.code
    assert all(head in said for head in ("Seen:", "Cause:", "What to do:", "Rules: MCP30"))


@pytest.mark.parametrize("text", ["- id: a\n  says: b\n", "- id: a\n  says: b\n  seen: c\n  cause: d\n  do: e\n  rules: []\n  more: f\n"])
def test_what_is_written_otherwise_is_refused(text: str) -> None:
    with pytest.raises(catalog.CatalogError):
        symptoms._symptom(yaml.safe_load(text)[0])
