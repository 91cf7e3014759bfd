"""A session object that is made for one request: where the server looks one up, and how its handshake makes one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from .code import Class, Code, Place, assigned, last
from .functions import is_shared, root, targets
from .gates import handshake
from .handshake import WORKS
from .sessionless import Sessionless
from .sessions import Values, looked_up
from .syntax import descend

# What stands for a parameter of the constructor that only a handshake could fill, by its name or annotation.
_VERSION = re.compile(r"version|revision", re.IGNORECASE)
_DICT = re.compile(r"^(dict|Dict|Mapping|MutableMapping)\b|Dict\[")
_MAPPINGS = frozenset({"client_info", "client", "params", "capabilities", "client_capabilities", "info", "meta", "metadata", "context"})


class Fresh(NamedTuple):
    """The statement that looks a session up, the name that it gives, and the expression that makes one."""

    place: Place
    statement: ast.Assign
    name: str
    text: str


def fresh(code: Code, model: Sessionless, current: str) -> list[Fresh]:
    """The look-ups whose object can be made anew for a request; `current` is the revision that such a request has."""
    made = {text for place, call in _made(code, model) if (text := _text(code, call, place, current))}
    if len(made) != 1:
        return []
    text = made.pop()
    found: list[Fresh] = []
    for place in model.inside:
        looked = {id(node) for node in looked_up(model.conditions(place.unit), place.unit.module)}
        for node in place.nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name) as goal], value=value) if model.is_common(node, place):
                    safe = not isinstance(value, ast.Subscript) or id(value) in looked
                    if safe and model.is_lookup(value, place) and model.is_session(value, place) and _is_object(name, goal, place):
                        found.append(Fresh(place, node, name, text))
    return found


def _made(code: Code, model: Sessionless) -> Iterator[tuple[Place, ast.Call]]:
    """Where the handshake makes a session object: a class of the project, by the name of a session."""
    for unit in dict.fromkeys(place.unit for place in model.inside):
        region = handshake(unit.module)
        for place in unit.places:
            values = Values(unit.module)
            for node in place.nodes:
                match node:
                    case ast.Assign(targets=[goal], value=ast.Call(func=func) as call) if node in region and place.function:
                        named = values.holds(goal, place.function) or any(values.holds(n, place.function) for n in _keys(goal))
                        if named and isinstance(code.target(func, place), Class):
                            yield place, call


def _keys(goal: ast.expr) -> Iterator[ast.expr]:
    if isinstance(goal, ast.Subscript):
        yield goal.slice


def _text(code: Code, call: ast.Call, place: Place, current: str) -> str:
    """The call with something for each argument that only a handshake has; "" where there is nothing."""
    owner = code.target(call.func, place)
    start = code.method(owner, "__init__") if isinstance(owner, Class) else None
    if not isinstance(owner, Class) or (start is not None and not _is_quiet(start)):
        return ""
    name = ast.unparse(call.func)
    if start is None or start.function is None:
        return f"{name}()" if not call.args and not call.keywords else ""
    args = start.function.node.args
    every = [*args.posonlyargs, *args.args][1:]
    parts: list[str] = []
    positional = dict(zip([arg.arg for arg in every], call.args, strict=False))
    named = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    if any(isinstance(argument, ast.Starred) for argument in call.args) or len(named) < len(call.keywords):
        return ""
    for arg in (*every, *args.kwonlyargs):
        given = positional.get(arg.arg) or named.get(arg.arg)
        if given is None:
            continue
        text = _stand_in(arg, given, place, current)
        if not text:
            return ""
        parts.append(text if arg.arg in positional else f"{arg.arg}={text}")
    return f"{name}({', '.join(parts)})"


def _stand_in(arg: ast.arg, given: ast.expr, place: Place, current: str) -> str:
    note = ast.unparse(arg.annotation) if arg.annotation is not None else ""
    own = {n.id for n in descend(given) if isinstance(n, ast.Name)}
    local = any(
        name in (around.function.parameters if around.function else ()) or assigned(around, name)
        for name in own
        for around in place.enclosing()
    )
    if not local and not any(isinstance(n, ast.Call | ast.Await) for n in descend(given)):
        return ast.unparse(given).replace("'", '"')
    if _VERSION.search(arg.arg):
        return f'"{current}"'
    if arg.arg in _MAPPINGS or _DICT.search(note):
        return "{}"
    if "None" in note or "Optional" in note:
        return "None"
    return '""' if note == "str" else ""


def _is_quiet(start: Place) -> bool:
    """Whether making an object has no effect outside of it."""
    assert start.function
    for node in start.nodes:
        if isinstance(node, ast.Call) and WORKS.match(last(node.func)):
            return False
        for goal in targets(node):
            name = root(goal)
            if name and name != "self" and not (isinstance(goal, ast.Name) and not is_shared(goal.id, start.function)):
                return False
    return True


def _is_object(name: str, goal: ast.Name, place: Place) -> bool:
    """Whether what is looked up is used as an object, or handed on as one."""
    module = place.unit.module
    for node in place.nodes:
        if isinstance(node, ast.Name) and node.id == name and node is not goal and isinstance(node.ctx, ast.Load):
            parent = module.parents[node]
            if isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Call) and node in parent.args):
                return True
    return False
