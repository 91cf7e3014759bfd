"""What names and expressions of one module are bound to, as far as that module can tell."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from .model import Ref, Value
from .syntax import blocks

_MAX_DEPTH = 12
_EVALUATED = frozenset(
    {ast.Attribute, ast.BinOp, ast.Call, ast.JoinedStr, ast.List, ast.NamedExpr, ast.Set, ast.Subscript, ast.Tuple, ast.UnaryOp}
)

_COMPOUND = frozenset({ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.With, ast.AsyncWith})


class Names:
    """Resolves expressions of one module to text, numbers, references to other modules, or tuples of these.

    `imports` maps a local name to its dotted target; `hidden` are the targets that functions import under names which are
    taken; `bindings` maps a dotted name inside the module (`PING`, `Method.PING`) to the expression that it was given. A name
    that is given two different things resolves to nothing.
    """

    def __init__(self, tree: ast.Module, module: str, *, package: bool) -> None:
        self.module = module
        self.package = package
        self.imports: dict[str, str] = {}
        self.stars: list[str] = []
        self._within: list[str] = []
        self.bindings: dict[str, ast.expr] = {}
        self.classes: set[str] = set()
        self.ambiguous: set[str] = set()
        self._collect(tree.body, "")
        known = frozenset(self.imports.values())
        self.hidden = tuple(target for target in self._within if target not in known)

    def value(self, node: ast.expr | None, owner: str = "", local: Mapping[str, ast.expr] | None = None, depth: int = 0) -> Value | None:
        """What `node` evaluates to, or None. `owner` is the enclosing class, for `self.X`; `local` holds a function's own names."""
        if node is None or depth > _MAX_DEPTH:
            return None
        depth += 1
        # The commonest first, by class: names are 40 % of all calls, and most of the rest evaluates to nothing.
        kind = node.__class__
        if kind is ast.Name:
            return self._local_or_own(node.id, owner, local, depth)  # type: ignore[attr-defined]
        if kind is ast.Constant:
            constant = node.value  # type: ignore[attr-defined]
            if constant.__class__ is bytes:
                return str(constant, "utf-8", "replace")
            return constant if constant.__class__ is str or constant.__class__ is int else None
        if kind not in _EVALUATED:
            return None
        if kind is ast.Call:
            return self._called(node, owner, local, depth)  # type: ignore[arg-type]
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self.value(operand, owner, local, depth)
                return -inner if isinstance(inner, int) else None
            case ast.Attribute():
                return self._attribute(node, owner, local, depth)
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return self._joined([left, right], owner, local, depth)
            case ast.BinOp(op=ast.BitOr(), left=left, right=right):
                return self._merged([left, right], owner, local, depth)
            case ast.JoinedStr(values=parts):
                return self._joined([part.value if isinstance(part, ast.FormattedValue) else part for part in parts], owner, local, depth)
            case ast.Set(elts=items) | ast.Tuple(elts=items) | ast.List(elts=items):
                return self._merged(items, owner, local, depth)
            case ast.Subscript(value=ast.Name(id="Literal") | ast.Attribute(attr="Literal"), slice=ast.Tuple(elts=items)):
                return self._merged(items, owner, local, depth)
            case ast.NamedExpr(value=inner_node):
                return self.value(inner_node, owner, local, depth)
        return None

    def name(self, name: str, owner: str = "", depth: int = 0) -> Value | None:
        """What a dotted name of this module is bound to."""
        for scope in _enclosing(owner):
            full = f"{scope}.{name}" if scope else name
            if full in self.bindings and full not in self.ambiguous:
                # A class body sees its own names; code inside its methods does not, but then the module's name is usually the same.
                return self.value(self.bindings[full], scope, None, depth)
            if full in self.ambiguous:
                return None
        head, _, rest = name.partition(".")
        if head in self.imports:
            target = self.imports[head]
            return Ref(f"{target}.{rest}" if rest else target)
        if self.stars and not rest and name.isupper():
            return Ref(name, stars=tuple(reversed(self.stars)))
        return None

    def dotted(self, node: ast.expr) -> str | None:
        """`a.b.c` as text with the first name replaced by what it was imported from; None for anything else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        return ".".join([self.imports.get(node.id, node.id), *reversed(parts)])

    def _called(self, node: ast.Call, owner: str, local: Mapping[str, ast.expr] | None, depth: int) -> Value | None:
        match node:
            case ast.Call(func=ast.Name(id="frozenset" | "set" | "tuple" | "list") | ast.Attribute(attr="fromkeys"), args=[items]):
                found = self.value(items, owner, local, depth)
                return found if isinstance(found, tuple) else None
            case ast.Call(func=ast.Name(id="int"), args=[text]):
                found = self.value(text, owner, local, depth)
                return _number(found) if isinstance(found, str) else found if isinstance(found, int) else None
            case ast.Call(func=ast.Name(id="str"), args=[text]):
                return self.value(text, owner, local, depth)
            case ast.Call(func=ast.Attribute(value=base, attr="lower" | "casefold"), args=[]):
                found = self.value(base, owner, local, depth)
                return found.lower() if isinstance(found, str) else replace(found, lower=True) if isinstance(found, Ref) else None
            case ast.Call(func=ast.Attribute(value=base, attr="encode" | "decode" | "strip")):
                return self.value(base, owner, local, depth)
        return None

    def _local_or_own(self, name: str, owner: str, local: Mapping[str, ast.expr] | None, depth: int) -> Value | None:
        if local is not None and name in local:
            return self.value(local[name], owner, None, depth)
        return self.name(name, owner, depth)

    def _attribute(self, node: ast.Attribute, owner: str, local: Mapping[str, ast.expr] | None, depth: int) -> Value | None:
        if node.attr == "value":  # Method.PING.value of an enum
            inner = self.value(node.value, owner, local, depth)
            if inner is not None:
                return inner
        parts: list[str] = []
        base: ast.expr = node
        while isinstance(base, ast.Attribute):
            parts.append(base.attr)
            base = base.value
        if not isinstance(base, ast.Name):
            return None
        path = ".".join(reversed(parts))
        if base.id in ("self", "cls") or (local is not None and base.id in local):
            for scope in _enclosing(owner):
                full = f"{scope}.{path}" if scope else path
                if scope and full in self.bindings and full not in self.ambiguous:
                    return self.value(self.bindings[full], scope, None, depth)
            return None
        return self.name(f"{base.id}.{path}", owner, depth)

    def _joined(self, nodes: list[ast.expr], owner: str, local: Mapping[str, ast.expr] | None, depth: int) -> Value | None:
        values = [self.value(node, owner, local, depth) for node in nodes]
        if all(isinstance(value, str) for value in values):
            return "".join(str(value) for value in values)
        if all(isinstance(value, tuple) for value in values):
            return tuple(item for value in values if isinstance(value, tuple) for item in value)
        return None

    def _merged(self, nodes: list[ast.expr], owner: str, local: Mapping[str, ast.expr] | None, depth: int) -> Value | None:
        out: list[Value] = []
        for node in nodes:
            value = self.value(node.value if isinstance(node, ast.Starred) else node, owner, local, depth)
            if isinstance(value, tuple):
                out.extend(value)
            elif value is not None:
                out.append(value)
        return tuple(out) if out else None

    def _collect(self, body: list[ast.stmt], scope: str) -> None:
        """Module and class level bindings, and `self.x = constant` of methods, in order of appearance."""
        for statement in _flat(body):
            match statement:
                case ast.Import() | ast.ImportFrom():
                    self.imports.update(self.imported(statement))
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._bind(target, value, scope)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self._bind(target, value, scope)
                case ast.ClassDef(name=name, body=inner):
                    full = f"{scope}.{name}" if scope else name
                    self.classes.add(full)
                    self._collect(inner, full)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self._imports_within(statement, scope)

    def _imports_within(self, function: ast.FunctionDef | ast.AsyncFunctionDef, scope: str) -> None:
        for statement in _flat(function.body):
            match statement:
                case ast.Import() | ast.ImportFrom():
                    # A function's own import must not hide what the module means by the name.
                    for name, target in self.imported(statement).items():
                        self.imports.setdefault(name, target)
                        self._within.append(target)
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self._imports_within(statement, "")
                case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=attr)], value=value) if scope:
                    self._bind_name(f"{scope}.{attr}", value)
                case ast.AnnAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=attr), value=ast.expr() as value) if scope:
                    self._bind_name(f"{scope}.{attr}", value)

    def imported(self, statement: ast.Import | ast.ImportFrom) -> dict[str, str]:
        """Local name -> dotted target; a star goes to `stars`."""
        if isinstance(statement, ast.Import):
            return {a.asname or a.name.partition(".")[0]: a.name if a.asname else a.name.partition(".")[0] for a in statement.names}
        found: dict[str, str] = {}
        base = statement.module or ""
        if statement.level:
            parts = self.module.split(".") if self.module else []
            drop = statement.level - (1 if self.package else 0)
            parts = parts[: len(parts) - drop] if drop else parts
            base = ".".join([*parts, *([statement.module] if statement.module else [])])
        for alias in statement.names:
            if alias.name == "*":
                self.stars += [base] if base not in self.stars else []
            else:
                found[alias.asname or alias.name] = f"{base}.{alias.name}" if base else alias.name
        return found

    def _bind(self, target: ast.expr, value: ast.expr, scope: str) -> None:
        match target:
            case ast.Name(id=name):
                self._bind_name(f"{scope}.{name}" if scope else name, value)
            case ast.Tuple(elts=targets) if isinstance(value, ast.Tuple) and len(value.elts) == len(targets):
                for one, part in zip(targets, value.elts, strict=True):
                    self._bind(one, part, scope)

    def _bind_name(self, name: str, value: ast.expr) -> None:
        if name in self.bindings and ast.dump(self.bindings[name]) != ast.dump(value):
            self.ambiguous.add(name)
        self.bindings.setdefault(name, value)


def local_names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, ast.expr]:
    """The names that a function gives exactly one value, and that value."""
    found: dict[str, ast.expr] = {}
    twice: set[str] = set()
    for statement in _flat(function.body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                if name in found:
                    twice.add(name)
                found[name] = value
            case ast.For(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
                twice.add(name)
    return {name: value for name, value in found.items() if name not in twice}


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a body and of the `if`, `try`, `with` and loop blocks inside, but not of functions and classes."""
    for statement in body:
        yield statement
        if statement.__class__ in _COMPOUND:
            pending = [*blocks(statement)][::-1]
            while pending:
                inner = pending.pop()
                yield inner
                if inner.__class__ in _COMPOUND:
                    pending += reversed([*blocks(inner)])


def _enclosing(owner: str) -> Iterator[str]:
    while owner:
        yield owner
        owner = owner.rpartition(".")[0]
    yield ""


def _number(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None
