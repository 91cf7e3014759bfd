"""An action goes on although its user could not be asked."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol
from ...rewrite import questions, resolvers, rounds
from ...rewrite.edits import Edit
from ...rewrite.questions import Questions
from ...rule import Applicability, Context, Finding, Import

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    known = questions.questions(ctx.project)
    question = known.at(ctx.file.source.path, fact)
    if question is None:
        return
    verdict = rounds.verdict(question, ctx.project)
    told = _told(known, ctx)
    for opening in verdict.openings:
        if told[opening.handler] != known.numbers[question]:
            continue  # one handler for several questions
        # What lies in another file is told here, where the question is.
        here = opening.module is question.module
        span = opening.module.span(opening.handler) if here else fact.span
        how = Applicability.SAFE if verdict.plan is not None else Applicability.MANUAL
        yield ctx.finding(fact, how, span=span)


def _told(known: Questions, ctx: Context) -> dict[ast.ExceptHandler, int]:
    """The handlers that questions of this file lead to, with the number of the first of these."""

    def found() -> dict[ast.ExceptHandler, int]:
        out: dict[ast.ExceptHandler, int] = {}
        for question in known.inside(ctx.module):
            for opening in rounds.verdict(question, ctx.project).openings:
                out.setdefault(opening.handler, known.numbers[question])
        return out

    return ctx.project.remember(f"handlers that let actions go on, for questions of {ctx.module.path}", found)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    # The same edits as those of the question: both findings are gone with them.
    known = questions.questions(ctx.project)
    question = known.at(ctx.file.source.path, fact)
    verdict = rounds.verdict(question, ctx.project) if question is not None else None
    if verdict is not None and verdict.plan is not None and verdict.openings:
        yield from resolvers.edits(verdict.plan, tree, known)
