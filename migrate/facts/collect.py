"""Reads one file: one `ast` parse, one walk, pure. What it finds are uses of the vocabulary and facts about shapes."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping

from ..source import Source, Span
from . import vocabulary as words
from .borrowed import BORROWED
from .expressions import Expressions
from .functions import read
from .gates import HOSTS, WRAPS, boundaries, gates, is_boundary_module
from .kept import keep, keep_tree
from .mask import parse
from .model import Borrowed, Class, FileFacts, Import, Ref, Role, Route, Store, Use, Value
from .names import Names, local_names
from .offers import offers
from .questions import WORDS, questions
from .routes import BASES, VERBS
from .sessions import session_gates
from .shapes import alternatives, elements, is_callable, is_collection, is_empty_container, is_trivial, texts, valued
from .syntax import FIELDS, descend
from .unasked import unasked
from .walk import is_word

_HANDSHAKE = frozenset({"initialize", "notifications/initialized", "initialized"})
_BEHIND = re.compile(b"\\.(?:begin\\(|%s)" % b"|".join(name.encode() for name in sorted(HOSTS | WRAPS)))


def collect(source: Source, module: str, *, package: bool = False) -> FileFacts:
    """What the file says. `package` tells that it is an `__init__.py`, for its relative imports.

    Raises SyntaxError for text that no supported Python accepts, RecursionError for absurd nesting.
    """
    if is_boundary_module(source):
        return FileFacts(source, module)
    tree, masked = parse(source)
    walk = _Statements(source, Names(tree, module, package=package))
    walk.module(tree)
    # Summaries of functions cost as much as the walk: only files that know the handshake, or stand behind a boundary, need them.
    asks = any(word in source.utf8 for word in WORDS)
    wired = b"Stateless" in source.utf8 or _BEHIND.search(source.utf8) is not None
    sessions = any(isinstance(use.value, str) and use.value.lower().replace("_", "-").endswith("mcp-session-id") for use in walk.uses)
    known = asks or wired or sessions or any(use.value in _HANDSHAKE for use in walk.uses)
    functions = read(source, tree) if known else None
    behind = boundaries(functions, walk.names.imports) if functions is not None and wired else None
    if functions is not None:
        keep(functions, walk.names)
    keep_tree(source, tree)
    return FileFacts(
        source=source,
        module=module,
        facts=(
            *walk.facts,
            *((*gates(functions), *unasked(functions)) if functions is not None else ()),
            *(questions(functions) if functions is not None and asks else ()),
            *(session_gates(functions) if functions is not None and sessions else ()),
        ),
        uses=(*walk.uses, *(offers(functions, walk.names) if functions is not None else ())),
        imports=walk.names.imports,
        hidden=walk.names.hidden,
        names=walk.constants,
        stars=tuple(walk.names.stars),
        evidence=frozenset(walk.evidence),
        boundary=behind.own if behind else frozenset(),
        beside=behind.beside if behind else frozenset(),
        makes=behind.makes if behind else frozenset(),
        borrows=behind.borrowed if behind else {},
        masked=masked,
    )


class _Statements(Expressions):
    """One pass over one module, statement by statement."""

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
        others = [word for word in words.OTHER_PROTOCOLS if word.encode() in self.source.utf8]
        self.evidence.update(f"other {word}" for word in valued(tree, others))

    def _body(self, body: list[ast.stmt]) -> None:
        for statement in body:
            # By class, not by a chain of cases: the commonest statements would be the last.
            visit = _VISITS.get(statement.__class__)
            if visit is not None:
                visit(self, statement)
            else:
                self._children(statement)

    def _simple(self, statement: ast.Expr | ast.Return) -> None:
        # A text alone is a docstring, or left where it has no effect.
        if statement.value is not None and not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            self._expression(statement.value)

    def _nothing(self, statement: ast.stmt) -> None:
        """What a test expects is no code that answers or sends; the others have no expressions."""

    def _children(self, statement: ast.stmt) -> None:
        """Any other statement: its expressions, then its blocks."""
        for field in FIELDS[statement.__class__]:
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
        if node.name in ("do_GET", "do_DELETE") and not _only_refuses(node.body):
            self.facts.append(Route(self._name_span(node), node.name[3:], self._scope, path=self._stream_mark(node)))
        elif re.search(r"(^|_)handle_(get|delete)(_request|_stream)?$", node.name):
            self.facts.append(Route(self._name_span(node), "GET" if "get" in node.name else "DELETE", self._scope, path="#handler"))
        self._body(node.body)
        self._scope, self._local, self._around = outer

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
        if any((self.names.dotted(base) or "").endswith(BASES) for base in node.bases):
            self._verbs(node)
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
        subject = self._about(node.subject)
        self._expression(node.subject)
        for case in node.cases:
            body = self._block(case.body)
            trivial = is_trivial(case.body)
            for pattern in alternatives(case.pattern):
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
            values = {v for p in alternatives(case.pattern) if isinstance(p, ast.MatchValue) and isinstance(v := self._value(p.value), str)}
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

    def _assign(self, node: ast.Assign) -> None:
        value = node.value
        for target in node.targets:
            match target:
                case ast.Name(id=name):
                    self._named(node, name, value)
                case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                    self._named(node, name, value)
                case ast.Subscript(value=container, slice=index):
                    self._stored(container, index, value)
                    if isinstance(index, ast.Call | ast.Subscript):
                        self._expression(index)
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
        if isinstance(resolved, tuple) and is_word(resolved) and is_collection(value):
            siblings = texts(resolved)
            for item in elements(value):
                inner = self._value(item)
                if is_word(inner) and not isinstance(inner, tuple):
                    assert inner is not None
                    self._use(Role.COLLECTION, inner, item, name=full, siblings=siblings)
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
        if "session" in name.lower() and is_empty_container(value):
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
            self._use(Role.STORE, key, index, subject=ast.unparse(container), callable=is_callable(value))
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
            elif (brought := BORROWED.get(target.partition(".")[0])) is not None and not (isinstance(node, ast.ImportFrom) and node.level):
                self.facts.append(Borrowed(self._span(node), brought, self._scope, target.partition(".")[0]))
            elif target.endswith("mcp_stateless.Stateless"):
                self.facts.append(Import(self._span(node), "mcp_stateless", self._scope))

    def _named_handlers(self, tree: ast.Module) -> Iterator[Use]:
        """The methods that getattr dispatch reaches."""
        if not self._getattr_prefixes:
            return
        known = {method.replace("/", "_").replace(".", "_").lower(): method for method in (*words.METHODS, *words.SPELLINGS)}
        for class_node in descend(tree):
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
                        trivial=is_trivial(function.body),
                        callable=True,
                    )
                    self._claim(argument)
            if node.args and verb in VERBS | {"route", "api_route"}:
                path = self._value(node.args[0])
                if isinstance(path, str):
                    for method in [verb.upper()] if verb in VERBS else self._listed_verbs(node):
                        self._route(function, method, path)
        self._expression(node)


def _only_refuses(body: list[ast.stmt]) -> bool:
    """`self.send_error(405)` and nothing else."""
    match body:
        case [ast.Expr(value=ast.Call(func=ast.Attribute(attr="send_error")))]:
            return True
    return False


# Unbound, as in `expressions`.
_VISITS: Mapping[type[ast.stmt], Callable[..., None]] = {
    ast.FunctionDef: _Statements._function,
    ast.AsyncFunctionDef: _Statements._function,
    ast.ClassDef: _Statements._class,
    ast.If: _Statements._if,
    ast.Match: _Statements._match,
    ast.Assign: _Statements._assign,
    ast.AnnAssign: _Statements._annotated,
    ast.Expr: _Statements._simple,
    ast.Return: _Statements._simple,
    ast.Import: _Statements._import,
    ast.ImportFrom: _Statements._import,
    ast.Assert: _Statements._nothing,
    ast.Pass: _Statements._nothing,
}
