"""Which functions route by method, which methods they know, and where the method they look at comes from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from .code import Code, Place, assigned, last
from .functions import Function, walk
from .syntax import descend
from .vocabulary import BEGINNINGS, KEPT_REQUESTS, METHODS

ANCHORS = KEPT_REQUESTS | {"initialize"}
_MAX_DEPTH = 6
_TAKES_APART = frozenset({"endswith", "split", "rsplit", "partition", "rpartition", "removeprefix", "removesuffix", "replace"})
# Names of functions that mention a method and do not route by it; the second ones as beginnings.
_SAYS = frozenset({"str", "repr", "isinstance", "len", "type", "bool", "format", "append", "add", "dumps", "err", "warn", "startswith"})
_SPEAKS = (
    *("log", "debug", "info", "warning", "error", "exception", "critical", "print", "fail", "make_error", "rpc_error", "jsonrpc_error"),
    *("unknown", "not_found", "unsupported", "method_not_found", "send_error", "create_error", "build_error", "write", "record"),
)


class Origin(Enum):
    """What a routing function holds of the message."""

    MESSAGE = "message"  # the message itself, under this name
    PARAMETER = "parameter"  # only the method, as this parameter
    TYPED = "typed"  # an object with a `method` attribute


@dataclass(frozen=True)
class Subject:
    """What the branches of a chain ask about: a name, and where its value comes from."""

    origin: Origin
    name: str


@dataclass(frozen=True, eq=False)
class Table:
    """A mapping from method to handler. `complete` is False when it gets entries that cannot be read."""

    keys: frozenset[str] = frozenset()
    values: tuple[tuple[ast.expr | Place, Place], ...] = ()  # the handlers, and where they are named
    complete: bool = True

    def __or__(self, other: Table) -> Table:
        return Table(self.keys | other.keys, self.values + other.values, self.complete and other.complete)


@dataclass(frozen=True, eq=False)
class Chain:
    """A function that routes by method."""

    place: Place
    subject: Subject
    methods: frozenset[str]
    complete: bool  # no method reaches a handler that this scan did not see
    tables: tuple[Table, ...] = field(default=())


_GIVEN = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
_ROUTING = frozenset({ast.Compare, ast.Call, ast.Subscript, ast.Match})


def find(code: Code, place: Place) -> Chain | None:
    """The chain of one function: comparisons, `match` cases and table look-ups on one message's method."""
    methods: set[str] = set()
    complete = True
    subjects: list[Subject] = []
    tables: list[Table] = []
    handed: list[tuple[ast.Call, ast.expr, Subject]] = []

    def seen(about: Subject, texts: frozenset[str] | None) -> None:
        nonlocal complete
        subjects.append(about)
        complete = complete and texts is not None
        methods.update(texts or ())

    for node in place.nodes:
        if node.__class__ not in _ROUTING:
            continue
        match node:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
                for one, other in ((left, right), (right, left)):
                    if about := subject(code, one, place):
                        if not isinstance(other, ast.Constant) or isinstance(other.value, str):
                            seen(about, code.texts(other, place))
                        break
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[right]) if about := subject(code, left, place):
                if table := _table(code, right, place):
                    tables.append(table)
                    subjects.append(about)
                else:
                    seen(about, code.texts(right, place))
            case ast.Compare(left=left, ops=[ast.In()], comparators=[right]) if (texts := _held(code, left, place)) and (
                about := subject(code, right, place)
            ):
                # `if "tools/list" in method`: no other request holds a whole name, but what holds a part of one may be any.
                seen(about, frozenset(texts))
                complete = complete and texts <= METHODS
            case ast.Call(func=ast.Attribute(value=mapping, attr="get"), args=[key, *_]) if about := subject(code, key, place):
                tables.append(table_of(code, mapping, place))
                subjects.append(about)
            case ast.Subscript(value=mapping, slice=key, ctx=ast.Load()) if about := subject(code, key, place):
                tables.append(table_of(code, mapping, place))
                subjects.append(about)
            case ast.Call(func=ast.Attribute(value=base, attr="startswith"), args=[prefix]) if about := subject(code, base, place):
                # `notifications/` decides nothing about requests; any other prefix may let methods through.
                complete = complete and (code.text(prefix, place) or "").startswith(("notifications", "$/"))
            case ast.Call(func=ast.Attribute(value=base, attr=attr)) if attr in _TAKES_APART and subject(code, base, place):
                complete = complete and _is_named(code, node, place)
            case ast.Call(func=ast.Name(id="getattr"), args=[holder, name, *_]) if about := next(
                (found for n in walk(name) if isinstance(n, ast.expr) and (found := subject(code, n, place))), None
            ):
                complete = False
                if (named := _named(code, holder, name, place)) is not None:
                    tables.append(named)
                    subjects.append(about)
            case ast.Call(args=args) if complete:
                handed += [(node, a, about) for a in args if isinstance(a, _GIVEN) and (about := subject(code, a, place))]
            case ast.Match(subject=expression, cases=cases):
                about, texts, sure = _cases(code, expression, cases, place)
                if about:
                    seen(about, texts)
                    complete = complete and sure
    for table in tables:
        methods |= table.keys
        complete = complete and table.complete
    for call, argument, about in handed if complete else ():
        # Any parameter could be a method; only one that is asked for as such is, and what it is taken from.
        if about.name in {one.name for one in subjects} and not is_said(call, place) and not _is_named(code, call, place):
            complete = complete and not _may_route(code, call, argument, place)
    known = {name for name in methods if name in METHODS or "/" in name}
    if not subjects or len(known) < 2 or not known & ANCHORS:
        return None
    about = next((s for s in subjects if s.origin is Origin.MESSAGE), subjects[0])
    return Chain(place, about, frozenset(methods), complete, tuple(tables))


