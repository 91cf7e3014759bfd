"""Code imports a package that only mcp 1, or fastmcp with it, brought along."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...facts.borrowed import needed
from ...facts.model import Borrowed, Fact, FileFacts, Place, Requirement
from ...rewrite import requirements
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Severity
from ...source import Span
from ..releases import SDK, STANDALONE, blocked, has_block, has_code, is_about, is_moving, near, needs_standalone, scope

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

# What brought the packages along: the SDK, or what needs it.
_BRINGING = (SDK, *STANDALONE)
# The lists that a package can be put into, the best first: for the program itself, and for its tests.
_ORDER: dict[tuple[str, ...], tuple[Place, ...]] = {
    _BRINGING: (Place.DEPENDENCY, Place.EXTRA),
    ("pytest", "pytest-asyncio", "pytest-django"): (Place.GROUP, Place.EXTRA, Place.DEPENDENCY),
}


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if not _asks(ctx):
        # Where nothing says what is installed, nobody can tell what is missing.
        if isinstance(fact, Borrowed) and not ctx.project.requirements:
            yield from _unsaid(fact, ctx)
        return
    if not is_moving(ctx):
        return
    if isinstance(fact, Borrowed):
        yield from _imported(fact, ctx)
    # A file that is compiled gets it when it is compiled again.
    elif isinstance(fact, Requirement) and not fact.fixed and (lost := _lost(fact, ctx.file, ctx)):
        names = _listed([f"`{name}`" for name in lost])
        paths = _listed(sorted({path for users in lost.values() for path in users})[:3])
        message = ctx.entry.messages["standalone" if fact.key in STANDALONE else "Requirement"]
        message = message.replace("{names}", names).replace("{them}", "it" if len(lost) == 1 else "them")
        applicability = Applicability.SAFE if fact.entry and not blocked(ctx) else Applicability.MANUAL
        yield ctx.finding(fact, applicability, message=message, hint=ctx.entry.hints["here"].format(paths=paths))


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
    if isinstance(fact, Requirement) and fact.entry and (lost := _lost(fact, ctx.file, ctx)):
        yield from requirements.also(fact, [*lost])


def _imported(fact: Borrowed, ctx: Context) -> Iterator[Finding]:
    """At the import itself."""
    name, path = str(fact.key), ctx.file.source.path
    if not _is_lost(fact, path, ctx):
        return
    taken = any(
        asked.entry
        and not asked.fixed
        and file.source.path not in ctx.project.outside
        and name in _lost(asked, file, ctx)
        and _serves(file, path, ctx)
        for keys in _ORDER
        for kind in keys
        for file, asked in ctx.project.requirements.get(kind, ())
    )
    applicability = Applicability.SAFE if taken and not blocked(ctx) else Applicability.MANUAL
    package = SDK if any(asked.key == SDK for _, asked in near(ctx, _asks(ctx), path)) else STANDALONE[0]
    hint = ctx.entry.hints["beside"].replace("{package}", package) if applicability is Applicability.SAFE else ""
    if not taken and ctx.project.is_test(path):
        hint = ctx.entry.hints["tests"]
    yield ctx.finding(fact, applicability, hint=hint, message=ctx.entry.messages["imported"].format(fact=fact, package=package))


def _unsaid(fact: Borrowed, ctx: Context) -> Iterator[Finding]:
    """At the import, in a file that uses the SDK as well."""
    beside = any(name.partition(".")[0] in (SDK, "fastmcp") for name in ctx.file.imports.values())
    if beside and is_moving(ctx) and _is_lost(fact, ctx.file.source.path, ctx):
        message = ctx.entry.messages["Borrowed"].replace("{name}", str(fact.key))
        yield ctx.finding(fact, Applicability.MANUAL, message=message, hint=ctx.entry.hints["unsaid"], severity=Severity.NOTE)


def _lost(asked: Requirement, file: FileFacts, ctx: Context) -> dict[str, list[str]]:
    """The packages that belong beside this requirement, with the files that import them."""
    # Each import asks for all of them.
    return ctx.project.conclude(("lost", file.source.path, asked.span), lambda: _found_lost(asked, file, ctx))


def _found_lost(asked: Requirement, file: FileFacts, ctx: Context) -> dict[str, list[str]]:
    if not _leads(asked, file):
        return {}
    found: dict[str, list[str]] = {}
    tested: dict[str, list[str]] = {}
    for path, borrowed in ctx.project.remember("borrowed", partial(_all_borrowed, ctx)).items():
        if _serves(file, path, ctx):
            for fact in borrowed:
                if _is_lost(fact, path, ctx):
                    (tested if ctx.project.is_test(path) else found).setdefault(str(fact.key), []).append(path)
    if asked.key not in _BRINGING:  # what the program needs as well, they get with it
        found = {name: paths for name, paths in tested.items() if name not in found}
    return dict(sorted(found.items()))


def _all_borrowed(ctx: Context) -> dict[str, tuple[Borrowed, ...]]:
    return {path: borrowed for path in ctx.project.files if (borrowed := ctx.project.of(path, Borrowed))}


def _is_lost(fact: Borrowed, path: str, ctx: Context) -> bool:
    name = str(fact.key)
    return name in _gone(path, ctx) and not _is_asked_for(name, path, ctx) and fact.span in ctx.project.once(path, _needed)


def _leads(asked: Requirement, file: FileFacts) -> bool:
    """Whether this is the requirement of a file beside which others belong: the first in the best list that has it."""
    keys = next((keys for keys in _ORDER if asked.key in keys), ())
    order = _ORDER.get(keys, ())
    held = [fact for fact in file.facts if isinstance(fact, Requirement) and fact.key in keys and fact.place in order]
    return bool(held) and min(held, key=lambda fact: (order.index(fact.place), keys.index(str(fact.key)), fact.span)) == asked


def _serves(file: FileFacts, path: str, ctx: Context) -> bool:
    """Whether a file is about the code at a path: it lies in a folder above it, or has no code below itself."""
    manifest = file.source.path
    if is_about(ctx, manifest, path):
        return True
    return not has_block(ctx, path) and not has_code(ctx.project, scope(manifest))


def _is_asked_for(name: str, path: str, ctx: Context) -> bool:
    """Whether a file that is about this code asks for a package, or for mcp with the extra that brings it."""
    extra = _gone(path, ctx)[name]
    by_sdk = [(file, asked) for file, asked in ctx.project.requirements.get(SDK, ()) if extra and extra in asked.extras]
    above = any(is_about(ctx, file.source.path, path) for file, _ in _asks(ctx))
    # What only developers get is there for tests.
    elsewhere = (Place.COMMAND,) if ctx.project.is_test(path) else (Place.COMMAND, Place.GROUP)
    return any(
        asked.place not in elsewhere and not asked.fixed and (not above or is_about(ctx, file.source.path, path))
        for file, asked in (*ctx.project.requirements.get(name, ()), *by_sdk)
    )


def _asks(ctx: Context) -> list[tuple[FileFacts, Requirement]]:
    """What asks for the SDK, or for what brings it."""
    return [one for name in _BRINGING for one in ctx.project.requirements.get(name, ())]


def _gone(path: str, ctx: Context) -> dict[str, str]:
    """The packages that mcp 2 does not bring to the code at a path, with the extra that does."""
    asking = near(ctx, _asks(ctx), path)
    # Most files of a run are about the same requirements.
    return ctx.project.conclude(("gone", *((file.source.path, one.span) for file, one in asking)), partial(_found_gone, asking, ctx))


def _found_gone(asking: Sequence[tuple[FileFacts, Requirement]], ctx: Context) -> dict[str, str]:
    gone = {name: extra.rstrip("]") for name, _, extra in (line.partition("[") for line in ctx.entry.data["gone"])}
    asked = {extra for _, one in asking if one.key == SDK for extra in one.extras}
    lost = dict(line.split() for line in ctx.entry.data["gone_with_extras"])
    brought = ctx.entry.data["brought_by_fastmcp"] if any(needs_standalone(file, always=True) for file, _ in asking) else ()
    gone |= {name: "" for extra, name in lost.items() if extra in asked}
    return {name: extra for name, extra in gone.items() if name not in brought}


def _needed(file: FileFacts) -> frozenset[Span]:
    return needed(file.source)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]
