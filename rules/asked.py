"""Which findings about questions and changes the rules of the SDK have, so that the others keep silent."""

from __future__ import annotations

from ..facts.gates import QUESTION_MODULE
from ..facts.model import Call, Opening, Standalone, Symbol, SymbolUse
from ..rule import Context
from ..source import Span

_SESSION = "mcp.server.session.ServerSession."
# What rules of the pack `fastmcp4` tell of, wherever it stands.
_TOLD = frozenset(
    {
        "fastmcp.Context.elicit",
        "fastmcp.Context.list_roots",
        "fastmcp.Context.send_tool_list_changed",
        "fastmcp.Context.send_resource_list_changed",
        "fastmcp.Context.send_prompt_list_changed",
        "fastmcp.Client.ping",
        "fastmcp.Client.set_logging_level",
    }
)


def is_told(fact: Call | Opening, ctx: Context) -> bool:
    """Whether a rule of the SDK reports the same place, and knows what to write there."""
    if ctx.project.sdk is None:
        return False
    if isinstance(fact, Call) and is_of_fastmcp(fact, ctx):
        return True
    from ..rewrite import questions, rounds

    known = questions.questions(ctx.project)
    if isinstance(fact, Opening):

        def found() -> frozenset[tuple[str, Span]]:
            verdicts = (rounds.verdict(question, ctx.project) for question in known.all)
            openings = (opening for verdict in verdicts for opening in verdict.openings)
            return frozenset((one.module.path, one.module.span(one.handler)) for one in openings)

        return (ctx.file.source.path, fact.span) in ctx.project.remember("handlers that let actions go on", found)
    # What `fix` has written asks whichever client can be asked.
    if ctx.file.source.path.rpartition("/")[2] == QUESTION_MODULE or fact.receiver.startswith(f"{rounds.NAME}.asker("):
        return True
    symbols = (other for other in ctx.project.at(ctx.file.source.path, Symbol, fact.span) if other.use is SymbolUse.CALL)
    return any(known.at(ctx.file.source.path, other) is not None for other in symbols)


def is_told_elsewhere(fact: Call, ctx: Context) -> bool:
    """Whether a rule of the SDK looks after what is sent through one of its sessions."""
    if ctx.project.sdk is None:
        return False
    symbols = ctx.project.at(ctx.file.source.path, Symbol, fact.span)
    told = any(other.use is SymbolUse.CALL and str(other.key).startswith(_SESSION) for other in symbols)
    return told or is_of_fastmcp(fact, ctx)


def is_of_fastmcp(fact: Call, ctx: Context) -> bool:
    """Whether this calls a method of `fastmcp`, which has rules of its own about what a connection can do."""
    calls = ctx.project.at(ctx.file.source.path, Standalone, fact.span) if ctx.project.sdk is not None else ()
    return any(other.use is SymbolUse.CALL and other.key in _TOLD for other in calls)
