"""A name of `fastmcp` that release 4 has elsewhere, or under another name, or not at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Standalone, SymbolUse
from ...rewrite import moves
from ...rewrite.edits import Edit
from ...rewrite.moves import Place
from ...rule import Applicability, Context, Either, Entry, Finding, Import

if TYPE_CHECKING:
    from ...rewrite.tree import Tree
    from ...sdk.api import Api

_SPELLED = (SymbolUse.IMPORT, SymbolUse.NAME, SymbolUse.TEXT)


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    if fact.use not in _SPELLED or not isinstance(fact.key, str):
        return
    api = ctx.sdk.api
    if fact.key.endswith(".*"):
        star = fact.key.removesuffix(".*")
        if star in api.old["modules"] and star not in api.new["modules"]:
            yield ctx.finding(fact, hint=ctx.entry.hints["star"])
        return
    here = _place(fact, ctx)
    new = _successor(here, api, ctx.entry)
    if new == here or here.dotted in ctx.entry.data["elsewhere"]:
        return
    if new is None and fact.use is SymbolUse.IMPORT and moves.idle(fact, ctx) is not None:
        yield ctx.finding(fact, Applicability.SAFE, hint=ctx.entry.hints["idle"])
    elif new is None:
        reasons = (reason.split() for reason in ctx.entry.data["reasons"])
        hint = next((ctx.entry.hints[reason] for word, reason in reasons if word in here.dotted), "")
        yield ctx.finding(fact, Applicability.MANUAL, hint=hint)
    else:
        yield ctx.finding(fact, Applicability.SAFE, message=f"{ctx.entry.message}; it is `{new.dotted}` now")


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    assert isinstance(fact.key, str)
    here = _place(fact, ctx)
    new = _successor(here, ctx.sdk.api, ctx.entry)
    if new is not None:
        yield from moves.moved(fact, here, new, tree, ctx, lambda place: _successor(place, ctx.sdk.api, ctx.entry))
    else:
        yield from moves.gone(fact, tree, ctx)


def keep(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit | Import | Either]:
    """The place that release 3 has as well; where there is none, one guard that takes the name from either."""
    from ...rewrite import renames

    here, api = _place(fact, ctx), ctx.sdk.api
    new = _successor(here, api, ctx.entry)
    if new is None:
        yield from moves.gone(fact, tree, ctx)
    if new is None or new == here:
        return
    statement = _statement(fact, ctx)
    if statement is None:
        # What stands in a text, and what is reached through its module, has one spelling.
        if api.kept(*new):
            yield from moves.moved(fact, here, new, tree, ctx, lambda place: _successor(place, api, ctx.entry))
        return
    plain, guarded = [], []
    for one in statement.names:
        place = Place(f"{statement.module}", one.name)
        there = _successor(place, api, ctx.entry)
        if there is None or there == place or place.dotted in ctx.entry.data["elsewhere"]:
            continue
        if api.kept(*there):
            plain.append(renames.Move(one, there.module, there.name))
        elif api.kept(*place):
            guarded.append((one, Either(Import(*there), Import(*place), one.asname or one.name, exported=moves.is_exported(one, ctx))))
        elif place == here:
            return
    yield from moves.kept(statement, plain, guarded, tree, ctx)


def _statement(fact: Standalone, ctx: Context) -> ast.ImportFrom | None:
    alias = ctx.module.at(fact.span)
    statement = ctx.module.parents.get(alias) if isinstance(alias, ast.alias) else None
    return statement if isinstance(statement, ast.ImportFrom) else None


def _place(fact: Standalone, ctx: Context) -> Place:
    """What `from module import name` takes is a name first: `fastmcp.tools.tool` was a module, and is a decorator as well."""
    assert isinstance(fact.key, str)
    node = ctx.module.at(fact.span)
    api = ctx.sdk.api
    if fact.use is SymbolUse.IMPORT and isinstance(node, ast.alias) and isinstance(ctx.module.parents.get(node), ast.Import):
        return Place(fact.key, "")
    module, _, name = fact.key.rpartition(".")
    if fact.use is SymbolUse.TEXT and api.is_module(fact.key) and (_is_imported(node, ctx) or not api.stays(module, name)):
        return Place(fact.key, "")
    return Place(module, name) if module else Place(fact.key, "")


def _is_imported(node: ast.AST | None, ctx: Context) -> bool:
    """Whether a text is handed to what imports a module by its name."""
    above = ctx.module.parents.get(node) if node is not None else None
    if not isinstance(above, ast.Call) or not above.args or above.args[0] is not node:
        return False
    called = above.func.attr if isinstance(above.func, ast.Attribute) else getattr(above.func, "id", "")
    return called in ("import_module", "__import__", "importorskip", "find_spec")


def _successor(here: Place, api: Api, entry: Entry) -> Place | None:
    """Where a name is to be taken from; the same place where nothing changes, None where release 4 has nothing of the kind."""
    moved = moves.moved_module(here.module, entry)
    if not here.name:
        if here.module in api.new["modules"] or "." not in here.module:
            return here
        return Place(moved, "") if moved in api.new["modules"] else None
    earlier = dict(moves.pairs(entry, "earlier"))
    if here.dotted in earlier and not api.stays(here.module, here.name):
        module, _, name = earlier[here.dotted].rpartition(".")
        return Place(module, name) if name else None
    if api.stays(here.module, here.name):
        return here
    if not api.was(here.module, here.name):
        # It never was there; of a module that has gone, nothing can be said but that.
        return None if here.module in api.old["modules"] and here.module not in api.new["modules"] else here
    canonical = api.exported(here.module, here.name) or here.dotted
    for old, new in moves.pairs(entry, "names"):
        if old in (canonical, here.dotted):
            module, _, name = new.rpartition(".")
            return Place(module, name)
    inner = moves.moved_module(here.dotted, entry)
    if here.dotted in api.old["modules"] and inner in api.new["modules"]:
        module, _, name = inner.rpartition(".")
        return Place(module, name)
    if api.stays(moved, here.name):
        return Place(moved, here.name)
    home, _, last = canonical.rpartition(".")
    return Place(home, last) if api.exported_new(home, last) == canonical and "._" not in home else None
