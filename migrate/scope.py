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

_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


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

    @property
    def has_star(self) -> bool:
        """Whether a star import may bind anything."""
        return self.root.star

    @cached_property
    def doubled_imports(self) -> Counter[tuple[str, str]]:
        """How often a scope makes the same import beyond the first time."""
        made = Counter((scope.name, what) for scope in self._scopes for what in scope.statements)
        return Counter({key: count - 1 for key, count in made.items() if count > 1})

    def doubled(self, scope: str, what: str) -> int:
        """How often the scope makes one import, of the name that this import binds, beyond the first time."""
        name = _bound(what)
        return sum(count for (other, made), count in self.doubled_imports.items() if other == scope and _bound(made) == name)

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


def _bound(what: str) -> str:
    return what.rpartition(" as ")[2]


def names_of(tree: ast.Module) -> Names:
    """Reads the scopes of a parsed module, without recursion: the branches of a long `elif` chain lie inside each other."""
    root = _Scope("", None)
    pending: list[_Step] = [(root, tree)]
    while pending:
        scope, node = pending.pop()
        pending += reversed([*_read(scope, node)])
    return Names(root)


def bound_to(scope: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> Mapping[str, frozenset[str]]:
    """What each name of a module or function itself is bound to: dotted names for what is imported, nothing for anything else."""
    found: dict[str, set[str]] = {}
    pending: list[ast.AST] = [*scope.body] if isinstance(scope, ast.Module) else [scope.args, *scope.body]
    while pending:
        node = pending.pop()
        match node:
            case ast.Import(names=names):
                for alias in names:
                    local = alias.asname or alias.name.partition(".")[0]
                    found.setdefault(local, set()).add(alias.name if alias.asname else local)
            case ast.ImportFrom(names=names):
                for alias in names:
                    found.setdefault(alias.asname or alias.name, set()).add(f"{'.' * node.level}{node.module or ''}.{alias.name}")
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.setdefault(name, set()).add("")
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.setdefault(name, set()).add("")
        if not isinstance(node, _INNER):
            pending += ast.iter_child_nodes(node)
    return {name: frozenset(given) for name, given in found.items()}


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
        scope = self
        while scope.above is not None:
            scope = scope.above
        return scope

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
        pending = [self]
        while pending:
            scope = pending.pop()
            yield scope
            pending += reversed(scope.inner)

    def within(self, name: str, *, is_class: bool = False, is_comprehension: bool = False) -> _Scope:
        """A new scope inside of this one."""
        scope = _Scope(f"{self.name}.{name}" if self.name else name, self, is_class, is_comprehension)
        self.inner.append(scope)
        return scope

    def bind(self, name: str) -> None:
        (self.root if name in self.outer else self).bindings.add(name)


# What is left to read, and the scope that it is in.
_Step = tuple[_Scope, "ast.AST | _Annotation"]


@dataclass(frozen=True)
class _Annotation:
    """An expression that may be text, or hold some; the words of a `Literal` are no names."""

    node: ast.expr


def _read(scope: _Scope, node: ast.AST | _Annotation) -> Iterator[_Step]:
    """Notes what one node says, and gives what lies in it, in the order of the text."""
    match node:
        case _Annotation(node=expression):
            yield from _annotation(scope, expression)
        case ast.Name(id=name, ctx=context):
            if isinstance(context, ast.Load):
                scope.loads.add(name)
            elif isinstance(context, ast.Store):
                scope.bind(name)
        case ast.NamedExpr(target=target, value=value):
            outside = scope
            while outside.is_comprehension and outside.above is not None:
                outside = outside.above
            yield outside, target
            yield scope, value
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            scope.outer.update(names)
        case ast.Import() | ast.ImportFrom():
            _imported(scope, node)
        case ast.AnnAssign(target=target, annotation=annotation, value=value):
            yield scope, target
            yield scope, _Annotation(annotation)
            if value is not None:
                yield scope, value
                _exports(scope, target, value)
        case ast.ClassDef():
            yield from _class(scope, node)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from _function(scope, node)
        case ast.Lambda(args=arguments, body=body):
            inner = scope.within("<lambda>")
            yield from _parameters(scope, inner, arguments)
            yield inner, body
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            yield from _comprehension(scope, node)
        case _:
            _note(scope, node)
            yield from ((scope, part) for part in ast.iter_child_nodes(node))


def _note(scope: _Scope, node: ast.AST) -> None:
    """What a node says that is read like any other."""
    match node:
        case ast.Yield() | ast.YieldFrom():
            scope.yields = True
        case ast.Assign(targets=[target, *_], value=value):
            _exports(scope, target, value)
        case ast.AugAssign(target=target, value=value):
            if isinstance(target, ast.Name):
                scope.loads.add(target.id)
            _exports(scope, target, value)
        case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name):
            scope.bind(name)
        case ast.MatchMapping(rest=str() as name):
            scope.bind(name)


