"""What would stop a question on its way from a tool to the boundary, or lose the request that it belongs to."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .asking import Asking
from .functions import Function, Module, dotted, targets, walk
from .syntax import descend
from .waiters import Doubt

_ELSEWHERE = frozenset(
    {
        "submit",
        "run_in_executor",
        "Thread",
        "Process",
        "Timer",
        "create_task",
        "ensure_future",
        "start_soon",
        "run_coroutine_threadsafe",
        "map",
    }
)
_TASKS = frozenset({"create_task", "ensure_future"})
_NO_REQUESTS = frozenset({"initialize", "notifications/initialized", "notifications/roots/list_changed"})
_TABLES = ast.Dict | ast.List | ast.Tuple | ast.Call


def swallowed(asking: Asking, boundary: frozenset[str], *, tasks: bool = False) -> Iterator[Doubt]:
    """What would stop a question on its way from a tool to the boundary, or lose the request it belongs to.

    With `tasks` the boundary is told of requests that end in a task of their own.
    """
    module = asking.module
    elsewhere = _ELSEWHERE - _TASKS if tasks else _ELSEWHERE
    between = _between(asking, boundary)
    for name in between:
        function = module.functions[name]
        for node in function.own:
            match node:
                case ast.Try(body=body, handlers=handlers, finalbody=final) if any(_may_ask(s, function, asking, between) for s in body):
                    for handler in handlers:
                        if _catches_all(handler) and not _raises_again(handler):
                            yield Doubt(
                                module.span(handler), "this catches everything, also what ends a request in order to ask the client"
                            )
                    for statement in final:
                        for inner in walk(statement):
                            if isinstance(inner, ast.Return | ast.Break | ast.Continue):
                                yield Doubt(
                                    module.span(inner), "leaving from `finally` drops what ends a request in order to ask the client"
                                )
                case ast.Call(args=args, keywords=keywords):
                    called = dotted(node.func).rsplit(".", 1)[-1] or getattr(node.func, "attr", "")
                    together = any(k.arg == "return_exceptions" and isinstance(k.value, ast.Constant) and k.value.value for k in keywords)
                    away = called in elsewhere or together or (called == "suppress" and "BaseException" in map(dotted, args))
                    given = [*args, *(k.value for k in keywords)]
                    if away and (called == "suppress" or any(_may_ask(argument, function, asking, between) for argument in given)):
                        yield Doubt(module.span(node), "a question that is asked in there would not reach the request that it belongs to")


def _between(asking: Asking, boundary: frozenset[str]) -> frozenset[str]:
    """The functions that may stand between a boundary and a question, both included."""
    module = asking.module
    if not asking.askers:
        return frozenset()
    entries = {module.functions[name].short for name in boundary if name in module.functions}
    reaches = {name: _mentioned(function) | _looked_up(function, module) for name, function in module.functions.items()}
    # What calls the boundary stands outside: there, a question has become a reply.
    inside = {name for name in module.functions if not entries & reaches[name]} | boundary
    found = {waiter.function.name for waiter in asking.waiters}
    while True:
        shorts = {module.functions[name].short for name in found}
        more = {name for name in inside - found if reaches.get(name, set()) & shorts}
        if not more:
            return frozenset(found)
        found |= more


def _mentioned(function: Function) -> set[str]:
    return {node.id if isinstance(node, ast.Name) else node.attr for node in function.own if isinstance(node, ast.Name | ast.Attribute)}


def _looked_up(function: Function, module: Module) -> set[str]:
    """What a function that calls what it looked up may reach: everything in a table, and everything that is decorated."""
    if not any(_is_dynamic(node, function, module) for node in function.own):
        return set()
    found = {other.short for other in module.functions.values() if other.node.decorator_list}
    if "getattr" in _mentioned(function):
        found |= {other.short for other in module.functions.values() if other.owner == function.owner}
    for node in descend(module.tree):
        match node:
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value) if isinstance(value, _TABLES):
                found |= _names_in(value)
    return found


def _names_in(value: ast.expr) -> set[str]:
    return {node.id if isinstance(node, ast.Name) else node.attr for node in descend(value) if isinstance(node, ast.Name | ast.Attribute)}


def _is_dynamic(node: ast.AST, function: Function, module: Module) -> bool:
    if not isinstance(node, ast.Call) or module.callee(node, function) is not None:
        return False
    if isinstance(node.func, ast.Name):
        return (
            any(isinstance(t, ast.Name) and t.id == node.func.id for s in function.own for t in targets(s))
            or node.func.id in function.parameters
        )
    return isinstance(node.func, ast.Subscript | ast.Call)


def _may_ask(node: ast.AST, function: Function, asking: Asking, between: frozenset[str]) -> bool:
    shorts = {asking.module.functions[name].short for name in between}
    for inner in walk(node):
        if isinstance(inner, ast.Name) and inner.id in shorts and inner.id not in function.assigned:
            return True
        if isinstance(inner, ast.Attribute) and inner.attr in shorts:
            return True
        if _is_dynamic(inner, function, asking.module):
            return True
        # A looked-up handler that is handed on: pool.submit(handler, arguments).
        if isinstance(inner, ast.Name) and any(
            isinstance(s, ast.Assign)
            and isinstance(s.value, ast.Subscript | ast.Call)
            and any(dotted(t) == inner.id for t in s.targets)
            and _looks_up(s.value, asking)
            for s in function.own
        ):
            return True
    return False


def _looks_up(value: ast.expr, asking: Asking) -> bool:
    table = value.value if isinstance(value, ast.Subscript) else value.func if isinstance(value, ast.Call) else value
    names = _names_in(table)
    shorts = {asking.module.functions[name].short for name in asking.askers}
    return "getattr" in names or any(
        isinstance(node, ast.Assign | ast.AnnAssign)
        and node.value is not None
        and any(dotted(target).rsplit(".", 1)[-1] in names for target in targets(node))
        and bool(shorts & _names_in(node.value))
        for node in descend(asking.module.tree)
    )


def _catches_all(handler: ast.excepthandler) -> bool:
    kind = handler.type if isinstance(handler, ast.ExceptHandler) else None
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(k is None or dotted(k).rsplit(".", 1)[-1] == "BaseException" for k in kinds)


def _raises_again(handler: ast.excepthandler) -> bool:
    return isinstance(handler, ast.ExceptHandler) and isinstance(handler.body[-1], ast.Raise) and handler.body[-1].exc is None


def untimely(asking: Asking) -> Iterator[Doubt]:
    """Questions that are asked outside a request, where nothing can be ended in order to ask."""
    module = asking.module
    handlers: dict[str, str] = {}
    for table in module.nodes(ast.Dict):
        handlers |= {
            dotted(v).rsplit(".", 1)[-1]: text for k, v in zip(table.keys, table.values, strict=True) if (text := module.string(k))
        }
    for function in module.functions.values():
        for node in function.own:
            if not isinstance(node, ast.Call) or not asking.needs_of(node, function):
                continue
            around = {text for parent in module.ancestors(node) for text in _chosen(parent, node, module)}
            if around & _NO_REQUESTS or handlers.get(function.short) in _NO_REQUESTS:
                yield Doubt(
                    module.span(node), "this asks the client outside a request; each request that needs the answer has to ask for itself"
                )


def _chosen(parent: ast.AST, node: ast.AST, module: Module) -> Iterator[str]:
    """The methods that a branch around the node is for."""
    match parent:
        case ast.If(test=ast.Compare(ops=[ast.Eq() | ast.In()]) as test, body=body) if any(node in walk(s) for s in body):
            named = [test.left, *test.comparators]
        case ast.match_case(pattern=pattern):
            named = [value.value for value in descend(pattern) if isinstance(value, ast.MatchValue)]
        case _:
            named = []
    for value in named:
        elements = value.elts if isinstance(value, ast.Tuple | ast.List | ast.Set) else [value]
        yield from (text for element in elements if (text := module.string(element)))
