"""What rules about sessions have in common: code behind the boundary of an HTTP host, and what each era makes of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ..facts.code import last
from ..facts.gates import HOSTS, WRAPS
from ..facts.mask import parse
from ..facts.model import Fact, FileFacts
from ..facts.sessions import is_around
from ..facts.syntax import descend
from ..rule import Applicability, Context, Era, Finding, Import, Need
from ..source import Span

if TYPE_CHECKING:
    from ..facts.functions import Function, Module
    from ..facts.sessionless import Sessionless, Spared
    from ..project import Project
    from ..rewrite.edits import Edit
    from ..rewrite.sessions import Revision
    from ..rewrite.tree import Tree

# Many facts of a file ask the same.
_MODELS: WeakKeyDictionary[Project, dict[tuple[str, bool], Sessionless | None]] = WeakKeyDictionary()
_MENTIONS = tuple(f".{name}".encode() for name in (HOSTS - {"boundary"}) | WRAPS)


def check(fact: Fact, ctx: Context, *, follows: bool = False) -> Iterator[Finding]:
    """A finding at what only clients with a session use; without such clients, `fix` deletes it where a boundary answers in its place.

    With `follows`, it stays as long as something hangs on it that is for a human to decide.
    """
    if not ctx.settled(fact):
        removable = is_removable(fact, ctx) and not (follows and is_stuck(ctx))
        yield ctx.finding(
            fact, Applicability.SAFE if removable else Applicability.MANUAL, hint=ctx.entry.hints["removed"] if removable else ""
        )


def is_removable(fact: Fact, ctx: Context) -> bool:
    """Whether nobody with a session is served here any more."""
    return ctx.era is Era.MODERN and ctx.wired(fact) and is_hosted(ctx) and ctx.project.refuses_legacy(ctx.file)


def is_hosted(ctx: Context) -> bool:
    """Whether HTTP requests meet a boundary before they reach this file."""
    return any(True for _ in _hosts(ctx))


def is_apart(fact: Fact, ctx: Context, *, going: bool = False) -> bool:
    """Whether code answers GET or DELETE only; with `going`, whether it goes."""
    return any(span.contains(fact.span) for span in apart(ctx, going=going))


def apart(ctx: Context, *, going: bool = False) -> list[Span]:
    """The functions of this file that answer GET or DELETE only; with `going`, those of them that go."""
    from ..rewrite import servers, sessions

    found = servers.unit(ctx.project, ctx.file.source.path)
    if found is None:
        return []
    endpoints = (sessions.removed if going else sessions.apart)(*found, wraps(ctx))
    functions = [(e.place.unit.module, e.place.function) for e in endpoints if "POST" not in e.verbs]
    return [module.span(function.node) for module, function in functions if function is not None]


def handle(ctx: Context) -> str:
    """The name of the boundary object in this file; "" where it has none."""
    made = min(ctx.file.makes, default="")
    if made:
        return made
    for name, target in ctx.file.imports.items():
        module, _, rest = target.rpartition(".")
        home = ctx.project.module(module, ctx.file.source.path) if module else None
        if home is not None and rest in home.makes:
            return name
    return ""


def question(function: Function, module: Module, ctx: Context) -> tuple[Revision, tuple[Need, ...]] | None:
    """How code of a function in this file asks for the revision of a request, and what it needs for that; None where nothing is sure."""
    from ..rewrite import sessions

    if not is_around(function, module):
        return _answered(ctx)
    asked = sessions.by_header(function, module)
    if asked is None or _misses(function, ctx):
        return None
    match _meets_first(function, module, ctx):
        case True:
            return asked, ()
        case False:
            return _answered(ctx)
    # Behind the boundary the header is hidden, before it nothing else tells.
    known = _answered(ctx)
    return (sessions.either(known[0], asked), known[1]) if known is not None else None


def _answered(ctx: Context) -> tuple[Revision, tuple[Need, ...]] | None:
    """The question to the boundary: to its object, or to its module where the object's module imports this one."""
    from ..rewrite import servers, sessions
    from ..rewrite.module import Part

    if name := handle(ctx):
        return sessions.Revision.of(name), ()
    homes = _homes(ctx)
    taken = servers.taken_from(ctx.project, homes[0].source.path, ctx.file.source.path) if len(homes) == 1 else None
    if taken is None:
        return None
    new = servers.boundary_module(ctx.project, homes[0].source.path, ctx.era, also=frozenset({Part.APART}))
    return sessions.ELSEWHERE, (Import(taken, "is_modern"), *([new] if new is not None else []))


def _homes(ctx: Context) -> list[FileFacts]:
    return [file for file in _hosts(ctx) if file.makes]


