"""Writes `mcp_questions.py`: a tool of the official SDK is called again with the answer to what it has asked.

The question stays where it is. For servers of the standalone `fastmcp` `answers.py` does the same, and writes `mcp_rounds.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import PurePosixPath
from weakref import WeakKeyDictionary

from ..facts.gates import QUESTION_MODULE
from ..project import Project
from ..rule import Applicability, Context, Import, NewFile
from ..sdk.modules import dotted
from ..source import Span
from . import homes, lines, resolvers
from . import module as modules
from .edits import Edit
from .questions import Entry, Opening, Question, Questions, questions

NAME = QUESTION_MODULE.removesuffix(".py")


class Way(Enum):
    """How clients of both kinds can be asked."""

    RESOLVER = "resolver"
    ROUNDS = "rounds"
    NONE = "none"


@dataclass(frozen=True)
class Verdict:
    """What becomes of a question, and why nothing, where that is so."""

    way: Way
    applicability: Applicability
    reason: str = ""
    plan: resolvers.Plan | None = None
    openings: tuple[Opening, ...] = field(default=())


_VERDICTS: WeakKeyDictionary[Project, dict[Question, Verdict]] = WeakKeyDictionary()


def verdict(question: Question, project: Project) -> Verdict:
    """How a question can be asked of clients of both kinds; found once."""
    known = _VERDICTS.setdefault(project, {})
    if question not in known:
        known[question] = _verdict(question, questions(project))
    return known[question]


def _verdict(question: Question, found: Questions) -> Verdict:
    reach = found.reach(question)
    openings = tuple(found.openings(question))
    plan = resolvers.plan(question, found)
    if plan is not None:
        return Verdict(Way.RESOLVER, Applicability.SAFE, plan=plan, openings=openings)
    if not openings:  # what else these functions ask is as much a part of them
        tools = {entry.function for entry in reach.entries}
        beside = {one for tool in tools for one, _ in found.asked_by(tool) if one is not question}
        opening = next((opening for one in found.in_order(beside) for opening in found.openings(one)), None)
        if opening is not None:
            line = opening.module.source.position(opening.module.span(opening.handler).start).line
            return Verdict(
                Way.NONE, Applicability.MANUAL, f"nothing is rewritten as long as line {line} lets the action go on without an answer"
            )
    elif openings:
        line = openings[0].module.source.position(openings[0].module.span(openings[0].handler).start).line
        reason = f"nothing is rewritten as long as line {line} lets the action go on without an answer"
        return Verdict(Way.NONE, Applicability.MANUAL, reason, openings=openings)
    if question.origin is None:
        return Verdict(Way.NONE, Applicability.MANUAL, "it cannot be seen which request this belongs to")
    if reach.doubt or not reach.entries:
        return Verdict(Way.NONE, Applicability.MANUAL, reach.doubt)
    if any("Resolve(" in _annotations(entry) for entry in reach.entries):
        return Verdict(Way.NONE, Applicability.MANUAL, "the tool has parameters that resolvers fill, and the SDK allows only one of both")
    if any(homes.is_taken(module, NAME) for module in {question.module, *(entry.module for entry in reach.entries)}):
        return Verdict(Way.NONE, Applicability.MANUAL, f"`{NAME}` means something else here")
    return Verdict(Way.ROUNDS, Applicability.SAFE if found.is_repeatable(reach) else Applicability.UNSAFE)


def asked(question: Question, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    """The question goes through `asker`, and the tools of this file that it is part of run again with its answer."""
    module, call = question.module, question.call
    assert isinstance(call.func, ast.Attribute)
    assert question.origin is not None
    receiver, origin = module.span(call.func.value), module.span(question.origin)
    if isinstance(call.func.value, ast.Name) and call.func.value is not question.origin:
        yield Edit(receiver, f"{NAME}.asker({module.text(question.origin)})")
    else:
        yield Edit(Span(origin.start, origin.start), f"{NAME}.asker(")
        yield Edit(Span(origin.end, receiver.end), ")")
    if call.func.attr != question.name:
        yield Edit(module.attribute_span(call.func), question.name)
    for keyword in call.keywords:
        if keyword.arg == "requestedSchema":
            start = module.span(keyword).start
            yield Edit(Span(start, start + len("requestedSchema")), "requested_schema")
    for entry in questions(ctx.project).reach(question).entries:
        if entry.module is module:
            yield from decorated(entry)
    yield from needs(ctx, module.span(call))


def decorated(entry: Entry) -> Iterator[Edit]:
    """The decorator that has a function run again."""
    if is_decorated(entry):
        return
    module, function = entry.module, entry.function
    source = module.source
    if entry.place is not None:
        at = lines.next_line(source, module.span(entry.place).end)
    elif function.decorator_list:
        at = lines.line_start(source, module.span(function.decorator_list[0]).start)
    else:
        at = lines.line_start(source, module.span(function).start)
    indent = lines.indent_of(source, module.span(function).start)
    yield Edit(Span(at, at), f"{indent}@{NAME}.asks{source.newline}")


def is_decorated(entry: Entry) -> bool:
    """Whether a tool has the decorator of `mcp_questions` already."""
    return any(dotted(decorator) == f"{NAME}.asks" for decorator in entry.function.decorator_list)


def obstacle(ctx: Context) -> str:
    """Why the module cannot be written."""
    home = _homes(ctx.project).get(ctx.file.source.path)
    held = ctx.project.files.get(_path(home)) if home is not None else None
    # What has all that is asked of it may look as its owner likes.
    return "" if held is None or "def asker(" in held.source.text else homes.obstacle(ctx.project, held.source.path)


def needs(ctx: Context, at: Span) -> Iterator[Edit | Import | NewFile]:
    """The module, and its import."""
    home = _homes(ctx.project).get(ctx.file.source.path)
    if home is None:
        return
    yield from homes.imported(ctx, home, NAME, at)
    if _path(home) not in ctx.project.files:
        yield NewFile(_path(home), modules.questions(ctx.file.source.newline))


_HOMES: WeakKeyDictionary[Project, dict[str, str]] = WeakKeyDictionary()


def _homes(project: Project) -> dict[str, str]:
    if project not in _HOMES:
        found = questions(project)
        users = []
        for question in found.all:
            if verdict(question, project).way is Way.ROUNDS:
                users += [question.module.path, *(entry.module.path for entry in found.reach(question).entries)]
        _HOMES[project] = homes.find(project, dict.fromkeys(users), QUESTION_MODULE)
    return _HOMES[project]


def _path(home: str) -> str:
    return str(PurePosixPath(home) / QUESTION_MODULE)


def _annotations(entry: Entry) -> str:
    function = entry.function.args
    parameters = [*function.posonlyargs, *function.args, *function.kwonlyargs]
    return " ".join(entry.module.text(parameter.annotation) for parameter in parameters if parameter.annotation is not None)
