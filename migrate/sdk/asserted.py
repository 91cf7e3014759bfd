"""What a test asks of a mock in the server's place, after code under test set it there: which other mock is given the same value.

`mock.settings.port` is set by no code for version 2; `run.call_args.kwargs["port"]`, of the mock for what serves, holds it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from ..source import is_test
from .modules import Def, How, Module
from .options import Change, Options
from .standing import is_patch
from .types import OWN, Function

_CALLED = ("call_args", "await_args", "assert_called_once", "assert_called_once_with", "assert_awaited_once", "assert_awaited_once_with")
_ASYNC_RUN = frozenset({"asyncio.run", "anyio.run"})


class Given(NamedTuple):
    """The call of the code under test that is given the value of a setting, and what a test has to put a mock in the place of."""

    function: Def
    module: Module
    target: str  # as `patch` names it; nothing for a method of the server itself
    method: str  # of the server


def moved(item: ast.withitem, options: Options, module: Module) -> Iterator[tuple[ast.Attribute, str]]:
    """The questions for settings inside of `with patch("app.server") as mock`, and what asks for the same value in version 2."""
    around = module.parents.get(item)
    if not isinstance(around, ast.With | ast.AsyncWith) or not isinstance(item.optional_vars, ast.Name):
        return
    name = item.optional_vars.id
    for use in module.loads.get(name, ()):
        settings = module.parents.get(use)
        read = module.parents.get(settings) if isinstance(settings, ast.Attribute) and settings.attr == "settings" else None
        if not isinstance(read, ast.Attribute) or not isinstance(read.ctx, ast.Load) or not _binds(item, name, use, options, module):
            continue
        given = _given(read.attr, options)
        mock = _mock_of(given, item, around, options, module) if given is not None else None
        if given is not None and mock is not None and _is_after(read, given, name, mock, around, options, module):
            yield read, f'{mock}.call_args.kwargs["{read.attr}"]'


def _binds(item: ast.withitem, name: str, use: ast.Name, options: Options, module: Module) -> bool:
    """Whether a name holds what this `with` gave to it."""
    bindings = options.program.inference.bindings(name, use, module)
    return len(bindings) == 1 and bindings[0].how is How.ENTERED and bindings[0].value is item.context_expr


# -- in the code under test ------------------------------------------------------


def _given(name: str, options: Options) -> Given | None:
    """What is given the value that one statement, the only one to do so, gives to a setting."""
    changes = [change for change in options.changes if change.name == name]
    if len(changes) != 1:
        return None
    [change] = changes
    module = change.use.module
    function, block = module.function(change.statement), _block(change.statement, module)
    if function is None:
        return None
    later = block[block.index(change.statement) + 1 :]
    if options.is_idle(change):
        found = [
            call for statement in later if (call := _whole_call(statement)) is not None and _takes_same(call, change, function, module)
        ]
        target = _target(found[0], module) if len(found) == 1 else None
        if target is None or not _is_only(found[0], options, module):
            return None
        return Given(function, module, target, "")
    sinks = [sink for sink in options.sinks if name in options.missing(sink)]
    if len(sinks) != 1 or sinks[0].transport is not None or sinks[0].call is None or "stdio" in sinks[0].kinds:
        return None
    return Given(function, module, "", sinks[0].use.name) if any(_whole_call(one) is sinks[0].call for one in later) else None


def _block(statement: ast.stmt, module: Module) -> list[ast.stmt]:
    """The statements among which one stands."""
    for _, value in ast.iter_fields(module.parents[statement]):
        if isinstance(value, list) and statement in value:
            return value
    return [statement]


def _whole_call(statement: ast.stmt) -> ast.Call | None:
    """The call that a statement is."""
    value = statement.value if isinstance(statement, ast.Expr | ast.Return) else None
    value = value.value if isinstance(value, ast.Await) else value
    return value if isinstance(value, ast.Call) else None


def _takes_same(call: ast.Call, change: Change, function: Def, module: Module) -> bool:
    """Whether a call is given, by the name of the setting, what the setting was given."""
    word = next((word for word in call.keywords if word.arg == change.name), None)
    match word, change.value:
        case ast.keyword(value=ast.Constant(value=one)), ast.Constant(value=other):
            return type(one) is type(other) and one == other
        case ast.keyword(value=ast.Name(id=one)), ast.Name(id=other) if one == other:
            start, end = change.statement.lineno, call.lineno
            scope = module.scopes[function]
            bindings = scope.bindings.get(one, ())
            # A name from outside may be given something by what runs in between.
            return bool(bindings) and one not in scope.outside and not any(start <= _line(binding.node) <= end for binding in bindings)
    return False


def _line(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def _target(call: ast.Call, module: Module) -> str | None:
    """`uvicorn.run`, where that is an attribute of a module that is imported by its name: what `patch` replaces is what is called."""
    match call.func:
        case ast.Attribute(value=ast.Name(id=name), attr=attr):
            found = module.bound.get(name, ())
            if found and all(binding.how is How.IMPORTED and binding.target == name for binding in found):
                return f"{name}.{attr}"
    return None


def _is_only(call: ast.Call, options: Options, module: Module) -> bool:
    """Whether no other code of the project calls the same."""
    text = f"{module.text(call.func)}(".encode()
    return sum(file.source.utf8.count(text) for path, file in options.program.files.items() if not is_test(path)) == 1


# -- in the test -------------------------------------------------------------------


def _mock_of(given: Given, item: ast.withitem, around: ast.With | ast.AsyncWith, options: Options, module: Module) -> str | None:
    """The text of the mock that the code under test calls in place of what it is given the value."""
    if not given.target:
        plain = isinstance(item.context_expr, ast.Call) and len(item.context_expr.args) == 1 and not item.context_expr.keywords
        assert isinstance(item.optional_vars, ast.Name)
        return f"{item.optional_vars.id}.{given.method}" if plain else None
    for one in around.items:
        match one:
            case ast.withitem(
                context_expr=ast.Call(args=[ast.Constant(value=given.target)], keywords=[]) as call, optional_vars=ast.Name(id=name)
            ) if is_patch(call):
                return name
    return None


def _is_after(
    read: ast.Attribute, given: Given, name: str, mock: str, around: ast.With | ast.AsyncWith, options: Options, module: Module
) -> bool:
    """Whether a question stands behind a call of the code under test, and nothing in between touches what it asks for."""
    place = next((number for number, one in enumerate(around.body) if read in ast.walk(one)), None)
    if place is None or module.function(read) is not module.function(around):
        return False
    run = [number for number, one in enumerate(around.body[:place]) if _runs(one, given, options, module)]
    if not run:
        return False
    walked = (node for one in around.body[run[-1] :] for node in ast.walk(one))
    asked = {node.attr for node in walked if isinstance(node, ast.Attribute) and ast.unparse(node.value) == mock}
    if asked.isdisjoint(_CALLED):  # that it was called at all
        return False
    return all(_only_asks(node, name, mock, module) for one in around.body[run[-1] + 1 : place + 1] for node in ast.walk(one))


def _runs(statement: ast.stmt, given: Given, options: Options, module: Module) -> bool:
    """Whether a statement is a call of the function."""
    call = _whole_call(statement) if not isinstance(statement, ast.Return) else None
    if call is None and isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call | ast.Await):
        value = statement.value.value if isinstance(statement.value, ast.Await) else statement.value
        call = value if isinstance(value, ast.Call) else None
    if call is None:
        return False
    waits = isinstance(module.parents.get(call), ast.Await)
    if module.text(call.func) in _ASYNC_RUN and len(call.args) == 1 and isinstance(call.args[0], ast.Call):
        call, waits = call.args[0], True
    if waits != isinstance(given.function, ast.AsyncFunctionDef):
        return False
    known = options.program.type(call.func, module)
    return isinstance(known, Function) and known.name == f"{given.module.path}{OWN}{given.module.qualified(given.function)}"


def _only_asks(node: ast.AST, name: str, mock: str, module: Module) -> bool:
    """Whether code does not change what a mock holds."""
    if not isinstance(node, ast.Name) or node.id not in (name, mock.partition(".")[0]):
        return True
    above = module.parents.get(node)
    while isinstance(above, ast.Attribute) and isinstance(above.ctx, ast.Load):
        if above.attr in ("reset_mock", "configure_mock"):
            return False
        node, above = above, module.parents.get(above)
    # Neither given something nor handed on as a whole.
    return not isinstance(above, ast.Attribute) and isinstance(node, ast.Attribute) and node.attr != "settings"
