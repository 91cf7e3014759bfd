"""A FastMCP server without a version, or with one that is set on the server inside of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.modules import How
from ...sdk.servers import Server, part
from ...sdk.vocabulary import STANDALONE
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if part(fact) == "_mcp_server":
        statement = _assigned(node, ctx)
        if statement is not None and _moves(node, statement, ctx) is not None:
            yield ctx.finding(
                fact,
                Applicability.SAFE,
                message="the version of a server is an argument of its constructor now",
                span=ctx.module.span(statement),
            )
        return
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return
    if any(word.arg is None or word.arg == "version" for word in node.keywords) or any(isinstance(a, ast.Starred) for a in node.args):
        return
    server = ctx.sdk.servers.at(node)
    if server is not None and any(_is_set(use.node, use.module) for use in server.uses):
        return
    known = (node.args or node.keywords) and not _is_of_either(node, ctx)
    yield ctx.finding(fact, Applicability.UNSAFE if known else Applicability.MANUAL)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    node = ctx.module.at(fact.span)
    if part(fact) == "_mcp_server":
        statement = _assigned(node, ctx)
        server = _moves(node, statement, ctx) if statement is not None else None
        if server is not None and statement is not None:
            yield from _given(server.call, ctx.module.text(statement.value), ctx)
            from ...rewrite import cut
            from ...rewrite.lazy import cst

            found = tree.node(cst.Assign, ctx.module.span(statement))
            if found is not None:
                yield from cut.statement(tree, found)
    elif isinstance(node, ast.Call) and not _is_of_either(node, ctx):
        yield from _given(node, 'version("mcp")', ctx)
        yield Import("importlib.metadata", "version")


def _is_of_either(node: ast.Call, ctx: Context) -> bool:
    """Whether the class may be that of the standalone `fastmcp`, which names itself: a guard of imports chooses."""
    if not isinstance(node.func, ast.Name):
        return False
    return any(one.target.partition(".")[0] == STANDALONE for one in ctx.module.bound.get(node.func.id, ()))


def _given(call: ast.Call, text: str, ctx: Context) -> Iterator[Edit]:
    """Behind the name: what comes after it may go elsewhere at the same time."""
    if call.args:
        at = ctx.module.span(call.args[-1]).end
        yield Edit(Span(at, at), f", version={text}")
    else:
        at = ctx.module.span(call.keywords[0]).start
        yield Edit(Span(at, at), f"version={text}, ")


def _assigned(node: ast.AST | None, ctx: Context) -> ast.Assign | None:
    """`server._mcp_server.version = value`."""
    above = ctx.module.parents.get(node) if node is not None else None
    statement = ctx.module.parents.get(above) if above is not None else None
    if isinstance(above, ast.Attribute) and above.attr == "version" and isinstance(statement, ast.Assign) and statement.targets == [above]:
        return statement
    return None


def _moves(node: ast.AST | None, statement: ast.Assign, ctx: Context) -> Server | None:
    """The server that the version can be given to: made before, in the same block, when the version was known."""
    module = ctx.module
    for server in ctx.sdk.servers.using(node):
        if not server.sure or server.module is not module:
            continue
        made = module.statement(server.call)
        above = module.parents.get(statement)
        block = getattr(above, "body", [])
        if made not in block or statement not in block or block.index(made) > block.index(statement):
            return None
        if any(word.arg in (None, "version") for word in server.call.keywords) or not (server.call.args or server.call.keywords):
            return None
        if sum(_is_set(use.node, use.module) for use in server.uses) != 1:
            return None
        between = block[block.index(made) + 1 : block.index(statement)]
        return server if _is_early(statement.value, made, ctx) and (_is_fixed(statement.value) or not any(map(_acts, between))) else None
    return None


def _is_fixed(value: ast.expr) -> bool:
    """Whether nothing that runs in between can give an expression another value: it only names things."""
    return not any(isinstance(inside, ast.Call | ast.Subscript) for inside in ast.walk(value))


def _acts(statement: ast.stmt) -> bool:
    """Whether a statement does more than to define or to import something."""
    return not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.Import | ast.ImportFrom)


def _is_early(value: ast.expr, made: ast.stmt | None, ctx: Context) -> bool:
    """Whether a value is the same when it is worked out before the server is made."""
    for inside in ast.walk(value):
        if isinstance(inside, ast.Name):
            bindings = ctx.sdk.inference.bindings(inside.id, inside, ctx.module)
            if not all(binding.how in (How.IMPORTED, How.PARAMETER) or _line(binding.node) < _line(made) for binding in bindings):
                return False
        elif isinstance(inside, ast.Await | ast.Yield | ast.NamedExpr):
            return False
    return True


def _line(node: ast.AST | None) -> int:
    return getattr(node, "lineno", 0)


def _is_set(node: ast.AST, module: object) -> bool:
    above = module.parents.get(node)  # type: ignore[attr-defined]
    return isinstance(above, ast.Attribute) and above.attr == "version" and isinstance(above.ctx, ast.Store)
