"""What a server says about itself: the identity, capabilities and instructions of its initialize answer, and what they need."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from .code import Code, Place, assigned
from .functions import Def

FIELDS = {"info": "serverInfo", "capabilities": "capabilities", "instructions": "instructions"}
_BUILTINS = frozenset(dir(builtins))
_MAX_DEPTH = 8


class Needs(Enum):
    """When a part of the identity can be worked out."""

    IMPORT = "import"  # by the names of the module alone
    INSTANCE = "instance"  # from the object whose method answers
    CALL = "call"  # each time anew, from names that change


@dataclass(frozen=True, eq=False)
class Part:
    """One expression of the identity. `text` spells it without the locals of its function; `hoist` says that the branch can share it."""

    node: ast.expr
    text: str
    needs: Needs
    names: frozenset[str]  # the module's names that it uses
    hoist: bool  # a literal in the branch, worth a name of its own


@dataclass(frozen=True, eq=False)
class Identity:
    """The parts, and the place of the initialize answer that holds them."""

    place: Place
    node: ast.Dict
    info: Part
    capabilities: Part
    instructions: Part | None


@dataclass(frozen=True)
class Unknown:
    """Why the identity cannot be taken over, and where."""

    reason: str
    place: Place | None = None
    node: ast.AST | None = None


def identities(code: Code, places: tuple[Place, ...]) -> Iterator[tuple[Place, ast.Dict]]:
    """The initialize answers that these functions build."""
    for place in places:
        for node in place.nodes:
            if isinstance(node, ast.Dict):
                keys = {code.text(key, place) for key in node.keys if key is not None}
                if "protocolVersion" in keys and keys & {"serverInfo", "capabilities"} and "clientInfo" not in keys:
                    yield place, node


def identity(code: Code, places: tuple[Place, ...]) -> Identity | Unknown:
    """The one identity that these functions answer initialize with."""
    found = list(identities(code, places))
    if not found:
        return Unknown("no initialize answer was found, so neither name nor capabilities are known")
    place, node = found[0]
    if any(ast.dump(_without_version(code, other, n)) != ast.dump(_without_version(code, place, node)) for other, n in found[1:]):
        return Unknown("initialize is answered in two different ways", found[1][0], found[1][1])
    entries = {code.text(key, place): value for key, value in zip(node.keys, node.values, strict=True) if key is not None}
    parts: dict[str, Part] = {}
    for name, key in FIELDS.items():
        if (value := entries.get(key)) is not None:
            part = _part(code, value, place)
            if isinstance(part, Unknown):
                return part
            parts[name] = part
    if "info" not in parts or "capabilities" not in parts:
        missing = "serverInfo" if "info" not in parts else "capabilities"
        return Unknown(f"the initialize answer has no {missing}", place, node)
    return Identity(place, node, parts["info"], parts["capabilities"], parts.get("instructions"))


def _without_version(code: Code, place: Place, node: ast.Dict) -> ast.Dict:
    pairs = [(k, v) for k, v in zip(node.keys, node.values, strict=True) if k is not None and code.text(k, place) in FIELDS.values()]
    return ast.Dict(keys=[k for k, _ in pairs], values=[v for _, v in pairs])


def _part(code: Code, node: ast.expr, place: Place) -> Part | Unknown:
    spelled = _Spell(place).expression(node)
    if isinstance(spelled, Unknown):
        return spelled
    names = frozenset(n.id for n in ast.walk(spelled) if isinstance(n, ast.Name)) - _bound_inside(spelled) - {"self"}
    text = place.unit.module.text(node) if spelled is node else ast.unparse(spelled)
    uses_self = any(isinstance(n, ast.Name) and n.id in {"self", "cls"} for n in ast.walk(spelled))
    if uses_self and any(isinstance(n, ast.Name) and n.id == "cls" for n in ast.walk(spelled)):
        return Unknown("the initialize answer depends on the class that it is asked of", place, node)
    if uses_self:
        needs = Needs.INSTANCE
    elif any(isinstance(n, ast.Call) and not _is_pure(n) for n in ast.walk(spelled)) or any(_changes(name, place) for name in names):
        needs = Needs.CALL
    else:
        needs = Needs.IMPORT
    return Part(node, text, needs, names, hoist=spelled is node and needs is Needs.IMPORT and not isinstance(node, ast.Name | ast.Attribute))


class _Spell:
    """Replaces the locals of a function by what they were given, as long as that is one expression."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def expression(self, node: ast.expr, depth: int = 0) -> ast.expr | Unknown:
        trouble: list[Unknown] = []
        outer = self

        class Inline(ast.NodeTransformer):
            def visit_Name(self, name: ast.Name) -> ast.AST:
                if name.id in bound or not isinstance(name.ctx, ast.Load):
                    return name
                found = outer.local(name, depth)
                if isinstance(found, Unknown):
                    trouble.append(found)
                    return name
                return name if found is None else found

        bound = _bound_inside(node)
        if any(isinstance(n, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr) for n in ast.walk(node)):
            return Unknown("the initialize answer waits for something", self.place, node)
        if not any(isinstance(n, ast.Name) and n.id not in bound and self.local(n, depth) is not None for n in ast.walk(node)):
            return node
        copied = ast.parse(ast.unparse(node), mode="eval").body
        made = Inline().visit(copied)
        return trouble[0] if trouble else made

    def local(self, name: ast.Name, depth: int) -> ast.expr | Unknown | None:
        """What a local name stands for; None for a name that is not local."""
        if name.id == "self" and self.place.owner:
            return None
        function = self.place.function
        if function is None:
            return None
        doubt = Unknown(f"`{name.id}` of the initialize answer cannot be known before the request", self.place, name)
        values = assigned(self.place, name.id)
        if not values:
            for around in list(self.place.enclosing()):
                if around.function and name.id in around.function.parameters or around != self.place and assigned(around, name.id):
                    return doubt
            return None
        if depth > _MAX_DEPTH or any(value is None for value in values) or name.id in function.parameters or not _is_straight(self.place, name.id):
            return doubt
        # Straight-line code: each value may use the one before it.
        made: ast.expr | Unknown = values[0]  # type: ignore[assignment]
        made = self.expression(made, depth + 1) if isinstance(made, ast.expr) else made
        for value in values[1:]:
            if isinstance(made, Unknown):
                return made
            before = made

            class Chain(ast.NodeTransformer):
                def visit_Name(self, node: ast.Name, before: ast.expr = before) -> ast.AST:
                    return before if node.id == name.id and isinstance(node.ctx, ast.Load) else node

            assert value is not None
            copied = ast.parse(ast.unparse(value), mode="eval").body
            others = [n for n in ast.walk(value) if isinstance(n, ast.Name) and n.id != name.id and n.id not in _bound_inside(value)]
            if any(self.local(n, depth + 1) is not None for n in others):
                return doubt
            made = Chain().visit(copied)
        return made


