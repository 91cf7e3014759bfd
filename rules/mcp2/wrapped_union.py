"""`ServerResult(x)`, `message.root`, `JSONRPCMessage.model_validate(x)`: a union that was a wrapper is used as one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import compat
from ...rewrite.edits import Edit
from ...rewrite.unwrapped import unwrapped
from ...rule import Applicability, Context, Finding, Import, NewFile
from ...sdk import guards
from ...sdk.types import ClassOf, Instance, is_open, members
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_VALIDATES = {
    "model_validate": "validate_python",
    "parse_obj": "validate_python",
    "model_validate_json": "validate_json",
    "parse_raw": "validate_json",
    "model_json_schema": "json_schema",
}


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    match fact.use:
        case SymbolUse.BASE if ctx.sdk.api.is_union(str(fact.key)):
            yield ctx.finding(fact)
        case SymbolUse.PATTERN if ctx.sdk.api.is_union(str(fact.key)):
            fixed = bool([*_pattern(fact, ctx)])
            yield ctx.finding(fact, Applicability.SAFE if fixed else Applicability.MANUAL, hint="" if fixed else ctx.entry.hints["capture"])
        case SymbolUse.CALL if ctx.sdk.api.is_union(str(fact.key)):
            yield ctx.finding(fact, Applicability.SAFE if [*_called(fact, ctx)] else Applicability.MANUAL)
        case SymbolUse.READ | SymbolUse.STORE | SymbolUse.GETATTR:
            owner, _, name = str(fact.key).rpartition(".")
            if name == "root":
                yield from _root(fact, owner, ctx)
            elif name != "model_dump" and _is_class(fact, owner, ctx):
                known = bool([*_validated(fact, ctx)])
                yield ctx.finding(fact, Applicability.SAFE if known else Applicability.MANUAL)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    match fact.use:
        case SymbolUse.PATTERN:
            yield from _pattern(fact, ctx)
        case SymbolUse.CALL:
            yield from _called(fact, ctx)
        case SymbolUse.READ | SymbolUse.STORE if str(fact.key).endswith(".root"):
            node = ctx.module.at(fact.span)
            if isinstance(node, ast.Attribute):
                yield Edit(Span(_end(node.value, ctx), fact.span.end))
        case SymbolUse.READ:
            yield from _validated(fact, ctx)


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    node, module = ctx.module.at(fact.span), ctx.module
    if compat.obstacle(ctx):
        return
    match node:
        case ast.Attribute(attr="root", ctx=ast.Load()) if fact.use is SymbolUse.READ:
            yield from compat.asked(node, "unwrapped", "", ctx)
            return
        case ast.Call() if fact.use is SymbolUse.CALL and (given := _given(node)) is not None and _is_message(given, ctx):
            opening = module.source.utf8.index(b"(", module.span(node.func).end) + 1
            yield Edit(Span(fact.span.start, fact.span.start), f"{compat.NAME}.wrapped(")
            yield Edit(Span(opening - 1, opening), "," if module.source.utf8[opening : opening + 1].isspace() else ", ")
            if node.keywords:
                yield Edit(Span(module.span(node.keywords[0]).start, module.span(given).start))
        case _:
            return
    yield from compat.needs(ctx, fact.span, "unions")


def _root(fact: Symbol, owner: str, ctx: Context) -> Iterator[Finding]:
    """`.root` of a union, or of a message that something else has unwrapped already."""
    node = ctx.module.at(fact.span)
    if "root" in ctx.sdk.api.old["classes"].get(owner, {}).get("fields", ()) and not ctx.sdk.api.is_union(owner):
        return
    subject = node.value if isinstance(node, ast.Attribute) else node.args[0] if isinstance(node, ast.Call) and node.args else None
    if node is None or subject is None or guards.is_asked(node, subject, ["root"], ctx.module, read=False):
        return
    if isinstance(node, ast.Call):
        # `hasattr(message, "root")`, `getattr(message, "root", message)`: written for what has none as well.
        return
    if isinstance(node, ast.Attribute):
        known = ctx.sdk.type(node.value, ctx.module)
        # One finding for all that it may be.
        if next((one.name for one in members(known) if isinstance(one, Instance)), owner) != owner:
            return
        if not ctx.sdk.api.is_union(owner) and is_open(known):
            return
    if fact.use is SymbolUse.READ:
        yield ctx.finding(fact, Applicability.SAFE if fact.sure else Applicability.UNSAFE)
    elif isinstance(ctx.module.parents.get(node), ast.Assign):
        # Who holds the wrapper saw the new message; a name that is given it is another matter.
        yield ctx.finding(fact, Applicability.UNSAFE, hint=ctx.entry.hints["given"])
    else:
        yield ctx.finding(fact)


def _end(node: ast.expr, ctx: Context) -> int:
    """Where an expression ends, with the brackets around it."""
    end = ctx.module.span(node).end
    data = ctx.module.source.utf8
    while data[end : end + 1].isspace() or data[end : end + 1] == b")":
        end += 1
    return end if data[:end].rstrip()[-1:] == b")" else ctx.module.span(node).end


def _called(fact: Symbol, ctx: Context) -> Iterator[Edit | Import]:
    node = ctx.module.at(fact.span)
    if not isinstance(node, ast.Call):
        return
    given = _given(node)
    if given is not None and _is_message(given, ctx):
        yield from unwrapped(node, given, ctx.module)
    elif given is not None:
        # Version 1 took raw data here as well, and what is a message already passes the adapter as it is.
        text, need = _adapter(node.func, str(fact.key), ctx)
        if text:
            yield Edit(ctx.module.span(node.func), f"{text}.validate_python")
            if node.keywords:
                yield Edit(Span(ctx.module.span(node.keywords[0]).start, ctx.module.span(given).start))
            yield from need
    elif len(node.keywords) == 1 and node.keywords[0].arg is None and not node.args:
        text, need = _adapter(node.func, str(fact.key), ctx)
        if text:
            stars = ctx.module.span(node.keywords[0]).start
            yield Edit(ctx.module.span(node.func), f"{text}.validate_python")
            yield Edit(Span(stars, ctx.module.span(node.keywords[0].value).start))
            yield from need


def _given(node: ast.Call) -> ast.expr | None:
    match node:
        case ast.Call(args=[given], keywords=[]) if not isinstance(given, ast.Starred):
            return given
        case ast.Call(args=[], keywords=[ast.keyword(arg="root", value=given)]):
            return given
    return None


def _is_message(node: ast.expr, ctx: Context) -> bool:
    """Whether an expression is an object of the SDK, and so no raw data."""
    known = ctx.sdk.type(node, ctx.module)
    return not is_open(known) and all(isinstance(one, Instance) and ctx.sdk.api.is_class(one.name) for one in members(known))


def _adapter(node: ast.expr, union: str, ctx: Context) -> tuple[str, list[Import]]:
    """The adapter's name as this file can spell it, from the expression that names the union."""
    pairs = dict(pair.split(" -> ") for pair in ctx.entry.data["adapters"])
    adapter = pairs.get(union.rpartition(".")[2])
    if adapter is None:
        return "", []
    if isinstance(node, ast.Attribute):
        base = ctx.module.text(node.value)
        known = ctx.sdk.type(node.value, ctx.module)
        if getattr(known, "name", "") == "mcp.types":
            return f"{base}.{adapter}", []
    return adapter, [Import("mcp.types", adapter)]


