"""`await server.import_server(child, prefix=...)`, which is `mount` now."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...facts.code import last
from ...facts.model import Standalone, SymbolUse
from ...rewrite import calls
from ...rewrite.edits import Edit
from ...rule import Applicability, Context, Finding
from ...sdk.modules import Def, Module
from ...sdk.servers import STANDALONE_CLASSES, Origins, Server

if TYPE_CHECKING:
    from ...rewrite.tree import Tree

_TAKEN = frozenset({"server", "prefix"})
# What a server may be made with, and what may be done with it, so that a link to it gives what a copy of it gave.
_PLAIN = frozenset({"name", "instructions", "version", "website_url", "icons"})
_REGISTERS = frozenset({"tool", "resource", "prompt"})
_RUNS = frozenset({"run", "run_async"})
# A tool that asks for its server, or its state, finds that of the child through a link.
_ASKS = (b"Context", b"get_context", b"CurrentFastMCP", b"get_server")


def check(fact: Standalone, ctx: Context) -> Iterator[Finding]:
    node = ctx.module.at(fact.span)
    if fact.use is SymbolUse.CALL and isinstance(node, ast.Call):
        same = Applicability.SAFE if _is_same(node, ctx) else Applicability.UNSAFE
        yield ctx.finding(fact, same if _is_plain(fact, node, ctx) else Applicability.MANUAL)


def fix(fact: Standalone, tree: Tree, ctx: Context) -> Iterator[Edit]:
    node, call = ctx.module.at(fact.span), calls.at(tree, fact.span)
    if not isinstance(node, ast.Call) or call is None or not _is_plain(fact, node, ctx) or not isinstance(node.func, ast.Attribute):
        return
    waited = ctx.module.parents[node]
    if isinstance(waited, ast.Await):
        yield Edit(ctx.module.span(waited)._replace(end=fact.span.start))
    yield Edit(ctx.module.attribute_span(node.func), "mount")
    argument = calls.keyword(call, "prefix")
    if argument is not None:
        yield calls.renamed(tree, argument, "namespace")


def _is_plain(fact: Standalone, node: ast.Call, ctx: Context) -> bool:
    """Whether it is a statement of its own that is waited for, with arguments that `mount` takes."""
    waited = ctx.module.parents.get(node)
    alone = isinstance(waited, ast.Await) and isinstance(ctx.module.parents.get(waited), ast.Expr)
    # Long ago the prefix came first.
    turned = bool(node.args) and isinstance(node.args[0], ast.Constant | ast.JoinedStr)
    return fact.sure and alone and not turned and len(node.args) <= 2 and all(word.arg in _TAKEN for word in node.keywords)


def _is_same(node: ast.Call, ctx: Context) -> bool:
    """Whether the child is all there when its module is loaded, and nothing of it or of its parent tells a link from a copy."""
    given = node.args[0] if node.args else next((word.value for word in node.keywords if word.arg == "server"), None)
    prefix = node.args[1] if len(node.args) > 1 else next((word.value for word in node.keywords if word.arg == "prefix"), None)
    if not isinstance(given, ast.Name) or not isinstance(node.func, ast.Attribute) or not _is_text(prefix):
        return False
    child, parent = (_server(one, ctx) for one in (given, node.func.value))
    if child is None or parent is None or child is parent or not _is_bare(child) or not _is_bare(parent):
        return False
    if any(word in ctx.project.files[path].source.utf8 for path in _imported(child.module.path, ctx) for word in _ASKS):
        return False
    assigned = child.module.parents.get(child.call)
    match assigned:
        case ast.Assign(targets=[ast.Name(id=name)]) if name == given.id and isinstance(child.module.parents.get(assigned), ast.Module):
            return _is_only_filled(name, child, ctx)
    return False


def _is_text(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(node.value)


def _server(node: ast.expr, ctx: Context) -> Server | None:
    """The one server that an expression stands for."""
    origin = Origins(ctx.sdk, STANDALONE_CLASSES)
    made = origin.of(node, ctx.module)
    found = [server for call in made if (server := ctx.sdk.standalone_servers.at(call)) is not None]
    return found[0] if len(found) == len(made) == 1 and not origin.open and found[0].sure else None


def _is_bare(server: Server) -> bool:
    return len(server.call.args) <= 2 and all(word.arg in _PLAIN for word in server.call.keywords)


def _imported(path: str, ctx: Context) -> set[str]:
    """A file, and all of the project that it imports, however far."""
    found, pending = {path}, [path]
    while pending:
        new = set(ctx.project.imports(pending.pop())) - found
        found |= new
        pending += new
    return found


def _is_only_filled(name: str, child: Server, ctx: Context) -> bool:
    """Whether nothing is done with a server but to decorate functions at the top of its module, to run it, and to copy it."""
    for path in ctx.project.texts.naming(name):
        module = ctx.sdk.module_at(path)
        for use in module.loads.get(name, ()):
            match module.parents.get(use):
                case ast.Attribute(attr=attr) as what if attr in _REGISTERS and module is child.module and _decorates(what, module):
                    continue
                case ast.Attribute(attr=attr) if attr in _RUNS:
                    continue
                case ast.Call(func=ast.Attribute(attr="import_server" | "mount"), args=[first, *_]) if first is use:
                    continue
            return False
        # By another name, or as a text, it may be filled elsewhere.
        if any(_is_another_name(one, name, child, module) for one in module.mentioned.get(name, ())):
            return False
    return True


def _is_another_name(node: ast.AST, name: str, child: Server, module: Module) -> bool:
    """Whether a node may stand for what has a name, and is not that name itself."""
    match node:
        case ast.Attribute(attr=attr):
            return attr == name
        case ast.alias(name=known, asname=str(other)):
            return known == name != other
        case ast.Constant(value=str(text)) if text == name or text.endswith((f".{name}", f":{name}")):
            # What a server is called, and what stands before the names of its tools, names nothing of the code.
            above = module.parents.get(node)
            call = module.parents.get(above) if isinstance(above, ast.keyword) else above
            titled = isinstance(call, ast.Call) and (call is child.call or last(call.func) in ("import_server", "mount"))
            return not titled
    return False


def _decorates(node: ast.Attribute, module: Module) -> bool:
    above = module.parents.get(node)
    decorator = above if isinstance(above, ast.Call) and above.func is node else node
    function = module.parents.get(decorator)
    return isinstance(function, Def) and decorator in function.decorator_list and isinstance(module.parents.get(function), ast.Module)
