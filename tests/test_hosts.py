"""The HTTP hosts of the boundary module, on the frameworks themselves and on applications without one."""

from __future__ import annotations

import asyncio
import base64
import http.client
import io
import itertools
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import sdk
from mcp_migrate.rewrite.module import Part, render

MODERN = "2026-07-28"
OURS = "io.modelcontextprotocol/"
APPS = Path(__file__).resolve().parent / "hosts"
SERVERS = {
    "fastapi": (Part.ASGI, "fastapi_app.py"),
    "fastapi-router": (Part.FASTAPI_ROUTE, "router_app.py"),
    "starlette": (Part.ASGI, "starlette_app.py"),
    "starlette-endpoint": (Part.STARLETTE, "endpoint_app.py"),
    "flask": (Part.WSGI, "flask_app.py"),
    "flask-blueprint": (Part.FLASK, "blueprint_app.py"),
    "django": (Part.DJANGO, "django_app.py"),
    "django-asgi": (Part.DJANGO, "django_app.py asgi"),
    "django-rest": (Part.DJANGO, "rest_app.py"),
    "aiohttp": (Part.AIOHTTP, "aiohttp_app.py"),
    "tornado": (Part.TORNADO, "tornado_app.py"),
    "http.server": (Part.HTTP_SERVER, "http_server_app.py"),
}
CALLER = {"elicitation": {"form": {}}}


def request(method: str, params: Any = None, *, id: Any = 1, **client: Any) -> dict[str, Any]:
    meta = {OURS + "protocolVersion": MODERN, OURS + "clientCapabilities": client, "progressToken": 1}
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**(params or {}), "_meta": meta}}


def call(name: str, *, id: Any = 1, more: Any = None, client: Any = None, **arguments: Any) -> dict[str, Any]:
    return request("tools/call", {"name": name, "arguments": arguments, **(more or {})}, id=id, **(client or {}))


def legacy(method: str, params: Any = None, *, id: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, **({} if params is None else {"params": params})}


def headers(message: Any, **more: str) -> dict[str, str]:
    method = message["method"]
    name = message.get("params", {}).get({"tools/call": "name", "resources/read": "uri"}.get(method, ""))
    named = {} if name is None else {"Mcp-Name": name}
    return {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, **named, **more}


class Server:
    """A running server of `tests/hosts`."""

    def __init__(self, port: int) -> None:
        self.port = port

    def open(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)

    def ask(
        self, path: str, body: Any, given: dict[str, str] | None = None, verb: str = "POST", connection: Any = None
    ) -> tuple[int, Any, Any]:
        own = connection or self.open()
        sent = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        common = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        own.request(verb, path, sent, {**common, **(headers(body) if given is None else given)})
        response = own.getresponse()
        text = response.read()
        if connection is None:
            own.close()
        return response.status, response.headers, content(response.headers, text)

    def streams(self) -> int:
        """How many listen streams are open."""
        return int(self.ask("/dual", call("streams"))[2]["result"]["content"][0]["text"])


