"""Looks at what the client can do: every read of its stored capabilities, and which of them refuse."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .clientstate import Stored, capabilities, is_whole, reads
from .functions import Function, Module, bound, dotted, following
from .syntax import descend
from .waiters import CAPABILITIES, requests

ASKABLE = frozenset(CAPABILITIES.values())
Asks = Callable[[ast.AST, Function], frozenset[str]]
"""The capabilities that a piece of code in a function asks for."""


@dataclass(frozen=True, eq=False)
class Check:
    """A place that asks whether the client has a capability; `test` is true where it has it, or where it lacks it if `negative`.

    `stored` is the read of the stored value, None where a function or a local name stands between. A check that `refuses`
    raises or answers with an error where the capability is missing, and comes before a question that needs it.
    """

    test: ast.expr
    stored: ast.expr | None
    capability: str
    negative: bool
    refuses: bool
    whole: bool  # all capabilities are kept, not an answer about one


def checks(module: Module, asks: Asks) -> Iterator[Check]:
    """Every read of stored client capabilities, and every refusal that depends on one."""
    for stored in capabilities(module):
        for node, function in reads(stored, module):
            yield from _checked(node, function, stored, module, asks)


def _checked(node: ast.expr, function: Function, stored: Stored, module: Module, asks: Asks) -> Iterator[Check]:
    if is_whole(stored):
        test, capability, negative = _looked_at(node, function, module)
    else:
        test, negative = _condition(node, False, module)
        capability = _named(stored.made, module)
    refuses = test is not node and _refuses(test, negative, capability, function, module, asks)
    refuses = refuses or (not is_whole(stored) and _refuses(test, negative, capability, function, module, asks))
    yield Check(test, node, capability.strip("()<>"), negative=negative, refuses=refuses, whole=is_whole(stored))
    holder: ast.AST | None = module.parents.get(test)
    if isinstance(holder, ast.BoolOp) and isinstance(holder.op, ast.Or):
        holder = module.parents.get(holder)
    uses: list[tuple[ast.expr, Function]]
    match holder:
        case ast.Assign(targets=[ast.Name(id=name)]):
            uses = [
                (inner, function)
                for inner in function.own
                if isinstance(inner, ast.Name) and inner.id == name and isinstance(inner.ctx, ast.Load)
            ]
        case ast.Return():
            uses = list(_calls(function, module))
        case _:
            return
    for use, user in uses:
        if test is node:
            seen, about, lacks = _looked_at(use, user, module)
        else:
            seen, lacks = _condition(use, negative, module)
            about = capability
        if isinstance(use, ast.Call) and about.startswith("("):
            about = module.string(bound(use, function, about.strip("()"))) or ""
        if _refuses(seen, lacks, about, user, module, asks):
            yield Check(seen, None, about, negative=lacks, refuses=True, whole=False)


def _calls(function: Function, module: Module) -> Iterator[tuple[ast.expr, Function]]:
    """Where a function is called, or read as a property."""
    is_property = any(dotted(d).endswith("property") for d in function.node.decorator_list)
    for caller in module.functions.values():
        yield from ((call, caller) for call, target in module.calls(caller) if target is function)
        if is_property:
            yield from ((n, caller) for n in caller.own if isinstance(n, ast.Attribute) and n.attr == function.short)


def _looked_at(node: ast.expr, function: Function, module: Module) -> tuple[ast.expr, str, bool]:
    """The condition around a read of all capabilities, the one that it is about, and its sense.

    "(name)" is the one that a parameter names, "<name>" the one that a method needs which is a parameter.
    """
    parent = module.parents.get(node)
    if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.Or) and parent.values[0] is node:
        parent = module.parents.get(parent)  # (self.capabilities or {})
    negative = False
    match parent:
        case ast.Compare(left=key, ops=[ast.In() | ast.NotIn() as operator]):
            test: ast.expr = parent
            negative = isinstance(operator, ast.NotIn)
        case ast.Attribute(attr="get") if isinstance(call := module.parents.get(parent), ast.Call) and call.args:
            test, key = call, call.args[0]
        case ast.Subscript(slice=key):
            test = parent
        case _:
            return node, "", False
    test, negative = _condition(test, negative, module)
    if isinstance(key, ast.Name) and key.id in function.parameters:
        return test, f"({key.id})", negative
    if (method := _of_method(key, function, module)) is not None:
        return test, f"<{method}>", negative
    return test, module.string(key) or "", negative


def _of_method(key: ast.expr, function: Function, module: Module) -> str | None:
    """The parameter whose capability a key is: `method.split("/")[0]`, as it stands or under a name."""
    values = function.assigned.get(key.id, []) if isinstance(key, ast.Name) else [key]
    match values:
        case [ast.Subscript(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="split" | "partition"), args=[by]), slice=at)]:
            first = isinstance(at, ast.Constant) and at.value == 0
            return name if first and module.string(by) == "/" and name in function.parameters else None
    return None


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


def _refuses(test: ast.expr, negative: bool, capability: str, function: Function, module: Module, asks: Asks) -> bool:
    node: ast.AST = test
    while isinstance(parent := module.parents.get(node), ast.BoolOp):
        node = parent
    if not isinstance(parent, ast.If) or parent.test is not node:
        return False
    after = list(following(parent, module))
    missing, present = (parent.body, parent.orelse) if negative else (parent.orelse, parent.body)
    if not missing and isinstance(present[-1], ast.Return | ast.Raise):
        missing = after
    if not missing or not is_refusal(missing):
        return False
    if capability.startswith("<"):
        # The function goes on to send the very request whose capability it looks for.
        name = capability.strip("<>")
        own = [request for request in requests(function, module) if isinstance(request.method, ast.Name) and request.method.id == name]
        return any(request.node in descend(statement) for request in own for statement in after)
    if capability.startswith("("):
        # `self.require("sampling")`: every caller must go on to ask for just that.
        calls = list(_calls(function, module))
        return bool(calls) and all(_asks_later(call, caller, function, capability.strip("()"), module, asks) for call, caller in calls)
    return capability in ASKABLE and any(capability in asks(statement, function) for statement in [*present, *after])


def _asks_later(call: ast.expr, caller: Function, function: Function, parameter: str, module: Module, asks: Asks) -> bool:
    wanted = module.string(bound(call, function, parameter)) if isinstance(call, ast.Call) else None
    statement = next(node for node in module.ancestors(call) if isinstance(node, ast.stmt))
    return wanted in ASKABLE and any(wanted in asks(later, caller) for later in following(statement, module))


def is_refusal(block: Sequence[ast.stmt]) -> bool:
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
        for inner in descend(node)
    )


def _named(node: ast.expr, module: Module) -> str:
    """The one askable capability that an expression speaks of."""
    found = {text for inner in descend(node) if isinstance(inner, ast.Constant) and (text := inner.value) in ASKABLE}
    return str(found.pop()) if len(found) == 1 else ""


def unknown(checks: Sequence[Check], module: Module) -> Iterator[ast.expr]:
    """Conditions about an askable capability that read something else than what is known to be stored."""
    seen = {id(inner) for check in checks for inner in descend(check.test)}
    kept = {id(inner) for stored in capabilities(module) for inner in descend(stored.function.node)}
    for node in descend(module.tree):
        match node:
            case ast.Compare(
                left=key, ops=[ast.In() | ast.NotIn()], comparators=[ast.Name() | ast.Attribute() | ast.Subscript() | ast.Call()]
            ):
                pass
            case ast.Call(func=ast.Attribute(attr="get"), args=[key, *_]):
                pass
            case _:
                continue
        if module.string(key) in ASKABLE and id(node) not in seen | kept and module.function_of(node) is not None:
            yield node