def _held(code: Code, node: ast.expr, place: Place) -> frozenset[str]:
    """The text that a method is searched for; what stands for the handshake by its name."""
    text = code.text(node, place) if isinstance(node, ast.Constant | ast.Name | ast.Attribute) else None
    return frozenset() if text is None else frozenset({"initialize" if text in BEGINNINGS else text})


def _named(code: Code, holder: ast.expr, name: ast.expr, place: Place) -> Table | None:
    """The methods of an object that are reached by their names: `getattr(self, "on_" + method.replace("/", "_"))`."""
    owner = code.type_of(holder, place)
    texts = [n.value for n in descend(name) if isinstance(n, ast.Constant) and isinstance(n.value, str) and n.value not in {"/", "method"}]
    prefix = next((text for text in texts if text.isidentifier() and text.endswith("_") and text != "_"), None)
    if owner is None or prefix is None:
        return None
    spelled = {method.replace("/", "_").lower(): method for method in METHODS}
    found = {
        spelled[rest]: Place(owner.unit, function)
        for function in owner.unit.module.functions.values()
        if function.owner == owner.name and (rest := function.short.removeprefix(prefix).lower()) in spelled and rest != function.short
    }
    return Table(frozenset(found), tuple((handler, place) for handler in found.values()), complete=False)


def _is_named(code: Code, node: ast.Call, place: Place) -> bool:
    """Whether a call stands in a branch for methods that are named: `if method in ("tools/list", "prompts/list"):`."""
    inner: ast.AST = node
    for around in place.unit.module.ancestors(node):
        match around:
            case ast.If(test=ast.Compare(left=left, ops=[ast.Eq() | ast.In()], comparators=[right]), body=body) if inner in body:
                if subject(code, left, place) and code.texts(right, place) is not None:
                    return True
        inner = around
    return False


def is_said(node: ast.Call, place: Place) -> bool:
    """A call that only speaks of the method: it makes a text or an error of it, or writes it into a log."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
    if name in _SAYS or name.lstrip("_").lower().startswith(_SPEAKS) or name.endswith(("Error", "Exception")):
        return True
    return any(isinstance(around, ast.Raise) for around in place.unit.module.ancestors(node))


def _may_route(code: Code, call: ast.Call, argument: ast.expr, place: Place, depth: int = 0) -> bool:
    """Whether a call that gets the method may find a handler for it that this scan does not see."""
    target = code.target(call.func, place)
    if not isinstance(target, Place) or target.function is None:
        return target is None
    at = call.args.index(argument)
    name = target.function.parameters[at] if at < len(target.function.parameters) else ""
    if not name or depth > _MAX_DEPTH:
        return False
    for node in target.nodes:
        match node:
            case (
                ast.Subscript(value=mapping, slice=ast.Name(id=found), ctx=ast.Load())
                | ast.Call(func=ast.Attribute(value=mapping, attr="get"), args=[ast.Name(id=found), *_])
            ) if found == name:
                # A table that can be read makes its function a dispatcher of its own.
                if not (table := table_of(code, mapping, target)).complete or len(table.keys) < 2:
                    return True
            case ast.Call(args=args) if target != place and not is_said(node, target):
                given = [one for one in args if isinstance(one, ast.Name) and one.id == name]
                if any(_may_route(code, node, one, target, depth + 1) for one in given):
                    return True
    return False


def subject(code: Code, node: ast.expr, place: Place, depth: int = 0) -> Subject | None:
    """What an expression that gives a message's method is taken from, or None when it gives no method."""
    if depth > _MAX_DEPTH:
        return None
    depth += 1
    match node:
        case ast.Call(func=ast.Attribute(value=message, attr="get"), args=[key, *_]) | ast.Subscript(value=message, slice=key):
            if code.text(key, place) != "method":
                return None
            match message:
                case ast.Name(id=name):
                    return Subject(Origin.MESSAGE, name)
                case ast.BoolOp(op=ast.Or(), values=[ast.Name(id=name), *_]):
                    return Subject(Origin.MESSAGE, name)
            return None
        case ast.Attribute(value=ast.Name(id=name), attr="method") if name not in {"self", "cls"}:
            return Subject(Origin.TYPED, name)
        case ast.Call(func=ast.Name(id="str"), args=[inner]) | ast.Call(func=ast.Attribute(value=inner, attr="lower" | "strip"), args=[]):
            return subject(code, inner, place, depth)
        case ast.NamedExpr(value=inner) | ast.BoolOp(op=ast.Or(), values=[inner, _]) | ast.IfExp(body=inner):
            return subject(code, inner, place, depth)
        case ast.Name(id=name):
            return _of_name(code, name, place, depth)
    return None


