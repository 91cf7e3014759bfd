"""Places where an action goes on although its user could not be asked for consent."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..source import Span
from .asking import Asking
from .capabilities import Check
from .effects import effects
from .functions import Function, Module, dotted, following, targets, walk
from .syntax import descend


class Opening(NamedTuple):
    """A place where an action goes on although nobody could be asked for consent."""

    span: Span
    function: str
    reason: str


def openings(asking: Asking) -> Iterator[Opening]:
    """Where an action goes on although the user could not be asked."""
    module = asking.module
    if not any("elicitation" in needs for needs in asking.askers.values()):
        return
    for function in module.functions.values():
        for node in function.own:
            if isinstance(node, ast.Try) and any("elicitation" in asking.needs(s, function) for s in node.body):
                for handler in node.handlers:
                    if goes_on(handler.body, node, function, module):
                        yield Opening(module.span(handler), function.name, "what it guards goes on when the user could not be asked")
    for waiter in asking.waiters:
        if "elicitation" not in waiter.capabilities:
            continue
        for node in waiter.function.own:
            if isinstance(node, ast.Return) and node.value is not None and _is_consent(node.value):
                yield Opening(module.span(node), waiter.function.name, "this counts as consent although nobody answered")
    for check in asking.checks():
        found = _skips(check, asking)
        if found is not None:
            yield found


def _skips(check: Check, asking: Asking) -> Opening | None:
    """An action that is confirmed if the client can be asked, and simply done if it cannot."""
    module = asking.module
    if check.capability != "elicitation" or check.refuses:
        return None
    node: ast.AST = check.test
    while isinstance(parent := module.parents.get(node), ast.BoolOp):
        node = parent
    function = module.function_of(check.test)
    if function is None or not isinstance(parent, ast.If) or parent.test is not node:
        return None
    missing, present = (parent.body, parent.orelse) if check.negative else (parent.orelse, parent.body)
    after = list(following(parent, module))
    asked = any("elicitation" in asking.needs(s, function) for s in [*present, *after])
    if not asked:
        return None
    if missing and isinstance(last := missing[-1], ast.Return):
        opens = last.value is not None and _is_consent(last.value)
    elif missing and isinstance(missing[-1], ast.Raise):
        opens = False
    elif missing and any(_is_consent(s.value) for s in missing if isinstance(s, ast.Assign)):
        opens = True
    elif check.negative:
        opens = False  # falls through to the question, which refuses by itself
    elif _consented_before(parent, {t.id for s in present for n in walk(s) for t in targets(n) if isinstance(t, ast.Name)}, function):
        opens = True
    else:
        decides = any(isinstance(n, ast.Return | ast.Raise) for s in present for n in walk(s))
        opens = (
            decides
            and not isinstance(present[-1], ast.Return | ast.Raise)
            and any(True for s in after for _ in effects(s, function, module))
        )
    if not opens:
        return None
    return Opening(module.span(parent), function.name, "what it guards goes on when the client cannot ask its user")


def goes_on(block: list[ast.stmt], guarded: ast.Try, function: Function, module: Module) -> bool:
    """Whether what a `try` guards goes on after its handler, as if its user had agreed."""
    after = list(following(guarded, module))
    if _touched(block, function, module) & _touched([*guarded.body, *guarded.orelse, *after], function, module):
        return True
    match block[-1]:
        case ast.Raise() | ast.Continue() | ast.Break():
            return False
        case ast.Return(value=None):
            return _refuses_by_raising(function) or (all(map(_returns_nothing, after)) and _only_refusals_leave(guarded))
        case ast.Return(value=ast.expr() as value):
            unchanged = isinstance(value, ast.Constant) and value.value is None and all(map(_returns_nothing, after))
            return _is_consent(value) or (unchanged and _only_refusals_leave(guarded))
    given = [(t.id, s.value) for s in block if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)]
    if given:
        return any(_is_consent(value) for _, value in given)
    if any(isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and dotted(s.value.func).endswith("exit") for s in block):
        return False
    if not after:
        return _refuses_by_raising(function) or _only_refusals_leave(guarded)
    learned = {t.id for s in guarded.body for n in walk(s) for t in targets(n) if isinstance(t, ast.Name)}
    read = {n.id for s in after for n in walk(s) if isinstance(n, ast.Name)}
    if learned & read:
        return _consented_before(guarded, learned & read, function)
    decides = any(isinstance(n, ast.Return | ast.Raise) for s in guarded.body for n in walk(s))
    return decides and (_only_refusals_leave(guarded) or any(True for s in after for _ in effects(s, function, module)))


def _returns_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.Return(value=None | ast.Constant(value=None)):
            return True
    return False


def _only_refusals_leave(guarded: ast.Try) -> bool:
    """Whether a user who refuses ends the function inside of the block, so that what comes behind it is for those who agreed."""
    tests = [
        node.test
        for statement in guarded.body
        for node in walk(statement)
        if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Return | ast.Raise)
    ]
    leaving = [node for statement in guarded.body for node in walk(statement) if isinstance(node, ast.Return)]
    inside = [node for statement in guarded.body for node in walk(statement) if isinstance(node, ast.If) for node in node.body]
    return bool(tests) and all(map(_is_refusal, tests)) and all(node in inside for node in leaving)


def _is_refusal(test: ast.expr) -> bool:
    """`reply.action != "accept"`, `reply.action == "decline"`, `reply.action in ("decline", "cancel")`, also beside other tests."""
    match test:
        case ast.BoolOp(values=values):
            return any(map(_is_refusal, values))
        case ast.Compare(ops=[ast.NotEq()], comparators=[ast.Constant(value="accept")]):
            return True
        case ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(value="decline" | "cancel")]):
            return True
        case ast.Compare(ops=[ast.In()], comparators=[ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements)]):
            return all(isinstance(one, ast.Constant) and one.value in ("decline", "cancel") for one in elements)
    return False


def _touched(statements: Sequence[ast.stmt], function: Function, module: Module) -> set[str]:
    """The names of what is changed there, as far as it is neither the function's own nor about waiting and logging."""
    found: set[str] = set()
    for statement in statements:
        for node, _ in effects(statement, function, module):
            for inner in descend(node):
                changed = inner.func if isinstance(inner, ast.Call) else inner
                if isinstance(changed, ast.Attribute | ast.Subscript):
                    name = dotted(changed.value)
                    found |= {name} if name and name not in ("self", "logger", "logging", "sys", *function.parameters) else set()
    return found


def _consented_before(statement: ast.stmt, names: set[str], function: Function) -> bool:
    """Whether one of the names said yes before anybody was asked."""
    before = [s for s in function.own if isinstance(s, ast.Assign) and s.lineno < statement.lineno]
    return any(_is_consent(s.value) for s in before if any(isinstance(t, ast.Name) and t.id in names for t in s.targets))


def _refuses_by_raising(function: Function) -> bool:
    """Whether callers go on unless the function raises."""
    valued = any(isinstance(n, ast.Return) and n.value is not None for n in function.own)
    return not valued and any(isinstance(n, ast.Raise) and n.exc is not None for n in function.own)


def _is_consent(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=True):
            return True
        case ast.Constant(value="accept"):
            return True
        case ast.Dict(keys=keys, values=values):
            pairs = {k.value: v for k, v in zip(keys, values, strict=True) if isinstance(k, ast.Constant)}
            return isinstance(action := pairs.get("action"), ast.Constant) and action.value == "accept"
        case ast.Call(keywords=keywords):
            return any(isinstance(k.value, ast.Constant) and (k.value.value is True or k.value.value == "accept") for k in keywords)
        case ast.Tuple(elts=[first, *_]):
            return _is_consent(first)
    return False
