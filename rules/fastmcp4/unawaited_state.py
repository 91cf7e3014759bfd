"""`ctx.get_state(...)` and `ctx.set_state(...)` without `await`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING

from ...facts.code import last
from ...facts.model import Standalone, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_UNKNOWN = ".?."
_MOCKS = frozenset({"Mock", "MagicMock"})
_WAITING = frozenset({"gather", "create_task", "ensure_future", "wait_for", "run", "run_until_complete", "shield"})


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    # What stands in for a context may be known by where it goes.
    if _UNKNOWN in str(fact.key) or (fact.use is SymbolUse.READ and str(fact.key).endswith("_state")):
        if isinstance(node, ast.Attribute) and ctx.project.is_test(ctx.file.source.path) and _is_mocked(node, ctx):
            yield ctx.finding(fact, message=ctx.entry.messages["mocked"], hint=ctx.entry.hints["patched"])
    elif fact.use in (SymbolUse.PATCHED, SymbolUse.TEXT):
        if _is_stand_in(node, ctx):
            yield ctx.finding(fact, message=ctx.entry.messages["patched"], hint=ctx.entry.hints["patched"])
    elif (
        str(fact.key).endswith("_state")
        and fact.use is SymbolUse.CALL
        and isinstance(node, ast.Call)
        and fact.sure
        and not _is_waited_for(node, ctx)
    ):
        yield ctx.finding(fact, Applicability.SAFE if _may_wait(node, ctx) or _widened(node, ctx) else Applicability.MANUAL)


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit]:
    node = ctx.module.at(fact.span)
    if _UNKNOWN in str(fact.key) or not str(fact.key).endswith("_state") or not isinstance(node, ast.Call) or _is_waited_for(node, ctx):
        return
    if _may_wait(node, ctx):
        yield from _await(node, ctx)
    elif waiting := _widened(node, ctx):
        function = ctx.module.function(node)
        assert function is not None
        start = ctx.module.source.offset(function.lineno, function.col_offset)
        yield Edit(Span(start, start), "async ")
        for call in (node, *waiting):
            yield from _await(call, ctx)


def _await(node: ast.Call, ctx: Context) -> Iterator[Edit]:
    # `await` binds less tightly than what stands behind the call: `(await ctx.get_state(key))["x"]`.
    above = ctx.module.parents.get(node)
    bound = (isinstance(above, ast.Attribute | ast.Subscript) and above.value is node) or (
        isinstance(above, ast.Call) and above.func is node
    )
    span = ctx.module.span(node)
    yield Edit(Span(span.start, span.start), "(await " if bound else "await ")
    if bound:
        yield Edit(Span(span.end, span.end), ")")


def _widened(node: ast.Call, ctx: Context) -> list[ast.Call]:
    """The calls that have to wait for the plain function around this call, where it may become `async`; none where it may not.

    That is a private function of the module which nothing else names, and whose every call stands where one may wait.
    """
    function = ctx.module.function(node)
    if (
        not isinstance(function, ast.FunctionDef)
        or not function.name.startswith("_")
        or function.decorator_list
        or not isinstance(ctx.module.parents.get(function), ast.Module)
        or node not in _own(function)
        or any(isinstance(inner, ast.Yield | ast.YieldFrom) for inner in _own(function))
    ):
        return []
    word = re.compile(rb"\b%s\b" % re.escape(function.name.encode()))
    here = len(word.findall(ctx.module.source.utf8))
    likely = (path for path in ctx.project.texts.naming(function.name) if path != ctx.module.path)
    there = any(word.search(ctx.project.files[path].source.utf8) for path in likely)
    calls = [call for call in ctx.module.calls.get(function.name, ()) if isinstance(call.func, ast.Name)]
    if there or here != len(calls) + 1:
        return []
    return calls if all(_may_wait(call, ctx) and not _is_waited_for(call, ctx) for call in calls) else []


def _own(function: ast.FunctionDef) -> set[ast.AST]:
    """What runs when the function is called, without what stands in functions, classes and generators inside of it."""
    found: set[ast.AST] = set()
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.GeneratorExp):
            found.add(node)
            pending += ast.iter_child_nodes(node)
    return found


def _is_mocked(node: ast.Attribute, ctx: Context) -> bool:
    """Whether this is the first use of the state of a plain mock, in a project whose code uses the state of contexts."""
    if not isinstance(node.value, ast.Name):
        return False
    name, scope = node.value.id, ctx.module.scope(node)
    bindings = ctx.sdk.inference.bindings(name, node.value, ctx.module)
    made = [one.value for one in bindings if isinstance(one.value, ast.Call)]
    if len(made) != 1 or len(bindings) != 1 or last(made[0].func) not in _MOCKS or any(word.arg for word in made[0].keywords):
        return False
    uses = [use for use in ctx.module.loads.get(name, ()) if ctx.module.scope(use) is scope]
    of_state = [above for use in uses if isinstance(above := ctx.module.parents.get(use), ast.Attribute) and above.attr == node.attr]
    said = ctx.module.parents.get(node)
    if (
        of_state[:1] != [node]
        or not isinstance(node.ctx, ast.Load)
        or (isinstance(said, ast.Attribute) and said.attr == "assert_not_called")
    ):
        return False
    function = ctx.module.function(node)
    # What is given in place of `get_context` has a finding where it is.
    patched = (inner.value for inner in ast.walk(function) if isinstance(inner, ast.Constant)) if function is not None else ()
    return _uses_state(ctx) and not any(isinstance(text, str) and text.endswith("get_context") for text in patched)


def _uses_state(ctx: Context) -> bool:
    def used() -> bool:
        keys = (str(fact.key) for _, fact in ctx.project.facts(Standalone))
        return any(key in ("fastmcp.Context.get_state", "fastmcp.Context.set_state") for key in keys)

    return ctx.project.remember("state of contexts is used", used)


def _is_stand_in(node: ast.AST | None, ctx: Context) -> bool:
    """Whether a test puts something in the place of `get_context`, and says what its `get_state` gives at once."""
    function = ctx.module.function(node) if node is not None else None
    call = ctx.module.parents.get(node) if node is not None else None
    if function is None or not isinstance(call, ast.Call):
        return False
    for inner in ast.walk(function):
        match inner:
            case ast.Assign(targets=[ast.Attribute(attr="return_value", value=ast.Attribute(attr="get_state"))]):
                return True
            case ast.keyword(arg="get_state", value=ast.Call(func=ast.Name(id="MagicMock" | "Mock"))):
                return True
    return False


def _is_waited_for(node: ast.Call, ctx: Context) -> bool:
    """Whether it, or the name that it is given, is waited for or handed to something that may wait for it."""
    match ctx.module.parents.get(node):
        case ast.Assign(targets=[ast.Name(id=name)]):
            scope = ctx.module.scope(node)
            return any(_is_handed(use, ctx) for use in ctx.module.loads.get(name, ()) if ctx.module.scope(use) is scope)
    return _is_handed(node, ctx)


def _is_handed(node: ast.expr, ctx: Context) -> bool:
    if isinstance(ctx.module.parents.get(node), ast.Await):
        return True
    within = takewhile(lambda above: not isinstance(above, ast.stmt), ctx.module.around(node))
    return any(isinstance(above, ast.Call) and last(above.func) in _WAITING for above in within)


def _may_wait(node: ast.Call, ctx: Context) -> bool:
    inner: ast.AST = node
    for above in ctx.module.around(node):
        # Defaults and decorators run where the function is made.
        is_inside = not isinstance(above, ast.AsyncFunctionDef | ast.FunctionDef) or inner in above.body
        if isinstance(above, ast.AsyncFunctionDef) and is_inside:
            return True
        if isinstance(above, ast.FunctionDef | ast.Lambda | ast.ClassDef) and is_inside:
            return False
        if isinstance(above, ast.GeneratorExp):
            return False
        inner = above
    return False
