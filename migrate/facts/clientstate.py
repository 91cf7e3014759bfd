"""What a server keeps about its client between requests: capabilities, log level, subscribed URIs, and who reads it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from enum import Enum

from .functions import Function, Module, bound, dotted, is_shared, targets, walk
from .syntax import descend

_FALLBACKS = (ast.Dict, ast.Constant)


@dataclass(frozen=True, eq=False)
class Stored:
    """Where a value from the client is kept: a global, an attribute, or a key of one of these.

    `made` is the expression that the value was made with and `taken` the part of it that is the client's own value; both
    are the same node where it is kept as it came. `owner` is the class of an attribute of `self`.
    """

    name: str  # dotted; "self.level" and "session.level" are both ".level"
    key: str  # for STATE["level"]
    made: ast.expr
    taken: ast.expr
    function: Function
    owner: str = ""


class Use(str, Enum):
    """What code does with the set of subscribed URIs."""

    MEMBER = "member"  # uri in subscribed
    EACH = "each"  # for uri in subscribed
    OTHER = "other"


def capabilities(module: Module) -> Iterator[Stored]:
    """Where the client's capabilities are kept, as a whole or as answers about single ones."""
    return _kept(module, "capabilities", lambda function: True)


def levels(module: Module) -> Iterator[Stored]:
    """Where the level of `logging/setLevel` is kept."""
    if not _is_said("logging/setLevel", module):
        return iter(())
    return _kept(
        module, "level", lambda function: "level" in function.short.lower() or _mentions(function.node, module, "logging/setLevel")
    )


def reads(stored: Stored, module: Module) -> Iterator[tuple[ast.expr, Function]]:
    """Every place that reads a stored value, apart from the function that stores it."""
    for function in module.functions.values():
        if function is stored.function:
            continue
        local = function.assigned.keys() | set(function.parameters)
        for node in function.own:
            if (
                isinstance(node, ast.expr)
                and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
                and _place(node, module) == (stored.name, stored.key)
            ):
                if isinstance(node, ast.Name) and node.id in local:
                    continue
                if not stored.owner or _is_instance(node, stored, function, module):
                    yield node, function


def is_whole(stored: Stored) -> bool:
    """Whether the value is kept as the client sent it, a default aside."""
    return _unwrapped(stored.made) is stored.taken


def subscribed(module: Module) -> Iterator[ast.expr]:
    """The targets `X` of `X.add(uri)` in code that answers `resources/subscribe`; one for each name."""
    seen: set[str] = set()
    if not _is_said("resources/subscribe", module):
        return
    for function in module.functions.values():
        if not ("subscribe" in function.short.lower() or _mentions(function.node, module, "resources/subscribe")):
            continue
        for node in function.own:
            match node:
                case ast.Call(func=ast.Attribute(value=kept, attr="add" | "append"), args=[uri]) if _has_key(uri, "uri", function, module):
                    pass
                case ast.Assign(targets=[ast.Subscript(value=kept, slice=uri)]) if _has_key(uri, "uri", function, module):
                    pass
                case _:
                    continue
            if ast.unparse(kept) not in seen:
                seen.add(ast.unparse(kept))
                yield kept


def initial(name: str, module: Module) -> ast.Assign | ast.AnnAssign | None:
    """The only statement that assigns to `name`, if it stands at module level, in a class body or in `__init__`."""
    found = [node for node in descend(module.tree) if name in map(dotted, targets(node)) and not isinstance(node, ast.AugAssign)]
    if len(found) != 1 or not isinstance(found[0], ast.Assign | ast.AnnAssign):
        return None
    function = module.function_of(found[0])
    return found[0] if function is None or function.short == "__init__" else None


def uses(name: str, module: Module) -> Iterator[tuple[ast.expr, Use]]:
    """Every use of a set by its dotted name, apart from assignments to it."""
    for node in descend(module.tree):
        if not isinstance(node, ast.Name | ast.Attribute) or dotted(node) != name or not isinstance(node.ctx, ast.Load):
            continue
        parent = module.parents.get(node)
        match parent:
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[value]) if value is node:
                yield node, Use.MEMBER
            case ast.For(iter=value) | ast.comprehension(iter=value) if value is node:
                yield node, Use.EACH
            case ast.Call(func=ast.Name(id="list" | "sorted" | "set" | "tuple" | "frozenset"), args=[value]) if value is node:
                yield node, Use.EACH
            case _:
                yield node, Use.OTHER


