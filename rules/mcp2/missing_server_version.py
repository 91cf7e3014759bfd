"""A low-level server has no version of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import adapters
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call) or adapters.is_in_test(ctx):
        return
    known = len(node.args) > 1 or any(word.arg in ("version", None) for word in node.keywords)
    if not known and not any(isinstance(one, ast.Starred) for one in node.args) and adapters.is_from_1(ctx):
        yield ctx.finding(fact, Applicability.SAFE if fact.sure and _told(ctx) else Applicability.MANUAL)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    from ...rewrite import calls

    call = calls.at(tree, fact.span)
    told = _told(ctx)
    if call is not None and told is not None:
        yield from calls.add(tree, call, [f"version={ctx.module.text(told)}"])


def _told(ctx: Context) -> ast.Constant | None:
    """The version that the only options of the file tell older clients of its only server."""
    return ctx.project.remember(f"version that options of {ctx.module.path} tell", partial(_of_options, ctx))


def _of_options(ctx: Context) -> ast.Constant | None:
    servers = [node for node in _calls("Server", ctx) if ctx.sdk.type(node.func, ctx.module) is not None]
    options = [*_calls("InitializationOptions", ctx)]
    told = [_version(node) for node in options]
    versions = {version.value: version for version in told if version is not None}
    return next(iter(versions.values())) if len(versions) == 1 and None not in told and len(servers) == 1 else None


def _version(node: ast.Call) -> ast.Constant | None:
    """The version that options name, if it is a text."""
    given = next((word.value for word in node.keywords if word.arg == "server_version"), None)
    return given if isinstance(given, ast.Constant) and isinstance(given.value, str) else None


def _calls(name: str, ctx: Context) -> Iterator[ast.Call]:
    yield from ctx.module.calls.get(name, ())
