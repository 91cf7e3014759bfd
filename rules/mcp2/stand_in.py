"""`handler(ctx=SimpleNamespace(session=...))` in a test: what imitates an object of version 1 goes on imitating it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Severity
from ...sdk.modules import Def, Module, Scope
from ...sdk.standing import STAND_INS
from ...sdk.symbols import IMITATED, REPLACED, UNKNOWN
from ...sdk.types import OWN, ClassOf, Function, Instance, Known, members
from ...sdk.vocabulary import ONLY
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_DEF = re.compile(rb"\bdef\s+(\w+)\s*\(")
_LONGEST = 2000  # bytes of parameters
_WORDS = re.compile(rb"(?:FastMCP|MCPServer|Context|ClientSession|ServerSession|Server|RequestContext)\b")
_NAMESPACE = "SimpleNamespace"
_SERVER, _NEWER = "fastmcp", "mcp_server"
"""The attribute of a context, in version 1 and in version 2, that code asks for its server."""


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    path = ctx.file.source.path
    owner, _, name = str(fact.key).partition(".")
    if fact.use is SymbolUse.PATCHED and owner == REPLACED and name in ctx.entry.data["classes"]:
        if ctx.project.is_test(path) and not ctx.sdk.is_moved(path):
            yield ctx.finding(fact, Applicability.MANUAL, message="a test puts something else in place of this object of the SDK")
        return
    if owner == IMITATED or (owner == UNKNOWN and fact.use is SymbolUse.STORE and name in ONLY):
        yield from _imitating(fact, name, ctx)
        return
    for argument, _ in _handed(fact, ctx):
        yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(argument))
    for node in _servers(fact, ctx):
        message = f"this stands in for a context, whose server is `{_NEWER}` in version 2"
        yield ctx.finding(fact, Applicability.SAFE, severity=Severity.WARNING, span=ctx.module.span(node), message=message)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    for node in _servers(fact, ctx):
        span = ctx.module.span(node)
        yield Edit(Span(span.end, span.end), f" = {ctx.module.text(node.value)}.{_NEWER}")


def _handed(fact: Symbol, ctx: Context) -> Iterator[tuple[ast.expr, frozenset[str]]]:
    """The stand-ins that the calls of a test hand over, and for objects of which classes."""
    path = ctx.file.source.path
    if fact.use is not SymbolUse.IMPORT or not ctx.project.is_test(path) or ctx.sdk.is_moved(path) or not _is_first(fact, ctx):
        return
    for name in sorted(_takers(ctx) & ctx.module.calls.keys()):
        for call in ctx.module.calls[name]:
            yield from _stand_ins(call, ctx)


def _servers(fact: Symbol, ctx: Context) -> list[ast.Attribute]:
    """Where the stand-ins for a context get their server, under the older name alone.

    Not all that they are handed to may be known: under both names they go on imitating a context for all of it.
    """
    found: dict[ast.Attribute, None] = {}
    for argument, wanted in _handed(fact, ctx):
        if any(name.endswith(".Context") for name in wanted):
            found.update(dict.fromkeys(_given_servers(argument, ctx)))
    return [*found]


def _given_servers(stand_in: ast.expr, ctx: Context) -> Iterator[ast.Attribute]:
    """The statements `x.fastmcp = ...` about a stand-in, where it is made."""
    module = ctx.module
    if isinstance(stand_in, ast.Name):
        bindings = ctx.sdk.inference.bindings(stand_in.id, stand_in, module)
        made = bindings[0].value if len(bindings) == 1 else None
        if isinstance(made, ast.Call) and _last(made.func) == _NAMESPACE:
            yield from _stored(stand_in.id, module.scope(stand_in), ctx)
            return
    else:
        made = stand_in
    if not isinstance(made, ast.Call):
        return
    known = ctx.sdk.type(made.func, module)
    name = known.name.removeprefix(f"{module.path}{OWN}") if isinstance(known, Function | ClassOf) else ""
    match module.defined.get(name):
        case ast.ClassDef() as owner if not owner.decorator_list and "__slots__" not in module.scopes[owner].bindings:
            for method in owner.body:
                if isinstance(method, Def) and method.args.args:
                    yield from _stored(method.args.args[0].arg, module.scopes[method], ctx)
        case ast.FunctionDef() | ast.AsyncFunctionDef() as function if _gives_namespace(made.func, ctx):
            for local in {value.id for one in _returns(function) if isinstance(value := one.value, ast.Name)}:
                yield from _stored(local, module.scopes[function], ctx)


def _stored(name: str, scope: Scope, ctx: Context) -> Iterator[ast.Attribute]:
    """`name.fastmcp = ...` of one function, which says nothing of the newer name."""
    module = ctx.module
    found: dict[str, list[ast.Attribute]] = {_SERVER: [], _NEWER: []}
    for attr, stores in found.items():
        for node in module.mentioned.get(attr, ()):
            match node:
                case ast.Attribute(value=ast.Name(id=owner), ctx=ast.Store()) if owner == name and module.scope(node) is scope:
                    stores.append(node)
    for node in found[_SERVER] if not found[_NEWER] else ():
        above = module.parents.get(node)
        # What is known to be a context is renamed as one.
        if isinstance(above, ast.Assign) and above.targets == [node] and not _is_known(node.value, ctx):
            yield node


def _is_known(node: ast.expr, ctx: Context) -> bool:
    return any(
        isinstance(one, Instance) and OWN not in one.name and one.name.endswith(".Context")
        for one in members(ctx.sdk.type(node, ctx.module))
    )


def _imitating(fact: Symbol, name: str, ctx: Context) -> Iterator[Finding]:
    """A class of a test with the older name of a field, which code of the project reads of objects of the SDK."""
    node = ctx.module.at(fact.span)
    if not ctx.project.is_test(ctx.file.source.path) or node is None:
        return
    if isinstance(node, ast.Attribute):
        what = node.value.id if isinstance(node.value, ast.Name) and _is_mock(node.value, ctx) else None
    else:
        what = next((one.name for one in ctx.module.around(node) if isinstance(one, ast.ClassDef)), None)
    if what is None:
        return
    newer = re.sub("([A-Z])", lambda found: f"_{found[1].lower()}", name)
    if name in ctx.project.remember("fields that code reads", lambda: _read(ctx)) or _reads(newer, ctx):
        message = f"`{what}` stands in for an object of the SDK, whose `{name}` is `{newer}` in version 2"
        yield ctx.finding(
            fact, Applicability.MANUAL, severity=Severity.WARNING, message=message, hint=ctx.entry.hints["field"].replace("{newer}", newer)
        )


def _is_mock(node: ast.Name, ctx: Context) -> bool:
    """Whether a name is given nothing but mocks."""
    bindings = ctx.sdk.inference.bindings(node.id, node, ctx.module)
    return bool(bindings) and all(isinstance(one.value, ast.Call) and _last(one.value.func) in STAND_INS for one in bindings)


def _read(ctx: Context) -> frozenset[str]:
    """The fields that the project reads of objects of the SDK, apart from its tests."""
    return frozenset(
        str(fact.key).rpartition(".")[2]
        for file, fact in ctx.project.facts(Symbol)
        if isinstance(fact, Symbol) and fact.use is SymbolUse.READ and not ctx.project.is_test(file.source.path)
    )


def _reads(name: str, ctx: Context) -> bool:
    word = re.compile(rb"\.%s\b" % name.encode())
    likely = (path for path in ctx.project.texts.naming(name) if not ctx.project.is_test(path))
    return any(word.search(ctx.project.files[path].source.utf8) for path in likely)


def _is_first(fact: Symbol, ctx: Context) -> bool:
    """Whether this is the first import of the file: the calls of a file are looked at once."""
    return next((one for one in ctx.project.of(ctx.file.source.path, Symbol) if one.use is SymbolUse.IMPORT), None) == fact


def _takers(ctx: Context) -> frozenset[str]:
    """The names of the project's functions that seem to take an object of the SDK."""
    found = ctx.sdk.memo.get("stand_in")
    if not isinstance(found, frozenset):
        texts = [file.source.utf8 for file in ctx.sdk.files.values()]
        found = frozenset(
            one[1].decode()
            for text in texts
            for one in _DEF.finditer(text)
            if _WORDS.search(text[one.end() : one.end() + _LONGEST].partition(b")")[0])
        )
        ctx.sdk.memo["stand_in"] = found
    return found


