"""What a server says about itself: the identity, capabilities and instructions of its initialize answer, and what they need."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import takewhile
from typing import NamedTuple

from .code import Class, Code, Place, Unit, assigned
from .functions import Def, root, targets
from .syntax import descend

FIELDS = {"info": "serverInfo", "capabilities": "capabilities", "instructions": "instructions"}
# As models of a framework spell them, beside the names of the wire.
_SPELLINGS = {"server_info": "serverInfo", "protocol_version": "protocolVersion", "client_info": "clientInfo"}
OF_APPLICATION = frozenset({"flask.current_app", "flask.g"})
"""What means something only while a request is served, whichever that is."""
_OF_REQUEST = frozenset({"flask.request", "flask.session"})
_BUILTINS = frozenset(dir(builtins))
_MAX_DEPTH = 8
_CHANGING = frozenset({"update", "setdefault", "pop", "clear", "popitem"})


class Needs(Enum):
    """When a part of the identity can be worked out."""

    IMPORT = "import"  # by the names of the module alone
    INSTANCE = "instance"  # from the object whose method answers
    CALL = "call"  # each time anew, from names that change


@dataclass(frozen=True, eq=False)
class Spelling:
    """An expression that means the same outside of its function, once each of these local names is replaced by what it was given."""

    node: ast.expr
    inner: tuple[tuple[ast.Name | ast.Attribute, Spelling], ...] = ()
    added: tuple[Added, ...] = ()  # what is put into the dict that `node` gives

    @property
    def parts(self) -> tuple[Spelling, ...]:
        return (*(spelling for _, spelling in self.inner), *(part for one in self.added for part in one if part is not None))

    @property
    def names(self) -> frozenset[str]:
        """The names that are left."""
        replaced = {id(n) for name, _ in self.inner for n in descend(name)}
        own = {n.id for n in descend(self.node) if isinstance(n, ast.Name) and id(n) not in replaced} - _bound_inside(self.node)
        return frozenset(own).union(*(spelling.names for spelling in self.parts))

    def attributes(self) -> Iterator[ast.Attribute]:
        """What it reads of `self`."""
        replaced = {id(name) for name, _ in self.inner}
        for node in descend(self.node):
            if (
                id(node) not in replaced
                and isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == "self"
            ):
                yield node
        for spelling in self.parts:
            yield from spelling.attributes()

    def calls(self) -> Iterator[ast.Call]:
        yield from (n for n in descend(self.node) if isinstance(n, ast.Call))
        for spelling in self.parts:
            yield from spelling.calls()


class Added(NamedTuple):
    """An entry of a dict, or all those of another one where `key` is None, under a condition or always."""

    key: Spelling | None
    value: Spelling
    test: Spelling | None


@dataclass(frozen=True, eq=False)
class Part:
    """One expression of the identity. `hoist` says that it is a literal in the branch, which can share a name with others."""

    spelling: Spelling
    needs: Needs
    hoist: bool
    model: bool = False  # an object of a model class, not a dict

    @property
    def names(self) -> frozenset[str]:
        """The module's names that it uses."""
        return self.spelling.names - {"self"}


@dataclass(frozen=True, eq=False)
class Identity:
    """The parts, and the place of the initialize answer that holds them."""

    place: Place
    node: ast.Dict | ast.Call | None  # None: there is no such answer
    info: Part
    capabilities: Part
    instructions: Part | None
    holder: str = ""  # the name by which the other module `home` knows the one object that says so
    named: bool = True  # False: nothing in the code calls the server anything


@dataclass(frozen=True)
class Unknown:
    """Why the identity cannot be taken over, and where."""

    reason: str
    place: Place | None = None
    node: ast.AST | None = None


def identities(code: Code, places: tuple[Place, ...]) -> Iterator[tuple[Place, ast.Dict | ast.Call]]:
    """The initialize answers that these functions build, as a dict or as an object of a model class."""
    for place in places:
        for node in place.nodes:
            found = [node] if isinstance(node, ast.Dict | ast.Call) else descend(node.body) if isinstance(node, ast.Lambda) else []
            for one in found:
                if isinstance(one, ast.Dict) or (isinstance(one, ast.Call) and len(one.keywords) > 1):
                    keys = _entries(code, one, place).keys()
                    if len(keys & {"protocolVersion", "serverInfo", "capabilities"}) > 1 and "clientInfo" not in keys:
                        yield place, one


