"""Where a function goes that is handed on: to a parameter, an attribute or another name, and who calls it there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .code import BY_REFERENCE, Call, Class, Code, Place, Unit, assigned, last
from .syntax import descend

_AT_ONCE = frozenset({"run_in_executor", "to_thread", "run_sync"})
_NOTHING = ast.Constant(value=None)


@dataclass(frozen=True, eq=False)
class _Value:
    """An expression whose value is the function: with arguments that `partial` has bound, or behind a lambda.

    `takes` are the parameters of the lambda, and which of them it hands to the function, in order; "" for anything else.
    """

    node: ast.expr
    place: Place
    bound: tuple[ast.expr, ...] = ()
    takes: tuple[tuple[str, ...], tuple[str, ...]] | None = None
    over: tuple[ast.Call, ...] = ()  # the calls that have handed it on


def followed(code: Code, target: Place) -> Iterator[tuple[Call, tuple[ast.Call, ...]]]:
    """The calls of what a function is handed to, and what has handed it there: `run(handle)`, `partial(handle, tools)`."""
    pending = [*_named(code, target)]
    seen: set[ast.AST] = set()
    for value in pending:
        if value.node not in seen:
            seen.add(value.node)
            for step in _step(code, value):
                if isinstance(step, Call):
                    yield step, value.over
                else:
                    pending.append(step)


def _named(code: Code, target: Place) -> Iterator[_Value]:
    """Where a function is named and not called, or called inside of a lambda."""
    assert target.function
    short = target.function.short
    for unit in code.around(target.unit):
        shorts = dict.fromkeys((short, *unit.spellings.get(short, ())))
        for node in [node for name in shorts for node in unit.named.get(name, ())]:
            around = unit.module.parents[node]
            # Calls outside of lambdas are found by their name.
            if not (isinstance(around, ast.Call) and around.func is node) or _is_in_lambda(node, unit):
                place = Place(unit, unit.module.function_of(node))
                if code.target(node, place) == target:
                    yield _Value(node, place)


def _step(code: Code, value: _Value) -> Iterator[Call | _Value]:
    """What happens at one place that names the function: it is called, or it is named elsewhere."""
    node, place = value.node, value.place
    parents = place.unit.module.parents
    match parents.get(node):
        case ast.Call(func=func) as around if func is node:
            above = _above(around, place.unit)
            if isinstance(above, ast.Lambda) and value.takes is None and (taken := _through(above, around)) is not None:
                own = tuple(around.args) if not taken[0] else value.bound
                yield replace(value, node=above, bound=own, takes=taken)
            else:
                yield _called(value, around)
        case ast.Call(func=func, args=[first, *rest]) as around if last(func) == "partial" and first is node and value.takes is None:
            yield replace(value, node=around, bound=(*value.bound, *rest), over=(*value.over, around))
        case ast.Call() as around:
            yield from _handed(code, value, around, None)
        case ast.keyword(arg=str(name)) as keyword if isinstance(call := parents[keyword], ast.Call):
            yield from _handed(code, value, call, name)
        case ast.Assign(targets=[goal]) | ast.AnnAssign(target=goal) as statement:
            # In the body of a class it becomes a method, which has an object before its message.
            if not isinstance(parents[statement], ast.ClassDef):
                yield from _loads(code, value, goal, place)


def _called(value: _Value, call: ast.Call) -> Call:
    if value.takes is None:
        return Call(value.place, call, (*value.bound, *call.args), direct=True)
    given = dict(zip(value.takes[0], call.args, strict=False)) | {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    return Call(value.place, call, tuple(given.get(name, _NOTHING) for name in value.takes[1]), direct=True)


def _handed(code: Code, value: _Value, call: ast.Call, keyword: str | None) -> Iterator[Call | _Value]:
    """A function among the arguments of a call."""
    target = made = code.target(call.func, value.place)
    if isinstance(target, Class):
        target = code.method(target, "__init__")
    at = call.args.index(value.node) if value.node in call.args else len(call.args)
    if isinstance(target, Place) and target.function:
        names = target.function.parameters
        starred = any(isinstance(argument, ast.Starred) for argument in call.args[:at])
        name = keyword or (names[at] if at < len(names) and not starred else "")
        if name in names and not assigned(target, name):
            yield from _loads(code, replace(value, over=(*value.over, call)), ast.Name(id=name), target)
    elif isinstance(made, Class):
        if keyword is not None:  # the field of a dataclass
            yield from _attribute(code, replace(value, over=(*value.over, call)), made, keyword)
    else:
        name = last(call.func)
        rest: tuple[ast.expr, ...] = tuple(call.args[at + 1 :]) if name in BY_REFERENCE else ()
        if keyword is not None:
            rest = next((tuple(k.value.elts) for k in call.keywords if k.arg == "args" and isinstance(k.value, ast.Tuple)), ())
        yield Call(value.place, call, (*value.bound, *rest), direct=name in _AT_ONCE and keyword is None)


def _loads(code: Code, value: _Value, goal: ast.expr, place: Place) -> Iterator[_Value]:
    """Where what the function was given to is named."""
    match goal:
        case ast.Name(id=name):
            prefix = f"{place.name}." if place.function else ""
            for one in place.unit.places:
                if one == place or (one.function and one.name.startswith(prefix) and not _has_own(one, name)):
                    yield from (replace(value, node=node, place=one) for node in _within(one, name))
        case ast.Attribute(value=holder, attr=attr) if (owner := code.type_of(holder, place)) is not None:
            yield from _attribute(code, value, owner, attr)


def _has_own(place: Place, name: str) -> bool:
    return place.function is not None and (name in place.function.parameters or bool(assigned(place, name)))


def _within(place: Place, name: str) -> Iterator[ast.Name]:
    """The loads of a name in one function, in its lambdas too."""
    for node in place.nodes:
        inner = descend(node.body) if isinstance(node, ast.Lambda) and all(arg.arg != name for arg in node.args.args) else (node,)
        yield from (one for one in inner if isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load))


def _attribute(code: Code, value: _Value, owner: Class, attr: str) -> Iterator[_Value]:
    """Where an attribute of a class is named."""
    if code.method(owner, attr) is not None:
        return
    for unit in code.around(owner.unit):
        for node in unit.module.nodes(ast.Attribute):
            if node.attr == attr and isinstance(node.ctx, ast.Load):
                place = Place(unit, unit.module.function_of(node))
                found = code.type_of(node.value, place)
                if found is not None and (found == owner or owner in code.bases(found)):
                    yield replace(value, node=node, place=place)


def _is_in_lambda(node: ast.expr, unit: Unit) -> bool:
    return any(isinstance(around, ast.Lambda) for around in unit.module.ancestors(node))


def _above(call: ast.AST, unit: Unit) -> ast.AST:
    """What stands around a call, or around the `await` of it."""
    above = unit.module.parents[call]
    return unit.module.parents[above] if isinstance(above, ast.Await) else above


def _through(around: ast.Lambda, call: ast.Call) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """`lambda message: handle(message, tools)`: what it takes, and what it hands on as it is; None where it makes something of it."""
    names = tuple(arg.arg for arg in [*around.args.posonlyargs, *around.args.args])
    if any(_mentions(keyword.value, names) for keyword in call.keywords):
        return None
    if any(_mentions(argument, names) and not isinstance(argument, ast.Name) for argument in call.args):
        return None
    return names, tuple(argument.id if isinstance(argument, ast.Name) and argument.id in names else "" for argument in call.args)


def _mentions(node: ast.expr, names: tuple[str, ...]) -> bool:
    return any(isinstance(one, ast.Name) and one.id in names for one in descend(node))