def content(given: Any, text: bytes) -> Any:
    """A JSON body, or the reply at the end of an event stream."""
    if "event-stream" in given.get("content-type", ""):
        return [json.loads(line[5:]) for line in text.split(b"\n") if line.startswith(b"data:")][-1]
    return json.loads(text) if text else None


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Server]]:
    """Starts each server once, with a boundary module of just its parts."""
    running: dict[str, tuple[Server, subprocess.Popen[bytes]]] = {}

    def started(name: str) -> Server:
        if name not in running:
            part, command = SERVERS[name]
            folder = tmp_path_factory.mktemp("boundary")
            (folder / "mcp_stateless.py").write_text(render(frozenset({part, Part.STREAMS, Part.ASK})), encoding="utf-8")
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
            script, *rest = command.split()
            process = subprocess.Popen(
                [str(sdk.frameworks()), str(APPS / script), str(port), *rest],
                env={**os.environ, "PYTHONPATH": str(folder)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            running[name] = (Server(port), process)
            until(lambda: reachable(port))
        return running[name][0]

    yield started
    for _, process in running.values():
        process.kill()
        process.wait()


def reachable(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.05)


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest, start: Callable[[str], Server]) -> Server:
    return start(request.param)


# -- frameworks -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/dual", "/modern"])
def test_requests_of_this_revision_are_served_without_a_session(server: Server, path: str) -> None:
    status, given, found = server.ask(path, request("server/discover", id="d"))
    assert (status, found["id"], found["result"]["supportedVersions"]) == (200, "d", [MODERN])
    assert found["result"]["capabilities"] == {"tools": {"listChanged": True}, "resources": {"subscribe": True}}
    message = call("count", item="nails")
    status, given, found = server.ask(path, message, headers(message, **{"Mcp-Session-Id": "gone", "Last-Event-ID": "7"}))
    assert status == 200
    assert "mcp-session-id" not in given
    assert found["result"]["content"] == [{"type": "text", "text": "5"}]
    assert found["result"]["resultType"] == "complete"
    assert server.ask(path, request("tools/list"))[2]["result"]["ttlMs"] == 0


@pytest.mark.parametrize("path", ["/dual", "/modern"])
def test_protocol_errors_have_the_status_of_their_code(server: Server, path: str) -> None:
    tools, broken = request("tools/list"), legacy("tools/list", {})
    missing = request("resources/read", {"uri": "shed://x"})
    for body, given, status, code in (
        (request("no/such"), None, 404, -32601),
        (request("initialize"), None, 404, -32601),
        (broken, headers(tools), 400, -32602),
        (tools, {**headers(tools), "Mcp-Method": "ping"}, 400, -32020),
        (call("count"), headers(tools), 400, -32020),
        ([tools], headers(tools), 400, -32600),
        (b"{", headers(tools), 400, -32700),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, headers(tools), 400, -32600),
        (missing, None, 200, -32602),
        (call("sure"), None, 400, -32021),
    ):
        found = server.ask(path, body, given)
        assert (found[2]["error"]["code"], found[0] if "event" not in found[1]["content-type"] else status) == (code, status), body


@pytest.mark.parametrize("path", ["/dual", "/modern"])
def test_notifications_are_accepted_and_other_verbs_refused(server: Server, path: str) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    assert (server.ask(path, note)[0], server.ask(path, note)[2]) == (202, None)
    for verb in ("GET", "DELETE"):
        assert server.ask(path, None, {"MCP-Protocol-Version": MODERN}, verb)[0] == 405


def test_who_asks_for_a_page_gets_what_the_server_has(server: Server) -> None:
    def status(path: str, accept: str) -> int:
        connection = server.open()
        connection.request("GET", path, headers={"Accept": accept})
        found = connection.getresponse().status
        connection.close()
        return found

    assert status("/modern", "text/html") == status("/dual", "text/html")
    assert status("/modern", "text/event-stream") == 405


@pytest.mark.parametrize("path", ["/dual", "/modern"])
def test_a_question_leaves_every_framework_and_its_answer_comes_back(server: Server, path: str) -> None:
    asked = server.ask(path, call("sure", client=CALLER))[2]["result"]
    assert asked["resultType"] == "input_required"
    (key,) = asked["inputRequests"]
    more = {"inputResponses": {key: {"action": "decline"}}, "requestState": asked["requestState"]}
    assert server.ask(path, call("sure", client=CALLER, more=more))[2]["result"]["content"][0]["text"] == "decline"


def test_endpoints_in_threads_know_the_request(start: Callable[[str], Server]) -> None:
    server = start("fastapi")
    assert server.ask("/sync/dual", call("count", item="nails"))[2]["result"]["content"][0]["text"] == "5"
    assert server.ask("/sync/dual", call("sure", client=CALLER))[2]["result"]["resultType"] == "input_required"


