"""A prompt that returns `PromptMessage(...)`, dicts or one message alone, where `fastmcp` takes lists of its own `Message` since 3."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...facts.model import Standalone, SymbolUse
from ...facts.syntax import descend
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.types import ClassOf, members
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_MESSAGE = "mcp.types.PromptMessage"
_OWN = frozenset({"fastmcp.prompts.Message", "fastmcp.prompts.prompt.Message", "fastmcp.prompts.base.Message"})
_CLASSES = frozenset({"mcp.types.PromptMessage", "mcp_types.PromptMessage", *_OWN})
_WORDS = frozenset({"role", "content"})


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    for node, what in _given(fact, ctx):
        plain = isinstance(node, ast.Call) and _is_plain(node, ctx)
        yield ctx.finding(
            fact,
            Applicability.SAFE if plain else Applicability.MANUAL,
            message=ctx.entry.message.replace("{what}", what),
            span=ctx.module.span(node),
        )
    for node in _alone(fact, ctx):
        if all(_is_own(one, ctx) for one in _made(node, ctx)):
            message, hint = ctx.entry.messages["alone"], ctx.entry.hints["alone"]
            yield ctx.finding(fact, Applicability.SAFE, message=message, hint=hint, span=ctx.module.span(node))


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    edits = [*_listed(fact, ctx)]
    yield from edits
    if any("Message" in edit.text for edit in edits):
        yield Import("fastmcp.prompts", "Message")
    yield from _unused(fact, tree, ctx)


def _listed(fact: Standalone, ctx: Context) -> Iterator[Edit]:
    """The class of messages where a prompt makes them, and in what it says that it returns; and a list around one alone."""
    span = ctx.module.span
    found = [node for node, _ in _given(fact, ctx)]
    plain = [node for node in found if isinstance(node, ast.Call) and _is_plain(node, ctx)]
    alone = [*_alone(fact, ctx)]
    for node in plain:
        yield Edit(span(node.func), "[Message" if node in alone else "Message")
    for value in alone:
        if value not in plain:
            yield Edit(Span(span(value).start, span(value).start), "[")
        yield Edit(Span(span(value).end, span(value).end), "]")
    function = _function(fact, ctx)
    if function is None or function.returns is None or len(plain) < len(found) or not (plain or alone):
        return
    promised = span(function.returns)
    whole = {promised, Span(promised.start + 1, promised.end - 1)}  # inside of quotes
    for use in _promises(function.returns, alone, ctx):
        yield Edit(use, "list[Message]" if alone and use in whole else "Message")


def _promises(returns: ast.expr, alone: Sequence[ast.expr], ctx: Context) -> Iterator[Span]:
    """Where an annotation names the class of messages."""
    from ...rewrite import renames

    promised = ctx.module.span(returns)
    for alias, _ in _imports(ctx):
        if alias.name == "PromptMessage" or alone:
            for use in renames.uses(alias.asname or alias.name, [alias], ctx.module, ctx.sdk.inference):
                if promised.start <= use.start and use.end <= promised.end:
                    yield use
    for node in ast.walk(returns):
        if isinstance(node, ast.Attribute) and _is_class(node, ctx):
            yield ctx.module.span(node)


def _unused(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit]:
    """The import of the class, once the last of its uses has gone: at the last prompt of the file."""
    from ...rewrite import renames

    keys = ctx.entry.match["Standalone"]
    prompts = [one for one in ctx.project.of(ctx.file.source.path, Standalone) if one.key in keys and _function(one, ctx) is not None]
    if not prompts or prompts[-1] != fact:
        return
    lost = {edit.span for one in prompts for edit in _listed(one, ctx)}
    others = [file for path, file in ctx.project.files.items() if path != ctx.file.source.path]
    for alias, statement in _imports(ctx):
        if alias.name != "PromptMessage":
            continue
        name = alias.asname or alias.name
        uses = {*renames.uses(name, [alias], ctx.module, ctx.sdk.inference)}
        if uses and uses <= lost and not renames.is_shared(name, [alias], ctx.module, ctx.sdk.inference, others):
            yield from renames.taken_out(statement, {alias}, tree, ctx.module)


def _imports(ctx: Context) -> Iterator[tuple[ast.alias, ast.ImportFrom]]:
    for statement in ctx.module.of(ast.ImportFrom):
        if isinstance(statement, ast.ImportFrom) and statement.level == 0:
            yield from ((alias, statement) for alias in statement.names if f"{statement.module}.{alias.name}" in _CLASSES)


def _given(fact: Standalone, ctx: Context) -> Iterator[tuple[ast.expr, str]]:
    """The messages that a decorated function returns, itself or in a list, and that are none of `fastmcp`."""
    function = _function(fact, ctx)
    if function is None:
        return
    for inner in (one for statement in function.body for one in descend(statement)):
        if isinstance(inner, ast.Return) and inner.value is not None and ctx.module.function(inner) is function:
            yield from _messages(inner.value, ctx)
        match inner:
            case ast.Call(func=ast.Attribute(attr="append"), args=[one]) if _is_message(one, ctx):
                yield one, "`PromptMessage`"


def _function(fact: Standalone, ctx: Context) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The function that a decorator makes a prompt of."""
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.READ or node is None:
        return None
    above = ctx.module.parents.get(node)
    decorator = above if isinstance(above, ast.Call) and above.func is node else node
    function = ctx.module.parents.get(decorator)
    is_one = isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and decorator in function.decorator_list
    return function if is_one and isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) else None


