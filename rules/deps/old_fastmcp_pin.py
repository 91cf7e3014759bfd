"""A requirement keeps or admits fastmcp 2 or 3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Fact, FileFacts, Requirement
from ...rewrite import requirements
from ...rewrite.edits import Edit
from ...rule import Aim, Applicability, Context, Finding
from ...sdk.majors import Line
from ..releases import SDK, blocked, bounds, is_moving, lines, runs_on

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if not isinstance(fact, Requirement):
        return
    from ...facts.versions import Version

    _, end, low = ctx.entry.data["standalone"]
    limits = bounds(fact.specifier)
    if limits is None or not limits.begins_before(Version(end)):
        return
    written_for, keeps = lines(ctx), not limits.reaches(Version(low))
    if ctx.aim is Aim.HOLD:
        if fact.specifier and limits.reaches(Version(end)) and {Line.OLD, Line.EITHER} & written_for:
            applicability = Applicability.MANUAL if fact.fixed else Applicability.SAFE
            yield ctx.finding(fact, applicability, message=ctx.entry.messages["hold"], hint=fact.fixed or ctx.entry.hints["hold"])
        return
    # Without a version an installation takes the newest, and that is what moved code wants.
    if _is_content(fact, written_for):
        return
    if ctx.keeps and _is_kept(written_for):
        yield from _kept(fact, ctx, admits=not keeps)
        return
    message = ctx.entry.messages[_trap(ctx.file)] if keeps else None if fact.specifier else ctx.entry.messages["any"]
    if not written_for and not is_moving(ctx):
        if keeps:
            yield ctx.finding(fact, message=message, hint=ctx.entry.hints["unused"])
    elif Line.BOTH in written_for:
        if keeps:
            yield ctx.finding(fact, message=message, hint=ctx.entry.hints["both"])
    elif not written_for and not keeps:
        return
    elif fact.fixed:
        yield ctx.finding(fact, message=message, hint=fact.fixed)
    elif reason := blocked(ctx):
        yield ctx.finding(fact, message=message, hint=ctx.entry.hints["stuck"].format(reason=reason))
    else:
        python = runs_on(ctx, fact)
        hint = ctx.entry.hints["python"].format(python=python) if python else ""
        yield ctx.finding(fact, Applicability.SAFE, message=message, hint=hint)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
    if isinstance(fact, Requirement):
        wanted, end, _ = ctx.entry.data["standalone"]
        below = f"<{end.partition('.')[0]}"
        kept = ctx.keeps and _is_kept(lines(ctx))
        yield from requirements.asking(fact, _range(fact, ctx) if kept else f"{fact.specifier},{below}" if ctx.aim is Aim.HOLD else wanted)


def _is_kept(written_for: frozenset[Line]) -> bool:
    """Whether some of the code is for fastmcp 2 or 3, or has nothing that only one release has, and is to run with 3 and 4."""
    return bool({Line.OLD, Line.EITHER} & written_for) and Line.NEW not in written_for


def _kept(fact: Requirement, ctx: Context, *, admits: bool) -> Iterator[Finding]:
    """Code that is to run with both wants a range that has room for both, from the release on that this was checked with."""
    from ...facts.versions import Version

    limits = bounds(fact.specifier)
    low = ctx.entry.data["standalone_of_both"][1]
    if limits is None:
        return
    below = limits.begins_before(Version(low))
    if admits and fact.specifier and not below and limits.high is not None:
        return
    word = _trap(ctx.file) if not admits else "any" if not fact.specifier else "below" if below else "open"
    message = ctx.entry.messages[word].replace("{low}", low)
    hint = fact.fixed or ctx.entry.hints["kept"].format(range=_range(fact, ctx))
    yield ctx.finding(fact, Applicability.MANUAL if fact.fixed else Applicability.SAFE, message=message, hint=hint)


def _range(fact: Requirement, ctx: Context) -> str:
    """From the project's own lowest version, where that is not too low, to what is not known yet."""
    from ...facts.versions import Version

    limits = bounds(fact.specifier)
    whole, low = ctx.entry.data["standalone_of_both"]
    return whole if limits is None or limits.low is None or limits.begins_before(Version(low)) else f">={limits.low},<5"


def _is_content(fact: Requirement, written_for: frozenset[Line]) -> bool:
    """Whether no version is asked for, and the code runs with the newest."""
    return not fact.specifier and Line.OLD not in written_for


def _trap(file: FileFacts) -> str:
    """The word of the message, by whether the same file asks for mcp 2."""
    from ...facts.versions import Version

    asked = [fact for fact in file.facts if isinstance(fact, Requirement) and fact.key == SDK]
    limits = [bounds(fact.specifier) for fact in asked]
    return "trap" if any(one is not None and one.low is not None and one.low >= Version("2.0.dev0") for one in limits) else "keeps"
