"""Code that refuses requests for what did not happen before them, and functions that stand behind a stateless boundary."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from ..source import Source
from . import clientstate, revision
from .functions import Def, Module, dotted, is_shared, root, targets, walk
from .model import Gate
from .syntax import descend, operands
from .vocabulary import BEGINNINGS

_HANDSHAKE = frozenset({"initialize", "notifications/initialized", "initialized"})
_STATE = re.compile(r"init|ready|state|status|phase|handsh|greet|connect", re.IGNORECASE)
BOUNDARY_MODULE = "mcp_stateless.py"
"""The name of the file that `fix` writes beside a server."""
CLIENT_MODULE = "mcp_stateless_client.py"
"""The name of the file that `fix` writes beside a client."""
HANDLER_MODULE = "mcp_handlers.py"
"""The name of the file that `fix` writes beside low-level servers of the SDK."""
QUESTION_MODULE = "mcp_questions.py"
"""The name of the file that `fix` writes beside servers of the SDK that ask their client."""
ROUND_MODULE = "mcp_rounds.py"
"""The name of the file that `fix` writes beside servers of the standalone `fastmcp` that ask their client."""
CONNECTION_MODULE = "mcp_http.py"
"""The name of the file that `fix` writes beside clients of the SDK that hand a connection on."""
SOCKET_MODULE = "mcp_websocket.py"
"""The name of the file that `fix` writes beside clients of the SDK that connect over WebSocket."""
SESSION_MODULE = "mcp_session.py"
"""The name of the file that `fix` writes beside sessions that are made from the base class of version 1."""
COMPAT_MODULE = "mcp_compat.py"
"""The name of the file that `fix` writes beside code that has to run with both releases of the SDK."""
HOSTS = frozenset({"boundary", "django", "flask", "starlette", "aiohttp", "tornado", "http_server", "aws_lambda"})
"""What a boundary object has for functions that it is put before, as decorators."""
WRAPS = frozenset({"asgi", "wsgi", "fastapi_route"})
"""What it puts around an application."""
_NAMES = (ast.Name, ast.Attribute)
_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_EMPTY = frozenset({"None", "False", "0", "''", "{}", "[]", "()", "dict()", "list()", "set()"})
_EMPTY_CALLS = frozenset({"Event", "defaultdict", "Counter", "OrderedDict", "deque", "set", "dict", "list"})
_FILLS = frozenset({"set", "append", "add", "update", "setdefault", "insert", "extend"})
# A function that is reached by its name only: `getattr(self, "handle_" + name)`.
_BY_NAME = re.compile(r"^_*(handle|on|do|rpc|method|mcp|process)_+(\w+_)?initialized?$")


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


def conditions(module: Module) -> tuple[Condition, ...]:
    """Everything outside of the handshake's own code that is done, or not done, because the handshake has happened."""
    return module.once(_conditions)


def _conditions(module: Module) -> tuple[Condition, ...]:
    found: dict[ast.expr, Condition] = {}
    for condition in (*_flagged(module), *_marked(module)):
        found.setdefault(condition.node, condition)
    return tuple(found.values())


def _flagged(module: Module) -> Iterator[Condition]:
    """What asks for a flag of the handshake, to refuse or to do anything else."""
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
        if seen is None or (test := _test_around(module, whole)) is None or revision.asks(test, module):
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


def _marked(module: Module) -> Iterator[Condition]:
    """What refuses as long as something is empty that only the handshake fills, whatever it is called and however it is kept."""
    own = module.once(handshake)
    marks = _marks(module, own)
    if not marks:
        return
    tested: list[ast.If | ast.match_case] = [*module.nodes(ast.If), *module.nodes(ast.match_case)]
    for node in tested:
        test = node.test if isinstance(node, ast.If) else node.guard
        if test is None or node in own or revision.asks(test, module):
            continue
        for part in operands(test):
            seen = _filled(part, marks, module)
            if seen is not None and isinstance(node, ast.If):
                refusing = node.orelse if seen else node.body
                if refusing and _refuses(refusing):
                    yield Condition(part, seen)
            elif seen:
                yield Condition(part, seen)


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
    beside: frozenset[str]  # those functions, what they mention and what mentions them