def identity(code: Code, places: tuple[Place, ...], home: Unit) -> Identity | Unknown:
    """The one identity that these functions answer initialize with. `home` is the module that has to know it."""
    found = list(identities(code, places))
    if not found:
        return Unknown("no initialize answer was found, so neither name nor capabilities are known")
    place, node = found[0]
    if any(ast.dump(_without_version(code, other, n)) != ast.dump(_without_version(code, place, node)) for other, n in found[1:]):
        return Unknown("initialize is answered in two different ways", found[1][0], found[1][1])
    entries = _entries(code, node, place)
    for changed in _alterations(place, node):
        later = _instructions(changed, place) if "instructions" not in entries else None
        if later is None:
            return Unknown("the initialize answer is changed after it was written down", place, changed)
        entries["instructions"] = later
    parts = _parts(code, entries, place, literal=place.unit is not home)
    if not isinstance(parts, Unknown) and (doubt := _of_instance(code, place, parts)) is not None:
        # What each object is given anew, and nobody changes, is known without one.
        parts = _parts(code, entries, place, literal=True)
        if isinstance(parts, Unknown) or _of_instance(code, place, parts) is not None:
            return doubt
    if isinstance(parts, Unknown):
        return parts
    if "info" not in parts or "capabilities" not in parts:
        missing = "serverInfo" if "info" not in parts else "capabilities"
        return Unknown(f"the initialize answer has no {missing}", place, node)
    holder = _holder(code, place, home) if any(part.needs is Needs.INSTANCE for part in parts.values()) else ""
    return Identity(place, node, parts["info"], parts["capabilities"], parts.get("instructions"), holder)


def nameless(place: Place, title: str | None, version: str | None, methods: frozenset[str]) -> Identity:
    """The identity of a server without a handshake: its application's title, if it has one, and what its methods claim.

    A name should be told, but need not be; one that is made up would be worse than none.
    """
    claimed = {"tools": "tools/", "resources": "resources/", "prompts": "prompts/", "completions": "completion/"}
    names = [name for name, prefix in claimed.items() if any(method.startswith(prefix) for method in methods)]
    told = {"name": title, "version": version or "0"} if title else {}
    info = ast.Dict([ast.Constant(key) for key in told], [ast.Constant(value) for value in told.values()])
    capabilities = ast.Dict([ast.Constant(name) for name in names], [ast.Dict([], []) for _ in names])
    parts = [Part(Spelling(node), Needs.IMPORT, hoist=False) for node in (info, capabilities)]
    return Identity(place, None, parts[0], parts[1], None, named=bool(told))


def _holder(code: Code, place: Place, home: Unit) -> str:
    """The module's one name for an object of the class."""
    if place.unit is home or not place.owner:
        return ""
    owner, level = Class(place.unit, place.owner), Place(home, None)
    found = [
        name
        for name, value in home.names.bindings.items()
        if "." not in name and isinstance(value, ast.Call) and code.target(value.func, level) == owner and len(assigned(level, name)) == 1
    ]
    return found[0] if len(found) == 1 else ""


def _entries(code: Code, node: ast.Dict | ast.Call, place: Place) -> dict[str, ast.expr]:
    """The fields of an answer, by their names on the wire."""
    if isinstance(node, ast.Call):
        return {_SPELLINGS.get(keyword.arg, keyword.arg): keyword.value for keyword in node.keywords if keyword.arg}
    pairs = ((code.text(key, place), value) for key, value in zip(node.keys, node.values, strict=True) if key is not None)
    return {key: value for key, value in pairs if key is not None}


def _parts(code: Code, entries: dict[str, ast.expr], place: Place, *, literal: bool) -> dict[str, Part] | Unknown:
    """The parts; with `literal`, attributes of the object that are the same for all of its kind are spelled out."""
    parts: dict[str, Part] = {}
    for name, key in FIELDS.items():
        if (value := entries.get(key)) is not None and not (isinstance(value, ast.Constant) and value.value is None):
            part = _part(code, value, place, literal)
            if isinstance(part, Unknown):
                return part
            parts[name] = part
    return parts


