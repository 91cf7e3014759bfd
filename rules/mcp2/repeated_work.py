"""A tool of an SDK server does something before it asks, and so again with every answer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.model import Symbol, SymbolUse
from ...rewrite import questions, rounds
from ...rewrite.questions import Question, Questions, Step
from ...rewrite.rounds import Way
from ...rule import Context, Finding


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    known = questions.questions(ctx.project)
    if fact.key in questions.REGISTERS:
        steps = _handed_on(fact, known, ctx)
    else:
        question = known.at(ctx.file.source.path, fact)
        steps = _steps(question, known, ctx) if question is not None else []
        earlier = [one for one in known.all if question is not None and one.module is question.module]
        earlier = earlier[: earlier.index(question)] if question in earlier else []
        told = {node for one in earlier for _, node, _ in known.repeated(_steps(one, known, ctx))}
        yield from _findings(fact, steps, known, ctx, told)
        return
    yield from _findings(fact, steps, known, ctx, set())


def _findings(fact: Symbol, steps: list[Step], known: Questions, ctx: Context, told: set[ast.expr | ast.stmt]) -> Iterator[Finding]:
    seen = {*told}
    for _, node, what in known.repeated(steps):
        if node not in seen:
            seen.add(node)
            message = ctx.entry.message.replace("{what}", what.replace("{", "{{").replace("}", "}}"))
            yield ctx.finding(fact, span=ctx.module.span(node), message=message)


def _steps(question: Question, known: Questions, ctx: Context) -> list[Step]:
    """The calls of the question's own file on the way to it."""
    if rounds.verdict(question, ctx.project).way is not Way.ROUNDS:
        return []
    return [step for step in known.reach(question).steps if step.module is ctx.module]


def _handed_on(fact: Symbol, known: Questions, ctx: Context) -> list[Step]:
    """The calls of a function that is registered here, which lead to questions of other files."""
    decorator = ctx.module.at(fact.span) if fact.use is SymbolUse.CALL and known.all else None
    function = ctx.module.parents.get(decorator) if decorator is not None else None
    found = []
    for question in known.all:
        if question.module is not ctx.module and rounds.verdict(question, ctx.project).way is Way.ROUNDS:
            found += [step for step in known.reach(question).steps if step.function is function]
    return found
