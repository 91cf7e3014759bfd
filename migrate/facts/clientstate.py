"""What a server keeps about its client between requests: capabilities, log level, subscribed URIs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from enum import Enum

from .functions import Function, Module, dotted, targets, walk
from .waiters import CAPABILITIES

_ASKABLE = frozenset(CAPABILITIES.values())
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


@dataclass(frozen=True, eq=False)
class Check:
    """A place that asks whether the client has a capability; `test` is true where it has it, or where it lacks it if `negative`.

    `stored` is the read of the stored value inside `test`. A check that `refuses` raises or answers with an error where
    the capability is missing, and comes before a question that needs it.
    """

    test: ast.expr
    stored: ast.expr
    capability: str
    negative: bool
    refuses: bool
    whole: bool  # all capabilities are kept, not an answer about one


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
    if not _mentions(module.tree, module, "logging/setLevel"):
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
    if not _mentions(module.tree, module, "resources/subscribe"):
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
    found = [node for node in ast.walk(module.tree) if name in map(dotted, targets(node)) and not isinstance(node, ast.AugAssign)]
    if len(found) != 1 or not isinstance(found[0], ast.Assign | ast.AnnAssign):
        return None
    function = module.function_of(found[0])
    return found[0] if function is None or function.short == "__init__" else None


def uses(name: str, module: Module) -> Iterator[tuple[ast.expr, Use]]:
    """Every use of a set by its dotted name, apart from assignments to it."""
    for node in ast.walk(module.tree):
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


def checks(module: Module, asks: Callable[[ast.AST, Function], frozenset[str]]) -> Iterator[Check]:
    """Every read of stored client capabilities. `asks` gives the capabilities that code in a function asks for."""
    for stored in capabilities(module):
        for node, function in reads(stored, module):
            yield from _checked(node, function, stored, module, asks)


def _checked(
    node: ast.expr, function: Function, stored: Stored, module: Module, asks: Callable[[ast.AST, Function], frozenset[str]]
) -> Iterator[Check]:
    whole = is_whole(stored)
    capability = "" if whole else _named(stored.made, module)
    test: ast.expr = node
    negative = False
    parent = module.parents.get(node)
    if whole:
        match parent:
            case ast.BoolOp(op=ast.Or()) if parent.values[0] is node:
                parent = module.parents.get(parent)  # (self.capabilities or {})
        match parent:
            case ast.Compare(left=key, ops=[ast.In() | ast.NotIn() as operator]) if text := module.string(key):
                test, capability, negative = parent, text, isinstance(operator, ast.NotIn)
            case ast.Attribute(attr="get") if isinstance(call := module.parents.get(parent), ast.Call) and call.args:
                test, capability = call, module.string(call.args[0]) or ""
            case ast.Subscript(slice=key):
                test, capability = parent, module.string(key) or ""
            case _:
                yield Check(node, node, "", negative=False, refuses=False, whole=True)
                return
    test, negative = _condition(test, negative, module)
    refuses = _refuses(test, negative, capability, function, module, asks)
    yield Check(test, node, capability, negative=negative, refuses=refuses, whole=whole)


def _condition(test: ast.expr, negative: bool, module: Module) -> tuple[ast.expr, bool]:
    """The largest expression that says the same thing or its opposite."""
    while True:
        parent = module.parents.get(test)
        match parent:
            case ast.UnaryOp(op=ast.Not()):
                test, negative = parent, not negative
            case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as operator], comparators=[ast.Constant(value=None)]) if left is test:
                test, negative = parent, negative != isinstance(operator, ast.Is)
            case ast.Call(func=ast.Name(id="bool")):
                test = parent
            case _:
                return test, negative


def _refuses(
    test: ast.expr, negative: bool, capability: str, function: Function, module: Module, asks: Callable[[ast.AST, Function], frozenset[str]]
) -> bool:
    if capability not in _ASKABLE:
        return False
    node: ast.AST = test
    while isinstance(parent := module.parents.get(node), ast.BoolOp):
        node = parent
    if not isinstance(parent, ast.If) or parent.test is not node:
        return False
    after = list(following(parent, module))
    missing, present = (parent.body, parent.orelse) if negative else (parent.orelse, parent.body)
    if not missing and isinstance(present[-1], ast.Return | ast.Raise):
        missing = after
    if not missing or not is_refusal(missing, module):
        return False
    return any(capability in asks(statement, function) for statement in [*present, *after])


def following(node: ast.stmt, module: Module) -> Iterator[ast.stmt]:
    """The statements that can run after this one in the same function, nearest first."""
    current: ast.AST = node
    for parent in [*module.ancestors(node)]:
        for name in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and current in block:
                yield from (s for s in block[block.index(current) + 1 :] if isinstance(s, ast.stmt))
        current = parent


def is_refusal(block: list[ast.stmt], module: Module) -> bool:
    """Whether a block does nothing but raise, or answer with a JSON-RPC error."""
    *before, last = block
    answer = last.value if isinstance(last, ast.Return) else None
    if isinstance(last, ast.Return) and answer is None and before:
        *before, answering = before
        answer = answering.value if isinstance(answering, ast.Expr) else None
    elif isinstance(last, ast.Expr):
        answer = last.value
    quiet = all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and not _code(s.value) for s in before)
    return quiet and (isinstance(last, ast.Raise) or (answer is not None and _code(answer)))


def _code(node: ast.expr) -> bool:
    return any(
        isinstance(inner, ast.UnaryOp)
        and isinstance(inner.op, ast.USub)
        and isinstance(inner.operand, ast.Constant)
        and inner.operand.value in range(32000, 32769)
        for inner in ast.walk(node)
    )


def _kept(module: Module, key: str, here: Callable[[Function], bool]) -> Iterator[Stored]:
    for function in module.functions.values():
        if not here(function) or not (held := _holders(key, function, module)):
            continue
        for node in function.own:
            if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
                continue
            taken = _taken(node.value, held)
            if taken is None:
                continue
            for target in targets(node):
                if isinstance(target, ast.Name) and not any(isinstance(n, ast.Global) and target.id in n.names for n in function.own):
                    continue
                # A client keeps what its server can do; that is another thing.
                if (place := _place(target, module)) is not None and "server" not in place[0].lower():
                    of_self = isinstance(target, ast.Attribute) and dotted(target.value) == "self"
                    yield Stored(*place, made=node.value, taken=taken, function=function, owner=function.owner if of_self else "")


def _holders(key: str, function: Function, module: Module) -> frozenset[str | ast.expr]:
    """The expressions that are the client's own `key`, and the local names that something of it is assigned to."""
    found: set[str | ast.expr] = {node for node in function.own if isinstance(node, ast.expr) and _is_key(node, key, function, module)}
    if key in function.parameters and function.short != "__init__":
        found.add(key)  # handlers whose arguments are the members of params
    while True:
        more = {name for name, values in function.assigned.items() if name not in found and any(_taken(v, found) for v in values)}
        if not more:
            return frozenset(found)
        found |= more


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
        for inner in ast.walk(module.tree)
        if isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Call) and dotted(inner.value.func) == stored.owner
        for target in targets(inner)
    }
    return root in made or "cap" in stored.name


def _named(node: ast.expr, module: Module) -> str:
    """The one askable capability that an expression speaks of."""
    found = {text for inner in ast.walk(node) if isinstance(inner, ast.Constant) and (text := inner.value) in _ASKABLE}
    return str(found.pop()) if len(found) == 1 else ""


def _mentions(node: ast.AST, module: Module, text: str) -> bool:
    return any(isinstance(inner, ast.Constant | ast.Name | ast.Attribute) and module.string(inner) == text for inner in ast.walk(node))
