"""`__all__` and a module's `__getattr__` that offer a name of the SDK which is gone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    source = ctx.file.source.utf8
    if fact.use is not SymbolUse.IMPORT or (b"__all__" not in source and b"def __getattr__" not in source):
        return
    alias = ctx.module.at(fact.span)
    where, _, name = str(fact.key).rpartition(".")
    if not isinstance(alias, ast.alias) or not ctx.sdk.api.was(where, name) or _is_there(name, ctx):
        return
    local = alias.asname or alias.name
    for node in (*_listed(local, ctx), *_handed_out(alias, ctx)):
        message = ctx.entry.message.replace("{word}", local).replace("{old}", name)
        yield ctx.finding(fact, Applicability.MANUAL, message=message, span=ctx.module.span(node))


def _is_there(name: str, ctx: Context) -> bool:
    """Whether version 2 has something of this name, here or elsewhere."""
    return any(name in exports for module, exports in ctx.sdk.api.new["modules"].items() if "._" not in module)


def _listed(name: str, ctx: Context) -> Iterator[ast.AST]:
    for node in ctx.module.tree.body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=items) | ast.Tuple(elts=items))
                | ast.AugAssign(target=ast.Name(id="__all__"), value=ast.List(elts=items) | ast.Tuple(elts=items))
            ):
                yield from (item for item in items if isinstance(item, ast.Constant) and item.value == name)


def _handed_out(alias: ast.alias, ctx: Context) -> Iterator[ast.AST]:
    """What the module's own `__getattr__` returns."""
    for node in ctx.sdk.inference.uses(alias, ctx.module):
        function = ctx.module.function(node)
        named = isinstance(function, ast.FunctionDef) and function.name == "__getattr__" and function in ctx.module.tree.body
        if named and isinstance(ctx.module.parents.get(node), ast.Return):
            yield node