def test_older_clients_get_the_same_bytes_as_without_the_boundary(server: Server) -> None:
    session = {"Mcp-Session-Id": server.ask("/dual", legacy("initialize", {}), {})[1]["mcp-session-id"]}
    for body, given in (
        (legacy("tools/list"), session),
        (legacy("tools/call", {"name": "count", "arguments": {"item": "nails"}}), session),
        (legacy("tools/call", {"name": "no"}), session),
        (legacy("no/such"), session),
        (legacy("resources/read", {"uri": "x"}), session),
        (legacy("tools/list"), {}),
        (legacy("tools/list"), {"Mcp-Session-Id": "other"}),
        ({"jsonrpc": "2.0", "method": "notifications/initialized"}, session),
    ):
        plain, dual = (raw(server, path, body, given) for path in ("/plain", "/dual"))
        assert plain == dual
    for verb in ("GET", "DELETE"):
        assert raw(server, "/plain", None, {}, verb) == raw(server, "/dual", None, {}, verb)


def raw(server: Server, path: str, body: Any, given: dict[str, str], verb: str = "POST") -> tuple[Any, ...]:
    connection = server.open()
    connection.request(verb, path, json.dumps(body), {"Content-Type": "application/json", **given})
    response = connection.getresponse()
    found = response.status, [pair for pair in response.getheaders() if pair[0].lower() != "date"], response.read()
    connection.close()
    return found


def test_older_clients_are_refused_when_they_are_not_served(server: Server) -> None:
    status, _, found = server.ask("/modern", legacy("initialize", {"protocolVersion": "2025-06-18"}), {})
    assert (status, found["error"]["code"], found["error"]["data"]["supported"]) == (400, -32022, [MODERN])
    assert server.ask("/modern", legacy("tools/list"), {})[0] == 400
    assert server.ask("/modern", {"jsonrpc": "2.0", "method": "notifications/initialized"}, {})[0] == 400


@pytest.mark.parametrize("method", ["tools/list", "server/discover", "subscriptions/listen"])
def test_who_may_ask_is_still_for_the_server_to_say(server: Server, method: str) -> None:
    message = request(method, {"notifications": {}})
    status, given, _ = server.ask("/dual", message, headers(message, Authorization="Bearer wrong"))
    assert (status, given["www-authenticate"]) == (401, "Bearer")
    assert server.streams() == 0


def test_a_page_that_comes_through_a_name_of_its_own_is_refused(server: Server) -> None:
    message = request("tools/list")
    evil = {"Host": "evil.example.com:80", "Origin": "http://evil.example.com"}
    assert raw(server, "/dual", message, headers(message, **evil))[0] == 403
    assert raw(server, "/dual", message, evil)[0] == 403
    assert raw(server, "/modern", None, evil, "GET")[0] == 403
    for kept in (
        {"Origin": "http://localhost:3000"},
        {"Host": "evil.example.com"},
        {"Host": "[::1]", "Origin": "http://[::1]"},
        {**evil, "X-Forwarded-For": "192.0.2.1"},
        {**evil, "Origin": "https://other.example.com"},
    ):
        assert raw(server, "/dual", message, headers(message, **kept))[0] == 200, kept
    old = legacy("initialize")
    assert raw(server, "/dual", old, evil)[0] == raw(server, "/plain", old, evil)[0] == 200


def test_changes_reach_those_who_listen_until_they_leave(server: Server) -> None:
    message = request(
        "subscriptions/listen", {"notifications": {"toolsListChanged": True, "resourceSubscriptions": ["shed://nails"]}}, id="l"
    )
    connection = server.open()
    connection.request("POST", "/dual", json.dumps(message), {"Content-Type": "application/json", **headers(message)})
    stream = connection.getresponse()
    assert (stream.status, stream.headers["x-accel-buffering"]) == (200, "no")
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert event(stream)["method"] == "notifications/subscriptions/acknowledged"
    assert server.streams() == 1
    server.ask("/dual", call("put", item="screws", number=1))
    server.ask("/dual", call("put", item="nails", number=5))
    found = [event(stream) for _ in range(3)]
    assert [change["method"].rpartition("/")[2] for change in found] == ["list_changed", "updated", "list_changed"]
    assert {change["params"]["_meta"][OURS + "subscriptionId"] for change in found} == {"l"}
    stream.close()
    connection.close()
    until(lambda: server.streams() == 0)


