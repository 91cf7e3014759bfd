"""`FastMCP(on_duplicate_tools=..., on_duplicate_resources=..., on_duplicate_prompts=...)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Standalone, SymbolUse
from ...rewrite import calls
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_KINDS = ("on_duplicate_tools", "on_duplicate_resources", "on_duplicate_prompts")
_DEFAULT = "'warn'"
_ADDS = {
    "tool": "on_duplicate_tools",
    "add_tool": "on_duplicate_tools",
    "resource": "on_duplicate_resources",
    "add_resource": "on_duplicate_resources",
    "add_template": "on_duplicate_resources",
    "prompt": "on_duplicate_prompts",
    "add_prompt": "on_duplicate_prompts",
}
# What adds no component of the server's own.
_OTHERS = frozenset(
    {
        "run",
        "run_async",
        "run_http_async",
        "run_stdio_async",
        "http_app",
        "custom_route",
        "add_middleware",
        "mount",
        "enable",
        "disable",
        "name",
    }
)


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.CALL and isinstance(node, ast.Call) and (found := _given(node)):
        applicability = _applicability(fact, found, node, ctx)
        yield ctx.finding(
            fact, applicability, hint=ctx.entry.hints["used"] if _used(fact, node, ctx) and applicability is Applicability.SAFE else ""
        )


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit]:
    node, call = ctx.module.at(fact.span), calls.at(tree, fact.span)
    if not isinstance(node, ast.Call) or call is None or not (found := _given(node)):
        return
    if _applicability(fact, found, node, ctx) is Applicability.MANUAL:
        return
    # The one that is used gives its value; where it has the default, so do all that are used.
    used = _used(fact, node, ctx)
    given = [argument for word in found if (argument := calls.keyword(call, word.arg or "")) is not None]
    kept = next((one for one in given if one.keyword is not None and one.keyword.value in used), None if used else given[0])
    if kept is not None:
        yield calls.renamed(tree, kept, "on_duplicate")
    yield from calls.drop(tree, call, [one for one in given if one is not kept])


def _given(node: ast.Call) -> list[ast.keyword]:
    return [word for word in node.keywords if word.arg in _KINDS]


def _applicability(fact: Standalone, found: list[ast.keyword], node: ast.Call, ctx: Context) -> Applicability:
    values = {word.arg: ast.unparse(word.value) for word in found}
    if any(word.arg == "on_duplicate" for word in node.keywords):
        return Applicability.MANUAL
    if (used := _used(fact, node, ctx)) and len({values.get(kind, _DEFAULT) for kind in used}) == 1:
        return Applicability.SAFE
    if len({*values.values()}) > 1:
        return Applicability.MANUAL
    return Applicability.SAFE if len(found) == len(_KINDS) or {*values.values()} == {_DEFAULT} else Applicability.UNSAFE


def _used(fact: Standalone, node: ast.Call, ctx: Context) -> set[str]:
    """The arguments for the kinds of components that the server ever has; nothing where that is not known."""
    module, statement = ctx.module, ctx.module.statement(node)
    if not fact.sure or not isinstance(statement, ast.Assign) or statement.value is not node or len(statement.targets) != 1:
        return set()
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or statement not in module.tree.body or ctx.project.importers(module.path):
        return set()
    given = module.bound.get(target.id, ())
    # A module that lists what others may take from it has those others elsewhere.
    if len(given) != 1 or "__all__" in module.scopes[module.tree].bindings:
        return set()
    used = set()
    for name in module.loads.get(target.id, ()):
        above = module.parents.get(name)
        if not isinstance(above, ast.Attribute) or (above.attr not in _ADDS and above.attr not in _OTHERS):
            return set()
        if above.attr in _ADDS:
            used.add(_ADDS[above.attr])
    return used
