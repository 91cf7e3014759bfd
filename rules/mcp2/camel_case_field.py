"""A field of a protocol type under the name that version 1 had."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import compat
from ...rewrite.edits import Edit
from ...rewrite.lines import enclosing_parentheses
from ...rule import Applicability, Context, Finding, Import, NewFile
from ...sdk import guards
from ...sdk.symbols import UNKNOWN
from ...sdk.types import OWN, ClassOf, Instance, members
from ...sdk.vocabulary import ONLY
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_USES = (SymbolUse.READ, SymbolUse.STORE, SymbolUse.GETATTR)


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.use is SymbolUse.PATTERN:
        if [*_patterns(fact, ctx)]:
            yield ctx.finding(fact, Applicability.SAFE, message="version 2 of the SDK spells fields of `{fact.key}` in snake case")
        return
    if fact.use not in _USES:
        return
    owner, _, name = str(fact.key).rpartition(".")
    if _is_for_both(fact, name, ctx) or not _is_first(fact, owner, name, ctx):
        return
    if owner == UNKNOWN:
        if ctx.sdk.is_moved(ctx.file.source.path) or _is_of_self(fact, ctx):
            return
        message = f"version 2 of the SDK spells `{name}` in snake case"
        if name in ONLY and _may_be_ours(fact, name, ctx):
            yield ctx.finding(fact, Applicability.UNSAFE, message=message)
        elif fact.use is not SymbolUse.STORE and _is_made_here(fact, name, ctx):
            yield ctx.finding(fact, Applicability.UNSAFE, message=message, hint=ctx.entry.hints["made"])
    elif ctx.sdk.api.renamed(owner, name) is not None:
        # Where it may be something else as well, the new name would break that.
        yield ctx.finding(fact, Applicability.SAFE if fact.sure else Applicability.UNSAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit]:
    if fact.use is SymbolUse.PATTERN:
        yield from _patterns(fact, ctx)
        return
    owner, _, name = str(fact.key).rpartition(".")
    new = _snake(name) if owner == UNKNOWN else ctx.sdk.api.renamed(owner, name)
    node = ctx.module.at(fact.span)
    if new is None:
        return
    if isinstance(node, ast.Attribute):
        yield Edit(ctx.module.attribute_span(node), new)
    elif isinstance(node, ast.keyword):
        yield Edit(Span(fact.span.start, fact.span.start + len(name.encode())), new)
    elif isinstance(node, ast.Call) and len(node.args) > 1:
        span = ctx.module.span(node.args[1])
        text = ctx.module.text(node.args[1])
        if text[1:-1] == name:
            yield Edit(Span(span.start + 1, span.end - 1), new)


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    """The field is asked for by its name in the protocol."""
    _, _, name = str(fact.key).rpartition(".")
    node, module = ctx.module.at(fact.span), ctx.module
    if compat.obstacle(ctx) or fact.use is SymbolUse.PATTERN:
        return
    above = module.parents.get(node) if node is not None else None
    match node:
        case ast.Attribute(ctx=ast.Load()) if not isinstance(above, ast.Delete):
            text = compat.quoted(name, node, ctx)
            if text is not None:
                yield from compat.asked(node, "field", f", {text}", ctx)
            return
        case ast.Attribute(ctx=ast.Store()) if isinstance(above, ast.Assign) and above.targets == [node]:
            of, stop = compat.before(node, ctx), enclosing_parentheses(module.source, module.span(above.value))
            # Without brackets around it, a tuple would be several arguments.
            if of is None or isinstance(above.value, ast.Tuple):
                return
            start, end = of
            yield Edit(Span(start, start), f"{compat.NAME}.set_field(")
            yield Edit(Span(end, stop.start), f', "{name}", ')
            yield Edit(Span(stop.end, stop.end), ")")
        case ast.Call(func=ast.Name(id="getattr" | "hasattr" as asks), args=[_, ast.Constant(), *_], keywords=[]):
            yield Edit(module.span(node.func), f"{compat.NAME}.{'field' if asks == 'getattr' else 'has_field'}")
        case _:
            return
    yield from compat.needs(ctx, fact.span, "fields")


def _is_for_both(fact: Symbol, name: str, ctx: Context) -> bool:
    """Whether the code around asks for the newer name as well."""
    node = ctx.module.at(fact.span)
    subject = node.value if isinstance(node, ast.Attribute) else node.args[0] if isinstance(node, ast.Call) and node.args else None
    return node is not None and subject is not None and guards.is_asked(node, subject, [_snake(name)], ctx.module)


def _is_first(fact: Symbol, owner: str, name: str, ctx: Context) -> bool:
    """One finding for all the classes that a value may be of."""
    node = ctx.module.at(fact.span)
    of = node.value if isinstance(node, ast.Attribute) else ctx.module.parents.get(node) if isinstance(node, ast.keyword) else None
    if not isinstance(of, ast.expr):
        return True
    api = ctx.sdk.api
    known = members(ctx.sdk.type(of, ctx.module))
    first = next((one.name for one in known if isinstance(one, Instance) and api.renamed(one.name, name)), owner)
    return owner in api.bases(first)


def _patterns(fact: Symbol, ctx: Context) -> Iterator[Edit]:
    """The keywords of a class pattern; ast does not tell their places."""
    node = ctx.module.at(fact.span)
    if not isinstance(node, ast.MatchClass):
        return
    for name, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
        new = ctx.sdk.api.renamed(str(fact.key), name)
        if new is not None:
            data, end = ctx.module.source.utf8, ctx.module.span(pattern).start
            at = data.rindex(name.encode(), fact.span.start, end)
            yield Edit(Span(at, at + len(name.encode())), new)


def _may_be_ours(fact: Symbol, name: str, ctx: Context) -> bool:
    """Whether a field of something unknown is likely to be the SDK's: the file works with it, and no class of the project has one."""
    node = ctx.module.at(fact.span)
    if name == "progressToken" and guards.is_meta(node):
        return False  # a key of a dict now, and a finding of its own
    if not any(isinstance(other, Symbol) and other.use is SymbolUse.IMPORT for other in ctx.file.facts):
        return False
    return not any(name in ctx.sdk.fields_of(path) for path in ctx.sdk.near)


