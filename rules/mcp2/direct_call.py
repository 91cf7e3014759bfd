"""`await server.call_tool(...)` outside of a client, and tools, prompts and templates that are run by themselves."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import
from ...sdk.modules import How, Module, Scope
from ...sdk.types import ClassOf
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_SERVERS = ("mcp.server.fastmcp.server.FastMCP.call_tool", "mcp.server.mcpserver.server.MCPServer.call_tool")
_PARTS = (".content", ".structured_content")


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call) or not fact.sure:
        return
    if fact.key not in _SERVERS:
        if _lacks_context(fact, node, ctx):
            yield ctx.finding(
                fact,
                Applicability.SAFE,
                message="what runs this by itself has to be given a context in version 2",
                hint=ctx.entry.hints["context"],
            )
        return
    edits = _edits(node, ctx)
    if edits is None:
        if _is_old(fact, node, ctx):
            yield ctx.finding(fact, Applicability.MANUAL)
    elif edits:
        yield ctx.finding(fact, Applicability.SAFE)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import]:
    from ...rewrite import calls

    node = ctx.module.at(fact.span)
    if not isinstance(node, ast.Call):
        return
    if fact.key in _SERVERS:
        edits = _edits(node, ctx) or []
        yield from edits
        if any("CallToolResult" in edit.text for edit in edits):
            yield Import("mcp.types", "CallToolResult")
    elif _lacks_context(fact, node, ctx):
        call = calls.at(tree, fact.span)
        if call is not None:
            name = _context(ctx.module.scope(node), ctx)
            yield from calls.add(tree, call, [f"context={name}()"])
            if name not in ctx.module.scopes[ctx.module.tree].bindings:
                yield Import("mcp.server.mcpserver", "Context" if name == "Context" else f"Context as {name}")


def _context(scope: Scope, ctx: Context) -> str:
    """The name by which the file reaches the SDK's own `Context`, or will; it may have another thing of this name."""
    for name in ("Context", "MCPContext", "ServerContext"):
        bindings = [binding for inner in (scope, ctx.module.scopes[ctx.module.tree]) for binding in inner.bindings.get(name, ())]
        if all(binding.target in ctx.entry.data["contexts"] and not _is_for_checkers(binding.node, ctx.module) for binding in bindings):
            return name
    return "SDKContext"


def _is_for_checkers(node: ast.AST, module: Module) -> bool:
    """Whether an import happens for type checkers alone."""
    return any(isinstance(above, ast.If) and module.text(above.test).endswith("TYPE_CHECKING") for above in module.around(node))


def _lacks_context(fact: Symbol, node: ast.Call, ctx: Context) -> bool:
    before = {name: int(count) for name, count in (text.split() for text in ctx.entry.data["before"])}
    if any(isinstance(a, ast.Starred) for a in node.args) or any(word.arg in (None, "context") for word in node.keywords):
        return False
    return len(node.args) <= before[str(fact.key).rpartition(".")[2]]


# -- results ---------------------------------------------------------------------------


def _edits(node: ast.Call, ctx: Context) -> list[Edit] | None:
    """What makes the uses of a result those of version 2; None where one of them is not known."""
    module = ctx.module
    waited = module.parents.get(node)
    if isinstance(waited, ast.Call) and _runs(waited, node, ctx):
        pass
    elif not isinstance(waited, ast.Await):
        return None
    above = module.parents.get(waited)
    match above:
        case ast.Expr():
            return []
        case ast.Return() if _promises(above, module):
            return []
        case ast.Subscript():
            return _picked(above, waited, module)
        case ast.Attribute(attr=attr):
            return [] if attr in ("content", "structured_content", "is_error", "isError", "structuredContent") else None
        case ast.Assign(targets=[ast.Tuple(elts=[ast.Name() as first, ast.Name() as second])]):
            return _unpacked(above, waited, first, second, ctx)
        case ast.Assign(targets=[ast.Name(id=name)]):
            return _named(name, above, ctx)
    return None


def _promises(statement: ast.Return, module: Module) -> bool:
    """Whether the function that hands a result on says that it gives what version 2 gives."""
    function = module.function(statement)
    promised = getattr(function, "returns", None)
    return isinstance(promised, ast.expr) and re.search(r"\bCallToolResult\b", module.text(promised)) is not None


