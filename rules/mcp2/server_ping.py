"""`await ctx.session.send_ping()` in a server."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import lines
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...sdk.modules import dotted
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is SymbolUse.CALL and not _is_guarded(fact, ctx):
        yield ctx.finding(fact, Applicability.SAFE if fact.sure and _statement(fact, ctx) is not None else Applicability.MANUAL)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    found = _statement(fact, ctx)
    if found is not None and not _is_guarded(fact, ctx):
        statement, session = found
        source, start = ctx.module.source, ctx.module.span(statement).start
        step = " " * 4 if "\t" not in lines.indent_of(source, start) else "\t"
        yield Edit(Span(start, start), f"if {session}.can_send_request:{source.newline}{lines.indent_of(source, start)}{step}")


def _statement(fact: Symbol, ctx: Context) -> tuple[ast.Expr, str] | None:
    """The statement that does nothing but ping, on a line of its own, and the session."""
    module = ctx.module
    call = module.at(fact.span)
    statement = module.statement(call) if call is not None else None
    match statement, call:
        case ast.Expr(value=ast.Await(value=told)), ast.Call(func=ast.Attribute(value=session)) if told is call and dotted(session):
            start = module.span(statement).start
            alone = not module.source.utf8[lines.line_start(module.source, start) : start].strip()
            if alone and statement.lineno == statement.end_lineno:
                return statement, module.text(session)
    return None


def _is_guarded(fact: Symbol, ctx: Context) -> bool:
    call = ctx.module.at(fact.span)
    tests = [above.test for above in ctx.module.around(call) if isinstance(above, ast.If)] if call is not None else []
    return any(isinstance(node, ast.Attribute) and node.attr == "can_send_request" for test in tests for node in ast.walk(test))