def event(stream: Any) -> Any:
    while not (line := stream.readline()).startswith(b"data:"):
        assert line, "the stream ended"
    return json.loads(line[5:])


def test_a_kept_connection_survives_whatever_is_answered_early(start: Callable[[str], Server]) -> None:
    server = start("http.server")
    connection = server.open()
    for body, status in (
        (request("no/such"), 404),
        (request("server/discover"), 200),
        (call("sure"), 400),
        (call("count", item="nails"), 200),
    ) * 2:
        assert server.ask("/dual", body, connection=connection)[0] == status
    assert server.ask("/dual", legacy("initialize"), {}, connection=connection)[0] == 200
    connection.close()


def test_a_body_that_the_framework_refuses_becomes_an_error_of_the_protocol(start: Callable[[str], Server]) -> None:
    body = {**request("tools/list"), "jsonrpc": ["2.0"]}
    status, _, found = start("fastapi").ask("/dual", body, headers(body))
    assert (status, found["error"]["code"], found["id"]) == (200, -32602, 1)
    assert found["error"]["data"]["detail"]


def test_event_streams_keep_progress_and_lose_what_was_not_asked_for(start: Callable[[str], Server]) -> None:
    message = call("count", item="nails")
    connection = start("starlette").open()
    connection.request("POST", "/dual", json.dumps(message), {"Accept-Encoding": "gzip", **headers(message)})
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    assert [json.loads(line[5:]).get("method") for line in text.splitlines() if line.startswith("data:")] == [
        "notifications/progress",
        None,
    ]
    assert "id: 7" not in text


# -- applications without a framework -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def module() -> ModuleType:
    text = render(frozenset({Part.ASGI, Part.WSGI, Part.AWS_LAMBDA, Part.BOUNDARY, Part.ASK, Part.LOGGING}))
    loaded = ModuleType("rendered_hosts")
    sys.modules["rendered_hosts"] = loaded
    exec(compile(text, "mcp_stateless.py", "exec"), loaded.__dict__)
    return loaded


@pytest.fixture
def mcp(module: ModuleType) -> Any:
    return module.Stateless({"name": "shed", "version": "1"}, {"tools": {"listChanged": True}}, methods=("tools/list", "tools/call"))


def asgi(app: Any, body: bytes, given: dict[str, str], verb: str = "POST", **scope: Any) -> tuple[int, dict[str, str], bytes]:
    """What an application sends for a request whose body comes in pieces."""
    pieces = [{"type": "http.request", "body": body[at : at + 7], "more_body": at + 7 < len(body)} for at in range(0, max(len(body), 1), 7)]
    sent: list[Any] = []

    async def receive() -> Any:
        return pieces.pop(0) if pieces else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    pairs = [(name.lower().encode(), value.encode()) for name, value in given.items()]
    asyncio.run(app({"type": "http", "method": verb, "path": "/mcp", "headers": pairs, **scope}, receive, send))
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], answered, b"".join(message.get("body", b"") for message in sent[1:])


def answering(status: int, kind: str, body: bytes, seen: list[Any] | None = None) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        text = b""
        while (part := await receive())["type"] == "http.request":
            text += part["body"]
            if not part["more_body"]:
                break
        if seen is not None:
            seen.append((dict(scope["headers"]), text))
        await send(
            {"type": "http.response.start", "status": status, "headers": [(b"content-type", kind.encode()), (b"mcp-session-id", b"s")]}
        )
        await send({"type": "http.response.body", "body": body})

    return app


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b'{"a": 1}', b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', b"\xff" * 30, b"[" * 100_000]
)
def test_bodies_of_older_revisions_reach_the_application_whole(mcp: Any, body: bytes) -> None:
    seen: list[Any] = []
    found = asgi(mcp.asgi(answering(200, "text/plain", b"own", seen), "/mcp"), body, {"X": "y"})
    assert seen == [({b"x": b"y"}, body)]
    assert found == (200, {"content-type": "text/plain", "mcp-session-id": "s"}, b"own")


