"""Whole legacy servers: `fix` migrates them without a hand edit, and the clients of both SDK majors agree.

Set MCP_MIGRATE_UPDATE=1 to rewrite the expected texts under `fixtures/servers/*/after_*`.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import sdk
from http_wire import SESSION, Answer, HttpWire, serving
from servers import META, MODERN, ROOT, Call, Client, Hosts, Server, copy, dialogue, left, load, migrate, migrated, talking, texts

BOUNDARY = "mcp_stateless.py"
CLIENTS = ROOT / "tests" / "clients"
SERVERS = load()
MIGRATING = [server for server in SERVERS if server.fix == "migrates"]
REPORTED = [server for server in SERVERS if server.fix == "report"]
ASKING = [server for server in MIGRATING if server.needs]
REMOTE = [server for server in MIGRATING if server.http]
REMOVED = ("ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe")
EVENTS = {
    "notifications/resources/updated": "ResourceUpdated",
    "notifications/resources/list_changed": "ResourcesListChanged",
    "notifications/tools/list_changed": "ToolsListChanged",
    "notifications/prompts/list_changed": "PromptsListChanged",
}

# Grouped by server, so that an HTTP server need not start anew for every test.
one_by_one = pytest.mark.parametrize("server", MIGRATING, ids=lambda server: server.name, scope="module")
both_eras = pytest.mark.parametrize("era", ["dual", "modern"])


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    up = Hosts()
    yield up
    up.close()


def _client(major: int, hosts: Hosts) -> Iterator[Client]:
    client = Client(sdk.python(major), CLIENTS / f"client_v{major}.py", hosts)
    yield client
    client.close()


@pytest.fixture(scope="module")
def v1(hosts: Hosts) -> Iterator[Client]:
    yield from _client(1, hosts)


@pytest.fixture(scope="module")
def v2(hosts: Hosts) -> Iterator[Client]:
    yield from _client(2, hosts)


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
def test_the_untouched_server_serves_its_time(server: Server, v1: Client, v2: Client) -> None:
    serves_a_legacy_client(server, v1.session(server, server.before))
    serves_a_legacy_client(server, v2.session(server, server.before, mode="legacy"))


@one_by_one
@both_eras
def test_fix_leaves_only_what_is_a_decision(server: Server, era: str) -> None:
    assert sorted({finding["rule"] for finding in left(server, era)}) == sorted(server.left.get(era, ())), migrated(server, era).output


@one_by_one
@both_eras
def test_fix_writes_exactly_this(server: Server, era: str) -> None:
    written = texts(migrated(server, era).folder)
    assert [name for name in written if name.rpartition("/")[2] == BOUNDARY], "no boundary module was written"
    # The boundary module has tests of its own; what matters here is what happened to the user's files.
    kept = {name: text for name, text in written.items() if name.rpartition("/")[2] != BOUNDARY}
    if os.environ.get("MCP_MIGRATE_UPDATE"):
        _update(server.after(era), kept)
    assert kept == texts(server.after(era))


@one_by_one
@both_eras
def test_a_second_run_changes_nothing(server: Server, era: str, tmp_path: Path) -> None:
    first = migrated(server, era).folder
    again = copy(first, tmp_path / "again")
    done = migrate("fix", "--era", era, ".", cwd=again)
    assert texts(again) == texts(first), done.stdout + done.stderr


@one_by_one
@both_eras
@pytest.mark.parametrize("mode", [MODERN, "auto"])
def test_a_current_client_can_use_everything(server: Server, era: str, mode: str, v2: Client) -> None:
    report = v2.session(server, migrated(server, era).folder, mode=mode)
    assert report["version"] == MODERN
    serves_everything(server, report)
    assert report["missing"] == (-32602 if server.missing else None)
    assert report["events"] == [_event(Call.parse(text)) for text in server.notify]
    assert report["logs"] == [], "nobody asked for log messages"


@pytest.mark.parametrize("server", [server for server in MIGRATING if server.logs], ids=lambda server: server.name)
@both_eras
def test_a_request_sets_its_own_log_level(server: Server, era: str, v2: Client) -> None:
    for level, expected in server.logs.items():
        report = v2.session(server, migrated(server, era).folder, mode=MODERN, log_level=level, notify=[])
        assert report["logs"] == expected


@one_by_one
def test_clients_of_the_handshake_era_are_served_as_before(server: Server, v1: Client, v2: Client, tmp_path: Path) -> None:
    # Servers in folders of their own: none of the two has kept what another test stored in it.
    folder, before = copy(migrated(server, "dual").folder, tmp_path / "after"), copy(server.before, tmp_path / "before")
    level = "debug" if server.logs else None
    for client, job in ((v1, {"log_level": level}), (v2, {"mode": "legacy"})):
        report = client.session(server, folder, **job)
        serves_a_legacy_client(server, report)
        assert report == client.session(server, before, **job)


@one_by_one
def test_a_legacy_session_has_the_same_bytes_as_before(server: Server) -> None:
    assert dialogue(server, migrated(server, "dual").folder) == dialogue(server, server.before)


@one_by_one
def test_a_modern_only_server_refuses_the_handshake_and_names_its_revision(server: Server) -> None:
    with talking(server, migrated(server, "modern").folder) as wire:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
        refused = wire.ask("initialize", hello, meta=None)
        assert MODERN in json.dumps(refused["error"])
        assert "error" in wire.ask("tools/list", {}, meta=None)


@one_by_one
@both_eras
def test_requests_get_the_errors_of_the_revision(server: Server, era: str) -> None:
    with talking(server, migrated(server, era).folder) as wire:

        def code(method: str, params: dict[str, Any] | None = None, **meta: Any) -> Any:
            reply = wire.ask(method, params, meta={**META, **{f"io.modelcontextprotocol/{key}": value for key, value in meta.items()}})
            return reply.get("error", {}).get("code")

        assert code("tools/list") is None, "the first request of a process is served"
        assert {method: code(method) for method in REMOVED} == dict.fromkeys(REMOVED, -32601)
        assert code("initialize") is not None
        assert code("no/such/method") == -32601
        assert code("tools/call", {"name": "no_such_tool", "arguments": {}}) == -32602
        assert code("tools/list", protocolVersion="1999-01-01") == -32022
        assert code("tools/list", clientCapabilities=None) == -32602
        # A server without log messages has nothing to check the level against.
        assert code("tools/list", logLevel="loud") == (-32602 if server.logs else None)
        discovered = wire.ask("server/discover", meta=META)["result"]
        assert discovered["supportedVersions"] == [MODERN]
        for capability, listing in (("resources", "resources/list"), ("prompts", "prompts/list")):
            expected = None if capability in discovered["capabilities"] else -32601
            assert code(listing) == expected, f"{listing} does not fit the declared {list(discovered['capabilities'])}"


@one_by_one
@both_eras
def test_a_notification_is_never_answered(server: Server, era: str) -> None:
    with talking(server, migrated(server, era).folder) as wire:
        wire.ask("server/discover", meta=META)
        for method in ("notifications/cancelled", "notifications/initialized", "notifications/no/such"):
            wire.notify(method, {"requestId": "nothing"}, meta=META if server.http else None)
        assert "result" in wire.ask("tools/list", meta=META)
        assert wire.close() == b""


@pytest.mark.parametrize("server", ASKING, ids=lambda server: server.name)
@both_eras
def test_a_tool_that_asks_a_client_without_the_capability_is_refused(server: Server, era: str) -> None:
    with talking(server, migrated(server, era).folder) as wire:
        for name, arguments in server.needs.items():
            error = wire.ask("tools/call", {"name": name, "arguments": arguments}, meta=META)["error"]
            assert (error["code"], len(error["data"]["requiredCapabilities"])) == (-32021, 1)


@pytest.mark.parametrize("server", REPORTED, ids=lambda server: server.name)
@both_eras
def test_a_server_that_cannot_be_proven_is_reported_and_left_alone(server: Server, era: str) -> None:
    done = migrated(server, era)
    assert done.status == 1, done.output
    assert texts(done.folder) == texts(server.before)
    assert "server/discover" in done.output


@pytest.mark.parametrize("server", REMOTE, ids=lambda server: server.name)
@both_eras
def test_http_answers_have_the_status_of_the_revision(server: Server, era: str) -> None:
    with remote(server, migrated(server, era).folder) as wire:

        def asked(method: str, params: dict[str, Any] | None = None, *, meta: Mapping[str, Any] = META, **headers: str | None) -> Answer:
            answer = wire.exchange(method, params, meta=meta, **headers)
            assert SESSION.lower() not in answer.headers
            return answer

        listed, unknown = asked("tools/list"), {"name": "no_such_tool", "arguments": {}}
        assert (listed.status, list(listed.messages[0])) == (200, ["jsonrpc", "id", "result"])
        assert seen(asked("no/such/method")) == (404, -32601)
        assert seen(asked("initialize")) == (404, -32601)
        # A client would take a 400 for an older server.
        assert seen(asked("tools/call", unknown)) == (200, -32602)
        assert seen(asked("tools/list", meta={**META, "io.modelcontextprotocol/protocolVersion": "1999-01-01"})) == (400, -32022)
        assert seen(asked("tools/list", MCP_Protocol_Version="2025-06-18")) == (400, -32020)
        assert seen(asked("tools/list", MCP_Protocol_Version=None)) == (400, -32020)
        assert seen(asked("tools/list", Mcp_Method="tools/call")) == (400, -32020)
        assert seen(asked("tools/call", unknown, Mcp_Name="another_tool")) == (400, -32020)
        encoded = base64.b64encode(b"no_such_tool").decode()
        assert seen(asked("tools/call", unknown, Mcp_Name=f"=?base64?{encoded}?=")) == (200, -32602)


@pytest.mark.parametrize("server", REMOTE, ids=lambda server: server.name)
@both_eras
def test_the_endpoint_has_no_stream_and_no_session_for_current_clients(server: Server, era: str) -> None:
    current = {"MCP-Protocol-Version": MODERN}
    with remote(server, migrated(server, era).folder) as wire:
        for verb in ("GET", "DELETE"):
            assert wire.send("", current, verb=verb).status == 405
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
        assert wire.send(json.dumps([request, request]), {**current, "Mcp-Method": "tools/list"}).status == 400
        told = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "nothing", "_meta": META}}
        answer = wire.send(json.dumps(told), {**current, "Mcp-Method": "notifications/cancelled"})
        assert (answer.status, answer.body) == (202, "")


def remote(server: Server, folder: Path) -> AbstractContextManager[HttpWire]:
    return serving(server.argv, folder, server.path, server.environment)


def seen(answer: Answer) -> tuple[int, int]:
    return answer.status, answer.messages[0]["error"]["code"]


def serves_everything(server: Server, report: dict[str, Any]) -> None:
    """Assert that a session found all that the server has."""
    assert "trouble" not in report, report["trouble"]
    calls = [Call.parse(text) for text in server.calls]
    for call, text in zip(calls, report["calls"], strict=True):
        assert call.expect in str(text), call.name
    assert {call.name for call in calls} == set(report["tools"])
    assert set(server.reads) <= set(report["resources"])
    for uri, expected in server.reads.items():
        assert expected in str(report["reads"][uri])
    assert sorted(server.prompts) == sorted(report["prompts"])
    for name, arguments in server.prompts.items():
        assert all(value in str(report["gets"][name]) for value in arguments.values())
    assert len(report["asked"]) == (len(server.needs) if server.questions is None else server.questions)


def serves_a_legacy_client(server: Server, report: dict[str, Any]) -> None:
    serves_everything(server, report)
    assert report["version"] < MODERN
    assert report["missing"] == (-32002 if server.missing else None)


def _event(call: Call) -> list[str | None]:
    method, _, uri = call.expect.partition(" ")
    return [EVENTS[method], uri or None]


def _update(folder: Path, files: dict[str, str]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
