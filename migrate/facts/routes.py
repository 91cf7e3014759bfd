"""HTTP routes of the endpoint, and parameters that a framework fills from headers."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from . import vocabulary as words
from .model import Role, Route
from .walk import Walk

BASES = ("RequestHandler", "View", "HTTPEndpoint", "Resource")
"""How classes end whose methods answer the verbs that they are named after."""
VERBS = frozenset({"get", "post", "put", "delete", "patch", "options", "head"})


class Routes(Walk):
    """The part of a walk that knows routes."""

    def _parameters(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        pairs = [
            *zip(reversed(positional), reversed(arguments.defaults), strict=False),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        for argument, default in pairs:
            if default is not None:
                self._header_parameter(argument, default)
                value = self._value(default)
                if isinstance(value, str) and value in words.VERSIONS:
                    self._use(Role.DEFAULT, value, default, name=argument.arg, subject=argument.arg)
                    self._claim(default)
                self._expression(default)
        for argument in (*positional, *arguments.kwonlyargs):
            if argument.annotation is not None:
                self._annotated_header(argument, argument.annotation)

    def _header_parameter(self, argument: ast.arg, default: ast.expr) -> None:
        """`mcp_session_id: str = Header(None)`: the framework reads the header of that name."""
        if isinstance(default, ast.Call) and self._called(default) == "Header":
            name = argument.arg.replace("_", "-")
            if not any(keyword.arg == "alias" for keyword in default.keywords) and name in words.HEADERS:
                self._use(Role.GET, name, argument, subject="Header", name="alias")

    def _annotated_header(self, argument: ast.arg, annotation: ast.expr) -> None:
        if isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple):
            for part in annotation.slice.elts[1:]:
                if isinstance(part, ast.Call):
                    self._header_parameter(argument, part)
                self._expression(part)

    def _route(self, function: ast.FunctionDef | ast.AsyncFunctionDef, verb: str, path: str) -> None:
        if verb in ("GET", "DELETE", "POST"):
            scope = f"{self._scope}.{function.name}" if self._scope else function.name
            self.facts.append(Route(self._name_span(function), verb, scope, path=path + self._stream_mark(function)))

    def _verbs(self, node: ast.ClassDef) -> None:
        """`get` and `delete` beside the `post` of one class."""
        methods = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)}
        for verb in ("get", "delete") if "post" in methods else ():
            if (method := methods.get(verb)) is not None:
                scope = f"{self._scope}.{verb}"
                self.facts.append(Route(self._name_span(method), verb.upper(), scope, path=self._stream_mark(method)))

    def _listed_verbs(self, node: ast.Call) -> Iterable[str]:
        for keyword in node.keywords:
            if keyword.arg == "methods" and isinstance(keyword.value, (ast.List, ast.Tuple, ast.Set)):
                return [item.value.upper() for item in keyword.value.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        return ["GET"]

    def _registered_route(self, node: ast.Call, called: str, path: ast.expr) -> None:
        text = self._value(path)
        if isinstance(text, str) and text.startswith("/"):
            verbs = ["GET"] if called == "add_get" else ["DELETE"] if called == "add_delete" else self._listed_verbs(node)
            for verb in verbs:
                if verb in ("GET", "DELETE", "POST"):
                    self.facts.append(Route(self._span(node), verb, self._scope, path=f"{text}#registered"))

    def _stream_mark(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
        """A mark behind the path of a handler that opens an event stream."""
        text = self.source.utf8[slice(*self._span(function))]
        return "#stream" if b"event-stream" in text or b"EventSource" in text else ""
