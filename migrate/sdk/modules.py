"""One file as the typed wing sees it: its tree with parents, its scopes, and what each name of a scope is given."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

from ..facts.mask import parse
from ..facts.syntax import children, descend, walked
from ..source import Source, Span

Def = ast.FunctionDef | ast.AsyncFunctionDef
TRY: tuple[type[ast.Try], ...] = (ast.Try, *((ast.TryStar,) if hasattr(ast, "TryStar") else ()))
"""`try` in each form: that of `except*` where the running Python knows it."""
Scoped = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
_SCOPED = frozenset({ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda})
_BINDING = frozenset(
    {
        ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.AugAssign, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.ExceptHandler,
        ast.MatchAs, ast.MatchStar, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom,
    }
)  # fmt: skip
_WORD = re.compile(r"\w+")
_BLOCKS = ("body", "orelse", "finalbody", "handlers")
_LAST_WORD = re.compile("[.:]")
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


class How(Enum):
    """In which way a name gets its value from an expression."""

    VALUE = "value"  # x = HERE
    ITEM = "item"  # for x in HERE
    ENTERED = "entered"  # with HERE as x
    ANNOTATED = "annotated"  # x: HERE
    PARAMETER = "parameter"  # def f(x), def f(x: HERE)
    DEFINED = "defined"  # def x, class x
    IMPORTED = "imported"  # import x
    RAISED = "raised"  # except HERE as x
    OTHER = "other"  # a pattern, `del x`, `x += 1`


@dataclass(frozen=True, eq=False)
class Binding:
    """One way in which a name gets a value; `path` leads into a tuple, `waits` tells `async for` and `async with`."""

    how: How
    node: ast.AST
    value: ast.expr | None = None
    path: tuple[int, ...] = ()
    waits: bool = False
    target: str = ""  # the dotted name that an import names


@dataclass(eq=False)
class Scope:
    """A module, class, function or lambda, and what its own names are given."""

    node: Scoped
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=lambda: defaultdict(list))
    outside: set[str] = field(default_factory=set)  # names that `global` and `nonlocal` give away


class Module:
    """One parsed file. Nodes are those of `tree`; spans are UTF-8 byte offsets of `source`."""

    def __init__(self, source: Source, name: str, *, package: bool) -> None:
        self.source = source
        self.path = source.path
        self.name = name
        self.package = package
        self.tree = parse(source)[0]
        self._walked = walked(self.tree)  # held, so that others find it
        self.parents = self._walked.parents
        self.nodes = self._walked.nodes  # in source order
        self.kinds = self._walked.kinds
        self.scopes: dict[ast.AST, Scope] = {}
        self.stars: list[str] = []
        self._outer: set[ast.AST] = set()  # what belongs to a function or class, and is evaluated in the scope around it
        self._met: dict[Span, ast.AST] = {}
        self._quoted: dict[ast.Constant, ast.expr | None] = {}
        self._said: dict[str, bool] = {}
        self._filled: dict[str, tuple[dict[Scope, list[int]], dict[Scope | None, list[int]]]] = {}
        self._leaving: dict[int, list[tuple[int, ast.If]]] = {}
        self._reads: dict[str, dict[Scope, list[ast.Name]]] = {}
        self._index()

    def span(self, node: ast.AST) -> Span:
        offset = self.source.offset
        return Span(offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset))  # type: ignore[attr-defined]

    def text(self, node: ast.AST) -> str:
        return self.source.slice(self.span(node))

    def attribute_span(self, node: ast.Attribute) -> Span:
        """The bytes of the attribute's name alone."""
        end = self.span(node).end
        return Span(end - len(node.attr.encode()), end)

    def name_span(self, node: Def | ast.ClassDef) -> Span:
        """The bytes of the name that a definition gives."""
        start = self.source.offset(node.lineno, node.col_offset)
        word = b"class" if isinstance(node, ast.ClassDef) else b"def"
        at = self.source.utf8.index(node.name.encode(), self.source.utf8.index(word, start) + len(word))
        return Span(at, at + len(node.name.encode()))

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, innermost first."""
        above = self.parents.get(node)
        while above is not None:
            yield above
            above = self.parents.get(above)

    def scope(self, node: ast.AST) -> Scope:
        """The scope that an expression is evaluated in: decorators, defaults and bases belong to the scope around."""
        return self._scope_around(node) if node in self.parents else self.scopes[self.tree]

    def function(self, node: ast.AST) -> Def | None:
        """The function that a node is part of the body of."""
        scope: Scope | None = self.scope(node)
        while scope is not None and not isinstance(scope.node, Def):
            scope = scope.parent if isinstance(scope.node, ast.Lambda) else None
        return scope.node if scope is not None and isinstance(scope.node, Def) else None

    def given_to(self, name: str) -> list[Binding]:
        """What functions give to a name of the module that they call `global`, or to one of a function around them."""
        return [binding for scope in self._reaching_out for binding in scope.bindings.get(name, ()) if name in scope.outside]

    @cached_property
    def loads(self) -> dict[str, list[ast.Name]]:
        """Where names are read, in source order."""
        found: dict[str, list[ast.Name]] = defaultdict(list)
        for node in self.kinds.get(ast.Name, ()):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found[node.id].append(node)
        return found

    def reads(self, name: str, scope: Scope) -> list[ast.Name]:
        """Where a name is read in one scope itself, in source order: every test of a file may have a `result` of its own."""
        if name not in self._reads:
            found: dict[Scope, list[ast.Name]] = {}
            for node in self.loads.get(name, ()):
                found.setdefault(self.scope(node), []).append(node)
            self._reads[name] = found
        return self._reads[name].get(scope, [])

    @cached_property
    def texts(self) -> dict[str, list[ast.Constant]]:
        """The texts of the file by what they say, in source order."""
        found: dict[str, list[ast.Constant]] = {}
        for node in self.of(ast.Constant):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.setdefault(node.value, []).append(node)
        return found

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        """The classes at the top of the module."""
        return {node.name: node for node in self.tree.body if isinstance(node, ast.ClassDef)}

    @cached_property
    def functions(self) -> dict[str, list[ast.AST]]:
        """The functions and methods by their bare names."""
        found: dict[str, list[ast.AST]] = {}
        for node in self.of(ast.FunctionDef, ast.AsyncFunctionDef):
            if isinstance(node, Def):
                found.setdefault(node.name, []).append(node)
        return found

    def leaving(self, block: list[ast.AST]) -> list[tuple[int, ast.If]]:
        """The `if` statements of a block whose body leaves it, with their places."""
        if id(block) not in self._leaving:
            self._leaving[id(block)] = [
                (number, statement)
                for number, statement in enumerate(block)
                if isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Return | ast.Raise | ast.Continue)
            ]
        return self._leaving[id(block)]

    def place(self, statement: ast.AST) -> tuple[list[ast.AST], int] | None:
        """The block that a statement, or a clause of `try`, stands in, and where: to look it up there takes longer the later it is."""
        return self._places.get(statement)

    @cached_property
    def _places(self) -> dict[ast.AST, tuple[list[ast.AST], int]]:
        found: dict[ast.AST, tuple[list[ast.AST], int]] = {}
        for node in self.nodes:
            for name in _BLOCKS:
                block = getattr(node, name, None)
                if isinstance(block, list):
                    found.update((statement, (block, number)) for number, statement in enumerate(block))
        return found

    @cached_property
    def names(self) -> dict[str, list[ast.Name]]:
        """Where names stand, read or given a value, in source order."""
        found: dict[str, list[ast.Name]] = {}
        for node in self.of(ast.Name):
            if isinstance(node, ast.Name):
                found.setdefault(node.id, []).append(node)
        return found

    @cached_property
    def bound(self) -> dict[str, list[Binding]]:
        """What names are given in any scope."""
        found: dict[str, list[Binding]] = {}
        for scope in self.scopes.values():
            for name, bindings in scope.bindings.items():
                found.setdefault(name, []).extend(bindings)
        return found

    @cached_property
    def offered(self) -> frozenset[object]:
        """What the lists called `__all__` hold."""
        found: set[object] = set()
        for node in self.of(ast.Assign):
            match node:
                case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=items) | ast.Tuple(elts=items)):
                    found.update(item.value for item in items if isinstance(item, ast.Constant))
        return frozenset(found)

    def annotations(self, name: str) -> list[ast.Constant]:
        """The annotations in quotes that hold a name as a word, in source order."""
        return self._annotations.get(name, [])

    @cached_property
    def _annotations(self) -> dict[str, list[ast.Constant]]:
        found: dict[str, list[ast.Constant]] = {}
        for node in self.of(ast.Constant):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_annotation(node, self):
                for word in {*_WORD.findall(node.value)}:
                    found.setdefault(word, []).append(node)
        return found

    @cached_property
    def mentioned(self) -> dict[str, list[ast.Name | ast.Attribute | ast.alias | ast.Constant]]:
        """What may stand for something by its name, in source order: names, attributes, imports, and texts by their last word."""
        found: dict[str, list[ast.Name | ast.Attribute | ast.alias | ast.Constant]] = defaultdict(list)
        for node in self.nodes:
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                    found[name].append(node)
                case ast.Constant(value=str(text)) if text:
                    found[_LAST_WORD.split(text)[-1]].append(node)
        return found

    def says(self, word: str) -> bool:
        """Whether the text of the file contains a word; searched for once."""
        if word not in self._said:
            self._said[word] = word.encode() in self.source.utf8
        return self._said[word]

    @cached_property
    def submodules(self) -> frozenset[str]:
        """The modules of packages that the file imports under their whole names."""
        found = (alias for node in self.kinds.get(ast.Import, ()) if isinstance(node, ast.Import) for alias in node.names)
        return frozenset(alias.name for alias in found if "." in alias.name and not alias.asname)

    @cached_property
    def _reaching_out(self) -> list[Scope]:
        return [scope for scope in self.scopes.values() if scope.outside]

    def means(self, name: str, target: str) -> bool:
        """Whether a name is free in all scopes, or imported as the last part of what it is meant to be."""
        bindings = self.bound.get(name, ())
        return all(one.how is How.IMPORTED and one.target.rpartition(".")[2] == target.rpartition(".")[2] for one in bindings)

    def qualified(self, node: ast.AST) -> str:
        """The dotted name of a function or class inside the module; for other nodes that of what is around them."""
        parts = [node.name] if isinstance(node, Def | ast.ClassDef) else []
        parts += [above.name for above in self.around(node) if isinstance(above, Def | ast.ClassDef)]
        return ".".join(reversed(parts))

    def quoted(self, node: ast.Constant) -> ast.expr | None:
        """The code in the quotes of an annotation, which stands where the text does; read once, for all who ask for it again."""
        if node not in self._quoted:
            try:
                inner = self._quoted[node] = ast.parse(str(node.value).strip(), mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._quoted[node] = None
            else:
                # The parents of the file's own nodes belong to all who hold the tree, and stay as they are.
                self.parents.update(dict.fromkeys(descend(inner), node))
        return self._quoted[node]

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that holds a node."""
        if isinstance(node, ast.stmt):
            return node
        return next((above for above in self.around(node) if isinstance(above, ast.stmt)), None)

    def meet(self, node: ast.AST) -> Span:
        """The bytes of a node that somebody will ask for by these."""
        span = self.span(node)
        self._met.setdefault(span, node)
        return span

    def at(self, span: Span) -> ast.AST | None:
        """The outermost node at exactly these bytes; an expression that stands alone is meant, not its statement."""
        # The places of all nodes of a file are worth finding only for spans that no fact has.
        return self._met.get(span) or self._by_span.get(span)

    @cached_property
    def defined(self) -> dict[str, ast.AST]:
        """Functions and classes by their dotted names; the last one where there are several."""
        return {self.qualified(node): node for node in self.of(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)}

    @cached_property
    def calls(self) -> dict[str, list[ast.Call]]:
        """The calls by the last part of what is called."""
        found: dict[str, list[ast.Call]] = defaultdict(list)
        for node in self.of(ast.Call):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
                found[name].append(node)
        return found

    @cached_property
    def attributes(self) -> dict[ast.ClassDef, dict[str, list[Binding]]]:
        """What the methods of each class give to `self.x`, by x; an annotated one has its type as value."""
        found: dict[ast.ClassDef, dict[str, list[Binding]]] = defaultdict(lambda: defaultdict(list))
        for node in self.of(ast.Attribute):
            match node:
                case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=attr, ctx=ast.Store()):
                    owner = next((above for above in self.around(node) if isinstance(above, ast.ClassDef)), None)
                    if owner is not None:
                        found[owner][attr] += self._stored(node)
        return found

    @cached_property
    def replaced(self) -> dict[str, list[tuple[ast.AST, str, ast.expr | None]]]:
        """What is given to attributes of objects from outside, by the attribute: where, the whole as text, and the value if it is plain."""
        found: dict[str, list[tuple[ast.AST, str, ast.expr | None]]] = defaultdict(list)
        for node in self.of(ast.Attribute):
            if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Store):
                continue
            if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
                continue
            above = self.parents.get(node)
            value = above.value if isinstance(above, ast.Assign) and above.targets == [node] else None
            found[node.attr].append((node, dotted(node), value))
        return found

    @cached_property
    def filled(self) -> dict[str, list[tuple[str, ast.AST, ast.expr]]]:
        """What is put into containers, by their text (`x`, `self.x`): how (`append`, `extend`, `[]`), where, and the value."""
        found: dict[str, list[tuple[str, ast.AST, ast.expr]]] = defaultdict(list)
        for how, name in (("append", "append"), ("extend", "extend"), ("append", "add"), ("append", "appendleft")):
            for call in self.calls.get(name, ()):
                if isinstance(call.func, ast.Attribute) and len(call.args) == 1:
                    found[dotted(call.func.value)].append((how, call, call.args[0]))
        for node in self.of(ast.Assign, ast.AugAssign):
            match node:
                case ast.Assign(targets=[ast.Subscript(value=container)], value=value):
                    found[dotted(container)].append(("[]", node, value))
                case ast.AugAssign(target=ast.Attribute() as container, op=ast.Add(), value=value):
                    found[dotted(container)].append(("extend", node, value))
        return found

    def filled_beside(self, text: str, node: ast.AST) -> list[tuple[str, ast.AST, ast.expr]]:
        """What is put into a container in the scope of a node, in the one around it and in those directly inside of it."""
        filled = self.filled.get(text)
        if not filled:
            return []
        if text not in self._filled:
            scopes: dict[Scope, list[int]] = {}
            inner: dict[Scope | None, list[int]] = {}
            for number, (_, at, _) in enumerate(filled):
                scope = self.scope(at)
                scopes.setdefault(scope, []).append(number)
                inner.setdefault(scope.parent, []).append(number)
            self._filled[text] = scopes, inner
        scopes, inner = self._filled[text]
        scope = self.scope(node)
        around = scopes.get(scope.parent, ()) if scope.parent is not None else ()
        return [filled[number] for number in sorted({*scopes.get(scope, ()), *inner.get(scope, ()), *around})]

    @cached_property
    def tested(self) -> frozenset[str]:
        """The names, attributes and items, as text, whose class some test or pattern asks for."""
        found = set()
        for node in self.of(ast.Call, ast.Compare, ast.Match):
            match node:
                case ast.Call(func=ast.Name(id="isinstance"), args=[subject, _]):
                    found.add(spelled(subject))
                case ast.Compare(left=ast.Attribute(value=subject, attr="type")):
                    found.add(spelled(subject))
                case ast.Match(subject=subject):
                    found.add(spelled(subject))
        return frozenset(found - {""})

    def _stored(self, node: ast.Attribute) -> Iterator[Binding]:
        statement = self.statement(node)
        match statement:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from (Binding(How.VALUE, statement, value, path) for path, leaf in leaves(target) if leaf is node)
            case ast.AnnAssign(annotation=annotation):
                yield Binding(How.ANNOTATED, statement, annotation)
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    for path, leaf in leaves(item.optional_vars) if item.optional_vars is not None else ():
                        if leaf is node:
                            yield Binding(How.ENTERED, statement, item.context_expr, path, isinstance(statement, ast.AsyncWith))

    @cached_property
    def _by_span(self) -> dict[Span, ast.AST]:
        found: dict[Span, ast.AST] = {}
        for node in self.nodes:
            if hasattr(node, "lineno") and not isinstance(node, ast.Expr):
                found.setdefault(self.span(node), node)
        return found

    # -- scopes ---------------------------------------------------------------
    def _index(self) -> None:
        # What gives a name is one node in ten: only these ask for their scope.
        self.scopes[self.tree] = Scope(self.tree, None)
        for node in self.nodes:
            kind = node.__class__
            if kind in _BINDING:
                self._bound(node, self._scope_around(node))
            elif kind in _SCOPED and node is not self.tree:
                self._open(node, self._scope_around(node))

    def _scope_around(self, node: ast.AST) -> Scope:
        """The scope that a node is evaluated in."""
        above = self.parents[node]
        while above.__class__ not in _SCOPED or node in self._outer:
            node, above = above, self.parents[above]
        return self.scopes[above]

    def _open(self, node: ast.AST, scope: Scope) -> None:
        assert isinstance(node, Def | ast.ClassDef | ast.Lambda)
        if not isinstance(node, ast.Lambda):
            scope.bindings[node.name].append(Binding(How.DEFINED, node))
            self._outer.update(children(node))
            self._outer.difference_update(node.body)
        inner = self.scopes[node] = Scope(node, scope)
        if not isinstance(node, ast.ClassDef):
            _parameters(node, inner)

    def of(self, *kinds: type[ast.AST]) -> Iterator[ast.AST]:
        """The nodes of some kinds, kind by kind in source order."""
        for kind in kinds:
            yield from self.kinds.get(kind, ())

    def _bound(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    _target(target, How.VALUE, node, value, scope)
            case ast.AnnAssign(target=target, annotation=annotation):
                if isinstance(target, ast.Name):
                    scope.bindings[target.id].append(Binding(How.ANNOTATED, node, annotation))
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                scope.bindings[name].append(Binding(How.VALUE, node, value))
            case ast.AugAssign(target=ast.Name(id=name)):
                scope.bindings[name].append(Binding(How.OTHER, node))
            case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
                _target(target, How.ITEM, node, value, scope, waits=isinstance(node, ast.AsyncFor))
            case ast.With(items=items) | ast.AsyncWith(items=items):
                for item in items:
                    if item.optional_vars is not None:
                        _target(item.optional_vars, How.ENTERED, node, item.context_expr, scope, waits=isinstance(node, ast.AsyncWith))
            case ast.ExceptHandler(name=str(name), type=value):
                scope.bindings[name].append(Binding(How.RAISED, node, value))
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                scope.bindings[name].append(Binding(How.OTHER, node))
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                scope.outside.update(names)
            case ast.Import(names=aliases):
                for alias in aliases:
                    name = alias.asname or alias.name.partition(".")[0]
                    scope.bindings[name].append(Binding(How.IMPORTED, alias, target=alias.name if alias.asname else name))
            case ast.ImportFrom():
                base = self.imported_from(node)
                for alias in node.names:
                    if alias.name == "*":
                        self.stars.append(base)
                    else:
                        scope.bindings[alias.asname or alias.name].append(
                            Binding(How.IMPORTED, alias, target=f"{base}.{alias.name}" if base else alias.name)
                        )

    def imported_from(self, node: ast.ImportFrom) -> str:
        """The absolute name of the module that a `from` import names."""
        if not node.level:
            return node.module or ""
        parts = self.name.split(".") if self.name else []
        drop = node.level - (1 if self.package else 0)
        parts = parts[: len(parts) - drop] if drop else parts
        return ".".join([*parts, *([node.module] if node.module else [])])


def dotted(node: ast.expr) -> str:
    """`a.b.c` as text; nothing for other expressions."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def spelled(node: ast.expr) -> str:
    """`a.b["c"].d` as text, each time in the same way; nothing for other expressions."""
    match node:
        case ast.Subscript(value=value, slice=ast.Constant(value=key)) if base := spelled(value):
            return f"{base}[{key!r}]"
        case ast.Attribute(value=ast.Subscript() as value, attr=attr) if base := spelled(value):
            return f"{base}.{attr}"
    return dotted(node)


def leaves(target: ast.expr, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], ast.expr]]:
    """The single targets of an assignment, with the way to what each is given."""
    if isinstance(target, ast.Tuple | ast.List):
        for number, element in enumerate(target.elts):
            yield from leaves(element, (*path, number))
    else:
        yield path, target


def looped(node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> dict[str, list[Binding]]:
    """What the names of a comprehension are given."""
    inner = Scope(ast.Module([], []), None)
    for generator in node.generators:
        _target(generator.target, How.ITEM, generator, generator.iter, inner, waits=bool(generator.is_async))
    return inner.bindings


def _parameters(node: Def | ast.Lambda, scope: Scope) -> None:
    arguments = node.args
    for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        scope.bindings[parameter.arg].append(Binding(How.PARAMETER, parameter, parameter.annotation))
    for rest in (arguments.vararg, arguments.kwarg):
        if rest is not None:
            scope.bindings[rest.arg].append(Binding(How.OTHER, rest))


def _target(
    target: ast.expr, how: How, node: ast.AST, value: ast.expr, scope: Scope, *, path: tuple[int, ...] = (), waits: bool = False
) -> None:
    match target:
        case ast.Name(id=name):
            scope.bindings[name].append(Binding(how, node, value, path, waits))
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for number, element in enumerate(elements):
                if isinstance(element, ast.Starred):
                    if isinstance(element.value, ast.Name):
                        scope.bindings[element.value.id].append(Binding(How.OTHER, node))
                else:
                    _target(element, how, node, value, scope, path=(*path, number), waits=waits)


def _is_annotation(node: ast.Constant, module: Module) -> bool:
    child: ast.AST = node
    for above in module.around(node):
        match above:
            case ast.arg() | ast.AnnAssign():
                return getattr(above, "annotation", None) is child
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                return above.returns is child
            case ast.Call(func=ast.Name(id="cast")):
                return bool(above.args) and above.args[0] is child
            case ast.Subscript() | ast.BinOp() | ast.Tuple() | ast.List():
                child = above
            case _:
                return False
    return False
