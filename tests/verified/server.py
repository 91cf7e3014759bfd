"""A server of both eras, right in every way that can be seen from outside, but for the one defect that its environment names.

DEFECT=no_result_type python server.py           # over standard streams
DEFECT=no_result_type python server.py 8123      # over HTTP
"""

from __future__ import annotations

import base64
import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Message = dict[str, Any]

DEFECT = os.environ.get("DEFECT", "")
MODERN = "2026-07-28"
OLDER = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
KEY = "io.modelcontextprotocol/"
INFO = {"name": "verified", "version": "1.0"}
STATUS = {-32601: 404, -32602: 200, -32020: 400, -32021: 400, -32022: 400}
TOOLS: list[Message] = [
    {
        "name": "add",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]},
        "outputSchema": {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]},
    },
    {"name": "greet", "inputSchema": {"type": "object"}},
    {"name": "rename", "inputSchema": {"type": "object"}},
    {
        "name": "look",
        "inputSchema": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "x-mcp-header": "City"},
                "how": {"type": "object", "properties": {"near": {"type": "boolean", "x-mcp-header": "Near"}}},
            },
        },
    },
]
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
REMOVED = {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}
CACHED = {"server/discover", "tools/list", "resources/list", "resources/templates/list", "prompts/list", "resources/read"}


class Refused(Exception):
    def __init__(self, code: int, message: str, data: Any = None, status: int | None = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **({"data": data} if data is not None else {})}
        self.status = status if status is not None else STATUS.get(code, 200)


def has(defect: str) -> bool:
    return defect == DEFECT