def _without_version(code: Code, place: Place, node: ast.Dict | ast.Call) -> ast.Dict:
    pairs = [(key, value) for key, value in _entries(code, node, place).items() if key in FIELDS.values()]
    return ast.Dict(keys=[ast.Constant(key) for key, _ in pairs], values=[value for _, value in pairs])


def _alterations(place: Place, node: ast.Dict | ast.Call) -> Iterator[ast.AST]:
    """What stores into the answer, or into its identity, once it has a name."""
    holder: ast.AST = node
    for around in place.unit.module.ancestors(node):
        holder = around
        if isinstance(around, ast.stmt):
            break
    names = {target.id for target in targets(holder) if isinstance(target, ast.Name)}
    for other in place.nodes:
        goals = other.targets if isinstance(other, ast.Delete) else list(targets(other))
        if any(isinstance(goal, ast.Subscript) and root(goal) in names and _is_about(goal) for goal in goals):
            yield other
        match other:
            case ast.Call(func=ast.Attribute(value=kept, attr=attr), args=args) if attr in _CHANGING and root(kept) in names:
                own = any(isinstance(n, ast.Constant) and n.value in FIELDS.values() for a in args for n in descend(a))
                if own or isinstance(kept, ast.Subscript) or not all(isinstance(a, ast.Constant | ast.Dict) for a in args):
                    yield other


def _instructions(node: ast.AST, place: Place) -> ast.expr | None:
    """`result["instructions"] = text`, where nothing decides about it but the text itself: an empty one is left out anyway."""
    match node:
        case ast.Assign(targets=[ast.Subscript(value=ast.Name(), slice=ast.Constant(value="instructions"))], value=value):
            above = place.unit.module.parents.get(node)
            if isinstance(above, ast.If) and node in above.body and not above.orelse and ast.dump(above.test) == ast.dump(value):
                return value
    return None


def _is_about(goal: ast.Subscript) -> bool:
    """Whether a store changes the identity: `result["capabilities"]`, or anything whose key is not written out."""
    keys: list[ast.expr] = []
    inner: ast.expr = goal
    while isinstance(inner, ast.Subscript):
        keys.append(inner.slice)
        inner = inner.value
    named = [key.value for key in keys if isinstance(key, ast.Constant)]
    return len(named) < len(keys) or any(name in FIELDS.values() for name in named)


def _of_instance(code: Code, place: Place, parts: dict[str, Part]) -> Unknown | None:
    """Why what an object says of itself cannot be taken over when the object is made."""
    if not any(part.needs is Needs.INSTANCE for part in parts.values()):
        return None
    start = [p for p in place.unit.places if p.function and p.owner == place.owner and p.function.short == "__init__"]
    made = {p for one in start for p in code.reachable(one) if p.owner == place.owner}
    for part in parts.values():
        for node in part.spelling.attributes():
            stores = [p for p in place.unit.places if p.owner == place.owner and _stores(p, node.attr)]
            if stores and not any(p in made for p in stores):
                return Unknown(f"`self.{node.attr}` of the initialize answer does not exist before the handshake", place, node)
    if (other := _second(code, place)) is not None:
        reason = f"several objects of `{place.owner}` may answer, and each says something else of itself"
        return Unknown(reason, other[0], other[1])
    return None


def _stores(place: Place, attr: str) -> bool:
    return any(
        isinstance(goal, ast.Attribute) and goal.attr == attr and isinstance(goal.value, ast.Name) and goal.value.id == "self"
        for node in place.nodes
        for goal in targets(node)
    )


def _second(code: Code, place: Place) -> tuple[Place, ast.AST] | None:
    """Where a second object of the class is made in one run: in a loop, or beside another one."""
    made: list[tuple[Place, ast.Call]] = []
    for unit in code.around(place.unit):
        for home, node in unit.mentions.get(place.owner.rpartition(".")[2], ()):
            if code.target(node.func, home) == Class(place.unit, place.owner):
                made.append((home, node))
    for home, node in made:
        around = list(home.unit.module.ancestors(node))
        if any(isinstance(one, ast.For | ast.AsyncFor | ast.While | ast.ListComp | ast.DictComp | ast.SetComp) for one in around):
            return home, node
        beside = [other for place_, other in made if place_ == home and other is not node]
        if any(not _is_other_branch(home, node, other) for other in beside):
            return home, node
        if home.function is None and not _is_guarded(home, node) and any(one is not home for one, _ in made):
            return home, node
    return None


