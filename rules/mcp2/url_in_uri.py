"""`Resource(uri=AnyUrl("note://a"))`, `session.read_resource(AnyUrl(x))`, `resource.uri == AnyUrl(x)`: URIs are plain text now."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rewrite.unwrapped import unwrapped
from ...rule import Applicability, Context, Finding, Import
from ...sdk.types import URL, ClassOf, Instance, members
from ...sdk.urls import made, spelled
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_URLS = frozenset(f"pydantic.networks.{name}" for name in ("AnyUrl", "FileUrl", "AnyHttpUrl", "HttpUrl"))
_SENT = frozenset(f"mcp.types.{name}" for name in ("BlobResourceContents", "Resource", "ResourceLink", "TextResourceContents"))
# What pydantic leaves as it is: a scheme that no browser knows, and nothing that is escaped or resolved.
_KEPT = re.compile(r"(?!(?:https?|wss?|ftp|file):)[a-z][a-z0-9+.-]*:(?:/{2,3})?[A-Za-z0-9_{}-][A-Za-z0-9_{}~.:/-]*")


_URL = Instance(URL)
# A browser's scheme and a name, without a path: pydantic wrote the path that is meant.
_BARE = re.compile(r"(?:https?|wss?|ftp|file)://(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*")


class _Given(NamedTuple):
    """A URL where text is wanted; `beside` is the field that it is compared with."""

    node: ast.expr
    beside: ast.expr | None = None


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    for given in _given(fact, ctx):
        if _is_url(given.node, ctx):
            kept = given.beside is None or _kept_text(given.node) is not None or _is_made(given.node, ctx, "AnyUrl")
            yield ctx.finding(fact, Applicability.SAFE if kept else Applicability.UNSAFE)
    for node, name in _handed(fact, ctx):
        message = f"`{name}()` takes a URL, but the URI is plain text in version 2 of the SDK"
        yield ctx.finding(fact, Applicability.SAFE, span=ctx.module.span(node), message=message)
    for literal in _bare(fact, ctx):
        message = f"version 1 of the SDK sent `{literal.value!s}/` for this URI, and version 2 sends it as it stands"
        yield ctx.finding(fact, Applicability.SAFE, span=ctx.module.span(literal), message=message)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    for node, _ in _handed(fact, ctx):
        span, name = ctx.module.span(node), spelled(ctx.module, ctx.sdk.inference)
        before, after = made(node, name or "AnyUrl", ctx.module, ctx.sdk.inference)
        yield Edit(Span(span.start, span.start), before)
        yield Edit(Span(span.end, span.end), after)
        if not name:
            yield Import("pydantic", "AnyUrl")
    for literal in _bare(fact, ctx):
        end = ctx.module.span(literal).end - 1
        yield Edit(Span(end, end), "/")
    for given in _given(fact, ctx):
        node = given.node
        if not _is_url(node, ctx):
            continue
        text = _kept_text(node) if _is_made(node, ctx) else None
        if text is not None and isinstance(node, ast.Call):
            yield from unwrapped(node, text, ctx.module)
        elif given.beside is not None and isinstance(node, ast.Call) and _is_made(node, ctx, "AnyUrl"):
            # Two URLs are compared, as before: what a server sends may be written otherwise.
            span = ctx.module.span(given.beside)
            yield Edit(Span(span.start, span.start), f"{ctx.module.text(node.func)}(")
            yield Edit(Span(span.end, span.end), ")")
        else:
            span = ctx.module.span(node)
            yield Edit(Span(span.start, span.start), "str(")
            yield Edit(Span(span.end, span.end), ")")


def _given(fact: Symbol, ctx: Context) -> Iterator[_Given]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.CALL and isinstance(node, ast.Call):
        yield from (_Given(word.value) for word in node.keywords if word.arg == "uri")
        yield from map(_Given, _spread(node, ctx))
        if (
            str(fact.key).startswith(("mcp.client.session.", "mcp.client.client."))
            and node.args
            and not isinstance(node.args[0], ast.Starred)
        ):
            yield _Given(node.args[0])
    elif isinstance(node, ast.Attribute) and node.attr == "uri" and ctx.sdk.api.is_text_now(str(fact.key).rpartition(".")[0]):
        above = ctx.module.parents.get(node)
        if fact.use is SymbolUse.STORE and isinstance(above, ast.Assign) and above.targets == [node]:
            yield _Given(above.value)
        elif isinstance(above, ast.Compare) and all(isinstance(op, ast.Eq | ast.NotEq) for op in above.ops):
            yield from (_Given(side, node) for side in (above.left, *above.comparators) if side is not node)


def _spread(call: ast.Call, ctx: Context) -> Iterator[ast.expr]:
    """What a dict that is written out, and made for nothing else, gives for `uri`: `Contents(**common)`, at the first such call."""
    for word in call.keywords:
        if word.arg is not None or not isinstance(word.value, ast.Name):
            continue
        bindings = ctx.sdk.inference.bindings(word.value.id, word.value, ctx.module)
        if len(bindings) != 1 or not isinstance(bindings[0].value, ast.Dict) or bindings[0].path:
            continue
        scope = ctx.module.scope(bindings[0].node)
        loads = [
            node
            for node in ctx.module.of(ast.Name)
            if isinstance(node, ast.Name)
            and node.id == word.value.id
            and isinstance(node.ctx, ast.Load)
            and ctx.module.scope(node) is scope
        ]
        if scope.parent is not None and loads[:1] == [word.value] and all(_is_spread(node, ctx) for node in loads):
            shown = bindings[0].value
            for key, value in zip(shown.keys, shown.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "uri":
                    yield value


def _is_spread(node: ast.Name, ctx: Context) -> bool:
    """Whether a name is handed on with `**`, to a class whose URIs are text now."""
    word = ctx.module.parents.get(node)
    call = ctx.module.parents.get(word) if isinstance(word, ast.keyword) and word.arg is None else None
    known = ctx.sdk.type(call.func, ctx.module) if isinstance(call, ast.Call) else None
    return isinstance(known, ClassOf) and known.name.startswith("mcp.types.") and ctx.sdk.api.is_text_now(known.name)


def _handed(fact: Symbol, ctx: Context) -> Iterator[tuple[ast.expr, str]]:
    """Where a URI is handed to a function of the project that says it takes a URL, itself or by the one name that it is given."""
    node = ctx.module.at(fact.span)
    if fact.use not in (SymbolUse.READ, SymbolUse.GETATTR) or not isinstance(node, ast.expr) or not fact.sure:
        return
    if not ctx.sdk.api.is_text_now(str(fact.key).rpartition(".")[0]):
        return
    # One finding for all the classes that it may be read of.
    same = (one for one in ctx.project.of(ctx.file.source.path, Symbol) if one.span == fact.span and str(one.key).endswith(".uri"))
    if next(same, None) != fact:
        return
    places: list[ast.expr] = [node]
    match ctx.module.parents.get(node):
        case ast.Assign(targets=[ast.Name(id=name)]):
            scope = ctx.module.scope(node)
            if scope.parent is not None and len(scope.bindings[name]) == 1:
                named = (one for one in ctx.module.of(ast.Name) if isinstance(one, ast.Name) and one.id == name)
                places = [one for one in named if isinstance(one.ctx, ast.Load) and ctx.module.scope(one) is scope]
    for place in places:
        call = ctx.module.parents.get(place)
        if (
            isinstance(call, ast.Call)
            and place in call.args
            and ctx.sdk.inference.declared(call, call.args.index(place), ctx.module) == _URL
        ):
            yield place, ctx.module.text(call.func)


def _bare(fact: Symbol, ctx: Context) -> Iterator[ast.Constant]:
    """The literal of a resource's URI to which version 1 added a path."""
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call) or fact.key not in _SENT or ctx.sdk.is_moved(ctx.file.source.path):
        return
    for word in node.keywords:
        match word.value:
            case ast.Constant(value=str(text)) as literal if word.arg == "uri" and _BARE.fullmatch(text):
                if ctx.module.text(literal)[1:-1] == text:
                    yield literal


def _is_url(node: ast.expr, ctx: Context) -> bool:
    known = ctx.sdk.type(node, ctx.module)
    return any(isinstance(one, Instance) and one.name in _URLS for one in members(known))


def _is_made(node: ast.expr, ctx: Context, name: str = "") -> bool:
    """Whether a URL is made here, and of which class, if it matters."""
    known = ctx.sdk.type(node.func, ctx.module) if isinstance(node, ast.Call) else None
    return isinstance(known, ClassOf) and known.name in _URLS and known.name.endswith(name)


def _kept_text(node: ast.expr) -> ast.expr | None:
    """The literal that stays the same with and without the class around it."""
    match node:
        case ast.Call(args=[ast.Constant(value=str(text)) as literal], keywords=[]):
            pass
        case ast.Call(args=[], keywords=[ast.keyword(arg="url", value=ast.Constant(value=str(text)) as literal)]):
            pass
        case _:
            return None
    parts = text.partition(":")[2].split("/")
    return literal if _KEPT.fullmatch(text) and not {".", ".."} & {*parts} else None
