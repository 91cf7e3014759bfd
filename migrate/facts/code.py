"""The functions of several modules together: what a call reaches, who calls a function, what a text is worth."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeGuard, TypeVar

from ..source import Source
from .functions import GIVING, Def, Function, Module, by_kind, read, targets, walk
from .kept import take, units
from .mask import parse
from .model import Ref, Value
from .names import Names
from .syntax import descend

if TYPE_CHECKING:
    from .endpoints import Endpoint

N = TypeVar("N", bound=ast.AST)
_MAX_DEPTH = 8
_SPELLED = frozenset({ast.Name, ast.Attribute})
_NAMING = GIVING | {ast.ExceptHandler, ast.Import, ast.ImportFrom, ast.MatchAs, ast.MatchStar}
_DEFERRED = frozenset({"create_task", "ensure_future", "run", "run_coroutine_threadsafe", "run_until_complete", "shield", "wait_for"})
BY_REFERENCE = frozenset({"partial", "run_in_executor", "run_sync", "submit", "Thread", "to_thread"})


class Library(Protocol):
    """Where other modules of the project are found. Test modules are no part of it."""

    def module(self, name: str) -> tuple[str, Source] | None:
        """The file that imports of this dotted name read, under the one name that it has in the project."""

    def imports(self, path: str) -> Iterable[str]:
        """The names of the modules that this file imports, or that stand before what it answers."""

    def importers(self, path: str) -> Iterable[str]:
        """The names of the modules that import something from this file."""


@dataclass(frozen=True, eq=False)
class Unit:
    """One module with its functions, names and classes."""

    name: str
    module: Module
    names: Names

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        """The classes by their dotted names, those inside of functions too."""
        found: dict[str, ast.ClassDef] = {}
        for node in self.module.nodes(ast.ClassDef):
            name, around = node.name, self.module.parents.get(node)
            while around is not None:
                if isinstance(around, ast.ClassDef | Def):
                    name = f"{around.name}.{name}"
                around = self.module.parents.get(around)
            found[name] = node
        return found

    @cached_property
    def places(self) -> tuple[Place, ...]:
        return (Place(self, None), *(Place(self, function) for function in self.module.functions.values()))

    @cached_property
    def inner(self) -> dict[str, list[Function]]:
        """The functions inside of each function and class, however deep."""
        found: dict[str, list[Function]] = {}
        for name, function in self.module.functions.items():
            while name := name.rpartition(".")[0]:
                found.setdefault(name, []).append(function)
        return found

    @cached_property
    def top(self) -> tuple[ast.AST, ...]:
        """The nodes that belong to no function."""
        return tuple(node for statement in _outside(self.module.tree.body) for node in walk(statement))

    @cached_property
    def top_kinds(self) -> dict[type[ast.AST], list[ast.AST]]:
        return by_kind(self.top)

    @cached_property
    def assignments(self) -> dict[Function | None, dict[str, list[ast.expr | None]]]:
        """What each function that was asked for gives to its local names; None for a value that no single expression spells."""
        return {}

    @cached_property
    def inner_imports(self) -> dict[Function, dict[str, str]]:
        """The dotted targets of the names that functions import for themselves."""
        found: dict[Function, dict[str, str]] = {}
        nodes: list[ast.Import | ast.ImportFrom] = [*self.module.nodes(ast.ImportFrom), *self.module.nodes(ast.Import)]
        for node in nodes:
            if (function := self.module.function_of(node)) is not None:
                found.setdefault(function, {}).update(self.names.imported(node))
        return found

    @cached_property
    def spellings(self) -> dict[str, frozenset[str]]:
        """The other names under which something is known here, by the last part of what they are imported from."""
        found: dict[str, set[str]] = {}
        for names in (self.names.imports, *self.inner_imports.values()):
            for name, target in names.items():
                if name != (short := target.rpartition(".")[2]):
                    found.setdefault(short, set()).add(name)
        return {short: frozenset(names) for short, names in found.items()}

    @cached_property
    def fills(self) -> tuple[tuple[Place, ast.Assign | ast.Call], ...]:
        """What may put something into a table: `x[...] = y`, `x.update(...)` and `x.setdefault(...)`."""
        return tuple((place, node) for place in self.places for node in place.nodes if _is_fill(node))

    @cached_property
    def named(self) -> dict[str, list[ast.Name | ast.Attribute]]:
        """The names and attributes that are read, by their text or last part."""
        found: dict[str, list[ast.Name | ast.Attribute]] = {}
        spelled: list[ast.Name | ast.Attribute] = [*self.module.nodes(ast.Name), *self.module.nodes(ast.Attribute)]
        for node in spelled:
            if isinstance(node.ctx, ast.Load):
                found.setdefault(last(node), []).append(node)
        return found

    @cached_property
    def mentions(self) -> dict[str, list[tuple[Place, ast.Call]]]:
        """The calls that name a function, as what they call or among what they hand over, by its short name."""
        found: dict[str, list[tuple[Place, ast.Call]]] = {}
        for place in self.places:
            for node in place.nodes:
                if isinstance(node, ast.Call):
                    named = (node.func, *node.args, *(keyword.value for keyword in node.keywords))
                    for name in {last(one) for one in named} - {""}:
                        found.setdefault(name, []).append((place, node))
        return found


class Place(NamedTuple):
    """A function of a module, or the module's own level."""

    unit: Unit
    function: Function | None

    @property
    def name(self) -> str:
        return self.function.name if self.function else ""

    @property
    def owner(self) -> str:
        """The class whose `self` this code sees; a function inside a method sees the method's."""
        path = self.name
        while path:
            found = self.unit.module.functions.get(path)
            if found and found.owner:
                return found.owner
            path = path.rpartition(".")[0]
        return ""

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        return self.function.own if self.function else self.unit.top

    def of(self, kind: type[N]) -> list[N]:
        """The nodes of one class, in source order: who looks for few of them need not pass all of the others by."""
        return (self.function.kinds if self.function else self.unit.top_kinds).get(kind, [])  # type: ignore[return-value]

    def enclosing(self) -> Iterator[Place]:
        """This place and the functions around it, innermost first."""
        path = self.name
        while path:
            if found := self.unit.module.functions.get(path):
                yield Place(self.unit, found)
            path = path.rpartition(".")[0]


