"""Reads one file: one `ast` parse, one walk, pure. What it finds are uses of the vocabulary and facts about shapes."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from ..source import Source, Span
from . import vocabulary as words
from .functions import read
from .gates import boundaries, gates
from .mask import parse
from .model import Call, Class, Envelope, Fact, FileFacts, Import, Member, Ref, Result, Role, Route, Store, Stream, Use, Value
from .names import Names, local_names

_HANDSHAKE = frozenset({"initialize", "notifications/initialized", "initialized"})
_LOGGERS = frozenset(
    {"debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print", "echo", "fail", "skip", "xfail"}
)
_VERBS = frozenset({"get", "post", "put", "delete", "patch", "options", "head"})
_JSON_METHOD = re.compile(r'\\?"method\\?"\s*:\s*\\?"([A-Za-z_$/]+)\\?"')
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}
_SILENT = frozenset({ast.Name, ast.Load, ast.Store, type(None), str, int})
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


def collect(source: Source, module: str, *, package: bool = False) -> FileFacts:
    """What the file says. `package` tells that it is an `__init__.py`, for its relative imports.

    Raises SyntaxError for text that no supported Python accepts, RecursionError for absurd nesting.
    """
    tree, masked = parse(source)
    walk = _Walk(source, Names(tree, module, package=package))
    walk.module(tree)
    # Summaries of functions cost as much as the walk: only files that know the handshake, or stand behind a boundary, need them.
    functions = read(source, tree) if b"Stateless" in source.utf8 or any(use.value in _HANDSHAKE for use in walk.uses) else None
    return FileFacts(
        source=source,
        module=module,
        facts=(*walk.facts, *(gates(functions) if functions is not None else ())),
        uses=tuple(walk.uses),
        imports=walk.names.imports,
        names=walk.constants,
        stars=tuple(walk.names.stars),
        evidence=frozenset(walk.evidence),
        boundary=boundaries(functions) if functions is not None else frozenset(),
        masked=masked,
    )


def is_word(value: Value | None) -> bool:
    """Whether a value belongs to the vocabulary, or is a constant of another module that may."""
    match value:
        case str():
            return (
                value in words.METHODS
                or value in words.SPELLINGS
                or value in words.VERSIONS
                or value in words.META_KEYS
                or value.lower() in words.HEADERS
                or value == "HTTP_MCP_SESSION_ID"
            )
        case int():
            return value in words.RETIRED_CODES or value in words.DRAFT_CODES or value in words.RESERVED_CODES
        case Ref(name=name):
            return name.rpartition(".")[2].isupper()
        case tuple():
            return any(is_word(item) for item in value)
    return False


class _Walk:
    """One pass over one module."""

    def __init__(self, source: Source, names: Names) -> None:
        self.source = source
        self.names = names
        self.uses: list[Use] = []
        self.facts: list[Fact] = []
        self.evidence: set[str] = set()
        self.constants: dict[str, Value] = {}
        self._claimed: set[int] = set()
        self._scope = ""
        self._owner = ""
        self._around = ""
        self._local: Mapping[str, ast.expr] | None = None
        self._getattr_prefixes: set[str] = set()
        self._literal_fields: dict[str, str] = {}  # class -> the method that its Literal field pins

    def module(self, tree: ast.Module) -> None:
        for name, node in self.names.bindings.items():
            value = self.names.value(node, name.rpartition(".")[0])
            if value is not None and (is_word(value) or (isinstance(value, (str, int)) and len(str(value)) < 80) or isinstance(value, Ref)):
                self.constants[name] = value
        for target in self.names.imports.values():
            if target.partition(".")[0] in ("mcp", "fastmcp"):
                self.evidence.add(f"import {target}")
        self._body(tree.body)
        for use in self._named_handlers(tree):
            self.uses.append(use)
        for word in words.OTHER_PROTOCOLS:
            if word.encode() in self.source.utf8 and _is_value(tree, word):
                self.evidence.add(f"other {word}")

    # -- statements ---------------------------------------------------------
    def _body(self, body: list[ast.stmt]) -> None:
        for statement in body:
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self._function(statement)
                case ast.ClassDef():
                    self._class(statement)
                case ast.If():
                    self._if(statement)
                case ast.Match():
                    self._match(statement)
                case ast.Assign(targets=targets, value=value):
                    self._assign(statement, targets, value)
                case ast.AnnAssign(target=target, value=value):
                    self._annotated(statement)
                case ast.Assert():
                    pass  # what a test expects is no code that answers or sends
                case ast.Expr(value=ast.Constant(value=str())):
                    pass  # a docstring, or text left where it has no effect
                case ast.Import() | ast.ImportFrom():
                    self._import(statement)
                case _:
                    self._children(statement)

    def _children(self, statement: ast.stmt) -> None:
        """Any other statement: its expressions, then its blocks."""
        for field in _fields(type(statement)):
            child = getattr(statement, field)
            if isinstance(child, ast.expr):
                self._expression(child)
            elif isinstance(child, list):
                for item in child:
                    if isinstance(item, ast.expr):
                        self._expression(item)
                    elif isinstance(item, ast.stmt):
                        self._body([item])
                    elif isinstance(item, ast.ExceptHandler):
                        if item.type is not None:
                            self._expression(item.type)
                        self._body(item.body)
                    elif isinstance(item, ast.withitem):
                        self._expression(item.context_expr)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for decorator in node.decorator_list:
            self._decorator(decorator, node)
        outer = self._scope, self._local, self._around
        self._scope = f"{self._scope}.{node.name}" if self._scope else node.name
        self._parameters(node)
        self._local = {**(self._local or {}), **local_names(node)}
        self._around = ""
        if node.name in ("do_GET", "do_DELETE"):
            self.facts.append(Route(self._name_span(node), node.name[3:], self._scope, path=self._stream_mark(node)))
        elif re.search(r"(^|_)handle_(get|delete)(_request|_stream)?$", node.name):
            self.facts.append(Route(self._name_span(node), "GET" if "get" in node.name else "DELETE", self._scope, path="#handler"))
        self._body(node.body)
        self._scope, self._local, self._around = outer

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

    def _class(self, node: ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            self._expression(decorator)
        outer = self._scope, self._owner, self._local
        for base in node.bases:
            dotted = self.names.dotted(base)
            if dotted is not None and dotted.rpartition(".")[2] in ("EventStore", "InMemoryEventStore"):
                self.facts.append(Class(self._name_span(node), "EventStore", self._scope))
            self._expression(base)
        self._scope = f"{self._scope}.{node.name}" if self._scope else node.name
        self._owner = self._scope
        self._local = None
        self._body(node.body)
        self._scope, self._owner, self._local = outer

    def _if(self, node: ast.If) -> None:
        """An `elif` chain is walked in a loop: real dispatchers have hundreds of branches."""
        current: ast.If | None = node
        while current is not None:
            outer = self._around
            self._expression(current.test, body=current.body)
            method = self._tested_method(current.test)
            if method:
                self._around = method
            self._body(current.body)
            self._around = outer
            if len(current.orelse) == 1 and isinstance(current.orelse[0], ast.If):
                current = current.orelse[0]
            else:
                self._body(current.orelse)
                current = None

    def _tested_method(self, test: ast.expr) -> str:
        """The one method for which the branch runs."""
        found: set[str] = set()
        for part in test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]:
            if isinstance(part, ast.Compare) and len(part.ops) == 1 and isinstance(part.ops[0], ast.Eq):
                for side in (part.left, part.comparators[0]):
                    value = self._value(side)
                    if isinstance(value, str) and value in words.METHODS:
                        found.add(value)
        return found.pop() if len(found) == 1 else ""

    def _match(self, node: ast.Match) -> None:
        subject = ast.unparse(node.subject)
        self._expression(node.subject)
        for case in node.cases:
            body = self._block(case.body)
            trivial = _is_trivial(case.body)
            for pattern in _alternatives(case.pattern):
                match pattern:
                    case ast.MatchValue(value=expression):
                        value = self._value(expression)
                        if is_word(value):
                            assert value is not None
                            self._use(Role.CASE, value, expression, subject=subject, body=body, trivial=trivial)
                            self._claim(expression)
                    case ast.MatchClass(cls=cls):
                        self._class_pattern(cls, subject, body, trivial)
            if case.guard is not None:
                self._expression(case.guard)
            outer = self._around
            values = {
                v for p in _alternatives(case.pattern) if isinstance(p, ast.MatchValue) and isinstance(v := self._value(p.value), str)
            }
            if len(values) == 1 and (method := next(iter(values))) in words.METHODS:
                self._around = method
            self._body(case.body)
            self._around = outer

    def _class_pattern(self, cls: ast.expr, subject: str, body: Span, trivial: bool) -> None:
        """`case PingRequest():` routes the method that the class pins in its `method` field."""
        dotted = self.names.dotted(cls)
        if dotted is None:
            return
        pinned = self._pinned_method(dotted)
        if pinned is not None:
            self._use(Role.CASE, pinned, cls, subject=subject or "request.method", body=body, trivial=trivial)

    def _pinned_method(self, name: str) -> Value | None:
        binding = self.names.bindings.get(f"{name}.method")
        value = self.names.value(binding, name) if binding is not None else None
        if value is None:
            return self._literal_fields.get(name)
        return value if is_word(value) else None

    def _assign(self, node: ast.Assign, targets: list[ast.expr], value: ast.expr) -> None:
        for target in targets:
            match target:
                case ast.Name(id=name):
                    self._named(node, name, value)
                case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                    self._named(node, name, value)
                case ast.Subscript(value=container, slice=index):
                    self._stored(container, index, value)
        self._expression(value)

    def _annotated(self, node: ast.AnnAssign) -> None:
        name = node.target.id if isinstance(node.target, ast.Name) else node.target.attr if isinstance(node.target, ast.Attribute) else ""
        if isinstance(node.annotation, ast.Subscript):
            head = self.names.dotted(node.annotation.value) or ""
            if head.rpartition(".")[2] == "Literal" and name:
                items = node.annotation.slice.elts if isinstance(node.annotation.slice, ast.Tuple) else [node.annotation.slice]
                for item in items:
                    value = self._value(item)
                    if is_word(value):
                        assert value is not None
                        self._use(Role.ANNOTATION, value, item, name=name)
                        self._claim(item)
                        if name == "method" and isinstance(value, str) and len(items) == 1:
                            self._literal_fields[self._scope] = value
                if node.value is not None:
                    self._claim(node.value)
        if node.value is not None and name:
            inside = self._owner == self._scope and self._owner != ""
            value = self._value(node.value)
            if inside and is_word(value) and id(node.value) not in self._claimed and value is not None:
                self._use(Role.FIELD, value, node.value, name=name, subject=ast.unparse(node.annotation))
                self._claim(node.value)
            else:
                self._named(node, name, node.value)
        if node.value is not None:
            self._expression(node.value)

    def _named(self, statement: ast.stmt, name: str, value: ast.expr) -> None:
        """`NAME = value`: constants, collections of the vocabulary, and stores of sessions."""
        full = f"{self._owner}.{name}" if self._owner else name
        resolved = self._value(value)
        if isinstance(resolved, tuple) and is_word(resolved) and _is_collection(value):
            for item in _elements(value):
                inner = self._value(item)
                if is_word(inner) and not isinstance(inner, tuple):
                    assert inner is not None
                    self._use(Role.COLLECTION, inner, item, name=full, siblings=_texts(resolved))
                    self._claim(item)
        elif (
            is_word(resolved)
            and not isinstance(resolved, Ref)
            and resolved is not None
            and not isinstance(value, (ast.Call, ast.Dict, ast.Name, ast.Attribute))
        ):
            self._use(Role.CONSTANT, resolved, value, name=full, subject=name)
            self._claim(value)
        elif isinstance(resolved, str) and words.DATE.fullmatch(resolved) and "VERSION" in name.upper() and isinstance(value, ast.Constant):
            self._use(Role.CONSTANT, resolved, value, name=full, subject=name)
        if "session" in name.lower() and _is_empty_container(value):
            target = (
                statement.targets[0]
                if isinstance(statement, ast.Assign)
                else statement.target
                if isinstance(statement, ast.AnnAssign)
                else None
            )
            if target is not None:
                self.facts.append(Store(self._span(target), "session", self._scope, name=full))

    def _stored(self, container: ast.expr, index: ast.expr, value: ast.expr) -> None:
        """`x[KEY] = value`: a table row or a header that is written."""
        key = self._value(index)
        if is_word(key):
            assert key is not None
            self._use(Role.STORE, key, index, subject=ast.unparse(container), callable=_is_callable(value))
            self._claim(index)
        inner = self._value(value)
        if is_word(inner) and not isinstance(inner, (Ref, tuple)) and key is not None:
            assert inner is not None
            self._use(Role.ENTRY, inner, value, name=key, subject=ast.unparse(container))
            self._claim(value)
        elif key == "protocolVersion":
            self._echo(value)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            local = alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)
            target = alias.name if isinstance(node, ast.Import) else self.names.imports.get(local, "")
            if target.partition(".")[0] in ("mcp", "fastmcp"):
                self.facts.append(Import(self._span(node), target, self._scope))

    # -- expressions --------------------------------------------------------
    def _expression(self, root: ast.expr, body: list[ast.stmt] | None = None) -> None:
        stack: list[ast.AST] = [root]
        while stack:
            node = stack.pop()
            kind = node.__class__
            visit = _VISITS.get(kind)
            if visit is not None:
                if kind is ast.Compare and body is not None:
                    self._compare(node, body)  # type: ignore[arg-type]
                else:
                    visit(self, node)
                if kind is ast.Constant:
                    continue
            for field in _FIELDS.get(kind) or _fields(kind):
                child = getattr(node, field)
                if child.__class__ is list:
                    # Names and contexts are two thirds of all nodes and say nothing alone: they are not even pushed.
                    stack.extend([item for item in reversed(child) if item.__class__ not in _SILENT])
                elif child.__class__ not in _SILENT:
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
                            self._use(Role.COMPARE, value, one, subject=ast.unparse(other), name="order")
                            self._claim(one)
            left = right

    def _equal(self, left: ast.expr, right: ast.expr, *, negated: bool, body: list[ast.stmt] | None) -> None:
        for one, other in ((left, right), (right, left)):
            value = self._value(one)
            if not is_word(value) or isinstance(value, tuple) or (isinstance(one, ast.Call) and isinstance(value, Ref)):
                continue
            assert value is not None
            block = self._block(body) if body is not None and not negated else None
            trivial = body is not None and not negated and _is_trivial(body)
            self._use(Role.COMPARE, value, one, subject=ast.unparse(other), negated=negated, body=block, trivial=trivial)
            self._claim(one)

    def _member(self, item: ast.expr, container: ast.expr, *, negated: bool, body: list[ast.stmt] | None) -> None:
        subject = ast.unparse(item)
        value = self._value(item)
        if isinstance(value, str) and not isinstance(container, (ast.Set, ast.List, ast.Tuple, ast.Dict)):
            if is_word(value) or value in ("init", "initial"):
                self._use(Role.SUBSTRING, value, item, subject=ast.unparse(container), negated=negated)
                self._claim(item)
            return
        if _is_collection(container):
            for element in _elements(container):
                inner = self._value(element)
                if is_word(inner):
                    assert inner is not None
                    self._use(Role.MEMBER, inner, element, subject=subject, negated=negated)
                    self._claim(element)
        else:
            held = self._value(container)
            if (isinstance(held, tuple) and is_word(held)) or (isinstance(held, Ref) and is_word(held)):
                self._use(Role.MEMBER, held, container, subject=subject, negated=negated)

    def _dict(self, node: ast.Dict) -> None:
        keys = [self._value(key) if key is not None else None for key in node.keys]
        names = frozenset(key for key in keys if isinstance(key, str))
        for key, key_node, value_node in zip(keys, node.keys, node.values, strict=True):
            if key is None or key_node is None:
                continue
            if is_word(key) and not isinstance(key, tuple):
                self._use(Role.KEY, key, key_node, callable=_is_callable(value_node), subject=_value_kind(value_node), siblings=names)
                self._claim(key_node)
            value = self._value(value_node)
            if is_word(value) and not isinstance(value, tuple) and not _is_named_version(value, value_node):
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
                return _text(value)
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

    def _call(self, node: ast.Call) -> None:
        called = self._called(node)
        if called in _LOGGERS:
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
            case (("Route" | "add_route" | "add_api_route" | "route" | "add_url_rule" | "add_get" | "add_delete"), [path, *_]):
                self._registered_route(node, called, path)
        self._arguments(node, called)

    def _arguments(self, node: ast.Call, called: str) -> None:
        message = ""
        for position, argument in enumerate(node.args[:6]):
            if (
                id(argument) in self._claimed
                or (isinstance(argument, (ast.Call, ast.Dict, ast.Lambda, ast.Await))
                and not _is_int_call(argument))
            ):
                continue
            if argument.__class__ is ast.Constant and argument.value.__class__ not in (str, int):
                continue
            value = self._value(argument)
            if not is_word(value) or isinstance(value, tuple):
                continue
            assert value is not None
            if isinstance(value, int) and not message:
                message = _call_text(node)
            following = node.args[position + 1] if position + 1 < len(node.args) else None
            self._use(
                Role.ARGUMENT,
                value,
                argument,
                subject=_dotted_text(node.func),
                name=str(position),
                text=message,
                callable=following is not None and _is_callable(following) and not isinstance(following, ast.Call),
            )
            if not isinstance(value, Ref):
                self._claim(argument)
        for keyword in node.keywords:
            if keyword.arg is None or id(keyword.value) in self._claimed:
                continue
            value = self._value(keyword.value)
            if called == "dict" and (keyword.arg in words.METHODS or keyword.arg in words.SPELLINGS):
                names = frozenset(other.arg for other in node.keywords if other.arg)
                self._use(Role.KEY, keyword.arg, keyword.value, callable=_is_callable(keyword.value), siblings=names)
            if (
                is_word(value)
                and not isinstance(value, tuple)
                and not isinstance(keyword.value, (ast.Call, ast.Dict))
                and not _is_named_version(value, keyword.value)
            ):
                assert value is not None
                if isinstance(value, int) and not message:
                    message = _call_text(node)
                self._use(Role.KEYWORD, value, keyword.value, subject=_dotted_text(node.func), name=keyword.arg, text=message)
                if not isinstance(value, Ref):
                    self._claim(keyword.value)

    def _session_call(self, node: ast.Call, function: ast.Attribute, called: str) -> None:
        if called in words.SESSION_CALLS:
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

    def _named_handlers(self, tree: ast.Module) -> Iterator[Use]:
        """The methods that getattr dispatch reaches."""
        if not self._getattr_prefixes:
            return
        known = {method.replace("/", "_").replace(".", "_").lower(): method for method in (*words.METHODS, *words.SPELLINGS)}
        for class_node in ast.walk(tree):
            if not isinstance(class_node, ast.ClassDef):
                continue
            for function in class_node.body:
                if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    continue
                for prefix in self._getattr_prefixes:
                    method = known.get(function.name.removeprefix(prefix).lower()) if function.name.startswith(prefix) else None
                    if method is not None:
                        yield Use(
                            Role.METHOD_NAME,
                            method,
                            self._name_span(function),
                            f"{class_node.name}.{function.name}",
                            subject=prefix,
                            callable=True,
                        )

    def _subscript(self, node: ast.Subscript) -> None:
        value = self._value(node.slice) if isinstance(node.slice, (ast.Constant, ast.Name, ast.Attribute, ast.Call)) else None
        if is_word(value) and not isinstance(value, (tuple, int)) and id(node.slice) not in self._claimed:
            assert value is not None
            self._use(Role.SUBSCRIPT, value, node.slice, subject=ast.unparse(node.value))
            self._claim(node.slice)

    def _tuple(self, node: ast.Tuple) -> None:
        """("Mcp-Session-Id", sid): a header of WSGI or ASGI."""
        if len(node.elts) == 2:
            value = self._value(node.elts[0])
            if isinstance(value, str) and value.lower() in words.HEADERS:
                self._use(Role.PAIR, value, node.elts[0])
                self._claim(node.elts[0])

    def _joined(self, node: ast.JoinedStr) -> None:
        """An f-string is one text; what it spells is looked at as a whole."""
        literal = "".join(part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "0" for part in node.values)
        for part in node.values:
            if isinstance(part, ast.Constant):
                self._claim(part)
        self._json_text(node, literal)

    def _constant(self, node: ast.Constant) -> None:
        if (node.value.__class__ is not str and node.value.__class__ is not bytes) or id(node) in self._claimed:
            return
        text = node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
        if isinstance(text, str):
            if text in words.METHODS or text.lower() in words.HEADERS or text in words.META_KEYS or text == "HTTP_MCP_SESSION_ID":
                self._use(Role.OTHER, text, node)
            elif "method" in text:
                self._json_text(node, text)
            elif text.startswith(("event: endpoint", "event:endpoint")):
                self.facts.append(Stream(self._span(node), "endpoint", self._scope))

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

    def _decorator(self, node: ast.expr, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if isinstance(node, ast.Call):
            subject = ast.unparse(node.func)
            verb = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            for argument in [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg in ("method", "name"))]:
                value = self._value(argument)
                if is_word(value) and not isinstance(value, tuple):
                    assert value is not None
                    self._use(
                        Role.DECORATOR,
                        value,
                        argument,
                        subject=subject,
                        name=function.name,
                        body=self._span(function),
                        trivial=_is_trivial(function.body),
                        callable=True,
                    )
                    self._claim(argument)
            if node.args and verb in _VERBS | {"route", "api_route"}:
                path = self._value(node.args[0])
                if isinstance(path, str):
                    for method in [verb.upper()] if verb in _VERBS else self._listed_verbs(node):
                        self._route(function, method, path)
        self._expression(node)

    def _listed_verbs(self, node: ast.Call) -> Iterable[str]:
        for keyword in node.keywords:
            if keyword.arg == "methods" and isinstance(keyword.value, (ast.List, ast.Tuple, ast.Set)):
                return [item.value.upper() for item in keyword.value.elts if isinstance(item, ast.Constant) and isinstance(item.value, str)]
        return ["GET"]

    def _route(self, function: ast.FunctionDef | ast.AsyncFunctionDef, verb: str, path: str) -> None:
        if verb in ("GET", "DELETE", "POST"):
            scope = f"{self._scope}.{function.name}" if self._scope else function.name
            self.facts.append(Route(self._name_span(function), verb, scope, path=path + self._stream_mark(function)))

    def _registered_route(self, node: ast.Call, called: str, path: ast.expr) -> None:
        text = self._value(path)
        if isinstance(text, str) and text.startswith("/"):
            verbs = ["GET"] if called == "add_get" else ["DELETE"] if called == "add_delete" else self._listed_verbs(node)
            for verb in verbs:
                if verb in ("GET", "DELETE", "POST"):
                    self.facts.append(Route(self._span(node), verb, self._scope, path=text))

    def _stream_mark(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
        """A mark behind the path of a handler that opens an event stream."""
        text = self.source.utf8[slice(*self._span(function))]
        return "#stream" if b"event-stream" in text or b"EventSource" in text else ""

    # -- helpers ------------------------------------------------------------
    def _use(self, role: Role, value: Value, node: ast.expr | ast.arg, **more: object) -> None:
        if isinstance(value, str):
            self._note(value)
        self.uses.append(Use(role, value, self._span(node), self._scope, around=self._around, **more))  # type: ignore[arg-type]

    def _note(self, value: str) -> None:
        """Words that no other protocol uses speak for MCP."""
        if value in words.METHODS and value not in words.COMMON_WORDS:
            self.evidence.add(value)
        elif value.lower() in ("mcp-session-id", "mcp-protocol-version") or value == "HTTP_MCP_SESSION_ID":
            self.evidence.add(value.lower())

    def _value(self, node: ast.expr | None) -> Value | None:
        if node.__class__ is ast.Constant:
            constant = node.value
            return constant if constant.__class__ is str or constant.__class__ is int else self.names.value(node, self._owner)
        return self.names.value(node, self._owner, self._local)

    def _called(self, node: ast.Call) -> str:
        function = node.func
        return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""

    def _claim(self, node: ast.expr) -> None:
        """The parent has dealt with this text; the leaf need not be looked at again."""
        self._claimed.add(id(node))
        if isinstance(node, (ast.UnaryOp, ast.BinOp, ast.JoinedStr, ast.Call, ast.Attribute)):
            for child in ast.walk(node):
                self._claimed.add(id(child))

    def _span(self, node: ast.AST) -> Span:
        offset = self.source.offset
        return Span(offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset))  # type: ignore[attr-defined]

    def _name_span(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Span:
        start = self.source.offset(node.lineno, node.col_offset)
        at = self.source.utf8.find(node.name.encode(), start)
        return Span(at, at + len(node.name.encode()))

    def _block(self, body: list[ast.stmt]) -> Span:
        return Span(self._span(body[0]).start, self._span(body[-1]).end)


# Unbound, so that a walk holds no cycle: with the collector off, syntax trees still go as soon as they are read.
_VISITS: Mapping[type[ast.AST], Callable[..., None]] = {
    ast.Compare: _Walk._compare,
    ast.Dict: _Walk._dict,
    ast.Call: _Walk._call,
    ast.Subscript: _Walk._subscript,
    ast.BoolOp: _Walk._bool_op,
    ast.Constant: _Walk._constant,
    ast.UnaryOp: _Walk._negative,
    ast.Tuple: _Walk._tuple,
    ast.JoinedStr: _Walk._joined,
}


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields that can hold children; contexts and operators cannot."""
    found = _FIELDS.get(kind)
    if found is None:
        found = _FIELDS[kind] = tuple(
            name for name in kind._fields if name not in ("ctx", "op", "ops", "kind", "type_comment", "attr", "id", "arg")
        )
    return found


