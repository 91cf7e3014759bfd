"""An argument that `fastmcp` 4 knows by another name or at another place, or not at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...facts.model import Standalone, SymbolUse
from ...rewrite import calls, lines
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.modules import Def
from ...sdk.types import Instance
from ...source import Span
from .. import hiding

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


class Change(NamedTuple):
    """What becomes of one keyword: its new name, or "" where it goes, or the word of the hint for a human.

    Where it goes, a statement below may say what it said, or the parameters that it left out.
    """

    word: ast.keyword
    new: str
    hint: str = ""
    below: str = ""
    left: tuple[hiding.Left, ...] = ()


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return
    if _is_prefix_first(fact, node, ctx):
        message = "`mount()` takes the server first, and what its names begin with second"
        yield ctx.finding(
            fact, Applicability.SAFE if _swapped(node, ctx) else Applicability.MANUAL, message=message, hint=ctx.entry.hints["order"]
        )
    for argument, name in _by_place(fact, node, ctx):
        if any(change.hint for change in _changes(fact, [ast.keyword(name, argument)], ctx)):
            continue
        message = f"`{name}` of `{fact.key}` has to be given by its name"
        yield ctx.finding(fact, Applicability.SAFE if fact.sure else Applicability.UNSAFE, message=message, span=ctx.module.span(argument))
    words = [*node.keywords, *(ast.keyword(name, argument) for argument, name in _by_place(fact, node, ctx))]
    for change in _changes(fact, words, ctx):
        old = change.word.arg
        if change.hint:
            hint = ctx.entry.hints[change.hint].format(
                server=_server(node, ctx), value=ctx.module.text(change.word.value), first=_first(node, ctx)
            )
            yield ctx.finding(fact, message=f"fastmcp 4 takes no `{old}` here", span=_span(change.word, ctx), hint=hint)
        elif change.below or change.left:
            hints, statement = ctx.entry.hints, " ".join(change.below.split())
            hint = hints["below"].format(statement=statement) if statement else hints["left_out"]
            message = f"fastmcp 4 takes no `{old}` here"
            yield ctx.finding(fact, Applicability.SAFE, message=message, span=_span(change.word, ctx), hint=hint)
        elif change.word in node.keywords:
            what = f"is `{change.new}` now" if change.new else "is not taken any more"
            message = f"`{old}` of `{fact.key}` {what}"
            # An object that may be something else as well may want the old name.
            yield ctx.finding(fact, Applicability.SAFE if fact.sure else Applicability.UNSAFE, message=message)


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    call, node = calls.at(tree, fact.span), ctx.module.at(fact.span)
    if call is None or not isinstance(node, ast.Call):
        return
    if _is_prefix_first(fact, node, ctx):
        yield from _swapped(node, ctx)
    by_place = [name for _, name in _by_place(fact, node, ctx)]
    for place, name in enumerate(by_place, start=len(node.args) - len(by_place)):
        yield calls.named(tree, call.args[place], name)
    found = [change for change in _changes(fact, node.keywords, ctx) if not change.hint]
    for change in found:
        argument = calls.keyword(call, change.word.arg or "")
        if argument is not None and change.new:
            yield calls.renamed(tree, argument, change.new)
    gone = [calls.keyword(call, change.word.arg or "") for change in found if not change.new]
    yield from calls.drop(tree, call, [argument for argument in gone if argument is not None])
    for left in (left for change in found for left in change.left):
        span = ctx.module.span(left.annotation)
        yield Edit(Span(span.start, span.start), "Annotated[")
        yield Edit(Span(span.end, span.end), f", Depends(lambda: {left.default})]")
        yield Import("typing", "Annotated")
        yield Import("fastmcp.dependencies", "Depends")
    # What is hidden is so whatever was enabled, so that it comes last.
    hiding_last = sorted((change for change in found if change.below), key=lambda change: change.below, reverse=True)
    texts = [f"{change.below}{_remark(change.word, ctx)}\n" for change in hiding_last]
    statement = ctx.module.statement(node)
    if texts and statement is not None:
        nested = "" if not isinstance(statement, Def) else "\n" if statement.col_offset else "\n\n"
        edit = lines.below(ctx.module, statement, "".join(texts))
        yield edit._replace(text=lines.block(ctx.module.source, nested) + edit.text)


def _by_place(fact: Standalone, node: ast.Call, ctx: Context) -> Iterator[tuple[ast.expr, str]]:
    """Arguments whose place means something else in release 4, or nothing, with the names that they had."""
    for places in ctx.entry.data["places"]:
        key, stays, *names = places.split()
        first = int(stays)
        given = {word.arg for word in node.keywords}
        fits = len(node.args) <= first + len(names) and not given & {None, *names[: max(0, len(node.args) - first)]}
        if key == fact.key and fits and not any(isinstance(one, ast.Starred) for one in node.args):
            yield from zip(node.args[first:], names, strict=False)


def _span(word: ast.keyword, ctx: Context) -> Span:
    """Where an argument stands, with its name if it is given one."""
    return ctx.module.span(word if hasattr(word, "lineno") else word.value)


def _changes(fact: Standalone, words: Sequence[ast.keyword], ctx: Context) -> Iterator[Change]:
    given = {word.arg for word in words}
    for word in words:
        for change in ctx.entry.data.get(str(fact.key).removesuffix(".__init__"), ()):
            left, arrow, new = change.partition("->")
            name, _, rest = left.partition(" ")
            if name != word.arg:
                continue
            if not arrow:
                yield _told(fact, word, rest.strip(" ?"), ctx)
            elif new.strip() and new.strip() not in given:
                yield Change(word, new.strip())
            elif not new.strip() and ast.unparse(word.value) == rest.strip(" ="):
                yield Change(word, "")
            else:
                continue
            break


def _told(fact: Standalone, word: ast.keyword, hint: str, ctx: Context) -> Change:
    """What is written in place of a keyword that nothing takes, where that is sure; otherwise a hint."""
    node = ctx.module.at(fact.span)
    if not fact.sure or not isinstance(node, ast.Call) or word not in node.keywords:
        return Change(word, "", hint)
    if hint in ("include_tags", "exclude_tags") and (below := hiding.tags(node, word, ctx)):
        return Change(word, "", below=below)
    if hint == "enabled" and str(fact.key).startswith("fastmcp.FastMCP.") and (below := hiding.component(node, word, ctx)):
        return Change(word, "", below=below)
    if hint == "exclude_args" and (left := hiding.left_out(node, word, ctx)):
        return Change(word, "", left=(*left,))
    return Change(word, "", hint)


def _remark(word: ast.keyword, ctx: Context) -> str:
    """The comment at the end of the line of an argument, which goes where the argument goes."""
    source, end = ctx.module.source, ctx.module.span(word).end
    rest = source.utf8[end : lines.next_line(source, end)].decode("utf-8").strip().removeprefix(",").strip()
    return f"  {rest}" if rest.startswith("#") else ""


def _is_prefix_first(fact: Standalone, node: ast.Call, ctx: Context) -> bool:
    """`mount("prefix", server)`, as releases before 2.9 had it; those until 2.14 turn it round."""
    if fact.key != "fastmcp.FastMCP.mount" or not node.args or not fact.sure:
        return False
    known = ctx.sdk.type(node.args[0], ctx.module)
    text = isinstance(node.args[0], ast.Constant | ast.JoinedStr) or (isinstance(known, Instance) and known.name == "str")
    return text and (len(node.args) > 1 or any(word.arg == "server" for word in node.keywords))


def _swapped(node: ast.Call, ctx: Context) -> list[Edit]:
    """The two in their new order; nothing where they are not plain arguments."""
    if len(node.args) != 2 or any(isinstance(one, ast.Starred) for one in node.args):
        return []
    if any(word.arg in (None, "server", "prefix", "namespace") for word in node.keywords):
        return []
    first, second = node.args
    text = ctx.module.text
    return [Edit(ctx.module.span(first), text(second)), Edit(ctx.module.span(second), text(first))]


def _server(node: ast.Call, ctx: Context) -> str:
    statement = ctx.module.statement(node)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    return ctx.module.text(target) if isinstance(target, ast.Name | ast.Attribute) else "server"


def _first(node: ast.Call, ctx: Context) -> str:
    given = next((word.value for word in node.keywords if word.arg == "server"), node.args[0] if node.args else None)
    return ctx.module.text(given) if given is not None else "server"
