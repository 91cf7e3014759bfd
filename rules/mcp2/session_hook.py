"""A class of the project overrides, or calls, what a session of version 1 did with its messages."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...facts.syntax import descend
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...sdk.modules import Def
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_CLIENTS = "mcp.client.session."


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is SymbolUse.CALL and str(fact.key).endswith(".send_notification"):
        related = _related(fact, ctx)
        if related is not None:
            message = "`send_notification` of a client session takes one argument in version 2 of the SDK"
            found = (Applicability.SAFE if fact.sure else Applicability.UNSAFE) if _is_plain(related) else Applicability.MANUAL
            yield ctx.finding(fact, found, message=message)
    elif fact.use is SymbolUse.BASE:
        for span, name, own in _hooks(fact, ctx):
            word = "never calls" if own else "has no"
            message = f"version 2 of the SDK {word} `{name}` of a session"
            yield ctx.finding(fact, Applicability.MANUAL, span=span, message=message, hint=ctx.entry.hints["hook"])


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    node = ctx.module.at(fact.span)
    related = _related(fact, ctx)
    if related is not None and _is_plain(related) and isinstance(node, ast.Call):
        end = ctx.module.span(node.keywords[0] if node.keywords else related).end
        yield Edit(Span(ctx.module.span(node.args[0]).end, end))


def _related(fact: Symbol, ctx: Context) -> ast.expr | None:
    """The second argument of a client's `send_notification`, where the first one stands before it."""
    node = ctx.module.at(fact.span)
    if not isinstance(node, ast.Call) or not str(fact.key).startswith(_CLIENTS) or any(isinstance(one, ast.Starred) for one in node.args):
        return None
    match node:
        case ast.Call(args=[_, related], keywords=[]):
            return related
        case ast.Call(args=[_], keywords=[ast.keyword(arg="related_request_id", value=related)]):
            return related
    return None


def _is_plain(node: ast.expr) -> bool:
    """Whether nothing happens where this is evaluated."""
    return isinstance(node, ast.Name | ast.Constant) or (isinstance(node, ast.Attribute) and _is_plain(node.value))


def _hooks(fact: Symbol, ctx: Context) -> Iterator[tuple[Span, str, bool]]:
    """The places of a class that define a hook (True), or take one from the class above (False)."""
    module = ctx.module
    base = module.at(fact.span)
    owner = next((above for above in module.around(base) if isinstance(above, ast.ClassDef)), None) if base is not None else None
    if owner is None or not any(base is one for one in _bases(owner)):
        return
    hooks = frozenset(ctx.entry.data["hooks"])
    for statement in owner.body:
        if isinstance(statement, Def) and statement.name in hooks:
            yield module.name_span(statement), statement.name, True
    for node in descend(owner):
        match node:
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=attr) if attr in hooks:
                yield module.attribute_span(node), attr, False


def _bases(owner: ast.ClassDef) -> Iterator[ast.expr]:
    for base in owner.bases:
        yield base
        if isinstance(base, ast.Subscript):
            yield base.value
