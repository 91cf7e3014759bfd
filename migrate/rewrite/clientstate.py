"""Reads what a server kept about its client from the request in progress instead: capabilities, log level, subscribed URIs."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from ..facts.capabilities import Check
from ..facts.clientstate import Stored, Use, initial, is_whole, levels, reads, subscribed, uses
from ..facts.functions import Module, dotted, targets
from ..facts.syntax import descend
from ..facts.waiters import Doubt
from ..rule import Era
from ..source import Span
from . import cut
from .edits import Edit
from .lazy import cst
from .tree import Tree

_UPDATED = "notifications/resources/updated"
_LEVELS = {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
# What a request that names no level gets: the runtime lets none of its messages through.
_SILENT = '"emergency"'


def checked(check: Check, module: Module, era: Era, handle: str) -> Iterator[Edit | Doubt]:
    """One look at the stored capabilities."""
    span, text = module.span(check.test), module.text(check.test)
    parent = module.parents.get(check.test)
    if check.refuses:
        # `MCP.ask` refuses by itself, with the code and the data of this revision; so the old refusal is for old clients.
        free: type[ast.boolop]
        if check.negative:
            free, new = ast.And, f"not {handle}.modern" + (f" and {text}" if era is Era.DUAL else "")
        else:
            free, new = ast.Or, f"{handle}.modern" + (f" or {text}" if era is Era.DUAL else "")
        alone = isinstance(parent, ast.If) or (isinstance(parent, ast.BoolOp) and isinstance(parent.op, free)) or era is Era.MODERN
        yield Edit(span, new if alone else f"({new})")
    elif check.stored is None:
        return
    elif check.whole:
        yield Edit(module.span(check.stored), _asked("client_capabilities", check.stored, "{}", module, era, handle))
    elif check.capability:
        new = f'"{check.capability}" in {handle}.client_capabilities({{}})'
        yield Edit(
            module.span(check.stored), f"({new} if {handle}.modern else {module.text(check.stored)})" if era is Era.DUAL else f"({new})"
        )
    else:
        yield Doubt(module.span(check.stored), "what is kept of the client's capabilities is not understood")


def levelled(module: Module, tree: Tree, era: Era, handle: str) -> Iterator[Edit | Doubt]:
    """The stored log level, where it is read. What a request did not ask for is held back again where it leaves."""
    all_levels = _knows_all_levels(module)
    for stored in levels(module):
        for node, _ in reads(stored, module):
            span, text = module.span(node), module.text(node)
            if all_levels and is_whole(stored):
                yield Edit(span, _asked("log_level", node, _first_value(stored, module) or _SILENT, module, era, handle))
            elif (found := _decides(node, module)) is not None:
                yield from _passed(*found, module, tree, era, handle)
            elif _is_known_everywhere(stored, module):
                made, taken = module.span(stored.made), module.span(stored.taken)
                new = f'{module.source.slice(Span(made.start, taken.start))}"debug"{module.source.slice(Span(taken.end, made.end))}'
                yield Edit(span, f"({new} if {handle}.modern else {text})" if era is Era.DUAL else new)
            else:
                yield Doubt(span, "how the log level is kept is not understood")


def _asked(what: str, node: ast.expr, otherwise: str, module: Module, era: Era, handle: str) -> str:
    """What the request in progress says, and for older clients what is kept of them."""
    if era is Era.MODERN:
        return f"{handle}.{what}({otherwise})"
    if isinstance(node, ast.Attribute) and dotted(node.value) not in ("", "self", "cls"):
        # What is kept in a session is not there without one.
        asked = f"{handle}.{what}({otherwise}) if {handle}.modern else {module.text(node)}"
        around = module.parents.get(node)
        return asked if isinstance(around, ast.Call) and node in around.args else f"({asked})"
    return f"{handle}.{what}({module.text(node)})"


def _knows_all_levels(module: Module) -> bool:
    """Whether a collection of this module ranks every level; an incomplete one fails for the levels that it lacks."""
    return any(
        {module.string(n) for n in descend(node) if isinstance(n, ast.Constant)} >= _LEVELS
        for kind in (ast.List, ast.Tuple, ast.Dict)
        for node in module.nodes(kind)
    )


def _decides(node: ast.expr, module: Module) -> tuple[ast.If, bool] | None:
    """The `if` that compares a level and nothing else, and whether its branch sends the message or drops it."""
    test: ast.AST = node
    while not isinstance(test, ast.Compare):
        test = module.parents[test]
        if not isinstance(test, ast.expr):
            return None
    while isinstance(parent := module.parents.get(test), ast.UnaryOp) and isinstance(parent.op, ast.Not):
        test = parent
    if not isinstance(parent, ast.If) or parent.test is not test or parent.orelse:
        return None
    calls = any(isinstance(inner, ast.Call) for statement in parent.body for inner in descend(statement))
    return parent, calls or not isinstance(parent.body[-1], ast.Return | ast.Continue)


def _passed(statement: ast.If, sends: bool, module: Module, tree: Tree, era: Era, handle: str) -> Iterator[Edit]:
    """Lets everything through that a request of the new revision logs."""
    start = module.span(statement).start
    found = tree.statement(Span(start, start + 1))
    if era is Era.DUAL or not isinstance(found, cst.If):
        test = module.span(statement.test)
        yield Edit(
            test, f"{handle}.modern or {module.text(statement.test)}" if sends else f"not {handle}.modern and {module.text(statement.test)}"
        )
    elif sends:
        yield cut.unwrapped(tree, found, found.body, ())
    else:
        yield from cut.statement(tree, found)


def subscriptions(module: Module, handle: str) -> Iterator[Edit | Doubt | int]:
    """The set of subscribed URIs; a number is the offset before which the module must define the handle."""
    announces = any(node.value == _UPDATED for node in module.nodes(ast.Constant))
    for kept in subscribed(module):
        name = dotted(kept)
        start = initial(name, module) if name else None
        found = list(uses(name, module)) if name else []
        if start is not None and start.value is not None and _is_empty_set(start.value):
            target = next(targets(start))
            yield Edit(module.span(start), f"{module.text(target)} = {handle}.subscribed")
            if module.function_of(start) is None:
                yield module.span(_outermost(start, module)).start
            continue
        if not announces:
            continue
        if not name or not all(use in (Use.MEMBER, Use.EACH) or _fills(node, module) for node, use in found):
            yield Doubt(module.span(kept), "who is subscribed to what is kept in a way that is not understood")
            continue
        for node, use in found:
            text = module.text(node)
            if use is Use.EACH:
                yield Edit(module.span(node), f"{{*{text}, *{handle}.subscribed}}")
            elif use is Use.MEMBER and isinstance(test := module.parents.get(node), ast.Compare):
                word, joint = ("in", "or") if isinstance(test.ops[0], ast.In) else ("not in", "and")
                yield Edit(module.span(test), f"({module.text(test)} {joint} {module.text(test.left)} {word} {handle}.subscribed)")


def _first_value(stored: Stored, module: Module) -> str:
    assignments: list[ast.Assign | ast.AnnAssign] = [*module.nodes(ast.Assign), *module.nodes(ast.AnnAssign)]
    for node in assignments:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for target in targets(node):
                if f".{getattr(target, 'attr', '')}" == stored.name or dotted(target) == stored.name:
                    return module.text(node.value)
    return ""


def _is_known_everywhere(stored: Stored, module: Module) -> bool:
    """Whether the expression means the same wherever it stands."""
    local = stored.function.assigned.keys() | set(stored.function.parameters)
    inside = {id(node) for node in descend(stored.taken)}
    return all(
        node.id not in local or (node.id == "self" and bool(stored.owner)) or hasattr(builtins, node.id)
        for node in descend(stored.made)
        if isinstance(node, ast.Name) and id(node) not in inside
    )


def _is_empty_set(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=func, args=[], keywords=[]):
            return dotted(func.value if isinstance(func, ast.Subscript) else func) == "set"
    return False


def _outermost(node: ast.stmt, module: Module) -> ast.stmt:
    while isinstance(parent := module.parents.get(node), ast.stmt):
        node = parent
    return node


def _fills(node: ast.expr, module: Module) -> bool:
    """Whether a use only adds or takes away an entry."""
    parent = module.parents.get(node)
    match parent:
        case ast.Attribute(attr="add" | "discard" | "remove" | "append" | "pop"):
            return isinstance(module.parents.get(parent), ast.Call)
        case ast.Subscript(ctx=ast.Store() | ast.Del()):
            return True
    return False