class Class(NamedTuple):
    """A class of the project, by the file that defines it."""

    unit: Unit
    name: str


class Call(NamedTuple):
    """A use of a function: `node` calls it, or hands it over to be called with the arguments in `arguments`."""

    place: Place
    node: ast.Call
    arguments: tuple[ast.expr, ...]
    direct: bool  # the value of `node` (or of an await around it) is the function's own value

    def argument(self, parameter: str, function: Function) -> ast.expr | None:
        for keyword in self.node.keywords:
            if keyword.arg == parameter:
                return keyword.value
        names = function.parameters
        at = names.index(parameter) if parameter in names else len(names)
        return self.arguments[at] if at < len(self.arguments) and not any(isinstance(a, ast.Starred) for a in self.arguments) else None


@dataclass(eq=False)
class Code:
    """Modules by name, read when they are first asked for."""

    library: Library
    _units: dict[str, Unit | None] = field(default_factory=dict)
    _callers: dict[Place, tuple[Call, ...]] = field(default_factory=dict)
    _over: set[ast.AST] = field(default_factory=set)  # calls that hand functions on to where they are called
    _given: dict[tuple[Place, str], Place | Class | None] = field(default_factory=dict)
    _reachable: dict[Place, tuple[Place, ...]] = field(default_factory=dict)
    _nexts: dict[Place, tuple[Place, ...]] = field(default_factory=dict)
    _targets: dict[tuple[ast.expr, Place], Place | Class | None] = field(default_factory=dict)
    endpoints: dict[Place, Endpoint | None] = field(default_factory=dict)  # what `endpoints.of` has found

    def unit(self, name: str) -> Unit | None:
        if name not in self._units:
            found = self.library.module(name)
            # Imports spell one module in several ways; it must stay one unit.
            if found and found[0] != name:
                self._units[name] = self.unit(found[0])
            else:
                self._units[name] = unit_of(*found) if found else None
        return self._units[name]

    def target(self, node: ast.expr, place: Place, depth: int = 0) -> Place | Class | None:
        """The function or class that an expression names."""
        if depth:
            return self._target(node, place, depth) if depth <= _MAX_DEPTH else None
        # Each is asked for some five times, by all who follow the code.
        asked = node, place
        if asked not in self._targets:
            self._targets[asked] = self._target(node, place, depth)
        return self._targets[asked]

    def _target(self, node: ast.expr, place: Place, depth: int) -> Place | Class | None:
        match node:
            case ast.Name(id=name):
                for around in place.enclosing():
                    if inner := place.unit.module.functions.get(f"{around.name}.{name}"):
                        return Place(place.unit, inner)
                    assert around.function
                    if imported := place.unit.inner_imports.get(around.function, {}).get(name):
                        return self._dotted(imported, depth)
                    if name in around.function.parameters and not assigned(around, name):
                        # What nobody hands in is taken by its name.
                        return self._handed(around, name, depth) if self._takes(around) else self._named(place.unit, name, depth)
                    if (value := _alias(around, name)) is not None:
                        return self.target(value, around, depth + 1)
                return self._named(place.unit, name, depth)
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=attr) if place.owner:
                return next((found for base in self.bases(Class(place.unit, place.owner)) if (found := self.method(base, attr))), None)
            case ast.Attribute(value=value, attr=attr):
                if owner := self.type_of(value, place, depth + 1):
                    return self.method(owner, attr) or self._held(owner, attr, depth)
                if base := place.unit.names.dotted(node):
                    return self._dotted(base, depth)
        return None

    def function(self, call: ast.Call, place: Place) -> Place | None:
        """The function that a call runs, where that is sure."""
        found = self.target(call.func, place)
        return found if isinstance(found, Place) and found.function else None

    def type_of(self, node: ast.expr, place: Place, depth: int = 0) -> Class | None:
        """The class of the project that an expression is an instance of (or the class itself)."""
        if depth > _MAX_DEPTH:
            return None
        match node:
            case ast.Name(id="self" | "cls") if place.owner:
                return Class(place.unit, place.owner)
            case ast.Name(id=name):
                for around in place.enclosing():
                    values = assigned(around, name)
                    if values:
                        return self.type_of(values[0], around, depth + 1) if len(values) == 1 and values[0] is not None else None
                    if around.function and name in around.function.parameters:
                        return self._annotated(around, name, depth)
                if (bound := place.unit.names.bindings.get(name)) is not None:
                    return self.type_of(bound, Place(place.unit, None), depth + 1)
                found = self._named(place.unit, name, depth)
                return found if isinstance(found, Class) else None
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=attr) if place.owner:
                for owner in [Class(place.unit, place.owner), *self.bases(Class(place.unit, place.owner))]:
                    bound = owner.unit.names.bindings.get(f"{owner.name}.{attr}")
                    if bound is not None:
                        start = owner.unit.module.functions.get(f"{owner.name}.__init__")
                        return self.type_of(bound, Place(owner.unit, start), depth + 1)
                return None
            case ast.Call(func=func):
                made = self.target(func, place, depth + 1)
                return made if isinstance(made, Class) else None
            case ast.BoolOp(values=[_, *_, last]):
                return self.type_of(last, place, depth + 1)
        return None

    def method(self, owner: Class, name: str) -> Place | None:
        for one in [owner, *self.bases(owner)]:
            if found := one.unit.module.functions.get(f"{one.name}.{name}"):
                return Place(one.unit, found)
        return None

    def callers(self, target: Place) -> tuple[Call, ...]:
        """Every use of a function in its own module and in those that import it, and the calls of what it was handed to."""
        assert target.function
        if target not in self._callers:
            # What follows functions knows the code; here it is only asked.
            from .handed import followed

            short = target.function.short
            found: dict[ast.AST, Call] = {}
            for unit in self.around(target.unit):
                for name in (short, *sorted(unit.spellings.get(short, ()))):
                    for place, node in unit.mentions.get(name, ()):
                        for use in self._uses(node, target, place):
                            found.setdefault(use.node, use)
            for use, over in followed(self, target):
                found.setdefault(use.node, use)
                self._over.update(over)
            self._callers[target] = tuple(found.values())
        return self._callers[target]

    def is_followed(self, call: Call) -> bool:
        """Whether a use only hands a function on, to where its calls are callers themselves."""
        return not call.direct and call.node in self._over

    def around(self, unit: Unit) -> Iterator[Unit]:
        yield unit
        for name in self.library.importers(unit.module.source.path):
            if (other := self.unit(name)) and other is not unit:
                yield other

    def reachable(self, start: Place) -> tuple[Place, ...]:
        """The functions that run when `start` runs, as far as names decide it."""
        if start in self._reachable:
            return self._reachable[start]
        found = [start]
        seen = {start}
        for place in found:
            for other in self._next_to(place):
                if other not in seen:
                    seen.add(other)
                    found.append(other)
        self._reachable[start] = tuple(found)
        return self._reachable[start]

    def _next_to(self, place: Place) -> tuple[Place, ...]:
        """The functions that a place holds or names."""
        if place not in self._nexts:
            inner = (Place(place.unit, function) for function in place.unit.inner.get(place.name, ())) if place.function else ()
            named = (
                self.target(node, place)  # type: ignore[arg-type]
                for node in place.nodes
                if node.__class__ in _SPELLED and node.ctx.__class__ is ast.Load  # type: ignore[attr-defined]
            )
            self._nexts[place] = tuple(dict.fromkeys(one for one in (*inner, *named) if isinstance(one, Place) and one.function))
        return self._nexts[place]

    def texts(self, node: ast.expr, place: Place) -> frozenset[str] | None:
        """The texts that an expression holds: one, or those of a collection; None where that is not sure."""
        local: dict[str, ast.expr] = {}
        for around in place.enclosing():
            for name in {n.id for n in descend(node) if isinstance(n, ast.Name)}:
                values = assigned(around, name)
                if len(values) == 1 and values[0] is not None:
                    local.setdefault(name, values[0])
                elif values or (around.function and name in around.function.parameters):
                    return None
        return self._flat(place.unit.names.value(node, place.owner, local), 0)

    def text(self, node: ast.expr, place: Place) -> str | None:
        found = self.texts(node, place)
        return next(iter(found)) if found is not None and len(found) == 1 else None

    def find(self, dotted: str) -> tuple[Unit, str] | None:
        """The module that a dotted name lies in, and the rest of the name."""
        parts = dotted.split(".")
        for cut in range(len(parts), 0, -1):
            if unit := self.unit(".".join(parts[:cut])):
                return unit, ".".join(parts[cut:])
        return None

    def _flat(self, value: Value | None, depth: int) -> frozenset[str] | None:
        match value:
            case str():
                return frozenset({value})
            case tuple():
                parts = [self._flat(part, depth + 1) for part in value]
                return None if any(part is None for part in parts) else frozenset().union(*(part or () for part in parts))
            case Ref(name=name) if depth < _MAX_DEPTH and (found := self.find(name)):
                unit, rest = found
                return self._flat(unit.names.name(rest), depth + 1) if rest else None
        return None

    def _named(self, unit: Unit, name: str, depth: int) -> Place | Class | None:
        if function := unit.module.functions.get(name):
            return Place(unit, function)
        if name in unit.classes:
            return Class(unit, name)
        if name in unit.names.imports:
            return self._dotted(unit.names.imports[name], depth)
        return None

    def _dotted(self, dotted: str, depth: int) -> Place | Class | None:
        if depth > _MAX_DEPTH or (found := self.find(dotted)) is None:
            return None
        unit, rest = found
        head, _, tail = rest.partition(".")
        if rest in unit.module.functions or rest in unit.classes or not tail:
            return self._named(unit, rest, depth + 1) if rest else None
        if owner := self.type_of(ast.Name(id=head, ctx=ast.Load()), Place(unit, None), depth + 1):
            return self.method(owner, tail)
        return None

    def _annotated(self, place: Place, name: str, depth: int) -> Class | None:
        assert place.function
        args = place.function.node.args
        for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs]:
            if arg.arg == name and arg.annotation is not None:
                note = arg.annotation
                if isinstance(note, ast.Constant) and isinstance(note.value, str):
                    note = ast.Name(id=note.value, ctx=ast.Load())
                if isinstance(note, ast.BinOp):  # Server | None
                    note = note.left
                found = self.target(note, Place(place.unit, None), depth + 1)
                return found if isinstance(found, Class) else None
        return None

    def bases(self, owner: Class, depth: int = 0) -> Iterator[Class]:
        node = owner.unit.classes.get(owner.name)
        if node is None or depth > _MAX_DEPTH:
            return
        for base in node.bases:
            found = self.target(base, Place(owner.unit, None))
            if isinstance(found, Class):
                yield found
                yield from self.bases(found, depth + 1)

    def _uses(self, node: ast.Call, target: Place, place: Place) -> Iterator[Call]:
        assert target.function
        shorts = {target.function.short, *place.unit.spellings.get(target.function.short, ())}
        if last(node.func) in shorts and self.target(node.func, place) == target:
            yield Call(place, node, tuple(node.args), direct=True)
        name = last(node.func)
        for at, argument in enumerate(node.args):
            if last(argument) in shorts and isinstance(argument, ast.Name | ast.Attribute) and self.target(argument, place) == target:
                rest = tuple(node.args[at + 1 :]) if name in BY_REFERENCE else ()
                yield Call(place, node, rest, direct=name in {"run_in_executor", "to_thread", "run_sync"})
        for keyword in node.keywords:
            if last(keyword.value) in shorts and self.target(keyword.value, place) == target:
                rest = next((tuple(k.value.elts) for k in node.keywords if k.arg == "args" and isinstance(k.value, ast.Tuple)), ())
                yield Call(place, node, rest, direct=False)

    # -- functions that are handed on ---------------------------------------------
    def _takes(self, place: Place) -> bool:
        """Whether anything of the project calls or makes what a function is, so that its parameters are given something."""
        return any(True for _ in self._givers(place))

    def _givers(self, place: Place) -> Iterator[tuple[Place, ast.Call]]:
        """The calls of a function by its name; those of its class, for what makes an object."""
        assert place.function
        owner = place.function.owner
        makes = Class(place.unit, owner) if owner and place.function.short == "__init__" else None
        short = owner.rpartition(".")[2] if makes else place.function.short
        for unit in self.around(place.unit):
            for name in (short, *sorted(unit.spellings.get(short, ()))):
                for giver, node in unit.mentions.get(name, ()):
                    if last(node.func) == name and self.target(node.func, giver) == (makes or place):
                        yield giver, node

    def _held(self, owner: Class, attr: str, depth: int) -> Place | Class | None:
        """The function that an attribute of a class was given, where it is given one."""
        names = owner.unit.names
        bound = names.bindings.get(f"{owner.name}.{attr}")
        if bound is None or f"{owner.name}.{attr}" in names.ambiguous or _is_in_body(owner, attr):
            return None
        start = owner.unit.module.functions.get(f"{owner.name}.__init__")
        found = self._whole(bound, Place(owner.unit, start), depth + 1)
        return found if isinstance(found, Place) else None

    def _handed(self, place: Place, name: str, depth: int) -> Place | Class | None:
        """The one function that every caller hands to a parameter."""
        if (place, name) not in self._given:
            self._given[place, name] = None  # a function that hands on its own parameter
            self._given[place, name] = self._agreed(place, name, depth)
        return self._given[place, name]

    def _agreed(self, place: Place, name: str, depth: int) -> Place | Class | None:
        assert place.function
        found: list[Place | Class | None] = []
        for giver, node in self._givers(place):
            given = Call(giver, node, tuple(node.args), direct=True).argument(name, place.function)
            if giver == place and isinstance(given, ast.Name) and given.id == name:
                continue
            if given is None:
                given = _default(place.function, name)
                giver = Place(place.unit, None)
            found.append(self._whole(given, giver, depth + 1) if given is not None else None)
        return found[0] if found and all(one is not None and one == found[0] for one in found) else None

    def _whole(self, node: ast.expr, place: Place, depth: int) -> Place | Class | None:
        """The function that an expression gives, called as it is: by name, or with keywords of its own in `partial(...)`."""
        match node:
            case ast.Name() | ast.Attribute():
                return self.target(node, place, depth)
            case ast.Call(func=func, args=[inner]) if last(func) == "partial":
                return self._whole(inner, place, depth)
        return None


