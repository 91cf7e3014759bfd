"""`ctx.fastmcp` and `ctx.client_id`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rewrite.quotes import fitting
from ...rule import Applicability, Context, Finding
from ...sdk.standing import STAND_INS, last
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_USES = (SymbolUse.READ, SymbolUse.GETATTR)


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    name = str(fact.key).rpartition(".")[2]
    if fact.use is SymbolUse.STORE and name == "fastmcp" and _is_given(fact, ctx):
        message = "this stands in for a context, whose server is `mcp_server` in version 2"
        if _has_both(fact, ctx):
            return
        sure = fact.sure or _takes_both(fact, ctx)
        yield ctx.finding(fact, Applicability.SAFE if sure else Applicability.UNSAFE, message=message)
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
    elif isinstance(node, ast.Attribute) and not fact.sure and _takes_both(fact, ctx):
        yield Edit(Span(fact.span.end, fact.span.end), f" = {module.text(node.value)}.mcp_server")
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


def _has_both(fact: Symbol, ctx: Context) -> bool:
    """Whether a statement gives a stand-in its server under the newer name as well."""
    node = ctx.module.at(fact.span)
    above = ctx.module.parents.get(node) if node is not None else None
    return isinstance(above, ast.Assign) and any(isinstance(one, ast.Attribute) and one.attr == "mcp_server" for one in above.targets)


def _takes_both(fact: Symbol, ctx: Context) -> bool:
    """Whether a bare stand-in of a test, which may go to places of which nothing is known, can have its server under both names."""
    node, module = ctx.module.at(fact.span), ctx.module
    above = module.parents.get(node) if node is not None else None
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and isinstance(above, ast.Assign)):
        return False
    bindings = ctx.sdk.inference.bindings(node.value.id, node.value, module)
    bare = bool(bindings) and all(isinstance(one.value, ast.Call) and _is_bare(one.value) for one in bindings)
    return above.targets == [node] and bare and ctx.project.is_test(ctx.file.source.path)


def _is_bare(call: ast.Call) -> bool:
    """Whether a stand-in may have any attributes."""
    return last(call) in STAND_INS and not call.args and not any(word.arg in (None, "spec", "spec_set", "wraps") for word in call.keywords)