def _messages(value: ast.expr, ctx: Context) -> Iterator[tuple[ast.expr, str]]:
    match value:
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            for element in elements:
                yield from _messages(element, ctx)
        case ast.Call() if _is_message(value, ctx):
            yield value, "`PromptMessage`"
        case ast.Dict(keys=keys) if {key.value for key in keys if isinstance(key, ast.Constant)} == _WORDS:
            yield value, "a dict"
        case ast.ListComp(elt=element):
            yield from _messages(element, ctx)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _messages(body, ctx)
            yield from _messages(orelse, ctx)
        case ast.Name(id=name):
            for binding in ctx.sdk.inference.bindings(name, value, ctx.module):
                if binding.value is not None and not binding.path and isinstance(binding.value, ast.List | ast.Call | ast.ListComp):
                    yield from _messages(binding.value, ctx)


def _alone(fact: Standalone, ctx: Context) -> Iterator[ast.expr]:
    """What a prompt returns that is surely one message and no list, and can stand in a list as it is."""
    function = _function(fact, ctx)
    for inner in (one for statement in function.body for one in descend(statement)) if function is not None else ():
        if isinstance(inner, ast.Return) and inner.value is not None and ctx.module.function(inner) is function:
            yield from _single(inner.value, ctx)


def _single(value: ast.expr, ctx: Context) -> Iterator[ast.expr]:
    if isinstance(value, ast.IfExp):
        yield from _single(value.body, ctx)
        yield from _single(value.orelse, ctx)
        return
    made = [*_made(value, ctx)]
    if made and all(isinstance(one, ast.Call) and (_is_own(one, ctx) or (_is_message(one, ctx) and _is_plain(one, ctx))) for one in made):
        yield value


def _made(value: ast.expr, ctx: Context) -> Iterator[ast.expr | None]:
    """The value, or all that a name may stand for."""
    if isinstance(value, ast.Name):
        yield from (None if one.path else one.value for one in ctx.sdk.inference.bindings(value.id, value, ctx.module))
    else:
        yield value


def _is_own(node: ast.expr | None, ctx: Context) -> bool:
    """Whether it makes a message of `fastmcp`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and ctx.file.imports.get(node.func.id) in _OWN


def _is_message(node: ast.expr, ctx: Context) -> bool:
    return isinstance(node, ast.Call) and _is_class(node.func, ctx)


def _is_class(node: ast.expr, ctx: Context) -> bool:
    known = ctx.sdk.type(node, ctx.module)
    return any(isinstance(one, ClassOf) and one.name == _MESSAGE for one in members(known))


def _is_plain(node: ast.Call, ctx: Context) -> bool:
    """Whether it is made of a role and a content that have their names; then another class can be called in the same way."""
    named = {word.arg for word in node.keywords}
    return not node.args and named == _WORDS and any(ctx.module.means("Message", one) for one in _OWN)
