"""The functions of one module: who contains what, who calls whom, and where a name is assigned."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from ..source import Source, Span
from .syntax import FIELDS, Walked, children, walked

Def = ast.FunctionDef | ast.AsyncFunctionDef
Node = TypeVar("Node", bound=ast.AST)
Found = TypeVar("Found")
_SCOPES = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
_INNER = _SCOPES | {ast.Lambda}
_DEFS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef})
GIVING = frozenset({ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor, ast.NamedExpr, ast.With, ast.AsyncWith})
"""The nodes that have `targets`."""


@dataclass(frozen=True, eq=False)
class Function:
    """One `def`; `name` is dotted inside the module, `owner` the class that holds it or ""."""

    name: str
    node: Def
    owner: str = ""

    @property
    def short(self) -> str:
        return self.node.name

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Every parameter but `self` and `cls`, in order."""
        args = self.node.args
        names = [arg.arg for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs]]
        static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in self.node.decorator_list)
        return tuple(names[1:] if self.owner and not static else names)

    @cached_property
    def own(self) -> tuple[ast.AST, ...]:
        """The nodes of the body in source order, without those of functions and classes defined inside."""
        return tuple(node for statement in self.node.body for node in walk(statement))

    @cached_property
    def kinds(self) -> dict[type[ast.AST], list[ast.AST]]:
        """The same nodes by their class."""
        return by_kind(self.own)

    @cached_property
    def assigned(self) -> dict[str, list[ast.expr]]:
        """Every expression that is assigned to a plain name here; what a loop or a tuple takes apart counts as a whole."""
        found: dict[str, list[ast.expr]] = {}
        for node in self.own:
            if node.__class__ not in GIVING:
                continue
            value = getattr(node, "value", None) or getattr(node, "iter", None)
            for target in targets(node):
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(value or target)
        return found


@dataclass(frozen=True, eq=False)
class Module:
    """A parsed module with its functions by dotted name."""

    source: Source
    tree: ast.Module
    walked: Walked
    functions: dict[str, Function] = field(default_factory=dict)
    _once: dict[Callable[[Module], object], object] = field(default_factory=dict)

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        return self.walked.parents

    @cached_property
    def kinds(self) -> dict[type[ast.AST], list[ast.AST]]:
        return self.walked.kinds

    def once(self, find: Callable[[Module], Found]) -> Found:
        """What can be found out from this module alone; several ask for it, and whoever reads it first keeps it for them."""
        if find not in self._once:
            self._once[find] = find(self)
        return self._once[find]  # type: ignore[return-value]

    def nodes(self, kind: type[Node]) -> list[Node]:
        """All nodes of one type, in source order: a look-up, where a walk of its own would cost as much as `read`."""
        return self.kinds.get(kind, [])  # type: ignore[return-value]

    @cached_property
    def called(self) -> dict[str, list[ast.Call]]:
        """The calls by the last name of what is called."""
        found: dict[str, list[ast.Call]] = {}
        for call in self.nodes(ast.Call):
            match call.func:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    found.setdefault(name, []).append(call)
        return found

    def span(self, node: ast.expr | ast.stmt | ast.excepthandler) -> Span:
        # `ast.parse` always sets the ends; only hand-made nodes lack them.
        end = self.source.offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        return Span(self.source.offset(node.lineno, node.col_offset), end)

    def text(self, node: ast.expr | ast.stmt) -> str:
        return self.source.slice(self.span(node))

    def function_of(self, node: ast.AST) -> Function | None:
        """The innermost function around the node."""
        while (node := self.parents.get(node)) is not None:  # type: ignore[assignment]
            if node.__class__ in _DEFS and (found := self._by_node.get(node)) is not None:
                return found
        return None

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around this one, innermost first, up to the enclosing function or module."""
        while (node := self.parents.get(node)) is not None:  # type: ignore[assignment]
            yield node
            if node.__class__ in _DEFS or node.__class__ is ast.Lambda:
                return

    def callee(self, call: ast.Call, caller: Function | None) -> Function | None:
        """The function of this module that the call reaches, where the name decides it."""
        match call.func:
            case ast.Name(id=name):
                return (
                    self.functions.get(f"{caller.name}.{name}")
                    if caller and f"{caller.name}.{name}" in self.functions
                    else self.functions.get(name)
                )
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name) if caller and caller.owner:
                return self.functions.get(f"{caller.owner}.{name}")
            case ast.Attribute(attr=name):
                # `server.ask(...)` from outside the class: sure only where one function of the module has that name.
                found = self._methods.get(name, [])
                return found[0] if len(found) == 1 else None
        return None

    def calls(self, function: Function) -> Iterator[tuple[ast.Call, Function]]:
        """The calls in a function that reach functions of this module."""
        for node in function.own:
            if isinstance(node, ast.Call) and (target := self.callee(node, function)):
                yield node, target

    @cached_property
    def constants(self) -> dict[str, str]:
        """Module and class level names that are bound to one text and to nothing else."""
        found: dict[str, str | None] = {}
        for node in (*self.nodes(ast.Assign), *self.nodes(ast.AnnAssign)):
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ):
                    if self.function_of(node) is None:
                        constant = value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None
                        found[name] = constant if name not in found else None
        return {name: value for name, value in found.items() if value is not None}

    def string(self, node: ast.expr | None) -> str | None:
        """The text that an expression surely has."""
        match node:
            case ast.Constant(value=str(value)):
                return value
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return self.constants.get(name)
        return None

    @cached_property
    def _methods(self) -> dict[str, list[Function]]:
        found: dict[str, list[Function]] = {}
        for function in self.functions.values():
            if function.owner:
                found.setdefault(function.short, []).append(function)
        return found

    @cached_property
    def _by_node(self) -> dict[ast.AST, Function]:
        return {function.node: function for function in self.functions.values()}


def by_kind(nodes: Iterable[ast.AST]) -> dict[type[ast.AST], list[ast.AST]]:
    """Nodes by their class, each in the order in which they come."""
    found: dict[type[ast.AST], list[ast.AST]] = {}
    for node in nodes:
        found.setdefault(node.__class__, []).append(node)
    return found


def read(source: Source, tree: ast.Module) -> Module:
    """The module with its functions; one walk."""
    whole = walked(tree)
    module = Module(source, tree, walked=whole)
    around: dict[ast.AST, tuple[str, str]] = {tree: ("", "")}  # what names inside of each begin with, and the class
    for node in whole.nodes:
        if node.__class__ in _SCOPES:
            assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            outer = whole.parents[node]
            while outer not in around:
                outer = whole.parents[outer]
            prefix, owner = around[outer]
            name = prefix + node.name
            if not isinstance(node, ast.ClassDef):
                module.functions[name] = Function(name, node, owner)
            around[node] = f"{name}.", name if isinstance(node, ast.ClassDef) else ""
    return module


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it in source order, stopping at functions, lambdas and classes."""
    pending = [node]
    while pending:
        found = pending.pop()
        yield found
        if found.__class__ not in _INNER and FIELDS[found.__class__]:
            below = children(found)
            below.reverse()
            pending += below


