"""`try: from mcp... import ...` with an `except` that goes on without."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rule import Applicability, Context, Finding
from ...sdk.modules import Def

_CAUGHT = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_ADVICE = re.compile(r"(?i)\bpip3? install\b[^\n]*\bmcp\b|\bmcp\b[^\n]*\bnot (?:installed|available|found)\b")
_TOLD = "this is told as well where version 2 of the SDK is installed"


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is not SymbolUse.IMPORT or b"except" not in ctx.file.source.utf8:
        return
    alias = ctx.module.at(fact.span)
    where, _, name = str(fact.key).rpartition(".")
    if not isinstance(alias, ast.alias) or not ctx.sdk.api.was(where, name) or ctx.sdk.api.stays(where, name):
        return
    guard = _guard(alias, ctx)
    if guard is None:
        return
    for handler in guard.handlers:
        if not _catches(handler) or any(isinstance(inner, ast.Import | ast.ImportFrom) for inner in ast.walk(handler)):
            continue  # it looks for the name elsewhere
        if handler.body and isinstance(handler.body[-1], ast.Raise):
            continue  # the error is told
        fallbacks = [*_fallbacks(handler, alias.asname or alias.name)]
        for node in fallbacks:
            yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(node))
        if not fallbacks and _is_first(alias, guard):
            yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(handler.type or handler))
        if fallbacks and _is_first_of_file(fact, ctx):
            for text in _advice(ctx):
                yield ctx.finding(fact, Applicability.MANUAL, span=ctx.module.span(text), message=_TOLD)


def _guard(alias: ast.alias, ctx: Context) -> ast.Try | None:
    """The `try` that the import stands in."""
    child: ast.AST = alias
    for above in ctx.module.around(alias):
        if isinstance(above, Def | ast.ClassDef):
            return None
        if isinstance(above, ast.Try):
            return above if child in above.body else None
        child = above
    return None


def _catches(handler: ast.ExceptHandler) -> bool:
    named = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(one is None or (isinstance(one, ast.Name) and one.id in _CAUGHT) for one in named)


def _fallbacks(handler: ast.ExceptHandler, name: str) -> Iterator[ast.stmt]:
    """What stands in for the name."""
    for statement in handler.body:
        match statement:
            case ast.Assign(targets=targets):
                named = {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=one)) | ast.ClassDef(name=one) | ast.FunctionDef(name=one):
                named = {one}
            case _:
                continue
        if name in named:
            yield statement


def _is_first(alias: ast.alias, guard: ast.Try) -> bool:
    """Whether the guard has no import above this one."""
    return next((inner for inner in ast.walk(guard) if isinstance(inner, ast.alias)), None) is alias


def _is_first_of_file(fact: Symbol, ctx: Context) -> bool:
    imports = (one for one in ctx.project.of(ctx.file.source.path, Symbol) if one.use is SymbolUse.IMPORT)
    return all(fact.span <= one.span for one in imports)


def _advice(ctx: Context) -> Iterator[ast.Constant]:
    """Texts for users that say what to install; no documentation."""
    for node in ctx.module.nodes:
        match node:
            case ast.Constant(value=str(text)) if _ADVICE.search(text) and not isinstance(ctx.module.parents.get(node), ast.Expr):
                yield node
