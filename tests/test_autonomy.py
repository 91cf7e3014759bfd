"""The measurement of autonomy tells wired projects from others, starts what it has a recipe for, and notices a changed answer."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from servers import ROOT, SERVERS, copy

SCRIPT = ROOT / "benchmarks" / "autonomy.py"
TOOL = f'{sys.executable} -c "from mcp_migrate.cli import main; main()"'

WEB = """
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        try:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        except ValueError:
            self.send_error(400)
            return
        if message["method"] == "initialize":
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "web", "version": "1"}}
        else:
            result = {"tools": []}
        body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""

HOST = """
import json, pathlib, re, sys
said = pathlib.Path(SAID)
said.write_text(str(int(said.read_text()) + 1))
for line in sys.stdin:
    number = re.search('"id": ([0-9]+)', line)
    if number:
        print(json.dumps({"id": int(number[1]), "result": {"protocolVersion": "x", "said": said.read_text()}}), flush=True)
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """One project that is wired whole, one that is left to a human, one that answers over HTTP."""
    copy(SERVERS / "notes_chain" / "before", tmp_path / "corpus" / "hr-notes")
    copy(SERVERS / "dice_handshake" / "before", tmp_path / "corpus" / "hr-dice")
    web = tmp_path / "corpus" / "hr-web"
    web.mkdir()
    (web / "web.py").write_text(WEB)
    return tmp_path / "corpus"


def measure(corpus: Path, recipes: dict[str, object], *argv: str) -> subprocess.CompletedProcess[str]:
    told = corpus.parent / "recipes.yaml"
    told.write_text(yaml.safe_dump(recipes))
    places = ["--recipes", str(told), "--environments", str(corpus.parent / "environments"), "--tool", TOOL]
    command = [sys.executable, str(SCRIPT), *places, *argv, str(corpus)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120)


def cells(report: str, name: str, part: str = "Projects") -> list[str]:
    """The row of a project in one part of the report."""
    told = report.partition(f"\n## {part}\n")[2].partition("\n## ")[0]
    line = next(line for line in told.splitlines() if line.startswith(f"| {name} "))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_wired_and_unwired_projects_are_told_apart_with_the_reason(corpus: Path) -> None:
    done = measure(corpus, {}, "--only", "hr-notes,hr-dice")
    assert (cells(done.stdout, "hr-notes")[1], cells(done.stdout, "hr-dice")[1]) == ("1 of 1, 1 of 1", "0 of 1, 0 of 1")
    assert "| projects wired completely, in both eras | 1 of 2 (50 %) | 85 % | no |" in done.stdout
    assert "- hr-dice dice.py:" in done.stdout
    assert done.returncode == 1


def test_a_target_that_is_reached_ends_well(corpus: Path) -> None:
    assert measure(corpus, {}, "--only", "hr-notes").returncode == 0
    assert measure(corpus, {}, "--only", "hr-notes,hr-dice", "--wired", "50").returncode == 0


def test_old_clients_get_the_same_bytes_over_stdio_and_http(corpus: Path) -> None:
    recipes = {"hr-notes": {"run": "python server.py"}, "hr-web": {"serve": "python web.py {port}"}}
    done = measure(corpus, recipes, "--only", "hr-notes,hr-web", "--wired", "0")
    told = [cells(done.stdout, name, "Servers that were started")[-1] for name in ("hr-notes", "hr-web")]
    assert told == ["same bytes", "same bytes"], done.stderr
    assert "2 of them were started, in 2 ways" in done.stdout


def test_a_project_may_be_started_in_several_ways(corpus: Path) -> None:
    ways = [{"run": "python server.py"}, {"run": "python nowhere.py"}]
    done = measure(corpus, {"hr-notes": ways}, "--only", "hr-notes", "--wired", "0")
    assert "1 of them were started, in 2 ways" in done.stdout
    assert "| hr-notes | `python nowhere.py` |  |  | the untouched server does not answer" in done.stdout


def test_what_serves_nobody_is_told_and_not_counted(corpus: Path) -> None:
    recipes: dict[str, object] = {"no-servers": {"hr-dice": {"dice.py": "dice that nobody throws"}}}
    done = measure(corpus, recipes, "--only", "hr-notes,hr-dice", "--wired", "50")
    assert cells(done.stdout, "hr-dice")[1] == "0 of 0, 0 of 0"
    assert ": dice that nobody throws" in done.stdout
    assert done.returncode == 0


def test_a_changed_answer_is_noticed(corpus: Path) -> None:
    # The host's file is written after `fix`, and tells how often it has been started.
    said = corpus.parent / "said"
    said.write_text("0")
    host = HOST.replace("SAID", repr(str(said)))
    recipes = {"hr-web": {"run": "python host.py", "files": {"host.py": host}}}
    done = measure(corpus, recipes, "--only", "hr-web", "--wired", "0")
    assert cells(done.stdout, "hr-web", "Servers that were started")[-1].startswith("differs in initialize"), done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("said", "failing", "is_earlier"),
    [
        ('200 application/json session {"jsonrpc": "2.0", "id": 4, "result": {"content": []}}', "got HTTP 200, result {}", True),
        ('200 text/event-stream  data: {"jsonrpc": "2.0", "id": 4, "error": {"code": -32603}}', "got error -32603: no", True),
        ('200 application/json session {"jsonrpc": "2.0", "id": 4, "error": {"code": -32602}}', "got HTTP 200, result {}", False),
        ('404 application/json  {"error": "no session"}', "got HTTP 200, result {}", False),
    ],
    ids=["result", "error in an event", "refused before", "never asked"],
)
def test_what_a_session_hides_from_the_judge_is_asked_in_one(
    said: str, failing: str, is_earlier: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    judging = importlib.import_module("judging")
    check = judging.Check("raw+schema", "tools/call: unknown tool -> -32602", failing)
    hidden = judging.Check("raw+schema", check.name, "got HTTP 404")
    told = frozenset(judging.outcomes({"unknown tool": said, "call": said}, "add"))
    rewritten = judging.Verdict(failed=(check, judging.Check("raw+schema", "tools/call: add", "want a result, got HTTP 200, result {}")))
    counted = rewritten.beside(judging.Verdict(failed=(hidden,)), judging.Verdict(), told).failed
    # That a call has a result says nothing of what a rewrite has made of it.
    assert [one.name for one in counted] == ["tools/call: add"] if is_earlier else [check.name, "tools/call: add"]


@pytest.mark.parametrize("served", [False, True])
def test_calls_that_nobody_serves_fail_as_before(served: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    judging = importlib.import_module("judging")
    said = {
        step: f'200 {{"jsonrpc": "2.0", "id": {at}, "result": {{}}}}' for at, step in enumerate(("call", "unknown tool", "unknown method"))
    }
    if served:
        said["call"] = said["call"].replace("{}", '{"content": []}')
    check = judging.Check("py-sdk v2", "mode=auto: call_tool add", "MCPError -32601: no")
    told = frozenset(judging.outcomes(said, "other"))
    counted = judging.Verdict(failed=(check,)).beside(judging.Verdict(), judging.Verdict(), told).failed
    assert counted == ((check,) if served else ())


def test_a_server_that_does_not_start_is_named_and_not_counted(corpus: Path) -> None:
    done = measure(corpus, {"hr-notes": {"run": "python nowhere.py"}}, "--only", "hr-notes")
    assert "0 of them were started" in done.stdout
    assert "the untouched server does not answer" in cells(done.stdout, "hr-notes", "Servers that were started")[-1]