def bound(call: ast.Call, function: Function, parameter: str) -> ast.expr | None:
    """The argument that a call gives to a parameter."""
    for keyword in call.keywords:
        if keyword.arg == parameter:
            return keyword.value
    position = function.parameters.index(parameter)
    if position < len(call.args) and not any(isinstance(argument, ast.Starred) for argument in call.args):
        return call.args[position]
    return None


def dotted(node: ast.expr | None) -> str:
    """`self.pending` for such an expression, "" for anything that is not a plain dotted name."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            base = dotted(value)
            return f"{base}.{name}" if base else ""
    return ""


def targets(node: ast.AST) -> Iterator[ast.expr]:
    """What a statement (or walrus, loop, with) assigns to, tuples taken apart."""
    match node:
        case ast.Assign(targets=found):
            pending = list(found)
        case ast.AnnAssign(target=target, value=value):
            pending = [target] if value is not None else []
        case ast.AugAssign(target=target) | ast.For(target=target) | ast.AsyncFor(target=target) | ast.NamedExpr(target=target):
            pending = [target]
        case ast.With(items=items) | ast.AsyncWith(items=items):
            pending = [item.optional_vars for item in items if item.optional_vars]
        case _:
            return
    while pending:
        target = pending.pop(0)
        match target:
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                pending[:0] = elts
            case ast.Starred(value=value):
                pending.insert(0, value)
            case _:
                yield target


def root(node: ast.expr) -> str:
    """The name that a chain of attributes, keys and calls begins with, or ""."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def following(node: ast.stmt, module: Module) -> Iterator[ast.stmt]:
    """The statements that can run after this one in the same function, nearest first."""
    current: ast.AST = node
    for parent in [*module.ancestors(node)]:
        for name in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and current in block:
                yield from (s for s in block[block.index(current) + 1 :] if isinstance(s, ast.stmt))
        current = parent


def is_shared(name: str, function: Function) -> bool:
    """Whether a name that the function assigns to lives outside it."""
    return any(isinstance(node, ast.Global | ast.Nonlocal) and name in node.names for node in function.own)
