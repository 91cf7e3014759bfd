"""The names of a module, as far as a rewrite can harm them: undefined ones, imports that nothing uses, imports made twice.

Undefined means bound nowhere that Python would look; order and branches do not count, so that comparing a file before and
after a rewrite shows what the rewrite did, and nothing else.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

_ALWAYS = frozenset(dir(builtins)) | {"__file__", "__path__", "__class__", "__module__", "__qualname__", "__annotations__", "WindowsError"}


@dataclass(frozen=True)
class Names:
    """What one module binds, imports and looks up."""

    root: _Scope

    @cached_property
    def undefined(self) -> frozenset[str]:
        """Names that are looked up but bound nowhere; empty with a star import, which may bind anything."""
        if self.root.star:
            return frozenset()
        return frozenset(name for scope in self._scopes for name in scope.loads if scope.owner(name) is None) - _ALWAYS

    @cached_property
    def unused_imports(self) -> frozenset[tuple[str, str]]:
        """Imported names that nothing looks up, each with the dotted name of its scope."""
        used = {(owner.name, name) for scope in self._scopes for name in scope.loads for owner in scope.owners(name)}
        imported = {(scope.name, name) for scope in self._scopes for name in scope.imports}
        return frozenset(imported - used - {("", name) for name in self.root.exported})

    @cached_property
    def doubled_imports(self) -> Counter[tuple[str, str]]:
        """How often a scope makes the same import beyond the first time."""
        made = Counter((scope.name, what) for scope in self._scopes for what in scope.statements)
        return Counter({key: count - 1 for key, count in made.items() if count > 1})

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names of the module itself: what another module could import."""
        return frozenset(self.root.bindings)

    @cached_property
    def functions(self) -> Mapping[str, bool]:
        """Every function by its dotted name, and whether it is a generator."""
        return {
            scope.name: scope.yields for scope in self._scopes if scope.above is not None and not (scope.is_class or scope.is_comprehension)
        }

    @cached_property
    def _scopes(self) -> tuple[_Scope, ...]:
        return tuple(self.root.below())


def names_of(tree: ast.Module) -> Names:
    """Reads the scopes of a parsed module."""
    root = _Scope("", None)
    _Reader(root).block(tree.body)
    return Names(root)


@dataclass
class _Scope:
    name: str
    above: _Scope | None
    is_class: bool = False
    is_comprehension: bool = False
    bindings: set[str] = field(default_factory=set)
    loads: set[str] = field(default_factory=set)
    imports: set[str] = field(default_factory=set)
    statements: list[str] = field(default_factory=list)
    outer: set[str] = field(default_factory=set)  # declared global or nonlocal
    exported: set[str] = field(default_factory=set)
    star: bool = False
    yields: bool = False
    inner: list[_Scope] = field(default_factory=list)

    @property
    def root(self) -> _Scope:
        return self if self.above is None else self.above.root

    def owner(self, name: str) -> _Scope | None:
        """The scope in which a lookup from here ends."""
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.bindings and name not in scope.outer and (scope is self or not scope.is_class):
                return scope
            scope = scope.above
        return None

    def owners(self, name: str) -> Iterator[_Scope]:
        """The scopes that a lookup may mean: in the body of a class also the next one, until the class has bound the name."""
        owner = self.owner(name)
        while owner is not None:
            yield owner
            owner = owner.above.owner(name) if owner is self and owner.is_class and owner.above is not None else None

    def below(self) -> Iterator[_Scope]:
        yield self
        for scope in self.inner:
            yield from scope.below()


