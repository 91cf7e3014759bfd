"""`verify` passes a server that is right, and catches every single defect of one that is not."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jsonschema
import pytest
import sdk
import servers
from mcp_migrate.verify import messages, revision, telling
from mcp_migrate.verify.ledger import Check, Outcome
from mcp_migrate.verify.messages import Call, Notice, Plan
from mcp_migrate.verify.process import CannotStart
from mcp_migrate.verify.proof import Proof, Wishes, verify
from mcp_migrate.verify.schema import conforms, is_schema, schema
from mcp_migrate.verify.server import Target

SERVER = Path(__file__).parent / "verified" / "server.py"
CALLS = (Call("add", {"a": 1, "b": 2}, "3"), Call("greet", {}, "hello"))
LOOK = Call("look", {"city": "Zürich", "how": {"near": True}}, "Zürich in sight")
PLAN = Plan(CALLS)
NOTICE = Notice(Call("rename", {}), "notifications/tools/list_changed", "")

# Each with a piece of the name of a check that has to fail for it.
BOTH = {
    "discover_first": "a list is answered as the first message",
    "no_envelope_needed": "without client capabilities is refused",
    "any_version": "unknown version is refused",
    "versions_untold": "names the versions",
    "client_info_needed": "without clientInfo is served",
    "no_result_type": "what the schema says",
    "no_cache_hints": "tools/list says how long it may be kept",
    "ttl_as_text": "says how long it may be kept",
    "strange_scope": "says how long it may be kept",
    "offers_another": "offers 2026-07-28",
    "discover_lacks_versions": "server/discover is what the schema says",
    "id_as_text": "tools/list is answered",
    "pings": "ping, which is removed, is refused",
    "sets_level": "logging/setLevel, which is removed, is refused",
    "wrong_code_for_unknown": "an unknown method is refused",
    "silent_about_unknown": "an unknown method is refused",
    "retired_code": "no retired error code is sent",
    "undefined_code": "the specification keeps for itself",
    "empty_for_unknown": "an unknown resource is refused",
    "asks_by_request": "the server sends no request",
    "logs": "no log message is sent that was not asked for",
    "schema_is_no_object": "every message is what the schema says",
    "unlike_its_schema": "the result of add is what its outputSchema says",
    "asks_anyone": "asks no client that cannot answer",
    "asks_nothing": "is answered",
    "question_is_a_message": "are well formed",
    "unacknowledged": "is acknowledged first",
    "untagged": "names its subscription",
    "subscription_ends": "stays open",
    "changes_untold": "brings notifications/tools/list_changed",
    "changes_untagged": "brings notifications/tools/list_changed",
    "no_handshake": "initialize is answered",
    "handshake_offers_modern": "agrees to a version of the handshake era",
    "older_ping_refused": "ping is answered",
    "older_lists_refused": "tools/list is answered",
}
STDIO = {
    "prints": "nothing but messages is written",
    "dies": "the process stays until its input ends",
    "stays": "leaves when its input ends",
}
HTTP = {
    "headers_unread": "whose Mcp-Method is missing is refused",
    "names_undecoded": "in Base64 is decoded",
    "errors_with_200": "is refused with -32601",
    "session_needed": "a list is answered as the first message",
    "sends_session": "no session id is sent",
    "gets": "a GET is refused",
    "any_host": "for a foreign Host is refused",
}
OVER = {"stdio": {**BOTH, **STDIO}, "http": {**BOTH, **HTTP}}


def target(transport: str, defect: str = "") -> Target:
    ways = {"stdio": f"{sys.executable} {SERVER}", "start": f"{sys.executable} {SERVER} {{port}}"}
    way = "stdio" if transport == "stdio" else "start"
    return Target(**{way: ways[way]}, env={"DEFECT": defect}, timeout=2.0, startup=15.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_server_that_is_right_passes_every_check(transport):
    proof = verify(target(transport), Wishes(plan=PLAN, notices=[NOTICE]))
    assert [check for check in proof.checks if check.outcome is not Outcome.PASSED] == []
    assert len(proof.checks) > 60
    assert (proof.log, proof.holds(strict=True)) == ("", True)


BROKEN = [(transport, defect) for transport, defects in OVER.items() for defect in defects]


@pytest.fixture(scope="module")
def broken() -> dict[tuple[str, str], Proof]:
    """What is said of the server with each defect; all at once, because they are waited for most of the time."""
    wishes = Wishes(plan=PLAN, notices=[NOTICE])
    with ThreadPoolExecutor(8) as pool:
        return dict(zip(BROKEN, pool.map(lambda one: verify(target(*one), wishes), BROKEN), strict=True))


@pytest.mark.parametrize(("transport", "defect"), BROKEN)
def test_every_defect_is_caught(broken, transport, defect):
    proof = broken[transport, defect]
    assert not proof.holds(strict=True)
    bad = [check.name for check in proof.checks if check.outcome in (Outcome.FAILED, Outcome.WARNED)]
    assert any(OVER[transport][defect] in name for name in bad), bad


def test_a_server_of_both_eras_may_refuse_as_it_does_to_older_clients():
    """As the SDK does with `stateless_http=True`: without the header of the revision, an unknown method with HTTP 200."""
    proof = verify(target("http", "era_by_header"), Wishes(plan=PLAN))
    assert [check.name for check in proof.checks if check.outcome in (Outcome.FAILED, Outcome.WARNED)] == []


@pytest.mark.parametrize("defect", ["", "arguments_unread"], ids=["read", "unread"])
def test_headers_repeat_the_arguments_that_a_tool_wants_there(defect):
    proof = verify(target("http", defect), Wishes(plan=Plan((LOOK,))))
    bad = ["a call of look with a header that is missing is refused with -32020"] if defect else []
    bad += ["a call of look with a header that is another one is refused with -32020"] if defect else []
    assert [check.name for check in proof.checks if check.outcome is not Outcome.PASSED] == bad
    assert "look takes the headers of its arguments" in [check.name for check in proof.checks]


def test_no_tool_is_called_for_its_headers_that_is_not_called_at_all():
    proof = verify(target("http", "arguments_unread"), Wishes())
    assert [check for check in proof.checks if "look" in check.name] == []
    assert proof.holds()


def test_a_server_of_both_eras_is_no_server_of_one():
    proof = verify(target("stdio"), Wishes(dual=False, plan=PLAN))
    assert "initialize is refused" in [check.name for check in proof.checks if check.outcome is Outcome.FAILED]


def test_nothing_is_left_running(tmp_path):
    child = tmp_path / "child.pid"
    start = f"import os, subprocess, sys; p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)']); open({str(child)!r}, 'w').write(str(p.pid))"
    script = tmp_path / "parent.py"
    script.write_text(f"{start}\nimport runpy\nsys.argv = ['server.py']\nrunpy.run_path({str(SERVER)!r}, run_name='__main__')\n")
    verify(Target(stdio=f"{sys.executable} {script}", timeout=2.0), Wishes(dual=False))
    state = Path(f"/proc/{child.read_text()}/stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"


def test_a_server_that_does_not_start_shows_its_log(tmp_path):
    (tmp_path / "server.py").write_text("import nowhere_to_be_found\n")
    proof = verify(Target(stdio=f"{sys.executable} {tmp_path / 'server.py'}", timeout=2.0), Wishes())
    assert not proof.holds()
    assert "nowhere_to_be_found" in proof.log
    with pytest.raises(CannotStart, match="has ended with status 1 before anything listened"):
        verify(Target(start=f"{sys.executable} {tmp_path / 'server.py'} {{port}}"), Wishes())
    with pytest.raises(CannotStart, match="cannot run no-such-program"):
        verify(Target(stdio="no-such-program"), Wishes())


@pytest.mark.parametrize("way", ["stdio", "start"])
def test_an_older_server_that_does_not_start_says_which_it_is_and_why(way, tmp_path):
    (tmp_path / "server.py").write_text("import nowhere_to_be_found\n")
    command = f"{sys.executable} {tmp_path / 'server.py'}" + " {port}" * (way == "start")
    before = Target(**{way: command}, timeout=2.0)  # type: ignore[arg-type]
    with pytest.raises(CannotStart, match=r"(?s)the server of HEAD~1: .*--against-command says how to run it\n.*nowhere_to_be_found"):
        verify(target("stdio"), Wishes(plan=PLAN), before=before, name="HEAD~1")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("add", Call("add", {})),
        ('add {"a": 1}', Call("add", {"a": 1})),
        ('add {"a": 1} => 3 apples', Call("add", {"a": 1}, "3 apples")),
        ("add => ok", Call("add", {}, "ok")),
    ],
)
def test_calls_are_read(written, read):
    assert messages.call(written) == read


@pytest.mark.parametrize("written", ["", "=> x", "add {", "add [1]", "add {} =>"])
def test_what_is_no_call_is_refused(written):
    with pytest.raises(ValueError, match=re.escape(repr(written))):
        messages.call(written)


@pytest.mark.parametrize(
    "written",
    [
        {"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}, "b": {}}, "required": ["a"]},
        {"type": "array", "items": {"type": "boolean"}, "minItems": 2},
        {"type": ["string", "null"], "minLength": 4},
        {"enum": ["x", "y"]},
        {"anyOf": [{"type": "number"}, {"type": "string"}]},
        {"const": 7},
        {"type": "null"},
    ],
)
def test_samples_are_what_their_schema_says(written):
    jsonschema.validate(messages.sample(written), written)


@pytest.mark.parametrize(
    ("text", "held"), [("a b", "a b"), ("ü", "=?base64?w7w=?="), (" a", "=?base64?IGE=?="), ("a\n", "=?base64?YQo=?=")]
)
def test_headers_hold_any_name(text, held):
    assert messages.usual_headers({"method": "tools/call", "params": {"name": text}})["Mcp-Name"] == held
    schema = {"properties": {"a": {"x-mcp-header": "A"}, "b": {"x-mcp-header": "not a name"}, "c": {}}}
    assert messages.repeated(schema, {"a": text, "b": text, "c": text}) == {"Mcp-Param-A": held}


def test_what_is_no_list_holds_nothing():
    assert messages.listed({"tools": [{"name": "a"}, 1]}, "tools") == [{"name": "a"}]
    assert [messages.listed(result, "tools") for result in (None, {}, {"tools": True}, {"tools": {"a": 1}})] == [[], [], [], []]


def test_faults_of_messages():
    official = schema()
    complete = {"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "public"}
    assert official.faults({"jsonrpc": "2.0", "id": 1, "result": complete}, "tools/list") == []
    assert official.faults({"jsonrpc": "2.0", "id": 1, "result": {**complete, "ttlMs": "0"}}, "tools/list") != []
    assert official.faults({"jsonrpc": "2.0", "id": 1, "error": {"code": -32022, "message": "no"}}, "tools/list") != []
    assert official.faults({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}, "tools/list") == []
    assert official.faults([], "tools/list") == ["a message is no JSON object"]
    assert official.faults({"jsonrpc": "2.0", "id": 1}, "tools/list") != []
    assert (conforms({"a": 1}, {"type": "object"}), is_schema({"type": "object"})) == ("", "")
    assert "not of type" in conforms(1, {"type": "object"})
    assert is_schema({"type": "no type"}) != ""


PROOF = Proof(
    "python server.py",
    True,
    (
        Check("2026-07-28", "a | b", Outcome.FAILED, "there was [red]none[/red]", "basic/index"),
        Check("2026-07-28", "c", Outcome.PASSED),
        Check("older clients", "d", Outcome.WARNED, "e"),
    ),
    "Traceback",
)


def test_a_proof_is_told_in_three_ways():
    text = telling.text(PROOF)
    assert "2026-07-28: 1 passed, 1 failed" in text
    assert "FAIL a | b\n" in text
    assert "[red]none[/red]" in text
    assert "  Traceback" in text
    long = "word " * 60
    proof = dataclasses.replace(PROOF, checks=(Check("2026-07-28", "a", Outcome.FAILED, long + "end"),), log=long + "end")
    assert telling.text(proof).count(long + "end\n") == 2
    assert max(map(len, telling.text(proof, width=60).splitlines())) <= 60
    assert " c\n" not in text
    assert " c\n" in telling.text(PROOF, verbose=True)
    assert "1 of 3 checks failed." in text
    assert "✗ a | b\n" in telling.text(PROOF, signs=True)
    quiet = telling.text(PROOF, quiet=True)
    assert "FAIL a | b\n" in quiet
    assert [word for word in ("Traceback", "passed", "checks failed") if word in quiet] == []
    told = json.loads(telling.as_json(PROOF))
    assert (told["holds"], told["summary"]) == (False, {"passed": 1, "failed": 1, "warned": 1, "skipped": 0})
    assert [check["name"] for check in told["checks"]] == ["a | b", "c", "d"]
    markdown = telling.markdown(PROOF)
    assert "| 2026-07-28 | 1 | 1 | 0 | 0 |" in markdown
    assert "| failed | a \\| b | there was [red]none[/red] |" in markdown


def run(*argv: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("mcp-migrate")), "verify", *argv]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ((), "give one of --stdio, --start and --http"),
        (("--stdio", "a", "--http", "http://b"), "give one of --stdio, --start and --http"),
        (("--start", "server"), "--start needs {port}"),
        (("--http", "localhost:1"), "begins with http://"),
        (("--http", "http://a:port"), "no port that can be"),
        (("--http", "http:///mcp"), "there is no host"),
        (("--stdio", "'a"), "is no command line"),
        (("--stdio", "no-such-program"), "cannot run no-such-program"),
        (("--stdio", "a", "--call", "add {"), "are no JSON"),
        (("--stdio", "a", "--notify", "add => nothing"), "after the arrow comes one of"),
        (("--stdio", "a", "--header", "x"), "'Name: value'"),
        (("--stdio", "a", "--env", "x"), "NAME=VALUE"),
        (("--stdio", "a", "--against-command", "b"), "there is no --against"),
        (("--http", "http://a", "--against", "HEAD"), "--against starts two servers"),
        (("--stdio", "python -V", "--against", "HEAD"), "not a git repository"),
    ],
)
def test_what_cannot_be_asked_is_one_line_and_2(argv, said, tmp_path):
    done = run(*argv, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def git(folder: Path, *argv: str) -> None:
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *argv], cwd=folder, check=True, capture_output=True)


def test_what_calls_have_changed_is_no_difference(tmp_path):
    folder = tmp_path / "notes"
    shutil.copytree(servers.ROOT / "fixtures/servers/notes_chain/before", folder)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "before")
    assert servers.migrate("fix", ".", cwd=folder).returncode == 0
    # Its tool `add_note` makes a resource of each note, and is called with what its schema allows.
    done = run("--stdio", f"{sys.executable} -B server.py", "--against", "HEAD", "--timeout", "5", cwd=folder)
    assert done.returncode == 0, done.stdout
    assert re.search(r"compared: \d\d passed\n", done.stdout)


@pytest.mark.parametrize("put_right", [True, False], ids=["put right", "broken"])
def test_a_refusal_with_the_right_code_in_place_of_a_wrong_one_is_worth_a_look_and_no_failure(tmp_path, put_right):
    right = SERVER.read_text()
    wrong = right.replace('-32603 if has("wrong_code_for_unknown") else -32601', "-32603").replace('"version": "1.0"', '"version": "0.9"')
    assert wrong.count("-32601") == right.count("-32601") - 1
    git(tmp_path, "init", "-q")
    server = tmp_path / "server.py"
    server.write_text(wrong if put_right else right)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "before")
    server.write_text(right if put_right else wrong)
    done = run("--stdio", f"{sys.executable} server.py", "--against", "HEAD", "--timeout", "2", "--output-format", "json", cwd=tmp_path)
    outcomes = {check["name"]: check["outcome"] for check in json.loads(done.stdout)["checks"]}
    assert outcomes["older clients are told the same by an unknown method as at HEAD"] == ("warned" if put_right else "failed")
    assert outcomes["older clients are told the same by initialize as at HEAD"] == "passed"
    assert outcomes["the server names the version that it named at HEAD"] == "warned"
    assert done.returncode == (0 if put_right else 1)


def test_a_server_is_compared_with_what_it_was(tmp_path):
    git(tmp_path, "init", "-q")
    server = tmp_path / "server.py"
    server.write_text(SERVER.read_text())
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "before")
    ask = ("--stdio", f"{sys.executable} server.py", "--against", "HEAD", "--call", 'add {"a": 1, "b": 2} => 3', "--timeout", "2")
    done = run(*ask, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert re.search(r"compared: \d\d passed\n", done.stdout)
    server.write_text(SERVER.read_text().replace('"no such tool"', '"there is none"').replace('"name": "rename"', '"name": "renamed"'))
    done = run(*ask, cwd=tmp_path)
    assert done.returncode == 1
    assert "older clients are told the same by an unknown tool as at HEAD" in done.stdout
    assert "gone: rename; new: renamed" in done.stdout
    worktrees = subprocess.run(["git", "worktree", "list"], cwd=tmp_path, capture_output=True, text=True).stdout
    assert len(worktrees.splitlines()) == 1
    done = run("--stdio", "python server.py", "--against", "no-such-revision", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "mcp-migrate: error: git knows no revision 'no-such-revision'\n")


def test_a_former_revision_is_checked_out_without_hooks_and_takes_no_other_work_tree_away(tmp_path):
    repository, other = tmp_path / "repository", tmp_path / "other"
    repository.mkdir()
    git(repository, "init", "-q")
    git(repository, "commit", "--allow-empty", "-qm", "before")
    git(repository, "worktree", "add", "--detach", "-q", str(other))
    shutil.move(other, tmp_path / "elsewhere")  # as on a drive that is not there now
    hook = repository / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch '{tmp_path / 'ran'}'\n")
    hook.chmod(0o755)
    with revision.checkout("HEAD", str(repository)) as folder:
        assert Path(folder).is_dir()
    assert not Path(folder).exists()
    assert not (tmp_path / "ran").exists()
    assert [path.name for path in (repository / ".git/worktrees").iterdir()] == ["other"]


OFFICIAL = """
import sys
from mcp.server.mcpserver import MCPServer