def test_the_application_sees_its_own_parameters_and_no_header_of_this_revision(mcp: Any) -> None:
    seen: list[Any] = []
    message = call("x", a=1)
    given = headers(message, **{"Mcp-Session-Id": "s", "Content-Length": "999", "Authorization": "a"})
    asgi(mcp.asgi(answering(200, "application/json", b"{}", seen), "/mcp"), json.dumps(message).encode(), given)
    ((got, text),) = seen
    assert json.loads(text)["params"] == {"name": "x", "arguments": {"a": 1}, "_meta": {"progressToken": 1}}
    assert got == {b"authorization": b"a", b"content-length": str(len(text)).encode(), b"mcp-method": b"tools/call", b"mcp-name": b"x"}


@pytest.mark.parametrize(
    ("status", "kind", "body", "expected", "code"),
    [
        (200, "application/json", b'{"jsonrpc": "2.0", "id": 9, "result": {"tools": []}}', 200, None),
        (200, "application/json", b'{"id": 9, "result": {"tools": []}}', 200, None),
        (500, "application/json", b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32603, "message": "m"}}', 200, -32603),
        (400, "application/json", b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "m"}}', 200, -32602),
        (200, "application/json", b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "m"}}', 404, -32601),
        (422, "application/json", b'{"detail": []}', 200, -32602),
        (404, "text/html", b"<p>", 200, -32603),
        (202, "text/plain", b"", 200, -32603),
        (200, "application/json", b'{"tools": []}', 200, -32603),
    ],
)  # fmt: skip
def test_whatever_the_application_answers_is_one_reply(
    mcp: Any, status: int, kind: str, body: bytes, expected: int, code: int | None
) -> None:
    message = request("tools/list", id="mine")
    got, given, text = asgi(mcp.asgi(answering(status, kind, body), "/mcp"), json.dumps(message).encode(), headers(message))
    reply = json.loads(text)
    assert (got, reply["id"], reply.get("error", {}).get("code")) == (expected, "mine", code)
    assert given == {"content-type": "application/json", "content-length": str(len(text))}
    assert code is not None or reply["result"]["resultType"] == "complete"


@pytest.mark.parametrize(
    ("listed", "status", "code"),
    [(["y"], 200, -32602), (["y"], 404, -32602), (["x"], 200, -32603), (None, 200, -32603)],
    ids=["unknown", "unknown with a status", "known", "nothing is known"],
)
def test_a_page_in_place_of_a_reply_says_that_the_name_is_unknown(mcp: Any, listed: list[str] | None, status: int, code: int) -> None:
    if listed is not None:
        message, tools = request("tools/list"), [{"name": name} for name in listed]
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}).encode()
        asgi(mcp.asgi(answering(200, "application/json", body), "/mcp"), json.dumps(message).encode(), headers(message))
    message = call("x")
    _, _, text = asgi(
        mcp.asgi(answering(status, "application/json", b'{"name": "shed"}'), "/mcp"), json.dumps(message).encode(), headers(message)
    )
    assert json.loads(text)["error"]["code"] == code


