"""Makes a hand-written client ask `server/discover` first: the senders are wrapped, and HTTP requests get their headers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from ..facts import clients
from ..facts.clients import RUNTIME, Blocker, Client, Clients, Sender
from ..facts.functions import Module
from ..facts.gates import is_boundary_module
from ..facts.model import Dispatcher, Fact, Send, Version
from ..facts.syntax import descend
from ..project import Project
from ..rule import Era, Import, NewFile
from ..source import Span, is_test
from . import module
from .boundary import EITHER
from .edits import Edit
from .lazy import cst
from .lines import above, below, deeper, step_of
from .servers import package_of
from .tree import Tree

_HANDLE, _CLASS = "ERA", "Era"


def find(project: Project, path: str) -> Clients:
    """The clients of a file, each looked at once."""
    return project.once(path, clients.find)


def client_of(project: Project, path: str, fact: Fact) -> Client | Blocker | None:
    """The client that a fact belongs to: the one that sends it, or whose code it stands in."""
    found = find(project, path).of(fact)
    whole = isinstance(found, Client) and not found.senders[0].function.owner and fact.span != found.opening
    # Functions beside a server share its file; what they send is theirs.
    beside = whole and not isinstance(fact, (Send, Version)) and bool(project.of(path, Dispatcher))
    return None if beside else found


def obstacle(project: Project, client: Client) -> str:
    """Why the module of a client cannot be written."""
    path = target(client.module.source.path)
    held = project.files.get(path)
    return "" if held is None or is_boundary_module(held.source) else f"{path} exists, and is not as `fix` writes it"


def is_tested_with(client: Client) -> bool:
    """Whether a client is part of a test, which may be about the handshake itself."""
    owner = client.senders[0].function.owner
    return is_test(client.module.source.path) or owner.startswith("Test") or owner.endswith(("Test", "Tests", "TestCase"))


def target(path: str) -> str:
    """Where the module of a client goes: beside it."""
    return str(PurePosixPath(path).with_name(module.CLIENT_FILE_NAME))


def edits(project: Project, client: Client, tree: Tree, era: Era) -> Iterator[Edit | Import | NewFile]:
    """Everything that one client wants."""
    code = client.module
    file = project.files[code.source.path]
    package = package_of(file, code, project)
    handle, made = _handle(code)
    if not made:
        yield from _object(code, handle, era, package)
        if package != EITHER:
            yield Import(_origin(package), _CLASS)
    for sender in client.senders:
        sender = replace(sender, session="") if era is Era.MODERN else sender
        if sender.function not in client.wrapped and not (era is Era.MODERN and _is_only_for_notices(client, sender)):
            yield above(code, sender.function.node, f"@{handle}.sends{_names(sender)}\n")
    for post in client.posts:
        yield from _with_headers(code, post, handle)
    if era is Era.MODERN:
        yield from _opening(client, tree)
    yield from _notices(client, tree, handle, era)
    held = project.files.get(target(file.source.path))
    if held is None:
        yield NewFile(target(file.source.path), module.client(file.source.newline))


def without_session(fact: Fact, tree: Tree) -> Iterator[Edit]:
    """Deletes what keeps the session of an answer: an assignment, or an `if` that does nothing else."""
    from . import cut

    test = tree.enclosing(cst.If, fact.span)
    if test is not None and tree.span(test.test).contains(fact.span) and test.orelse is None:
        name = tree.source.slice(fact.span)[1:-1].lower()
        if all(name in tree.text(statement).lower() or tree.text(statement) == "pass" for statement in test.body.body):
            yield from cut.statement(tree, test)
        return
    match line := tree.statement(fact.span):
        case cst.SimpleStatementLine(body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute() as kept)], value=value)]):
            # What nobody else sets would be missing where it is read.
            if (
                tree.span(value).contains(fact.span)
                and len(re.findall(rf"{re.escape(tree.text(kept))}(: [^=\n]{{1,200}})? = ", tree.source.text)) > 1
            ):
                yield from cut.statement(tree, _alone(tree, line))


def _alone(tree: Tree, line: cst.BaseStatement) -> cst.BaseStatement:
    """The `if` around a statement, where it does nothing else."""
    block = tree.parent(line)
    test = tree.parent(block) if isinstance(block, cst.IndentedBlock) and len(block.body) == 1 else None
    return test if isinstance(test, cst.If) and test.orelse is None and not isinstance(tree.parent(test), cst.If) else line


def _handle(code: Module) -> tuple[str, bool]:
    """The name of the module's `Era`, and whether it is there already."""
    for node in code.nodes(ast.Assign):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id=made))) if made == _CLASS:
                return name, True
    taken = {node.id for node in code.nodes(ast.Name)} | set(code.functions)
    return next(name for name in (_HANDLE, "MCP_ERA", "MCP_CLIENT_ERA") if name not in taken), False