def _kept(module: Module, key: str, here: Callable[[Function], bool]) -> Iterator[Stored]:
    if key.encode() not in module.source.utf8:
        return
    for function in module.functions.values():
        if not here(function) or not (held := _holders(key, function, module)):
            continue
        for node in function.own:
            match node:
                case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                    kept = list(targets(node))
                case ast.Call(func=ast.Attribute(value=receiver, attr="update"), args=[value]):
                    kept = [receiver]
                case _:
                    continue
            taken = _taken(value, held)
            if taken is None:
                continue
            for target in kept:
                if isinstance(target, ast.Name) and target.id in function.assigned and not is_shared(target.id, function):
                    continue
                # A client keeps what its server can do; that is another thing.
                if (place := _place(target, module)) is not None and "server" not in place[0].lower():
                    of_self = isinstance(target, ast.Attribute) and dotted(target.value) == "self"
                    yield Stored(*place, made=value, taken=taken, function=function, owner=function.owner if of_self else "")


def _holders(key: str, function: Function, module: Module) -> frozenset[str | ast.expr]:
    """The expressions that are the client's own `key`, and the local names that something of it is assigned to."""
    found: set[str | ast.expr] = {node for node in function.own if isinstance(node, ast.expr) and _is_key(node, key, function, module)}
    if key in function.parameters and (function.short != "__init__" or _is_given(key, function, module)):
        found.add(key)  # handlers whose arguments are the members of params
    while True:
        more = {name for name, values in function.assigned.items() if name not in found and any(_taken(v, found) for v in values)}
        if not more:
            return frozenset(found)
        found |= more


def _is_given(key: str, function: Function, module: Module) -> bool:
    """Whether all objects of a class are made with the client's own `key`: what else they are made with is the server's."""
    made = [
        (call, maker)
        for maker in module.functions.values()
        if maker is not function
        for call in maker.own
        if isinstance(call, ast.Call) and dotted(call.func) == function.owner
    ]
    given = [(bound(call, function, key), maker) for call, maker in made]
    return bool(given) and all(value is not None and _taken(value, _holders(key, maker, module)) for value, maker in given)


def _taken(value: ast.expr, held: Set[str | ast.expr]) -> ast.expr | None:
    """The part of a value that is the client's own: `params.get("level", "info")`, or a local name for that."""
    return next((n for n in walk(value) if isinstance(n, ast.expr) and (n in held or (isinstance(n, ast.Name) and n.id in held))), None)


def _is_key(node: ast.expr, key: str, function: Function, module: Module) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[name, *_]) | ast.Subscript(value=value, slice=name):
            if module.string(name) != key:
                return False
        case _:
            return False
    # The client's value comes from what the function was given, the server's own from a constant or an attribute.
    root = value
    while not isinstance(root, ast.Name):
        match root:
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner) | ast.BoolOp(values=[inner, *_]):
                root = inner
            case _:
                return False
    return root.id in function.parameters or root.id in function.assigned


def _has_key(node: ast.expr, key: str, function: Function, module: Module) -> bool:
    return _taken(node, _holders(key, function, module)) is not None


def _place(node: ast.expr, module: Module) -> tuple[str, str] | None:
    match node:
        case ast.Name(id=name):
            return name, ""
        case ast.Attribute(attr=attr):
            return f".{attr}", ""
        case ast.Subscript(value=ast.Name() | ast.Attribute() as value, slice=key) if text := module.string(key):
            base = _place(value, module)
            return (base[0], text) if base else None
        case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as value, attr="get"), args=[key, *_]) if text := module.string(
            key
        ):
            base = _place(value, module)
            return (base[0], text) if base else None
    return None


def _unwrapped(node: ast.expr) -> ast.expr:
    """Without a default: `x or {}`, `dict(x)`, `x.lower()`."""
    match node:
        case ast.BoolOp(op=ast.Or(), values=[value, other]) if isinstance(other, _FALLBACKS):
            return _unwrapped(value)
        case (
            ast.Call(func=ast.Name(id="dict" | "str"), args=[value])
            | ast.Call(func=ast.Attribute(value=value, attr="lower" | "copy"), args=[])
        ):
            return _unwrapped(value)
    return node


def _is_instance(node: ast.expr, stored: Stored, function: Function, module: Module) -> bool:
    """Whether an attribute is read from an object of the class that keeps it; `record.level` is something else."""
    if not isinstance(node, ast.Attribute):
        return True
    root = dotted(node.value)
    if root == "self":
        return function.owner == stored.owner or "cap" in stored.name
    made = {
        dotted(target)
        for inner in module.nodes(ast.Assign)
        if isinstance(inner.value, ast.Call) and dotted(inner.value.func) == stored.owner
        for target in targets(inner)
    }
    return root in made or "cap" in stored.name


def _is_said(text: str, module: Module) -> bool:
    """Whether a text is spelled anywhere in the module, as `_mentions` would find out with a walk over all of it."""
    return any(node.value == text for node in module.nodes(ast.Constant))


def _mentions(node: ast.AST, module: Module, text: str) -> bool:
    return any(isinstance(inner, ast.Constant | ast.Name | ast.Attribute) and module.string(inner) == text for inner in descend(node))