def _is_class(fact: Symbol, owner: str, ctx: Context) -> bool:
    node = ctx.module.at(fact.span)
    known = ctx.sdk.type(node.value, ctx.module) if isinstance(node, ast.Attribute) else None
    return ctx.sdk.api.is_union(owner) and isinstance(known, ClassOf)


def _validated(fact: Symbol, ctx: Context) -> Iterator[Edit | Import]:
    node = ctx.module.at(fact.span)
    owner, _, name = str(fact.key).rpartition(".")
    if not isinstance(node, ast.Attribute) or name not in _VALIDATES or not _is_class(fact, owner, ctx):
        return
    text, need = _adapter(node.value, owner, ctx)
    if text and isinstance(node.value, ast.Name | ast.Attribute):
        yield Edit(ctx.module.span(node), f"{text}.{_VALIDATES[name]}")
        yield from need


def _pattern(fact: Symbol, ctx: Context) -> Iterator[Edit]:
    """`case ServerNotification(root=Progress())`: the inner pattern takes its place, unless it would match everything."""
    node, module = ctx.module.at(fact.span), ctx.module
    if not isinstance(node, ast.MatchClass):
        return
    match node:
        case ast.MatchClass(patterns=[], kwd_attrs=["root"], kwd_patterns=[inner]):
            pass
        case _:
            return
    if isinstance(inner, ast.MatchAs) and inner.pattern is None:
        return
    span = module.span(inner)
    text = module.source.slice(span)
    above = module.parents.get(node)
    if isinstance(inner, ast.MatchOr) or (isinstance(inner, ast.MatchAs) and not isinstance(above, ast.match_case)):
        text = f"({text})"
    yield Edit(fact.span, text)
