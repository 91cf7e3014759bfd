"""One class describes the context of a request, on both sides."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Either, Finding, Import
from ...sdk.modules import Def
from ...sdk.types import ClassOf, Instance, Known, members
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_PLACES = {
    "client": ("mcp.client.context", "ClientRequestContext"),
    "server": ("mcp.server.context", "ServerRequestContext"),
}
_SESSIONS = {"ClientSession": "client", "ServerSession": "server"}
_ASKED = {
    "ElicitRequestParams": "ElicitResult",
    "ElicitRequestFormParams": "ElicitResult",
    "ElicitRequestURLParams": "ElicitResult",
    "CreateMessageRequestParams": "CreateMessageResult",
}
_CALLBACKS = frozenset({"sampling_callback", "elicitation_callback", "list_roots_callback"})
_CLASS = "mcp.shared.context.RequestContext"


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is SymbolUse.IMPORT:
        side = _side(fact, ctx)
        if side and not _can_be_made(fact, side, ctx):
            yield ctx.finding(fact, Applicability.MANUAL, hint=ctx.entry.hints["made"])
            return
        side = side or ("both" if _sides(fact, ctx) else "")
        hint = ctx.entry.hints[side or "manual"]
        yield ctx.finding(fact, Applicability.SAFE if side else Applicability.MANUAL, hint=hint)
    elif fact.use in (SymbolUse.NAME, SymbolUse.TEXT):
        yield ctx.finding(fact, Applicability.MANUAL)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    from ...rewrite import renames

    alias = ctx.module.at(fact.span)
    statement = ctx.module.parents.get(alias) if alias is not None else None
    side = _side(fact, ctx)
    if not isinstance(alias, ast.alias) or not isinstance(statement, ast.ImportFrom):
        return
    if not side:
        if sides := _sides(fact, ctx):
            yield from _parted(statement, alias, sides, tree, ctx)
        return
    if not _can_be_made(fact, side, ctx):
        return
    move = renames.Move(alias, *_PLACES[side])
    yield from renames.moved(statement, [move], tree, ctx.module, ctx.sdk.inference, ctx.project.texts)
    for node in _uses(alias, ctx):
        above = ctx.module.parents.get(node)
        if isinstance(above, ast.Subscript) and above.value is node:
            yield _parameters(above, ctx.module.span, side=side)
    for call in _calls(alias, ctx):
        yield from _made(call, side, tree, ctx)
    for quoted in renames.uses(alias.asname or alias.name, [alias], ctx.module, ctx.sdk.inference):
        yield from _quoted(quoted, ctx, partial(_parameters, side=side))


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | Either]:
    """The class of one side from a guard, without its parameters: each release counts them otherwise, for type checkers alone."""
    from ...rewrite import renames

    module, inference = ctx.module, ctx.sdk.inference
    alias = module.at(fact.span)
    statement = module.parents.get(alias) if alias is not None else None
    side = _side(fact, ctx)
    if not isinstance(alias, ast.alias) or not isinstance(statement, ast.ImportFrom) or statement.module is None or statement.level:
        return
    if not side or module.parents.get(statement) is not module.tree or any(_calls(alias, ctx)):
        return
    local = alias.asname or alias.name
    shared = renames.is_shared(local, [alias], module, inference, ctx.project.texts)
    yield from renames.moved(statement, [], tree, module, inference, ctx.project.texts, also=[alias], anew=True)
    yield Either(Import(*_PLACES[side]), Import(statement.module, alias.name), local, exported=shared)
    for node in _uses(alias, ctx):
        above = module.parents.get(node)
        if isinstance(above, ast.Subscript) and above.value is node:
            yield _bare(above, module.span)
    for quoted in renames.uses(local, [alias], module, inference):
        yield from _quoted(quoted, ctx, _bare)


def _parted(statement: ast.ImportFrom, alias: ast.alias, sides: Mapping[ast.AST, str], tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    """Each use gets the class of its side."""
    from ...rewrite import renames

    def spell(use: ast.AST) -> tuple[str, list[Import]]:
        place = _PLACES[sides[use]]
        return place[1], [Import(*place)]

    yield from renames.replaced(statement, alias, spell, tree, ctx.module, ctx.sdk.inference)
    for node, side in sides.items():
        above = ctx.module.parents.get(node)
        if isinstance(above, ast.Subscript) and above.value is node:
            yield _parameters(above, ctx.module.span, side=side)


def _calls(alias: ast.alias, ctx: Context) -> Iterator[ast.Call]:
    """Where a context is made by hand, as tests do."""
    for node in _uses(alias, ctx):
        made: ast.expr = node
        above = ctx.module.parents.get(node)
        if isinstance(above, ast.Subscript) and above.value is node:
            made, above = above, ctx.module.parents.get(above)
        if isinstance(above, ast.Call) and above.func is made:
            yield above


def _can_be_made(fact: Symbol, side: str, ctx: Context) -> bool:
    """Whether all calls of the class have arguments that the new one takes, under names that are known."""
    alias = ctx.module.at(fact.span)
    return not isinstance(alias, ast.alias) or all(_given(call, side, ctx) is not None for call in _calls(alias, ctx))


def _given(call: ast.Call, side: str, ctx: Context) -> dict[str, ast.expr] | None:
    """The arguments by name; None where one of them means something else now, or is not known."""
    names = ctx.entry.data["parameters"]
    if len(call.args) > len(names) or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    given = dict(zip(names, call.args, strict=False))
    for word in call.keywords:
        if word.arg not in names or word.arg in given:
            return None
        given[word.arg] = word.value
    takes = {*ctx.entry.data[f"{side}_takes"]}
    # What is dropped has to be nothing, and metadata is a dict now.
    other = [value for name, value in given.items() if name not in takes or name == "meta"]
    if "session" not in given or (side == "server" and "lifespan_context" not in given):
        return None
    return given if all(isinstance(value, ast.Constant) and value.value is None for value in other) else None


def _made(call: ast.Call, side: str, tree: Tree, ctx: Context) -> Iterator[Edit]:
    from ...rewrite import calls

    found = calls.at(tree, ctx.module.span(call))
    given = _given(call, side, ctx)
    if found is None or given is None:
        return
    takes = {*ctx.entry.data[f"{side}_takes"]}
    places = calls.positional(found)
    words = dict(zip(ctx.entry.data["parameters"], places, strict=False))
    words |= {one.keyword.value: one for one in found.args if one.keyword is not None}
    gone = [argument for name, argument in words.items() if name not in takes]
    for name, argument in words.items():
        if name in takes and argument in places:
            yield calls.named(tree, argument, name)
    if gone:
        yield from calls.drop(tree, found, gone)
    yield from calls.add(tree, found, ctx.entry.data["server_wants"] if side == "server" else ())


def _bare(node: ast.Subscript, span: Callable[[ast.AST], Span]) -> Edit:
    return Edit(Span(span(node.value).end, span(node).end))


def _parameters(node: ast.Subscript, span: Callable[[ast.AST], Span], *, side: str) -> Edit:
    """The type of the session goes; of a client's context all go."""
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if side == "client" or len(items) == 1:
        return _bare(node, span)
    return Edit(Span(span(items[0]).start, span(items[1]).start))