def _is_named_version(value: Value | None, node: ast.expr) -> bool:
    """A revision that stands here by its name: the constant is the place to look at."""
    return isinstance(value, str) and value in words.VERSIONS and isinstance(node, (ast.Name, ast.Attribute))


def _dotted_text(node: ast.expr) -> str:
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""


def _is_callable(node: ast.expr) -> bool:
    """Whether a value can be a handler: a name, an attribute, a lambda, a partial, or the name of a handler method."""
    match node:
        case ast.Name() | ast.Attribute() | ast.Lambda() | ast.Call():
            return True
        case ast.Constant(value=str(text)):
            return text.isidentifier() and text.startswith(("on_", "handle", "_handle", "do_", "_on_", "cmd_", "rpc_"))
        case ast.Tuple(elts=[first, *_]):
            return isinstance(first, (ast.Name, ast.Attribute, ast.Lambda))
    return False


def _value_kind(node: ast.expr) -> str:
    return type(node).__name__


def _is_collection(node: ast.expr) -> bool:
    match node:
        case ast.Set() | ast.List() | ast.Tuple():
            return True
        case ast.Call(func=ast.Name(id="frozenset" | "set" | "tuple" | "list"), args=[inner]):
            return _is_collection(inner)
        case ast.BinOp(op=ast.BitOr() | ast.Add(), left=left, right=right):
            return _is_collection(left) or _is_collection(right)
    return False


