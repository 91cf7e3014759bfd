"""An error code of the drafts is used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import ErrorCode, Fact
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ..meaning import spoken

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    # The numbers are free for own errors; only who speaks the revision can mean the drafts, and only with their words.
    if not isinstance(fact, ErrorCode) or not ctx.project.offers_modern(ctx.file):
        return
    final, word = ctx.entry.data[str(fact.key)]
    if word in spoken(fact, ctx.file.source):
        number = _is_number(fact, ctx)
        yield ctx.finding(fact, Applicability.UNSAFE if number else Applicability.MANUAL, hint=ctx.entry.hints["final"].format(code=final))


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
    # Through a name the number is changed where the name is defined.
    if isinstance(fact, ErrorCode) and _is_number(fact, ctx):
        yield Edit(fact.span, ctx.entry.data[str(fact.key)][0])


def _is_number(code: ErrorCode, ctx: Context) -> bool:
    return re.fullmatch(r"-?[\d_]+", ctx.file.source.slice(code.span)) is not None
