"""The functions that answer for a FastMCP server: its tools, resources and prompts."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from ..facts.model import Symbol, SymbolUse
from ..facts.syntax import children
from .modules import Def, How, Module
from .servers import Origins, Server, part
from .types import OWN, Function, members

if TYPE_CHECKING:
    from .program import Program

T = TypeVar("T")
_INNER = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef})
_KINDS = {"tool": "tool", "add_tool": "tool", "resource": "resource", "prompt": "prompt"}


@dataclass(frozen=True, slots=True)
class Handler:
    """A function, and the call that registers it."""

    module: Module
    function: Def
    kind: str  # tool, resource, prompt
    fact: Symbol  # the call, in the module that `where` is
    where: Module
    call: ast.Call
    is_plain: bool  # nothing stands between the function and the server

    @property
    def uri(self) -> str | None:
        """The address of a resource, where it is written down."""
        given = next((word.value for word in self.call.keywords if word.arg == "uri"), None)
        given = self.call.args[0] if given is None and self.call.args else given
        return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else None


def handlers(program: Program) -> list[Handler]:
    """All handlers of a project; one for each call that registers a function."""
    return _remembered("handlers", _found, program)


def _found(program: Program) -> list[Handler]:
    return [
        handler
        for path in program.near
        for fact in program.symbols(path)
        if isinstance(fact, Symbol)
        for handler in _registered(fact, path, program)
    ]


def registered(call: ast.AST | None, program: Program) -> list[Handler]:
    """The handlers that a call registers."""
    return _remembered("handlers by call", _by_call, program).get(call, [])


def handler_of(function: Def, program: Program) -> Handler | None:
    """The first handler that a function is."""
    return _remembered("handlers by function", _by_function, program).get(function)


def tools_of(server: Server, program: Program) -> list[Handler]:
    """The tools that are registered with a server, as far as that is known."""
    return _remembered("tools by server", _by_server, program).get(server.call, [])


def _remembered(question: str, find: Callable[[Program], T], program: Program) -> T:
    if question not in program.memo:
        program.memo[question] = find(program)
    return program.memo[question]  # type: ignore[return-value]


def _by_call(program: Program) -> dict[ast.AST | None, list[Handler]]:
    found: dict[ast.AST | None, list[Handler]] = {}
    for handler in handlers(program):
        found.setdefault(handler.call, []).append(handler)
    return found


def _by_function(program: Program) -> dict[Def, Handler]:
    return {handler.function: handler for handler in reversed(handlers(program))}


def _by_server(program: Program) -> dict[ast.Call, list[Handler]]:
    found: dict[ast.Call, list[Handler]] = {}
    for handler in handlers(program):
        func = handler.call.func
        if handler.kind == "tool" and isinstance(func, ast.Attribute):
            made = Origins(program).of(func.value, handler.where)
            # What comes from nobody knows where is the one server's, where there is one.
            for call in made or [server.call for server in program.servers if len(program.servers) == 1]:
                found.setdefault(call, []).append(handler)
    return found


def _registered(fact: Symbol, path: str, program: Program) -> Iterator[Handler]:
    kind = _KINDS.get(part(fact) or "")
    if kind is None or fact.use is not SymbolUse.CALL:
        return
    module = program.module_at(path)
    node = module.at(fact.span)
    if not isinstance(node, ast.Call):
        return
    for where, function, plain in _functions(node, module, program, part(fact) == "add_tool"):
        yield Handler(where, function, kind, fact, module, node, plain)


def _functions(node: ast.Call, module: Module, program: Program, direct: bool) -> Iterator[tuple[Module, Def, bool]]:
    above = module.parents.get(node)
    given: ast.expr | None = None
    if isinstance(above, Def) and node in above.decorator_list:
        yield module, above, above.decorator_list == [node]
        return
    if direct:
        given = next((word.value for word in node.keywords if word.arg == "fn"), node.args[0] if node.args else None)
    elif isinstance(above, ast.Call) and above.func is node and above.args:
        given = above.args[0]
    if given is None:
        return
    known = [one for one in members(program.type(given, module)) if isinstance(one, Function) and OWN in one.name]
    for one in known:
        yield from ((where, function, not function.decorator_list) for where, function in defined(one, program))
    if not known and isinstance(given, ast.Name):
        yield from ((where, function, len(function.decorator_list) == 1) for where, function in _decorated(given, module, program))


def _decorated(given: ast.Name, module: Module, program: Program) -> Iterator[tuple[Module, Def]]:
    """`def tool(...): def register(function): server.tool()(function)`: what the project decorates with it."""
    bindings = program.inference.bindings(given.id, given, module)
    if not bindings or any(binding.how is not How.PARAMETER for binding in bindings):
        return
    inner = next((above for above in module.around(bindings[0].node) if isinstance(above, Def)), None)
    if inner is None:
        return
    outer = next((above for above in module.around(inner) if isinstance(above, Def)), None)
    names = {f"{module.path}{OWN}{module.qualified(one)}" for one in (inner, outer) if one is not None}
    words = {one.name for one in (inner, outer) if one is not None}
    near = {path for word in words for path in program.texts.naming(word)}
    for path in program.files:
        file = program.files[path] if path in near else None
        if file is None or not any(f"@{word}".encode() in file.source.utf8 or f".{word}".encode() in file.source.utf8 for word in words):
            continue
        other = program.module_at(path)
        for function in other.nodes:
            if isinstance(function, Def) and function is not inner:
                for decorator in function.decorator_list:
                    callee = decorator.func if isinstance(decorator, ast.Call) else decorator
                    if any(isinstance(one, Function) and one.name in names for one in members(program.type(callee, other))):
                        yield other, function


def defined(known: Function, program: Program) -> Iterator[tuple[Module, Def]]:
    """The definition of a function of the project."""
    path, _, qualified = known.name.partition(OWN)
    module = program.module_at(path)
    node = module.defined.get(qualified)
    if isinstance(node, Def):
        yield module, node


def callers(function: Def, module: Module, program: Program) -> Iterator[tuple[Module, ast.Call, bool]]:
    """The calls that run a function of the project; the last tells whether that is sure."""
    where = f"{module.path}{OWN}{module.qualified(function)}"
    for other, call in program.callers(function.name):
        known = program.type(call.func, other)
        if any(isinstance(one, Function) and one.name == where for one in members(known)):
            yield other, call, True
        elif known is None and not _is_other(call, other, program):
            yield other, call, False


def mentions(function: Def, module: Module, program: Program) -> Iterator[tuple[Module, ast.expr]]:
    """Where a function is named without being called: it may be called from anywhere then."""
    found = _remembered(f"mentions of {function.name}", partial(_mentioned, function.name), program)
    yield from found.get(f"{module.path}{OWN}{module.qualified(function)}", ())


def _mentioned(name: str, program: Program) -> dict[str, list[tuple[Module, ast.expr]]]:
    """Where functions of one name are named, by the function: all projects have many that are called `run`."""
    found: dict[str, list[tuple[Module, ast.expr]]] = defaultdict(list)
    for path in program.texts.naming(name):
        other = program.module_at(path)
        for node in other.mentioned.get(name, ()):
            if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
                continue
            above = other.parents.get(node)
            if isinstance(above, ast.Call) and above.func is node:
                continue
            for where in {one.name: None for one in members(program.type(node, other)) if isinstance(one, Function)}:
                found[where].append((other, node))
    return found


def own_nodes(function: Def) -> Iterator[ast.AST]:
    """The nodes of a body, without those of functions and classes inside of it."""
    pending: list[ast.AST] = [*reversed(function.body)]
    while pending:
        node = pending.pop()
        yield node
        if node.__class__ not in _INNER:
            pending += reversed(children(node))


def _is_other(call: ast.Call, module: Module, program: Program) -> bool:
    """Whether what is called is surely nothing of the project's: a builtin, or an attribute of what an import brings in."""
    node = call.func
    if isinstance(node, ast.Name):
        return not program.inference.bindings(node.id, node, module)
    while isinstance(node, ast.Attribute):
        node = node.value
    if isinstance(node, ast.Name):
        bindings = program.inference.bindings(node.id, node, module)
        return bool(bindings) and all(
            binding.how is How.IMPORTED and program.locate(binding.target, module) is None for binding in bindings
        )
    return False
