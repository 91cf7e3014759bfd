"""`mount_path` in the constructor, `run`, `run_sse_async` and `sse_app`, and among the settings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import compat
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...sdk.servers import part

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_POSITIONS = {"run": 1, "run_sse_async": 0, "sse_app": 0}


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    value = _given(fact, ctx)
    if value is not None:
        if ctx.keeps and compat.has_server(ctx.project) and _is_known(value, fact, ctx):
            return  # the class that servers are made of then takes it with either release
        applicability = Applicability.SAFE if _is_known(value, fact, ctx) else Applicability.UNSAFE
        yield ctx.finding(fact, applicability, span=ctx.module.span(value))
    setting = _setting(fact, ctx)
    if setting is not None and not (ctx.keeps and compat.has_server(ctx.project)):
        message = "the settings of version 2 have no `mount_path`"
        yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(setting), message=message, hint=ctx.entry.hints["setting"])


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    from ...rewrite import calls

    value, call = _given(fact, ctx), calls.at(tree, fact.span)
    if value is None or call is None:
        return
    span = ctx.module.span(value)
    yield from calls.drop(tree, call, [argument for argument in call.args if tree.span(argument.value) == span])


def _given(fact: Symbol, ctx: Context) -> ast.expr | None:
    name, node = part(fact), ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call) or name not in ("", *ctx.entry.data["methods"]):
        return None
    for word in node.keywords:
        if word.arg == "mount_path":
            return word.value
    place = _POSITIONS.get(name or "")
    if place is not None and place < len(node.args) and not any(isinstance(a, ast.Starred) for a in node.args):
        return node.args[place]
    return None


def _setting(fact: Symbol, ctx: Context) -> ast.Attribute | None:
    """`server.settings.mount_path`, read or assigned."""
    node = ctx.module.at(fact.span)
    above = ctx.module.parents.get(node) if node is not None and part(fact) == "settings" else None
    return above if isinstance(above, ast.Attribute) and above.value is node and above.attr == "mount_path" else None


def _is_known(value: ast.expr, fact: Symbol, ctx: Context) -> bool:
    """Whether nothing looks at the path, or the app is mounted somewhere, as an app is made for."""
    if isinstance(value, ast.Constant) and value.value in ("/", "", None):
        return True
    node, module = ctx.module.at(fact.span), ctx.module
    assert isinstance(node, ast.Call)
    match part(fact):
        case "run":
            kind = node.args[0] if node.args else next((word.value for word in node.keywords if word.arg == "transport"), None)
            return kind is None or (isinstance(kind, ast.Constant) and kind.value != "sse")
        case "run_sse_async":
            return False  # nothing is mounted: a proxy strips the path
        case "":
            server = ctx.sdk.servers.at(node)
            return server is not None and all(use.name not in ("run", "run_sse_async") for use in server.uses)
    for above in module.around(node):
        match above:
            case ast.Call(func=ast.Name(id="Mount") | ast.Attribute(attr="mount" | "Mount"), args=[ast.Constant(value=path), *_]):
                return isinstance(value, ast.Constant) and bool(path == value.value)
    return True


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    yield from ()  # mcp 1 needs the path
