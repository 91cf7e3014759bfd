"""A name of the SDK that version 2 has elsewhere, or under another name, or not at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import compat, moves
from ...rewrite.edits import Edit
from ...rewrite.lines import next_line
from ...rewrite.moves import Place
from ...rule import Applicability, Context, Either, Entry, Finding, Import, NewFile
from ...sdk import stars
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree
    from ...sdk.api import Api

_SPELLED = (SymbolUse.IMPORT, SymbolUse.NAME, SymbolUse.TEXT)
# What version 1 let slip out of its modules; these packages show their names at the top.
_PACKAGES = frozenset({"pydantic", "typing", "collections.abc", "datetime", "anyio", "httpx", "starlette"})


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use not in _SPELLED or not isinstance(fact.key, str):
        return
    if fact.key.endswith(".*"):
        yield from _star(fact, fact.key.removesuffix(".*"), ctx)
        return
    here = _place(fact.key, ctx.sdk.api)
    new = _successor(here, ctx.sdk.api, ctx.entry)
    if new == here or here.dotted in ctx.entry.data["elsewhere"] or _canonical(here, ctx.sdk.api) in ctx.entry.data["elsewhere"]:
        return
    if new is None and fact.use is SymbolUse.IMPORT and moves.idle(fact, ctx) is not None:
        yield ctx.finding(fact, Applicability.SAFE, hint=ctx.entry.hints["idle"])
    elif new is None:
        yield ctx.finding(fact, Applicability.MANUAL, hint=ctx.entry.hints.get(_reason(here), ""))
    else:
        message = f"{ctx.entry.message}; it is `{new.dotted}` now"
        yield ctx.finding(fact, Applicability.SAFE, message=message)
        if fact.use is SymbolUse.IMPORT and new.name != here.name:
            for node in _built_on(fact, ctx):
                yield ctx.finding(fact, Applicability.SAFE, message=message, span=ctx.module.span(node))


def _built_on(fact: Symbol, ctx: Context) -> Iterator[ast.Name]:
    """Classes that derive from the class, and clauses that catch it: what else it has changed matters there."""
    alias = ctx.module.at(fact.span)
    if not isinstance(alias, ast.alias):
        return
    for node in ctx.sdk.inference.uses(alias, ctx.module):
        above = ctx.module.parents.get(node)
        above = ctx.module.parents.get(above) if isinstance(above, ast.Tuple) else above
        if isinstance(above, ast.ExceptHandler) or (isinstance(above, ast.ClassDef) and node in above.bases):
            yield node


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    assert isinstance(fact.key, str)
    api = ctx.sdk.api
    if fact.key.endswith(".*"):
        star = fact.key.removesuffix(".*")
        names = _unstarred(star, ctx)
        if star not in api.new["modules"]:
            yield Edit(fact.span, ", ".join(names))
        else:
            yield _beside(fact, [_outside(Place(star, name), api) or Place(star, name) for name in names], ctx)
        return
    new = _successor(_place(fact.key, api), api, ctx.entry)
    if new is None:
        yield from moves.gone(fact, tree, ctx)
        return
    yield from moves.moved(fact, _place(fact.key, api), new, tree, ctx, lambda place: _successor(place, api, ctx.entry))


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | Either | NewFile]:
    """A name that both releases have, or one guard that takes it from either; the file goes on to use its own name for it."""
    from ...rewrite import renames

    assert isinstance(fact.key, str)
    api, module = ctx.sdk.api, ctx.module
    node = module.at(fact.span)
    if fact.use is SymbolUse.NAME and isinstance(node, ast.Attribute):
        here = _place(fact.key, api)
        new = _successor(here, api, ctx.entry)
        if new is None or not new.name:
            return
        if _canonical(here, api) == compat.SERVER and compat.has_server(ctx.project) and not compat.obstacle(ctx):
            yield from compat.called(ctx, fact.span, "FastMCP")
            return
        if _is_old(new, api):
            yield from moves.named(fact, here, new, ctx)
            return
        newer = ctx.sdk.newer_in(module)
        taken = [one for one in module.bound.get(here.name, ()) if one.node not in newer]
        if all(_canonical(_place(one.target, api), api) == _canonical(here, api) for one in taken):
            yield Edit(fact.span, here.name)
            if not taken:
                yield Either(Import(*new), Import(*here), here.name)
        return
    statement = module.parents.get(node) if node is not None else None
    if fact.use is SymbolUse.IMPORT and _successor(_place(fact.key, api), api, ctx.entry) is None:
        yield from moves.gone(fact, tree, ctx)
        return
    if not isinstance(node, ast.alias) or not isinstance(statement, ast.ImportFrom) or statement.module is None or statement.level:
        return
    plain, guarded = [], []
    for one in statement.names:
        here = Place(statement.module, one.name)
        there = _successor(here, api, ctx.entry)
        if there is None or there == here or {here.dotted, _canonical(here, api)} & {*ctx.entry.data["elsewhere"]}:
            continue
        if _canonical(here, api) == compat.SERVER and compat.has_server(ctx.project):
            if not compat.obstacle(ctx):
                if place := compat.place(ctx):
                    plain.append(renames.Move(one, place, "FastMCP"))
                    yield from compat.files(ctx, "server")
                elif len(statement.names) == 1:
                    yield from compat.given(statement, one, "FastMCP", tree, ctx)
        elif _is_old(there, api):
            plain.append(renames.Move(one, there.module, there.name))
        else:
            guarded.append((one, Either(Import(*there), Import(*here), one.asname or one.name, exported=moves.is_exported(one, ctx))))
    yield from moves.kept(statement, plain, guarded, tree, ctx)


def _is_old(new: Place, api: Api) -> bool:
    """Whether the older release has the newer name as well."""
    return new.module.partition(".")[0] != "mcp" or (api.was(new.module, new.name) if new.name else new.module in api.old["modules"])


def _star(fact: Symbol, star: str, ctx: Context) -> Iterator[Finding]:
    """A star import of a module that is gone, or of one that gives other names now: those that matter can be named."""
    if star not in ctx.sdk.api.old["modules"]:
        return
    gone, names = star not in ctx.sdk.api.new["modules"], _unstarred(star, ctx)
    if not gone and not names:
        return
    alias = ctx.module.at(fact.span)
    plain = alias is not None and ctx.module.parents.get(ctx.module.parents.get(alias, alias)) is ctx.module.tree
    if names and plain and stars.is_clear(ctx.module, ctx.sdk.inference):
        listed = ", ".join(f"`{name}`" for name in names)
        yield ctx.finding(
            fact, Applicability.SAFE, message=f"`{star}` gives other names in version 2 of the SDK; this takes {listed} of it"
        )
    else:
        yield ctx.finding(fact, Applicability.MANUAL, hint=ctx.entry.hints["star"])


def _unstarred(star: str, ctx: Context) -> list[str]:
    """The names that a star import gives here and that have to be named: all of a module that is gone, else those that rules look at."""
    api = ctx.sdk.api
    taken = stars.taken(star, ctx.module, ctx.sdk.inference, ctx.project.texts)
    return taken if star not in api.new["modules"] else [name for name in taken if _is_other(Place(star, name), api, ctx.entry)]


def _beside(fact: Symbol, places: list[Place], ctx: Context) -> Edit:
    """Lines below a star import that name what it does not give any more, or gives with another meaning."""
    source = ctx.module.source
    lines: dict[str, list[str]] = {}
    for place in places:
        lines.setdefault(place.module, []).append(place.name)
    end = next_line(source, fact.span.end)
    gap = "" if source.utf8[:end].endswith((b"\n", b"\r")) else source.newline
    return Edit(Span(end, end), gap + "".join(f"from {home} import {', '.join(names)}{source.newline}" for home, names in lines.items()))


def _is_other(here: Place, api: Api, entry: Entry) -> bool:
    """Whether a name is not there as it was: elsewhere, or not handed on, or with another meaning."""
    known = {here.dotted, _canonical(here, api)} & {*entry.data["elsewhere"], *entry.data["named"]}
    return bool(known) or _successor(here, api, entry) != here or _outside(here, api) is not None


def _outside(here: Place, api: Api) -> Place | None:
    """Where a name is from that the SDK itself had only imported."""
    canonical = _canonical(here, api)
    home = next((package for package in _PACKAGES if canonical.startswith(f"{package}.")), "")
    return Place(home, here.name) if home and canonical.rpartition(".")[2] == here.name else None


def _place(dotted: str, api: Api) -> Place:
    module, _, name = dotted.rpartition(".")
    return Place(dotted, "") if api.is_module(dotted) or not module else Place(module, name)


def _successor(here: Place, api: Api, entry: Entry) -> Place | None:
    """Where a name is to be taken from; the same place where nothing changes, None where version 2 has nothing of the kind."""
    if not here.name:
        moved = moves.moved_module(here.module, entry)
        return here if here.module in api.new["modules"] else Place(moved, "") if moved in api.new["modules"] else None
    if not api.was(here.module, here.name):
        return here  # it never was there, or is there in version 2 only
    canonical = _canonical(here, api)
    for old, new in moves.pairs(entry, "names"):
        if old in (canonical, here.dotted):
            module, _, name = new.rpartition(".")
            nearer = moves.moved_module(here.module, entry)
            return (
                Place(nearer, name)
                if api.stays(nearer, name) and api.exported_new(nearer, name) == api.exported_new(module, name)
                else Place(module, name)
            )
    if api.stays(here.module, here.name):
        return here
    module = moves.moved_module(here.module, entry)
    if api.stays(module, here.name):
        home, _, last = canonical.rpartition(".")
        # A module that only uses a name itself does not offer it; a package does.
        package = any(name.startswith(f"{module}.") for name in api.new["modules"])
        offered = package or canonical.startswith(("mcp.types.", f"{here.module}."))
        return Place(module, here.name) if offered or last != here.name or not api.stays(home, last) else Place(home, last)
    root = canonical.partition(".")[0]
    if root != "mcp":
        home = next((package for package in _PACKAGES if canonical.startswith(f"{package}.")), "")
        return Place(home or canonical.rpartition(".")[0], here.name) if home else None
    if api.was("mcp.types", here.name) and api.stays("mcp.types", here.name):
        return Place("mcp.types", here.name)  # an alias, which has no home of its own
    home, _, last = canonical.rpartition(".")
    if last == here.name and api.stays(home, last):
        return Place(home, last)  # version 1 let it slip out of a module that is gone
    # The same thing under another roof.
    for name, exports in api.new["modules"].items():
        if exports.get(here.name) == canonical and "._" not in name:
            return Place(name, here.name)
    return None


def _canonical(here: Place, api: Api) -> str:
    return api.exported(here.module, here.name) or here.dotted


def _reason(here: Place) -> str:
    """The word under which the catalog says why there is nothing."""
    for word in ("websocket", "experimental", "session", "progress"):
        if word in here.dotted:
            return word
    return "manual"
