"""A tool asks its client in the middle of a request."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import questions, resolvers, rounds
from ...rewrite.edits import Edit
from ...rewrite.questions import Entry, Question
from ...rewrite.rounds import Verdict, Way
from ...rule import Applicability, Context, Finding, Import, NewFile

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    if fact.key in questions.REGISTERS:
        found = _registered(fact, ctx)
        if found is not None:
            entry, asked, verdict = found
            line = asked.module.source.position(asked.module.span(asked.call).start).line
            path = asked.module.path.replace("{", "{{").replace("}", "}}")
            message = f"`{entry.function.name}` asks its client in line {line} of {path}, which fails on every 2026-07-28 connection"
            yield _finding(fact, verdict, ctx, message)
        return
    question = questions.questions(ctx.project).at(ctx.file.source.path, fact)
    if question is not None:
        text = ctx.module.text(question.call.func)
        name = text if text.isidentifier() or text.replace(".", "").isidentifier() else str(fact.key).rpartition(".")[2]
        message = f"`{name}()` sends a request to the client, which fails on every 2026-07-28 connection"
        yield _finding(fact, rounds.verdict(question, ctx.project), ctx, message)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    if fact.key in questions.REGISTERS:
        found = _registered(fact, ctx)
        if found is not None:
            yield from rounds.decorated(found[0])
            yield from rounds.needs(ctx, fact.span)
        return
    known = questions.questions(ctx.project)
    question = known.at(ctx.file.source.path, fact)
    if question is None:
        return
    verdict = rounds.verdict(question, ctx.project)
    if verdict.plan is not None:
        yield from resolvers.edits(verdict.plan, tree, known)
    elif verdict.way is Way.ROUNDS and not rounds.obstacle(ctx):
        yield from rounds.asked(question, ctx)


def _finding(fact: Symbol, verdict: Verdict, ctx: Context, message: str | None = None) -> Finding:
    reason = verdict.reason or (rounds.obstacle(ctx) if verdict.way is Way.ROUNDS else "")
    if reason:
        return ctx.finding(fact, Applicability.MANUAL, message=message, hint=f"{reason}; {ctx.entry.hints['manual']}")
    hint = ctx.entry.hints["resolver" if verdict.way is Way.RESOLVER else verdict.applicability.word]
    return ctx.finding(fact, verdict.applicability, message=message, hint=hint)


def _registered(fact: Symbol, ctx: Context) -> tuple[Entry, Question, Verdict] | None:
    """A function that is registered here, and asks in another file."""
    known = questions.questions(ctx.project)
    if fact.use is not SymbolUse.CALL or not known.all:
        return None
    decorator = ctx.module.at(fact.span)
    function = ctx.module.parents.get(decorator) if decorator is not None else None
    if not isinstance(function, ast.AsyncFunctionDef) or decorator not in function.decorator_list:
        return None
    for question, entry in known.asked_by(function):
        if question.module is not ctx.module and not rounds.is_decorated(entry):
            verdict = rounds.verdict(question, ctx.project)
            if verdict.way is Way.ROUNDS:
                return entry, question, verdict
    return None
