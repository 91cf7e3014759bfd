"""Writes `mcp_rounds.py`: a tool of the standalone `fastmcp` is called again with the answer to what it has asked.

The question stays where it is. For servers of the official SDK `rounds.py` does the same, and writes `mcp_questions.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from weakref import WeakKeyDictionary

from ..facts.gates import ROUND_MODULE
from ..facts.model import Standalone, SymbolUse
from ..project import Project
from ..rule import Context, Import, NewFile
from ..sdk.modules import TRY, Def, Module, dotted
from ..sdk.types import OWN, ClassOf, Function, Instance, members
from ..source import Span
from . import homes, lines
from . import module as modules
from .edits import Edit
from .questions import Quiet, questions

NAME = ROUND_MODULE.removesuffix(".py")
ELICIT = "fastmcp.Context.elicit"
_TOOLS = frozenset({"fastmcp.FastMCP.tool", "fastmcp.tools.tool"})
# What holds back, or wraps, whatever leaves its block.
_HOLDS = frozenset({"suppress", "raises", "catch", "TaskGroup", "create_task_group"})
_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# What `elicit` of `fastmcp` 4 takes.
_TAKEN = frozenset({"message", "response_type", "response_title", "response_description"})


@dataclass(frozen=True)
class Plan:
    """A question that can be asked of clients of both kinds, and the tool that it is part of."""

    module: Module
    call: ast.Call
    function: ast.AsyncFunctionDef
    quiet: bool  # nobody notices that the function runs again from its start


def plan(fact: Standalone, project: Project, path: str) -> Plan | str:
    """What becomes of a question, or why nothing does."""
    assert project.sdk is not None
    module = project.sdk.module_at(path)
    call = module.at(fact.span)
    assert isinstance(call, ast.Call)
    function = module.function(call)
    if not fact.sure or not isinstance(call.func, ast.Attribute) or not isinstance(module.parents.get(call), ast.Await):
        return "it cannot be seen which call this belongs to"
    if not _says_what(call):
        return "it has to say what is wanted back first"
    if not isinstance(function, ast.AsyncFunctionDef) or not _is_tool(function, project, path, module):
        return "the function around it is no tool by its decorator alone, which could run again"
    if isinstance(module.parents.get(function), ast.ClassDef) or questions(project).is_used_otherwise(function, module, ()):
        return "other code calls this tool, and would take the question for its answer"
    if any(isinstance(above, _LOOPS) for above in _within(call, function, module)):
        return "it is asked in a loop, which may need more rounds than clients go along with"
    if any(_catches(above, project, module) for above in _within(call, function, module)):
        return "what is raised around it is caught, and may let the action go on without an answer"
    asked = _asked(function)
    sure = project.remember(f"questions for sure in {path}", lambda: {module.at(one.span) for one in _facts(project, path)})
    if not asked <= sure:
        return "not all that the function asks goes through a context for sure"
    if homes.is_taken(module, NAME):
        return f"`{NAME}` means something else here"
    return Plan(module, call, function, Quiet(questions(project), asked | _asked(function, moved=True)).before(function, module))


def edits(found: Plan, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    """The question goes through `asker`, and its tool runs again with the answer."""
    module, call = found.module, found.call
    assert isinstance(call.func, ast.Attribute)
    receiver = module.span(call.func.value)
    yield Edit(Span(receiver.start, receiver.start), f"{NAME}.asker(")
    yield Edit(Span(receiver.end, receiver.end), ")")
    if not any(dotted(decorator) == f"{NAME}.asks" for decorator in found.function.decorator_list):
        start = module.span(found.function).start
        at = lines.line_start(module.source, start)
        yield Edit(Span(at, at), f"{lines.indent_of(module.source, start)}@{NAME}.asks{module.source.newline}")
    home = _homes(ctx.project)[ctx.file.source.path]
    yield from homes.imported(ctx, home, NAME, module.span(call))
    if _path(home) not in ctx.project.files:
        yield NewFile(_path(home), modules.rounds(ctx.file.source.newline))


def obstacle(ctx: Context) -> str:
    """Why the module cannot be written."""
    home = _homes(ctx.project).get(ctx.file.source.path)
    held = ctx.project.files.get(_path(home)) if home is not None else None
    # What has all that is asked of it may look as its owner likes.
    return "" if held is None or "def asker(" in held.source.text else homes.obstacle(ctx.project, held.source.path)


def _says_what(call: ast.Call) -> bool:
    names = {word.arg for word in call.keywords}
    known = len(call.args) <= 2 and not any(isinstance(argument, ast.Starred) for argument in call.args) and names <= _TAKEN
    given = call.args[1] if len(call.args) == 2 else next((word.value for word in call.keywords if word.arg == "response_type"), None)
    # Release 4 raises a TypeError for None.
    return known and given is not None and not (isinstance(given, ast.Constant) and given.value is None)


def _is_tool(function: Def, project: Project, path: str, module: Module) -> bool:
    """Whether clients call it by a decorator of `fastmcp`, and nothing else stands between."""
    own = [one for one in function.decorator_list if dotted(one) != f"{NAME}.asks"]
    if len(own) != 1 or (isinstance(own[0], ast.Call) and any(word.arg in (None, "task") for word in own[0].keywords)):
        return False

    def found() -> set[ast.AST | None]:
        return {module.at(one.span) for one in project.of(path, Standalone) if one.sure and str(one.key) in _TOOLS}

    tools = project.remember(f"tools for sure in {path}", found)
    return own[0] in tools or getattr(own[0], "func", own[0]) in tools


def _asked(function: Def, *, moved: bool = False) -> set[ast.Call]:
    """All calls in a function that seem to ask; or those that do so through the module already."""
    return {
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "elicit" and is_moved(node) is moved
    }


def is_moved(call: ast.Call) -> bool:
    """Whether a question goes through the module already."""
    return (
        isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call) and dotted(call.func.value.func) == f"{NAME}.asker"
    )


def _catches(above: ast.AST, project: Project, module: Module) -> bool:
    """Whether what leaves this block may be caught."""
    if isinstance(above, ast.With | ast.AsyncWith):
        return any(_holds(item.context_expr, project, module) for item in above.items)
    return isinstance(above, TRY)


def _holds(manager: ast.expr, project: Project, module: Module) -> bool:
    assert project.sdk is not None
    made = manager.func if isinstance(manager, ast.Call) else manager
    if dotted(made).rpartition(".")[2] in _HOLDS:
        return True
    # One of the project's own may catch what it likes.
    known = [*members(project.sdk.type(made, module)), *members(project.sdk.type(manager, module))]
    return any(isinstance(one, ClassOf | Function | Instance) and OWN in one.name for one in known)


def _within(call: ast.Call, function: Def, module: Module) -> Iterator[ast.AST]:
    for above in module.around(call):
        if above is function:
            return
        yield above


def _facts(project: Project, path: str) -> Iterator[Standalone]:
    return (one for one in project.of(path, Standalone) if one.key == ELICIT and one.use is SymbolUse.CALL)


_HOMES: WeakKeyDictionary[Project, dict[str, str]] = WeakKeyDictionary()


def _homes(project: Project) -> dict[str, str]:
    if project not in _HOMES:
        users = [path for path in project.files if any(isinstance(plan(one, project, path), Plan) for one in _facts(project, path))]
        _HOMES[project] = homes.find(project, users, ROUND_MODULE)
    return _HOMES[project]


def _path(home: str) -> str:
    return str(PurePosixPath(home) / ROUND_MODULE)
