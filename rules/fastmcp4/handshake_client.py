"""`client.initialize_result`, `client.ping()`, `client.set_logging_level()` of a client that does not say how it connects."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone, SymbolUse
from ...rule import Context, Finding
from ...sdk.servers import Origins


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.READ and isinstance(node, ast.Attribute) and fact.sure and not _is_chosen(node, ctx):
        yield ctx.finding(fact)


def _is_chosen(node: ast.Attribute, ctx: Context) -> bool:
    """Whether whoever made the client has said how it connects."""
    made = Origins(ctx.sdk, ("fastmcp.Client",)).of(_entered(node.value, ctx), ctx.module)
    return bool(made) and all(any(word.arg in ("mode", None) for word in call.keywords) for call in made)


def _entered(node: ast.expr, ctx: Context) -> ast.expr:
    """What `async with` has been given for a name: a client gives itself."""
    if isinstance(node, ast.Name):
        for binding in ctx.sdk.inference.bindings(node.id, node, ctx.module):
            if binding.value is not None and not binding.path and binding.how.name == "ENTERED":
                return binding.value
    return node
