"""What a server says about itself: the identity, capabilities and instructions of its initialize answer, and what they need."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from .code import Class, Code, Place, Unit, assigned
from .functions import Def, root, targets
from .spelled import CHANGING, Speller, Spelling, Unknown, binds, body_of, is_pure
from .syntax import descend

FIELDS = {"info": "serverInfo", "capabilities": "capabilities", "instructions": "instructions"}
# As models of a framework spell them, beside the names of the wire.
_SPELLINGS = {"server_info": "serverInfo", "protocol_version": "protocolVersion", "client_info": "clientInfo"}
OF_APPLICATION = frozenset({"flask.current_app", "flask.g"})
"""What means something only while a request is served, whichever that is."""
_OF_REQUEST = frozenset({"flask.request", "flask.session"})
_BUILTINS = frozenset(dir(builtins))


class Needs(Enum):
    """When a part of the identity can be worked out."""

    IMPORT = "import"  # by the names of the module alone
    INSTANCE = "instance"  # from the object whose method answers
    CALL = "call"  # each time anew, from names that change


@dataclass(frozen=True, eq=False)
class Part:
    """One expression of the identity. `hoist` says that it is a literal in the branch, which can share a name with others."""

    spelling: Spelling
    needs: Needs
    hoist: bool
    model: bool = False  # an object of a model class, not a dict
    scope: Place | None = None  # the function that alone knows what it uses

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
    scope: Place | None = None  # the function, around the one that the boundary is for, that has to make the boundary object


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


def identity(code: Code, places: tuple[Place, ...], hook: Place) -> Identity | Unknown:
    """The one identity that these functions answer initialize with. The boundary is for the function `hook`."""
    home = hook.unit
    found = list(identities(code, places))
    spread = {id(inner) for place, node in found for _, inner in _spread(code, node, place)}
    found = [(place, node) for place, node in found if id(node) not in spread]
    if not found:
        return Unknown("no initialize answer was found, so neither name nor capabilities are known")
    place, node = found[0]
    if any(ast.dump(_without_version(code, other, n)) != ast.dump(_without_version(code, place, node)) for other, n in found[1:]):
        return Unknown("initialize is answered in two different ways", found[1][0], found[1][1])
    entries = _entries(code, node, place)
    altered = [(place, one) for one in _alterations(place, node)]
    altered += [(other, one) for other, inner in _spread(code, node, place) for one in _alterations(other, inner)]
    altered += _alterations_above(code, place, node)
    for other, changed in altered:
        later = _instructions(changed, other) if "instructions" not in entries and other == place else None
        if later is None:
            return Unknown("the initialize answer is changed after it was written down", other, changed)
        entries["instructions"] = later, place
    speller = Speller(code, hook, literal=place.unit is not home)
    parts = _parts(entries, speller)
    if not isinstance(parts, Unknown) and (doubt := _of_instance(code, place, parts)) is not None:
        # What each object is given anew, and nobody changes, is known without one; what only this one knows, where it is at hand.
        alike = _parts(entries, Speller(code, hook, literal=True))
        if isinstance(alike, Unknown) or _of_instance(code, place, alike) is not None:
            if (method := _method_around(code, place, hook)) is None:
                return doubt
            alike = {
                name: replace(part, needs=Needs.CALL, scope=method) if part.needs is Needs.INSTANCE else part
                for name, part in parts.items()
            }
        parts = alike
    if isinstance(parts, Unknown):
        return parts
    if "info" not in parts or "capabilities" not in parts:
        missing = "serverInfo" if "info" not in parts else "capabilities"
        return Unknown(f"the initialize answer has no {missing}", place, node)
    scopes = {part.scope for part in parts.values() if part.scope is not None}
    scope = next((around for around in speller.outer if around in scopes), None)
    if scope is not None and (doubt := _hidden(scope, parts) or _again(code, scope, hook)) is not None:
        return doubt
    holder = _holder(code, place, home) if any(part.needs is Needs.INSTANCE for part in parts.values()) else ""
    return Identity(place, node, parts["info"], parts["capabilities"], parts.get("instructions"), holder, scope=scope)


def _hidden(scope: Place, parts: dict[str, Part]) -> Unknown | None:
    """Whether a name means something else inside of the function that makes the boundary object."""
    for part in parts.values():
        levels = [*((name, None) for name in part.names), *part.spelling.within]
        for name, level in levels:
            for around in scope.enclosing():
                if around == level:
                    break
                if binds(around, name):
                    return Unknown(f"`{name}` of the initialize answer means something else in `{around.name}`", scope, part.spelling.node)
    return None


def _again(code: Code, scope: Place, hook: Place) -> Unknown | None:
    """Whether the function that makes the boundary object runs for each message: what the object keeps of one, the next would miss."""
    for call in code.callers(hook):
        around = scope.unit.module.ancestors(call.node)
        if call.place == scope and call.direct and not any(isinstance(one, ast.For | ast.AsyncFor | ast.While) for one in around):
            return Unknown(f"who the server is, `{scope.name}` alone knows, which may run anew for each message", scope, call.node)
    return None


def _method_around(code: Code, place: Place, hook: Place) -> Place | None:
    """The method around the hook whose `self` is the one of the initialize answer."""
    method = next((around for around in hook.enclosing() if around != hook and around.function and around.function.owner), None)
    if method is None or method.unit is not place.unit or method.owner != place.owner:
        return None
    pending = [place]
    for one in pending:
        if method in one.enclosing():
            continue
        assert one.function
        calls = code.callers(one)
        if not calls:
            return None
        for call in calls:
            match call.node.func:
                case ast.Attribute(value=ast.Name(id="self")) if (
                    call.direct and call.place.unit is place.unit and call.place.owner == place.owner
                ):
                    pending += [call.place] if call.place not in pending else []
                case _:
                    return None
    return method


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


def _entries(code: Code, node: ast.Dict | ast.Call, place: Place) -> dict[str, tuple[ast.expr, Place]]:
    """The fields of an answer, by their names on the wire, and the function that writes each down."""
    if isinstance(node, ast.Call):
        return {_SPELLINGS.get(keyword.arg, keyword.arg): (keyword.value, place) for keyword in node.keywords if keyword.arg}
    found: dict[str, tuple[ast.expr, Place]] = {}
    for home, inner in _spread(code, node, place):
        found |= _entries(code, inner, home)
    pairs = ((code.text(key, place), value) for key, value in zip(node.keys, node.values, strict=True) if key is not None)
    return found | {key: (value, place) for key, value in pairs if key is not None}


def _spread(code: Code, node: ast.Dict | ast.Call, place: Place) -> Iterator[tuple[Place, ast.Dict]]:
    """The answer of another function that this one begins with: `{**answer, "capabilities": ...}`."""
    if isinstance(node, ast.Dict) and None in node.keys[:1]:
        named = {key.value for key in node.keys if isinstance(key, ast.Constant)}
        if named & {*FIELDS.values(), "protocolVersion"} and (found := Speller(code, place).written(node.values[0], place)) is not None:
            yield found


def _parts(entries: dict[str, tuple[ast.expr, Place]], speller: Speller) -> dict[str, Part] | Unknown:
    parts: dict[str, Part] = {}
    for name, key in FIELDS.items():
        value, place = entries.get(key, (None, None))
        if value is not None and place is not None and not (isinstance(value, ast.Constant) and value.value is None):
            part = _part(speller, value, place)
            if isinstance(part, Unknown):
                return part
            parts[name] = part
    return parts


def _without_version(code: Code, place: Place, node: ast.Dict | ast.Call) -> ast.Dict:
    pairs = [(key, value) for key, (value, _) in _entries(code, node, place).items() if key in FIELDS.values()]
    return ast.Dict(keys=[ast.Constant(key) for key, _ in pairs], values=[value for _, value in pairs])


def _alterations_above(code: Code, place: Place, node: ast.Dict | ast.Call) -> list[tuple[Place, ast.AST]]:
    """What callers of a function that only writes the answer down make of its identity."""
    if place.function is None or not any(isinstance(n, ast.Return) and n.value is node for n in place.nodes):
        return []
    found: list[tuple[Place, ast.AST]] = []
    for call in code.callers(place):
        holder: ast.AST = call.node
        while not isinstance(holder, ast.stmt):
            holder = call.place.unit.module.parents[holder]
        names = {target.id for target in targets(holder) if isinstance(target, ast.Name)} if call.direct else set()
        for other in call.place.nodes:
            match other:
                case ast.Dict(keys=keys, values=values):
                    begun = any(
                        key is None and isinstance(one, ast.Name) and one.id in names for key, one in zip(keys, values, strict=True)
                    )
                    about = begun and any(isinstance(key, ast.Constant) and key.value in FIELDS.values() for key in keys)
                case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
                    goals = [goal for goal in targets(other) if isinstance(goal, ast.Subscript) and root(goal) in names]
                    keys_ = {n.value for goal in goals for n in descend(goal) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
                    about = bool(keys_ & {*FIELDS.values()})
                case ast.Call(func=ast.Attribute(value=kept, attr=attr), args=args) if attr in CHANGING and root(kept) in names:
                    about = any(isinstance(n, ast.Constant) and n.value in FIELDS.values() for one in (kept, *args) for n in descend(one))
                case _:
                    continue
            found += [(call.place, other)] if about else []
    return found


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
            case ast.Call(func=ast.Attribute(value=kept, attr=attr), args=args) if attr in CHANGING and root(kept) in names:
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


def _part(speller: Speller, node: ast.expr, place: Place) -> Part | Unknown:
    match node:
        case ast.Call(func=ast.Name(id="deepcopy" | "copy") | ast.Attribute(attr="deepcopy" | "copy"), args=[copied]):
            node = copied
    spelling = speller.spelled(node, place, len(body_of(place)))
    if isinstance(spelling, Unknown):
        return spelling
    asked = {place.unit.names.imports.get(name) for name in spelling.names}
    if asked & _OF_REQUEST:
        return Unknown("the initialize answer depends on the request", place, node)
    if "cls" in spelling.names:
        return Unknown("the initialize answer depends on the class that it is asked of", place, node)
    known = spelling.names | {name for name, _ in spelling.within}
    makers: dict[str, object] = {}
    for name, statement in spelling.makes():
        maker = place.unit.module.function_of(statement) or ast.dump(statement)  # an import has no function: it is what is left of one
        if name in known or makers.setdefault(name, maker) != maker:
            return Unknown(f"`{name}` of the initialize answer is the name of several things", place, node)
    scopes = {around for _, around in spelling.within}
    scope = next((around for around in speller.outer if around in scopes), None)
    if "self" in spelling.names:
        needs = Needs.INSTANCE
        if scope is not None:
            return Unknown("the initialize answer needs an object as well as the names of a function", place, node)
    elif (
        asked & OF_APPLICATION
        or scope is not None
        or any(not is_pure(call) for call in spelling.calls())
        or any(_changes(name, place) for name in spelling.names)
        or any(spelling.statements())
    ):
        needs = Needs.CALL
    else:
        needs = Needs.IMPORT
    hoist = needs is Needs.IMPORT and not spelling.inner and not isinstance(node, ast.Name | ast.Attribute)
    inner = spelling.inner[0][1].node if len(spelling.inner) == 1 and spelling.inner[0][0] is node else node
    model = isinstance(inner, ast.expr) and _is_model(speller.code, inner, place)
    return Part(spelling, needs, hoist, model, scope)


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
    """Whether Python itself has this name in every module."""
    return name in _BUILTINS