def boundaries(module: Module, imports: Mapping[str, str]) -> Boundaries:
    """Functions that are decorated with a boundary or call `begin` of one; "" for a module with one around its application.

    Only an import tells whether an object is a boundary.
    """
    makes = frozenset(_objects(module, imports))
    behind: dict[str, set[str]] = {}
    for function in module.functions.values():
        for decorator in function.node.decorator_list:
            name, _, part = dotted(decorator.func if isinstance(decorator, ast.Call) else decorator).rpartition(".")
            if name and part in HOSTS:
                behind.setdefault(name, set()).add(function.name)
    for view in module.nodes(ast.ClassDef):
        for decorator in view.decorator_list:
            name, _, part = dotted(decorator).rpartition(".")
            if name and part in HOSTS:
                behind.setdefault(name, set()).update(f.name for f in module.functions.values() if f.owner.rpartition(".")[2] == view.name)
    for node in module.nodes(ast.Attribute):
        name = dotted(node.value)
        if node.attr in WRAPS and name in makes | imports.keys():
            behind.setdefault(name, set()).add("")
        elif node.attr == "begin" and name and isinstance(call := module.parents[node], ast.Call) and call.func is node:
            behind.setdefault(name, set()).add(_scope(module, node))
    own = frozenset(function for name, functions in behind.items() if name in makes for function in functions)
    borrowed = {
        imports[head] + name.removeprefix(head): frozenset(functions)
        for name, functions in behind.items()
        if name not in makes and (head := name.partition(".")[0]) in imports
    }
    return Boundaries(makes, own, borrowed, frozenset(beside(module, {f for functions in behind.values() for f in functions})))


def beside(module: Module, behind: Collection[str]) -> Iterator[str]:
    """The functions that belong to the same server as those behind a boundary, by their names; "" is the code of the module itself."""
    if not behind:
        return
    if "" in behind:
        yield from module.functions
    mentioned = {f.name: {_last(n) for n in f.own if isinstance(n, _NAMES)} for f in module.functions.values()}
    found = [f for f in module.functions.values() if f.name in behind]
    places = {name: number for number, name in enumerate(module.functions)}
    inside: dict[str, set[str]] = {}  # by what is mentioned, and by the function around
    for name, function in module.functions.items():
        inside.setdefault(function.short, set()).add(name)
        above = name
        while above := above.rpartition(".")[0]:
            inside.setdefault(f"{above}.", set()).add(name)
    seen = {f.name for f in found}
    for function in found:
        words = (*(mentioned[function.name] & inside.keys()), f"{function.name}.")
        new = {name for word in words for name in inside.get(word, ())} - seen
        seen |= new
        found += [module.functions[name] for name in sorted(new, key=places.__getitem__)]
    shorts = {f.short for f in found if f.name in behind}
    yield from (f.name for f in found)
    yield from (name for name, words in mentioned.items() if words & shorts)


def is_boundary_module(source: Source) -> bool:
    """Whether this is a module that `fix` writes: it speaks both revisions for its server or client, and is none itself."""
    own = {
        BOUNDARY_MODULE: b"class Stateless",
        CLIENT_MODULE: b"class Era",
        HANDLER_MODULE: b"request_ctx: ContextVar",
        QUESTION_MODULE: b"def asks(",
        ROUND_MODULE: b"def asks(",
        CONNECTION_MODULE: b"def streamablehttp_client(",
        SOCKET_MODULE: b"def websocket_client(",
        SESSION_MODULE: b"class BaseSession(",
        COMPAT_MODULE: b"MCP_1 = ",
    }
    return any(source.path.endswith(name) and sign in source.utf8 for name, sign in own.items())


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


