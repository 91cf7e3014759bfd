"""`tool.model_dump()` without `by_alias`: the keys were those of the protocol, and are those of Python now."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...facts.syntax import descend
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...sdk.types import OWN, ClassOf, Instance, Known, members

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_TAKES = frozenset({"model_validate", "parse_obj", "model_construct"})


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    owner, _, name = str(fact.key).rpartition(".")
    if not ctx.sdk.api.has_new_names(owner) or not _is_first(fact, owner, ctx) or ctx.sdk.is_moved(ctx.file.source.path):
        return
    if name == "__dict__":
        node = _node(fact, ctx)
        if not isinstance(ctx.module.parents.get(node), ast.Attribute) and not (isinstance(node, ast.Call) and _is_taken_back(node, ctx)):
            yield ctx.finding(fact, Applicability.UNSAFE, hint="the fields are listed as a dump by alias does it")
        return
    call = _call(fact, ctx)
    if call is None or _is_taken_back(call, ctx):
        return
    aliased = next((word.value for word in call.keywords if word.arg == "by_alias"), None)
    if isinstance(aliased, ast.Constant) and aliased.value is True:
        return
    if any(word.arg is None for word in call.keywords) or not (aliased is None or isinstance(aliased, ast.Constant)):
        yield ctx.finding(fact)
    else:
        sure = fact.sure and not _reads_meta(call, ctx) and not _has_own_aliases(call, ctx)
        yield ctx.finding(fact, Applicability.SAFE if sure else Applicability.UNSAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    from ...rewrite import calls

    module = ctx.module
    if str(fact.key).endswith(".__dict__"):
        node = _node(fact, ctx)
        subject = node.args[0] if isinstance(node, ast.Call) else node.value if isinstance(node, ast.Attribute) else None
        if subject is not None:
            yield Edit(fact.span, f"{module.text(subject)}.model_dump(by_alias=True)")
        return
    call = _call(fact, ctx)
    written = calls.at(tree, module.span(call)) if call is not None else None
    if written is None:
        return
    aliased = calls.keyword(written, "by_alias")
    if aliased is not None:
        yield calls.value(tree, aliased, "True")
    else:
        yield from calls.add(tree, written, ["by_alias=True"])


def _node(fact: Symbol, ctx: Context) -> ast.AST:
    return ctx.module.at(fact.span) or ctx.module.tree


def _call(fact: Symbol, ctx: Context) -> ast.Call | None:
    """The call that dumps. Adapters are of pydantic, so that only reading their method is a use of the SDK."""
    node = _node(fact, ctx)
    if isinstance(node, ast.Call) and fact.use is SymbolUse.CALL:
        return node
    above = ctx.module.parents.get(node)
    if isinstance(node, ast.Attribute) and isinstance(above, ast.Call) and above.func is node:
        # Methods of the SDK's own classes are calls in their own right.
        return above if str(fact.key).rpartition(".")[2].startswith("dump_") or _own(node.value, ctx) else None
    return None


def _own(node: ast.expr, ctx: Context) -> bool:
    """Whether this is a model of the project, which has no uses of its own in the facts but its attributes."""
    found = [*members(ctx.sdk.type(node, ctx.module))]
    return bool(found) and all(isinstance(one, Instance) and OWN in one.name for one in found)


def _is_first(fact: Symbol, owner: str, ctx: Context) -> bool:
    """One finding for all the classes that it may be."""
    node = _node(fact, ctx)
    func = node.func if isinstance(node, ast.Call) else node
    value = (
        node.args[0]
        if isinstance(node, ast.Call) and fact.use is SymbolUse.GETATTR
        else func.value
        if isinstance(func, ast.Attribute)
        else None
    )
    if value is None:
        return False
    names = [one.name for one in members(ctx.sdk.type(value, ctx.module)) if isinstance(one, Instance)]
    first = next((name for name in names if ctx.sdk.api.has_new_names(name)), owner)
    return first == owner


def _is_taken_back(call: ast.Call, ctx: Context) -> bool:
    """Whether the dump only goes into a model of the SDK, which takes both spellings, or is compared with another dump."""
    above = ctx.module.parents.get(call)
    if isinstance(above, ast.keyword) and above.arg is None:
        outer = ctx.module.parents.get(above)
        return isinstance(outer, ast.Call) and len(outer.keywords) == 1 and _is_model(ctx.sdk.type(outer.func, ctx.module), ctx)
    if isinstance(above, ast.Call) and above.args[:1] == [call] and isinstance(above.func, ast.Attribute) and above.func.attr in _TAKES:
        return _is_model(ctx.sdk.type(above.func.value, ctx.module), ctx)
    if isinstance(above, ast.Compare):
        return all(_is_dump(side) for side in (above.left, *above.comparators))
    return False


def _is_model(known: Known | None, ctx: Context) -> bool:
    return isinstance(known, ClassOf) and known.name.startswith("mcp.types.")


def _is_dump(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("model_dump", "model_dump_json")


def _reads_meta(call: ast.Call, ctx: Context) -> bool:
    """Whether code near by speaks of the key `meta`: by alias it is `_meta`, as on the wire."""
    around = ctx.module.function(call) or call
    own = {*descend(call)}
    return any(isinstance(node, ast.Constant) and node.value == "meta" and node not in own for node in descend(around))


def _has_own_aliases(call: ast.Call, ctx: Context) -> bool:
    """Whether a model of the project holds the SDK's, and has aliases of its own, which the dump would then use as well."""
    if not isinstance(call.func, ast.Attribute):
        return False
    for one in members(ctx.sdk.type(call.func.value, ctx.module)):
        if isinstance(one, Instance) and OWN in one.name:
            path, _, name = one.name.partition(OWN)
            home = ctx.sdk.module_at(path)
            node = home.defined.get(name)
            if node is not None and "alias" in home.text(node):
                return True
    return False
