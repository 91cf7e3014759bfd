"""`ctx.session.send_tool_list_changed()` without `ctx.notify_tools_changed()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import adapters, lines, questions
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...sdk.modules import Def, dotted
from ...sdk.types import Instance, is_open, members
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


@dataclass(frozen=True)
class _Change:
    """A change that is told to a session only."""

    statement: ast.Expr
    text: str  # what tells those that listen


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is not SymbolUse.CALL or _is_told(fact, ctx) or adapters.use(fact, ctx) is not None:
        return
    change = _change(fact, ctx)
    yield ctx.finding(fact, Applicability.SAFE if change is not None else Applicability.MANUAL)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    change = _change(fact, ctx)
    if change is not None and not _is_told(fact, ctx):
        source, span = ctx.module.source, ctx.module.span(change.statement)
        at = lines.next_line(source, span.end)
        indent = lines.indent_of(source, span.start)
        if at == len(source.utf8) and not source.utf8.endswith((b"\n", b"\r")):
            yield Edit(Span(at, at), f"{source.newline}{indent}{change.text}")
        else:
            yield Edit(Span(at, at), f"{indent}{change.text}{source.newline}")


def _change(fact: Symbol, ctx: Context) -> _Change | None:
    """The statement that tells the session, where the context of its request is at hand."""
    module = ctx.module
    call = module.at(fact.span)
    statement = module.statement(call) if call is not None else None
    match statement, call:
        case (
            ast.Expr(value=ast.Await(value=ast.Call() as told)),
            ast.Call(func=ast.Attribute(value=ast.Attribute(value=origin, attr="session"), attr=name), args=args, keywords=keywords),
        ) if told is call:
            if isinstance(origin, ast.Attribute) and origin.attr == "request_context":
                origin = origin.value
            known = ctx.sdk.type(origin, module)
            ours = [*members(known)]
            if (
                not dotted(origin)
                or is_open(known)
                or not all(isinstance(one, Instance) and one.name in questions.CONTEXTS for one in ours)
            ):
                return None
            # Two statements on one line have no line between them.
            source, span = module.source, module.span(statement)
            rest = source.utf8[span.end : lines.next_line(source, span.end)].strip()
            if source.utf8[lines.line_start(source, span.start) : span.start].strip() or (rest and not rest.startswith(b"#")):
                return None
            values = [*args, *(keyword.value for keyword in keywords)]
            if any(
                isinstance(inner, ast.Call) and dotted(inner.func) not in ("AnyUrl", "str") for value in values for inner in ast.walk(value)
            ):
                return None
            arguments = ", ".join(module.text(value) for value in values)
            return _Change(statement, f"await {module.text(origin)}.{ctx.entry.data[name][0]}({arguments})")
    return None


def _is_told(fact: Symbol, ctx: Context) -> bool:
    """Whether the function tells those that listen as well."""
    module = ctx.module
    call = module.at(fact.span)
    function = module.function(call) if call is not None else None
    name = str(fact.key).rpartition(".")[2]
    around: ast.AST = function if isinstance(function, Def) else module.tree
    for node in ast.walk(around):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in (ctx.entry.data[name][0], "publish"):
            return True
    return False