def _meets_first(function: Function, module: Module, ctx: Context) -> bool | None:
    """Whether middleware meets requests before the boundary does; None where that is not clear."""
    homes = _homes(ctx)
    if len(homes) != 1:
        return None
    if not any(word in homes[0].source.utf8 for word in (b".asgi", b".wsgi")):
        return True  # what is put before a handler comes last
    owner = module.parents.get(function.node)
    name = owner.name if isinstance(owner, ast.ClassDef) else function.short
    calls = [node for node in descend(parse(homes[0].source)[0]) if isinstance(node, ast.Call)]
    wraps_at = [call.lineno for call in calls if last(call.func) == "add_middleware" and any(last(one) == "asgi" for one in call.args)]
    for call in calls:
        if len(wraps_at) == 1 and any(last(one) == name for one in call.args):
            match last(call.func):
                case "Middleware":
                    return False  # made with the application, which the boundary goes around
                case "add_middleware":
                    return call.lineno > wraps_at[0]  # the last one that is added is the first
    if homes[0].source.path == ctx.file.source.path and len(wraps_at) == 1:
        for decorator in function.node.decorator_list:
            if last(decorator.func if isinstance(decorator, ast.Call) else decorator) == "middleware":
                return decorator.lineno > wraps_at[0]
    return None


def _misses(function: Function, ctx: Context) -> bool:
    """Whether what stands around endpoints uses a session for more than a refusal."""
    from ..facts.sessionless import Sessionless
    from ..rewrite import servers

    found = servers.unit(ctx.project, ctx.file.source.path)
    place = next((one for one in found[1].places if one.function and one.function.name == function.name), None) if found else None
    if found is None or place is None:
        return True
    return any(True for _ in Sessionless(found[0], found[0].reachable(place), frozenset(), (place,)).uses())


def spared(ctx: Context) -> list[Spared]:
    """What only keeps book of sessions in this file, and still runs for requests that have none; nothing where a session is needed."""
    from ..facts.sessionless import Needed, Spared

    model = sessionless(ctx)
    uses = list(model.uses()) if model is not None else []
    if any(isinstance(use, Needed) for use in uses):
        return []
    return [use for use in uses if isinstance(use, Spared) and use.place.unit.module.source.path == ctx.file.source.path]


def wraps(ctx: Context) -> list[str]:
    """The paths of the boundaries that stand around applications above this file."""
    return [path for file in _hosts(ctx) for path in _paths(file)]


def is_stuck(ctx: Context) -> bool:
    """Whether something uses a session in earnest, so that what leads to it cannot go."""
    model = sessionless(ctx)
    if model is None:
        return True
    from ..rewrite import absent

    return any(True for _ in absent.needed(model))


def unfollowed(tree: Tree, ctx: Context) -> Iterator[Edit]:
    """Deletes what a request without a session never does in this file."""
    from ..rewrite import absent, servers, sessions

    found = servers.unit(ctx.project, ctx.file.source.path)
    if found is None:
        return
    routes = [edit for one in sessions.removed(*found, wraps(ctx)) for edit in sessions.unrouted(one, found[1].module, tree)]
    if routes:
        yield from routes
    elif (model := sessionless(ctx)) is not None:
        yield from absent.edits(model, found[1], tree)


def sessionless(ctx: Context, *, lasting: bool = False) -> Sessionless | None:
    """The way of a request without a session through the code behind the boundaries above this file.

    With `lasting`, a session that is made for one request is none.
    """
    known = _MODELS.setdefault(ctx.project.code, {})
    asked = ctx.file.source.path, lasting
    if asked not in known:
        known[asked] = _sessionless(ctx, lasting=lasting)
    return known[asked]


def _sessionless(ctx: Context, *, lasting: bool) -> Sessionless | None:
    from ..rewrite import absent, servers, sessions

    files = {file.source.path: file for file in (*_hosts(ctx), ctx.file)}
    units = [found for path in files if (found := servers.unit(ctx.project, path)) is not None]
    return (
        absent.follow(units[0][0], [one.place for code, unit in units for one in sessions.hosted(code, unit, wraps(ctx))], lasting=lasting)
        if units
        else None
    )


def _hosts(ctx: Context) -> Iterator[FileFacts]:
    """The files that put the boundary of an HTTP host before code that this file holds."""
    for path in _leading(ctx):
        file = ctx.project.files[path]
        if (file.boundary or file.borrows) and ctx.project.once(path, _mentions):
            yield file


def _mentions(file: FileFacts) -> bool:
    return any(word in file.source.utf8 for word in _MENTIONS)


def _leading(ctx: Context) -> list[str]:
    """The file, and those whose imports lead to it, in the order of the project's files."""
    seen, pending = {ctx.file.source.path}, [ctx.file.source.path]
    for one in pending:
        new = [other for other in ctx.project.importers(one) if other not in seen]
        seen.update(new)
        pending += new
    return sorted(seen, key=ctx.project.place)


def _paths(file: FileFacts) -> Iterator[str]:
    for node in descend(parse(file.source)[0]):
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=[given] | [_, given]) if name in WRAPS:
                yield from _texts(given)
            case ast.Call(args=[ast.Attribute(attr=name)], keywords=keywords) if name in WRAPS:
                yield from (text for keyword in keywords if keyword.arg == "path" for text in _texts(keyword.value))


def _texts(node: ast.expr) -> Iterator[str]:
    for part in descend(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
