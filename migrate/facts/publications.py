"""Where a server says that something of it has changed, so that clients of 2026-07-28 can be told at the same place.

Who wants to hear it is a matter of the sessions of earlier revisions; for this revision the boundary knows. So each place is
outside of all loops over clients and all tests of who has subscribed.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from .functions import Function, Module, bound, dotted, root, targets, walk
from .syntax import descend
from .waiters import Doubt

_CHANGES = frozenset(
    {f"notifications/{kind}/list_changed" for kind in ("tools", "prompts", "resources")} | {"notifications/resources/updated"}
)
# Words for those who hear it. One too many is told twice what nobody asked for; one too few would not be told.
_RECEIVERS = re.compile(r"subscri|watch|listen|session|client|conn|queue|stream|sse|peer|mailbox|outbox|receiver|\buris\b", re.IGNORECASE)
_QUIET = frozenset({"debug", "info", "warning", "error", "exception", "critical", "print", "len", "str", "repr", "isinstance", "bool"})
_KEEPS = frozenset({"add", "append", "setdefault"})
_MAX_CLIMB = 4


class Publication(NamedTuple):
    """A change notification: the statement that hands it to clients, and the message as code that can stand above it."""

    before: ast.stmt
    message: str


class _Message(NamedTuple):
    """What is said, in the names of one function: a name for the whole of it, or its parts."""

    method: ast.expr
    params: ast.expr | None
    whole: ast.expr | None = None  # the expression that gives it here


def publications(module: Module) -> Iterator[Publication | Doubt]:
    """Every place that has to publish. With one doubt among them none may: who listens would wait for what never comes."""
    if any(node.value in _CHANGES or _is_changed(node) for node in module.nodes(ast.Constant)):
        yield from _Publications(module).found()


class _Publications:
    def __init__(self, module: Module) -> None:
        self.module = module
        self.understood: set[ast.AST] = set()
        self.callers: dict[Function, list[tuple[ast.Call, Function]]] = {}
        for caller in module.functions.values():
            for call, target in module.calls(caller):
                self.callers.setdefault(target, []).append((call, caller))

    def found(self) -> Iterator[Publication | Doubt]:
        told: set[tuple[ast.stmt, str]] = set()
        for function in self.module.functions.values():
            for node in function.own:
                if isinstance(node, ast.Dict) and (message := self._message(node)) and self._tells(message.method, function):
                    for one in self._said(node, message, function, 0):
                        key = (one.before, one.message) if isinstance(one, Publication) else None
                        if key is None or key not in told:
                            yield one
                        told |= {key} if key else set()
        for constant in self.module.nodes(ast.Constant):
            if (constant.value in _CHANGES or _is_changed(constant)) and constant not in self.understood and self._is_sent(constant):
                yield Doubt(self.module.span(constant), "a change is announced in a way that is not understood")

    def _message(self, node: ast.Dict) -> _Message | None:
        fields = {text: value for key, value in zip(node.keys, node.values, strict=True) if (text := self.module.string(key))}
        if "method" not in fields or "id" in fields or None in node.keys:
            return None
        return _Message(fields["method"], fields.get("params"), node)

    def _tells(self, method: ast.expr, function: Function, seen: frozenset[Function] = frozenset()) -> bool:
        """Whether a method may be one that says that something has changed. Notes the texts that it comes from."""
        text = self.module.string(method)
        if text is not None or isinstance(method, ast.JoinedStr):
            parts = [n for n in descend(method) if isinstance(n, ast.Constant)]
            self.understood.update(parts)
            return text in _CHANGES or any(map(_is_changed, parts))
        if not isinstance(method, ast.Name) or method.id not in function.parameters or function in seen:
            return False
        given = [(bound(call, function, method.id), caller) for call, caller in self.callers.get(function, ())]
        # All of them are asked: each notes its own text.
        told = [self._tells(value, caller, seen | {function}) for value, caller in given if value is not None]
        return any(told)

    # -- where it is handed on --------------------------------------------------------
    def _said(self, node: ast.expr, message: _Message, function: Function, depth: int) -> Iterator[Publication | Doubt]:
        """The places for a message that this expression makes in a function."""
        statement = self._statement(node)
        names = [goal.id for goal in targets(statement) if isinstance(goal, ast.Name)]
        if isinstance(statement, ast.Return) and statement.value is node:
            for call, caller in self._relevant(message.method, function):
                yield from self._said(call, message._replace(whole=call), caller, depth + 1)
        elif names and isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is node:
            later = (n for n in function.own if isinstance(n, ast.Call) and n.lineno > (statement.end_lineno or 0))
            handed = next((n for n in later if _carries(n, names[0])), None)
            if handed is not None:
                params = message.params or self._added(names[0], function)
                whole = ast.copy_location(ast.Name(names[0], ast.Load()), handed)
                yield from self._handed(handed, _Message(message.method, params, whole), function, depth)
        elif handing := next((n for n in self.module.ancestors(node) if isinstance(n, ast.Call) and not _is_quiet(n)), None):
            yield from self._handed(handing, message, function, depth)

    def _handed(self, call: ast.Call, message: _Message, function: Function, depth: int) -> Iterator[Publication | Doubt]:
        """The place in this function, or those in all that call it, where it speaks to one client only."""
        calls = self._relevant(message.method, function)
        if depth < _MAX_CLIMB and calls and (self._is_of_one(call, function) or any(self._is_chosen(one, by) for one, by in calls)):
            for one, caller in calls:
                moved = self._moved(message, one, function)
                if moved is None:
                    yield Doubt(self.module.span(call), "what is announced here is put together for each client anew")
                else:
                    yield from self._handed(one, moved, caller, depth + 1)
        elif (before := self._before(call, message, function)) is not None:
            guards = list(self._guards(before))
            if not guards:
                yield Publication(before, self._text(message))
            elif len(guards) == 1 and self._can_move(guards[0], before, message):
                yield Publication(guards[0], self._text(message._replace(whole=None)))
            else:
                yield Doubt(self.module.span(guards[0]), "what is announced below this is not known here")
        else:
            yield Doubt(self.module.span(call), "a change is announced only if a client with a session wants to hear it")

    def _relevant(self, method: ast.expr, function: Function) -> list[tuple[ast.Call, Function]]:
        """The calls of a function that make it say that something has changed."""
        calls = self.callers.get(function, [])
        if isinstance(method, ast.Name) and method.id in function.parameters:
            return [(c, by) for c, by in calls if (given := bound(c, function, method.id)) is not None and self._tells(given, by)]
        return calls

    def _is_of_one(self, call: ast.Call, function: Function) -> bool:
        """Whether what is called belongs to one client: a parameter, or the object itself where there is one for each client."""
        name = root(call.func)
        if name == "self" and function.owner:
            return function.owner in self._kept
        return isinstance(call.func, ast.Attribute | ast.Subscript) and name in function.parameters

    def _is_chosen(self, call: ast.Call, function: Function) -> bool:
        """Whether a call is made for some clients only."""
        statement: ast.AST = call
        for around in self.module.ancestors(call):
            if isinstance(around, ast.If) and statement is not around.test and _RECEIVERS.search(ast.unparse(around.test)):
                return True
            if isinstance(around, ast.For | ast.AsyncFor) and self._runs_over_clients(around, call):
                return True
            statement = around
        return False

    @cached_property
    def _kept(self) -> frozenset[str]:
        """The classes whose objects are kept in a collection."""
        found: set[str] = set()
        made = {}
        for node in self.module.nodes(ast.Assign):
            if isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name):
                made[node.targets[0].id] = dotted(node.value.func)
            if isinstance(node.targets[0], ast.Subscript):
                found |= {made.get(n.id, "") for n in [node.value] if isinstance(n, ast.Name)}
                found |= {dotted(n.func) for n in [node.value] if isinstance(n, ast.Call)}
        for call in self.module.nodes(ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr in _KEEPS:
                found |= {made.get(n.id, "") for n in call.args if isinstance(n, ast.Name)}
                found |= {dotted(n.func) for n in call.args if isinstance(n, ast.Call)}
        return frozenset(found)

    # -- the place -------------------------------------------------------------------
    def _before(self, call: ast.Call, message: _Message, function: Function) -> ast.stmt | None:
        """The outermost statement that only decides which clients hear of it; None where the message does not exist there."""
        used = {n.id for n in descend(message.whole or _dict(message)) if isinstance(n, ast.Name)}
        here = self._statement(call)
        while isinstance(around := self.module.parents[here], ast.stmt | ast.ExceptHandler) and around is not function.node:
            first = here in getattr(around, "body", ())[:1]
            match around:
                case ast.For() | ast.AsyncFor() if self._runs_over_clients(around, call):
                    pass
                case ast.If(test=test) if _RECEIVERS.search(ast.unparse(test)):
                    pass
                case ast.With(items=items) | ast.AsyncWith(items=items) if first and not any(item.optional_vars for item in items):
                    pass
                case ast.Try() if first:
                    pass
                case _:
                    break
            assert isinstance(around, ast.stmt)
            if used & {goal.id for n in walk(around) for goal in targets(n) if isinstance(goal, ast.Name)}:
                return None
            here = around
        above = self.module.parents[here]
        is_elif = isinstance(above, ast.If) and above.orelse == [here] and self.module.text(here).startswith("elif")
        return None if is_elif or self._is_guarded(here, call) else here

    def _is_guarded(self, here: ast.stmt, call: ast.Call) -> bool:
        """Whether something further out, or above, lets only some clients through."""
        for around in self.module.ancestors(here):
            if isinstance(around, ast.For | ast.AsyncFor) and self._runs_over_clients(around, call):
                return True
            if isinstance(around, ast.If) and _RECEIVERS.search(ast.unparse(around.test)):
                return True
        return False

    def _guards(self, here: ast.stmt) -> Iterator[ast.stmt]:
        """What leaves further up where no client wants to hear of it."""
        inner: ast.AST = here
        for around in self.module.ancestors(here):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(around, name, None)
                for statement in block[: block.index(inner)] if isinstance(block, list) and inner in block else ():
                    if isinstance(statement, ast.If) and _RECEIVERS.search(ast.unparse(statement.test)) and _is_left(statement.body):
                        yield statement
            inner = around

    def _can_move(self, guard: ast.stmt, here: ast.stmt, message: _Message) -> bool:
        """Whether the message can be made above the guard, because nothing but values are looked up in between."""
        block = next(b for n in ("body", "orelse") if isinstance(b := getattr(self.module.parents[guard], n, None), list) and guard in b)
        if here not in block:
            return False
        between = block[block.index(guard) + 1 : block.index(here)]
        made = {goal.id for s in between for n in walk(s) for goal in targets(n) if isinstance(goal, ast.Name)}
        used = {n.id for n in descend(_dict(message)) if isinstance(n, ast.Name)}
        return all(isinstance(s, ast.Assign | ast.AnnAssign) for s in between) and not used & made

    def _runs_over_clients(self, loop: ast.For | ast.AsyncFor, call: ast.Call) -> bool:
        names = {goal.id for goal in targets(loop) if isinstance(goal, ast.Name)}
        return root(call.func) in names or _RECEIVERS.search(ast.unparse(loop.iter)) is not None

    # -- the message -----------------------------------------------------------------
    def _moved(self, message: _Message, call: ast.Call, function: Function) -> _Message | None:
        """The message in the names of a caller."""
        own = function.node.args.kwarg.arg if function.node.args.kwarg else ""
        params = message.params
        if isinstance(params, ast.BoolOp):
            params = params.values[0]  # params or {}
        if isinstance(params, ast.Name) and params.id == own:
            named = [k for k in call.keywords if k.arg not in function.parameters]
            if any(k.arg is None for k in named):
                return None
            params = ast.Dict([ast.Constant(k.arg) for k in named], [k.value for k in named]) if named else None
        else:
            params = self._given(params, call, function) if params is not None else None
            if params is None and message.params is not None:
                return None
        method = self._given(message.method, call, function)
        if isinstance(params, ast.Constant) and params.value is None:
            params = None
        return _Message(method, params) if method is not None else None

    def _given(self, node: ast.expr, call: ast.Call, function: Function) -> ast.expr | None:
        """An expression with the arguments of a call in the place of parameters; None where other local names are left."""
        if isinstance(node, ast.Name) and node.id in function.parameters:
            return bound(call, function, node.id) or ast.Constant(None)
        whole = copy.deepcopy(node)
        for name in (n for n in ast.walk(whole) if isinstance(n, ast.Name)):
            if name.id in function.parameters and (given := bound(call, function, name.id)) is not None:
                if not isinstance(given, ast.Name):
                    return None
                name.id = given.id
            elif name.id in function.assigned or name.id in (*function.parameters, "self"):
                return None
        return whole

    def _added(self, name: str, function: Function) -> ast.expr | None:
        """`message["params"] = params` below the literal."""
        for node in function.own:
            match node:
                case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=found), slice=key)], value=value) if found == name:
                    if self.module.string(key) == "params":
                        return value
        return None

    def _text(self, message: _Message) -> str:
        if message.whole is None:
            return ast.unparse(_dict(message)).replace("'", '"')
        text = message.whole.id if isinstance(message.whole, ast.Name) else self.module.text(message.whole)
        return text if "\n" not in text else ast.unparse(message.whole)

    def _statement(self, node: ast.AST) -> ast.stmt:
        while not isinstance(node, ast.stmt):
            node = self.module.parents[node]
        return node

    def _is_sent(self, node: ast.Constant) -> bool:
        """Whether a text is on its way to somebody, and not compared, listed or documented."""
        parent = self.module.parents[node]
        if self.module.function_of(node) is None:
            return False
        match parent:
            case ast.Call():
                return not _is_quiet(parent) and dotted(parent.func).rpartition(".")[2] not in {"get", "startswith", "endswith"}
            case ast.keyword() | ast.Tuple() | ast.JoinedStr():
                return any(isinstance(around, ast.Call) and not _is_quiet(around) for around in self.module.ancestors(node))
            case ast.Dict(keys=keys, values=values):
                return any(value is node and self.module.string(key) == "method" for key, value in zip(keys, values, strict=True))
        return False


def _dict(message: _Message) -> ast.Dict:
    keys, values = ["jsonrpc", "method"], [ast.Constant("2.0"), message.method]
    if message.params is not None:
        keys, values = [*keys, "params"], [*values, message.params]
    return ast.Dict([ast.Constant(key) for key in keys], values)


def _is_left(body: list[ast.stmt]) -> bool:
    """Whether a block leaves and gives nothing: what gives something is an answer."""
    last = body[-1]
    return isinstance(last, ast.Continue | ast.Break) or (isinstance(last, ast.Return) and last.value is None)


def _carries(call: ast.Call, name: str) -> bool:
    """Whether a call takes what a name holds."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return not _is_quiet(call) and any(isinstance(n, ast.Name) and n.id == name for value in given for n in walk(value))


def _is_quiet(call: ast.Call) -> bool:
    return dotted(call.func).rpartition(".")[2] in _QUIET


def _is_changed(node: ast.Constant) -> bool:
    """The end of `f"notifications/{kind}/list_changed"`."""
    return isinstance(node.value, str) and node.value.endswith("/list_changed") and node.value.startswith("/")
