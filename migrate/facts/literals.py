"""Literals: replies, results, tables, headers, and JSON written as text."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from . import vocabulary as words
from .model import Envelope, Member, Ref, Result, Role, Stream, Value
from .shapes import is_callable, is_named_version, text, value_kind
from .walk import Walk, is_word

_JSON_METHOD = re.compile(r'\\?"method\\?"\s*:\s*\\?"([A-Za-z_$/]+)\\?"')
# Access-Control-Allow-Headers: "Content-Type, Mcp-Session-Id"; prose does not end at a comma.
_LISTED = re.compile(r"^(?=(?:[\w,\s-]*,\s*)?mcp-session-id(?:,|$))[\w-]+(?:,\s*[\w-]+)*$", re.IGNORECASE)
_STAMPS = frozenset({"resultType", "ttlMs", "cacheScope", "_meta"})
_RESULT_FIELDS: Mapping[str, frozenset[str]] = {
    "tools": frozenset({"nextCursor"}),
    "resources": frozenset({"nextCursor"}),
    "resourceTemplates": frozenset({"nextCursor"}),
    "prompts": frozenset({"nextCursor"}),
    "contents": frozenset(),
    "content": frozenset({"isError", "structuredContent"}),
    "messages": frozenset({"description"}),
    "completion": frozenset(),
    "supportedVersions": frozenset({"capabilities", "instructions", "serverInfo"}),
}
_EVENT_STARTS = ("event:", "id:", "retry:")
_EVENT_FIELD = re.compile(r"(?:event: ?\w+\n)?(id|retry): ?\S+\r?\n")


class Literals(Walk):
    """The part of a walk that knows literals."""

    def _dict(self, node: ast.Dict) -> None:
        keys = [self._value(key) if key is not None else None for key in node.keys]
        names = frozenset(key for key in keys if isinstance(key, str))
        for key, key_node, value_node in zip(keys, node.keys, node.values, strict=True):
            if key is None or key_node is None:
                continue
            if is_word(key) and not isinstance(key, tuple):
                self._use(Role.KEY, key, key_node, callable=is_callable(value_node), subject=value_kind(value_node), siblings=names)
                self._claim(key_node)
            value = self._value(value_node)
            if is_word(value) and not isinstance(value, tuple) and not is_named_version(value, value_node):
                assert value is not None
                self._use(Role.ENTRY, value, value_node, name=key, siblings=names, text=self._message(node, keys))
                self._claim(value_node)
            elif key == "protocolVersion":
                self._echo(value_node)
                if isinstance(value, str) and isinstance(value_node, ast.Constant) and names & {"capabilities", "serverInfo", "clientInfo"}:
                    self._use(Role.ENTRY, value, value_node, name=key, siblings=names)
        self._shapes(node, keys, names)

    def _echo(self, node: ast.expr) -> None:
        """`"protocolVersion": params.get("protocolVersion")`, with or without a default."""
        value: ast.expr | None = node
        if isinstance(value, ast.Name) and self._local is not None:
            value = self._local.get(value.id)
        if isinstance(value, ast.BoolOp):
            value = value.values[0]
        match value:
            case ast.Call(func=ast.Attribute(attr="get"), args=[key, *_]) | ast.Subscript(slice=key):
                if self._value(key) == "protocolVersion":
                    self._use(Role.ECHO, "echo", node)

    def _message(self, node: ast.Dict, keys: list[Value | None]) -> str:
        for key, value in zip(keys, node.values, strict=True):
            if key == "message":
                return text(value)
        return ""

    def _shapes(self, node: ast.Dict, keys: list[Value | None], names: frozenset[str]) -> None:
        """Replies, results and fields with a meaning of their own."""
        if "jsonrpc" in names:
            self.evidence.add("jsonrpc")
            kind = (
                "result"
                if "result" in names
                else "error"
                if "error" in names
                else "notification"
                if "method" in names and "id" not in names
                else ""
            )
            if kind:
                self.facts.append(Envelope(self._span(node), kind, self._scope, method=self._around))
        for field, method in words.RESULTS.items():
            if field in names and names <= {field} | _RESULT_FIELDS[field] | _STAMPS:
                value = node.values[keys.index(field)]
                if not isinstance(value, (ast.Dict, ast.Constant)) or field == "completion":
                    self.facts.append(
                        Result(
                            self._span(node),
                            method,
                            self._scope,
                            stamped="resultType" in names,
                            cached={"ttlMs", "cacheScope"} <= names,
                        )
                    )
        for key, value in zip(keys, node.values, strict=True):
            match key, value:
                case "elicitationId", _:
                    self.facts.append(Member(self._span(node), "elicitationId", self._scope))
                case "taskSupport", _:
                    self.facts.append(Member(self._span(value), "execution.taskSupport", self._scope))
                case "capabilities", ast.Dict(keys=inner, values=inner_values):
                    self._capabilities(inner, inner_values, client="clientInfo" in names)
                case "enumNames", ast.List():
                    self.facts.append(Member(self._span(node), "enumNames", self._scope))
                case "serverInfo", _ if "supportedVersions" in names:
                    self.facts.append(Member(self._span(value), "discover.serverInfo", self._scope))
                case "registration_endpoint", _ if "authorization_endpoint" in names:
                    self.facts.append(Member(self._span(value), "registration_endpoint", self._scope))
                case "includeContext", ast.Constant(value="thisServer" | "allServers"):
                    self.facts.append(Member(self._span(value), "includeContext", self._scope))

    def _capabilities(self, keys: list[ast.expr | None], values: list[ast.expr], *, client: bool) -> None:
        side = "client" if client else "server"
        for key, value in zip(keys, values, strict=True):
            name = self._value(key) if key is not None else None
            if not isinstance(name, str) or key is None:
                continue
            if name in ("tasks", "logging", "roots", "sampling"):
                self.facts.append(Member(self._span(key), f"{side}.{name}", self._scope))
            if isinstance(value, ast.Dict):
                for inner_key, inner_value in zip(value.keys, value.values, strict=True):
                    inner = self._value(inner_key) if inner_key is not None else None
                    if (
                        inner in ("listChanged", "subscribe")
                        and inner_key is not None
                        and isinstance(inner_value, ast.Constant)
                        and inner_value.value is True
                    ):
                        self.facts.append(Member(self._span(inner_key), f"{side}.{name}.{inner}", self._scope))

    def _tuple(self, node: ast.Tuple) -> None:
        """("Mcp-Session-Id", sid): a header of WSGI or ASGI."""
        if len(node.elts) == 2:
            value = self._value(node.elts[0])
            named = isinstance(value, Ref) and "session" in value.name.lower()
            if value is not None and (named or (isinstance(value, str) and value.lower() in words.HEADERS)):
                self._use(Role.PAIR, value, node.elts[0])
                self._claim(node.elts[0])

    def _joined(self, node: ast.JoinedStr) -> None:
        """An f-string is one text; what it spells is looked at as a whole."""
        literal = "".join(part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "0" for part in node.values)
        for part in node.values:
            if isinstance(part, ast.Constant):
                self._claim(part)
        self._json_text(node, literal)
        self._event(node, literal)

    def _constant(self, node: ast.Constant) -> None:
        text = node.value
        if isinstance(text, bytes):
            text = text.decode("latin-1")
        elif not isinstance(text, str):
            return
        # Most texts are none of these, and claims need not be looked up for them.
        if len(text) <= words.LONGEST and (text in words.WHOLE or text.lower() in words.HEADERS):
            if id(node) not in self._claimed:
                self._use(Role.OTHER, text, node)
        elif "method" in text:
            if id(node) not in self._claimed:
                self._json_text(node, text)
        elif text.startswith(_EVENT_STARTS):
            if id(node) not in self._claimed:
                self._event(node, text)
        elif "," in text and _LISTED.search(text) and id(node) not in self._claimed:
            self._use(Role.OTHER, "mcp-session-id", node)

    def _event(self, node: ast.expr, text: str) -> None:
        """Server-sent events with a meaning for the protocol."""
        if text.startswith(("event: endpoint", "event:endpoint")):
            self.facts.append(Stream(self._span(node), "endpoint", self._scope))
        elif found := _EVENT_FIELD.match(text):
            self.facts.append(Stream(self._span(node), found[1], self._scope))

    def _json_text(self, node: ast.expr, text: str) -> None:
        stripped = text.lstrip()
        if not stripped.startswith("{") or "jsonrpc" not in text:
            return
        for found in _JSON_METHOD.finditer(text):
            if found[1] in words.METHODS or found[1] in words.SPELLINGS:
                self._use(Role.TEXT, found[1], node)

    def _negative(self, node: ast.UnaryOp) -> None:
        if id(node) not in self._claimed and isinstance(node.op, ast.USub):
            value = self._value(node)
            if isinstance(value, int) and is_word(value):
                self._use(Role.OTHER, value, node)
