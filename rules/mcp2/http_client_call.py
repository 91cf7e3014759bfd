"""`streamablehttp_client(url, headers=...)`, and three streams taken from either of the two functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...facts.model import Symbol, SymbolUse
from ...rewrite import compat, connections, renames
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding, Import, NewFile
from ...sdk.types import NONE, Instance
from ...source import Span

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_OLD = connections.FUNCTION
_MODULE, _NEW, _MAKES = "mcp.client.streamable_http", "streamable_http_client", "create_mcp_http_client"
_NO_IDENTITY = "a connection of version 2 of the SDK does not tell the identity of the session"
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class _Opened:
    """One call, as far as it has a form that can be rewritten."""

    call: ast.Call
    entered: ast.withitem | ast.Call  # the item of `async with`, or the call of `enter_async_context`
    target: ast.Tuple | None  # the three names
    arguments: Mapping[str, ast.expr]


def check(fact: Symbol, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.key == _OLD and fact.use is SymbolUse.TEXT:
        yield ctx.finding(fact, Applicability.MANUAL)
    if fact.key == _OLD and fact.use is SymbolUse.IMPORT and isinstance(node, ast.alias) and not _is_spare(node, ctx):
        # As a value, the function is handed on to somebody who calls it as before.
        for name in _values(node, ctx):
            yield _handed_on(fact, ctx, ctx.module.span(name))
        message = f"`{fact.key}` is not there in version 2 of the SDK"
        handed = _stays(node, ctx) or any(True for _ in _values(node, ctx)) or not all(_opened(call, ctx) for call in _calls(ctx))
        yield _handed_on(fact, ctx, fact.span, message) if handed else ctx.finding(fact, Applicability.SAFE, message=message)
    if fact.use is not SymbolUse.CALL or not isinstance(node, ast.Call):
        return
    opened = _opened(node, ctx)
    if _is_newer(fact, node, ctx):
        return
    if fact.key == _OLD:
        yield ctx.finding(fact, Applicability.SAFE) if opened is not None else _handed_on(fact, ctx, fact.span)
        for name in _asked(node, ctx):
            yield _handed_on(fact, ctx, ctx.module.span(name), _NO_IDENTITY)
    elif (target := _target(node, ctx)) is not None and len(target.elts) == 3:
        message = f"`{fact.key}` gives two streams in version 2 of the SDK, and nothing third"
        yield ctx.finding(fact, Applicability.SAFE if opened is not None else Applicability.MANUAL, message=message)


def fix(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    node = ctx.module.at(fact.span)
    if isinstance(node, ast.alias) and not connections.obstacle(ctx) and not _is_spare(node, ctx):
        for name in _values(node, ctx):
            yield from connections.edits(ctx, ctx.module.span(name))
        if _stays(node, ctx):
            yield from _moved(node, tree, ctx)
        else:  # it goes when all its uses are rewritten, and so with what they need
            calls = (one for one in ctx.project.of(ctx.file.source.path, Symbol) if one.key == _OLD and one.use is SymbolUse.CALL)
            yield from (wish for call in calls for wish in fix(call, tree, ctx) if isinstance(wish, Import))
    opened = _opened(node, ctx) if isinstance(node, ast.Call) else None
    if _is_newer(fact, node, ctx):
        return
    if opened is None:
        if fact.key == _OLD and isinstance(node, ast.Call) and not connections.obstacle(ctx):
            yield from connections.edits(ctx, ctx.module.span(node.func))
        return
    edits = [*_reopened(opened, ctx)] if fact.key == _OLD else []
    yield from edits
    if opened.target is not None and not any(isinstance(edit, Edit) and edit.span == ctx.module.span(opened.target) for edit in edits):
        yield _two(opened.target, ctx)


def keep(fact: Symbol, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    """The function is taken from a module that opens the connection with either release, and gives three things."""
    function = str(fact.key).rpartition(".")[2]
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.TEXT or compat.obstacle(ctx) or (isinstance(node, ast.alias) and function == _NEW):
        return
    yield from compat.taken(fact, function, tree, ctx)


def _handed_on(fact: Symbol, ctx: Context, span: Span, message: str | None = None) -> Finding:
    """A use that cannot be put in another form where it stands: a module beside it opens the connection as before."""
    if reason := connections.obstacle(ctx):
        return ctx.finding(fact, Applicability.MANUAL, span=span, hint=reason, message=message)
    return ctx.finding(fact, Applicability.SAFE, span=span, hint=ctx.entry.hints["handed_on"], message=message)


def _calls(ctx: Context) -> Iterator[ast.Call]:
    """The calls of the older function in this file."""
    for fact in ctx.project.of(ctx.file.source.path, Symbol):
        node = ctx.module.at(fact.span) if fact.key == _OLD and fact.use is SymbolUse.CALL else None
        if isinstance(node, ast.Call) and not _is_newer(fact, node, ctx):
            yield node


def _is_newer(fact: Symbol, node: ast.AST | None, ctx: Context) -> bool:
    """Whether a guard takes the newer function where it is there: with version 2 that one is called, which is a fact of its own."""
    if fact.key != _OLD or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    found = ctx.sdk.inference.bindings(node.func.id, node.func, ctx.module)
    return any(binding.target == f"{_MODULE}.{_NEW}" for binding in found)


def _is_spare(alias: ast.alias, ctx: Context) -> bool:
    """Whether an import is made only where another one has failed: the newer name is there, and the older one not asked for."""
    return any(isinstance(above, ast.ExceptHandler) for above in ctx.module.around(alias))


def _stays(alias: ast.alias, ctx: Context) -> bool:
    """Whether the imported name is there for others: then it does not go with its uses."""
    local = alias.asname or alias.name
    used = any(isinstance(node, ast.Name) and node.id == local and isinstance(node.ctx, ast.Load) for node in ctx.module.nodes)
    return not used or renames.is_shared(local, [alias], ctx.module, ctx.sdk.inference, ctx.project.texts)


def _moved(alias: ast.alias, tree: Tree, ctx: Context) -> Iterator[Edit | Import | NewFile]:
    """The name is imported from the module that opens the connection as before."""
    statement = ctx.module.parents.get(alias)
    if isinstance(statement, ast.ImportFrom):
        move = renames.Move(alias, connections.place(ctx), alias.name)
        yield from renames.moved(statement, [move], tree, ctx.module, ctx.sdk.inference, ctx.project.texts)
        yield from connections.files(ctx)


def _values(alias: ast.alias, ctx: Context) -> Iterator[ast.Name]:
    """Where the imported function stands for itself and is not called."""
    for node in ctx.sdk.inference.uses(alias, ctx.module):
        above = ctx.module.parents.get(node)
        if not (isinstance(above, ast.Call) and above.func is node):
            yield node


def _opened(call: ast.Call, ctx: Context) -> _Opened | None:
    arguments = _arguments(call, ctx)
    above = ctx.module.parents.get(call)
    waits = isinstance(above, ast.withitem) and isinstance(ctx.module.parents.get(above), ast.AsyncWith)
    if not isinstance(above, ast.withitem | ast.Call) or not (waits or (isinstance(above, ast.Call) and _is_line(above, ctx))):
        return None
    entered = above
    target = _target(call, ctx)
    whole = entered.optional_vars if isinstance(entered, ast.withitem) else _bound(entered, ctx)
    if whole is not None and target is None:
        return None  # a name for all streams: who knows what is taken from it
    if target is not None and (len(target.elts) != 3 or _is_used(target.elts[2], ctx)):
        return None
    if arguments is None or "httpx_client_factory" in arguments:
        return None
    if not all(_is_seconds(arguments.get(name), ctx) for name in ("timeout", "sse_read_timeout")):
        return None
    return _Opened(call, entered, target, arguments)


def _reopened(opened: _Opened, ctx: Context) -> Iterator[Edit | Import]:
    module = ctx.module
    span = module.span(opened.call)
    given = opened.arguments
    texts = {name: module.text(value) for name, value in given.items()}
    url = texts["url"]
    more = f", terminate_on_close={texts['terminate_on_close']}" if "terminate_on_close" in texts else ""
    made = _client(texts)
    yield Import(_MODULE, _NEW)
    if made is None:
        yield Edit(span, f"{_NEW}({url}{more})")
        return
    name = _free("http_client", ctx)
    opening = f"{_NEW}({url}, http_client={name}{more})"
    yield Import(_MODULE, _MAKES)
    if "Timeout" in made:
        yield Import("httpx2", "")
    if isinstance(opened.entered, ast.withitem):
        holder = module.parents.get(opened.entered)
        assert isinstance(holder, ast.AsyncWith)
        line = f"{made} as {name}, {opening}"
        start = module.source.position(span.start).column
        if len(holder.items) == 1 and start + len(line) > _WIDTH and not _is_bracketed(holder, ctx):
            yield from _in_lines(opened, holder, made, name, opening, ctx)
        else:
            yield Edit(span, line)
        return
    statement = module.statement(opened.call)
    assert statement is not None
    at = module.span(statement).start
    indent = module.source.line(statement.lineno)[: statement.col_offset]
    stack = module.text(opened.entered.func)
    yield Edit(Span(at, at), f"{name} = await {stack}({made}){module.source.newline}{indent}")
    yield Edit(span, opening)


def _in_lines(opened: _Opened, holder: ast.AsyncWith, made: str, name: str, opening: str, ctx: Context) -> Iterator[Edit]:
    """Both items between brackets, each on its line."""
    module = ctx.module
    indent = module.source.line(holder.lineno)[: holder.col_offset]
    newline = module.source.newline
    span = module.span(opened.call)
    inner = f"{newline}{indent}    "
    yield Edit(span, f"({inner}{made} as {name},{inner}{opening}")
    if opened.target is None:
        yield Edit(Span(span.end, span.end), f",{newline}{indent})")
        return
    names = ", ".join(module.text(element) for element in opened.target.elts[:2])
    yield Edit(module.span(opened.target), f"({names}),{newline}{indent})")


def _client(texts: Mapping[str, str]) -> str | None:
    """The call that makes the HTTP client; None where the connection needs none of its own."""
    parts = [f"{name}={texts[name]}" for name in ("headers", "auth") if name in texts]
    if "timeout" in texts or "sse_read_timeout" in texts:
        parts.append(f"timeout=httpx2.Timeout({texts.get('timeout', '30')}, read={texts.get('sse_read_timeout', '300')})")
    return f"{_MAKES}({', '.join(parts)})" if parts else None


def _arguments(call: ast.Call, ctx: Context) -> Mapping[str, ast.expr] | None:
    if any(isinstance(argument, ast.Starred) for argument in call.args) or not all(keyword.arg for keyword in call.keywords):
        return None
    named = dict(zip(ctx.entry.data["parameters"], call.args, strict=False))
    named |= {str(keyword.arg): keyword.value for keyword in call.keywords}
    return named if "url" in named else None


def _target(call: ast.Call, ctx: Context) -> ast.Tuple | None:
    """The names that the streams are unpacked to."""
    above = ctx.module.parents.get(call)
    if isinstance(above, ast.withitem):
        return above.optional_vars if isinstance(above.optional_vars, ast.Tuple) else None
    bound = _bound(above, ctx) if isinstance(above, ast.Call) else None
    return bound if isinstance(bound, ast.Tuple) else None


def _bound(entering: ast.Call, ctx: Context) -> ast.expr | None:
    waited = ctx.module.parents.get(entering)
    statement = ctx.module.parents.get(waited) if isinstance(waited, ast.Await) else None
    return statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None


def _is_line(entering: ast.Call, ctx: Context) -> bool:
    """Whether entering on a stack is all that a statement does, so that another one can stand before it."""
    if not isinstance(entering.func, ast.Attribute) or entering.func.attr != "enter_async_context":
        return False
    waited = ctx.module.parents.get(entering)
    statement = ctx.module.parents.get(waited) if isinstance(waited, ast.Await) else None
    return isinstance(statement, ast.Assign | ast.Expr)


def _is_used(node: ast.expr, ctx: Context) -> bool:
    """Whether anything but the unpacking itself names the third part."""
    if not isinstance(node, ast.Name):
        return True
    return bool(ctx.module.reads("_", ctx.module.scope(node)) if node.id == "_" else ctx.module.loads.get(node.id))


def _asked(call: ast.Call, ctx: Context) -> Iterator[ast.Name]:
    """Where the third name is used, which told the identity of the session."""
    target = _target(call, ctx)
    if target is not None and len(target.elts) == 3 and isinstance(target.elts[2], ast.Name):
        yield from ctx.module.reads(target.elts[2].id, ctx.module.scope(target.elts[2]))


def _is_seconds(value: ast.expr | None, ctx: Context) -> bool:
    if value is None:
        return True
    known = ctx.sdk.type(value, ctx.module)
    return known != NONE and isinstance(known, Instance) and known.name in ("int", "float")


def _two(target: ast.Tuple, ctx: Context) -> Edit:
    """Without the third name; the brackets and the rest stay."""
    start = ctx.module.span(target.elts[1]).end
    return Edit(Span(start, ctx.module.span(target.elts[2]).end))


def _is_bracketed(holder: ast.AsyncWith, ctx: Context) -> bool:
    text = ctx.module.source.slice(Span(ctx.module.span(holder).start, ctx.module.span(holder.items[0].context_expr).start))
    return re.fullmatch(r"async\s+with\s*\(\s*", text) is not None


def _free(name: str, ctx: Context) -> str:
    taken = {one.id if isinstance(one, ast.Name) else one.arg for one in ctx.module.nodes if isinstance(one, ast.Name | ast.arg)}
    return name if name not in taken else f"mcp_{name}"