def _runs(call: ast.Call, node: ast.Call, ctx: Context) -> bool:
    """`asyncio.run(server.call_tool(...))`, `loop.run_until_complete(...)`, the `run` of an `asyncio.Runner`."""
    if node not in call.args or ctx.sdk.type(call.func, ctx.module) is not None:
        return False  # a function or a method of the project, whatever it gives
    match call.func:
        case ast.Attribute(attr="run_until_complete"):
            return True
        case ast.Attribute(value=ast.Name(id=name) as runner, attr="run"):
            given = ctx.sdk.inference.bindings(name, runner, ctx.module)
            made = [one.value.func for one in given if isinstance(one.value, ast.Call)]
            return _reached(runner, ctx) == "asyncio" or (
                len(made) == len(given) > 0 and all(_reached(f, ctx) == "asyncio.Runner" for f in made)
            )
        case ast.Name(id=_):
            return _reached(call.func, ctx) == "asyncio.run"
    return False


def _reached(node: ast.expr, ctx: Context) -> str:
    """The dotted name that imports give to an expression."""
    if isinstance(node, ast.Attribute):
        above = _reached(node.value, ctx)
        return f"{above}.{node.attr}" if above else ""
    if not isinstance(node, ast.Name):
        return ""
    targets = {one.target for one in ctx.sdk.inference.bindings(node.id, node, ctx.module)}
    return targets.pop() if len(targets) == 1 else ""


def _is_builtin(node: ast.expr, ctx: Context) -> bool:
    """Whether the name of a builtin is not given to something else here."""
    return isinstance(node, ast.Name) and not ctx.sdk.inference.bindings(node.id, node, ctx.module)


def _picked(above: ast.Subscript, base: ast.AST, module: Module, shape: bool | None = None) -> list[Edit] | None:
    """`result[0]`, `result[1]`: which of the two shapes of version 1 it was, what is done with it tells."""
    index = above.slice
    if not isinstance(index, ast.Constant) or type(index.value) is not int or index.value not in (0, 1):
        return None
    place = shape if shape is not None else _of_pair(above, module)
    end = module.span(base).end
    if isinstance(base, ast.Await):
        end = module.source.utf8.index(b")", end) + 1  # an awaited call stands in parentheses here
    if place is None:
        return None
    if place:
        return [Edit(Span(end, module.span(above).end), _PARTS[index.value])]
    return [Edit(Span(end, end), _PARTS[0])] if index.value == 0 else None


def _of_pair(above: ast.Subscript, module: Module) -> bool | None:
    """Whether the thing that is indexed was a pair of content and structured result, rather than a list of content."""
    index = above.slice.value if isinstance(above.slice, ast.Constant) else None
    match module.parents.get(above):
        case ast.Attribute(attr="text" | "type" | "data" | "mimeType" | "mime_type" | "resource" | "annotations"):
            return False
        case ast.Subscript(slice=ast.Constant(value=str())) if index == 1:
            return True
        case ast.Subscript(slice=ast.Constant(value=int())) | ast.For() | ast.comprehension() if index == 0:
            return True
        case ast.Attribute(attr="get" | "keys" | "items" | "values") if index == 1:
            return True
        case ast.Call(func=ast.Name(id="len")) if index == 0:
            return True
        case ast.Compare() | ast.Assign() if index == 1:
            return True
    return None


def _unpacked(statement: ast.Assign, waited: ast.AST, first: ast.Name, second: ast.Name, ctx: Context) -> list[Edit] | None:
    from ...rewrite.lines import indent_of, next_line

    module = ctx.module
    scope = module.scope(statement)
    name = next((word for word in ("result", "call_result", "tool_result") if word not in scope.bindings), None)
    if name is None or module.source.line(statement.lineno)[: statement.col_offset].strip():
        # Both names are taken: the pair is made on the spot.
        return None
    one, other = module.text(first), module.text(second)
    target = module.span(statement.targets[0])
    at = next_line(module.source, module.span(statement).end)
    newline = module.source.newline
    gap = "" if module.source.utf8[:at].endswith(b"\n") else newline
    used = [word for word in (one, other) if word != "_"]
    if len(used) == 1:
        part = _PARTS[0] if used[0] == one else _PARTS[1]
        line = f"{used[0]} = {name}{part}"
    else:
        line = f"{one}, {other} = {name}{_PARTS[0]}, {name}{_PARTS[1]}"
    return [Edit(target, name), Edit(Span(at, at), f"{gap}{indent_of(module.source, module.span(statement).start)}{line}{newline}")]


