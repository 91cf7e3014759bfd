"""Makes a server that keeps something about its client right behind the boundary: questions, log level, subscriptions.

`plan` is all or nothing: either every place is understood and has its edits, or the first blocker says which one is not.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..facts.asking import Asking, asking
from ..facts.capabilities import Check, unknown
from ..facts.clientstate import levels, reads, subscribed
from ..facts.consent import openings
from ..facts.functions import Module
from ..facts.publications import publications
from ..facts.reach import swallowed, untimely
from ..facts.waiters import Doubt, Form, Waiter
from ..rule import Era
from ..source import Span
from . import clientstate, leftovers, publishing
from .edits import Edit
from .lines import above, block, deeper, indent_of, line_start, moved, step_of
from .module import Part, notified
from .tree import Tree

# What builds a message, asks the client, or keeps what it has set.
_TALKS = re.compile(
    rb"[\"']method[\"']\s*:|\bmethod=|elicitation|sampling|roots|set_?level|subscri|list_changed|/updated|/message|clientInfo|client_info",
    re.IGNORECASE,
)
_USES = {
    "ask(": Part.ASK,
    "client_capabilities(": Part.CAPABILITIES,
    "log_level(": Part.LOGGING,
    "subscribed": Part.LISTEN,
    "publish(": Part.STREAMS,
}


@dataclass(frozen=True, slots=True)
class Plan:
    """What has to be edited, and what the edits need.

    `parts` are the parts of the runtime that the edits and the notifications of the module use. `before` is the offset at or
    before which the module must define the `Stateless` object, because a module-level statement uses it there.
    """

    edits: tuple[Edit, ...] = ()
    parts: frozenset[Part] = frozenset()
    before: int | None = None


@dataclass(frozen=True, slots=True)
class Blocker:
    """The place that keeps the whole server from being wired, and why."""

    span: Span
    reason: str


def plan(
    module: Module,
    tree: Tree,
    *,
    era: Era,
    boundary: frozenset[str] = frozenset(),
    handle: str = "MCP",
    stdio: bool = True,
    http: bool = False,
    tasks: bool = False,
) -> Plan | Blocker:
    """The edits beside the two hooks for one module.

    `boundary` names the dispatchers (dotted inside the module) that get the hooks; what stands above them in the call
    tree is not looked at. `handle` is how the `Stateless` object is called where functions use it. Over `stdio` the one
    client of this revision shares what is kept of subscriptions; over `http` changes are published to all that listen.
    `tasks` says that a question may be asked in a task of its own.
    """
    # Most servers neither ask nor keep anything: a look at their bytes is a thirtieth of what a look at their syntax costs.
    if not _TALKS.search(module.source.utf8) and module.source.utf8.count(b"apabilities") < 2:
        return Plan()
    found = asking(module)
    edits: list[Edit] = []
    before: int | None = None
    for step in (*_steps(found, module, tree, era, boundary, handle, tasks), *_changes(module, handle, stdio=stdio, http=http)):
        match step:
            case Doubt(span=span, reason=reason):
                return Blocker(span, reason)
            case int():
                before = step if before is None else min(before, step)
            case Edit():
                edits.append(step)
    parts = frozenset(_parts(edits, module, handle))
    return Plan(tuple(edits), parts if stdio else parts - {Part.LISTEN}, before)


def elsewhere(module: Module, *, stdio: bool = True) -> Doubt | None:
    """Why a module that is not the dispatcher's own keeps the server from being wired: it asks, or keeps something, by itself."""
    if any("mcp_stateless" in (node.module or "") for node in module.tree.body if isinstance(node, ast.ImportFrom)):
        return None  # wired by hand
    found = asking(module)
    asks = [*(module.span(waiter.request.node) for waiter in found.waiters), *(doubt.span for doubt in found.doubts)]
    if asks:
        return Doubt(asks[0], "another module than the dispatcher's asks the client")
    kept = next((node for stored in levels(module) for node, _ in reads(stored, module)), None)
    if kept is None and stdio:
        # Over HTTP this is for clients with a session only.
        kept = next(subscribed(module), None)
    return Doubt(module.span(kept), "another module than the dispatcher's keeps what its client has set") if kept is not None else None