def _is_other_branch(place: Place, one: ast.AST, other: ast.AST) -> bool:
    """Whether two places of a function exclude each other."""
    for around in place.unit.module.ancestors(one):
        if isinstance(around, ast.If | ast.IfExp):
            sides = [side if isinstance(side, list) else [side] for side in (around.body, around.orelse)]
            found = [{i for i, side in enumerate(sides) for part in side for n in ast.walk(part) if n is node} for node in (one, other)]
            if found[0] and found[1] and found[0] != found[1]:
                return True
    return False


def _is_guarded(place: Place, node: ast.AST) -> bool:
    """Whether a module makes the object only when it is run itself."""
    return any(isinstance(around, ast.If) and "__main__" in ast.unparse(around.test) for around in place.unit.module.ancestors(node))


def _part(code: Code, node: ast.expr, place: Place, literal: bool) -> Part | Unknown:
    match node:
        case ast.Call(func=ast.Name(id="deepcopy" | "copy") | ast.Attribute(attr="deepcopy" | "copy"), args=[copied]):
            node = copied
    spelling = _spelled(node, place, len(_body(place)), 0, literal)
    if isinstance(spelling, Unknown):
        return spelling
    asked = {place.unit.names.imports.get(name) for name in spelling.names}
    if asked & _OF_REQUEST:
        return Unknown("the initialize answer depends on the request", place, node)
    if "cls" in spelling.names:
        return Unknown("the initialize answer depends on the class that it is asked of", place, node)
    if "self" in spelling.names:
        needs = Needs.INSTANCE
    elif (
        asked & OF_APPLICATION
        or any(not is_pure(call) for call in spelling.calls())
        or any(_changes(name, place) for name in spelling.names)
    ):
        needs = Needs.CALL
    else:
        needs = Needs.IMPORT
    hoist = needs is Needs.IMPORT and not spelling.inner and not isinstance(node, ast.Name | ast.Attribute)
    inner = spelling.inner[0][1].node if len(spelling.inner) == 1 and spelling.inner[0][0] is node else node
    return Part(spelling, needs, hoist, _is_model(code, inner, place))


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def _is_model(code: Code, node: ast.expr, place: Place) -> bool:
    """Whether an expression makes an object of a pydantic model."""
    found = code.target(node.func, place) if isinstance(node, ast.Call) else None
    pending = [found] if found is not None and not isinstance(found, Place) else []
    for owner in pending:
        holder = owner.unit.classes.get(owner.name)
        for base in holder.bases if holder else ():
            if (owner.unit.names.dotted(base) or "").rpartition(".")[2] == "BaseModel":
                return True
            above = code.target(base, Place(owner.unit, None))
            if above is not None and not isinstance(above, Place) and above not in pending:
                pending.append(above)
    return False


def _spelled(node: ast.expr, place: Place, before: int, depth: int, literal: bool) -> Spelling | Unknown:
    """The spelling of an expression; `before` numbers the statement of the function that it stands in."""
    if depth > _MAX_DEPTH or any(isinstance(n, ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr) for n in descend(node)):
        return Unknown("the initialize answer waits for something", place, node)
    bound = _bound_inside(node)
    for around in place.unit.module.ancestors(node):
        if isinstance(around, ast.Lambda) and {arg.arg for arg in around.args.args} & {
            n.id for n in descend(node) if isinstance(n, ast.Name)
        }:
            return Unknown("the initialize answer depends on the request", place, node)
    inner: list[tuple[ast.Name | ast.Attribute, Spelling]] = []
    for name in descend(node):
        if literal and isinstance(name, ast.Attribute) and _is_own(name) and place.owner:
            if (alike := _alike(name.attr, place)) is not None:
                inner.append((name, alike))
            continue
        if not isinstance(name, ast.Name) or name.id in bound or (name.id == "self" and place.owner):
            continue
        found = _local(name, place, before, depth, literal)
        if isinstance(found, Unknown):
            return found
        if found is not None:
            inner.append((name, found))
    return Spelling(node, tuple(inner))


