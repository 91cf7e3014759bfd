"""`ctx.fastmcp` and `ctx.client_id`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rewrite.quotes import fitting
from ...rule import Applicability, Context, Finding
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_USES = (SymbolUse.READ, SymbolUse.GETATTR)


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    name = str(fact.key).rpartition(".")[2]
    if fact.use is SymbolUse.STORE and name == "fastmcp" and _is_given(fact, ctx):
        message = "this stands in for a context, whose server is `mcp_server` in version 2"
        yield ctx.finding(fact, Applicability.SAFE if fact.sure else Applicability.UNSAFE, message=message)
        return
    if fact.use not in _USES:
        return
    message = f"the context of version 2 has no `{name}`"
    if fact.use is SymbolUse.GETATTR and name == "client_id":
        yield ctx.finding(fact, Applicability.MANUAL, message=message)
    elif not fact.sure:
        yield ctx.finding(fact, Applicability.UNSAFE, message=message)
    else:
        yield ctx.finding(fact, Applicability.SAFE if name == "fastmcp" else Applicability.UNSAFE, message=message)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    node, module = ctx.module.at(fact.span), ctx.module
    name = str(fact.key).rpartition(".")[2]
    if isinstance(node, ast.keyword):
        yield Edit(Span(fact.span.start, fact.span.start + len(name)), "mcp_server")
    elif isinstance(node, ast.Attribute) and name == "fastmcp":
        yield Edit(module.attribute_span(node), "mcp_server")
    elif isinstance(node, ast.Attribute) and (quote := fitting(node, module)) is not None:
        yield Edit(fact.span, f"({module.text(node.value)}.request_context.meta or {{}}).get({quote}client_id{quote})")
    elif isinstance(node, ast.Call) and len(node.args) > 1 and name == "fastmcp":
        text = module.text(node.args[1])
        yield Edit(module.span(node.args[1]), text.replace("fastmcp", "mcp_server"))


def _is_given(fact: Symbol, ctx: Context) -> bool:
    """Whether a stand-in is given a server, when it is made or later; a real context has a property that nothing is stored in."""
    return isinstance(ctx.module.at(fact.span), ast.keyword | ast.Attribute)