def _is_of_self(fact: Symbol, ctx: Context) -> bool:
    node = ctx.module.at(fact.span)
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")


def _is_made_here(fact: Symbol, name: str, ctx: Context) -> bool:
    """Whether the function of a test gives this field to an object of the SDK, and then asks something unknown for it.

    `send.call_args.kwargs["params"].maxTokens`: no mock says what it was called with.
    """
    node = ctx.module.at(fact.span)
    if node is None or not ctx.project.is_test(ctx.file.source.path):
        return False
    scope = ctx.module.scope(node)
    for call in ctx.module.of(ast.Call):
        if (
            isinstance(call, ast.Call)
            and any(word.arg in (name, _snake(name)) for word in call.keywords)
            and ctx.module.scope(call) is scope
        ):
            made = members(ctx.sdk.type(call.func, ctx.module))
            if any(isinstance(one, ClassOf) and _has_field(one.name, name, ctx) for one in made):
                return True
    return False


def _has_field(owner: str, name: str, ctx: Context, depth: int = 5) -> bool:
    """Whether a class is one of the SDK's that has the field, or derives from one."""
    path, own, qualified = owner.partition(OWN)
    if not own:
        return ctx.sdk.api.renamed(owner, name) is not None
    module = ctx.sdk.module_at(path)
    node = module.defined.get(qualified)
    if not isinstance(node, ast.ClassDef) or not depth:
        return False
    above = [ctx.sdk.type(base, module) for base in node.bases]
    return any(isinstance(one, ClassOf) and _has_field(one.name, name, ctx, depth - 1) for one in above)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: f"_{found[1].lower()}", name)
