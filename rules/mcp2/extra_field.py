"""A keyword of a protocol type that is no field of it: version 1 sent it along."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Context, Finding

# They left out what they did not know in version 1 as well.
_STRICT = frozenset({"mcp.types.RequestParams", "mcp.types.PaginatedRequestParams", "mcp.types.NotificationParams"})


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is SymbolUse.STORE:
        yield from _stored(fact, ctx)
    if fact.use is not SymbolUse.CALL or not isinstance(fact.key, str) or not fact.key.startswith("mcp.types."):
        return
    api = ctx.sdk.api
    fields = api.fields(fact.key)
    old = api.old["classes"].get(fact.key, {})
    node = ctx.module.at(fact.span)
    if fields is None or "model" not in old or fact.key in _STRICT or not isinstance(node, ast.Call):
        return
    # A class of the project's own may have fields of its own.
    called = getattr(ctx.sdk.type(node.func, ctx.module), "name", "")
    if called != fact.key or ctx.sdk.is_moved(ctx.file.source.path):
        return
    extra = [f"`{name}`" for name in dict.fromkeys(_words(node, ctx)) if name not in fields]
    if extra:
        which = "which is no field" if len(extra) == 1 else "which are no fields"
        message = f"version 2 of the SDK drops {', '.join(extra)}, {which} of `{{fact.key}}`"
        yield ctx.finding(fact, span=ctx.module.span(node.func), message=message)


def _stored(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    """A value that is given to an object later, under a name that it has no field for."""
    owner, _, name = str(fact.key).rpartition(".")
    fields = ctx.sdk.api.fields(owner) if owner.startswith("mcp.types.") else None
    if (
        fields is None
        or name in fields
        or ctx.sdk.api.renamed(owner, name) is not None
        or not isinstance(ctx.module.at(fact.span), ast.Attribute)
    ):
        return
    if "model" in ctx.sdk.api.old["classes"].get(owner, {}) and owner not in _STRICT and not ctx.sdk.is_moved(ctx.file.source.path):
        message = f"version 2 of the SDK raises ValueError for `{name}`, which is no field of `{owner}`"
        yield ctx.finding(fact, message=message, hint=ctx.entry.hints["stored"])


def _words(node: ast.Call, ctx: Context) -> Iterator[str]:
    """The names that a call gives, also by a dict of keywords as far as it is known."""
    for word in node.keywords:
        if word.arg is not None:
            yield word.arg
        else:
            yield from _keys(word.value, ctx)


def _keys(node: ast.expr, ctx: Context) -> Iterator[str]:
    """The keys of a dict that are surely known; what is stored into it in the same function is among them."""
    match node:
        case ast.Dict(keys=keys):
            for key in keys:
                if key is not None:
                    yield from _text(key, ctx)
        case ast.Name(id=name):
            bindings = ctx.sdk.inference.bindings(name, node, ctx.module)
            # Beside an annotation stands the value.
            value = bindings[0].node.value if len(bindings) == 1 and isinstance(bindings[0].node, ast.Assign | ast.AnnAssign) else None
            if not isinstance(value, ast.Dict):
                return
            yield from _keys(value, ctx)
            scope = ctx.module.scope(node)
            for use in ctx.module.loads.get(name, ()):
                match ctx.module.parents.get(use):
                    case ast.Subscript(value=value, slice=key, ctx=ast.Store()) if value is use and ctx.module.scope(use) is scope:
                        yield from _text(key, ctx)


def _text(node: ast.expr, ctx: Context) -> Iterator[str]:
    """A text, or the constant of a module that a name stands for."""
    if isinstance(node, ast.Name):
        bindings = ctx.sdk.inference.bindings(node.id, node, ctx.module)
        found = ctx.sdk.inference.world.locate(bindings[0].target, ctx.module) if len(bindings) == 1 and bindings[0].target else None
        if found is not None:
            bindings = found[0].scopes[found[0].tree].bindings.get(found[1], [])
        if len(bindings) == 1 and isinstance(bindings[0].value, ast.Constant):
            node = bindings[0].value
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
