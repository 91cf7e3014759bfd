"""Code that refuses requests because they name no session, or one that nobody knows."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from . import revision
from .functions import Function, Module, dotted, targets
from .model import Gate
from .syntax import descend

_SESSION = re.compile(r"(^|[_.])(sid|session|session_?id)$", re.IGNORECASE)
_HEADER = re.compile(r"^(http_)?mcp[-_]session[-_]id$", re.IGNORECASE)
_FOREIGN = re.compile(r"(^|\.)(args|arguments|kwargs|cookies)$|['\"]arguments['\"]")
_STATUSES = frozenset({400, 401, 403, 404, 410})
_NAMED_STATUSES = {"BAD_REQUEST": 400, "UNAUTHORIZED": 401, "FORBIDDEN": 403, "NOT_FOUND": 404, "GONE": 410}
_ACCESS = frozenset({401, 403})
# Words for who sends a request, and for what may be done: a session in one condition with them may be a way in of its own.
_CREDENTIAL = re.compile(
    r"auth|token|user|key|admin|perm|role|allow|trust|login|logged|secret|passw|credential|principal|owner|scope|grant|tenant|account|"
    r"cookie|headers|bearer|signature|signed|hmac|acl|remote|local|guest|member|identity|verif|access",
    re.IGNORECASE,
)
_LIFE = re.compile(r"init|ready|alive|active|open|clos|expire|state|status|handsh|connect", re.IGNORECASE)
_MAX_DEPTH = 4


class Condition(NamedTuple):
    """A part of a test that says whether a request has a session: `seen` when it holds with one, else when it holds without."""

    node: ast.expr
    seen: bool
    around: ast.If
    is_access: bool  # the refusal, or what stands beside the session in the test, speaks of who may come in


def session_gates(module: Module) -> Iterator[Gate]:
    """The conditions under which a request is refused for want of a session, one for each test; spans the condition."""
    told: set[ast.If] = set()
    for condition in conditions(module):
        function = module.function_of(condition.node)
        if condition.around not in told and function is not None:
            told.add(condition.around)
            yield Gate(module.span(condition.node), "session", function.name)


def conditions(module: Module) -> tuple[Condition, ...]:
    """Everything that refuses a request because it has no session; not what 2026-07-28 requests pass already."""
    return module.once(_conditions)


def _conditions(module: Module) -> tuple[Condition, ...]:
    return tuple(_found(module))


def _found(module: Module) -> Iterator[Condition]:
    values = Values(module)
    for node in module.nodes(ast.If):
        function = module.function_of(node)
        if function is None or revision.asks(node.test, module) or _is_left_before(node, function, module):
            continue
        for body, seen in ((node.body, False), (node.orelse or _rest(node, module), True)):
            if not _refuses(body, module) and not _answers(body, node, module):
                continue
            keys: set[str] = set()
            for part in _parts(node.test):
                if values.asks(part, function) is seen and not _is_given_anew(part, module):
                    access = denies(body) or values.is_joined(part, function) or values.is_one_way(part, node, function, seen=seen)
                    keys |= _keys(part)
                    yield Condition(part, seen, node, access)
                elif not seen and part is not node.test and isinstance(module.parents[part], ast.BoolOp) and _is_found_by(part, keys):
                    # `sid not in SESSIONS or SESSIONS[sid].expired`: without a session there is nothing to look at either.
                    yield Condition(part, seen, node, denies(body) or _speaks_of_access(part))


def is_around(function: Function, module: Module) -> bool:
    """Whether a function stands around endpoints, as middleware does: requests reach it before any boundary that is put before one."""
    node = function.node
    names = {arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    if "call_next" in names or {"scope", "receive", "send"} <= names:
        return True
    if any("middleware" in ast.unparse(decorator).lower() for decorator in node.decorator_list):
        return True
    owner = module.parents.get(node)
    spelled = [owner.name, *map(ast.unparse, owner.bases)] if isinstance(owner, ast.ClassDef) else []
    if any("middleware" in name.lower() for name in spelled):
        return True
    # Django's: `def middleware(get_response): def inner(request): ...`, and a class that keeps it.
    return any(isinstance(part, ast.Name | ast.Attribute) and dotted(part).rpartition(".")[2] == "get_response" for part in function.own)


def header_read(function: Function, module: Module) -> ast.Call | None:
    """The call that reads the header of the session in a function, by a name that is written out."""
    for node in function.own:
        match node:
            case ast.Call(func=ast.Attribute(attr="get" | "getheader"), args=[ast.Constant(value=str() | bytes() as key), *_]):
                text = key if isinstance(key, str) else key.decode("latin-1")
                if _HEADER.match(text):
                    return node
    return None


def _keys(test: ast.expr) -> set[str]:
    """The names of ids that a test looks for: `sid not in SESSIONS`."""
    match test:
        case ast.Compare(left=ast.Name(id=name), ops=[ast.NotIn()]):
            return {name}
    return set()


def _is_found_by(test: ast.expr, keys: Collection[str]) -> bool:
    """Whether a test looks at what is kept under one of these ids."""
    return any(isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Name) and n.slice.id in keys for n in descend(test))


def _is_left_before(node: ast.If, function: Function, module: Module) -> bool:
    """Whether 2026-07-28 requests leave the function before they come to a test: `if MCP.modern: return None` at its start."""
    for statement in function.node.body[:2]:
        match statement:
            case ast.If(test=test, body=[ast.Return() | ast.Raise()]) if revision.is_modern(test, module):
                return node.lineno > statement.lineno
    return False


def reads_header(function: Function, module: Module) -> bool:
    """Whether a function reads the header of the session, by a name that its module knows."""
    keys = (
        n.args[0] if isinstance(n, ast.Call) else n.slice for n in function.own if isinstance(n, ast.Subscript | ast.Call) and _has_key(n)
    )
    return any(_HEADER.match(module.string(key) or "") for key in keys)


def _has_key(node: ast.Subscript | ast.Call) -> bool:
    return isinstance(node, ast.Subscript) or bool(node.args)


def looked_up(found: Iterable[Condition], module: Module) -> Iterator[ast.Subscript]:
    """`state = SESSIONS[sid]` behind `if sid not in SESSIONS`, for plain dicts."""
    for condition in found:
        match condition.node:
            case ast.Compare(left=key, ops=[ast.NotIn()], comparators=[store]) if _is_dict(store, module):
                function = module.function_of(condition.node)
                for node in module.nodes(ast.Assign):
                    match node:
                        case ast.Assign(targets=[ast.Name()], value=ast.Subscript(value=value, slice=index) as whole):
                            same = ast.unparse(value) == ast.unparse(store) and ast.unparse(index) == ast.unparse(key)
                            if same and module.function_of(node) is function and node.lineno > condition.node.lineno:
                                yield whole


def _is_dict(store: ast.expr, module: Module) -> bool:
    """Whether a name is bound to a plain dict, and to nothing else."""
    values = module.once(_given).get(ast.unparse(store), [])
    return bool(values) and all(isinstance(v, ast.Dict) or (isinstance(v, ast.Call) and dotted(v.func) == "dict") for v in values)


def _given(module: Module) -> dict[str, list[ast.expr | None]]:
    """What each name, attribute and key is given, by its text."""
    found: dict[str, list[ast.expr | None]] = {}
    assigned: list[ast.Assign | ast.AnnAssign] = [*module.nodes(ast.Assign), *module.nodes(ast.AnnAssign)]
    for node in assigned:
        for text in {ast.unparse(goal) for goal in targets(node)}:
            found.setdefault(text, []).append(node.value)
    return found


class Values:
    """Which expressions of a module are sessions, their ids, or where they are found."""

    def __init__(self, module: Module) -> None:
        self.module = module

    def asks(self, test: ast.expr, function: Function) -> bool | None:
        """Whether a test holds for requests with a session (True), for those without (False), or neither."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=ast.BoolOp(values=operands)):
                return False if any(self.asks(one, function) for one in operands) else None
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return False if self.holds(operand, function) else None
            case ast.Compare(left=left, ops=[ast.NotIn() | ast.In() as op]):
                return isinstance(op, ast.In) if self.holds(left, function) else None
            case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(value=None | "")]):
                if self.holds(left, function) and isinstance(op, ast.Is | ast.Eq | ast.IsNot | ast.NotEq):
                    return isinstance(op, ast.IsNot | ast.NotEq)
            case ast.Name() | ast.Attribute() | ast.NamedExpr() | ast.Call() | ast.Subscript():
                return True if self.holds(test, function) else None
        return None

    def holds(self, node: ast.expr, function: Function, depth: int = 0) -> bool:
        """Whether an expression is a session or its id: by name, as a header, or looked up by one."""
        if depth > _MAX_DEPTH:
            return False
        match node:
            case ast.Name(id=name) if not _SESSION.search(name):
                given = function.assigned.get(name, [])
                return bool(given) and all(self.holds(value, function, depth + 1) for value in given)
            case ast.Attribute(value=value, attr="id" | "key" | "token") if self.holds(value, function, depth + 1):
                return True
            case ast.Name() | ast.Attribute():
                return _SESSION.search(ast.unparse(node)) is not None and not _is_foreign(node, function, 0)
            case ast.Constant(value=str() as text):
                return _HEADER.match(text) is not None
            case ast.JoinedStr(values=values):
                return any(isinstance(part, ast.FormattedValue) and self.holds(part.value, function, depth + 1) for part in values)
            case ast.Subscript(slice=key):
                return self._names(key, function, depth)
            case ast.Call(args=[key, *_]) if self._names(key, function, depth):
                return True
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                return _SESSION.search(name) is not None
            case ast.NamedExpr(target=target, value=value):
                return self.holds(target, function, depth + 1) or self.holds(value, function, depth + 1)
            case ast.Await(value=value):
                return self.holds(value, function, depth + 1)
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self.holds(value, function, depth + 1) for value in values)
            case ast.BoolOp(op=ast.Or(), values=[first, *others]) if any(
                not isinstance(one, ast.Constant) and not self.holds(one, function, depth + 1) for one in others
            ):
                return False  # another way in
            case ast.BoolOp(values=[first, *_]):
                return self.holds(first, function, depth + 1)
        return False

    def is_joined(self, test: ast.expr, function: Function) -> bool:
        """Whether `not (session and ...)` asks for more than a session that is there and alive."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=ast.BoolOp(op=op, values=values)):
                others = [one for one in values if not self.asks(one, function)]
                return bool(others) if isinstance(op, ast.Or) else any(not _is_of_life(one) for one in others)
        return False

    def is_one_way(self, part: ast.expr, around: ast.If, function: Function, *, seen: bool) -> bool:
        """Whether who has no session may come in by something else: `session is None and key != KEY`."""
        joins = ast.Or if seen else ast.And
        while part is not around.test and isinstance(whole := self.module.parents[part], ast.BoolOp):
            others = [one for one in whole.values if one is not part and self.asks(one, function) is None]
            if isinstance(whole.op, joins) and any(_speaks_of_access(one) for one in others):
                return True
            part = whole
        return False

    def _names(self, key: ast.expr, function: Function, depth: int) -> bool:
        """Whether a key is a session's, or the header's name under a name of its own."""
        while isinstance(key, ast.Call) and isinstance(key.func, ast.Attribute) and not key.args:  # SESSION_HEADER.lower()
            key = key.func.value
        text = self.module.string(key)
        return (text is not None and _HEADER.match(text) is not None) or self.holds(key, function, depth + 1)


def _is_foreign(node: ast.expr, function: Function, depth: int) -> bool:
    """Whether a session comes from the arguments of a tool, whose own it is, or from a cookie, which is a login."""
    if depth > _MAX_DEPTH:
        return False
    match node:
        case ast.Name(id=name):
            given = function.assigned.get(name, [])
            return bool(given) and all(_is_foreign(value, function, depth + 1) for value in given)
        case ast.Await(value=value):
            return _is_foreign(value, function, depth + 1)
        case ast.Subscript(value=holder, slice=key) | ast.Call(func=ast.Attribute(value=holder), args=[key, *_]):
            if isinstance(key, ast.Constant):
                said = ast.unparse(holder)
                return _FOREIGN.search(said) is not None and not said.endswith("request.args")
            return _is_foreign(key, function, depth + 1)
    return False


def _rest(node: ast.If, module: Module) -> list[ast.stmt]:
    """What follows a test whose body leaves, as its `else` would: plain statements up to the end of the block."""
    if not isinstance(node.body[-1], ast.Return | ast.Raise):
        return []
    around = module.parents[node]
    blocks = [block for name in ("body", "orelse", "finalbody") if isinstance(block := getattr(around, name, None), list) and node in block]
    rest = blocks[0][blocks[0].index(node) + 1 :] if blocks else []
    return rest if all(isinstance(one, ast.Expr | ast.Assign | ast.AnnAssign | ast.Return | ast.Raise) for one in rest) else []


def _parts(test: ast.expr) -> Iterator[ast.expr]:
    """The tests that `and` and `or` join; each of them can be the one that refuses."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _parts(value)
    else:
        yield test


