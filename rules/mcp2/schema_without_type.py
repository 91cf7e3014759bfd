"""`Tool(inputSchema={})`: a schema has to begin with `"type": "object"`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...sdk.modules import How
from ...sdk.types import ClassOf, members
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_SCHEMAS = frozenset({"inputSchema", "input_schema", "outputSchema", "output_schema"})


class _Schema(NamedTuple):
    node: ast.Dict
    alone: bool  # nobody else uses the dict, and no assertion is about what comes of it


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if ctx.sdk.is_moved(ctx.file.source.path):
        return
    for schema in _schemas(fact, ctx):
        if schema.node.keys and any(isinstance(key, ast.Constant) and key.value == "type" for key in schema.node.keys):
            yield ctx.finding(fact, span=ctx.module.span(schema.node))
        else:
            yield ctx.finding(fact, Applicability.SAFE if schema.alone else Applicability.UNSAFE, span=ctx.module.span(schema.node))
    if fact.use is SymbolUse.CALL:
        for value in _given(fact, ctx):
            if _is_other_model(value, ctx):
                yield ctx.finding(fact, span=ctx.module.span(value))


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    for schema in _schemas(fact, ctx):
        node, module = schema.node, ctx.module
        start = module.span(node).start + 1
        if not node.keys:
            inside = Span(start, module.span(node).end - 1)
            # A comment is all that an empty dict can hold.
            yield Edit(Span(start, start) if module.source.slice(inside).strip() else inside, '"type": "object"')
            continue
        first = node.keys[0] or node.values[0]
        if any(isinstance(key, ast.Constant) and key.value == "type" for key in node.keys):
            continue
        at = module.span(first).start
        line = module.source.utf8[module.source.line_starts[first.lineno - 1] : at].decode("utf-8")
        gap = f",{module.source.newline}{line}" if not line.strip() and first.lineno != node.lineno else ", "
        yield Edit(Span(at, at), f'"type": "object"{gap}')


def _given(fact: Symbol, ctx: Context) -> Iterator[ast.expr]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return
    # What is read or taken apart where it is made is never listed by a server.
    if not isinstance(ctx.module.parents.get(node), ast.Attribute | ast.Match | ast.Compare):
        yield from (word.value for word in node.keywords if word.arg in _SCHEMAS)


def _schemas(fact: Symbol, ctx: Context) -> Iterator[_Schema]:
    """The dicts of a call, here or behind a name, that are surely no objects for version 2."""
    for value in _given(fact, ctx):
        node, alone = value, not any(isinstance(one, ast.Assert) for one in ctx.module.around(value))
        if isinstance(value, ast.Name):
            bindings = ctx.sdk.inference.bindings(value.id, value, ctx.module)
            if len(bindings) != 1 or bindings[0].how not in (How.VALUE, How.ANNOTATED) or bindings[0].path or _is_filled(value.id, ctx):
                continue
            statement = bindings[0].node
            given = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
            if given is None:
                continue
            node = given
            alone = alone and all(other is value for other in ctx.module.loads.get(value.id, ()))
        if isinstance(node, ast.Dict) and all(isinstance(key, ast.Constant) for key in node.keys) and not _is_object(node):
            yield _Schema(node, alone)


def _is_object(node: ast.Dict) -> bool:
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and key.value == "type":
            return not isinstance(value, ast.Constant) or value.value == "object"
    return False


def _is_filled(name: str, ctx: Context) -> bool:
    """Whether items are added to a dict later."""
    for node in ctx.module.names.get(name, ()):
        match ctx.module.parents.get(node):
            case ast.Subscript(value=value, ctx=ast.Store()) if value is node:
                return True
            case ast.Attribute(value=value, attr="update" | "setdefault") if value is node:
                return True
    return False


def _is_other_model(node: ast.expr, ctx: Context) -> bool:
    """Whether the schema is that of a `RootModel`, which is the schema of its one value."""
    match node:
        case ast.Call(func=ast.Attribute(value=model, attr="model_json_schema")):
            for one in members(ctx.sdk.type(model, ctx.module)):
                if isinstance(one, ClassOf) and "::" in one.name:
                    path, _, name = one.name.partition("::")
                    found = ctx.sdk.module_at(path).defined.get(name)
                    bases = found.bases if isinstance(found, ast.ClassDef) else []
                    return any("RootModel" in ast.unparse(base) for base in bases)
    return False
