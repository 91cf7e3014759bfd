"""The module that `fix` writes beside a client: what it sends for one call, and what the call gives back."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from mcp_migrate.rewrite import module

PREFIX = "io.modelcontextprotocol/"
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"roots": {}, "experimental": {"x": {}}},
    "clientInfo": {"name": "c", "version": "1"},
}
FOUND = {
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "instructions": "be kind",
    "_meta": {f"{PREFIX}serverInfo": {"name": "s", "version": "2"}},
}
Answers = Callable[[str, dict[str, Any]], Any]


@pytest.fixture(scope="module")
def runtime() -> Iterator[ModuleType]:
    made = ModuleType("mcp_stateless_client")
    with pytest.MonkeyPatch.context() as patch:
        # Dataclasses look their module up.
        patch.setitem(sys.modules, made.__name__, made)
        exec(compile(module.client(), "mcp_stateless_client.py", "exec"), made.__dict__)
        yield made


class Line:
    """A client that notes what it sends, with the headers, and gives what `answers` says; an exception is raised."""

    def __init__(self, era: Any, answers: Answers) -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.headers: list[dict[str, str]] = []

        @era.sends(owner="line")
        def send(line: Line, method: str, params: dict[str, Any] | None = None) -> Any:
            self.sent.append((method, params or {}))
            self.headers.append(era.headers({"Accept": "*/*", "mcp-session-id": "old"}))
            answer = answers(method, params or {})
            if isinstance(answer, BaseException):
                raise answer
            return answer

        self._send = send

    def __call__(self, method: str, params: dict[str, Any] | None = None) -> Any:
        return self._send(self, method, params)

    @property
    def methods(self) -> list[str]:
        return [method for method, _ in self.sent]


def results(method: str, params: dict[str, Any]) -> Any:
    return FOUND if method == "server/discover" else {"resultType": "complete", "content": []}


def refusals(failure: Any) -> Answers:
    """A server of an earlier revision, which refuses a probe in its own way."""
    return lambda method, params: failure if method == "server/discover" else {"protocolVersion": "2025-06-18", "of": method}


def test_a_modern_server_is_opened_with_what_the_handshake_would_have_said(runtime: ModuleType) -> None:
    line = Line(runtime.Era(), results)
    opened = line("initialize", HELLO)
    assert opened["protocolVersion"] == "2026-07-28"
    assert opened["serverInfo"] == {"name": "s", "version": "2"}
    assert opened["capabilities"] == {"tools": {}}
    assert opened["instructions"] == "be kind"
    # Nothing answers questions here, so none may be asked.
    meta = {
        f"{PREFIX}protocolVersion": "2026-07-28",
        f"{PREFIX}clientCapabilities": {"experimental": {"x": {}}},
        f"{PREFIX}clientInfo": HELLO["clientInfo"],
    }
    assert line.sent == [("server/discover", {"_meta": meta})]
    assert line("notifications/initialized") is None
    line("tools/call", {"name": "add", "_meta": {"progressToken": 7}})
    assert line.sent[1:] == [("tools/call", {"name": "add", "_meta": {"progressToken": 7, **meta}})]


def test_headers_repeat_the_request(runtime: ModuleType) -> None:
    line = Line(runtime.Era(), results)
    line("initialize", HELLO)
    line("resources/read", {"uri": "file:///größe"})
    line("prompts/get", {"name": "=?base64?eA==?="})
    line("tools/call", {"name": "two words"})
    line("tools/list")
    common = {"Accept": "*/*", "MCP-Protocol-Version": "2026-07-28"}
    assert line.headers == [
        {**common, "Mcp-Method": "server/discover"},
        {**common, "Mcp-Method": "resources/read", "Mcp-Name": "=?base64?ZmlsZTovLy9ncsO2w59l?="},
        {**common, "Mcp-Method": "prompts/get", "Mcp-Name": "=?base64?PT9iYXNlNjQ/ZUE9PT89?="},
        {**common, "Mcp-Method": "tools/call", "Mcp-Name": "two words"},
        {**common, "Mcp-Method": "tools/list"},
    ]


@pytest.mark.parametrize(
    "failure",
    [
        RuntimeError("HTTP 404"),
        RuntimeError("{'code': -32601}"),
        SystemExit("no"),
        {"code": -32602, "message": "not initialized"},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32600, "message": "initialize first"}},
        {
            "jsonrpc": "2.0",
            "id": 1,
            "error": {"code": -32022, "message": "no", "data": {"supported": ["2025-11-25"], "requested": "2026-07-28"}},
        },
        None,
    ],
    ids=repr,
)
def test_any_other_answer_means_an_older_server(runtime: ModuleType, failure: Any) -> None:
    line = Line(runtime.Era(), refusals(failure))
    assert line("initialize", HELLO) == {"protocolVersion": "2025-06-18", "of": "initialize"}
    line("notifications/initialized")
    line("tools/list", {"cursor": "1"})
    assert line.sent[1:] == [("initialize", HELLO), ("notifications/initialized", {}), ("tools/list", {"cursor": "1"})]
    assert line.headers[1:] == [{"Accept": "*/*", "mcp-session-id": "old"}] * 3


@pytest.mark.parametrize("as_reply", [True, False])
def test_a_server_of_later_revisions_only_is_not_asked_for_a_handshake(runtime: ModuleType, as_reply: bool) -> None:
    error = {"code": -32022, "message": "no", "data": {"supported": ["2027-01-01"], "requested": "2026-07-28"}}
    failure: Any = {"jsonrpc": "2.0", "id": 1, "error": error} if as_reply else RuntimeError(str(error))
    line = Line(runtime.Era(), refusals(failure))
    if as_reply:
        assert line("initialize", HELLO) == failure
    else:
        with pytest.raises(RuntimeError, match="2027-01-01"):
            line("initialize", HELLO)
    assert line.methods == ["server/discover"]


def test_without_older_servers_nothing_is_tried_again(runtime: ModuleType) -> None:
    line = Line(runtime.Era(legacy=False), refusals(RuntimeError("HTTP 404")))
    with pytest.raises(RuntimeError, match="404"):
        line("server/discover", HELLO)
    assert line.methods == ["server/discover"]
    assert line("tools/list")["of"] == "tools/list"
    assert line.sent[1][1]["_meta"][f"{PREFIX}protocolVersion"] == "2026-07-28"


def test_removed_requests_become_what_does_their_work(runtime: ModuleType) -> None:
    line = Line(runtime.Era(), results)
    line("initialize", HELLO)
    assert line("ping") == {}
    assert line("logging/setLevel", {"level": "error"}) == {}
    assert line.methods == ["server/discover"] * 3
    line("tools/call", {"name": "x"})
    assert line.sent[-1][1]["_meta"][f"{PREFIX}logLevel"] == "error"


def test_whole_replies_stay_whole(runtime: ModuleType) -> None:
    def answers(method: str, params: dict[str, Any]) -> Any:
        return {"jsonrpc": "2.0", "id": 4, "result": results(method, params)}

    line = Line(runtime.Era(), answers)
    assert line("initialize", HELLO)["result"]["serverInfo"]["name"] == "s"
    assert line("tools/call", {"name": "add"}) == {"jsonrpc": "2.0", "id": 4, "result": {"resultType": "complete", "content": []}}


def test_questions_are_answered_and_the_state_goes_back_untouched(runtime: ModuleType) -> None:
    asked = {"q": {"method": "elicitation/create", "params": {"message": "Sure?"}}}

    def answers(method: str, params: dict[str, Any]) -> Any:
        if method == "server/discover" or "inputResponses" in params:
            return results(method, params)
        return {"resultType": "input_required", "inputRequests": asked, "requestState": "v1.x"}

    def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert (method, params) == ("elicitation/create", {"message": "Sure?"})
        return {"action": "accept"}

    line = Line(runtime.Era(answer=answer), answers)
    line("initialize", {**HELLO, "capabilities": {"elicitation": {}}})
    assert line("tools/call", {"name": "rm"}) == {"resultType": "complete", "content": []}
    again = line.sent[-1][1]
    assert again["inputResponses"] == {"q": {"action": "accept"}}
    assert again["requestState"] == "v1.x"
    assert again["_meta"][f"{PREFIX}clientCapabilities"] == {"elicitation": {}}


def test_a_question_that_nobody_may_ask_and_an_unknown_result_are_errors(runtime: ModuleType) -> None:
    asked = {"q": {"method": "roots/list"}}
    for result, error in [({"resultType": "input_required", "inputRequests": asked}, "roots/list"), ({"resultType": "task"}, "task")]:
        line = Line(runtime.Era(), lambda method, params, result=result: FOUND if method == "server/discover" else result)  # type: ignore[misc]
        line("initialize", HELLO)
        with pytest.raises((RuntimeError, ValueError), match=error):
            line("tools/call", {"name": "x"})


def test_annotated_arguments_become_headers_and_wrongly_annotated_tools_go(runtime: ModuleType) -> None:
    def tool(name: str, **properties: Any) -> dict[str, Any]:
        return {"name": name, "inputSchema": {"type": "object", "properties": properties}}

    tools = [
        tool(
            "pick",
            depot={"type": "string", "x-mcp-header": "Depot"},
            deep={"properties": {"on": {"type": "boolean", "x-mcp-header": "On"}}},
        ),
        tool("bad_name", a={"type": "string", "x-mcp-header": "a b"}),
        tool("bad_type", a={"type": "number", "x-mcp-header": "A"}),
        tool("bad_place", a={"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}),
        tool("twice", a={"type": "string", "x-mcp-header": "A"}, b={"type": "string", "x-mcp-header": "a"}),
    ]
    line = Line(runtime.Era(), lambda method, params: {"tools": tools} if method == "tools/list" else results(method, params))
    line("initialize", HELLO)
    assert [one["name"] for one in line("tools/list")["tools"]] == ["pick"]
    line("tools/call", {"name": "pick", "arguments": {"depot": "Köln", "deep": {"on": True}}})
    assert {name: value for name, value in line.headers[-1].items() if "Param" in name} == {
        "Mcp-Param-Depot": "=?base64?S8O2bG4=?=",
        "Mcp-Param-On": "true",
    }


def test_connections_are_kept_apart_and_forgotten(runtime: ModuleType) -> None:
    era = runtime.Era()
    modern, older = Line(era, results), Line(era, refusals(None))
    modern("initialize", HELLO)
    older("initialize", HELLO)
    assert (era.modern(modern), era.modern(older)) == (True, False)
    del modern, older
    gc.collect()
    assert era._connections == {}


def test_whole_messages_keep_their_number_but_for_later_rounds(runtime: ModuleType) -> None:
    era, sent = runtime.Era(), list[dict[str, Any]]()

    @era.sends(message="message")
    async def send(message: dict[str, Any]) -> Any:
        sent.append(message)
        method = message["method"]
        rounds = {"resultType": "input_required", "requestState": "s"} if "requestState" not in message.get("params", {}) else {}
        return {"jsonrpc": "2.0", "id": message["id"], "result": FOUND if method == "server/discover" else rounds}

    async def talk() -> None:
        await send({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO})
        assert await send({"jsonrpc": "2.0", "method": "notifications/initialized"}) is None
        assert (await send({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "x"}}))["result"] == {}

    asyncio.run(talk())
    assert [(one["method"], one["id"]) for one in sent] == [("server/discover", 1), ("tools/call", 2), ("tools/call", "2-2")]


def test_the_session_of_a_refused_probe_is_forgotten(runtime: ModuleType) -> None:
    era = runtime.Era()

    class Client:
        session: str | None = None

        @era.sends(session="session")  # type: ignore[untyped-decorator]
        def send(self, method: str, params: dict[str, Any]) -> Any:
            held, self.session = self.session, "opened for " + method
            return {"error": "no"} if method == "server/discover" else {"held": held}

    client = Client()
    assert client.send("initialize", HELLO) == {"held": None}
    assert client.send("tools/list", {}) == {"held": "opened for initialize"}


def test_a_client_that_never_opens_a_connection_is_left_as_it_is(runtime: ModuleType) -> None:
    line = Line(runtime.Era(), results)
    line("tools/list", {"cursor": "2"})
    assert line.sent == [("tools/list", {"cursor": "2"})]


def test_a_server_that_does_not_answer_is_an_older_one(runtime: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_PATIENCE", 0.01)
    sent = list[str]()

    @runtime.Era().sends  # type: ignore[untyped-decorator]
    async def send(method: str, params: dict[str, Any]) -> Any:
        sent.append(method)
        return await asyncio.Event().wait() if method == "server/discover" else {"protocolVersion": "2025-06-18"}

    assert asyncio.run(send("initialize", HELLO)) == {"protocolVersion": "2025-06-18"}
    assert sent == ["server/discover", "initialize"]