def _refuses(body: list[ast.stmt], module: Module) -> bool:
    """Whether a block leaves with an error: a raise, an error reply or a status that says no."""
    if not body:
        return False
    last = body[-1]
    if _raises(last, module):
        return True
    if not isinstance(last, ast.Return):
        return False
    # The answer may be sent first and a bare return follow.
    return any(_says_no(node) for statement in body for node in descend(statement))


def _answers(body: list[ast.stmt], around: ast.If, module: Module) -> bool:
    """Whether a block says no, and nothing comes after it: `elif sid not in sessions: self.reply(404)`."""
    if not body or not isinstance(body[-1], ast.Expr | ast.Assign) or not any(_says_no(n) for n in descend(body[-1])):
        return False
    last: ast.AST = around
    while isinstance(outer := module.parents[last], ast.If) and last in outer.orelse:
        last = outer
    # What follows a chain sees the outcome of whichever branch was taken.
    block = getattr(outer, "body", [])
    return bool(around.orelse) or (isinstance(block, list) and bool(block) and block[-1] is last)


def _raises(statement: ast.stmt, module: Module) -> bool:
    """Whether a statement surely raises: by itself, by `abort(404)`, or in a function of this module that ends so."""
    match statement:
        case ast.Raise() | ast.Expr(value=ast.Call(func=ast.Name(id="abort") | ast.Attribute(attr="abort"))):
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name))):
            named = [function for function in module.functions.values() if function.short == name]
            return (
                len(named) == 1
                and isinstance(named[0].node.body[-1], ast.Raise)
                and not any(isinstance(node, ast.Return) for node in named[0].own)
            )
    return False


