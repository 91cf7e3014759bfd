"""Expressions: comparisons, calls and look-ups, visited without recursion."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping

from . import vocabulary as words
from .literals import Literals
from .model import Call, Ref, Role, Route
from .routes import Routes
from .shapes import call_text, dotted_text, elements, is_callable, is_collection, is_int_call, is_named_version, is_trivial
from .syntax import FIELDS
from .walk import is_word

_LOGGERS = frozenset(
    {"debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print", "echo", "fail", "skip", "xfail"}
)
# Where a request keeps its verb: `request.method`, `self.command`, `scope["method"]`.
_VERB = re.compile(r"\.(method|command|http_method)$|scope\['method'\]$")
# Names alone are half of all nodes and say nothing: they are not even pushed.
_SILENT = frozenset({ast.Name, type(None), str})
# What servers have decorators for, under the names that clients call.
_REGISTERING = frozenset({"set_logging_level", "subscribe_resource", "unsubscribe_resource"})


class Expressions(Literals, Routes):
    """The part of a walk that reads expressions."""

    def _expression(self, root: ast.expr, body: list[ast.stmt] | None = None) -> None:
        if root.__class__ is ast.Name:
            return
        stack: list[ast.AST] = [root]
        while stack:
            node = stack.pop()
            kind = node.__class__
            if kind is ast.Constant:
                self._constant(node)  # type: ignore[arg-type]
                continue
            visit = _VISITS.get(kind)
            if visit is not None:
                if kind is ast.Compare and body is not None:
                    self._compare(node, body)  # type: ignore[arg-type]
                else:
                    visit(self, node)
            for field in FIELDS[kind]:
                child = getattr(node, field)
                if child.__class__ is list:
                    stack += [item for item in reversed(child) if item.__class__ not in _SILENT]
                    continue
                while child.__class__ is ast.Attribute:  # says nothing either; what it is read from may
                    child = child.value
                if child.__class__ not in _SILENT:
                    stack.append(child)

    def _compare(self, node: ast.Compare, body: list[ast.stmt] | None = None) -> None:
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            match op:
                case ast.Eq() | ast.NotEq() | ast.Is() | ast.IsNot():
                    self._equal(left, right, negated=isinstance(op, (ast.NotEq, ast.IsNot)), body=body)
                case ast.In() | ast.NotIn():
                    self._member(left, right, negated=isinstance(op, ast.NotIn), body=body)
                case _:
                    for one, other in ((left, right), (right, left)):
                        value = self._value(one)
                        if isinstance(value, str) and value in words.VERSIONS:
                            self._use(Role.COMPARE, value, one, subject=self._about(other), name="order")
                            self._claim(one)
            left = right

    def _equal(self, left: ast.expr, right: ast.expr, *, negated: bool, body: list[ast.stmt] | None) -> None:
        if isinstance(right, ast.Constant) and right.value == "DELETE" and not negated and _VERB.search(ast.unparse(left)):
            self.facts.append(Route(self._span(right), "DELETE", self._scope))
        for one, other in ((left, right), (right, left)):
            value = self._value(one)
            if not is_word(value) or isinstance(value, tuple) or (isinstance(one, ast.Call) and isinstance(value, Ref)):
                continue
            assert value is not None
            block = self._block(body) if body is not None and not negated else None
            trivial = body is not None and not negated and is_trivial(body)
            self._use(Role.COMPARE, value, one, subject=self._about(other), negated=negated, body=block, trivial=trivial)
            self._claim(one)

    def _member(self, item: ast.expr, container: ast.expr, *, negated: bool, body: list[ast.stmt] | None) -> None:
        value = self._value(item)
        if isinstance(value, str) and not isinstance(container, (ast.Set, ast.List, ast.Tuple, ast.Dict)):
            if is_word(value) or value in words.BEGINNINGS:
                self._use(Role.SUBSTRING, value, item, subject=self._about(container), negated=negated)
                self._claim(item)
            return
        held = self._value(container)
        if is_collection(container):
            for element in elements(container):
                inner = self._value(element)
                if is_word(inner):
                    assert inner is not None
                    self._use(Role.MEMBER, inner, element, subject=self._about(item), negated=negated, name=held or "")
                    self._claim(element)
        elif isinstance(held, (tuple, Ref)) and is_word(held):
            self._use(Role.MEMBER, held, container, subject=self._about(item), negated=negated)

    def _call(self, node: ast.Call) -> None:
        called = self._called(node)
        # error(rid, -32002, "...") is a helper of a server, whatever it is called.
        if called in _LOGGERS and not any(isinstance(value := self._value(argument), int) and is_word(value) for argument in node.args):
            for argument in node.args:
                self._claim(argument)
            return
        if isinstance(node.func, ast.Attribute):
            self._session_call(node, node.func, called)
        match called, node.args:
            case "get" | "pop" | "getlist" | "get_header" | "header", [key, *rest]:
                self._looked_up(node, key, rest)
            case "startswith", [prefix]:
                value = self._value(prefix)
                if isinstance(value, str) and value.startswith("notifications/"):
                    self.evidence.add("notifications/")
                    self._claim(prefix)
            case "getattr", [_, name, *_]:
                self._getattr(name)
            case "getenv", [_, default]:
                self._default(default, "getenv")
            case "Header", _:
                for keyword in node.keywords:
                    value = self._value(keyword.value)
                    if keyword.arg == "alias" and is_word(value):
                        assert value is not None
                        self._use(Role.GET, value, keyword.value, subject="Header", name="alias")
                        self._claim(keyword.value)
            case (("Route" | "add_route" | "add_api_route" | "add_url_rule" | "add_get" | "add_delete"), [path, *_]):
                self._registered_route(node, called, path)
        self._arguments(node, called)

    def _arguments(self, node: ast.Call, called: str) -> None:
        message = ""
        for position, argument in enumerate(node.args[:6]):
            if id(argument) in self._claimed or (
                isinstance(argument, (ast.Call, ast.Dict, ast.Lambda, ast.Await)) and not is_int_call(argument)
            ):
                continue
            if argument.__class__ is ast.Constant and argument.value.__class__ not in (str, int):
                continue
            value = self._value(argument)
            if not is_word(value) or isinstance(value, tuple):
                continue
            assert value is not None
            if isinstance(value, int) and not message:
                message = call_text(node)
            following = node.args[position + 1] if position + 1 < len(node.args) else None
            self._use(
                Role.ARGUMENT,
                value,
                argument,
                subject=dotted_text(node.func),
                name=str(position),
                text=message,
                callable=following is not None and is_callable(following) and not isinstance(following, ast.Call),
            )
            if not isinstance(value, Ref):
                self._claim(argument)
        for keyword in node.keywords:
            if keyword.arg is None or id(keyword.value) in self._claimed:
                continue
            value = self._value(keyword.value)
            if called == "dict" and (keyword.arg in words.METHODS or keyword.arg in words.SPELLINGS):
                names = frozenset(other.arg for other in node.keywords if other.arg)
                self._use(Role.KEY, keyword.arg, keyword.value, callable=is_callable(keyword.value), siblings=names)
            if (
                is_word(value)
                and not isinstance(value, tuple)
                and not isinstance(keyword.value, (ast.Call, ast.Dict))
                and not is_named_version(value, keyword.value)
            ):
                assert value is not None
                if isinstance(value, int) and not message:
                    message = call_text(node)
                self._use(Role.KEYWORD, value, keyword.value, subject=dotted_text(node.func), name=keyword.arg, text=message)
                if not isinstance(value, Ref):
                    self._claim(keyword.value)

    def _session_call(self, node: ast.Call, function: ast.Attribute, called: str) -> None:
        # `@server.subscribe_resource()` registers a handler; a call has something to say.
        registers = called in _REGISTERING and (not (node.args or node.keywords) or ast.unparse(function.value) == "mcp_handlers")
        if called in words.SESSION_CALLS and not registers:
            self.facts.append(Call(self._span(node), called, self._scope, receiver=ast.unparse(function.value)))

    def _looked_up(self, node: ast.Call, key: ast.expr, rest: list[ast.expr]) -> None:
        value = self._value(key)
        if is_word(value) and not isinstance(value, (tuple, int)):
            assert value is not None
            subject = ast.unparse(node.func.value) if isinstance(node.func, ast.Attribute) else ""
            self._use(Role.GET, value, key, subject=subject)
            self._claim(key)
        if rest and isinstance(value, str) and value.lower() in ("protocolversion", "protocol_version", "mcp-protocol-version"):
            self._default(rest[0], value)
        elif rest and isinstance(node.func, ast.Attribute) and "environ" in ast.unparse(node.func.value):
            self._default(rest[0], "environ")

    def _default(self, node: ast.expr, name: str) -> None:
        value = self._value(node)
        if (
            isinstance(value, str)
            and not isinstance(node, (ast.Name, ast.Attribute))
            and (value in words.VERSIONS or words.DATE.fullmatch(value))
        ):
            self._use(Role.DEFAULT, value, node, name=name)
            self._claim(node)

    def _bool_op(self, node: ast.BoolOp) -> None:
        if isinstance(node.op, ast.Or) and len(node.values) > 1:
            first, last = node.values[0], node.values[-1]
            value = self._value(last)
            if isinstance(value, str) and words.DATE.fullmatch(value) and "rotocol" in (text := ast.unparse(first)) and "ersion" in text:
                self._default(last, "or")

    def _getattr(self, name: ast.expr) -> None:
        """getattr(self, f"handle_{...}") or "handle_" + ...: the prefix of handler methods."""
        match name:
            case ast.JoinedStr(values=[ast.Constant(value=str(prefix)), *_]) | ast.BinOp(left=ast.Constant(value=str(prefix))):
                if prefix.isidentifier():
                    self._getattr_prefixes.add(prefix)
            case ast.Name(id=local) if self._local is not None and local in self._local and not isinstance(self._local[local], ast.Name):
                self._getattr(self._local[local])

    def _subscript(self, node: ast.Subscript) -> None:
        value = self._value(node.slice) if isinstance(node.slice, (ast.Constant, ast.Name, ast.Attribute, ast.Call)) else None
        if is_word(value) and not isinstance(value, (tuple, int)) and id(node.slice) not in self._claimed:
            assert value is not None
            self._use(Role.SUBSCRIPT, value, node.slice, subject=ast.unparse(node.value))
            self._claim(node.slice)


# Unbound, so that a walk holds no cycle: with the collector off, syntax trees still go as soon as they are read.
_VISITS: Mapping[type[ast.AST], Callable[..., None]] = {
    ast.Compare: Expressions._compare,
    ast.Dict: Expressions._dict,
    ast.Call: Expressions._call,
    ast.Subscript: Expressions._subscript,
    ast.BoolOp: Expressions._bool_op,
    ast.UnaryOp: Expressions._negative,
    ast.Tuple: Expressions._tuple,
    ast.JoinedStr: Expressions._joined,
}
