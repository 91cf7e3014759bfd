"""`handler(ctx=SimpleNamespace(session=...))` in a test: what imitates an object of version 1 goes on imitating it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding, Severity
from ...sdk.modules import Def, Module
from ...sdk.standing import STAND_INS
from ...sdk.symbols import IMITATED, REPLACED, UNKNOWN
from ...sdk.types import OWN, Function, Instance, Known, members
from ...sdk.vocabulary import ONLY

_DEF = re.compile(rb"\bdef\s+(\w+)\s*\(")
_LONGEST = 2000  # bytes of parameters
_WORDS = re.compile(rb"(?:FastMCP|MCPServer|Context|ClientSession|ServerSession|Server|RequestContext)\b")
_NAMESPACE = "SimpleNamespace"


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
    if fact.use is not SymbolUse.IMPORT or not ctx.project.is_test(path) or ctx.sdk.is_moved(path) or not _is_first(fact, ctx):
        return
    takers = _takers(ctx)
    for name in sorted(takers & ctx.module.calls.keys()):
        for call in ctx.module.calls[name]:
            for argument in _stand_ins(call, ctx):
                yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(argument))


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


def _stand_ins(call: ast.Call, ctx: Context) -> Iterator[ast.expr]:
    """The arguments of a call that are no objects of the SDK, though the function says that it takes one."""
    given: list[tuple[str | int, ast.expr]] = [*enumerate(call.args), *((word.arg, word.value) for word in call.keywords if word.arg)]
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        given = [(place, value) for place, value in given if isinstance(place, str)]
    given = [(place, value) for place, value in given if _imitates(value, ctx)]
    if not given:
        return
    for known in members(ctx.sdk.type(call.func, ctx.module)):
        if isinstance(known, Function) and OWN in known.name:
            yield from (value for place, value in given if _takes(known, place, ctx))


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


def _takes(function: Function, place: str | int, ctx: Context) -> bool:
    """Whether the parameter that a value is given to is annotated with a class of the SDK."""
    path, _, name = function.name.partition(OWN)
    module: Module = ctx.sdk.module_at(path)
    node = module.defined.get(name)
    if not isinstance(node, Def):
        return False
    arguments = [*node.args.posonlyargs, *node.args.args]
    if isinstance(module.parents.get(node), ast.ClassDef) and function.bound is not None:
        arguments = arguments[1:]
    if isinstance(place, int):
        parameter = arguments[place] if place < len(arguments) else None
    else:
        parameter = next((one for one in (*arguments, *node.args.kwonlyargs) if one.arg == place), None)
    if parameter is None or parameter.annotation is None:
        return False
    known = ctx.sdk.inference.annotated(parameter.annotation, module)
    return any(isinstance(one, Instance) and one.name in ctx.entry.data["classes"] for one in members(known))