def _says_no(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.lower().startswith("error")
    return _status(node) in _STATUSES


def _is_of_life(node: ast.expr) -> bool:
    """Whether a test only asks how far a session is: `session.initialized`."""
    return any(_LIFE.search(word) for word in _words(node)) and not _speaks_of_access(node)


def _speaks_of_access(node: ast.expr) -> bool:
    """Whether a test is about who sends a request; one about the method names what is open to all."""
    words = [*_words(node)]
    return any(_CREDENTIAL.search(word) for word in words) and not any(word.lower().endswith("method") for word in words)


def _words(node: ast.expr) -> Iterator[str]:
    """What an expression says, but for the names of sessions and their header."""
    for part in descend(node):
        match part:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.Constant(value=str(word)) if not (
                _SESSION.search(word) or _HEADER.match(word)
            ):
                yield word


def denies(body: Iterable[ast.stmt]) -> bool:
    """Whether statements speak of who may come in: 401 or 403."""
    return any(_status(node) in _ACCESS for statement in body for node in descend(statement))


def _status(node: ast.AST) -> int | None:
    match node:
        case ast.Constant(value=value) if type(value) is int:
            return value
        case ast.Attribute(attr=name):  # HTTPStatus.NOT_FOUND, status.HTTP_404_NOT_FOUND
            return _NAMED_STATUSES.get(re.sub(r"^HTTP_\d+_", "", name))
    return None


def _is_given_anew(part: ast.expr, module: Module) -> bool:
    """Whether what a test asks for is made for 2026-07-28 requests further up: `if MCP.modern: session = Session(...)`."""
    names = {n.id for n in descend(part) if isinstance(n, ast.Name)}
    return any(
        isinstance(n, ast.Name) and n.id in names and isinstance(n.ctx, ast.Store)
        for branch in module.nodes(ast.If)
        if revision.is_modern(branch.test, module) and branch.lineno < part.lineno
        if module.function_of(branch) is module.function_of(part)
        for statement in branch.body
        for n in descend(statement)
    )