def _alike(attr: str, place: Place) -> Spelling | None:
    """What an attribute is for every object of the class: set once, in the constructor, from no parameter, and never changed."""
    stores: list[tuple[Place, ast.expr]] = []
    for other in place.unit.places:
        for node in other.nodes:
            if not isinstance(node, ast.Attribute) or node.attr != attr or (_is_own(node) and other.owner != place.owner):
                continue
            parent = place.unit.module.parents[node]
            if isinstance(node.ctx, ast.Store):
                if not isinstance(parent, ast.Assign | ast.AnnAssign) or parent.value is None:
                    return None
                stores.append((other, parent.value))
            elif isinstance(node.ctx, ast.Del) or _is_changed(node, parent, place):
                return None
    if len(stores) != 1:
        return None
    home, value = stores[0]
    plain = all(isinstance(n, ast.Dict | ast.List | ast.Constant | ast.Name | ast.expr_context) for n in descend(value))
    if not plain or home.owner != place.owner or home.function is None or home.function.short != "__init__":
        return None
    free = {n.id for n in descend(value) if isinstance(n, ast.Name)}
    return None if any(name in home.function.parameters or assigned(home, name) for name in free) else Spelling(value)


def _is_changed(node: ast.Attribute, parent: ast.AST, place: Place) -> bool:
    """`self.info["version"] = ...`, `self.info.update(...)`."""
    parents = place.unit.module.parents
    while isinstance(parent, ast.Subscript):
        if isinstance(parent.ctx, ast.Store | ast.Del):
            return True
        parent = parents[parent]
    return isinstance(parent, ast.Attribute) and parent.attr in _CHANGING and isinstance(parents[parent], ast.Call)


def _local(name: ast.Name, place: Place, before: int, depth: int, literal: bool) -> Spelling | Unknown | None:
    """What a local name stands for at a statement; None for a name that is not local."""
    doubt = Unknown(f"`{name.id}` of the initialize answer cannot be known before the request", place, name)
    for around in place.enclosing():
        if around.function and name.id in around.function.parameters:
            return doubt
        if not assigned(around, name.id):
            continue
        if around != place:
            return doubt
        if (only := _only(name, place)) is not None:
            return _spelled(only, place, before, depth + 1, literal)
        if not _is_straight(place, name.id):
            return _built(name, place, before, depth + 1, literal) or doubt
        for at, statement in reversed(list(enumerate(_body(place)[:before]))):
            match statement:
                case (
                    ast.Assign(targets=[ast.Name(id=found)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value)
                ):
                    if found == name.id:
                        return _spelled(value, place, at, depth + 1, literal)
        return doubt
    return None


def _built(name: ast.Name, place: Place, before: int, depth: int, literal: bool) -> Spelling | None:
    """A dict that is written down once and filled below: `info = {...}`, then `if self.title: info["title"] = self.title`."""
    values, module = assigned(place, name.id), place.unit.module
    if len(values) != 1 or values[0] is None or not isinstance(made := module.parents[values[0]], ast.Assign | ast.AnnAssign):
        return None
    used, outermost, holder = {name, *module.ancestors(name)}, _body(place), module.parents[made]
    blocks = [block for block in (getattr(holder, kind, None) for kind in ("body", "orelse", "finalbody")) if isinstance(block, list)]
    block = next(one for one in blocks if made in one)
    start = outermost.index(made) if block == outermost else before
    base = _spelled(values[0], place, start, depth, literal)
    added: list[Added] = []
    following = block[block.index(made) + 1 :]
    if not any(one in used for one in following):
        return None
    for statement in takewhile(lambda one: one not in used, following):
        at = outermost.index(statement) if block == outermost else before
        if not any(isinstance(n, ast.Name) and n.id == name.id for n in descend(statement)):
            continue
        inner, test = ([statement], None) if not isinstance(statement, ast.If) else (statement.body, statement.test)
        if isinstance(statement, ast.If) and statement.orelse:
            return None
        asked = _spelled(test, place, at, depth, literal) if test is not None else None
        for one in inner:
            parts: list[Spelling | Unknown | None]
            match one:
                case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=found), slice=key)], value=value) if found == name.id:
                    parts = [_spelled(key, place, at, depth, literal), _spelled(value, place, at, depth, literal)]
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr="update"), args=[value], keywords=[])) if (
                    found == name.id
                ):
                    parts = [None, _spelled(value, place, at, depth, literal)]
                case _:
                    return None
            first, second = parts
            if isinstance(first, Unknown) or not isinstance(second, Spelling) or isinstance(asked, Unknown):
                return None
            added.append(Added(first, second, asked))
    # Nothing else may fill it, before its use or behind it.
    uses = [n for n in place.nodes if isinstance(n, ast.Name) and n.id == name.id]
    if isinstance(base, Unknown) or not added or len(uses) != len(added) + 2:
        return None
    return Spelling(base.node, base.inner, (*base.added, *added))