def table_of(code: Code, node: ast.expr, place: Place) -> Table:
    """The table that an expression names; an incomplete one where it cannot be read."""
    return _table(code, node, place) or Table(complete=False)


def _of_name(code: Code, name: str, place: Place, depth: int) -> Subject | None:
    found: list[Subject] = []
    for value in assigned(place, name):
        if value is None:
            about = _unpacked(code, name, place)
        elif isinstance(value, ast.Constant) or (isinstance(value, ast.Name) and value.id == name):
            continue
        else:
            about = subject(code, value, place, depth)
        if about and about.name != name:
            found.append(about)
    if found:
        return found[0] if len(set(found)) == 1 else None
    if place.function and name in place.function.parameters and not [v for v in assigned(place, name) if v is None]:
        return Subject(Origin.PARAMETER, name)
    return None


def _unpacked(code: Code, name: str, place: Place) -> Subject | None:
    """`method, params = parse(message)`, where `parse` reads the method of its argument."""
    for node in place.of(ast.Assign):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=goals)], value=ast.Call(args=[ast.Name(id=message), *_]) as call):
                if not any(isinstance(goal, ast.Name) and goal.id == name for goal in goals):
                    continue
                helper = code.function(call, place)
                if helper and helper.function and helper.function.parameters:
                    first = helper.function.parameters[0]
                    reads = (subject(code, n, helper) for n in helper.nodes if isinstance(n, ast.Call | ast.Subscript))
                    if any(about == Subject(Origin.MESSAGE, first) for about in reads):
                        return Subject(Origin.MESSAGE, message)
    return None


def _cases(code: Code, expression: ast.expr, cases: list[ast.match_case], place: Place) -> tuple[Subject | None, frozenset[str], bool]:
    """What a `match` is about, the methods that its cases name, and whether they name all that it answers."""
    texts: set[str] = set()
    about = subject(code, expression, place)
    routed = about is not None
    sure = True

    def read(pattern: ast.pattern, direct: bool) -> None:
        nonlocal sure, about
        match pattern:
            case ast.MatchValue(value=value) if direct:
                text = code.texts(value, place)
                sure = sure and text is not None
                texts.update(text or ())
            case ast.MatchOr(patterns=patterns):
                for one in patterns:
                    read(one, direct)
            case ast.MatchAs(pattern=ast.pattern() as inner):
                read(inner, direct)
            case ast.MatchMapping(keys=keys, patterns=patterns) if isinstance(expression, ast.Name):
                for key, inner in zip(keys, patterns, strict=True):
                    if code.text(key, place) == "method":
                        about = Subject(Origin.MESSAGE, expression.id)
                        read(inner, True)

    for case in cases:
        read(case.pattern, routed)
        # `case name if name in EXTRA`: a method that is captured may be any.
        captured = {n.name for n in descend(case.pattern) if isinstance(n, ast.MatchAs) and n.name and n.pattern is None}
        sure = sure and not (routed and captured and case.guard is not None)
    return about, frozenset(texts), sure


def _table(code: Code, node: ast.expr, place: Place, depth: int = 0) -> Table | None:
    if depth > _MAX_DEPTH:
        return None
    found = value_of(code, node, place)
    if found is None:
        return None
    value, home, name = found
    table = _literal(code, value, home, depth)
    return table | _stores(code, home, name) if table is not None and name else table