@pytest.mark.parametrize("status", [302, 401, 403, 429, 502, 503])
def test_redirects_access_and_load_stay_as_the_application_says(mcp: Any, status: int) -> None:
    for method in ("tools/list", "server/discover"):
        message = request(method)
        assert asgi(mcp.asgi(answering(status, "text/plain", b"own"), "/mcp"), json.dumps(message).encode(), headers(message)) == (
            status, {"content-type": "text/plain"}, b"own",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "scope", "ours"),
    [
        ("/mcp", {}, True), ("/mcp/", {}, True), ("", {}, True), (("/a", "/mcp"), {}, True), ("/{kind}", {}, True), ("/<kind>", {}, True),
        ("/", {}, False), ("/mcp/x", {}, False), ("/m", {}, False), ("/mcp", {"path": "/api/mcp", "root_path": "/api"}, True),
        ("/api/mcp", {"path": "/api/mcp", "root_path": "/api"}, True), ("/mcp", {"path": "/api/mcp"}, False), ("/mcp", {"type": "websocket"}, False),
    ],
)  # fmt: skip
def test_only_the_endpoint_is_looked_at(mcp: Any, path: Any, scope: Any, ours: bool) -> None:
    message = request("no/such")
    status = asgi(mcp.asgi(answering(200, "text/plain", b""), path), json.dumps(message).encode(), headers(message), **scope)[0]
    assert status == (404 if ours else 200)