def _only(name: ast.Name, place: Place) -> ast.expr | None:
    """The one value that a local is given, in a block around its use and before it; nothing changes it afterwards."""
    values, module = assigned(place, name.id), place.unit.module
    if len(values) != 1 or values[0] is None:
        return None
    statement = module.parents[values[0]]
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return None
    around = [name, *module.ancestors(name)]
    holder = module.parents[statement]
    blocks = [block for block in (getattr(holder, kind, None) for kind in ("body", "orelse", "finalbody")) if isinstance(block, list)]
    block = next((one for one in blocks if statement in one), [])
    if not any(one in around for one in block[block.index(statement) + 1 :] if statement in block):
        return None
    for node in place.nodes:
        match node:
            case ast.Subscript(value=ast.Name(id=found), ctx=ast.Store() | ast.Del()) if found == name.id:
                return None
            case ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr=attr)) if found == name.id and attr in {*_CHANGING, "append"}:
                return None
    return values[0]


def _body(place: Place) -> list[ast.stmt]:
    return place.function.node.body if place.function else []


def _is_straight(place: Place, name: str) -> bool:
    """Whether every change of a local is a plain assignment in the function's outermost block."""
    assert place.function
    for statement in place.function.node.body:
        plain = isinstance(statement, ast.Assign | ast.AnnAssign)
        for node in descend(statement):
            match node:
                case ast.Name(id=found, ctx=ast.Store() | ast.Del()) if found == name and not plain:
                    return False
                case ast.Subscript(value=ast.Name(id=found), ctx=ast.Store() | ast.Del()) if found == name:
                    return False
                case ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr="update" | "setdefault" | "pop" | "append" | "clear")) if (
                    found == name
                ):
                    return False
    return True


def _changes(name: str, place: Place) -> bool:
    """Whether a module's name is given a new value after import time."""
    bound = 0
    for other in place.unit.places:
        declared = any(isinstance(n, ast.Global) and name in n.names for n in other.nodes)
        if other.function is None:
            bound += len(assigned(other, name))
        elif declared and assigned(other, name):
            return True
    return bound > 1


def is_pure(call: ast.Call) -> bool:
    """Calls that give the same at import time as later, for arguments that do."""
    match call.func:
        case ast.Name(id=name):
            return name in {"dict", "list", "tuple", "sorted", "str", "len", "frozenset", "set"}
        case ast.Attribute(attr=name):
            return name in {
                "join",
                "format",
                "strip",
                "dedent",
                "values",
                "keys",
                "items",
                "upper",
                "lower",
                "replace",
                "getenv",
                "version",
            }
    return False


def _bound_inside(node: ast.AST) -> frozenset[str]:
    """The names that comprehensions and lambdas inside an expression bind."""
    found = {n.id for n in descend(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    found |= {arg.arg for n in descend(node) if isinstance(n, ast.Lambda) for arg in n.args.args}
    return frozenset(found)


def is_defined_by(statement: ast.stmt, name: str) -> bool:
    """Whether a module-level statement gives a name its value."""
    match statement:
        case ast.FunctionDef(name=found) | ast.AsyncFunctionDef(name=found) | ast.ClassDef(name=found):
            return found == name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return any((alias.asname or alias.name.partition(".")[0]) == name for alias in names)
    return any(
        isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id == name for n in descend(statement) if not isinstance(n, Def)
    )


def is_builtin(name: str) -> bool:
    return name in _BUILTINS
