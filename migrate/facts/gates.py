"""Code that refuses requests for what did not happen before them, and functions that stand behind a stateless boundary."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..source import Source
from .functions import Def, Module, dotted, targets, walk
from .model import Gate
from .syntax import descend

_HANDSHAKE = frozenset({"initialize", "notifications/initialized", "initialized"})
_STATE = re.compile(r"init|ready|state|status|phase|handsh|greet|connect", re.IGNORECASE)
BOUNDARY_MODULE = "mcp_stateless.py"
"""The name of the file that `fix` writes beside a server."""
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class Condition(NamedTuple):
    """A part of a condition that says whether the handshake has happened: `seen` when it holds after it, else before it."""

    node: ast.expr
    seen: bool


def gates(module: Module) -> Iterator[Gate]:
    """The handshake gates of a module: requests refused before initialize, and a first message that has to be initialize."""
    for refusal in refusals(module):
        yield Gate(module.span(refusal.node), "initialized", _scope(module, refusal.node))
    for node in first_messages(module):
        around = module.parents[node]
        words = descend(around.test) if isinstance(around, ast.If) else ()
        asked = next((n.value for n in words if isinstance(n, ast.Constant) and _is_handshake(n)), "")
        yield Gate(module.span(node), "first-message", _scope(module, node), expects=str(asked))


def conditions(module: Module) -> Iterator[Condition]:
    """Everything outside of the handshake's own code that is done, or not done, because the handshake has happened."""
    flags = _flags(module)
    if not flags:
        return
    named: list[ast.Name | ast.Attribute] = [*module.nodes(ast.Name), *module.nodes(ast.Attribute)]
    handshake: frozenset[ast.AST] | None = None
    for node in named:
        if not isinstance(node.ctx, ast.Load) or _flag(node) not in flags:
            continue
        parent = module.parents[node]
        whole = parent if isinstance(parent, ast.Compare) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)) else node
        seen = _reads(whole, flags)
        if seen is None or (test := _test_around(module, whole)) is None or _is_wired(test):
            continue
        if handshake is None:
            handshake = _handshake(module)
        if node not in handshake:
            yield Condition(whole, seen)


def refusals(module: Module) -> Iterator[Condition]:
    """The conditions under which a request is refused, because it comes before the handshake."""
    for condition in conditions(module):
        child: ast.AST = condition.node
        while isinstance(parent := module.parents[child], ast.BoolOp):
            child = parent
        match parent:
            case ast.If(body=body, orelse=orelse):
                refusing = orelse if condition.seen else body
                if refusing and _refuses(refusing):
                    yield condition
            case ast.match_case() if condition.seen:
                yield condition


def first_messages(module: Module) -> Iterator[ast.stmt]:
    """What ends the process, or the reading of messages, when the first message is not the one of the handshake."""
    for node in module.nodes(ast.If):
        match node:
            case ast.If(test=ast.Compare(ops=[ast.NotEq()]) as test, body=body) if _names_handshake(test):
                if leaving := next((s for s in body if isinstance(s, ast.Raise) or _exits([s])), None):
                    yield leaving


class Boundaries(NamedTuple):
    """The boundary objects of a module, and which functions stand behind them, its own and imported ones."""

    makes: frozenset[str]
    own: frozenset[str]
    borrowed: Mapping[str, frozenset[str]]  # dotted name of the imported object -> functions


def boundaries(module: Module, imports: Mapping[str, str]) -> Boundaries:
    """Functions that are decorated with a boundary, or that call `begin` of one. Only an import tells whether an object is one."""
    makes = frozenset(_objects(module, imports))
    behind: dict[str, set[str]] = {}
    for function in module.functions.values():
        for decorator in function.node.decorator_list:
            name = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator)
            if name.endswith(".boundary"):
                behind.setdefault(name.removesuffix(".boundary"), set()).add(function.name)
    for node in module.nodes(ast.Call):
        match node:
            case ast.Call(func=ast.Attribute(attr="begin", value=value)) if name := dotted(value):
                behind.setdefault(name, set()).add(_scope(module, node))
    own = frozenset(function for name, functions in behind.items() if name in makes for function in functions)
    borrowed = {
        imports[head] + name.removeprefix(head): frozenset(functions)
        for name, functions in behind.items()
        if name not in makes and (head := name.partition(".")[0]) in imports
    }
    return Boundaries(makes, own, borrowed)


def is_boundary_module(source: Source) -> bool:
    """Whether this is the module that `fix` writes: it speaks both revisions for its server, and is none itself."""
    return source.path.endswith(BOUNDARY_MODULE) and b"class Stateless" in source.utf8


def _objects(module: Module, imports: Mapping[str, str]) -> Iterator[str]:
    """The names that hold a `Stateless(...)` of a boundary module."""
    for node in module.nodes(ast.Assign):
        match node:
            case ast.Assign(value=ast.Call(func=func)):
                head, _, rest = dotted(func).partition(".")
                if f"{imports.get(head, '')}.{rest}".rstrip(".").endswith("mcp_stateless.Stateless"):
                    yield from map(dotted, targets(node))