def value_of(code: Code, node: ast.expr, place: Place) -> tuple[ast.expr, Place, str] | None:
    """The value of a table's name, the place that gives it, and the name as that module spells it (`self.x` as `Class.x`)."""
    match node:
        case ast.Dict():
            return node, place, ""
        case ast.Name(id=name):
            for around in place.enclosing():
                values = assigned(around, name)
                if values:
                    return (values[0], around, name) if len(values) == 1 and values[0] is not None else None
            if (bound := place.unit.names.bindings.get(name)) is not None:
                return bound, Place(place.unit, None), name
            if target := place.unit.names.imports.get(name):
                return _imported(code, target)
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=attr) if place.owner:
            name = f"{place.owner}.{attr}"
            if (bound := place.unit.names.bindings.get(name)) is not None:
                return bound, Place(place.unit, _maker(place, bound)), name
        case ast.Attribute(value=ast.Name(id=owner), attr=attr):
            name = f"{owner}.{attr}"
            if (bound := place.unit.names.bindings.get(name)) is not None:
                return bound, Place(place.unit, None), name
            if target := place.unit.names.imports.get(owner):
                return _imported(code, f"{target}.{attr}")
    return None


def _imported(code: Code, target: str) -> tuple[ast.expr, Place, str] | None:
    if (found := code.find(target)) is None:
        return None
    unit, rest = found
    bound = unit.names.bindings.get(rest)
    return (bound, Place(unit, None), rest) if bound is not None else None


def _maker(place: Place, bound: ast.expr) -> Function | None:
    """The method that gives a class its table, so that `self` inside the value means the same."""
    return place.unit.module.function_of(bound)


def _literal(code: Code, value: ast.expr, home: Place, depth: int) -> Table | None:
    match value:
        case ast.Dict(keys=keys, values=values):
            table = Table()
            for key, one in zip(keys, values, strict=True):
                if key is None:
                    table |= _table(code, one, home, depth + 1) or Table(complete=False)
                    continue
                texts = code.texts(key, home)
                table |= Table(texts or frozenset(), ((one, home),), complete=texts is not None)
            return table
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            table = Table()
            for keyword in keywords:
                table |= Table(frozenset({keyword.arg}), ((keyword.value, home),)) if keyword.arg else Table(complete=False)
            return table
        case ast.Call(func=ast.Name(id="defaultdict")) | ast.DictComp():
            return Table(complete=False)
    return None


def _stores(code: Code, home: Place, name: str) -> Table:
    """What other code puts into a table: `TABLE["x"] = f`, and calls of a function that does so with its parameter."""
    table = Table()
    for place, node in home.unit.fills:
        match node:
            case ast.Assign(targets=[ast.Subscript(value=mapping, slice=key)], value=value) if _spelled(mapping, place) == name:
                if (texts := code.texts(key, place)) is not None:
                    table |= Table(texts, ((value, place),))
                else:
                    table |= _registered(code, key, place)
            case ast.Call(func=ast.Attribute(value=mapping, attr="update"), args=[more]) if _spelled(mapping, place) == name:
                table |= _table(code, more, place) or Table(complete=False)
            case ast.Call(func=ast.Attribute(value=mapping, attr="setdefault")) if _spelled(mapping, place) == name:
                table |= Table(complete=False)
    return table


def _spelled(node: ast.expr, place: Place) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=attr):
            return f"{place.owner}.{attr}"
        case ast.Attribute(value=ast.Name(id=owner), attr=attr):
            return f"{owner}.{attr}"
    return ""


def _registered(code: Code, key: ast.expr, place: Place) -> Table:
    """The entries that uses of a registering function make; the key is a parameter of it or of a function around it."""
    if not isinstance(key, ast.Name):
        return Table(complete=False)
    for around in place.enclosing():
        if around.function and key.id in around.function.parameters:
            table = Table()
            for place_of_use, call, handler in _uses(code, around):
                at = around.function.parameters.index(key.id)
                argument = call.args[at] if at < len(call.args) else next((k.value for k in call.keywords if k.arg == key.id), None)
                texts = code.texts(argument, place_of_use) if argument is not None else None
                table |= Table(texts or frozenset(), ((handler, place_of_use),) if handler is not None else (), complete=texts is not None)
            return table
    return Table(complete=False)


def _uses(code: Code, registrar: Place) -> Iterator[tuple[Place, ast.Call, ast.expr | Place | None]]:
    assert registrar.function
    short = registrar.function.short
    for unit in code.around(registrar.unit):
        # To look at names first is cheap; to follow what every call of a module means is not.
        names = [short, *(name for name, target in unit.names.imports.items() if target.rpartition(".")[2] == short != name)]
        for function in unit.module.functions.values():
            outer = unit.module.function_of(function.node)
            place = Place(unit, outer)
            for decorator in function.node.decorator_list:
                if isinstance(decorator, ast.Call) and last(decorator.func) in names and code.function(decorator, place) == registrar:
                    yield place, decorator, Place(unit, function)
        for called, place, node in ((one, *mention) for one in names for mention in unit.mentions.get(one, ())):
            if last(node.func) == called and code.function(node, place) == registrar:
                yield place, node, next((a for a in node.args[1:]), None)
