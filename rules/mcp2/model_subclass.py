"""`class Result(CallToolResult): isError: bool = True; job_id: str = ""`: the base has names and aliases of its own now."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.modules import How
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


class _Field(NamedTuple):
    """A field of the class; `new` is its name in the base, else it needs an alias."""

    statement: ast.AnnAssign
    name: str
    new: str | None


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    for field in _fields(fact, ctx):
        word = f"`{field.name}` is `{field.new}` in version 2 of the SDK" if field.new else f"`{field.name}` gets a camelCase alias"
        known = bool([*_edits(field, ctx)])
        yield ctx.finding(
            fact,
            Applicability.SAFE if known else Applicability.MANUAL,
            span=ctx.module.span(field.statement.target),
            message=f"{word} in a class that derives from `{{fact.key}}`",
        )


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    for field in _fields(fact, ctx):
        yield from _edits(field, ctx)


def _fields(fact: Symbol, ctx: Context) -> Iterator[_Field]:
    api = ctx.sdk.api
    key = str(fact.key)
    if fact.use is not SymbolUse.BASE or not key.startswith("mcp.types.") or "aliases" not in api.new["classes"].get(key, {}):
        return
    if ctx.sdk.is_moved(ctx.file.source.path):
        return
    node = ctx.module.at(fact.span)
    owner = next((above for above in ctx.module.around(node) if isinstance(above, ast.ClassDef)), None) if node is not None else None
    if owner is None or _has_aliases(owner):
        return
    known = api.fields(key) or frozenset()
    for statement in owner.body:
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        name = statement.target.id
        if name.startswith("_") or name == "model_config" or "ClassVar" in ast.unparse(statement.annotation):
            continue
        new = api.renamed(key, name)
        if new is not None:
            yield _Field(statement, name, new)
        elif name not in known and "_" in name.strip("_") and "alias" not in ast.unparse(statement):
            yield _Field(statement, name, None)


def _has_aliases(owner: ast.ClassDef) -> bool:
    """Whether the class says itself how its fields are called outside."""
    return any(
        isinstance(statement, ast.Assign | ast.AnnAssign) and "alias_generator" in ast.unparse(statement) for statement in owner.body
    )


def _edits(field: _Field, ctx: Context) -> Iterator[Edit | Import]:
    module = ctx.module
    if field.new is not None:
        yield Edit(module.span(field.statement.target), field.new)
        return
    alias = f'alias="{field.name}"'
    value = field.statement.value
    name, need = _field_name(ctx)
    if value is None:
        end = module.span(field.statement).end
        yield Edit(Span(end, end), f" = {name}({alias})")
    elif isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] == "Field":
        end = module.span(value).end - 1
        inside = module.source.utf8[module.span(value.func).end : end].rstrip()
        yield Edit(Span(end, end), alias if inside.endswith(b"(") else f" {alias}" if inside.endswith(b",") else f", {alias}")
        return
    elif isinstance(value, ast.Constant | ast.Name | ast.Attribute | ast.UnaryOp | ast.Tuple):
        span = module.span(value)
        # Type checkers take the first argument for no default.
        yield Edit(Span(span.start, span.start), f"{name}(default=")
        yield Edit(Span(span.end, span.end), f", {alias})")
    elif isinstance(value, ast.List | ast.Dict) and not ast.unparse(value).strip("[]{}"):
        yield Edit(module.span(value), f"{name}(default_factory={'list' if isinstance(value, ast.List) else 'dict'}, {alias})")
    else:
        return
    yield from need


def _field_name(ctx: Context) -> tuple[str, list[Import]]:
    for name, bindings in ctx.module.scopes[ctx.module.tree].bindings.items():
        if any(binding.how is How.IMPORTED and binding.target == "pydantic.Field" for binding in bindings):
            return name, []
    return "Field", [Import("pydantic", "Field")]
