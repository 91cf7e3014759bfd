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
_MAKERS = frozenset(
    {"uuid", "secrets", "time", "datetime", "collections", "queue", "asyncio", "threading", "dict", "list", "set", "str", "deque"}
)


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


def _made(code: Code, model: Sessionless) -> Iterator[tuple[Place, ast.Call | ast.Dict]]:
    """Where the handshake makes a session: an object of the project's, or a dict, by the name of a session or under its id."""
    for unit in dict.fromkeys(place.unit for place in model.inside):
        region, values = unit.module.once(handshake), Values(unit.module)
        for place in unit.places:
            for node in place.nodes:
                match node:
                    case ast.Assign(targets=[goal], value=(ast.Call() | ast.Dict()) as made) if node in region and place.function:
                        keys = [goal.slice] if isinstance(goal, ast.Subscript) else [goal]
                        if any(values.holds(key, place.function) for key in keys) and (
                            isinstance(made, ast.Dict) or isinstance(code.target(made.func, place), Class)
                        ):
                            yield place, made


def _text(code: Code, made: ast.Call | ast.Dict, place: Place, current: str) -> str:
    """The expression with something for each part that only a handshake has; "" where there is nothing."""
    if isinstance(made, ast.Dict):
        return _dict(made, place, current)
    owner = code.target(made.func, place)
    if not isinstance(owner, Class):
        return ""
    start = code.method(owner, "__init__")
    if start is not None and not _is_quiet(start):
        return ""
    fields = [*_parameters(start)] if start is not None else [*_fields(owner)]
    positional = dict(zip([name for name, _ in fields], made.args, strict=False))
    named = {keyword.arg: keyword.value for keyword in made.keywords if keyword.arg}
    if (
        any(isinstance(argument, ast.Starred) for argument in made.args)
        or len(positional) < len(made.args)
        or len(named) < len(made.keywords)
    ):
        return ""
    parts: list[str] = []
    for name, note in fields:
        given = positional.get(name) or named.get(name)
        if given is None:
            continue
        text = _stand_in(name, note, given, place, current)
        if not text:
            return ""
        parts.append(text if name in positional else f"{name}={text}")
    return f"{ast.unparse(made.func)}({', '.join(parts)})"


def _dict(made: ast.Dict, place: Place, current: str) -> str:
    parts: list[str] = []
    for key, value in zip(made.keys, made.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return ""
        text = _stand_in(key.value, "", value, place, current)
        if not text:
            return ""
        parts.append(f'"{key.value}": {text}')
    return f"{{{', '.join(parts)}}}"


def _parameters(start: Place) -> Iterator[tuple[str, str]]:
    """The parameters of a constructor with their annotations."""
    assert start.function
    args = start.function.node.args
    for arg in (*[*args.posonlyargs, *args.args][1:], *args.kwonlyargs):
        yield arg.arg, ast.unparse(arg.annotation) if arg.annotation is not None else ""


def _fields(owner: Class) -> Iterator[tuple[str, str]]:
    """The fields of a dataclass or model."""
    for statement in owner.unit.classes[owner.name].body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id, ast.unparse(statement.annotation)


def _stand_in(name: str, note: str, given: ast.expr, place: Place, current: str) -> str:
    if isinstance(given, ast.Name) and len(values := assigned(place, given.id)) == 1 and values[0] is not None:
        given = values[0]
    own = {n.id for n in descend(given) if isinstance(n, ast.Name)}
    local = any(
        one in (around.function.parameters if around.function else ()) or assigned(around, one)
        for one in own
        for around in place.enclosing()
    )
    if not local and all(_makes_anew(n, place) for n in descend(given) if isinstance(n, ast.Call | ast.Await)):
        return ast.unparse(given).replace("'", '"')
    if _VERSION.search(name):
        return f'"{current}"'
    if name in _MAPPINGS or _DICT.search(note):
        return "{}"
    if "None" in note or "Optional" in note:
        return "None"
    return '""' if note == "str" else ""


def _makes_anew(node: ast.Call | ast.Await, place: Place) -> bool:
    """Whether a call only makes something: an id, the time, a collection, a lock."""
    if not isinstance(node, ast.Call):
        return False
    inner: ast.expr = node.func
    while isinstance(inner, ast.Attribute | ast.Call):
        inner = inner.func if isinstance(inner, ast.Call) else inner.value
    spelled = place.unit.names.imports.get(inner.id, inner.id) if isinstance(inner, ast.Name) else ""
    return spelled.partition(".")[0] in _MAKERS


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
            if isinstance(parent, ast.Attribute | ast.Subscript) or (isinstance(parent, ast.Call) and node in parent.args):
                return True
    return False
