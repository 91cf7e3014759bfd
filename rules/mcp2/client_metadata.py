"""`validate_scope` and `validate_redirect_uri` of what a client registers with, and whether a registered client is one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.types import Instance
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_MODULE, _ASKED, _REGISTERED = "mcp.shared.auth", "OAuthClientMetadata", "OAuthClientInformationFull"
_MESSAGE = f"an `{_REGISTERED}` is no `{_ASKED}` in version 2 of the SDK"


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is SymbolUse.CALL and not str(fact.key).endswith(_ASKED):
        yield ctx.finding(fact, Applicability.MANUAL)
    elif fact.use is SymbolUse.IMPORT:
        for node, call in _tests(fact, ctx):
            sure = Applicability.SAFE if _is_registered(call.args[0], ctx) else Applicability.UNSAFE
            yield ctx.finding(fact, sure, span=ctx.module.span(node), message=_MESSAGE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    for node, call in _tests(fact, ctx) if fact.use is SymbolUse.IMPORT else ():
        start, end = ctx.module.span(node)
        alone = node is call.args[1]
        yield Edit(Span(start, start), "(" if alone else "")
        yield Edit(Span(end, end), f", {_REGISTERED}{')' if alone else ''}")
        yield Import(_MODULE, _REGISTERED)


def _tests(fact: Symbol, ctx: Context) -> Iterator[tuple[ast.Name, ast.Call]]:
    """`isinstance(client, OAuthClientMetadata)`, which was true of a registered client as well."""
    alias = ctx.module.at(fact.span)
    if not isinstance(alias, ast.alias) or ctx.sdk.is_moved(ctx.file.source.path):
        return
    for node in ctx.sdk.inference.uses(alias, ctx.module):
        above = ctx.module.parents.get(node)
        listed = above if isinstance(above, ast.Tuple) else None
        call = ctx.module.parents.get(listed) if listed is not None else above
        match call:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, asked]) if asked in (node, listed):
                if _REGISTERED not in ctx.module.text(asked):
                    yield node, call


def _is_registered(node: ast.expr, ctx: Context) -> bool:
    return ctx.sdk.type(node, ctx.module) == Instance(f"{_MODULE}.{_REGISTERED}")
