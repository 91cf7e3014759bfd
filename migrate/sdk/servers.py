"""The FastMCP servers of a project: where each is made, and everything that the project does with the same object."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ..facts.model import Defined, SymbolUse
from .modules import Binding, Def, How, Module
from .types import OWN, ClassOf, Function, Instance, ModuleOf, members

if TYPE_CHECKING:
    from .program import Program

CLASSES = ("mcp.server.fastmcp.server.FastMCP", "mcp.server.mcpserver.server.MCPServer")
"""What it is called in the one release and in the other: a rename may have been made already."""
STANDALONE_CLASSES = ("fastmcp.FastMCP",)
"""The server of the package `fastmcp`, which has one name in all of its releases."""

_MAX_DEPTH = 12


@dataclass(frozen=True, slots=True)
class Use:
    """A method that is called or handed on, or the settings, of one server or another."""

    module: Module
    node: ast.Call | ast.Attribute
    name: str  # run, sse_app, settings ...
    fact: Defined


@dataclass(eq=False, slots=True)
class Server:
    """One place that makes a server."""

    module: Module
    call: ast.Call
    fact: Defined
    uses: list[Use] = field(default_factory=list)
    sure: bool = True  # nothing else can be meant by any of the uses
    shared: list[Use] = field(default_factory=list)  # those that may be of another server


class Servers(tuple[Server, ...]):
    """The servers of a project; which of them a node is about is asked at every fact of it."""

    def at(self, node: ast.AST | None) -> Server | None:
        """The server that this call makes."""
        return self._by_call.get(node)

    def using(self, node: ast.AST | None) -> list[Server]:
        """The servers that one of these uses may be of."""
        return self._by_use.get(node, [])

    def inside(self, module: Module) -> list[Server]:
        """The servers that a module makes."""
        return self._by_module.get(module, [])

    @cached_property
    def _by_call(self) -> dict[ast.AST | None, Server]:
        return {server.call: server for server in self}

    @cached_property
    def _by_use(self) -> dict[ast.AST | None, list[Server]]:
        found: dict[ast.AST | None, list[Server]] = defaultdict(list)
        for server in self:
            for node in {use.node: None for use in server.uses}:
                found[node].append(server)
        return {**found}

    @cached_property
    def _by_module(self) -> dict[Module, list[Server]]:
        found: dict[Module, list[Server]] = defaultdict(list)
        for server in self:
            found[server.module].append(server)
        return {**found}


def part(fact: Defined, classes: Iterable[str] = CLASSES) -> str | None:
    """The method or field of a server that a fact is about; nothing in it for the class itself."""
    if isinstance(fact.key, str):
        for name in classes:
            if fact.key == name:
                return ""
            if fact.key.startswith(f"{name}."):
                return fact.key[len(name) + 1 :]
    return None


def servers(program: Program, facts: Mapping[str, Iterable[object]], classes: tuple[str, ...] = CLASSES) -> Servers:
    """All servers of a project that are of one of these classes, with their uses."""
    found: dict[ast.AST, Server] = {}
    uses: list[Use] = []
    for path, inside in facts.items():
        for fact in inside:
            name = part(fact, classes) if isinstance(fact, Defined) else None
            if name is None:
                continue
            assert isinstance(fact, Defined)
            module = program.module_at(path)
            node = module.at(fact.span)
            if name == "" and fact.use is SymbolUse.CALL and isinstance(node, ast.Call):
                found[node] = Server(module, node, fact)
            elif name and fact.use is SymbolUse.CALL and isinstance(node, ast.Call):
                uses.append(Use(module, node, name, fact))
            elif name and fact.use in (SymbolUse.READ, SymbolUse.STORE) and isinstance(node, ast.Attribute):
                above = module.parents.get(node)
                if not (isinstance(above, ast.Call) and above.func is node):
                    uses.append(Use(module, node, name, fact))
    for use in uses:
        receiver = use.node.func.value if isinstance(use.node, ast.Call) and isinstance(use.node.func, ast.Attribute) else None
        receiver = use.node.value if isinstance(use.node, ast.Attribute) else receiver
        if receiver is None:
            continue
        origin = Origins(program, classes)
        made = origin.of(receiver, use.module)
        for call in made:
            if call in found:
                found[call].uses.append(use)
                if len(made) > 1 or origin.open:
                    found[call].sure = False
                    found[call].shared.append(use)
    return Servers(found.values())


class Origins:
    """Which calls may have made the object behind an expression; `open` tells that something else may have."""

    def __init__(self, program: Program, classes: tuple[str, ...] = CLASSES) -> None:
        self.program = program
        self.classes = classes
        self.open = False
        self._seen: set[object] = set()

    def of(self, node: ast.expr, module: Module, depth: int = 0) -> set[ast.Call]:
        if depth > _MAX_DEPTH or node in self._seen:
            return set()
        self._seen.add(node)
        match node:
            case ast.Name(id=name):
                bindings = self.program.inference.bindings(name, node, module)
                if bindings:
                    return self._bound(bindings, name, module, depth)
                if (giver := self._giver(name, module)) is not None:
                    return self._of_module(giver, name, depth + 1)
            case ast.Attribute(value=value, attr=attr):
                return self._attribute(value, attr, module, depth)
            case ast.Call():
                return self._call(node, module, depth)
            case ast.IfExp(body=body, orelse=orelse):
                return self.of(body, module, depth + 1) | self.of(orelse, module, depth + 1)
            case ast.BoolOp(values=values):
                return {call for value in values for call in self.of(value, module, depth + 1)}
            case ast.NamedExpr(value=value) | ast.Await(value=value):
                return self.of(value, module, depth + 1)
            case ast.Constant(value=None):
                return set()
        self.open = True
        return set()

    def _bound(self, bindings: Iterable[Binding], name: str, module: Module, depth: int) -> set[ast.Call]:
        found: set[ast.Call] = set()
        for binding in bindings:
            if (binding, name) in self._seen:
                continue
            self._seen.add((binding, name))
            if binding.how is How.VALUE and binding.value is not None and not binding.path:
                found |= self.of(binding.value, module, depth + 1)
            elif binding.how is How.ANNOTATED and isinstance(binding.node, ast.AnnAssign):
                if binding.node.value is not None:
                    found |= self.of(binding.node.value, module, depth + 1)
            elif binding.how is How.IMPORTED:
                found |= self._imported(binding.target, module, depth + 1)
            elif binding.how is How.PARAMETER:
                found |= self._passed(binding, name, module, depth + 1)
            else:
                self.open = True
        return found

    def _imported(self, dotted: str, module: Module, depth: int) -> set[ast.Call]:
        where = self.program.locate(dotted, module)
        if where is None or not where[1] or "." in where[1]:
            self.open = True
            return set()
        inner, name = where
        return self._of_module(inner, name, depth)

    def _giver(self, name: str, module: Module, seen: tuple[Module, ...] = ()) -> Module | None:
        """The module of the project whose star import gives a name: the last one that has it."""
        for star in reversed(module.stars):
            where = self.program.locate(star, module)
            if where is not None and not where[1] and where[0] not in (module, *seen):
                inner = where[0]
                if name in inner.scopes[inner.tree].bindings or self._giver(name, inner, (*seen, module)) is not None:
                    return inner
        return None

    def _of_module(self, inner: Module, name: str, depth: int) -> set[ast.Call]:
        bindings = [*inner.scopes[inner.tree].bindings.get(name, []), *inner.given_to(name)]
        if not bindings and depth <= _MAX_DEPTH and (giver := self._giver(name, inner)) is not None:
            return self._of_module(giver, name, depth + 1)
        if not bindings:
            self.open = True
        return self._bound(bindings, name, inner, depth + 1)

    def _attribute(self, value: ast.expr, attr: str, module: Module, depth: int) -> set[ast.Call]:
        found: set[ast.Call] = set()
        base = self.program.type(value, module)
        known = [*members(base)]
        if not known:
            self.open = True
        for one in known:
            if isinstance(one, ModuleOf) and OWN in one.name:
                found |= self._of_module(self.program.module_at(one.name.partition(OWN)[0]), attr, depth)
            elif isinstance(one, Instance | ClassOf) and OWN in one.name:
                path, _, qualified = one.name.partition(OWN)
                inner = self.program.module_at(path)
                owner = inner.defined.get(qualified)
                bindings = inner.attributes.get(owner, {}).get(attr, []) if isinstance(owner, ast.ClassDef) else []
                if isinstance(owner, ast.ClassDef) and not bindings:
                    bindings = inner.scopes[owner].bindings.get(attr, [])
                if not bindings:
                    self.open = True
                for binding in bindings:
                    if binding.how is How.ANNOTATED and isinstance(binding.node, ast.AnnAssign) and binding.node.value is None:
                        continue
                    found |= self._bound([binding], attr, inner, depth + 1)
            else:
                self.open = True
        return found

    def _call(self, node: ast.Call, module: Module, depth: int) -> set[ast.Call]:
        found: set[ast.Call] = set()
        known = [*members(self.program.type(node.func, module))]
        if not known:
            self.open = True
        for one in known:
            if isinstance(one, ClassOf) and (one.name in self.classes or OWN in one.name):
                found.add(node)
            elif isinstance(one, Function) and OWN in one.name:
                path, _, qualified = one.name.partition(OWN)
                inner = self.program.module_at(path)
                function = inner.defined.get(qualified)
                for value in _returned(function) if isinstance(function, Def) else ():
                    found |= self.of(value, inner, depth + 1)
            else:
                self.open = True
        return found

    def _passed(self, binding: Binding, name: str, module: Module, depth: int) -> set[ast.Call]:
        """What the project's calls of a function give for a parameter, or its default."""
        function = next((above for above in module.around(binding.node) if isinstance(above, Def | ast.Lambda)), None)
        if not isinstance(function, Def) or not isinstance(binding.node, ast.arg):
            self.open = True
            return set()
        where = f"{module.path}{OWN}{module.qualified(function)}"
        arguments = [*function.args.posonlyargs, *function.args.args]
        place = arguments.index(binding.node) if binding.node in arguments else None
        if isinstance(module.parents.get(function), ast.ClassDef) and place is not None:
            place -= 1
        found: set[ast.Call] = set()
        called = False
        for other, call in self.program.callers(function.name):
            callee = self.program.type(call.func, other)
            if not any(isinstance(one, Function) and one.name == where for one in members(callee)):
                continue
            called = True
            given = next((word.value for word in call.keywords if word.arg == name), None)
            if given is None and place is not None and 0 <= place < len(call.args):
                given = call.args[place]
            default = _default(function, binding.node)
            if given is not None:
                found |= self.of(given, other, depth + 1)
            elif default is not None:
                found |= self.of(default, module, depth + 1)
            else:
                self.open = True
        if not called:
            default = _default(function, binding.node)
            if default is not None:
                found |= self.of(default, module, depth + 1)
            self.open = True
        return found


def _returned(function: Def) -> Iterator[ast.expr]:
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            yield node.value
        if not isinstance(node, Def | ast.Lambda | ast.ClassDef):
            pending += ast.iter_child_nodes(node)


def _default(function: Def, parameter: ast.arg) -> ast.expr | None:
    arguments = [*function.args.posonlyargs, *function.args.args]
    if parameter in arguments:
        at = arguments.index(parameter) - (len(arguments) - len(function.args.defaults))
        return function.args.defaults[at] if at >= 0 else None
    if parameter in function.args.kwonlyargs:
        return function.args.kw_defaults[function.args.kwonlyargs.index(parameter)]
    return None