def _quoted(at: Span, ctx: Context, parameters: Callable[[ast.Subscript, Callable[[ast.AST], Span]], Edit]) -> Iterator[Edit]:
    """The same inside of an annotation in quotes, at a use of the name there."""
    text = ctx.module.source.utf8
    if ctx.module.at(at) is not None or text[at.end : at.end + 1] != b"[":
        return
    end = next((end for end in range(at.end, len(text)) if text[end : end + 1] == b"]" and _is_whole(text[at.start : end + 1])), None)
    if end is not None:
        node = ast.parse(text[at.start : end + 1].decode(), mode="eval").body
        if isinstance(node, ast.Subscript):
            yield parameters(node, lambda one: Span(at.start + one.col_offset, at.start + (one.end_col_offset or 0)))  # type: ignore[attr-defined]


def _is_whole(text: bytes) -> bool:
    return text.count(b"[") == text.count(b"]")


def _side(fact: Symbol, ctx: Context) -> str:
    """The side that all uses of an imported name are on; nothing where they differ, or do not say."""
    alias = ctx.module.at(fact.span)
    if not isinstance(alias, ast.alias):
        return ""
    found = {_side_of(node, ctx) for node in _uses(alias, ctx)}
    if found == {""} or not found:
        found = {_side_of_file(ctx)}
    return found.pop() if len(found - {""}) == 1 and "" not in found else ""