def handshake(module: Module) -> frozenset[ast.AST]:
    """What surely runs for the handshake only: its branches, and functions that nothing else mentions."""
    inside: set[ast.AST] = set()
    for branch in module.nodes(ast.If):
        asks = _asks_handshake(branch.test, module)
        if asks is not None:
            inside.update(n for statement in (branch.body if asks else branch.orelse) for n in walk(statement))
    for case in module.nodes(ast.match_case):
        named = {n.value for n in descend(case.pattern) if isinstance(n, ast.Constant) and isinstance(n.value, str)} - {"method"}
        if named and named <= _HANDSHAKE:
            inside.update(n for statement in case.body for n in walk(statement))
    if not inside and not _mentions_handshake(module):
        return frozenset()
    pending = [f for f in module.functions.values() if f.short != "__init__"]
    mentions: dict[str, list[ast.AST]] = {f.short: [] for f in pending}
    for name in module.nodes(ast.Name):
        if name.id in mentions:
            mentions[name.id].append(name)
    for attribute in module.nodes(ast.Attribute):
        if attribute.attr in mentions:
            mentions[attribute.attr].append(attribute)
    while True:
        new = [f for f in pending if _is_handshakes(f.node, mentions[f.short], inside, module)]
        if not new:
            return frozenset(inside)
        pending = [f for f in pending if f not in new]
        inside.update(n for f in new for n in f.own)


def _is_handshakes(function: Def, mentions: list[ast.AST], inside: set[ast.AST], module: Module) -> bool:
    if _is_decorated(function):
        return True
    if not mentions:
        return _BY_NAME.match(function.name) is not None
    return all(node in inside or _is_registered(node, module) for node in mentions)


def _is_registered(node: ast.AST, module: Module) -> bool:
    """Whether a function is named here as the handler of the handshake."""
    match module.parents.get(node):
        case ast.Dict(keys=keys, values=values):
            return any(value is node and key is not None and _is_handshake(key) for key, value in zip(keys, values, strict=True))
        case ast.Call(args=[first, *rest]):
            return node in rest and _is_handshake(first)
        case ast.Assign(targets=[ast.Subscript(slice=key)]):
            return _is_handshake(key)
    return False


def _mentions_handshake(module: Module) -> bool:
    return any(word.encode() in module.source.utf8 for word in ("initialize", "initialized"))


def _asks_handshake(test: ast.expr, module: Module) -> bool | None:
    """Whether a condition holds for the handshake only (True), for everything else (False), or neither (None)."""
    match test:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, ast.Eq | ast.NotEq):
            if any((module.string(one) or "") in _HANDSHAKE or _is_handshake_name(one) for one in (left, right)):
                return isinstance(op, ast.Eq)
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as op], comparators=[right]) if _is_searched(left, right, module):
            return isinstance(op, ast.In)
        case ast.Compare(ops=[ast.In()], comparators=[ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts)]) if elts:
            return True if all((module.string(one) or "") in _HANDSHAKE or _is_handshake_name(one) for one in elts) else None
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = _asks_handshake(operand, module)
            return None if inner is None else not inner
        case ast.Name(id=name) if (function := module.function_of(test)) is not None:
            match function.assigned.get(name):
                case [ast.Compare() as value]:
                    return _asks_handshake(value, module)
        case ast.BoolOp(op=ast.And(), values=values):
            return True if any(_asks_handshake(value, module) for value in values) else None
        case ast.BoolOp(op=ast.Or(), values=values):
            return True if all(_asks_handshake(value, module) for value in values) else None
    return None


def _is_searched(word: ast.expr, node: ast.expr, module: Module) -> bool:
    """`"initialize" in method`."""
    return (module.string(word) or "") in _HANDSHAKE | BEGINNINGS and "method" in ast.unparse(node).lower()


def _is_handshake_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and "INITIALIZE" in _last(node)