def _flags(module: Module) -> dict[str, set[str]]:
    """Names that code of the handshake sets to say that it has happened, with the source text of what it sets them to."""
    found: dict[str, set[str]] = {}
    handshake: frozenset[ast.AST] | None = None
    stored: list[ast.Assign | ast.AnnAssign] = [*module.nodes(ast.Assign), *module.nodes(ast.AnnAssign)]
    for node in stored:
        if not isinstance(node.value, ast.Constant | ast.Attribute):
            continue
        for target in targets(node):
            name = _flag(target)
            says_so = isinstance(node.value, ast.Constant) and node.value.value is True
            if name and (says_so or _STATE.search(name)):
                if handshake is None:
                    handshake = _handshake(module, _handlers(module))
                if node in handshake:
                    found.setdefault(name, set()).add(ast.unparse(node.value))
    return {name: values for name, values in found.items() if values - {"False", "None"}}


def _handshake(module: Module, handlers: frozenset[str] = frozenset()) -> frozenset[ast.AST]:
    """What runs only for initialize or its notification: inside such a branch, or in a handler of that name."""
    inside: list[ast.AST] = []
    for branch in module.nodes(ast.If):
        if _names_handshake(branch.test):
            inside += branch.body
    for case in module.nodes(ast.match_case):
        if _names_handshake_pattern(case):
            inside.append(case)
    for function in module.functions.values():
        name = function.short
        if name != "__init__" and ("initialize" in name.lower() or name in handlers or _is_decorated(function.node)):
            inside += function.node.body
    return frozenset(node for around in inside for node in walk(around))


def _handlers(module: Module) -> frozenset[str]:
    """The names of functions that a table, a registration or a branch reaches for the handshake."""
    found: set[str] = set()
    for table in module.nodes(ast.Dict):
        found |= {
            _last(v)
            for k, v in zip(table.keys, table.values, strict=True)
            if k and _is_handshake(k) and isinstance(v, ast.Name | ast.Attribute)
        }
    for call in module.nodes(ast.Call):
        match call.args:
            case [first, ast.Name() | ast.Attribute() as handler, *_] if _is_handshake(first):
                found.add(_last(handler))
    for row in module.nodes(ast.Assign):
        match row:
            case ast.Assign(targets=[ast.Subscript(slice=key)], value=ast.Name() | ast.Attribute() as handler) if _is_handshake(key):
                found.add(_last(handler))
    for branch in module.nodes(ast.If):
        if _names_handshake(branch.test):
            found |= set(_called(branch.body))
    for case in module.nodes(ast.match_case):
        if _names_handshake_pattern(case):
            found |= set(_called(case.body))
    return frozenset(found)


def _called(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        for node in walk(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                yield _last(node.func)


def _names_handshake(test: ast.expr) -> bool:
    return any(
        _is_handshake(node) or (isinstance(node, ast.Name | ast.Attribute) and "INITIALIZE" in _last(node)) for node in descend(test)
    )


def _names_handshake_pattern(case: ast.match_case) -> bool:
    return any(_is_handshake(node) for node in descend(case.pattern))


def _is_decorated(function: Def) -> bool:
    return any(_is_handshake(node) for decorator in function.decorator_list for node in descend(decorator))


def _is_handshake(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in _HANDSHAKE


def _test_around(module: Module, node: ast.expr) -> ast.expr | None:
    """The whole condition that an expression is a part of."""
    child: ast.AST = node
    while isinstance(parent := module.parents[child], ast.BoolOp | ast.NamedExpr) or (
        isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
    ):
        child = parent
    match parent:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test) if test is child:
            return test
        case ast.match_case(guard=ast.expr() as guard) if guard is child:
            return guard
        case ast.Return(value=ast.expr() as value) if value is child:
            return value
        case ast.comprehension(ifs=ifs) if child in ifs:
            return node
    return None


def _reads(condition: ast.AST, flags: dict[str, set[str]]) -> bool | None:
    """Whether a condition is true when the handshake was seen (True), when it was not (False), or neither (None)."""
    match condition:
        case ast.UnaryOp(op=ast.Not(), operand=operand) if _flag(operand) in flags:
            return False
        case ast.Name() | ast.Attribute() if _flag(condition) in flags:
            return True
        case ast.Compare(left=left, ops=[op], comparators=[right]) if _flag(left) in flags:
            value = ast.unparse(right)
            same = value in flags[_flag(left)]
            empty = value in {"False", "None"}
            if isinstance(op, ast.Eq | ast.Is) and (same or empty):
                return same
            if isinstance(op, ast.NotEq | ast.IsNot) and (same or empty):
                return empty
    return None


def _flag(node: ast.expr) -> str:
    return dotted(node).removeprefix("self.")


def _refuses(body: list[ast.stmt]) -> bool:
    """Whether a block ends what was to be done: it leaves, or it speaks of the missing handshake."""
    if isinstance(body[-1], _LEAVES):
        return True
    nodes = [node for statement in body for node in walk(statement)]
    return any(
        isinstance(node, ast.Constant) and (node.value == 32002 or (isinstance(node.value, str) and "initiali" in node.value.lower()))
        for node in nodes
    )


def _exits(body: list[ast.stmt]) -> bool:
    return any(
        isinstance(node, ast.Call) and dotted(node.func) in {"sys.exit", "exit", "quit", "os._exit"}
        for statement in body
        for node in walk(statement)
    )


def _is_wired(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "modern" for node in descend(test))


def _scope(module: Module, node: ast.AST) -> str:
    function = module.function_of(node)
    return function.name if function else ""


def _last(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr
