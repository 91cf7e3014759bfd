"""A tool of an SDK server does something before it asks, and so again with every answer."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

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
        if question is not None:
            steps = _steps(question, known, ctx)
            number, told = known.numbers[question], _told(known, ctx)
            yield from _findings(fact, steps, known, ctx, lambda node: told.get(node, number) < number)
        return
    yield from _findings(fact, steps, known, ctx, lambda node: False)


def _told(known: Questions, ctx: Context) -> dict[ast.expr | ast.stmt, int]:
    """What is repeated by questions of this file, with the number of the first of these."""

    def found() -> dict[ast.expr | ast.stmt, int]:
        out: dict[ast.expr | ast.stmt, int] = {}
        for question in known.inside(ctx.module):
            for _, node, _ in known.repeated(_steps(question, known, ctx)):
                out.setdefault(node, known.numbers[question])
        return out

    return ctx.project.remember(f"work repeated in {ctx.module.path}", found)


def _findings(
    fact: Symbol, steps: list[Step], known: Questions, ctx: Context, is_told: Callable[[ast.expr | ast.stmt], bool]
) -> Iterator[Finding]:
    seen = set()
    for _, node, what in known.repeated(steps):
        if node not in seen and not is_told(node):
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
    return [
        step
        for question, step in known.led_through(function)
        if question.module is not ctx.module and rounds.verdict(question, ctx.project).way is Way.ROUNDS
    ]
