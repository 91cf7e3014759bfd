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
from ...rewrite.quotes import fitting
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
_RESERVED = "io.modelcontextprotocol/"
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
            known = bool([*_edits(fact, ctx)])
            yield ctx.finding(fact, (Applicability.SAFE if fact.sure else Applicability.UNSAFE) if known else Applicability.MANUAL)
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
    if _is_raw(node, ctx):
        return
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
    mark = fitting(node, module) if node is not None else None
    if mark is None:
        return
    match node:
        case ast.Attribute(attr="model_dump") if _is_raw(node, ctx):
            yield from _dumped(node, mark, ctx)
        case ast.Attribute(attr=attr, value=value) if not attr.startswith(("model_", "_", "dict", "json")):
            end = module.span(value).end
            name = attr if _is_raw(node, ctx) else _key(attr)
            key = f"{mark}{name}{mark}"
            yield Edit(Span(end, module.span(node).end), f".get({key})" if isinstance(node.ctx, ast.Load) else f"[{key}]")
        case ast.Call(func=ast.Name(id="getattr"), args=[subject, ast.Constant(value=str(attr)), *default]) if len(default) < 2:
            rest = "".join(f", {module.text(one)}" for one in default)
            name = attr if _is_raw(node, ctx) else _key(attr)
            yield Edit(module.span(node), f"({module.text(subject)} or {{}}).get({mark}{name}{mark}{rest})")
        case ast.Call(func=ast.Name(id="hasattr"), args=[subject, ast.Constant(value=str(attr))]):
            if not isinstance(module.parents.get(node), ast.Compare | ast.UnaryOp | ast.Await | ast.Attribute):
                name = attr if _is_raw(node, ctx) else _key(attr)
                yield Edit(module.span(node), f"{mark}{name}{mark} in ({module.text(subject)} or {{}})")


def _is_raw(node: ast.AST | None, ctx: Context) -> bool:
    """Whether the metadata is that of a context of `fastmcp`, which is the dict of the wire in release 4."""
    match node:
        case ast.Attribute(value=subject) | ast.Call(args=[subject, *_]):
            found = [one for one in members(ctx.sdk.type(subject, ctx.module)) if isinstance(one, Instance)]
            return bool(found) and all(one.name == _META and bool(one.args) for one in found)
    return False


def _dumped(node: ast.Attribute, mark: str, ctx: Context) -> Iterator[Edit]:
    """`meta.model_dump(...)` of a dict: what the model gave had the names of the wire, and the token also where there was none."""
    call, subject = ctx.module.parents.get(node), ctx.module.text(node.value)
    if not isinstance(call, ast.Call) or call.func is not node or call.args:
        return
    given = {word.arg: word.value.value for word in call.keywords if isinstance(word.value, ast.Constant)}
    if len(given) != len(call.keywords) or not given.keys() <= {"mode", "by_alias", "exclude_unset", "exclude_none"}:
        return
    # Clients of the revision say there what they are; nothing of that was in it before.
    wanted = f"not key.startswith({mark}{_RESERVED}{mark})" + (" and value is not None" if given.get("exclude_none") else "")
    brace = opening_brace(ctx.module.source, ctx.module.span(call).start)
    text = f"{brace}key: value for key, value in {subject}.items() if {wanted}}}"
    if not given.get("exclude_none") and not given.get("exclude_unset"):
        text = f"{brace}{mark}progressToken{mark}: None, **{text.strip()}}}"
    asked = [*_absent(node, ctx)]
    if None not in asked:
        yield Edit(ctx.module.span(call), text)
        yield from (edit for edit in asked if edit is not None)


def _absent(node: ast.Attribute, ctx: Context) -> Iterator[Edit | None]:
    """`meta is None` in the same function: what clients of the revision say of themselves is there with every request.

    None stands for a question that cannot be written anew.
    """
    if not isinstance(node.value, ast.Name):
        return
    name, module = node.value.id, ctx.module
    for use in module.reads(name, module.scope(node)):
        test = module.parents.get(use)
        if not isinstance(test, ast.Compare) or test.left is not use:
            continue
        match test:
            case ast.Compare(ops=[ast.Is() | ast.IsNot() as how], comparators=[ast.Constant(value=None)]):
                asks = module.parents.get(test)
                mark = fitting(test, module)
                own = f"{name} is None or (bool({name}) and all(key.startswith({mark}{_RESERVED}{mark}) for key in {name}))"
                alone = isinstance(asks, ast.If | ast.IfExp) and asks.test is test
                text = f"not ({own})" if isinstance(how, ast.IsNot) else own if alone else f"({own})"
                yield Edit(module.span(test), text) if mark else None


def _key(attr: str) -> str:
    return "progress_token" if attr == "progressToken" else attr


def _made(fact: Symbol, ctx: Context) -> Iterator[Edit]:
    node, module = ctx.module.at(fact.span), ctx.module
    if not isinstance(node, ast.Call) or node.args:
        return
    mark = fitting(node, module)
    if mark is None:
        return
    for word in node.keywords:
        if word.arg is not None and not keyword.iskeyword(word.arg):
            span = module.span(word)
            yield Edit(Span(span.start, module.span(word.value).start), f"{mark}{_key(word.arg)}{mark}: ")
    start = module.source.utf8.index(b"(", module.span(node.func).end)
    yield Edit(Span(fact.span.start, start + 1), opening_brace(module.source, fact.span.start))
    yield Edit(Span(fact.span.end - 1, fact.span.end), "}")
