"""`Resource(uri=AnyUrl("note://a"))`, `session.read_resource(AnyUrl(x))`, `resource.uri == AnyUrl(x)`: URIs are plain text now."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rewrite.unwrapped import unwrapped
from ...rule import Applicability, Context, Finding
from ...sdk.types import ClassOf, Instance, members
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_URLS = frozenset(f"pydantic.networks.{name}" for name in ("AnyUrl", "FileUrl", "AnyHttpUrl", "HttpUrl"))
# What pydantic leaves as it is: a scheme that no browser knows, and nothing that is escaped or resolved.
_KEPT = re.compile(r"(?!(?:https?|wss?|ftp|file):)[a-z][a-z0-9+.-]*:(?:/{2,3})?[A-Za-z0-9_{}-][A-Za-z0-9_{}~.:/-]*")


class _Given(NamedTuple):
    """A URL where text is wanted; `compared` where it stands beside a field."""

    node: ast.expr
    compared: bool = False


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    for given in _given(fact, ctx):
        if _is_url(given.node, ctx):
            kept = not given.compared or (isinstance(given.node, ast.Call) and _kept_text(given.node) is not None)
            yield ctx.finding(fact, Applicability.SAFE if kept else Applicability.UNSAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    for given in _given(fact, ctx):
        node = given.node
        if not _is_url(node, ctx):
            continue
        text = _kept_text(node) if isinstance(node, ast.Call) and _is_made(node, ctx) else None
        if text is not None and isinstance(node, ast.Call):
            yield from unwrapped(node, text, ctx.module)
        else:
            span = ctx.module.span(node)
            yield Edit(Span(span.start, span.start), "str(")
            yield Edit(Span(span.end, span.end), ")")


def _given(fact: Symbol, ctx: Context) -> Iterator[_Given]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.CALL and isinstance(node, ast.Call):
        yield from (_Given(word.value) for word in node.keywords if word.arg == "uri")
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
            yield from (_Given(side, compared=True) for side in (above.left, *above.comparators) if side is not node)


def _is_url(node: ast.expr, ctx: Context) -> bool:
    known = ctx.sdk.type(node, ctx.module)
    return any(isinstance(one, Instance) and one.name in _URLS for one in members(known))


def _is_made(node: ast.Call, ctx: Context) -> bool:
    known = ctx.sdk.type(node.func, ctx.module)
    return isinstance(known, ClassOf) and known.name in _URLS


def _kept_text(node: ast.Call) -> ast.expr | None:
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
