"""A field of a question's model that version 2 of the SDK does not ask for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Context, Finding
from ...sdk.modules import Module, dotted
from ...sdk.types import OWN, ClassOf

_GATE = "mcp.server.elicitation._validate_elicitation_schema"
_PRIMITIVES = frozenset({"str", "int", "float", "bool"})


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is SymbolUse.IMPORT and fact.key == _GATE:
        yield ctx.finding(fact, message=ctx.entry.hints["gate"])
        return
    call = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(call, ast.Call):
        return
    schema = next((keyword.value for keyword in call.keywords if keyword.arg == "schema"), call.args[1] if len(call.args) > 1 else None)
    known = ctx.sdk.type(schema, ctx.module) if schema is not None else None
    if schema is None or not isinstance(known, ClassOf) or OWN not in known.name:
        return
    path, _, name = known.name.partition(OWN)
    module = ctx.sdk.module_at(path)
    for field in _fields(module, name):
        # What lies in another file is told here, where the question is.
        span = module.span(field) if module is ctx.module else ctx.module.span(schema)
        named = field.target.id if isinstance(field.target, ast.Name) else ""
        yield ctx.finding(fact, span=span, message=ctx.entry.message.replace("{name}", named))


def _fields(module: Module, name: str) -> Iterator[ast.AnnAssign]:
    node = module.defined.get(name)
    for statement in node.body if isinstance(node, ast.ClassDef) else ():
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and "ClassVar" not in ast.unparse(statement.annotation)
        ):
            members = [*_members(statement.annotation)]
            texts = [member for member in members if _is_texts(member)]
            several = len({dotted(member) for member in members if dotted(member) in _PRIMITIVES}) > 1
            shaped = "json_schema_extra" in module.text(statement)  # may give the texts to choose from
            if (texts and not shaped) or several:
                yield statement


def _members(node: ast.expr) -> Iterator[ast.expr]:
    """The parts of a union, but for None."""
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            yield from (*_members(left), *_members(right))
        case ast.Subscript(value=value, slice=ast.Tuple(elts=elements)) if dotted(value).rpartition(".")[2] == "Union":
            for element in elements:
                yield from _members(element)
        case ast.Subscript(value=value, slice=ast.Tuple(elts=[first, *_])) if dotted(value).rpartition(".")[2] == "Annotated":
            yield from _members(first)
        case ast.Subscript(value=value, slice=inner) if dotted(value).rpartition(".")[2] == "Optional":
            yield from _members(inner)
        case ast.Constant(value=None):
            return
        case _:
            yield node


def _is_texts(node: ast.expr) -> bool:
    match node:
        case ast.Subscript(value=value, slice=ast.Name(id="str")):
            return dotted(value).rpartition(".")[2] in ("list", "List", "Sequence", "MutableSequence")
    return False