def test_an_ending_is_found_in_groups_and_in_the_middle_of_a_stream(mcp: Any, module: ModuleType) -> None:
    class Group(BaseException):
        """As task groups make them, on any version."""

        def __init__(self, *exceptions: BaseException) -> None:
            self.exceptions = exceptions

    async def grouped(scope: Any, receive: Any, send: Any) -> None:
        raise Group(Group(module.Refused(-32021, "no")))

    async def streamed(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        await send({"type": "http.response.body", "body": b": hello\n\n", "more_body": True})
        mcp.ask("elicitation/create", {"message": "?"})

    async def failing(scope: Any, receive: Any, send: Any) -> None:
        raise Group(KeyError("x"), ValueError("y"))

    message = call("x", client=CALLER)
    body, given = json.dumps(message).encode(), headers(message)
    assert asgi(mcp.asgi(grouped, "/mcp"), body, given)[0] == 400
    text = asgi(mcp.asgi(streamed, "/mcp"), body, given)[2]
    assert json.loads(text.partition(b"data: ")[2])["result"]["resultType"] == "input_required"
    with pytest.raises(Group):
        asgi(mcp.asgi(failing, "/mcp"), body, given)
    assert not mcp.modern


def queued(work: Callable[[Any], Any], cleaned: list[bool], *first: bytes) -> Any:
    """An application that works in a task, and streams what the task puts into a queue until there is a None."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        out: asyncio.Queue[Any] = asyncio.Queue()

        async def worker() -> None:
            await out.put(await asyncio.to_thread(work, out))
            await out.put(None)

        task = asyncio.create_task(worker())
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        try:
            for text in first:
                await send({"type": "http.response.body", "body": text, "more_body": True})
            while (event := await out.get()) is not None:
                await send({"type": "http.response.body", "body": b"data: " + event + b"\n\n", "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            # Looked at so late, it kept nobody from waiting.
            cleaned.append(task.done() and task.exception() is not None)

    return app


def test_a_question_in_a_task_that_nobody_waits_for_ends_the_stream_that_waits_for_its_queue(mcp: Any) -> None:
    cleaned: list[bool] = []
    message = call("x", client=CALLER)
    progress = b'data: {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}\n\n'
    for first, kind in (((), "application/json"), ((progress,), "text/event-stream")):
        app = mcp.asgi(queued(lambda out: mcp.ask("elicitation/create", {"message": "?"}), cleaned, *first), "/mcp")
        status, given, text = asgi(app, json.dumps(message).encode(), headers(message))
        assert (status, given["content-type"]) == (200, kind)
        assert content(given, text)["result"]["resultType"] == "input_required"
    assert cleaned == [True, True]
    refused = call("x")
    assert asgi(app, json.dumps(refused).encode(), headers(refused))[1]["content-type"] == "text/event-stream"


def test_a_stream_of_nothing_but_its_reply_is_no_stream(mcp: Any) -> None:
    done = b'{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "m"}}'
    message = request("tools/list")
    body, given = json.dumps(message).encode(), headers(message)
    status, found, text = asgi(mcp.asgi(queued(lambda out: done, []), "/mcp"), body, given)
    assert (status, found["content-type"], json.loads(text)["error"]["code"]) == (404, "application/json", -32601)
    status, found, text = asgi(mcp.asgi(queued(lambda out: done, [], b": hello\n\n"), "/mcp"), body, given)
    assert (status, found["content-type"], content(found, text)["error"]["code"]) == (200, "text/event-stream", -32601)


def test_the_answer_to_a_question_about_the_server_does_not_wait_for_the_end_of_a_stream(mcp: Any) -> None:
    async def endless(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        while True:
            await send({"type": "http.response.body", "body": b":\n\n", "more_body": True})

    def endless_wsgi(environ: Any, start: Any) -> Any:
        start("200 OK", [("Content-Type", "text/event-stream")])
        return itertools.repeat(b":\n\n")

    message = request("server/discover")
    for text in (
        asgi(mcp.asgi(endless, "/mcp"), json.dumps(message).encode(), headers(message))[2],
        wsgi(mcp.wsgi(endless_wsgi, "/mcp"), message)[2],
    ):
        assert json.loads(text)["result"]["supportedVersions"] == [MODERN]


def test_log_messages_pass_at_the_level_that_was_asked_for(mcp: Any) -> None:
    logs = [
        {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": level, "data": level}} for level in ("debug", "error")
    ]
    asking = {"jsonrpc": "2.0", "id": 4, "method": "sampling/createMessage"}
    done = {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}
    stream = "".join(f"data: {json.dumps(message)}\n\n" for message in (*logs, asking, done, *logs)).encode()
    message = call("x")
    message["params"]["_meta"][OURS + "logLevel"] = "warning"
    text = asgi(mcp.asgi(answering(200, "text/event-stream", stream), "/mcp"), json.dumps(message).encode(), headers(message))[2]
    found = [json.loads(line[6:]) for line in text.decode().splitlines() if line.startswith("data: ")]
    assert [one.get("params", {}).get("level") for one in found] == ["error", None]


def test_a_dispatcher_that_is_wrapped_for_stdio_is_wrapped_once(mcp: Any) -> None:
    seen: list[Any] = []

    @mcp.boundary
    def handle(message: Any) -> Any:
        seen.append(mcp.modern)
        mcp.ask("elicitation/create", {"message": "?"})

    def app(environ: Any, start: Any) -> Any:
        start("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(handle(json.load(environ["wsgi.input"]))).encode()]

    status, _, text = wsgi(mcp.wsgi(app, "/mcp"), call("x", client=CALLER))
    assert (status, json.loads(text)["result"]["resultType"], seen) == ("200 OK", "input_required", [True])


def wsgi(app: Any, message: Any, **environ: Any) -> tuple[str, dict[str, str], bytes]:
    body = json.dumps(message).encode()
    given = {"HTTP_" + name.upper().replace("-", "_"): value for name, value in headers(message).items()}
    begun: list[Any] = []
    plain = {"REQUEST_METHOD": "POST", "PATH_INFO": "/mcp", "CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body)}
    text = b"".join(app({**plain, **given, **environ}, lambda *line: begun.append(line)))
    ((status, pairs),) = begun
    return status, dict(pairs), text


def test_wsgi_streams_are_turned_as_they_come_and_closed(mcp: Any) -> None:
    closed: list[bool] = []

    class Pieces:
        def __iter__(self) -> Iterator[bytes]:
            yield b'data: {"jsonrpc": "2.0", "id": 1,'
            assert mcp.modern
            yield b'"result": {"tools": []}}\n\n'
            raise AssertionError("nobody asks for more than the reply")

        def close(self) -> None:
            closed.append(True)

    def app(environ: Any, start: Any) -> Any:
        start("200 OK", [("Content-Type", "text/event-stream"), ("Mcp-Session-Id", "s")])
        return Pieces()

    status, given, text = wsgi(mcp.wsgi(app, "/mcp"), request("tools/list"))
    assert (status, given, closed) == ("200 OK", {"Content-Type": "text/event-stream"}, [True])
    assert json.loads(text.partition(b"data: ")[2])["result"]["resultType"] == "complete"
    assert not mcp.modern


def test_wsgi_bodies_without_a_length_are_read_where_the_server_ends_them(mcp: Any) -> None:
    def app(environ: Any, start: Any) -> Any:
        start("200 OK", [])
        return [b'{"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}']

    chunked = {"CONTENT_LENGTH": "", "wsgi.input_terminated": True}
    assert json.loads(wsgi(mcp.wsgi(app, "/mcp"), request("tools/list"), **chunked)[2])["result"]["ttlMs"] == 0


def test_a_server_that_fails_at_the_harmless_request_still_says_what_it_is(mcp: Any) -> None:
    def app(environ: Any, start: Any) -> Any:
        raise KeyError("no such method")

    status, _, text = wsgi(mcp.wsgi(app, "/mcp"), request("server/discover"))
    assert (status, json.loads(text)["result"]["supportedVersions"]) == ("200 OK", [MODERN])
    with pytest.raises(KeyError):
        wsgi(mcp.wsgi(app, "/mcp"), request("tools/list"))


def gateway(message: Any, version: int, given: dict[str, str] | None = None) -> dict[str, Any]:
    text = json.dumps(message)
    sent = headers(message) if given is None else given
    if version == 1:
        several = {name: [value] for name, value in sent.items()}
        return {"httpMethod": "POST", "path": "/mcp", "headers": sent, "multiValueHeaders": several, "body": text, "isBase64Encoded": False}
    place = {"requestContext": {"http": {"method": "POST"}}, "rawPath": "/mcp"}
    return {**place, "headers": sent, "body": base64.b64encode(text.encode()).decode(), "isBase64Encoded": True}


@pytest.mark.parametrize("version", [1, 2])
def test_lambda_handlers_answer_in_both_formats(mcp: Any, version: int) -> None:
    seen: list[Any] = []

    @mcp.aws_lambda("/mcp")
    def handler(event: Any, context: Any) -> Any:
        seen.append({**event})
        reply = {"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}
        return {"statusCode": 200, "headers": {"Mcp-Session-Id": "s"}, "body": json.dumps(reply)} if version == 1 else reply

    answer = handler(gateway(request("tools/list"), version), None)
    assert json.loads(answer["body"])["result"]["resultType"] == "complete"
    assert answer["statusCode"] == 200
    assert answer["headers"]["Content-Type"] == "application/json"
    assert not {"Mcp-Session-Id", "Content-Length"} & {*answer["headers"]}
    assert json.loads(seen[0]["body"])["params"] == {"_meta": {"progressToken": 1}}
    assert handler(gateway(request("no/such"), version), None)["statusCode"] == 404
    discovered = json.loads(handler(gateway(request("server/discover"), version), None)["body"])
    assert discovered["result"]["capabilities"] == {"tools": {}}
    old = gateway(legacy("tools/list"), version, {})
    assert handler({**old}, None) == handler.__wrapped__({**old}, None)
    assert seen[-1] == old


def test_lambda_handlers_keep_what_they_refuse_and_other_events(mcp: Any) -> None:
    @mcp.aws_lambda("/mcp")
    def handler(event: Any, context: Any) -> Any:
        return {"statusCode": 403, "body": "no", "cookies": ["a=b"]} if "body" in event else event

    kept = handler(gateway(request("tools/list"), 2), None)
    assert (kept["statusCode"], kept["body"], kept["cookies"]) == (403, "no", ["a=b"])
    assert handler({"detail-type": "Scheduled Event"}, None) == {"detail-type": "Scheduled Event"}