def _sides(fact: Symbol, ctx: Context) -> Mapping[ast.AST, str]:
    """The side of each use, where all tell one and nobody else needs the name; else nothing."""
    from ...rewrite import renames

    alias = ctx.module.at(fact.span)
    if not isinstance(alias, ast.alias):
        return {}
    name = alias.asname or alias.name
    sides: dict[ast.AST, str] = {node: _side_of(node, ctx) for node in _uses(alias, ctx)}
    quoted = any(ctx.module.at(span) not in sides for span in renames.uses(name, [alias], ctx.module, ctx.sdk.inference))
    made = any(_calls(alias, ctx))
    known = (
        all(sides.values())
        and not quoted
        and not made
        and not renames.is_shared(name, [alias], ctx.module, ctx.sdk.inference, ctx.project.texts)
    )
    return sides if known else {}


def _uses(alias: ast.alias, ctx: Context) -> Iterator[ast.Name]:
    name = alias.asname or alias.name
    for node in ctx.module.nodes:
        if isinstance(node, ast.Name) and node.id == name:
            bindings = ctx.sdk.inference.bindings(name, node, ctx.module)
            if any(binding.node is alias for binding in bindings):
                yield node


def _side_of(node: ast.Name, ctx: Context) -> str:
    """By the type of the session, else by what a function with such a parameter is handed to."""
    above = ctx.module.parents.get(node)
    if isinstance(above, ast.Subscript) and above.value is node:
        first = above.slice.elts[0] if isinstance(above.slice, ast.Tuple) and above.slice.elts else above.slice
        text = first.value if isinstance(first, ast.Constant) else ctx.module.text(first)
        return _SESSIONS.get(str(text).rpartition(".")[2], "") or _by_type(first, ctx) or _side_of_file(ctx)
    if isinstance(above, ast.Call) and above.func is node and (side := _side_of_call(above, ctx)):
        return side
    function = next((one for one in ctx.module.around(node) if isinstance(one, Def)), None)
    if function is not None and (_is_callback(function, ctx) or _has_signature(function, node, ctx)):
        return "client"
    if isinstance(above, ast.Tuple) and any(_promised(one, ctx) & {*_ASKED} for one in above.elts):
        return "client"  # what a callback was called with is kept
    return _side_of_file(ctx)


def _side_of_call(call: ast.Call, ctx: Context) -> str:
    """By the session that it is given, or by what only a server has."""
    given = dict(zip(ctx.entry.data["parameters"], call.args, strict=False)) | {str(word.arg): word.value for word in call.keywords}
    session, lifespan = given.get("session"), given.get("lifespan_context")
    if session is not None and (side := _by_type(session, ctx)):
        return side
    return "server" if lifespan is not None and not isinstance(lifespan, ast.Constant) else ""


def _by_type(node: ast.expr, ctx: Context) -> str:
    sides = {_SESSIONS.get(name, "") for name in _names(ctx.sdk.type(node, ctx.module))}
    return sides.pop() if len(sides) == 1 else ""


def _promised(annotation: ast.expr | None, ctx: Context) -> set[str]:
    return _names(ctx.sdk.inference.annotated(annotation, ctx.module))


def _names(known: Known | None) -> set[str]:
    return {one.name.rpartition(".")[2] for one in members(known) if isinstance(one, ClassOf | Instance)}


def _has_signature(function: Def, node: ast.Name, ctx: Context) -> bool:
    """Whether a function takes a context with what a server asks for, and gives the answer: the SDK's own callbacks, whoever gets them.

    A server that has such a function to ask with does so by the session of the context.
    """
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    own = next((one for one in given if one.annotation is node), None)
    if own is None or function.returns is None:
        return False
    asked = {name for one in given for name in _promised(one.annotation, ctx)} & {*_ASKED}
    if not {_ASKED[name] for name in asked} & _promised(function.returns, ctx):
        return False
    return not any(
        isinstance(one, ast.Attribute) and one.attr == "session" and isinstance(one.value, ast.Name) and one.value.id == own.arg
        for one in ast.walk(function)
    )


def _is_callback(function: Def, ctx: Context) -> bool:
    """Whether a function is handed to a client session of this file."""
    return any(
        isinstance(node, ast.keyword)
        and node.arg in _CALLBACKS
        and (node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")) == function.name
        for node in ctx.module.nodes
    )


def _side_of_file(ctx: Context) -> str:
    """The side whose modules alone a file imports."""
    keys = [str(fact.key) for fact in ctx.project.of(ctx.file.source.path, Symbol) if fact.use is SymbolUse.IMPORT]
    client = any(key.startswith("mcp.client") or key == "mcp.ClientSession" for key in keys)
    server = any(key.startswith("mcp.server") for key in keys)
    return "client" if client and not server else "server" if server and not client else ""