def _named(name: str, statement: ast.Assign, ctx: Context) -> list[Edit] | None:
    module = ctx.module
    edits: list[Edit] = []
    uses = [*_uses(name, statement, ctx)]
    # One use that tells the shape tells it for all.
    shapes = {_shape(node, ctx) for node in uses} - {None}
    if len(shapes) > 1:
        return None
    shape = shapes.pop() if shapes else None
    for node in uses:
        bindings = ctx.sdk.inference.bindings(name, node, module)
        if len(bindings) != 1:
            return None
        found = _used(node, shape, ctx)
        if found is None:
            return None
        edits += found
    return [*edits, *_proven(name, statement, ctx)] if edits else edits


def _proven(name: str, statement: ast.Assign, ctx: Context) -> Iterator[Edit]:
    """A line that says which of the two results of version 2 it is, where one can stand: the other one is a question."""
    from ...rewrite.lines import indent_of, next_line

    module = ctx.module
    block = module.source.line(statement.lineno)[: statement.col_offset].strip()
    end = module.span(statement).end
    at = next_line(module.source, end)
    alone = module.source.utf8[end:at].split(b"#")[0].strip() == b""
    if block or not alone or not module.source.utf8[:at].endswith((b"\n", b"\r")):
        return
    yield Edit(
        Span(at, at),
        f"{indent_of(module.source, module.span(statement).start)}assert isinstance({name}, CallToolResult){module.source.newline}",
    )


def _shape(node: ast.Name, ctx: Context) -> bool | None:
    """What one use tells: True for a pair, False for a list of content."""
    match ctx.module.parents.get(node):
        case ast.Subscript() as above:
            return _of_pair(above, ctx.module)
        case ast.Call(func=ast.Name(id="isinstance") as test, args=[subject, ast.Name(id="list" | "tuple" as kind) as named]):
            return kind == "tuple" if subject is node and _is_builtin(test, ctx) and _is_builtin(named, ctx) else None
    return None


def _uses(name: str, statement: ast.Assign, ctx: Context) -> Iterator[ast.Name]:
    module = ctx.module
    for node in module.reads(name, module.scope(statement)):
        bindings = ctx.sdk.inference.bindings(name, node, module)
        if any(binding.how is How.VALUE and binding.node is statement for binding in bindings):
            yield node


def _used(node: ast.Name, shape: bool | None, ctx: Context) -> list[Edit] | None:
    module = ctx.module
    end = module.span(node).end
    above = module.parents.get(node)
    if isinstance(above, ast.Call) and not _is_builtin(above.func, ctx):
        return None  # a function that takes the result, whatever it does with it
    match above:
        case ast.Subscript(value=value) as above if value is node:
            return _picked(above, node, module, shape)
        case ast.Attribute(attr="content" | "structured_content" | "is_error" | "isError" | "structuredContent"):
            return []
        case ast.For(iter=iterated) | ast.comprehension(iter=iterated) if iterated is node:
            return [Edit(Span(end, end), _PARTS[0])]
        case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(), ast.Name()])], value=value) if value is node:
            return [Edit(module.span(node), f"{node.id}{_PARTS[0]}, {node.id}{_PARTS[1]}")]
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None)]) if left is node:
            return []
        case ast.Assert(test=test) if test is node:
            return []
        case ast.Call(func=ast.Name(id="str" | "print" | "repr" | "type")):
            return []
        case ast.Call(func=ast.Name(id="len"), args=[_]) if shape is False:
            return [Edit(Span(end, end), _PARTS[0])]
        case ast.Call(func=ast.Name(id="isinstance"), args=[subject, ast.Name(id=kind) as named]) if subject is node:
            if kind == "list" and _is_builtin(named, ctx):
                return [Edit(Span(end, end), _PARTS[0])]
            return [] if ctx.sdk.type(named, module) == ClassOf("mcp.types.CallToolResult") else None
    return None


def _is_old(fact: Symbol, node: ast.Call, ctx: Context) -> bool:
    """Whether it is known to be code of version 1; in that of version 2 a result may be used in any way."""
    old = fact.key == _SERVERS[0] or not ctx.sdk.is_moved(ctx.file.source.path)
    return old and isinstance(ctx.module.parents.get(node), ast.Await | ast.Call)
