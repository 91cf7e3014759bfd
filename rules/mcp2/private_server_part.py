"""`self._event_store` of a server: what version 1 kept, and version 2 is handed where it serves."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding
from ...sdk import guards


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.READ or not fact.sure or not isinstance(node, ast.Attribute) or _is_own(node, ctx):
        return
    if not guards.is_asked(node, node.value, [node.attr], ctx.module, read=False):
        yield ctx.finding(fact, Applicability.MANUAL)


def _is_own(node: ast.Attribute, ctx: Context) -> bool:
    """Whether the class around gives itself an attribute of this name."""
    owner = next((above for above in ctx.module.around(node) if isinstance(above, ast.ClassDef)), None)
    own = ctx.module.attributes.get(owner, {}) if owner is not None else {}
    return isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in own