def _is_straight(place: Place, name: str) -> bool:
    """Whether every change of a local is a plain assignment in the function's outermost block."""
    assert place.function
    for statement in place.function.node.body:
        plain = isinstance(statement, ast.Assign | ast.AnnAssign)
        for node in ast.walk(statement):
            match node:
                case ast.Name(id=found, ctx=ast.Store() | ast.Del()) if found == name and not plain:
                    return False
                case ast.Subscript(value=ast.Name(id=found), ctx=ast.Store() | ast.Del()) if found == name:
                    return False
                case ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr="update" | "setdefault" | "pop" | "append" | "clear")) if found == name:
                    return False
    return True


def _changes(name: str, place: Place) -> bool:
    """Whether a module's name is given a new value after import time."""
    bound = 0
    for other in place.unit.places:
        declared = any(isinstance(n, ast.Global) and name in n.names for n in other.nodes)
        if other.function is None:
            bound += len(assigned(other, name))
        elif declared and assigned(other, name):
            return True
    return bound > 1


def _is_pure(call: ast.Call) -> bool:
    """Calls that give the same at import time as later, for arguments that do."""
    match call.func:
        case ast.Name(id=name):
            return name in {"dict", "list", "tuple", "sorted", "str", "len", "frozenset", "set"}
        case ast.Attribute(attr=name):
            return name in {"join", "format", "strip", "dedent", "values", "keys", "items", "upper", "lower", "replace", "getenv", "version"}
    return False


def _bound_inside(node: ast.AST) -> frozenset[str]:
    """The names that comprehensions and lambdas inside an expression bind."""
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    found |= {arg.arg for n in ast.walk(node) if isinstance(n, ast.Lambda) for arg in n.args.args}
    return frozenset(found)


def is_defined_by(statement: ast.stmt, name: str) -> bool:
    """Whether a module-level statement gives a name its value."""
    match statement:
        case ast.FunctionDef(name=found) | ast.AsyncFunctionDef(name=found) | ast.ClassDef(name=found):
            return found == name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return any((alias.asname or alias.name.partition(".")[0]) == name for alias in names)
    return any(isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id == name for n in ast.walk(statement) if not isinstance(n, Def))


def is_builtin(name: str) -> bool:
    return name in _BUILTINS