def _elements(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Set(elts=items) | ast.List(elts=items) | ast.Tuple(elts=items):
            yield from items
        case ast.Call(args=[inner]):
            yield from _elements(inner)
        case ast.BinOp(left=left, right=right):
            yield from _elements(left)
            yield from _elements(right)


def _texts(value: Value) -> frozenset[str]:
    return frozenset(item for item in value if isinstance(item, str)) if isinstance(value, tuple) else frozenset()


def _is_empty_container(node: ast.expr) -> bool:
    match node:
        case ast.Dict(keys=[]):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in ("dict", "set", "defaultdict", "OrderedDict", "WeakValueDictionary", "TTLCache") and not (
                name in ("dict", "set") and node.args
            )
    return False


def _is_trivial(body: list[ast.stmt]) -> bool:
    """Whether a body only answers: nothing is lost with it."""
    for statement in body:
        match statement:
            case ast.Return() | ast.Pass() | ast.Continue():
                continue
            case ast.Expr(value=ast.Constant()):
                continue
            case _:
                return False
    return True


def _alternatives(pattern: ast.pattern) -> Iterator[ast.pattern]:
    match pattern:
        case ast.MatchOr(patterns=patterns):
            for one in patterns:
                yield from _alternatives(one)
        case ast.MatchAs(pattern=ast.pattern() as inner):
            yield from _alternatives(inner)
        case _:
            yield pattern


def _text(node: ast.expr) -> str:
    """The readable parts of a message."""
    return " ".join(part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))


def _call_text(node: ast.Call) -> str:
    """What shows the meaning of a code in a call: texts and the name of what is called."""
    parts = [_text(argument) for argument in node.args if not isinstance(argument, ast.Dict)]
    parts += [_text(keyword.value) for keyword in node.keywords if keyword.arg in ("message", "msg", "detail", "text")]
    return " ".join(part for part in parts if part)


def _is_int_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("int", "str")


def _is_value(tree: ast.Module, word: str) -> bool:
    """Whether a word stands in a string that code uses, not in a docstring or a comment."""
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return any(
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and word in node.value
        and len(node.value) < 200
        and id(node) not in documentation
        for node in ast.walk(tree)
    )