class _Reader(ast.NodeVisitor):
    def __init__(self, scope: _Scope) -> None:
        self.scope = scope

    def block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.visit(statement)

    def _within(self, name: str, *, is_class: bool = False, is_comprehension: bool = False) -> _Reader:
        dotted = f"{self.scope.name}.{name}" if self.scope.name else name
        scope = _Scope(dotted, self.scope, is_class, is_comprehension)
        self.scope.inner.append(scope)
        return _Reader(scope)

    def _bind(self, name: str) -> None:
        (self.scope.root if name in self.scope.outer else self.scope).bindings.add(name)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.scope.loads.add(node.id)
        elif isinstance(node.ctx, ast.Store):
            self._bind(node.id)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        reader = self
        while reader.scope.is_comprehension and reader.scope.above is not None:
            reader = _Reader(reader.scope.above)
        reader.visit(node.target)
        self.visit(node.value)

    def visit_Yield(self, node: ast.Yield | ast.YieldFrom) -> None:
        self.scope.yields = True
        self.generic_visit(node)

    visit_YieldFrom = visit_Yield

    def visit_Global(self, node: ast.Global) -> None:
        self.scope.outer.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.scope.outer.update(node.names)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            self._import(name, f"import {alias.name} as {name}", kept=alias.asname == alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            if alias.name == "*":
                self.scope.root.star = True
            else:
                name = alias.asname or alias.name
                kept = module == "__future__" or alias.asname == alias.name
                self._import(name, f"from {module} import {alias.name} as {name}", kept=kept)

    def _import(self, name: str, what: str, *, kept: bool) -> None:
        self._bind(name)
        self.scope.statements.append(what)
        if not kept:
            self.scope.imports.add(name)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        self._exports(node.targets[0], node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            self.scope.loads.add(node.target.id)
        self._exports(node.target, node.value)

    def _exports(self, target: ast.expr, value: ast.expr) -> None:
        if self.scope.above is None and isinstance(target, ast.Name) and target.id == "__all__":
            self.scope.exported |= {part.value for part in ast.walk(value) if isinstance(part, ast.Constant) if isinstance(part.value, str)}

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.target)
        self._annotation(node.annotation)
        if node.value is not None:
            self.visit(node.value)
            self._exports(node.target, node.value)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for outside in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(outside)
        self._bind(node.name)
        reader = self._within(node.name, is_class=True)
        reader._type_parameters(node)
        reader.block(node.body)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for outside in node.decorator_list:
            self.visit(outside)
        self._bind(node.name)
        reader = self._function(node.name, node.args)
        reader._type_parameters(node)
        if node.returns is not None:
            self._annotation(node.returns)
        reader.block(node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function("<lambda>", node.args).visit(node.body)

    def _function(self, name: str, arguments: ast.arguments) -> _Reader:
        reader = self._within(name)
        for default in (*arguments.defaults, *(value for value in arguments.kw_defaults if value is not None)):
            self.visit(default)
        variadic = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *variadic):
            reader.scope.bindings.add(argument.arg)
            if argument.annotation is not None:
                self._annotation(argument.annotation)
        return reader

    def _type_parameters(self, node: ast.AST) -> None:
        # `class A[T]` and `def f[T]`, where the interpreter knows them: seen by annotations outside of the body as well.
        for parameter in getattr(node, "type_params", ()):
            for scope in (self.scope, self.scope.above):
                if scope is not None:
                    scope.bindings.add(parameter.name)
            self.generic_visit(parameter)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        reader = self._within("<comprehension>", is_comprehension=True)
        for number, generator in enumerate(node.generators):
            (reader if number else self).visit(generator.iter)
            reader.visit(generator.target)
            for condition in generator.ifs:
                reader.visit(condition)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            reader.visit(part)

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self._bind(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self._bind(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self._bind(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self._bind(node.rest)
        self.generic_visit(node)

    def _annotation(self, node: ast.expr) -> None:
        """An annotation may be text, or hold some; the words of a `Literal` are no names."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                self._annotation(ast.parse(node.value, mode="eval").body)
            except SyntaxError:
                return
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("Literal"):
            self.visit(node.value)
        elif isinstance(node, ast.Subscript | ast.Tuple | ast.List | ast.BinOp | ast.Starred):
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.expr):
                    self._annotation(part)
        else:
            self.visit(node)