class Channel:
    """One client: `send` takes messages to it, `streams` are its open subscriptions."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self.send = send
        self.served = 0
        self.discovered = False
        self.older = False


SUBSCRIPTIONS: dict[Any, tuple[Callable[[Message], None], Message]] = {}


def answer(message: Message, channel: Channel, headers: Mapping[str, str] | None = None) -> tuple[Message | None, int]:
    """The reply, if there is one, and the status of HTTP."""
    number, method = message.get("id"), message.get("method", "")
    if "id" not in message:
        if method == "notifications/cancelled":
            SUBSCRIPTIONS.pop((message.get("params") or {}).get("requestId"), None)
        return None, 202
    meta = (message.get("params") or {}).get("_meta") or {}
    modern = (
        f"{KEY}protocolVersion" in meta
        or (headers or {}).get("mcp-protocol-version") == MODERN
        or (f"{KEY}clientCapabilities" in meta or method == "server/discover")
    )
    if has("era_by_header") and headers is not None:
        modern = headers.get("mcp-protocol-version") not in (None, *OLDER)
    try:
        result = serve_modern(message, method, meta, channel, headers) if modern else serve_older(message, method, channel)
        if result is None:
            return None, 200
        return {"jsonrpc": "2.0", "id": str(number) if has("id_as_text") else number, "result": result}, 200
    except Refused as refused:
        status = 200 if has("errors_with_200") else refused.status
        return {"jsonrpc": "2.0", "id": number, "error": refused.error}, status


def serve_modern(message: Message, method: str, meta: Message, channel: Channel, headers: Mapping[str, str] | None) -> Message | None:
    params = message.get("params") or {}
    if headers is not None:
        check_headers(method, params, meta, headers)
    version, capabilities = meta.get(f"{KEY}protocolVersion"), meta.get(f"{KEY}clientCapabilities")
    if (version is None or capabilities is None) and not has("no_envelope_needed"):
        raise Refused(-32602, "the envelope is incomplete", status=400)
    if version not in (MODERN, None) and not has("any_version"):
        data = {"requested": version} if has("versions_untold") else {"supported": [MODERN], "requested": version}
        raise Refused(-32022, "unsupported protocol version", data)
    if f"{KEY}clientInfo" not in meta and has("client_info_needed"):
        raise Refused(-32602, "who are you?", status=400)
    channel.served += 1
    if has("dies") and channel.served > 3:
        os._exit(1)
    if has("discover_first") and not channel.discovered and method != "server/discover":
        raise Refused(-32600, "server/discover comes first")
    if method == "server/discover":
        channel.discovered = True
    if has("prints") and method == "tools/call":
        print("working on it", flush=True)
    if has("logs") and method == "tools/call":
        channel.send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "working on it"}})
    if has("asks_by_request") and method == "tools/call":
        channel.send({"jsonrpc": "2.0", "id": 900, "method": "roots/list", "params": {}})
    if method in REMOVED and not (has("pings") and method == "ping") and not (has("sets_level") and method == "logging/setLevel"):
        raise Refused(-32601, f"{method} is removed")
    if method == "subscriptions/listen":
        return listen(message, params, channel)
    result = work(method, params, capabilities or {}, channel, modern=True)
    whole: Message = {"resultType": "complete", **result, "_meta": {f"{KEY}serverInfo": INFO}}
    if method in CACHED and whole["resultType"] == "complete" and not (has("no_cache_hints") and method == "tools/list"):
        whole |= {"ttlMs": "60000" if has("ttl_as_text") else 60000, "cacheScope": "everybody" if has("strange_scope") else "public"}
    if has("no_result_type"):
        del whole["resultType"]
    return whole


def check_headers(method: str, params: Message, meta: Message, headers: Mapping[str, str]) -> None:
    if has("headers_unread"):
        return
    name = headers.get("mcp-name") if has("names_undecoded") else decoded(headers.get("mcp-name"))
    version = meta.get(f"{KEY}protocolVersion")
    wrong = headers.get("mcp-method") != method
    wrong |= version is not None and headers.get("mcp-protocol-version") != version
    wrong |= method in NAMED and name != params.get(NAMED[method])
    given = params.get("arguments") or {}
    if method == "tools/call" and params.get("name") == "look" and not has("arguments_unread"):
        near = (given.get("how") or {}).get("near")
        wrong |= decoded(headers.get("mcp-param-city")) != given.get("city")
        wrong |= headers.get("mcp-param-near") != (None if near is None else str(near).lower())
    if wrong:
        raise Refused(-32020, "the headers say something else than the body")


def decoded(value: str | None) -> str | None:
    is_coded = value is not None and value.startswith("=?base64?") and value.endswith("?=")
    return base64.b64decode(value[9:-2]).decode() if value is not None and is_coded else value


def listen(message: Message, params: Message, channel: Channel) -> Message | None:
    wanted = params.get("notifications") or {}
    agreed: Message = {"toolsListChanged": True} if wanted.get("toolsListChanged") else {}
    tag = {} if has("untagged") else {"_meta": {f"{KEY}subscriptionId": message["id"]}}
    SUBSCRIPTIONS[message["id"]] = channel.send, wanted
    note = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": {f"{KEY}subscriptionId": message["id"]}}}
    if has("unacknowledged"):
        channel.send(note)
    channel.send({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {"notifications": agreed, **tag}})
    return {"resultType": "complete"} if has("subscription_ends") else None


def changed() -> None:
    for key, (send, wanted) in list(SUBSCRIPTIONS.items()):
        if wanted.get("toolsListChanged") and not has("changes_untold"):
            params = {} if has("changes_untagged") else {"_meta": {f"{KEY}subscriptionId": key}}
            send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": params})


def serve_older(message: Message, method: str, channel: Channel) -> Message:
    params = message.get("params") or {}
    if method == "initialize":
        if has("no_handshake"):
            raise Refused(-32601, "initialize is removed")
        asked = params.get("protocolVersion")
        agreed = MODERN if has("handshake_offers_modern") else asked if asked in OLDER else OLDER[0]
        return {"protocolVersion": agreed, "capabilities": capabilities(), "serverInfo": INFO}
    if method == "server/discover" and has("era_by_header"):
        raise Refused(-32601, "Method not found", status=200)
    if method == "ping" and has("older_ping_refused"):
        raise Refused(-32601, "ping is removed")
    if method == "tools/list" and has("older_lists_refused"):
        raise Refused(-32602, "where is your envelope?")
    return work(method, params, {}, channel, modern=False)


def capabilities() -> Message:
    return {"tools": {"listChanged": True}, "resources": {}, "prompts": {}}


def work(method: str, params: Message, able: Message, channel: Channel, *, modern: bool) -> Message:
    match method:
        case "server/discover":
            versions = ["2026-01-01"] if has("offers_another") else [MODERN]
            found = {"supportedVersions": versions, "capabilities": capabilities()}
            return {"capabilities": capabilities()} if has("discover_lacks_versions") else found
        case "ping" | "logging/setLevel":
            return {}
        case "tools/list":
            tools = [{**tool, "inputSchema": {"type": "array"}} for tool in TOOLS] if has("schema_is_no_object") else TOOLS
            return {"tools": tools}
        case "tools/call":
            return call(params, able, channel, modern=modern)
        case "resources/list":
            return {"resources": [{"uri": "test://a", "name": "a"}]}
        case "resources/templates/list":
            return {"resourceTemplates": []}
        case "resources/read":
            if params.get("uri") == "test://a":
                return {"contents": [{"uri": "test://a", "text": "A"}]}
            if has("empty_for_unknown"):
                return {"contents": []}
            code = -32002 if has("retired_code") else -32050 if has("undefined_code") else -32602
            raise Refused(code, "no such resource", {"uri": params.get("uri")})
        case "prompts/list":
            return {"prompts": [{"name": "p"}]} if params.get("cursor") else {"prompts": [{"name": "größe"}], "nextCursor": "2"}
        case "prompts/get":
            if params.get("name") in ("p", "größe"):
                return {"messages": [{"role": "user", "content": {"type": "text", "text": "P"}}]}
            raise Refused(-32602, "no such prompt")
    if has("silent_about_unknown"):
        return {}
    raise Refused(-32603 if has("wrong_code_for_unknown") else -32601, f"{method} is unknown")


def call(params: Message, able: Message, channel: Channel, *, modern: bool) -> Message:
    given = params.get("arguments") or {}
    match params.get("name"):
        case "add":
            total = given.get("a", 0) + given.get("b", 0)
            result: Message = {"content": [{"type": "text", "text": str(total)}], "structuredContent": {"sum": total}}
            if has("unlike_its_schema"):
                result["structuredContent"] = {"sum": str(total)}
            return result
        case "greet":
            if not modern:
                return {"content": [{"type": "text", "text": "hello older one"}]}
            responses = params.get("inputResponses") or {}
            if "name" in responses:
                return {"content": [{"type": "text", "text": "hello, whoever you are"}]}
            if "elicitation" not in able and not has("asks_anyone"):
                raise Refused(-32021, "I have to ask", {"requiredCapabilities": {"elicitation": {}}})
            form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
            asked = {"method": "elicitation/create", "params": {"mode": "form", "message": "Who are you?", "requestedSchema": form}}
            if has("asks_nothing"):
                return {"resultType": "input_required"}
            kind = {**asked, "jsonrpc": "2.0", "id": 1} if has("question_is_a_message") else asked
            return {"resultType": "input_required", "inputRequests": {"name": kind}}
        case "look":
            return {"content": [{"type": "text", "text": f"{given.get('city')} in sight"}]}
        case "rename":
            changed()
            return {"content": [{"type": "text", "text": "renamed"}]}
    raise Refused(-32602, "no such tool")


# -- standard streams


def over_stdio() -> None:
    lock = threading.Lock()

    def send(message: Message) -> None:
        with lock:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()

    channel = Channel(send)
    for line in sys.stdin:
        if line.strip():
            reply, _ = answer(json.loads(line), channel)
            if reply is not None:
                send(reply)
    if has("stays"):
        threading.Event().wait()


# -- HTTP


class Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        pass

    def reply(self, status: int, message: Message | None) -> None:
        data = b"" if message is None else json.dumps(message).encode()
        self.send_response(status)
        if message is not None:
            self.send_header("Content-Type", "application/json")
        if has("sends_session"):
            self.send_header("Mcp-Session-Id", "s1")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self.reply(200 if has("gets") else 405, None)

    def do_DELETE(self) -> None:
        self.reply(405, None)

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        host = headers.get("host", "").partition(":")[0]
        if host not in ("127.0.0.1", "localhost") and not has("any_host"):
            self.reply(403, None)
            return
        if has("session_needed") and message.get("method") not in ("initialize", "server/discover") and "mcp-session-id" not in headers:
            self.reply(400, {"jsonrpc": "2.0", "id": message.get("id"), "error": {"code": -32600, "message": "no session"}})
            return
        said: queue.Queue[Message] = queue.Queue()
        reply, status = answer(message, Channel(said.put), headers)
        if message.get("method") == "subscriptions/listen" and reply is None:
            self.stream(said, message["id"])
        elif not said.empty():
            self.begin()
            while not said.empty():
                self.event(said.get())
            if reply is not None:
                self.event(reply)
        else:
            self.reply(status, reply)

    def begin(self) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

    def event(self, message: Message) -> None:
        self.wfile.write(f"data: {json.dumps(message)}\n\n".encode())
        self.wfile.flush()

    def stream(self, said: queue.Queue[Message], number: Any) -> None:
        self.begin()
        try:
            while True:
                try:
                    self.event(said.get(timeout=0.2))
                except queue.Empty:
                    self.wfile.write(b": here\n\n")
                    self.wfile.flush()
        except OSError:
            SUBSCRIPTIONS.pop(number, None)


class Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


def main() -> None:
    if len(sys.argv) > 1:
        Http(("127.0.0.1", int(sys.argv[1])), Endpoint).serve_forever()
    else:
        over_stdio()


if __name__ == "__main__":
    main()
