"""`finally: print("stopped")` around a server on stdio: the line reaches the client in version 2."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding
from ...sdk.modules import Def, Module
from ...sdk.types import OWN, Function, members

_DEPTH = 3  # functions around the one that runs the server
_SHOWN = 3


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if (
        fact.use is not SymbolUse.CALL
        or not isinstance(node, ast.Call)
        or not _is_stdio(node, fact)
        or ctx.project.is_test(ctx.module.path)
    ):
        return
    places = [*dict.fromkeys(_after(node, ctx.module, ctx, _DEPTH))]
    if places and not ctx.sdk.is_moved(ctx.file.source.path):
        told = ", ".join(f"`{path}:{line}`" for path, line in places[:_SHOWN]) + (" ..." if len(places) > _SHOWN else "")
        yield ctx.finding(fact, Applicability.MANUAL, hint=ctx.entry.hints["manual"].replace("{places}", told))


def _is_stdio(call: ast.Call, fact: Symbol) -> bool:
    """Whether a server is run on standard input and output; not if it is run on something else that stands there."""
    if not str(fact.key).endswith(".run"):
        return True
    given = next((word.value for word in call.keywords if word.arg == "transport"), call.args[0] if call.args else None)
    return not isinstance(given, ast.Constant) or given.value == "stdio"


def _after(node: ast.AST, module: Module, ctx: Context, depth: int) -> Iterator[tuple[str, int]]:
    """The prints that come after a node: in its function, and in those that call this one."""
    child: ast.AST = node
    for above in module.around(node):
        match above:
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody) if child in body:
                for block in (*(handler.body for handler in handlers), orelse, finalbody):
                    yield from _printed(block, module)
            case ast.Try(finalbody=finalbody) if child not in finalbody:
                yield from _printed(finalbody, module)
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(above, name, None)
            if isinstance(inner, list) and child in inner and not isinstance(above, ast.ClassDef):
                yield from _printed(inner[inner.index(child) + 1 :], module)
        if isinstance(above, Def):
            where = f"{module.path}{OWN}{module.qualified(above)}"
            for other, call in ctx.sdk.callers(above.name) if depth else ():
                if any(isinstance(one, Function) and one.name == where for one in members(ctx.sdk.type(call.func, other))):
                    yield from _after(call, other, ctx, depth - 1)
            return
        if isinstance(above, ast.Lambda):
            return
        child = above


def _printed(block: list[ast.stmt], module: Module) -> Iterator[tuple[str, int]]:
    """The prints to standard output among some statements, without those of functions that are only defined there."""
    pending: list[ast.AST] = [*block]
    while pending:
        node = pending.pop()
        match node:
            case ast.Call(func=ast.Name(id="print"), keywords=words) if not any(word.arg in ("file", None) for word in words):
                yield module.path, node.lineno
        if not isinstance(node, Def | ast.Lambda | ast.ClassDef):
            pending += reversed([*ast.iter_child_nodes(node)])
