"""`ctx.meta.progressToken`, `RequestParams.Meta(...)`: what was a model is a dict now."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import compat
from ...rewrite.edits import Edit
from ...rewrite.lines import opening_brace
from ...rule import Applicability, Context, Finding, Import, NewFile
from ...sdk import guards
from ...sdk.symbols import UNKNOWN
from ...sdk.types import Instance, members
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_META = "mcp.types.RequestParams.Meta"
_METAS = (_META, "mcp.types.NotificationParams.Meta")
# What it is where the context of the request has its newer name already.
_DICT = "mcp.types.RequestParamsMeta"
_OF_MODELS = frozenset({"model_dump", "model_dump_json", "model_copy", "dict", "json"})
_OF_DICTS = frozenset({"get", "items", "keys", "values", "pop", "update", "setdefault", "copy", "clear", "popitem"})


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    key = str(fact.key)
    if fact.use is SymbolUse.CALL and key in _METAS:
        yield ctx.finding(fact, Applicability.SAFE if [*_made(fact, ctx)] else Applicability.MANUAL)
    elif key == f"{_META}.progressToken":
        known = bool([*_edits(fact, ctx)])
        yield ctx.finding(fact, (Applicability.SAFE if fact.sure else Applicability.UNSAFE) if known else Applicability.MANUAL)
    elif key == f"{UNKNOWN}.progressToken":
        if guards.is_meta(ctx.module.at(fact.span)) and [*_edits(fact, ctx)]:
            yield ctx.finding(fact, Applicability.UNSAFE, message="`progressToken` is a key of a plain dict in version 2 of the SDK")
    elif key.rpartition(".")[0] in (*_METAS, _DICT) and key.rpartition(".")[2] in _OF_MODELS:
        # What the attribute itself is read from is found by its own name.
        node = ctx.module.at(fact.span)
        if isinstance(node, ast.Attribute) and not (isinstance(node.value, ast.Attribute) and node.value.attr == "meta"):
            yield ctx.finding(fact)
    elif fact.use is SymbolUse.READ and _of_meta(fact, ctx) is not None:
        known = bool([*_edits(fact, ctx)])
        yield ctx.finding(fact, (Applicability.SAFE if fact.sure else Applicability.UNSAFE) if known else Applicability.MANUAL)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    yield from _made(fact, ctx) if fact.use is SymbolUse.CALL else _edits(fact, ctx)


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    node: ast.AST | None = ctx.module.at(fact.span)
    module = ctx.module
    if fact.use is SymbolUse.CALL or compat.obstacle(ctx):
        return
    if str(fact.key).endswith(".meta"):
        node = _of_meta(fact, ctx)
    match node:
        case ast.Attribute(attr=attr, ctx=ast.Load()) if not attr.startswith(("model_", "_", "dict", "json")):
            text = compat.quoted(attr, node, ctx)
            if text is not None:
                yield from compat.asked(node, "meta", f", {text}", ctx)
            return
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str()), _], keywords=[]):
            yield Edit(module.span(node.func), f"{compat.NAME}.meta")
        case _:
            return
    yield from compat.needs(ctx, fact.span, "meta")


def _of_meta(fact: Symbol, ctx: Context) -> ast.AST | None:
    """The attribute, or `getattr`, that asks the metadata for a key that is not the token."""
    node = ctx.module.at(fact.span)
    if not isinstance(node, ast.Attribute):
        return None
    if not any(isinstance(one, Instance) and one.name in (*_METAS, _DICT) for one in members(ctx.sdk.type(node, ctx.module))):
        return None
    above = ctx.module.parents.get(node)
    match above:
        case ast.Attribute(attr=attr) if attr != "progressToken" and attr not in _OF_DICTS:
            return above
        case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[subject, ast.Constant(value=str(name)), *_]) if subject is node:
            return above if name != "progressToken" else None
    return None


def _edits(fact: Symbol, ctx: Context) -> Iterator[Edit]:
    node: ast.AST | None = ctx.module.at(fact.span)
    if str(fact.key).endswith(".meta"):
        node = _of_meta(fact, ctx)
    module = ctx.module
    match node:
        case ast.Attribute(attr=attr, value=value) if not attr.startswith(("model_", "_", "dict", "json")):
            end = module.span(value).end
            name = _key(attr)
            if isinstance(node.ctx, ast.Load):
                yield Edit(Span(end, module.span(node).end), f'.get("{name}")')
            else:
                yield Edit(Span(end, module.span(node).end), f'["{name}"]')
        case ast.Call(func=ast.Name(id="getattr"), args=[subject, ast.Constant(value=str(attr)), *default]) if len(default) < 2:
            rest = "".join(f", {module.text(one)}" for one in default)
            yield Edit(module.span(node), f'({module.text(subject)} or {{}}).get("{_key(attr)}"{rest})')
        case ast.Call(func=ast.Name(id="hasattr"), args=[subject, ast.Constant(value=str(attr))]):
            if not isinstance(module.parents.get(node), ast.Compare | ast.UnaryOp | ast.Await | ast.Attribute):
                yield Edit(module.span(node), f'"{_key(attr)}" in ({module.text(subject)} or {{}})')


def _key(attr: str) -> str:
    return "progress_token" if attr == "progressToken" else attr


def _made(fact: Symbol, ctx: Context) -> Iterator[Edit]:
    node, module = ctx.module.at(fact.span), ctx.module
    if not isinstance(node, ast.Call) or node.args:
        return
    for word in node.keywords:
        if word.arg is not None and not keyword.iskeyword(word.arg):
            span = module.span(word)
            yield Edit(Span(span.start, module.span(word.value).start), f'"{_key(word.arg)}": ')
    start = module.source.utf8.index(b"(", module.span(node.func).end)
    yield Edit(Span(fact.span.start, start + 1), opening_brace(module.source, fact.span.start))
    yield Edit(Span(fact.span.end - 1, fact.span.end), "}")
