"""`ctx: Context` of the official SDK in what a server of `fastmcp` offers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Standalone
from ...rule import Context, Finding
from ...sdk.modules import Def
from ...sdk.types import ClassOf, members


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if not isinstance(node, ast.Attribute) or not fact.sure:
        return
    above = ctx.module.parents.get(node)
    decorator = above if isinstance(above, ast.Call) and above.func is node else node
    function = ctx.module.parents.get(decorator)
    if not isinstance(function, Def) or decorator not in function.decorator_list:
        return
    classes = frozenset(ctx.entry.data["classes"])
    taken = function.args
    for parameter in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs):
        inside = ast.walk(parameter.annotation) if parameter.annotation is not None else ()
        names = [one for one in inside if isinstance(one, ast.Name | ast.Attribute)]
        if any(isinstance(one, ClassOf) and one.name in classes for name in names for one in members(ctx.sdk.type(name, ctx.module))):
            message = ctx.entry.message.replace("{name}", parameter.arg)
            yield ctx.finding(fact, span=ctx.module.span(parameter), message=message)
