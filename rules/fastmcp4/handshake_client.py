"""`client.initialize_result`, `client.ping()`, `client.set_logging_level()` of a client that does not say how it connects."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Standalone, SymbolUse
from ...rewrite import answers, calls
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...sdk.modules import How
from ...sdk.servers import Origins
from ...sdk.types import Instance

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_CLIENT, _ELICIT = "fastmcp.Client", "fastmcp.Context.elicit"


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.key == _CLIENT:
        if fact.use is SymbolUse.CALL and isinstance(node, ast.Call) and fact.sure and _is_asked(node, ctx):
            yield ctx.finding(fact, Applicability.UNSAFE, message=ctx.entry.messages["asked"])
        return
    if fact.use is SymbolUse.READ and isinstance(node, ast.Attribute) and fact.sure and not _is_chosen(node, ctx):
        yield ctx.finding(fact)


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit]:
    call = calls.at(tree, fact.span)
    if fact.key == _CLIENT and call is not None:
        yield from calls.add(tree, call, ['mode="legacy"'])


def _is_asked(node: ast.Call, ctx: Context) -> bool:
    """Whether a client answers questions, says nothing of its mode, and is given a server of the project, whose tools ask as before."""
    given = {word.arg for word in node.keywords}
    if "elicitation_handler" not in given or given & {"mode", None} or not node.args:
        return False
    known = ctx.sdk.type(node.args[0], ctx.module)
    if not isinstance(known, Instance) or known.name != "fastmcp.FastMCP":
        return False
    asks = ((file, one) for file, one in ctx.project.facts(Standalone, _ELICIT) if isinstance(one, Standalone))
    # A question that becomes one for clients of both kinds needs none that begins with the handshake.
    return any(one.use is SymbolUse.CALL and isinstance(answers.plan(one, ctx.project, file.source.path), str) for file, one in asks)


def _is_chosen(node: ast.Attribute, ctx: Context) -> bool:
    """Whether whoever made the client has said how it connects."""
    made = Origins(ctx.sdk, (_CLIENT,)).of(_entered(node.value, ctx), ctx.module)
    return bool(made) and all(any(word.arg in ("mode", None) for word in call.keywords) for call in made)


def _entered(node: ast.expr, ctx: Context) -> ast.expr:
    """What `async with` has been given for a name: a client gives itself."""
    if isinstance(node, ast.Name):
        for binding in ctx.sdk.inference.bindings(node.id, node, ctx.module):
            if binding.value is not None and not binding.path and binding.how is How.ENTERED:
                return binding.value
    return node
