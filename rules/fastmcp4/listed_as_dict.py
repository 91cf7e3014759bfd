"""`await server.get_tools()`, which was a dict by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Standalone, SymbolUse
from ...rewrite.edits import Edit
from ...rewrite.lines import opening_brace
from ...rule import Applicability, Context, Finding

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_NOW = {
    "get_tools": ("list_tools", "tool", "name"),
    "get_resources": ("list_resources", "resource", "uri"),
    "get_resource_templates": ("list_resource_templates", "template", "uri_template"),
    "get_prompts": ("list_prompts", "prompt", "name"),
}

# What `list_tools()` goes by, and `get_tools()` did not.
_HIDING = (
    b"include_tags", b"exclude_tags", b"enabled", b".disable(", b".enable(", b"iddleware", b"require_scopes", b"restrict_tag"
)  # fmt: skip


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.sure and (fact.use is SymbolUse.CALL or (fact.use is SymbolUse.READ and not _is_called(node, ctx))):
        now, _, key = _NOW[str(fact.key).rpartition(".")[2]]
        message = ctx.entry.message.replace("{now}", now)
        if isinstance(node, ast.Call) and _is_plain(node, ctx):
            hides = ctx.project.remember("components are hidden", lambda: _hides(ctx))
            hint = ctx.entry.hints["hidden"] if hides else ""
            yield ctx.finding(fact, Applicability.UNSAFE if hides else Applicability.SAFE, message=message, hint=hint)
        else:
            yield ctx.finding(fact, message=message, hint=ctx.entry.hints["manual"].format(key=key, now=now))


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit]:
    node = ctx.module.at(fact.span)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not _is_plain(node, ctx):
        return
    now, item, key = _NOW[node.func.attr]
    waited = ctx.module.parents[node]
    above = ctx.module.parents.get(waited)
    server = ctx.module.text(node.func.value)
    listed = f"await {server}.{now}()"
    match above:
        # `len(await server.get_tools())`: a list is as long as the dict was.
        case ast.Call(func=ast.Name(id="len"), args=[one]) if one is waited:
            yield Edit(ctx.module.span(waited), listed)
        case _:
            span = ctx.module.span(waited)
            yield Edit(span, f"{opening_brace(ctx.module.source, span.start)}{_key(item, key)}: {item} for {item} in {listed}}}")


def _key(item: str, key: str) -> str:
    # An address was a text as a key, and is an object of pydantic in the component.
    return f"str({item}.{key})" if key == "uri" else f"{item}.{key}"


def _hides(ctx: Context) -> bool:
    """Whether some code of the project seems to hide components: the dict had them all, the list has those that can be seen."""
    return any(ctx.project.texts.saying(word) for word in _HIDING)


def _is_called(node: ast.AST | None, ctx: Context) -> bool:
    above = ctx.module.parents.get(node) if node is not None else None
    return isinstance(above, ast.Call) and above.func is node


def _is_plain(node: ast.Call, ctx: Context) -> bool:
    """Whether it is waited for where it is called, in a function that may wait, and no argument says otherwise."""
    return not node.args and not node.keywords and isinstance(ctx.module.parents.get(node), ast.Await)