def _stand_ins(call: ast.Call, ctx: Context) -> Iterator[tuple[ast.expr, frozenset[str]]]:
    """The arguments of a call that are no objects of the SDK, though the function says that it takes one, and of which class."""
    given: list[tuple[str | int, ast.expr]] = [*enumerate(call.args), *((word.arg, word.value) for word in call.keywords if word.arg)]
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        given = [(place, value) for place, value in given if isinstance(place, str)]
    given = [(place, value) for place, value in given if _imitates(value, ctx)]
    if not given:
        return
    for known in members(ctx.sdk.type(call.func, ctx.module)):
        if isinstance(known, Function) and OWN in known.name:
            yield from ((value, wanted) for place, value in given if (wanted := _taken(known, place, ctx)))


def _imitates(node: ast.expr, ctx: Context) -> bool:
    """Whether a value is of a class of the project that has nothing of the SDK's, or a bare namespace."""
    if not isinstance(node, ast.Name | ast.Call | ast.Attribute):
        return False
    known = ctx.sdk.type(node, ctx.module)
    if isinstance(known, Instance) and OWN in known.name:
        return not _derives(known, ctx)
    return _is_namespace(node, ctx)


def _is_namespace(node: ast.expr, ctx: Context, *, again: bool = True) -> bool:
    if isinstance(node, ast.Call):
        return _last(node.func) == _NAMESPACE or (again and _gives_namespace(node.func, ctx))
    if isinstance(node, ast.Name):
        bindings = ctx.sdk.inference.bindings(node.id, node, ctx.module)
        return len(bindings) == 1 and isinstance(bindings[0].value, ast.Call) and _is_namespace(bindings[0].value, ctx, again=again)
    return False


