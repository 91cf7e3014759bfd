"""What a piece of code changes outside its function, and what of it comes before a question to the client."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ..source import Span
from .asking import Asking
from .functions import Function, Module, dotted, is_shared, root, targets, walk

_MUTATING = frozenset(
    {"append", "add", "update", "pop", "popitem", "remove", "discard", "clear", "insert", "extend", "setdefault", "sort", "reverse"}
    | {
        "write",
        "writelines",
        "write_text",
        "write_bytes",
        "unlink",
        "rename",
        "replace",
        "mkdir",
        "rmdir",
        "touch",
        "execute",
        "executemany",
        "commit",
    }
)
_OUTSIDE = ("os.", "shutil.", "subprocess.", "requests.", "httpx.", "smtplib.")
_READING = frozenset(
    {"getenv", "getcwd", "listdir", "scandir", "stat", "walk", "exists", "isfile", "isdir", "which", "disk_usage", "get", "head"}
)
_WRITING_VERBS = (
    "save",
    "delete",
    "remove",
    "write",
    "create",
    "insert",
    "update",
    "store",
    "send",
    "post",
    "commit",
    "charge",
    "drop",
    "move",
    "publish",
)
_QUIET_VERBS = ("log", "notify", "progress", "print", "debug", "info", "warn")
_NEW = ast.Dict | ast.List | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp | ast.Call | ast.JoinedStr | ast.BinOp | ast.Constant


class Work(NamedTuple):
    """An effect before a question: the request starts again with every answer, so it happens again."""

    span: Span
    function: str
    what: str


def work(asking: Asking) -> Iterator[Work]:
    """Effects that come before the first question in the same function."""
    module = asking.module
    own = {waiter.function.name for waiter in asking.waiters}
    for function in module.functions.values():
        if function.name in own or function.name not in asking.askers:
            continue
        seen: set[ast.AST] = set()
        for node in function.own:
            if isinstance(node, ast.Call) and asking.needs_of(node, function):
                for statement in before(node, function, module):
                    if asking.needs(statement, function):
                        continue  # reported where that question's own function is read
                    for effect, what in effects(statement, function, module):
                        if effect not in seen:
                            seen.add(effect)
                            yield Work(module.span(effect), function.name, what)


def effects(statement: ast.stmt, function: Function, module: Module, depth: int = 0) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """What a statement changes outside the function, with words for it."""
    local = _fresh(function)
    for node in walk(statement):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Delete):
            for target in node.targets if isinstance(node, ast.Delete) else targets(node):
                if isinstance(target, ast.Attribute | ast.Subscript) and root(target) not in local:
                    yield node, f"`{ast.unparse(target)}` is changed"
                elif isinstance(target, ast.Name) and is_shared(target.id, function):
                    yield node, f"`{target.id}` is changed"
        elif isinstance(node, ast.Call):
            name = dotted(node.func)
            last = name.rsplit(".", 1)[-1] or getattr(node.func, "attr", "")
            text = ast.unparse(node.func)
            inside = module.callee(node, function)
            if inside is not None:
                deeper = depth < 2 and not last.lstrip("_").startswith(_QUIET_VERBS)
                if deeper and any(True for s in inside.node.body for _ in effects(s, inside, module, depth + 1)):
                    yield node, f"`{text}()` changes something"
            elif (
                name == "open"
                and len(node.args) > 1
                and isinstance(mode := node.args[1], ast.Constant)
                and set(str(mode.value)) & set("wax+")
            ):
                yield node, "a file is written"
            elif (
                isinstance(node.func, ast.Attribute) and last in _MUTATING and root(node.func) not in local and root(node.func) != "sys"
            ) or (name.startswith(_OUTSIDE) and last not in _READING):
                yield node, f"`{text}()` changes something"
            elif last.lstrip("_").startswith(_WRITING_VERBS) and not last.startswith("send_log") and root(node.func) not in local:
                yield node, f"`{text}()` may change something"


def before(node: ast.AST, function: Function, module: Module) -> Iterator[ast.stmt]:
    """The statements that surely or possibly ran before this place is reached, in the blocks around it."""
    current: ast.AST = node
    for parent in module.ancestors(node):
        for name in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and current in block:
                for statement in block[: block.index(current)]:
                    # A branch that leaves the function did not lead here.
                    if isinstance(statement, ast.stmt) and not (
                        isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Return | ast.Raise) and not statement.orelse
                    ):
                        yield statement
        current = parent


def _fresh(function: Function) -> set[str]:
    """Local names that are bound to something new: literals, comprehensions, calls of constructors, opened files."""
    found: set[str] = set()
    for statement in function.own:
        match statement:
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value) if isinstance(value, _NEW) and not _is_lookup(value):
                pass
            case ast.With() | ast.AsyncWith():
                pass
            case _:
                continue
        found |= {target.id for target in targets(statement) if isinstance(target, ast.Name) and not is_shared(target.id, function)}
    return found


def _is_lookup(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in {"get", "setdefault", "pop"}