def _imported(scope: _Scope, node: ast.Import | ast.ImportFrom) -> None:
    module = "." * node.level + (node.module or "") if isinstance(node, ast.ImportFrom) else ""
    for alias in node.names:
        if alias.name == "*":
            scope.root.star = True
            continue
        name = alias.asname or (alias.name if module else alias.name.partition(".")[0])
        scope.bind(name)
        scope.statements.append(f"from {module} import {alias.name} as {name}" if module else f"import {alias.name} as {name}")
        if module != "__future__" and alias.asname != alias.name:
            scope.imports.add(name)


def _exports(scope: _Scope, target: ast.expr, value: ast.expr) -> None:
    if scope.above is None and isinstance(target, ast.Name) and target.id == "__all__":
        scope.exported |= {part.value for part in ast.walk(value) if isinstance(part, ast.Constant) if isinstance(part.value, str)}


def _class(scope: _Scope, node: ast.ClassDef) -> Iterator[_Step]:
    yield from ((scope, outside) for outside in (*node.decorator_list, *node.bases, *node.keywords))
    scope.bind(node.name)
    inner = scope.within(node.name, is_class=True)
    yield from _type_parameters(inner, node)
    yield from ((inner, statement) for statement in node.body)


def _function(scope: _Scope, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[_Step]:
    yield from ((scope, outside) for outside in node.decorator_list)
    scope.bind(node.name)
    inner = scope.within(node.name)
    yield from _parameters(scope, inner, node.args)
    yield from _type_parameters(inner, node)
    if node.returns is not None:
        yield scope, _Annotation(node.returns)
    yield from ((inner, statement) for statement in node.body)


def _parameters(scope: _Scope, inner: _Scope, arguments: ast.arguments) -> Iterator[_Step]:
    yield from ((scope, default) for default in (*arguments.defaults, *arguments.kw_defaults) if default is not None)
    variadic = [argument for argument in (arguments.vararg, arguments.kwarg) if argument is not None]
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *variadic):
        inner.bindings.add(argument.arg)
        if argument.annotation is not None:
            yield scope, _Annotation(argument.annotation)


def _type_parameters(inner: _Scope, node: ast.AST) -> Iterator[_Step]:
    # `class A[T]` and `def f[T]`, where the interpreter knows them: seen by annotations outside of the body as well.
    for parameter in getattr(node, "type_params", ()):
        for scope in (inner, inner.above):
            if scope is not None:
                scope.bindings.add(parameter.name)
        yield from ((inner, part) for part in ast.iter_child_nodes(parameter))


def _comprehension(scope: _Scope, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Iterator[_Step]:
    inner = scope.within("<comprehension>", is_comprehension=True)
    for number, generator in enumerate(node.generators):
        yield (inner if number else scope), generator.iter
        yield inner, generator.target
        yield from ((inner, condition) for condition in generator.ifs)
    yield from ((inner, part) for part in ((node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)))


def _annotation(scope: _Scope, node: ast.expr) -> Iterator[_Step]:
    match node:
        case ast.Constant(value=str() as text):
            try:
                yield scope, _Annotation(ast.parse(text, mode="eval").body)
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name) as holder) if name.endswith("Literal"):
            yield scope, holder
        case ast.Subscript() | ast.Tuple() | ast.List() | ast.BinOp() | ast.Starred():
            yield from ((scope, _Annotation(part)) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
        case _:
            yield scope, node
