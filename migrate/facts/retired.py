"""What answers GET or DELETE for clients with a session alone: event streams and the ends of sessions, as far as that is proven."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from .functions import Function, Module, dotted
from .syntax import descend

_STREAM = re.compile(r"event-stream|EventSource", re.IGNORECASE)
_SESSION = re.compile(r"mcp[-_]session[-_]id|(^|[._])(sid|session|session_?id)$", re.IGNORECASE)
_HEADER = re.compile(r"mcp[-_]session[-_]id", re.IGNORECASE)
_PATH = re.compile(r"path|url|uri|route|query|args|params|accept", re.IGNORECASE)
_PAGE = re.compile(r"json|html|plain|template|render|file|redirect", re.IGNORECASE)
_SILENT = re.compile(
    r"^(send_header|end_headers|flush|debug|info|warning|error|exception|log_\w+|print|set_header|prepare|set|put|put_nowait)$"
)
_REMOVES = re.compile(r"(^|[._])(pop|discard|remove|delete|close|end|drop|terminate|destroy)", re.IGNORECASE)
_REFUSES = frozenset({"abort", "send_error", "HttpResponseNotAllowed", "MethodNotAllowed", "HTTPMethodNotAllowed", "HTTPError"})
_MOST = 64
_DEPTH = 2


class _Way(NamedTuple):
    """One way through a block: what is done on it, and the tests that lead there."""

    done: tuple[ast.AST, ...] = ()
    tests: tuple[ast.expr, ...] = ()
    over: bool = False


def is_retired(function: Function, module: Module, body: Sequence[ast.stmt] | None = None) -> bool:
    """Whether a function, or some statements of it, serve a stream or end a session, or refuse to, and answer nothing else."""
    return _Proof(function, module, 0).holds(function.node.body if body is None else body)


def is_refusal(function: Function, module: Module, body: Sequence[ast.stmt] | None = None) -> bool:
    """Whether every answer is a refusal."""
    proof = _Proof(function, module, 0)
    ways = proof.ways(function.node.body if body is None else body)
    return ways is not None and all(proof.kind(way) == "refused" for way in ways)


def is_void(function: Function, module: Module, body: Sequence[ast.stmt] | None = None) -> bool:
    """Whether every answer is a refusal, or says nothing: what is left of an end of sessions."""
    proof = _Proof(function, module, 0)
    block = function.node.body if body is None else body
    ways = proof.ways(block)
    return ways is not None and all(proof.kind(way) == "refused" or proof.is_empty(way) for way in ways)


def asks_path(test: ast.expr) -> bool:
    """Whether a test is about the path of the request."""
    return any("path" in word.lower() for word in _words(descend(test)))


def branches(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.If, ast.Compare, frozenset[str]]]:
    """`if self.path == "/mcp":` and the like at the top of a body or of a chain there, with the paths."""
    for statement in body:
        node: ast.stmt | None = statement
        while isinstance(node, ast.If):
            match node.test:
                case ast.Compare(left=left, ops=[ast.Eq() | ast.In()], comparators=[right]) as test if asks_path(left):
                    texts = frozenset(n.value for n in descend(right) if isinstance(n, ast.Constant) and isinstance(n.value, str))
                    if texts and all(isinstance(n, ast.Constant | ast.Tuple | ast.List | ast.Set | ast.Load) for n in descend(right)):
                        yield node, test, texts
            node = node.orelse[0] if len(node.orelse) == 1 else None


class _Proof:
    def __init__(self, function: Function, module: Module, depth: int) -> None:
        self.function, self.module, self.depth = function, module, depth

    def holds(self, body: Sequence[ast.stmt]) -> bool:
        ways = self.ways(body)
        if ways is None or any(self._asks_else(node) for way in ways for node in (*way.done, *way.tests)):
            return False
        kinds = {self.kind(way) for way in ways}
        return "other" not in kinds and not kinds.isdisjoint({"streamed", "ended"})

    def ways(self, body: Sequence[ast.stmt]) -> list[_Way] | None:
        """The ways through a block; None where there are too many to tell."""
        ways = [_Way()]
        for statement in body:
            going = [way for way in ways if not way.over]
            ways = [way for way in ways if way.over]
            for way in going:
                further = self._further(way, statement)
                if further is None:
                    return None
                ways += further
            if len(ways) > _MOST:
                return None
        return ways

    def _further(self, way: _Way, statement: ast.stmt) -> list[_Way] | None:
        blocks: list[tuple[tuple[ast.expr, ...], Sequence[ast.stmt], tuple[ast.AST, ...]]]
        match statement:
            case ast.If(test=test, body=body, orelse=orelse):
                blocks = [((test,), body, ()), ((test,), orelse, ())]
            case ast.With(body=body, items=items) | ast.AsyncWith(body=body, items=items):
                blocks = [((), body, tuple(item.context_expr for item in items))]
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                # Anything may have failed, so a handler may answer in place of everything.
                blocks = [((), [*body, *orelse, *final], ())]
                blocks += [((), [*handler.body, *final], ()) for handler in handlers]
            case ast.For(iter=asked, body=body, orelse=orelse) | ast.AsyncFor(iter=asked, body=body, orelse=orelse):
                blocks = [((), [*body, *orelse], (asked,)), ((), orelse, (asked,))]
            case ast.While(test=test, body=body, orelse=orelse):
                blocks = [((test,), [*body, *orelse], ()), ((test,), orelse, ())]
            case ast.Match(subject=subject, cases=cases):
                blocks = [((subject,), case.body, ()) for case in cases]
                blocks.append(((subject,), [], ()))
            case ast.Return() | ast.Raise():
                return [_Way((*way.done, statement), way.tests, True)]
            case _:
                return [_Way((*way.done, statement), way.tests)]
        found: list[_Way] = []
        for tests, block, done in blocks:
            inner = self.ways(block)
            if inner is None:
                return None
            found += [_Way((*way.done, *done, *one.done), (*way.tests, *tests, *one.tests), one.over) for one in inner]
        return found

    def kind(self, way: _Way) -> str:
        """What a way comes to: "streamed", "ended" a session, "refused", "nothing", or "other"."""
        streams = any(self._streams(node) for node in way.done)
        last = way.done[-1] if way.done else None
        if isinstance(last, ast.Raise):
            return "streamed" if streams else "refused"
        calls = [node for statement in way.done for node in _here(statement) if isinstance(node, ast.Call)]
        value = last.value if isinstance(last, ast.Return) else None
        if isinstance(value, ast.Await):
            value = value.value
        if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            return self._returned(value, way, calls)
        if not streams and any(self._is_other(call) for call in calls):
            return "other"
        if streams:
            return "streamed" if not any(self._writes_page(call) for call in calls) else "other"
        statuses = {status for call in calls for status in _statuses(call)}
        if any(self._delegates(call) for call in calls):
            return "streamed"
        if statuses and all(400 <= status < 500 for status in statuses):
            return "refused"
        if self._is_of_session(way):
            return "ended" if statuses <= {200, 202, 204} | set(range(400, 500)) else "other"
        return "nothing" if not calls else "other" if statuses else "nothing"

    def is_empty(self, way: _Way) -> bool:
        """Whether a way does nothing but give a status that says that there is nothing to say."""
        said = [status for part in way.done for node in _here(part) for status in _statuses(node)]
        quiet = bool(said) and all(status in (202, 204) for status in said)
        return quiet and len(way.done) <= 2 and not any(self._asks_else(n) for n in way.done)

    def _returned(self, value: ast.expr, way: _Way, calls: Iterable[ast.Call]) -> str:
        if self._gives_stream(value, 0):
            return "streamed"
        if isinstance(value, ast.Call) and self._delegates(value):
            return "streamed"
        statuses = set(_statuses(value)) if isinstance(value, ast.Call | ast.Tuple) else set()
        if isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in _REFUSES:
            statuses = statuses or {405}
        if statuses and all(400 <= status < 500 for status in statuses):
            return "refused"
        removes = any(_REMOVES.search(dotted(call.func)) for call in calls)
        if self._is_of_session(way) and self._says_little(value, removes=removes):
            return "ended"
        return "other"

    def _says_little(self, value: ast.expr, *, removes: bool) -> bool:
        """Whether an answer says no more than that something was done: a status, or what was removed."""
        match value:
            case ast.Call(func=func, args=args, keywords=keywords):
                given = [*args, *(keyword.value for keyword in keywords if keyword.arg in {"content", "body", "text", "data"})]
                answers = bool(_statuses(value)) or "Response" in dotted(func)
                return answers and all(_is_bare(one, said=removes) for one in given)
            case ast.Tuple(elts=elts):
                return all(_is_bare(one, said=removes) for one in elts)
        return _is_bare(value, said=removes)

    def _is_of_session(self, way: _Way) -> bool:
        """Whether the header is read on a way, or a session is taken away that the framework has read it for."""
        nodes = [node for part in (*way.done, *way.tests) for node in descend(part)]
        held = [given for n in nodes if isinstance(n, ast.Name) for given in self.function.assigned.get(n.id, [])]
        nodes += [node for given in held for node in descend(given)]
        words = [*_words(nodes), *(str(n.value) for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str))]
        texts = (self.module.string(n) for n in nodes if isinstance(n, ast.Name | ast.Attribute))
        return any(_HEADER.search(word) for word in (*words, *(text for text in texts if text)))

    def _asks_else(self, part: ast.AST) -> bool:
        """Whether something is asked that makes other answers of it than those of the endpoint."""
        return any(_PATH.search(word) for word in _words(_here(part)))

    def _streams(self, part: ast.AST) -> bool:
        return any(self._says_stream(node) for node in descend(part))

    def _says_stream(self, node: ast.AST) -> bool:
        if isinstance(self.module.parents.get(node), ast.Compare):
            return False
        match node:
            case ast.Constant(value=str(text)):
                return _STREAM.search(text) is not None
            case ast.Name(id=word) | ast.Attribute(attr=word):
                if _STREAM.search(word):
                    return True
                held = self.module.string(node)
                return held is not None and _STREAM.search(held) is not None
        return False

    def _gives_stream(self, value: ast.expr, depth: int) -> bool:
        """Whether a value is an answer with an event stream, or holds the headers of one."""
        if depth > _DEPTH or (isinstance(value, ast.Call) and _PAGE.search(dotted(value.func))):
            return False
        if self._streams(value):
            return True
        return any(
            self._gives_stream(given, depth + 1)
            for node in descend(value)
            if isinstance(node, ast.Name)
            for given in self.function.assigned.get(node.id, [])
        )

    def _delegates(self, call: ast.Call) -> bool:
        """Whether a function of this module is called that serves a stream and nothing else."""
        callee = self.module.callee(call, self.function) if self.depth < _DEPTH else None
        return callee is not None and callee is not self.function and _Proof(callee, self.module, self.depth + 1).holds(callee.node.body)

    def _is_other(self, call: ast.Call) -> bool:
        """Whether a call may answer in a way that is not known."""
        name = dotted(call.func)
        short = name.rpartition(".")[2]
        if not name.startswith("self.") and "super()" not in ast.unparse(call.func):
            # What is given the handler may answer with it.
            return any(isinstance(arg, ast.Name) and arg.id == "self" for arg in call.args)
        if name.count(".") > 1 and not name.startswith("self.wfile."):
            return False  # `self.headers.get`, `self.known.discard`
        statuses = _statuses(call)
        empty = statuses and all(400 <= status < 500 or status in (202, 204) for status in statuses)
        # What a handler sends after a status of its own is its body.
        looks = bool(_SESSION.search(short)) and isinstance(self.module.parents[call], ast.Compare | ast.Assign | ast.NamedExpr | ast.Call)
        sends = short in {"send_response", "set_status"} and bool(statuses)
        return not (empty or looks or sends or _SILENT.match(short) or short in _REFUSES or self._delegates(call))

    def _writes_page(self, call: ast.Call) -> bool:
        return (
            _PAGE.search(dotted(call.func).rpartition(".")[2]) is not None
            and dotted(call.func).startswith("self.")
            and not any(400 <= status < 500 for status in _statuses(call))
        )


def _here(part: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement without the bodies of functions in it."""
    if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        return
    yield part
    for child in ast.iter_child_nodes(part):
        yield from _here(child)