def _marks(module: Module, own: frozenset[ast.AST]) -> dict[str, set[str]]:
    """Where the handshake keeps something that is empty before it, with the source text of what it keeps."""
    if not own:
        return {}
    kept: dict[str, set[str]] = {}
    stored: list[ast.Assign | ast.AnnAssign | ast.AugAssign] = [
        *module.nodes(ast.Assign),
        *module.nodes(ast.AnnAssign),
        *module.nodes(ast.AugAssign),
    ]
    filled = [(c, c.func.value) for c in module.nodes(ast.Call) if isinstance(c.func, ast.Attribute) and c.func.attr in _FILLS]
    for node in stored:
        if node in own and node.value is not None:
            for target in targets(node):
                if (place := spot(target, module)) and _outlives(target, node, module):
                    kept.setdefault(place, set()).add(ast.unparse(node.value))
    for call, value in filled:
        if call in own and (place := spot(value, module)) and _outlives(value, call, module):
            kept.setdefault(place, set()).add("")
    if not kept:
        return {}
    # What anything else fills as well does not tell.
    other = {spot(value, module) for call, value in filled if call not in own}
    for node in stored:
        if node not in own and node.value is not None:
            places = {spot(target, module) for target in targets(node)} & kept.keys()
            if places and not _is_empty(node.value):
                other |= places
    clients = {f"{s.name.lstrip('.')}{f'[{s.key}]' if s.key else ''}" for s in clientstate.capabilities(module)}
    return {place: values for place, values in kept.items() if place not in other and place not in clients and values - _EMPTY}


def _outlives(target: ast.expr, node: ast.AST, module: Module) -> bool:
    """Whether what is stored here is still there when the function is left."""
    name, function = root(target), module.function_of(node)
    if function is None or name == "self":
        return True
    return (
        is_shared(name, function)
        or (name not in function.assigned and not isinstance(target, ast.Name))
        or (isinstance(target, ast.Name) and isinstance(node, ast.Call) and name not in function.assigned)
    )


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in _EMPTY_CALLS:
        return all(isinstance(argument, ast.Name | ast.Constant) for argument in value.args)
    if isinstance(value, ast.Dict):
        return all(_is_empty(one) for one in value.values)
    return ast.unparse(value) in _EMPTY


def spot(node: ast.expr, module: Module) -> str:
    """How a place that keeps a value is called: `ready` of an object or the module, `state[ready]` for a key, "" for anything else."""
    match node:
        case ast.Name() | ast.Attribute():
            return _flag(node)
        case ast.Subscript(value=base, slice=key) | ast.Call(func=ast.Attribute(value=base, attr="get"), args=[key, *_]):
            text, name = module.string(key), spot(base, module)
            return f"{name}[{text}]" if text and name else ""
    return ""


def _filled(condition: ast.expr, marks: dict[str, set[str]], module: Module) -> bool | None:
    """Whether a condition is true once the handshake has filled a place (True), before that (False), or neither (None)."""
    match condition:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            seen = _filled(operand, marks, module)
            return None if seen is None else not seen
        case ast.Call(func=ast.Attribute(value=value, attr="is_set"), args=[]):
            return True if spot(value, module) in marks else None
        case ast.Call(func=ast.Name(id="len" | "bool"), args=[value]):
            return True if spot(value, module) in marks else None
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn() as op], comparators=[right]):
            text = module.string(left)
            return isinstance(op, ast.In) if text and f"{spot(right, module)}[{text}]" in marks else None
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            if isinstance(left, ast.Call) and isinstance(left.func, ast.Name) and left.func.id == "len" and left.args:
                left = left.args[0]
            if (place := spot(left, module)) not in marks:
                return None
            match op, ast.unparse(right):
                case (ast.Is() | ast.Eq(), "None" | "False" | "0" | "''") | (ast.Lt(), "1") | (ast.LtE(), "0"):
                    return False
                case (ast.IsNot() | ast.NotEq(), "None" | "False" | "0" | "''") | (ast.Gt(), "0") | (ast.GtE(), "1"):
                    return True
                case (ast.Is() | ast.Eq() | ast.IsNot() | ast.NotEq(), text) if text in marks[place]:
                    return isinstance(op, ast.Is | ast.Eq)
            return None
        case ast.Name() | ast.Attribute() | ast.Subscript() | ast.Call():
            return True if spot(condition, module) in marks else None
    return None


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


def _scope(module: Module, node: ast.AST) -> str:
    function = module.function_of(node)
    return function.name if function else ""


def _last(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr
