"""A requirement keeps or admits mcp 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Fact, Requirement
from ...rewrite import requirements
from ...rewrite.edits import Edit
from ...rule import Aim, Applicability, Context, Finding
from ...sdk.majors import Major
from ..releases import blocked, bounds, is_moving_standalone, major, majors

if TYPE_CHECKING:
    from ...rewrite.tree import Tree


def check(fact: Fact, ctx: Context) -> Iterator[Finding]:
    if not isinstance(fact, Requirement):
        return
    if ctx.aim is Aim.HOLD:
        yield from _unheld(fact, ctx)
        return
    from ...facts.versions import Version

    _, end, low = ctx.entry.data["sdk"]
    limits = bounds(fact.specifier)
    if limits is None or not limits.begins_before(Version(end)):
        return
    written_for = major(ctx)
    keeps = not limits.reaches(Version(low))
    # Without a version an installation takes the newest, and that is what moved code wants.
    if (written_for is Major.OTHER and not (keeps and is_moving_standalone(ctx))) or (written_for is Major.TWO and not fact.specifier):
        return
    if ctx.keeps and written_for is Major.OTHER:  # what `fastmcp` needs is its own to say, and it says so for either release
        yield ctx.finding(fact, message=ctx.entry.messages["keeps"], hint=ctx.entry.hints["unused"])
        return
    if ctx.keeps and _is_kept(ctx):
        yield from _kept(fact, ctx, admits=not keeps, exactly=Major.ONE in majors(ctx))
        return
    if written_for is Major.BOTH:
        yield from _for_both(fact, ctx, keeps=keeps)
        return
    if written_for is Major.NONE:
        if keeps:
            yield ctx.finding(fact, message=ctx.entry.messages["keeps"], hint=ctx.entry.hints["unused"])
        return
    message = ctx.entry.messages["keeps"] if keeps else None if fact.specifier else ctx.entry.messages["any"]
    if fact.fixed:
        yield ctx.finding(fact, message=message, hint=fact.fixed)
    elif reason := blocked(ctx):
        yield ctx.finding(fact, message=message, hint=ctx.entry.hints["stuck"].format(reason=reason))
    else:
        yield ctx.finding(fact, Applicability.SAFE, message=message)


def fix(fact: Fact, tree: Tree, ctx: Context) -> Iterator[Edit]:
    if not isinstance(fact, Requirement):
        return
    wanted, end, _ = ctx.entry.data["sdk"]
    if ctx.aim is Aim.HOLD:
        below = f"<{end.partition('.')[0]}"
        yield from requirements.asking(fact, f"{fact.specifier},{below}" if fact.specifier else below)
    elif ctx.keeps and _is_kept(ctx):
        yield from requirements.asking(fact, _range(fact, ctx))
    elif major(ctx) is Major.BOTH:
        yield from requirements.asking(fact, _widened(fact, wanted))
    else:
        yield from requirements.asking(fact, wanted)


def _for_both(fact: Requirement, ctx: Context, *, keeps: bool) -> Iterator[Finding]:
    """Code for either release wants a range that has room for both, unless some of the code around it is for mcp 1 alone."""
    message = ctx.entry.messages["keeps"] if keeps else None if fact.specifier else ctx.entry.messages["any"]
    if (alone := majors(ctx).get(Major.ONE)) is not None:
        yield ctx.finding(fact, message=message, hint=ctx.entry.hints["mixed"].format(path=alone))
    elif keeps and (fact.fixed or (reason := blocked(ctx))):
        yield ctx.finding(fact, message=message, hint=fact.fixed or ctx.entry.hints["stuck"].format(reason=reason))
    elif keeps:
        hint = ctx.entry.hints["both"].format(range=_widened(fact, ctx.entry.data["sdk"][0]))
        yield ctx.finding(fact, Applicability.SAFE, message=message, hint=hint)


def _is_kept(ctx: Context) -> bool:
    """Whether some of the code is for mcp 1, or has nothing that only one release has: code for either by now has a range of its own."""
    return Major.ONE in majors(ctx) or major(ctx) is Major.EITHER


def _kept(fact: Requirement, ctx: Context, *, admits: bool, exactly: bool) -> Iterator[Finding]:
    """Code that is to run with both wants a range that has room for both, from the release on that this was checked with."""
    from ...facts.versions import Version

    limits = bounds(fact.specifier)
    low = ctx.entry.data["sdk_of_both"][1]
    if limits is None:
        return
    below = limits.begins_before(Version(low))
    if admits and fact.specifier and not (exactly and (below or limits.high is None)):
        return
    word = "keeps" if not admits else "any" if not fact.specifier else "below" if below else "open"
    message = ctx.entry.messages[word].replace("{low}", low)
    hint = fact.fixed or ctx.entry.hints["both"].format(range=_range(fact, ctx))
    yield ctx.finding(fact, Applicability.MANUAL if fact.fixed else Applicability.SAFE, message=message, hint=hint)


def _range(fact: Requirement, ctx: Context) -> str:
    """From the project's own lowest version, where that is not too low, to what is not known yet."""
    from ...facts.versions import Version

    limits = bounds(fact.specifier)
    whole, low = ctx.entry.data["sdk_of_both"]
    return whole if limits is None or limits.low is None or limits.begins_before(Version(low)) else f">={limits.low},<3"


def _widened(fact: Requirement, wanted: str) -> str:
    limits = bounds(fact.specifier)
    end = wanted.rpartition(",")[2]
    return end if limits is None or limits.low is None else f">={limits.low},{end}"


def _unheld(fact: Requirement, ctx: Context) -> Iterator[Finding]:
    """A requirement that would let an installation take mcp 2 for code that is written for mcp 1."""
    from ...facts.versions import Version

    limits = bounds(fact.specifier)
    _, end, _ = ctx.entry.data["sdk"]
    if limits is None or not limits.begins_before(Version(end)) or not limits.reaches(Version(end)):
        return
    if major(ctx) in (Major.ONE, Major.EITHER):
        message = ctx.entry.messages["hold" if fact.specifier else "hold_any"]
        hint = fact.fixed or ctx.entry.hints["hold"]
        yield ctx.finding(fact, Applicability.MANUAL if fact.fixed else Applicability.SAFE, message=message, hint=hint)
