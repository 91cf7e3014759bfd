"""The server behind all hosts: three copies, `/plain` without a boundary, `/dual` and `/modern` with one."""

from __future__ import annotations

import threading
from typing import Any

import mcp_stateless
from mcp_stateless import Stateless

# So that it is soon seen who has gone.
mcp_stateless._QUIET = 0.3
INFO = {"name": "shed", "version": "1.0"}
CAPABILITIES = {"tools": {"listChanged": True}, "resources": {"subscribe": True}}
METHODS = ("initialize", "ping", "tools/list", "tools/call", "resources/list", "resources/read")
DUAL, MODERN = (Stateless(INFO, CAPABILITIES, methods=METHODS, legacy=legacy) for legacy in (True, False))
BOUNDARIES = {"/plain": None, "/dual": DUAL, "/modern": MODERN}
STOCK, SESSIONS = {"nails": 5}, set()
QUESTION = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {"ok": {"type": "boolean"}}}}


class RpcError(Exception):
    def __init__(self, code: int, text: str) -> None:
        self.code, self.text = code, text


def refusal(message: dict[str, Any], session: str | None, path: str) -> int:
    """The HTTP status to refuse a message with, or 0."""
    boundary = BOUNDARIES[path]
    if message["method"] == "initialize" or (boundary and boundary.modern):
        return 0
    return 400 if not session else 404 if session not in SESSIONS else 0


def opened(message: dict[str, Any]) -> dict[str, str]:
    """The headers of an answer: `initialize` opens a session."""
    if message["method"] != "initialize":
        return {}
    SESSIONS.add("s" + str(len(SESSIONS)))
    return {"Mcp-Session-Id": "s" + str(len(SESSIONS) - 1)}


def reply(message: dict[str, Any], path: str) -> dict[str, Any] | None:
    if "id" not in message:
        return None
    own = {"jsonrpc": "2.0", "id": message["id"]}
    try:
        return {**own, "result": answer(message["method"], message.get("params") or {}, BOUNDARIES[path])}
    except RpcError as error:
        return {**own, "error": {"code": error.code, "message": error.text}}


def answer(method: str, params: dict[str, Any], boundary: Any) -> dict[str, Any]:
    if any(name.startswith("io.modelcontextprotocol/") for name in params.get("_meta", {})):
        raise RpcError(-32603, "what is not for the server reached it")
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": CAPABILITIES, "serverInfo": INFO}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("count", "put", "sure")]}
    if method == "tools/call":
        try:
            return {"content": [{"type": "text", "text": call(params["name"], params.get("arguments", {}), boundary)}]}
        except Exception as error:
            return {"content": [{"type": "text", "text": repr(error)}], "isError": True}
    if method == "resources/read":
        raise RpcError(-32002, "Resource not found")
    raise RpcError(-32601, f"Method not found: {method}")


def call(name: str, arguments: dict[str, Any], boundary: Any) -> str:
    if name == "count":
        return str(STOCK[arguments["item"]])
    if name == "put":
        STOCK[arguments["item"]] = arguments["number"]
        for change in (
            {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": f"shed://{arguments['item']}"}},
            {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
        ):
            worker = threading.Thread(target=boundary.publish, args=(change,))
            worker.start()
            worker.join()
        return "ok"
    if name == "sure":
        return str(boundary.ask("elicitation/create", QUESTION)["action"])
    if name == "streams":
        return str(len(boundary._streams))
    raise ValueError(name)