def _is_only_for_notices(client: Client, sender: Sender) -> bool:
    """Whether nothing but the end of the handshake is sent through a function."""
    code = client.module
    calls = {call for call in code.nodes(ast.Call) if code.callee(call, code.function_of(call)) is sender.function}
    return bool(calls) and all(any(call in descend(notice.statement) for notice in client.notices) for call in calls)


def _object(code: Module, handle: str, era: Era, package: str | None) -> Iterator[Edit]:
    text = f"{handle} = {_CLASS}({'legacy=False' if era is Era.MODERN else ''})\n"
    if package == EITHER:
        step = step_of(code)
        ways = ("try:", f"{step}from .{RUNTIME} import {_CLASS}", "except ImportError:  # outside of its package")
        text = "\n".join([*ways, f"{step}from {RUNTIME} import {_CLASS}", "", text])
    body = code.tree.body
    first = next((at for at, node in enumerate(body) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)), len(body))
    imports = [node for node in body[:first] if _is_import(node)]
    if imports:
        yield below(code, imports[-1], f"\n{text}")
    else:
        yield above(code, body[first], f"{text}\n\n")


def _is_import(node: ast.stmt) -> bool:
    if isinstance(node, ast.Try):
        return all(isinstance(inner, ast.Import | ast.ImportFrom) for inner in node.body)
    return isinstance(node, ast.Import | ast.ImportFrom)


def _origin(package: str | None) -> str:
    return RUNTIME if package is None else f"{package}.{RUNTIME}"


def _names(sender: Sender) -> str:
    """The arguments that tell the decorator what the parameters are called, where it could not know."""
    usual = {"method": "method", "params": "params", "message": "", "owner": "", "session": ""}
    given = {name: getattr(sender, name) for name in usual}
    told = ", ".join(f'{name}="{value}"' for name, value in given.items() if value and value != usual[name])
    return f"({told})" if told else ""


def _with_headers(code: Module, post: ast.Call, handle: str) -> Iterator[Edit]:
    """The headers of an HTTP call, handed through the `Era`; one that several clients share is changed once."""
    held = clients.headers_of(post)
    if held is not None:
        span = code.span(held)
        if not code.text(held).startswith(f"{handle}.headers("):
            yield Edit(span, f"{handle}.headers({code.source.slice(span)})")
        return
    given = [*post.args, *(keyword.value for keyword in post.keywords)]
    last = max((code.span(node).end for node in given), default=code.span(post).end - 1)
    yield Edit(Span(last, last), f"{', ' if given else ''}headers={handle}.headers()")


def _opening(client: Client, tree: Tree) -> Iterator[Edit]:
    """The handshake's request becomes `server/discover`, which names no version of its own."""
    code, node = client.module, client.method
    span = code.span(node)
    quote = code.source.slice(span)[-1] if isinstance(node, ast.Constant) else '"'
    yield Edit(span, f"{quote}server/discover{quote}")
    if client.hello is not None and (said := tree.node(cst.Dict, code.span(client.hello))) is not None:
        from . import cut

        for at, element in enumerate(said.elements):
            if isinstance(element, cst.DictElement) and tree.text(element.key)[1:-1] == "protocolVersion":
                yield from cut.item(tree, said.elements, at)


def _notices(client: Client, tree: Tree, handle: str, era: Era) -> Iterator[Edit]:
    """What ends the handshake goes only to servers that have one."""
    code = client.module
    for notice in client.notices:
        if era is Era.MODERN:
            from . import cut

            line = tree.node(cst.Expr, code.span(notice.statement))
            yield from cut.statement(tree, line) if line is not None else ()
        elif not notice.wrapped:
            yield above(code, notice.statement, f"if not {handle}.modern({notice.owner}):\n")
            step, start = step_of(code), code.span(notice.statement).start
            yield Edit(Span(start, start), step)
            yield from deeper(code, notice.statement, notice.statement, step)
