"""Hand-written servers of every shape, as text: what a `Shape` says, `server` writes.

The shapes are those that public servers have: how methods are told apart, who builds the replies, how errors get there, what a
notification is, where sessions are kept, what carries the messages, and how all of it is spelled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

STDIO = ("lines", "readline", "buffer", "async_lines", "content_length")
HTTP = ("http_server", "flask", "fastapi", "starlette", "aiohttp")
CHAINS = ("elif", "return", "match", "constants", "attribute")
TABLES = ("table", "decorator", "register", "getattr")

WORDS: tuple[dict[str, str], ...] = (
    {},
    {"msg": "message", "method": "m", "rid": "msg_id", "params": "args", "handle": "dispatch", "ok": "_result", "fail": "_error"},
    {"msg": "req", "method": "op", "rid": "request_id", "params": "p", "handle": "process_request", "ok": "make_response", "fail": "oops"},
    {
        "msg": "data",
        "method": "method_name",
        "rid": "id_",
        "params": "payload",
        "handle": "on_message",
        "ok": "success",
        "fail": "rpc_fail",
    },
    # Names that say nothing.
    {
        "msg": "v1",
        "method": "v2",
        "rid": "v3",
        "params": "v4",
        "handle": "f1",
        "ok": "f2",
        "fail": "f3",
        "send": "f4",
        "name": "v5",
        "given": "v6",
    },
)


@dataclass(frozen=True)
class Shape:
    """How one server is written."""

    transport: str = "lines"
    dispatch: str = "elif"
    place: str = "function"  # of the code that tells methods apart: function, method, nested, or inline in the loop or endpoint
    envelope: str = "literal"  # who builds replies: literal (every branch), helper, exit (one place for all), whole (handlers)
    errors: str = "literal"  # literal, helper, raise
    version: str = "literal"  # literal, constant, list, echo
    notices: str = "none_id"  # how notifications are told: none_id, no_id, prefix, initialized, nothing
    session: str = "none"  # none, flag, gate; over HTTP also header, store
    asynchronous: bool = False
    batch: bool = False
    typed: bool = False
    documented: bool = False
    constants: bool = True  # whether the identity and the tools have names of their own
    resources: bool = True
    prompts: bool = False
    logging: bool = False
    ping: bool = True
    listing: bool = True  # whether there is a word on what failed to parse
    words: int = 0
    quote: str = '"'
    indent: str = "    "

    @property
    def http(self) -> bool:
        return self.transport in HTTP


def shapes(*transports: str) -> st.SearchStrategy[Shape]:
    """Every shape that can be written."""
    flags = ("asynchronous", "batch", "typed", "documented", "constants", "resources", "prompts", "logging", "ping", "listing")
    return st.builds(
        Shape,
        transport=st.sampled_from(transports or (*STDIO, *HTTP)),
        dispatch=st.sampled_from((*CHAINS, *TABLES)),
        place=st.sampled_from(("function", "method", "nested", "inline")),
        envelope=st.sampled_from(("literal", "helper", "exit", "whole")),
        errors=st.sampled_from(("literal", "helper", "raise")),
        version=st.sampled_from(("literal", "constant", "list", "echo")),
        notices=st.sampled_from(("none_id", "no_id", "prefix", "initialized", "nothing")),
        session=st.sampled_from(("none", "none", "flag", "gate", "header", "store")),
        words=st.integers(0, len(WORDS) - 1),
        quote=st.sampled_from("\"'"),
        indent=st.sampled_from(("    ", "  ", "\t")),
        **{name: st.booleans() for name in flags},
    ).map(possible)


def possible(shape: Shape) -> Shape:
    """The shape, or the nearest one that somebody could write."""
    from dataclasses import replace

    changed: dict[str, Any] = {}

    def now(name: str) -> Any:
        return changed.get(name, getattr(shape, name))

    if shape.dispatch in TABLES:
        changed["place"] = "method" if shape.dispatch == "getattr" or shape.place == "method" else "function"
        if shape.dispatch in ("decorator", "register"):
            changed["place"] = "function"
    if now("place") == "inline" and shape.envelope in ("exit", "whole"):
        changed["envelope"] = "literal"
    if now("place") == "inline":
        changed["batch"] = False
        if shape.errors == "raise":
            changed["errors"] = "helper"
        if shape.http:
            # Over HTTP an endpoint answers what it is handed; the loops know more ways.
            changed["notices"] = shape.notices if shape.notices != "nothing" else "none_id"
    if now("envelope") == "exit" or shape.dispatch in TABLES:
        # What builds no envelope cannot build the one of an error.
        changed["errors"] = "raise" if now("envelope") == "exit" else now("errors")
    if shape.transport in ("async_lines", "fastapi", "starlette", "aiohttp"):
        changed["asynchronous"] = True
    if shape.transport == "flask" and now("place") == "inline":
        changed["asynchronous"] = False
    if not shape.http and shape.session in ("header", "store"):
        changed["session"] = "none"
    return replace(shape, **changed)


def server(shape: Shape) -> str:
    """The text of the server."""
    return _Writer(shape).text()


class _Writer:
    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.names = WORDS[shape.words]
        self.rows: list[str] = []
        self.me = "self." if shape.place == "method" else ""

    def text(self) -> str:
        shape = self.shape
        self._head()
        self._constants()
        self._helpers()
        if shape.dispatch in TABLES and shape.place == "function":
            self._handlers(0)
        if shape.place == "method":
            self._class()
        elif shape.place == "function":
            self._entry(0)
        if shape.http:
            self._endpoint()
        else:
            self._loop()
        text = "\n".join(self.rows) + "\n"
        return self._spelled(text)

    # How it is spelled

    def put(self, level: int, *rows: str) -> None:
        self.rows += [f"{'    ' * level}{row}" if row else "" for row in rows]

    def _spelled(self, text: str) -> str:
        text = re.sub(r"\$(\w+)", lambda found: self.names.get(found[1], found[1]), text)
        if self.shape.quote != '"':
            text = re.sub(r'(?<!")"(?!")', "'", text.replace('"""', "\0")).replace("\0", '"""').replace('""', "''")
        if self.shape.indent != "    ":
            text = re.sub(r"(?m)^(?:    )+", lambda found: self.shape.indent * (len(found[0]) // 4), text)
        return text

    def _doc(self, level: int, words: str) -> None:
        if self.shape.documented:
            self.put(level, f'"""{words}"""')

    def _note(self, level: int, words: str) -> None:
        if self.shape.documented:
            self.put(level, f"# {words}")

    def _def(self, level: int, name: str, *arguments: str, asynchronous: bool = False, me: bool = False) -> None:
        types = {"$msg": "dict", "$params": "dict", "$method": "str"}
        given = [f"{name}: {types[name]}" if self.shape.typed and name in types else name for name in arguments]
        self.put(level, f"{'async ' if asynchronous else ''}def {name}({', '.join([*(['self'] if me else []), *given])}):")

    # What stands at the top

    def _head(self) -> None:
        shape = self.shape
        self._doc(0, "A small server of the Model Context Protocol.")
        wanted = ["json", "sys"]
        if shape.session in ("header", "store"):
            wanted.append("uuid")
        if shape.asynchronous and shape.transport not in ("fastapi", "starlette", "aiohttp"):
            wanted.append("asyncio")
        self.put(0, *(f"import {name}" for name in sorted(wanted)))
        if shape.dispatch == "attribute":
            self.put(0, "from dataclasses import dataclass")
        libraries = {
            "http_server": ["from http.server import BaseHTTPRequestHandler, HTTPServer"],
            "flask": ["", "from flask import Flask, jsonify, request"],
            "fastapi": [
                "",
                "import uvicorn",
                "from fastapi import FastAPI, Request",
                "from fastapi.responses import JSONResponse, Response",
            ],
            "starlette": [
                "",
                "import uvicorn",
                "from starlette.applications import Starlette",
                "from starlette.responses import JSONResponse, Response",
                "from starlette.routing import Route",
            ],
            "aiohttp": ["", "from aiohttp import web"],
        }
        self.put(0, *libraries.get(shape.transport, []), "")

    def _constants(self) -> None:
        shape = self.shape
        if shape.version == "constant":
            self.put(0, 'PROTOCOL_VERSION = "2025-03-26"')
        if shape.version == "list":
            self.put(0, 'SUPPORTED = ["2025-06-18", "2025-03-26", "2024-11-05"]')
        if shape.constants:
            self.put(0, 'SERVER_INFO = {"name": "echo-desk", "version": "1.2.0"}')
        self.put(0, "TOOLS = [", "    {", '        "name": "echo",', '        "description": "Say it again",')
        self.put(2, '"inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},')
        self.put(2, '"annotations": {"readOnlyHint": True},')
        self.put(0, "    },", "]")
        if shape.resources:
            self.put(0, '$RESOURCES = {"memo://one": "The first memo", "memo://two": "The second"}')
        if shape.session in ("flag", "gate") and shape.place != "method":
            self.put(0, 'STATE = {"ready": False}')
        if shape.session == "store":
            self.put(0, "SESSIONS = {}")
        if shape.dispatch == "constants":
            self.put(0, "", "", "class Method:")
            self.put(1, *(f'{self._constant(name)} = "{name}"' for name in self._methods()))
        if shape.dispatch == "attribute":
            self.put(0, "", "", "@dataclass", "class Call:")
            self.put(1, "method: str", "id: object", "params: dict")
        self.put(0, "")

    @staticmethod
    def _constant(method: str) -> str:
        return method.replace("/", "_").upper()

    def _helpers(self) -> None:
        shape = self.shape
        if shape.errors == "raise":
            self.put(0, "", "class RpcError(Exception):")
            self._def(1, "__init__", "code", "text", me=True)
            self.put(2, "super().__init__(text)", "self.code = code", "self.text = text")
            self.put(0, "")
        if self._sends:
            self.put(0, "", "def $send(reply):")
            self.put(1, *self._write("reply"))
            self.put(0, "")
        if shape.envelope == "helper":
            self.put(0, "")
            self._def(0, "$ok", "$rid", "result")
            self._doc(1, "The reply to a request.")
            self.put(1, 'return {"jsonrpc": "2.0", "id": $rid, "result": result}', "")
        if shape.errors == "helper":
            self.put(0, "")
            self._def(0, "$fail", "$rid", "code", "text")
            self.put(1, 'return {"jsonrpc": "2.0", "id": $rid, "error": {"code": code, "message": text}}', "")
        if shape.envelope == "whole" and shape.dispatch not in TABLES:
            for method in self._methods():
                if method != "notifications/initialized" and shape.place != "method":
                    self.put(0, "")
                    self._def(0, self._named(method), "$rid", "$params", asynchronous=shape.asynchronous)
                    self._answer(1, method, "return")
                    self.put(0, "")

    @property
    def _sends(self) -> bool:
        return self.shape.place == "inline" and not self.shape.http

    def _named(self, method: str) -> str:
        return f"on_{method.replace('/', '_')}"

    def _methods(self) -> list[str]:
        shape = self.shape
        found = ["initialize"]
        if shape.notices == "initialized":
            found.append("notifications/initialized")
        if shape.ping:
            found.append("ping")
        found += ["tools/list", "tools/call"]
        if shape.resources:
            found += ["resources/list", "resources/read"]
        if shape.prompts:
            found += ["prompts/list", "prompts/get"]
        if shape.logging:
            found.append("logging/setLevel")
        return found

    # What a method answers

    def _capabilities(self) -> str:
        found = ['"tools": {}']
        found += ['"resources": {}'] if self.shape.resources else []
        found += ['"prompts": {}'] if self.shape.prompts else []
        found += ['"logging": {}'] if self.shape.logging else []
        return "{" + ", ".join(found) + "}"

    def _answer(self, level: int, method: str, way: str) -> None:
        """The rows of a handler. `way` is how a result leaves it: as it is returned, sent, kept in a variable."""
        shape = self.shape
        if method == "notifications/initialized":
            if shape.session in ("flag", "gate"):
                self._ready(level)
            self._nothing(level, way)
        elif method == "initialize":
            version = {"literal": '"2025-03-26"', "constant": "PROTOCOL_VERSION", "list": "chosen"}.get(shape.version)
            if shape.version == "list":
                self.put(level, 'chosen = $params.get("protocolVersion")', "if chosen not in SUPPORTED:")
                self.put(level + 1, "chosen = SUPPORTED[0]")
            if shape.session in ("flag", "gate"):
                self._ready(level)
            identity = "SERVER_INFO" if shape.constants else '{"name": "echo-desk", "version": "1.2.0"}'
            version = version or '$params.get("protocolVersion", "2025-03-26")'
            rows = [f'"protocolVersion": {version},', f'"capabilities": {self._capabilities()},', f'"serverInfo": {identity},']
            self._ok(level, "{" + " ".join(rows)[:-1] + "}", way)
        elif method in ("ping", "logging/setLevel"):
            self._ok(level, "{}", way)
        elif method == "tools/list":
            self._ok(level, '{"tools": TOOLS}', way)
        elif method == "tools/call":
            self.put(level, '$name = $params.get("name")', '$given = $params.get("arguments") or {}', 'if $name != "echo":')
            self._failing(level + 1, -32602, 'f"Unknown tool: {$name}"', way)
            self._ok(level, '{"content": [{"type": "text", "text": str($given.get("text", ""))}]}', way, last=way != "keep")
        elif method == "resources/list":
            self._ok(level, '{"resources": [{"uri": uri, "name": uri} for uri in $RESOURCES]}', way)
        elif method == "resources/read":
            self.put(level, '$uri = $params.get("uri", "")', "if $uri not in $RESOURCES:")
            self._failing(level + 1, -32002, '"Resource not found"', way)
            self._ok(level, '{"contents": [{"uri": $uri, "mimeType": "text/plain", "text": $RESOURCES[$uri]}]}', way)
        elif method == "prompts/list":
            self._ok(level, '{"prompts": [{"name": "hello", "description": "Greets"}]}', way)
        elif method == "prompts/get":
            self.put(level, 'if $params.get("name") != "hello":')
            self._failing(level + 1, -32602, '"Unknown prompt"', way)
            self._ok(level, '{"messages": [{"role": "user", "content": {"type": "text", "text": "Say hello"}}]}', way)

    def _ready(self, level: int) -> None:
        self.put(level, "self.ready = True" if self.shape.place == "method" else 'STATE["ready"] = True')

    def _ok(self, level: int, value: str, way: str, *, last: bool = True) -> None:
        if self.shape.envelope == "exit":
            self.put(level, f"result = {value}" if way == "keep" else f"return {value}")
            return
        whole = f'{{"jsonrpc": "2.0", "id": $rid, "result": {value}}}'
        self._leave(level, f"$ok($rid, {value})" if self.shape.envelope == "helper" else whole, way)

    def _failing(self, level: int, code: int, text: str, way: str) -> None:
        shape = self.shape
        if shape.errors == "raise":
            self.put(level, f"raise RpcError({code}, {text})")
            return
        whole = f'{{"jsonrpc": "2.0", "id": $rid, "error": {{"code": {code}, "message": {text}}}}}'
        self._leave(level, f"$fail($rid, {code}, {text})" if shape.errors == "helper" else whole, way)

    def _leave(self, level: int, whole: str, way: str) -> None:
        wrapped = {
            "flask": "jsonify(%s)", "fastapi": "JSONResponse(%s)", "starlette": "JSONResponse(%s)", "aiohttp": "web.json_response(%s)",
        }.get(self.shape.transport, "%s")  # fmt: skip
        if way == "send":
            self.put(level, f"$send({whole})", "continue")
        elif way == "wfile":
            self.put(level, f"self.reply({whole})", "return")
        elif way == "respond":
            self.put(level, f"return {wrapped % whole}")
        else:
            self.put(level, f"return {whole}")

    def _nothing(self, level: int, way: str) -> None:
        silent = {"flask": 'return "", 202', "aiohttp": "return web.Response(status=202)"}.get(
            self.shape.transport, "return Response(status_code=202)"
        )
        if way == "send":
            self.put(level, "continue")
        elif way == "wfile":
            self.put(level, "self.accepted()", "return")
        elif way == "respond":
            self.put(level, silent)
        else:
            self.put(level, "return None")

    # Who answers

    def _handlers(self, level: int) -> None:
        """The functions of a table, and the table."""
        shape = self.shape
        me = shape.place == "method"
        arguments = ("$params",) if shape.envelope == "exit" else ("$rid", "$params")
        register = "register" if shape.words % 2 else "add_method"
        if shape.dispatch in ("decorator", "register"):
            self.put(0, "HANDLERS = {}", "", "")
        if shape.dispatch == "decorator":
            self.put(0, f"def {register}(name):", "    def wrap(function):", "        HANDLERS[name] = function", "        return function")
            self.put(0, "    return wrap", "", "")
        if shape.dispatch == "register":
            self.put(0, f"def {register}(name, function):", "    HANDLERS[name] = function", "", "")
        for method in self._methods():
            if shape.dispatch == "decorator":
                self.put(level, f'@{register}("{method}")')
            self._def(level, self._named(method), *arguments, asynchronous=shape.asynchronous, me=me)
            self._answer(level + 1, method, "return")
            self.put(0, "")
            if shape.dispatch == "register":
                self.put(0, f'{register}("{method}", {self._named(method)})', "")
        if shape.dispatch == "table" and not me:
            self.put(0, "", "HANDLERS = {")
            self.put(1, *(f'"{method}": {self._named(method)},' for method in self._methods()))
            self.put(0, "}", "")
        self.put(0, "")

    def _class(self) -> None:
        shape = self.shape
        self.put(0, "", "class Desk:")
        self._doc(1, "Answers messages, one by one.")
        self._def(1, "__init__", me=True)
        self.put(2, "self.ready = False")
        if shape.dispatch == "table":
            self.put(2, "self.handlers = {")
            self.put(3, *(f'"{method}": self.{self._named(method)},' for method in self._methods()))
            self.put(2, "}")
        self.put(0, "")
        if shape.dispatch in TABLES:
            self._handlers(1)
        elif shape.envelope == "whole":
            for method in self._methods():
                if method != "notifications/initialized":
                    self._def(1, self._named(method), "$rid", "$params", asynchronous=shape.asynchronous, me=True)
                    self._answer(2, method, "return")
                    self.put(0, "")
        self._entry(1)

    def _entry(self, level: int) -> None:
        """The function that takes a message and gives the reply."""
        shape = self.shape
        me = shape.place == "method"
        if shape.envelope == "exit" and shape.dispatch == "return":
            self.put(0, "")
            self._def(level, "answer", "$method", "$params", asynchronous=shape.asynchronous, me=me)
            self._chain(level + 1, "return")
            self.put(0, "")
        self.put(0, "")
        self._def(level, "$handle", "$msg", asynchronous=shape.asynchronous, me=me)
        self._doc(level + 1, "The reply to a message; None for a notification.")
        self._take_apart(level + 1)
        self._notices(level + 1, "return")
        self._gate(level + 1, "return")
        inner = level + 1
        if shape.errors == "raise":
            self.put(inner, "try:")
            inner += 1
        if shape.dispatch in TABLES:
            self._look_up(inner)
        elif shape.envelope == "exit" and shape.dispatch == "return":
            self.put(inner, f"result = {'await ' if shape.asynchronous else ''}{self.me}answer($method, $params)")
        else:
            self._chain(inner, "keep" if shape.envelope == "exit" else "return")
        if shape.errors == "raise":
            self.put(level + 1, "except RpcError as error:")
            self.put(level + 2, 'return {"jsonrpc": "2.0", "id": $rid, "error": {"code": error.code, "message": error.text}}')
        if shape.envelope == "exit":
            self.put(level + 1, 'return {"jsonrpc": "2.0", "id": $rid, "result": result}')
        self.put(0, "")

    def _take_apart(self, level: int) -> None:
        shape = self.shape
        if shape.dispatch == "attribute":
            self.put(level, 'call = Call($msg.get("method"), $msg.get("id"), $msg.get("params") or {})')
            self.put(level, "$rid = call.id", "$params = call.params")
            return
        self.put(level, '$method = $msg.get("method", "")' if shape.typed else '$method = $msg.get("method")', '$rid = $msg.get("id")')
        self.put(level, '$params = $msg.get("params", {})' if shape.typed else '$params = $msg.get("params") or {}')
        self._note(level, "what is asked for is told apart by its name alone")

    @property
    def _method(self) -> str:
        return "call.method" if self.shape.dispatch == "attribute" else "$method"

    def _notices(self, level: int, way: str) -> None:
        shape = self.shape
        tests = {
            "none_id": "$rid is None", "no_id": '"id" not in $msg', "prefix": f'({self._method} or "").startswith("notifications/")',
        }  # fmt: skip
        if test := tests.get(shape.notices):
            self.put(level, f"if {test}:")
            self._nothing(level + 1, way)

    def _gate(self, level: int, way: str) -> None:
        if self.shape.session == "gate":
            ready = "self.ready" if self.shape.place == "method" else 'STATE["ready"]'
            self.put(level, f'if not {ready} and {self._method} != "initialize":')
            if self.shape.errors == "raise":
                self.put(level + 1, 'return {"jsonrpc": "2.0", "id": $rid, "error": {"code": -32000, "message": "Not initialized"}}')
            else:
                self._failing(level + 1, -32000, '"Not initialized"', way)

    def _chain(self, level: int, way: str) -> None:
        shape = self.shape
        plain = shape.dispatch in ("elif", "constants", "attribute")
        if shape.dispatch == "match":
            self.put(level, f"match {self._method}:")
            level += 1
        for number, method in enumerate(self._methods()):
            if shape.dispatch == "match":
                self.put(level, f'case "{method}":')
            else:
                word = "elif" if plain and number else "if"
                wanted = f"Method.{self._constant(method)}" if shape.dispatch == "constants" else f'"{method}"'
                self.put(level, f"{word} {self._method} == {wanted}:")
            if shape.envelope == "whole" and method != "notifications/initialized":
                waiting = "await " if shape.asynchronous else ""
                self.put(level + 1, f"return {waiting}{self.me}{self._named(method)}($rid, $params)")
            else:
                self._answer(level + 1, method, way)
        unknown = f'f"Method not found: {{{self._method}}}"'
        if shape.dispatch == "match":
            self.put(level, "case _:")
            self._failing(level + 1, -32601, unknown, way)
        elif plain:
            self.put(level, "else:")
            self._failing(level + 1, -32601, unknown, way)
        else:
            self._failing(level, -32601, unknown, way)

    def _look_up(self, level: int) -> None:
        shape = self.shape
        if shape.dispatch == "getattr":
            self.put(level, 'handler = getattr(self, "on_" + ($method or "").replace("/", "_"), None)')
        elif shape.place == "method":
            self.put(level, "handler = self.handlers.get($method)")
        else:
            self.put(level, "handler = HANDLERS.get($method)")
        self.put(level, "if handler is None:")
        self._failing(level + 1, -32601, 'f"Method not found: {$method}"', "return")
        waiting = "await " if shape.asynchronous else ""
        if shape.envelope == "exit":
            self.put(level, f"result = {waiting}handler($params)")
        else:
            self.put(level, f"return {waiting}handler($rid, $params)")

    # What carries the messages

    def _write(self, value: str) -> list[str]:
        if self.shape.transport == "content_length":
            return [
                f"body = json.dumps({value}).encode()",
                'sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)',
                "sys.stdout.buffer.flush()",
            ]
        if self.shape.transport == "buffer" or self.shape.words % 2:
            return [f'sys.stdout.write(json.dumps({value}) + "\\n")', "sys.stdout.flush()"]
        return [f"print(json.dumps({value}), flush=True)"]

    def _loop(self) -> None:
        shape = self.shape
        self.put(0, "")
        inner = shape.transport == "async_lines" or (shape.place == "inline" and shape.asynchronous)
        self._def(0, "main", asynchronous=inner)
        if shape.place == "nested":
            self._entry(1)
        if shape.place == "method":
            self.put(1, "desk = Desk()")
        if shape.transport in ("lines", "buffer"):
            self.put(1, f"for line in sys.stdin{'.buffer' if shape.transport == 'buffer' else ''}:")
        else:
            self.put(1, "while True:")
        if shape.transport == "readline":
            self.put(2, "line = sys.stdin.readline()")
        if shape.transport == "async_lines":
            self.put(2, "line = await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)")
        if shape.transport in ("readline", "async_lines"):
            self.put(2, "if not line:", "    break")
        if shape.transport == "content_length":
            self.put(2, "length = 0", "header = sys.stdin.buffer.readline()", "if not header:", "    break")
            self.put(2, "while header.strip():", '    if header.lower().startswith(b"content-length:"):')
            self.put(2, '        length = int(header.split(b":")[1])', "    header = sys.stdin.buffer.readline()")
            self.put(2, "line = sys.stdin.buffer.read(length)")
        self.put(2, "line = line.strip()", "if not line:", "    continue")
        if shape.listing:
            self.put(2, "try:", "    $msg = json.loads(line)", "except ValueError:")
            self.put(3, *self._write('{"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}'), "continue")
        else:
            self.put(2, "$msg = json.loads(line)")
        if shape.place == "inline":
            self._take_apart(2)
            self._notices(2, "send")
            self._gate(2, "send")
            self._chain(2, "send")
        else:
            self._answered(2, inner)
        self.put(0, "", "", 'if __name__ == "__main__":')
        self.put(1, "asyncio.run(main())" if inner else "main()")

    def _call(self, argument: str, inner: bool) -> str:
        called = f"{'desk.' if self.shape.place == 'method' else ''}$handle({argument})"
        if not self.shape.asynchronous:
            return called
        return f"await {called}" if inner else f"asyncio.run({called})"

    def _answered(self, level: int, inner: bool) -> None:
        if self.shape.batch:
            self.put(level, "if isinstance($msg, list):", "    replies = []", "    for one in $msg:")
            self.put(level + 2, f"reply = {self._call('one', inner)}", "if reply is not None:", "    replies.append(reply)")
            self.put(level + 1, "if replies:")
            self.put(level + 2, *self._write("replies"))
            self.put(level + 1, "continue")
        self.put(level, f"reply = {self._call('$msg', inner)}", "if reply is not None:")
        self.put(level + 1, *self._write("reply"))

    def _endpoint(self) -> None:
        getattr(self, f"_{self.shape.transport}")()

    def _inside(self, level: int, way: str) -> None:
        """The rows of an endpoint from the message to its reply."""
        self._take_apart(level)
        self._notices(level, way)
        self._gate(level, way)
        self._chain(level, way)

    def _sessions(self, level: int, header: str, refuse: Iterable[str]) -> None:
        if self.shape.session == "store":
            self.put(level, f'if $msg.get("method") != "initialize" and {header} not in SESSIONS:')
            self.put(level + 1, *refuse)

    def _issue(self, level: int, put: str) -> None:
        """A session for who says hello."""
        if self.shape.session in ("header", "store"):
            self.put(level, 'if $msg.get("method") == "initialize":', "    session = uuid.uuid4().hex")
            if self.shape.session == "store":
                self.put(level + 1, "SESSIONS[session] = {}")
            self.put(level + 1, f'{put}["Mcp-Session-Id"] = session')

    def _http_server(self) -> None:
        shape = self.shape
        if shape.place == "method":
            self.put(0, "", "desk = Desk()")
        self.put(0, "", "", "class Endpoint(BaseHTTPRequestHandler):")
        self.put(1, "def log_message(self, format, *args):", "    pass", "")
        self.put(1, "def reply(self, payload, headers=None):", "    body = json.dumps(payload).encode()", "    self.send_response(200)")
        self.put(2, 'self.send_header("Content-Type", "application/json")', 'self.send_header("Content-Length", str(len(body)))')
        self.put(2, "for key, value in (headers or {}).items():", "    self.send_header(key, value)", "self.end_headers()")
        self.put(2, "self.wfile.write(body)", "")
        self.put(
            1,
            "def accepted(self):",
            "    self.send_response(202)",
            '    self.send_header("Content-Length", "0")',
            "    self.end_headers()",
            "",
        )
        self.put(1, "def do_POST(self):")
        self.put(2, 'length = int(self.headers.get("Content-Length", 0))', "$msg = json.loads(self.rfile.read(length))")
        refuse = ("self.send_error(404)", "return")
        self._sessions(2, 'self.headers.get("Mcp-Session-Id")', refuse)
        if shape.place == "nested":
            self._entry(2)
        if shape.place == "inline":
            self._inside(2, "wfile")
        else:
            self.put(2, f"reply = {self._call('$msg', False)}", "if reply is None:", "    self.accepted()", "    return", "headers = {}")
            self._issue(2, "headers")
            self.put(2, "self.reply(reply, headers)")
        self.put(0, "", "", 'if __name__ == "__main__":')
        self.put(1, 'HTTPServer(("127.0.0.1", int(sys.argv[1])), Endpoint).serve_forever()')

    def _flask(self) -> None:
        shape = self.shape
        self.put(0, "", "app = Flask(__name__)")
        if shape.place == "method":
            self.put(0, "desk = Desk()")
        self.put(0, "", "", '@app.route("/mcp", methods=["POST"])', "def endpoint():")
        self.put(1, "$msg = request.get_json()")
        self._sessions(1, 'request.headers.get("Mcp-Session-Id")', ['return jsonify({"error": "no such session"}), 404'])
        if shape.place == "nested":
            self._entry(1)
        if shape.place == "inline":
            self._inside(1, "respond")
        else:
            self.put(1, f"reply = {self._call('$msg', False)}", "if reply is None:", '    return "", 202', "answered = jsonify(reply)")
            self._issue(1, "answered.headers")
            self.put(1, "return answered")
        self.put(0, "", "", 'if __name__ == "__main__":', '    app.run(host="127.0.0.1", port=int(sys.argv[1]))')

    def _fastapi(self) -> None:
        self.put(0, "", "app = FastAPI()")
        if self.shape.place == "method":
            self.put(0, "desk = Desk()")
        self.put(0, "", "", '@app.post("/mcp")', "async def endpoint(request: Request):")
        self._of_starlette()
        self.put(0, "", "", 'if __name__ == "__main__":')
        self.put(1, 'uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")')

    def _starlette(self) -> None:
        if self.shape.place == "method":
            self.put(0, "", "desk = Desk()")
        self.put(0, "", "", "async def endpoint(request):")
        self._of_starlette()
        self.put(0, "", "", 'app = Starlette(routes=[Route("/mcp", endpoint, methods=["POST"])])')
        self.put(0, "", 'if __name__ == "__main__":')
        self.put(1, 'uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")')

    def _of_starlette(self) -> None:
        self.put(1, "$msg = await request.json()")
        refuse = ['return JSONResponse({"error": "no such session"}, status_code=404)']
        self._sessions(1, 'request.headers.get("mcp-session-id")', refuse)
        if self.shape.place == "nested":
            self._entry(1)
        if self.shape.place == "inline":
            self._inside(1, "respond")
            return
        self.put(1, f"reply = {self._call('$msg', True)}", "if reply is None:", "    return Response(status_code=202)")
        self.put(1, "answered = JSONResponse(reply)")
        self._issue(1, "answered.headers")
        self.put(1, "return answered")

    def _aiohttp(self) -> None:
        if self.shape.place == "method":
            self.put(0, "", "desk = Desk()")
        self.put(0, "", "", "async def endpoint(request):")
        self.put(1, "$msg = await request.json()")
        refuse = ['return web.json_response({"error": "no such session"}, status=404)']
        self._sessions(1, 'request.headers.get("Mcp-Session-Id")', refuse)
        if self.shape.place == "nested":
            self._entry(1)
        if self.shape.place == "inline":
            self._inside(1, "respond")
        else:
            self.put(1, f"reply = {self._call('$msg', True)}", "if reply is None:", "    return web.Response(status=202)")
            self.put(1, "answered = web.json_response(reply)")
            self._issue(1, "answered.headers")
            self.put(1, "return answered")
        self.put(0, "", "", "app = web.Application()", 'app.router.add_post("/mcp", endpoint)', "")
        self.put(0, "", 'if __name__ == "__main__":')
        self.put(1, 'web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None)')


# What older clients say

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
SAID: tuple[dict[str, Any], ...] = (
    {"method": "ping"},
    {"method": "tools/list", "params": {}},
    {"method": "tools/list"},
    {"method": "tools/call", "params": {"name": "echo", "arguments": {"text": 'ä \u2028 "quoted"'}}},
    {"method": "tools/call", "params": {"name": "echo", "_meta": {"progressToken": 7}}},
    {"method": "tools/call", "params": {"name": "no_such_tool", "arguments": {}}},
    {"method": "tools/call"},
    {"method": "resources/list"},
    {"method": "resources/read", "params": {"uri": "memo://one"}},
    {"method": "resources/read", "params": {"uri": "memo://nowhere"}},
    {"method": "prompts/list"},
    {"method": "prompts/get", "params": {"name": "hello"}},
    {"method": "prompts/get", "params": {"name": "no such"}},
    {"method": "logging/setLevel", "params": {"level": "debug"}},
    {"method": "initialize", "params": {"protocolVersion": "1999-01-01"}},
    {"method": "initialize", "params": HELLO},
    {"method": "no/such/method", "params": {"a": [1, None]}},
    {"method": ""},
)
TOLD: tuple[dict[str, Any], ...] = (
    {"method": "notifications/initialized"},
    {"method": "notifications/cancelled", "params": {"requestId": 3}},
    {"method": "no/such/notification"},
)


@st.composite
def scripts(draw: st.DrawFn) -> list[str]:
    """What a client of the handshake era says, message by message."""
    ids = st.one_of(st.integers(0, 9), st.sampled_from(("a", "", None, 10**18)))

    def message() -> dict[str, Any]:
        if draw(st.integers(0, 5)) == 0:
            return {"jsonrpc": "2.0", **draw(st.sampled_from(TOLD))}
        return {"jsonrpc": "2.0", "id": draw(ids), **draw(st.sampled_from(SAID))}

    said: list[Any] = []
    if draw(st.integers(0, 4)):
        said += [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}, {"jsonrpc": "2.0", **TOLD[0]}]
    said += [message() for _ in range(draw(st.integers(3, 9)))]
    if draw(st.integers(0, 5)) == 0:
        said.insert(draw(st.integers(0, len(said))), [message() for _ in range(draw(st.integers(0, 3)))])
    lines = [json.dumps(one) for one in said]
    if draw(st.integers(0, 3)) == 0:
        lines.append(draw(st.sampled_from(("{not json", "12", "null", '"text"', '{"id": 1}', '{"method": 5, "id": 1}'))))
        lines.append(json.dumps(message()))
    return lines


def framed(shape: Shape, lines: Iterable[str]) -> bytes:
    """Messages as a server reads them from its standard input."""
    return b"".join(_framed(shape, line.encode()) for line in lines)


def _framed(shape: Shape, line: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%s" % (len(line), line) if shape.transport == "content_length" else line + b"\n"


def replies(shape: Shape, said: bytes) -> Iterator[Any]:
    """The messages in what a server has written to its standard output."""
    if shape.transport != "content_length":
        yield from (json.loads(line) for line in said.splitlines())
        return
    while said:
        head, _, rest = said.partition(b"\r\n\r\n")
        length = int(head.split(b":")[1])
        yield json.loads(rest[:length])
        said = rest[length:]