def _words(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word):
                yield word


def _statuses(value: ast.AST) -> list[int]:
    """The statuses that a call or an answer names."""
    if isinstance(value, ast.Call):
        parts: list[ast.expr] = [*value.args, *(keyword.value for keyword in value.keywords if keyword.arg and "status" in keyword.arg)]
    elif isinstance(value, ast.Tuple):
        parts = list(value.elts)
    else:
        return []
    found: list[int] = []
    for part in parts:
        for one in (part.body, part.orelse) if isinstance(part, ast.IfExp) else (part,):
            match one:
                case ast.Constant(value=int(status)) if not isinstance(status, bool) and 100 <= status < 600:
                    found.append(status)
                case ast.Attribute(attr=name):
                    found += [_NAMED[name]] if name in _NAMED else _named(name)
    return found


_NAMED = {
    "OK": 200,
    "ACCEPTED": 202,
    "NO_CONTENT": 204,
    "BAD_REQUEST": 400,
    "UNAUTHORIZED": 401,
    "FORBIDDEN": 403,
    "NOT_FOUND": 404,
    "METHOD_NOT_ALLOWED": 405,
    "NOT_ACCEPTABLE": 406,
    "GONE": 410,
}


def _named(name: str) -> list[int]:
    """`HTTP_405_METHOD_NOT_ALLOWED`."""
    found = re.match(r"HTTP_(\d{3})_", name)
    return [int(found[1])] if found else []


def _is_bare(node: ast.expr, *, said: bool) -> bool:
    match node:
        case ast.Constant(value=None | "" | b"" | int()):
            return True
        case ast.Dict(values=values):
            return said and len(values) <= 2 and all(isinstance(value, ast.Constant) for value in values)
        case ast.IfExp(body=body, orelse=orelse):
            return _is_bare(body, said=said) and _is_bare(orelse, said=said)
        case ast.Attribute(attr=name):
            return name in _NAMED or bool(_named(name))
    return False