mcp = MCPServer("demo", version="1.0")


@mcp.tool()
def add(a: int, b: int) -> int:
    return a + b


@mcp.resource("test://a")
def a() -> str:
    return "A"


@mcp.prompt()
def p() -> str:
    return "P"


mcp.run(transport=sys.argv[1], **({"port": int(sys.argv[2])} if len(sys.argv) > 2 else {}))
"""


@pytest.mark.parametrize("way", ["stdio", "start"])
def test_a_server_of_the_official_sdk_passes(way, tmp_path):
    script = tmp_path / "server.py"
    script.write_text(OFFICIAL)
    command = f"{sdk.python(2)} {script} " + ("stdio" if way == "stdio" else "streamable-http {port}")
    proof = verify(Target(**{way: command}), Wishes(plan=Plan(CALLS[:1])))  # type: ignore[arg-type]
    assert [check for check in proof.checks if check.outcome is Outcome.FAILED] == []
    # Both are what that release does, and no MUST.
    warned = [check.name for check in proof.checks if check.outcome is Outcome.WARNED]
    assert warned == ["an unknown tool is refused with -32602", "an unknown prompt is refused with -32602"]


MOVED = {one.name: one for one in servers.load() if one.fix == "migrates" and one.judged_dual == "dual"}


@pytest.fixture(scope="module")
def moved(tmp_path_factory) -> dict[str, Proof]:
    """What is said of what `fix` makes of each server; several at once, for the same reason."""
    scratch = tmp_path_factory.mktemp("moved")
    folders = [servers.copy(server.before, scratch / server.name) for server in MOVED.values()]
    for folder in folders:  # in this process, which has one working folder
        servers.migrate("fix", ".", cwd=folder)
    with ThreadPoolExecutor(4) as pool:
        return dict(zip(MOVED, pool.map(proof_of, MOVED.values(), folders), strict=True))


def proof_of(server: servers.Server, folder: Path) -> Proof:
    calls = tuple(map(messages.call, server.calls))
    notices = tuple(Notice(call, *call.text.partition(" ")[::2]) for call in map(messages.call, server.notify))
    target = Target(
        stdio="" if server.http else shlex.join(server.argv),
        start=shlex.join(server.argv).replace("'{port}'", "{port}") if server.http else "",
        path=server.path,
        folder=str(folder),
        env=server.environment,
    )
    return verify(target, Wishes(plan=Plan(calls), notices=notices))


@pytest.mark.parametrize("name", MOVED)
def test_what_fix_makes_of_a_server_passes(moved, name):
    assert [check for check in moved[name].checks if check.outcome in (Outcome.FAILED, Outcome.WARNED)] == []


def test_a_package_that_is_installed_in_place_is_compared_with_what_it_was_and_not_with_itself(tmp_path, monkeypatch):
    package = tmp_path / "src" / "desk"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    server = package / "__main__.py"
    server.write_text(SERVER.read_text())
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "before")
    server.write_text(SERVER.read_text().replace('"name": "rename"', '"name": "renamed"'))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "src"))
    done = run("--stdio", f"{sys.executable} -m desk", "--against", "HEAD", "--timeout", "2", cwd=tmp_path)
    assert "gone: rename; new: renamed" in done.stdout


def test_no_module_of_a_work_tree_takes_the_place_of_one_that_servers_stand_on(tmp_path):
    (tmp_path / "src").mkdir()
    assert revision.search_path(str(tmp_path), "") == f"{tmp_path}/src{os.pathsep}{tmp_path}"
    (tmp_path / "queue.py").touch()
    (tmp_path / "src" / "mcp").mkdir()
    assert revision.search_path(str(tmp_path), "other") == f"{tmp_path}/src{os.pathsep}other"
    (tmp_path / "src" / "mcp" / "__init__.py").touch()
    assert revision.search_path(str(tmp_path), "other") == "other"


def test_a_server_that_promises_more_is_asked_more_and_answers_the_rest_as_before(tmp_path):
    git(tmp_path, "init", "-q")
    server = tmp_path / "server.py"
    server.write_text(SERVER.read_text())
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "before")
    more = '"capabilities": {**capabilities(), "logging": {}}, "serverInfo": INFO'
    server.write_text(SERVER.read_text().replace('"capabilities": capabilities(), "serverInfo": INFO', more))
    ask = ("--stdio", f"{sys.executable} server.py", "--against", "HEAD", "--call", 'add {"a": 1, "b": 2} => 3')
    done = run(*ask, "--timeout", "2", "--output-format", "json", cwd=tmp_path)
    outcomes = {check["name"]: check["outcome"] for check in json.loads(done.stdout)["checks"] if check["name"].endswith("HEAD")}
    differ = [name for name, outcome in outcomes.items() if outcome != "passed"]
    assert differ == ["older clients are told the same by initialize as at HEAD"]
    assert "older clients are told the same by an unknown tool as at HEAD" in outcomes
