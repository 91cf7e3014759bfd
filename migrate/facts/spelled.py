"""What an expression means outside of the function that it stands in: its local names, replaced by what they were given."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .code import Code, Place, assigned
from .emissions import block_of
from .functions import bound, dotted, root, targets
from .syntax import descend

CHANGING = frozenset({"update", "setdefault", "pop", "clear", "popitem"})
_FILLING = CHANGING | {"append", "extend", "add", "insert", "remove", "discard"}
_LOGS = frozenset({"debug", "info", "warning", "error", "exception"})
_WAITS = ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr
_MAX_DEPTH = 8


@dataclass(frozen=True, eq=False)
class Spelling:
    """An expression or statement that means the same outside of its function.

    Each of the names in `inner` has to be replaced by what it was given, `before` has to run first and gives the names in `made`, and
    the names in `around` are those of a function, known inside of it only.
    """

    node: ast.expr | ast.stmt
    inner: tuple[tuple[ast.expr, Spelling], ...] = ()
    before: tuple[Spelling, ...] = ()
    made: frozenset[str] = frozenset()
    around: frozenset[tuple[str, Place]] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """The names of the module that are left, and `self`."""
        replaced = {id(n) for name, _ in self.inner for n in descend(name)}
        own = {n.id for n in descend(self.node) if isinstance(n, ast.Name) and id(n) not in replaced} - bound_inside(self.node)
        own -= self.made | {name for name, _ in self.around}
        return frozenset(own).union(*(spelling.names for spelling in self._below()))

    @property
    def within(self) -> frozenset[tuple[str, Place]]:
        """The names that only code inside of a function knows, and that function."""
        return self.around.union(*(spelling.within for spelling in self._below()))

    def statements(self) -> Iterator[Spelling]:
        """What has to run first, in order."""
        for _, spelling in self.inner:
            yield from spelling.statements()
        for statement in self.before:
            yield from statement.statements()
            yield statement

    def makes(self) -> Iterator[tuple[str, ast.stmt]]:
        """The names that these statements give."""
        for statement in self.statements():
            for name in _given_by(statement.node):
                assert isinstance(statement.node, ast.stmt)
                yield name, statement.node

    def attributes(self) -> Iterator[ast.Attribute]:
        """What it reads of `self`."""
        replaced = {id(name) for name, _ in self.inner}
        for node in descend(self.node):
            if id(node) not in replaced and isinstance(node, ast.Attribute) and is_own(node):
                yield node
        for spelling in self._below():
            yield from spelling.attributes()

    def calls(self) -> Iterator[ast.Call]:
        yield from (n for n in descend(self.node) if isinstance(n, ast.Call))
        for spelling in self._below():
            yield from spelling.calls()

    def _below(self) -> Iterator[Spelling]:
        yield from (spelling for _, spelling in self.inner)
        yield from self.before


@dataclass(frozen=True)
class Unknown:
    """Why the identity cannot be taken over, and where."""

    reason: str
    place: Place | None = None
    node: ast.AST | None = None


@dataclass(frozen=True, eq=False)
class Speller:
    """Spells what the function `hook` answers, for code in a function around it or in the module.

    With `literal`, attributes of the object that are the same for all of its kind are spelled out.
    """

    code: Code
    hook: Place
    literal: bool = False

    @property
    def outer(self) -> tuple[Place, ...]:
        """The functions around the hook, innermost first."""
        return tuple(around for around in self.hook.enclosing() if around != self.hook)

    def spelled(self, node: ast.expr | ast.stmt, place: Place, before: int, depth: int = 0) -> Spelling | Unknown:
        """The spelling of what stands in a function; `before` numbers the statement of the function that it stands in."""
        return self._spelled(node, place, before, depth, frozenset())

    def _spelled(self, node: ast.expr | ast.stmt, place: Place, before: int, depth: int, made: frozenset[str]) -> Spelling | Unknown:
        if depth > _MAX_DEPTH or any(isinstance(n, _WAITS) for n in descend(node)):
            return Unknown("the initialize answer waits for something", place, node)
        for around in place.unit.module.ancestors(node):
            if isinstance(around, ast.Lambda) and {arg.arg for arg in around.args.args} & {
                n.id for n in descend(node) if isinstance(n, ast.Name)
            }:
                return Unknown("the initialize answer depends on the request", place, node)
        inner: list[tuple[ast.expr, Spelling]] = []
        done: set[ast.AST] = set()
        for one in descend(node):
            if isinstance(one, ast.Subscript) and (found := self._entry(one, place, depth)) is not None:
                if isinstance(found, Unknown):
                    return found
                inner.append((one, found))
                done.update(descend(one))
        own = bound_inside(node) if isinstance(node, ast.expr) else frozenset[str]()
        taken: set[tuple[str, Place]] = set()
        for name in descend(node):
            if name in done:
                continue
            if self.literal and isinstance(name, ast.Attribute) and is_own(name) and place.owner:
                if (alike := _alike(name.attr, place)) is not None:
                    inner.append((name, alike))
                continue
            if not isinstance(name, ast.Name) or name.id in own or name.id in made or (name.id == "self" and place.owner):
                continue
            local = self._local(name, place, before, depth)
            if isinstance(local, Unknown):
                return local
            if isinstance(local, Place):
                taken.add((name.id, local))
            elif local is not None:
                inner.append((name, local))
        return Spelling(node, tuple(inner), made=made, around=frozenset(taken))

    # -- names -----------------------------------------------------------------
    def _local(self, name: ast.Name, place: Place, before: int, depth: int) -> Spelling | Unknown | Place | None:
        """What a local name stands for at a statement; the function around the hook that knows it; None for a name that is not local."""
        doubt = Unknown(f"`{name.id}` of the initialize answer cannot be known before the request", place, name)
        for around in place.enclosing():
            if not binds(around, name.id):
                continue
            if around != place:
                return around if around in self.outer else doubt
            assert around.function
            if name.id in around.function.parameters:
                return self._given(name, place, depth) if not assigned(place, name.id) else doubt
            if (late := _late_import(name.id, place)) is not None:
                return Spelling(name, before=(Spelling(late, made=frozenset({name.id})),), made=frozenset({name.id}))
            if (only := _only(name, place)) is not None:
                return self.spelled(only, place, before, depth + 1)
            if not assigned(place, name.id):
                return doubt
            return self._straight(name, place, before, depth) or self._built(name, place, before, depth) or doubt
        return None

    def _straight(self, name: ast.Name, place: Place, before: int, depth: int) -> Spelling | Unknown | None:
        """What a local is given last, where every change of it is a plain assignment in the function's outermost block."""
        if not _is_straight(place, name.id):
            return None
        for at, statement in reversed(list(enumerate(body_of(place)[:before]))):
            match statement:
                case (
                    ast.Assign(targets=[ast.Name(id=found)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value)
                ):
                    if found == name.id:
                        return self.spelled(value, place, at, depth + 1)
        return None

    def _given(self, name: ast.Name, place: Place, depth: int) -> Spelling | Unknown:
        """What a parameter is given by the one call of the function."""
        doubt = Unknown(f"`{name.id}` of the initialize answer cannot be known before the request", place, name)
        call = self.only_call(place)
        if call is None or depth > _MAX_DEPTH:
            return doubt
        caller, node = call
        assert place.function
        if any(keyword.arg is None for keyword in node.keywords):
            return doubt
        given = bound(node, place.function, name.id)
        if given is None and not any(isinstance(argument, ast.Starred) for argument in node.args):
            given = _default(place, name.id)
            return doubt if not isinstance(given, ast.Constant) else Spelling(given)
        if given is None:
            return doubt
        spelled = self.spelled(given, caller, _number(node, caller), depth + 1)
        if isinstance(spelled, Unknown) or any(spelled.statements()) or not all(map(is_pure, spelled.calls())):
            return doubt  # the caller may do this once, and not for each request
        return spelled

    def only_call(self, place: Place) -> tuple[Place, ast.Call] | None:
        """Where a function is called, if that is in one place of its own module and nothing else mentions it."""
        if place.function is None or place.function.node.decorator_list:
            return None
        calls = self.code.callers(place)
        if len(calls) != 1 or not calls[0].direct or calls[0].place.unit is not place.unit or calls[0].place == place:
            return None
        short = place.function.short
        mentions: list[ast.expr] = []
        for unit in self.code.around(place.unit):
            mentions += [node for node in unit.module.nodes(ast.Name) if node.id == short and isinstance(node.ctx, ast.Load)]
            mentions += [node for node in unit.module.nodes(ast.Attribute) if node.attr == short and isinstance(node.ctx, ast.Load)]
        return (calls[0].place, calls[0].node) if mentions == [calls[0].node.func] else None

    # -- parts of another answer ---------------------------------------------------
    def _entry(self, node: ast.Subscript, place: Place, depth: int) -> Spelling | Unknown | None:
        """`answer["capabilities"]`, where a function that is called here writes the answer down."""
        if not isinstance(node.slice, ast.Constant) or not isinstance(node.ctx, ast.Load):
            return None
        found = self.written(node.value, place)
        if found is None:
            return None
        home, answer = found
        for key, value in zip(answer.keys, answer.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == node.slice.value:
                return self.spelled(value, home, _number(answer, home), depth + 1)
        return None

    def written(self, node: ast.expr, place: Place) -> tuple[Place, ast.Dict] | None:
        """The dict that a function writes down whose call this is, or a name for it that nothing changes."""
        if isinstance(node, ast.Name):
            values = assigned(place, node.id)
            if len(values) != 1 or not isinstance(values[0], ast.Call) or _is_touched(node.id, place.nodes):
                return None
            node = values[0]
        if not isinstance(node, ast.Call) or (target := self.code.function(node, place)) is None or target.unit is not place.unit:
            return None
        returned = [n.value for n in target.nodes if isinstance(n, ast.Return)]
        match returned:
            case [ast.Dict() as answer] if None not in answer.keys:
                return target, answer
        return None

    # -- what is built in several steps ----------------------------------------------
    def _built(self, name: ast.Name, place: Place, before: int, depth: int) -> Spelling | Unknown | None:
        """A local that statements in a row build: `found = {}`, `if self.tools: found["tools"] = {}`."""
        module = place.unit.module
        use: ast.AST = name
        while not isinstance(use, ast.stmt):
            use = module.parents[use]
        chosen = _building(name.id, use, place)
        inside = {node for statement in chosen for node in descend(statement)}
        if not chosen or not all(_is_step(statement) for statement in chosen):
            return None
        if any(_is_touched(name.id, descend(statement)) for statement in _behind(use, place)):
            return None
        made = frozenset(given for statement in chosen for given in _given_by(statement))
        for node in place.nodes:
            # Others that are given here and elsewhere, and whatever may change it under another name.
            gives = isinstance(node, ast.Name) and node.id in made - {name.id} and isinstance(node.ctx, ast.Store)
            reads = isinstance(node, ast.Name) and node.id == name.id and node not in inside and not any(n is node for n in descend(use))
            between = reads and isinstance(node, ast.Name) and chosen[0].lineno <= node.lineno <= use.lineno
            if (gives and node not in inside) or between:
                return None
        steps: list[Spelling] = []
        for statement in chosen:
            if any(isinstance(n, ast.Constant | ast.JoinedStr) and n.lineno != n.end_lineno for n in descend(statement)):
                return None
            step = self._spelled(statement, place, min(before, _number(statement, place)), depth + 1, made)
            if isinstance(step, Unknown):
                return step
            steps.append(step)
        return Spelling(name, before=tuple(steps), made=frozenset({name.id}))


def binds(place: Place, name: str) -> bool:
    """Whether a function has a name of its own."""
    function = place.function
    if function is None or any(isinstance(node, ast.Global) and name in node.names for node in place.nodes):
        return False
    args = function.node.args
    rest = {arg.arg for arg in (args.vararg, args.kwarg) if arg is not None}
    inner = f"{function.name}.{name}"
    return (
        name in function.parameters
        or name in rest
        or bool(assigned(place, name))
        or inner in place.unit.module.functions
        or inner in place.unit.classes
    )


def body_of(place: Place) -> list[ast.stmt]:
    """The statements of the function that a place is in; none at the top of a module."""
    return place.function.node.body if place.function else []


def is_own(node: ast.Attribute) -> bool:
    """Whether an attribute is one of `self`."""
    return isinstance(node.value, ast.Name) and node.value.id == "self"


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


def bound_inside(node: ast.AST) -> frozenset[str]:
    """The names that comprehensions and lambdas inside an expression bind."""
    found = {n.id for n in descend(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    found |= {arg.arg for n in descend(node) if isinstance(n, ast.Lambda) for arg in n.args.args}
    return frozenset(found)


def _number(node: ast.AST, place: Place) -> int:
    """The number of the function's statement that holds a node."""
    around = {node, *place.unit.module.ancestors(node)}
    return next((at for at, statement in enumerate(body_of(place)) if statement in around), len(body_of(place)))


def _default(place: Place, name: str) -> ast.expr | None:
    assert place.function
    args = place.function.node.args
    every = [*args.posonlyargs, *args.args]
    pairs = [*zip(reversed(every), reversed(args.defaults), strict=False), *zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    return next((default for arg, default in pairs if arg.arg == name), None)


def _late_import(name: str, place: Place) -> ast.Import | ast.ImportFrom | None:
    """The import of one name that a function makes when it runs, if it is what the name is given, and nothing else is."""
    if len(assigned(place, name)) != 1:
        return None
    for node in place.nodes:
        if isinstance(node, ast.Import | ast.ImportFrom) and any(
            isinstance(around, ast.Try) for around in place.unit.module.ancestors(node)
        ):
            continue
        match node:
            case ast.ImportFrom(module=origin, names=names, level=level):
                for alias in names:
                    if (alias.asname or alias.name) == name:
                        return ast.ImportFrom(origin, [alias], level)
            case ast.Import(names=names):
                for alias in names:
                    if (alias.asname or alias.name.partition(".")[0]) == name:
                        return ast.Import([alias])
    return None


def _given_by(node: ast.AST) -> frozenset[str]:
    """The names that a statement gives, those inside of it too."""
    found: set[str] = set()
    for one in descend(node):
        match one:
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.ExceptHandler(name=str() as name):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name.partition(".")[0])
    return frozenset(found)


def _is_touched(name: str, nodes: Iterable[ast.AST]) -> bool:
    """Whether something changes what a name stands for, and not only the name."""
    for node in nodes:
        goals = node.targets if isinstance(node, ast.Delete) else list(targets(node))
        if any(isinstance(goal, ast.Subscript | ast.Attribute) and root(goal) == name for goal in goals):
            return True
        match node:
            case ast.Call(func=ast.Attribute(value=kept, attr=attr)) if attr in _FILLING and root(kept) == name:
                return True
            case ast.Expr(value=ast.Call(func=func, args=args)) if any(isinstance(one, ast.Name) and one.id == name for one in args):
                # Called for what it does, and that may be to this.
                if dotted(func).rpartition(".")[2].lstrip("_") not in {*_LOGS, "print", "log"}:
                    return True
    return False


def _building(name: str, use: ast.stmt, place: Place) -> list[ast.stmt]:
    """The statements on the way to another one that give a local its value; [] where that is not clear."""
    module, chosen = place.unit.module, list[ast.stmt]()
    node: ast.AST = use
    while place.function is not None and node is not place.function.node:
        parent = module.parents[node]
        if isinstance(node, ast.stmt) and not isinstance(parent, ast.Module):
            block = block_of(node, module)
            earlier = [s for s in block[: block.index(node)] if name in _given_by(s) or _is_touched(name, descend(s))]
            begins = [at for at, s in enumerate(earlier) if _begins(name, s)]
            chosen = earlier[begins[-1] if begins else 0 :] + chosen
            if begins:
                return chosen
            if isinstance(parent, ast.For | ast.AsyncFor | ast.While):
                return []
        node = parent
    # Branches that each give it something.
    return chosen if chosen and isinstance(chosen[0], ast.If | ast.Try) else []


def _behind(use: ast.stmt, place: Place) -> Iterator[ast.stmt]:
    """The statements of a function that run once another one has run."""
    module = place.unit.module
    node: ast.AST = use
    while place.function is not None and node is not place.function.node:
        if isinstance(node, ast.stmt):
            block = block_of(node, module)
            yield from block[block.index(node) + 1 :]
        node = module.parents[node]


def _begins(name: str, statement: ast.stmt) -> bool:
    """Whether a statement gives a name a value that has nothing to do with the one before."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=found)], value=value) | ast.AnnAssign(target=ast.Name(id=found), value=ast.expr() as value):
            return found == name and not any(isinstance(n, ast.Name) and n.id == name for n in descend(value))
    return False


def _is_step(statement: ast.stmt) -> bool:
    """A statement that builds something and does nothing else."""
    match statement:
        case ast.Assign(targets=goals):
            return all(
                isinstance(goal, ast.Name) or (isinstance(goal, ast.Subscript) and isinstance(_root(goal), ast.Name)) for goal in goals
            )
        case (
            ast.AnnAssign(target=ast.Name(), value=ast.expr())
            | ast.AugAssign(target=ast.Name())
            | ast.Pass()
            | ast.Import()
            | ast.ImportFrom()
        ):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=kept, attr=attr) as func)):
            fills = attr in _FILLING and isinstance(_root(kept), ast.Name) and root(kept) not in {"self", "cls"}
            return fills or (attr in _LOGS and "log" in dotted(func).lower())
        case ast.If(body=body, orelse=orelse):
            return all(map(_is_step, [*body, *orelse]))
        case ast.For(target=ast.Name() | ast.Tuple(), body=body, orelse=[]):
            return all(map(_is_step, body))
        case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=[]):
            return all(map(_is_step, [*body, *orelse, *(step for handler in handlers for step in handler.body)]))
    return False


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _alike(attr: str, place: Place) -> Spelling | None:
    """What an attribute is for every object of the class: set once, in the constructor, from no parameter, and never changed."""
    stores: list[tuple[Place, ast.expr]] = []
    for other in place.unit.places:
        for node in other.nodes:
            if not isinstance(node, ast.Attribute) or node.attr != attr or (is_own(node) and other.owner != place.owner):
                continue
            parent = place.unit.module.parents[node]
            if isinstance(node.ctx, ast.Store):
                if not isinstance(parent, ast.Assign | ast.AnnAssign) or parent.value is None:
                    return None
                stores.append((other, parent.value))
            elif isinstance(node.ctx, ast.Del) or _is_changed(parent, place):
                return None
    if len(stores) != 1:
        return None
    home, value = stores[0]
    plain = all(isinstance(n, ast.Dict | ast.List | ast.Constant | ast.Name | ast.expr_context) for n in descend(value))
    if not plain or home.owner != place.owner or home.function is None or home.function.short != "__init__":
        return None
    free = {n.id for n in descend(value) if isinstance(n, ast.Name)}
    return None if any(name in home.function.parameters or assigned(home, name) for name in free) else Spelling(value)


def _is_changed(parent: ast.AST, place: Place) -> bool:
    """`self.info["version"] = ...`, `self.info.update(...)`."""
    parents = place.unit.module.parents
    while isinstance(parent, ast.Subscript):
        if isinstance(parent.ctx, ast.Store | ast.Del):
            return True
        parent = parents[parent]
    return isinstance(parent, ast.Attribute) and parent.attr in CHANGING and isinstance(parents[parent], ast.Call)


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
    return None if _is_touched(name.id, place.nodes) else values[0]


def _is_straight(place: Place, name: str) -> bool:
    """Whether every change of a local is a plain assignment in the function's outermost block."""
    assert place.function
    for statement in place.function.node.body:
        plain = isinstance(statement, ast.Assign | ast.AnnAssign)
        for node in descend(statement):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store | ast.Del) and not plain:
                return False
    return not _is_touched(name, place.nodes)