def _alias(place: Place, name: str) -> ast.expr | None:
    """The function that a local name is another name for, if it is nothing else."""
    values = assigned(place, name)
    return values[0] if len(values) == 1 and isinstance(values[0], ast.Name | ast.Attribute) and last(values[0]) != name else None


def _is_in_body(owner: Class, attr: str) -> bool:
    """Whether the class itself gives a value to an attribute: a function becomes a method there."""
    return any(isinstance(goal, ast.Name) and goal.id == attr for one in owner.unit.classes[owner.name].body for goal in targets(one))


def _default(function: Function, name: str) -> ast.expr | None:
    args = function.node.args
    given = [*args.posonlyargs, *args.args]
    pairs = [*zip(reversed(given), reversed(args.defaults), strict=False), *zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    return next((default for arg, default in pairs if arg.arg == name), None)


def assigned(place: Place, name: str) -> list[ast.expr | None]:
    """The values that a function gives to a local name; None for a value that no single expression spells."""
    known = place.unit.assignments
    if place.function not in known:
        known[place.function] = _assignments(place.nodes)
    return known[place.function].get(name, [])


def unwrap(node: ast.expr) -> ast.expr:
    """The call whose value an expression has, behind `await`, `asyncio.run(...)`, `wait_for(...)` and the like."""
    while True:
        match node:
            case ast.Await(value=value):
                node = value
            case ast.Call(func=ast.Attribute(attr=name), args=[ast.Call() as inner, *_]) if name in _DEFERRED:
                node = inner
            case _:
                return node


def _assignments(nodes: Iterable[ast.AST]) -> dict[str, list[ast.expr | None]]:
    found: dict[str, list[ast.expr | None]] = {}

    def give(goal: ast.expr, value: ast.expr | None) -> None:
        match goal:
            case ast.Name(id=name):
                found.setdefault(name, []).append(value)
            case ast.Starred(value=inner):
                give(inner, None)
            case ast.Tuple(elts=goals) | ast.List(elts=goals):
                parts = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(goals) else [None] * len(goals)
                for one, part in zip(goals, parts, strict=True):
                    give(one, part)

    for node in nodes:
        if node.__class__ not in _NAMING:
            continue
        match node:
            case ast.Assign(targets=goals, value=value):
                for goal in goals:
                    give(goal, value)
            case ast.AnnAssign(target=goal, value=ast.expr() as value) | ast.NamedExpr(target=goal, value=value):
                give(goal, value)
            case ast.ExceptHandler(name=str() as name):
                found.setdefault(name, []).append(None)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for alias in names:
                    found.setdefault(alias.asname or alias.name.partition(".")[0], []).append(None)
            case ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name):
                found.setdefault(name, []).append(None)
            case _:
                for goal in targets(node):
                    give(goal, None)
    return found


def _is_fill(node: ast.AST) -> TypeGuard[ast.Assign | ast.Call]:
    match node:
        case ast.Assign(targets=[ast.Subscript()]) | ast.Call(func=ast.Attribute(attr="update" | "setdefault")):
            return True
    return False


def _outside(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield from _outside(statement.body)
        elif not isinstance(statement, Def):
            yield statement


def last(node: ast.expr) -> str:
    """The last name of a dotted expression; "" for any other expression."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def unit_of(name: str, source: Source) -> Unit | None:
    """A module by its name and its text; None where it cannot be parsed."""
    unit = units.get((name, source))
    if unit is None and (unit := _read(name, source)) is not None:
        units.put((name, source), unit, len(source.utf8))
    return unit


def _read(name: str, source: Source) -> Unit | None:
    if (kept := take(name, source)) is not None:
        return Unit(name, *kept)
    try:
        tree, _ = parse(source)
    except (SyntaxError, ValueError):
        return None
    package = source.path.endswith("__init__.py")
    return Unit(name, read(source, tree), Names(tree, name, package=package))