def announces(module: Module) -> bool:
    """Whether a module that is not the dispatcher's own tells clients of changes: the boundary has no part in it there."""
    return next(publications(module), None) is not None


def _steps(
    found: Asking, module: Module, tree: Tree, era: Era, boundary: frozenset[str], handle: str, tasks: bool
) -> Iterator[Edit | Doubt]:
    yield from found.doubts
    yield from untimely(found)
    yield from swallowed(found, boundary, tasks=tasks)
    for opening in openings(found):
        yield Doubt(opening.span, opening.reason)
    for waiter in found.waiters:
        yield from asked(waiter, module, era, handle)
    checks = found.checks()
    if found.waiters:
        for node in unknown(checks, module):
            yield Doubt(module.span(node), "this looks at the client's capabilities in a way that is not understood")
    for check in checks:
        if era is Era.MODERN and (statement := _whole_refusal(check, module)) is not None:
            yield from leftovers.statement(statement, module, tree)
        else:
            yield from clientstate.checked(check, module, era, handle)
    yield from clientstate.levelled(module, tree, era, handle)
    if era is Era.MODERN:
        yield from leftovers.answers(found, module, tree)


def _changes(module: Module, handle: str, *, stdio: bool, http: bool) -> Iterator[Edit | Doubt | int]:
    if http:
        yield from publishing.published(module, handle)
    if stdio:
        yield from clientstate.subscriptions(module, handle)


def asked(waiter: Waiter, module: Module, era: Era, handle: str) -> Iterator[Edit | Doubt]:
    """The modern way through a waiter: `MCP.ask` in place of sending and waiting."""
    source, body = module.source, waiter.function.node.body
    first, last = body[waiter.start], body[waiter.stop - 1]
    span = Span(module.span(first).start, module.span(last).end)
    if source.utf8[line_start(source, span.start) : span.start].strip():
        yield Doubt(span, "the function that asks the client shares its line with its first statement")
        return
    statement, step = _statement(waiter, module, handle), step_of(module)
    if era is Era.MODERN:
        yield Edit(span, block(source, textwrap.indent(statement, indent_of(source, span.start)).lstrip()))
        return
    text = f"if {handle}.modern:\n{textwrap.indent(statement, step)}\n"
    if waiter.form is Form.WRAP:
        at = line_start(source, span.start)
        yield above(module, first, text + "else:\n")
        yield Edit(Span(at, at), step)
        yield from deeper(module, first, last, step)
    else:
        yield above(module, first, text)


def _statement(waiter: Waiter, module: Module, handle: str) -> str:
    """What takes the place of sending and waiting, as it stands at the left margin."""
    method, params = waiter.request.method, waiter.request.params
    text = "{}" if params is None else moved(module, params) or ast.unparse(params)
    if waiter.request.optional and not isinstance(params, ast.Dict):
        text = f"{text} or {{}}"
    ask = f"{handle}.ask({module.text(method)}, {text})"
    if waiter.envelope:
        ask = f'{{"result": {ask}}}'
    match waiter.form:
        case Form.LEAVE:
            return f"return {ask}"
        case Form.WRAP:
            return f"{ast.unparse(waiter.answer)} = {ask}"
    whole, inner = module.span(waiter.function.node.body[-1]), module.span(waiter.answer)
    before, after = module.source.slice(Span(whole.start, inner.start)), module.source.slice(Span(inner.end, whole.end))
    if "\n" not in before + after:
        return f"{before}{ask}{after}"
    return ast.unparse(ast.parse(f"async def _():\n {before}{ask}{after}")).partition("\n")[2].strip()


def _whole_refusal(check: Check, module: Module) -> ast.If | None:
    """The `if` that does nothing but refuse clients without the capability: `MCP.ask` does that."""
    match module.parents.get(check.test):
        case ast.If(test=test, orelse=[]) as statement if check.refuses and check.negative and test is check.test:
            holder = module.parents.get(statement)
            is_elif = isinstance(holder, ast.If) and holder.orelse == [statement]
            return None if is_elif else statement
    return None


def _parts(edits: Sequence[Edit], module: Module, handle: str) -> Iterator[Part]:
    for name, part in _USES.items():
        if any(f"{handle}.{name}" in edit.text for edit in edits):
            yield part
    yield from notified(module.nodes(ast.Constant))