def _gives_namespace(func: ast.expr, ctx: Context) -> bool:
    """Whether a function of this file does nothing but make one."""
    known = ctx.sdk.type(func, ctx.module) if isinstance(func, ast.Name) else None
    name = known.name.removeprefix(f"{ctx.module.path}{OWN}") if isinstance(known, Function) else ""
    node = ctx.module.defined.get(name)
    values = [one.value for one in _returns(node)] if isinstance(node, Def) else []
    return bool(values) and all(isinstance(value, ast.Call | ast.Name) and _is_namespace(value, ctx, again=False) for value in values)


def _returns(function: Def) -> Iterator[ast.Return]:
    """The `return` statements of a function, without those of functions inside of it."""
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return):
            yield node
        if not isinstance(node, Def | ast.Lambda | ast.ClassDef):
            pending += ast.iter_child_nodes(node)


def _last(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _derives(known: Instance, ctx: Context, depth: int = 5) -> bool:
    """Whether a class of the project has a base of the SDK, or one that is not known."""
    path, _, name = known.name.partition(OWN)
    module = ctx.sdk.module_at(path)
    node = module.defined.get(name)
    if not isinstance(node, ast.ClassDef) or not depth:
        return True
    for base in node.bases:
        above: Known | None = ctx.sdk.inference.annotated(base, module)
        if not isinstance(above, Instance) or OWN not in above.name:
            if not (isinstance(base, ast.Name) and base.id in ("object", "ABC", "Protocol")):
                return True
        elif _derives(above, ctx, depth - 1):
            return True
    return False


def _taken(function: Function, place: str | int, ctx: Context) -> frozenset[str]:
    """The classes of the SDK that the parameter is annotated with which a value is given to."""
    path, _, name = function.name.partition(OWN)
    module: Module = ctx.sdk.module_at(path)
    node = module.defined.get(name)
    if not isinstance(node, Def):
        return frozenset()
    arguments = [*node.args.posonlyargs, *node.args.args]
    if isinstance(module.parents.get(node), ast.ClassDef) and function.bound is not None:
        arguments = arguments[1:]
    if isinstance(place, int):
        parameter = arguments[place] if place < len(arguments) else None
    else:
        parameter = next((one for one in (*arguments, *node.args.kwonlyargs) if one.arg == place), None)
    if parameter is None or parameter.annotation is None:
        return frozenset()
    known = ctx.sdk.inference.annotated(parameter.annotation, module)
    return frozenset(one.name for one in members(known) if isinstance(one, Instance) and one.name in ctx.entry.data["classes"])
