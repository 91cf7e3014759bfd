"""Functions that send a request to the client and wait for the answer.

A waiter is proven only if the request it builds, the way back of the answer and every statement that a 2026-07-28
request would skip are understood. What asks in any other way is a `Doubt`, and nothing may be rewired then.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ..source import Span
from .answers import FIELDS, Answers, Kind
from .functions import Function, Module, bound, dotted, is_shared, targets, walk
from .syntax import descend

CAPABILITIES = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
_QUIET = frozenset({"debug", "info", "warning", "error", "exception", "critical", "log", "print"})
_HANDLING = frozenset(
    {"set", "wait", "clear", "put", "put_nowait", "get", "pop", "append", "appendleft", "popleft", "flush", "write", "acquire", "release"}
    | {"notify", "notify_all", "cancel", "drain", "add_done_callback", "discard", "strip", "raise_for_status"}
)


class Doubt(NamedTuple):
    """Why the questions of this module cannot be rewired with certainty."""

    span: Span
    reason: str


class Form(str, Enum):
    """How a waiter lets a 2026-07-28 request go another way."""

    LEAVE = "leave"  # callers get the answer as it is: return it before anything is sent
    TAIL = "tail"  # the last statement makes something of the answer: return that, with the answer in its place
    WRAP = "wrap"  # more statements follow: only sending and waiting is replaced


class Request(NamedTuple):
    """A JSON-RPC request being built; `optional` when its params are only added under a condition."""

    node: ast.expr
    id: ast.expr
    method: ast.expr
    params: ast.expr | None
    optional: bool


@dataclass(frozen=True, eq=False)
class Waiter:
    """A function that sends a request to the client and waits for the answer.

    `start` and `stop` number the top-level statements of the body that send and wait. `answer` is the expression that
    holds the answer in TAIL, the name in WRAP, the request in LEAVE; a whole message instead of its result if `envelope`.
    """

    function: Function
    request: Request
    capabilities: frozenset[str]
    form: Form
    start: int
    stop: int
    envelope: bool
    answer: ast.expr
    tables: frozenset[str] = frozenset()  # where answers are awaited, by dotted name
    counters: frozenset[str] = frozenset()  # what request ids are made of, by dotted name


def waiters(module: Module) -> Iterator[Waiter | Doubt]:
    """Every waiter of a module, and what is none although it puts a question to the client."""
    asked = [node for node in module.nodes(ast.Constant) if node.value in CAPABILITIES]
    if not asked:
        return
    answers = Answers(module)
    understood: set[ast.AST] = set()
    for function in module.functions.values():
        for request in requests(function, module):
            methods = _methods(request.method, function, module, understood)
            if methods.isdisjoint(CAPABILITIES):
                continue
            if not methods <= CAPABILITIES.keys():
                yield Doubt(module.span(request.node), "the function that asks the client also sends requests that are not known here")
            else:
                yield _proven(function, request, frozenset(CAPABILITIES[method] for method in methods if method), answers, module)
            understood.update(descend(request.node))
    for node in asked:
        if node not in understood and _is_sent(node, module):
            yield Doubt(module.span(node), "the client is asked in a way that is not understood")


def requests(function: Function, module: Module) -> Iterator[Request]:
    """The JSON-RPC requests that a function builds."""
    for node in function.own:
        fields: dict[str, ast.expr] = {}
        match node:
            case ast.Dict(keys=keys, values=values):
                fields = {text: value for key, value in zip(keys, values, strict=True) if (text := module.string(key))}
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
                fields = {keyword.arg: keyword.value for keyword in keywords if keyword.arg}
        if isinstance(node, ast.expr) and {"id", "method"} <= fields.keys():
            params, optional = fields.get("params"), False
            if params is None:
                params, optional = _params_later(node, function, module)
            yield Request(node, fields["id"], fields["method"], params, optional)


def _params_later(request: ast.expr, function: Function, module: Module) -> tuple[ast.expr | None, bool]:
    """`message["params"] = params` after the literal, and whether that is conditional."""
    parent = module.parents.get(request)
    names = {target.id for target in targets(parent) if isinstance(target, ast.Name)} if parent else set()
    for node in function.own:
        match node:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=key)], value=value):
                if name in names and module.string(key) == "params":
                    return value, module.parents.get(node) is not function.node
    return None, False


def _methods(
    node: ast.expr | None, function: Function, module: Module, understood: set[ast.AST], seen: frozenset[str] = frozenset()
) -> set[str]:
    """The methods that `node` may be, "" for one that is not known. Notes the literals it saw."""
    text = module.string(node)
    if text is not None and node is not None:
        understood.add(node)
        return {text}
    if not isinstance(node, ast.Name) or node.id not in function.parameters or function.name in seen:
        return {""}
    found: set[str] = set()
    for caller in module.functions.values():
        for call, target in module.calls(caller):
            if target is function:
                found |= _methods(bound(call, function, node.id), caller, module, understood, seen | {function.name})
    return found


def _proven(function: Function, request: Request, wanted: frozenset[str], answers: Answers, module: Module) -> Waiter | Doubt:
    body = function.node.body
    span = module.span(function.node)
    reads = _names(request.method) | _names(request.params)
    tables = frozenset(str(place[0]) for place in answers.aliases(function).values()) | _waited_on(function, answers)
    counters = frozenset(
        name for node in _made_of(request.id, function, answers) if (name := dotted(node)) and name not in answers.bound(function)
    )
    sends = _index(body, request.node)
    machinery = _machinery(function, request, answers) - reads
    own = tables | counters
    first = next(
        i for i, statement in enumerate(body) if _assigned([statement]) & machinery or i == sends or _stores(statement, own, answers)
    )
    ready = max((i + 1 for i, statement in enumerate(body) if _assigned([statement]) & reads), default=0)
    start = max(first, ready)
    if start > sends or any(_stores(statement, tables, answers) for statement in body[:start]):
        return Doubt(span, "the question is still being put together while it is sent")
    foreign = _foreign(body[start:], function, module, own, answers)
    if foreign is not None:
        return Doubt(module.span(foreign), "sending the question also does something else")

    def made(form: Form, stop: int, kind: Kind, answer: ast.expr = request.node) -> Waiter:
        return Waiter(function, request, wanted, form, start, stop, kind is Kind.MESSAGE, answer, tables, counters)

    gives = answers.returns(function)
    if gives is Kind.RESULT or (gives is Kind.MESSAGE and _callers_take_fields(function, module)):
        return made(Form.LEAVE, len(body), gives)
    rest = body[start:]
    if isinstance(body[-1], ast.Return) and body[-1].value is not None and not _returns(rest[:-1]):
        for node in walk(body[-1].value):
            if isinstance(node, ast.Await | ast.Call | ast.Subscript) and answers.kind(node, function) is Kind.RESULT:
                if (_names(body[-1].value) - _names(node)) & _assigned(rest):
                    break
                return made(Form.TAIL, len(body), Kind.RESULT, node)
    for stop in range(sends + 1, len(body)):
        inside, after = body[start:stop], body[stop:]
        kept = _assigned(inside) & {node.id for statement in after for node in walk(statement) if isinstance(node, ast.Name)}
        if len(kept) == 1:
            answer = ast.Name(id=kept.pop(), ctx=ast.Load())
            kind = answers.kind(answer, function)
            if kind is Kind.RESULT or (kind is Kind.MESSAGE and _takes_fields(answer.id, after, module)):
                return made(Form.WRAP, stop, kind, answer)
    return Doubt(span, "how the client's answer comes back, or what callers get of it, is not understood")


def _names(node: ast.AST | None) -> set[str]:
    return {inner.id for inner in descend(node) if isinstance(inner, ast.Name)} if node is not None else set()


def _assigned(statements: Sequence[ast.stmt]) -> set[str]:
    return {target.id for statement in statements for node in walk(statement) for target in targets(node) if isinstance(target, ast.Name)}


def _returns(statements: Sequence[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Return) for statement in statements for node in walk(statement))


def _index(body: Sequence[ast.stmt], node: ast.AST) -> int:
    return next(i for i, statement in enumerate(body) if any(inner is node for inner in walk(statement)))


def _made_of(node: ast.expr, function: Function, answers: Answers) -> Iterator[ast.expr]:
    """The dotted names that a value is made of, local names followed to what they were given."""
    pending: list[ast.expr] = [node]
    seen: set[str] = set()
    while pending:
        for inner in walk(pending.pop()):
            if isinstance(inner, ast.Name) and inner.id in answers.bound(function) and inner.id not in seen:
                seen.add(inner.id)
                pending += answers.bound(function)[inner.id]
            if isinstance(inner, ast.Attribute | ast.Name):
                yield inner


def _machinery(function: Function, request: Request, answers: Answers) -> set[str]:
    """The local names that sending and waiting need: the id, what waits for the answer, and what these are made of."""
    local = answers.bound(function)
    found = set(answers.aliases(function)) & local.keys()
    pending = [*found, *(_names(request.id) & local.keys())]
    while pending:
        name = pending.pop()
        found.add(name)
        pending += [other for value in local[name] for other in _names(value) if other in local and other not in found]
    return found


def _waited_on(function: Function, answers: Answers) -> frozenset[str]:
    """Attributes and globals that the function takes its answer from without an entry of its own."""
    found: set[str] = set()
    for node in function.own:
        if isinstance(node, ast.Attribute | ast.Name | ast.Subscript | ast.Call):
            place = answers.place(node, function)
            if place and answers.kind(node, function) in (Kind.MESSAGE, Kind.RESULT):
                found.add(str(place[0]))
    return frozenset(found)


def _stores(statement: ast.stmt, tables: frozenset[str], answers: Answers) -> bool:
    """Whether the statement puts something into a table of waiting requests."""
    return any(
        isinstance(target, ast.Subscript | ast.Attribute)
        and answers.table(target.value if isinstance(target, ast.Subscript) else target) in tables
        for node in walk(statement)
        for target in targets(node)
    )


def _foreign(
    statements: Sequence[ast.stmt], function: Function, module: Module, known: frozenset[str], answers: Answers
) -> ast.stmt | None:
    """A statement that has an effect beyond asking: it would be lost for a request that goes another way."""
    for statement in statements:
        for node in walk(statement):
            match node:
                case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
                    for target in targets(node):
                        if isinstance(target, ast.Attribute | ast.Subscript):
                            base = target.value if isinstance(target, ast.Subscript) else target
                            root = answers.table(base)
                            if root not in known and root.split(".")[0] not in _assigned(function.node.body):
                                return node
                        elif isinstance(target, ast.Name) and is_shared(target.id, function) and target.id not in known:
                            return node
                case ast.Expr(value=ast.Call() | ast.Await() as value):
                    call = value.value if isinstance(value, ast.Await) else value
                    if isinstance(call, ast.Call) and not _is_sending(call, function, module):
                        return node
                case ast.Yield() | ast.YieldFrom():
                    return statement
    return None


def _is_sending(call: ast.Call, function: Function, module: Module) -> bool:
    """Whether a call only sends, waits, logs or tidies up."""
    name = dotted(call.func).rsplit(".", 1)[-1] or getattr(call.func, "attr", "")
    if name in _QUIET or name in _HANDLING:
        return True
    # Any other call must be the one that carries the request out: `send(message)`, `self.write(json.dumps(...))`.
    carried = {node for argument in call.args for node in descend(argument)}
    built = {request.node for request in requests(function, module)}
    names = {
        target.id for node in built if (parent := module.parents.get(node)) for target in targets(parent) if isinstance(target, ast.Name)
    }
    return bool(built & carried) or any(isinstance(node, ast.Name) and node.id in names for node in carried)


def _callers_take_fields(function: Function, module: Module) -> bool:
    for caller in module.functions.values():
        for call, target in module.calls(caller):
            if target is not function:
                continue
            node: ast.AST = call
            while isinstance(parent := module.parents[node], ast.Await):
                node = parent
            names = [target.id for target in targets(parent) if isinstance(target, ast.Name)]
            if names and not isinstance(parent, ast.AugAssign):
                if not all(_takes_fields(name, caller.node.body, module) for name in names):
                    return False
            elif not _is_field(node, module):
                return False
    return True


def _takes_fields(name: str, statements: Sequence[ast.stmt], module: Module) -> bool:
    return all(
        _is_field(node, module)
        for statement in statements
        for node in walk(statement)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    )


def _is_field(node: ast.AST, module: Module) -> bool:
    """Whether all that is asked of this message is its result or its error."""
    parent = module.parents.get(node)
    match parent:
        case ast.Subscript(value=value, slice=key) if value is node:
            return module.string(key) in FIELDS
        case ast.Compare(left=key, ops=[ast.In() | ast.NotIn()], comparators=[value]) if value is node:
            return module.string(key) in FIELDS
        case ast.Attribute(attr="get"):
            call = module.parents.get(parent)
            return isinstance(call, ast.Call) and bool(call.args) and module.string(call.args[0]) in FIELDS
        case ast.Compare(ops=[ast.Is() | ast.IsNot()]) | ast.UnaryOp(op=ast.Not()) | ast.If() | ast.While():
            return True  # was there an answer at all?
    return False


def _is_sent(node: ast.Constant, module: Module) -> bool:
    """Whether a method's name is (on its way into) a message, not merely looked at, mapped or documented."""
    parent = module.parents.get(node)
    match parent:
        case ast.Call():
            return not (isinstance(parent.func, ast.Attribute) and parent.func.attr in {"get", "pop", "startswith", *_QUIET})
        case ast.keyword(arg=name):
            return name == "method"
        case ast.Dict(keys=keys, values=values):
            return any(value is node and module.string(key) == "method" for key, value in zip(keys, values, strict=True))
    return False
