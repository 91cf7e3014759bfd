"""A prompt that returns `PromptMessage(...)` or dicts, where `fastmcp` takes its own `Message` since 3."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Standalone, SymbolUse
from ...facts.syntax import descend
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.modules import Def, How
from ...sdk.types import ClassOf, members
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_MESSAGE = "mcp.types.PromptMessage"
_OWN = frozenset({"fastmcp.prompts.Message", "fastmcp.prompts.base.Message", "fastmcp.prompts.prompt.Message"})
# Where older releases of `fastmcp` let the name slip out.
_HOMES = frozenset({"mcp.types", "mcp_types", "fastmcp.prompts", "fastmcp.prompts.base", "fastmcp.prompts.prompt"})
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
        # What is told of already becomes right with that.
        bindings = ctx.sdk.inference.bindings(node.id, node, ctx.module) if isinstance(node, ast.Name) else []
        if not any(_is_message(made, ctx) for made in (node, *(one.value for one in bindings)) if made is not None):
            what = "one message without a list"
            yield ctx.finding(
                fact,
                Applicability.SAFE,
                message=ctx.entry.message.replace("{what}", what),
                hint=ctx.entry.hints["alone"],
                span=ctx.module.span(node),
            )


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    for span, name in _renamed(fact, ctx):
        yield Edit(span, name)
        yield Import("fastmcp.prompts", "Message")
    alone = [*_alone(fact, ctx)]
    for span in map(ctx.module.span, alone):
        yield Edit(Span(span.start, span.start), "[")
        yield Edit(Span(span.end, span.end), "]")
    function = _function(fact, ctx)
    if alone and function is not None and function.returns is not None:
        for promised in _operands(function.returns):
            if _is_own(promised, ctx):
                yield Edit(ctx.module.span(promised), f"list[{ctx.module.text(promised)}]")
    yield from _unused(fact, tree, ctx)


def _renamed(fact: Standalone, ctx: Context) -> Iterator[tuple[Span, str]]:
    """Where a prompt names the class, and what it writes there: where it makes messages, and in what it says that it returns, if
    that is all it returns.
    """
    from ...rewrite import renames

    found = [node for node, _ in _given(fact, ctx)]
    plain = [node.func for node in found if isinstance(node, ast.Call) and _is_plain(node, ctx)]
    yield from ((ctx.module.span(one), "Message") for one in plain)
    function = _function(fact, ctx)
    if function is None or function.returns is None or not plain or len(plain) < len(found):
        return
    promised = ctx.module.span(function.returns)
    alone = {ctx.module.span(one) for one in _operands(function.returns)}
    for alias, _ in _imports(ctx):
        for span in renames.uses(alias.asname or alias.name, [alias], ctx.module, ctx.sdk.inference):
            if promised.start <= span.start and span.end <= promised.end:
                text = ctx.module.source.utf8[span.start : span.end].decode("utf-8")
                quoted = isinstance(function.returns, ast.Constant) and function.returns.value == text
                yield span, "list[Message]" if span in alone or quoted else "Message"
    for node in ast.walk(function.returns):
        if isinstance(node, ast.Attribute) and _is_class(node, ctx):
            span = ctx.module.span(node)
            yield span, "list[Message]" if span in alone else "Message"


def _unused(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit]:
    """The import of the class, once the last of its uses has gone: at the last prompt of the file."""
    from ...rewrite import renames

    keys = ctx.entry.match["Standalone"]
    prompts = [one for one in ctx.project.of(ctx.file.source.path, Standalone) if one.key in keys and _function(one, ctx) is not None]
    if not prompts or prompts[-1] != fact:
        return
    lost = {span for one in prompts for span, _ in _renamed(one, ctx)}
    for alias, statement in _imports(ctx):
        name = alias.asname or alias.name
        uses = {*renames.uses(name, [alias], ctx.module, ctx.sdk.inference)}
        if uses and uses <= lost and not renames.is_shared(name, [alias], ctx.module, ctx.sdk.inference, ctx.project.texts):
            yield from renames.taken_out(statement, {alias}, tree, ctx.module)


def _imports(ctx: Context) -> Iterator[tuple[ast.alias, ast.ImportFrom]]:
    for statement in ctx.module.of(ast.ImportFrom):
        if isinstance(statement, ast.ImportFrom) and statement.module in _HOMES:
            yield from ((alias, statement) for alias in statement.names if alias.name == "PromptMessage")


def _given(fact: Standalone, ctx: Context) -> Iterator[tuple[ast.expr, str]]:
    """The messages that a decorated function returns, itself or in a list, and that are none of `fastmcp`."""
    function = _function(fact, ctx)
    if function is None:
        return
    values = [*_returned(function, ctx)]
    named = {inner.id for value in values for inner in ast.walk(value) if isinstance(inner, ast.Name)}
    for value in values:
        yield from _messages(value, ctx)
    for inner in (one for statement in function.body for one in descend(statement)):
        match inner:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[one]):
                if name in named and _is_message(one, ctx):
                    yield one, "`PromptMessage`"


def _alone(fact: Standalone, ctx: Context) -> Iterator[ast.expr]:
    """What a decorated function returns that is one message, and known to be one of `fastmcp`, or to become one."""
    function = _function(fact, ctx)
    for value in _returned(function, ctx) if function is not None else ():
        yield from (node for node in _branches(value) if _is_one(node, ctx))


def _returned(function: Def, ctx: Context) -> Iterator[ast.expr]:
    for node in (one for statement in function.body for one in descend(statement)):
        if isinstance(node, ast.Return) and node.value is not None and ctx.module.function(node) is function:
            yield node.value


def _branches(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, ast.IfExp):
        yield from _branches(value.body)
        yield from _branches(value.orelse)
    else:
        yield value


def _operands(annotation: ast.expr) -> Iterator[ast.expr]:
    if isinstance(annotation, ast.BinOp):
        yield from _operands(annotation.left)
        yield from _operands(annotation.right)
    else:
        yield annotation


def _is_one(node: ast.expr, ctx: Context) -> bool:
    if isinstance(node, ast.Name):
        bindings = ctx.sdk.inference.bindings(node.id, node, ctx.module)
        return bool(bindings) and all(
            isinstance(one.value, ast.Call) and not one.path and one.how is not How.ENTERED and _is_one(one.value, ctx) for one in bindings
        )
    if not isinstance(node, ast.Call):
        return False
    return _is_plain(node, ctx) if _is_message(node, ctx) else _is_own(node.func, ctx)


def _is_own(node: ast.expr, ctx: Context) -> bool:
    """Whether this is what makes messages of `fastmcp` itself."""
    if not isinstance(node, ast.Name):
        return False
    bindings = ctx.sdk.inference.bindings(node.id, node, ctx.module)
    return bool(bindings) and all(one.how is How.IMPORTED and one.target in _OWN for one in bindings)


def _function(fact: Standalone, ctx: Context) -> Def | None:
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


def _is_message(node: ast.expr, ctx: Context) -> bool:
    return isinstance(node, ast.Call) and _is_class(node.func, ctx)


def _is_class(node: ast.expr, ctx: Context) -> bool:
    known = ctx.sdk.type(node, ctx.module)
    return any(isinstance(one, ClassOf) and one.name == _MESSAGE for one in members(known))


def _is_plain(node: ast.Call, ctx: Context) -> bool:
    """Whether it is made of a role and a content that have their names; then another class can be called in the same way."""
    named = {word.arg for word in node.keywords}
    return not node.args and named == _WORDS and ctx.module.means("Message", "fastmcp.prompts.Message")
