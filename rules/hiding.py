"""What fastmcp 4 says in statements of its own: which components a server hides, and which parameters no client may give."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..rewrite import lines
from ..sdk.modules import How

if TYPE_CHECKING:
    from ..rule import Context
    from ..sdk.modules import Binding, Def, Scope

_CALLS = {"include_tags": "enable(tags={tags}, only=True)", "exclude_tags": "disable(tags={tags})"}
_KINDS = {"tool": '{"tool"}', "resource": '{"resource", "template"}', "prompt": '{"prompt"}'}
# What `left_out` takes: each name, and what it may be in the file already.
_NEEDED = {
    "Annotated": ("typing.Annotated", "typing_extensions.Annotated"),
    "Depends": ("fastmcp.dependencies.Depends", "fastmcp.server.dependencies.Depends"),
}
# An address that is the same text once it was parsed.
_ADDRESS = re.compile(r"(?!(?:https?|wss?|ftp|file):)[a-z][a-z0-9+-]*://[A-Za-z0-9_{-][A-Za-z0-9_/{}-]*")
_PURE = (ast.Name, ast.Constant, ast.BinOp, ast.Add, ast.JoinedStr, ast.FormattedValue, ast.expr_context)


class Left(NamedTuple):
    """A parameter that no client gives: its annotation, and the text of its default."""

    annotation: ast.expr
    default: str


def tags(node: ast.Call, word: ast.keyword, ctx: Context) -> str:
    """The statement behind a constructor that hides what its argument hid; nothing where that cannot be written."""
    server, text = _made(node, ctx), _tags(word.value, ctx)
    return f"{server}.{_CALLS[word.arg or ''].format(tags=text)}" if server and text else ""


def component(node: ast.Call, word: ast.keyword, ctx: Context) -> str:
    """The statement behind a decorated function that hides it as `enabled` did; nothing where that cannot be written."""
    function, func = _decorated(node, ctx), node.func
    if function is None or not isinstance(func, ast.Attribute) or func.attr not in _KINDS:
        return ""
    if not _is_dotted(func.value) or function.name == _root(func.value):
        return ""
    named = _named(node, function, func.attr, ctx)
    if not named:
        return ""
    text = f"{ctx.module.text(func.value)}.disable(names={{{named}}}, components={_KINDS[func.attr]})"
    if isinstance(word.value, ast.Constant) and word.value.value is False:
        return text
    # None was as good as True.
    if isinstance(word.value, ast.Name) and _is_bool(word.value, ctx):
        return f"if not {word.value.id}:\n{_step(function, ctx)}{text}"
    return ""


def left_out(node: ast.Call, word: ast.keyword, ctx: Context) -> list[Left]:
    """The parameters that `exclude_args` names, where each has an annotation and a constant for its default; nothing otherwise."""
    function = _decorated(node, ctx)
    # What is text in place of code is read where names of functions around it are not known.
    if function is None or function.decorator_list[-1] is not node or _reads_texts(function, ctx):
        return []
    if not all(_is_free(name, ctx) for name in _NEEDED):
        return []
    if not isinstance(word.value, ast.List | ast.Tuple | ast.Set):
        return []
    found = []
    given = dict(_defaults(function))
    for element in word.value.elts:
        argument = next((one for one in given if one.arg == _text(element)), None)
        if argument is None or argument.annotation is None or not _is_constant(given[argument]):
            return []
        found.append(Left(argument.annotation, ctx.module.text(given[argument])))
    return found


def below(node: ast.Call, ctx: Context) -> ast.stmt | None:
    """The statement that a call belongs to, where whole lines may follow it."""
    statement = ctx.module.statement(node)
    if statement is None:
        return None
    source, span = ctx.module.source, ctx.module.span(statement)
    before = source.utf8[lines.line_start(source, span.start) : span.start]
    after = source.utf8[span.end : lines.next_line(source, span.end)].strip()
    return statement if not before.strip() and (not after or after.startswith(b"#")) else None


def _step(function: Def, ctx: Context) -> str:
    """One level of indentation, as the function has it."""
    source = ctx.module.source
    outer, inner = (lines.indent_of(source, ctx.module.span(node).start) for node in (function, function.body[0]))
    return inner.removeprefix(outer) or "    "


def _made(node: ast.Call, ctx: Context) -> str:
    """What the constructor's value is called on the next line."""
    statement = below(node, ctx)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.value is node:
        target = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign) and statement.value is node:
        target = statement.target
    else:
        return ""
    return ctx.module.text(target) if _is_dotted(target) else ""


def _tags(value: ast.expr, ctx: Context) -> str:
    """A set of tags, as text; what may be None is none, since then everything would be hidden."""
    match value:
        case ast.Set(elts=elements) | ast.List(elts=elements) | ast.Tuple(elts=elements):
            if not all(_text(one) is not None or _is_dotted(one) for one in elements):
                return ""
            text = ctx.module.text(value)
            return text if isinstance(value, ast.Set) else f"{{{text[1:-1]}}}" if elements else "set()"
        case ast.Name():
            kept = _once(value, ctx)
            return value.id if isinstance(kept, ast.Set) and all(_text(one) is not None for one in kept.elts) else ""
    return ""


def _once(name: ast.Name, ctx: Context) -> ast.expr | None:
    """The value of a name that is given one."""
    found = _bound(name, ctx)
    node = found[0].node if found else None
    return node.value if isinstance(node, ast.Assign | ast.AnnAssign) and not found[0].path else None


def _bound(name: ast.Name, ctx: Context) -> list[Binding]:
    """What gives a name its value, in the scope that it belongs to; nothing where several places do."""
    scope: Scope | None = ctx.module.scope(name)
    inner = scope
    while scope is not None and (name.id not in scope.bindings or (scope is not inner and isinstance(scope.node, ast.ClassDef))):
        scope = scope.parent
    found = scope.bindings[name.id] if scope is not None else []
    return found if len({one.node for one in found}) == 1 and not ctx.module.given_to(name.id) else []


def _decorated(node: ast.Call, ctx: Context) -> Def | None:
    above = ctx.module.parents.get(node)
    return above if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef) and node in above.decorator_list else None


def _named(node: ast.Call, function: Def, kind: str, ctx: Context) -> str:
    """The text of the expression by which the server knows a component, where no other has the same."""
    if any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords) or len(node.args) > 1:
        return ""
    if kind == "resource":
        given = node.args[0] if node.args else next((one.value for one in node.keywords if one.arg == "uri"), None)
        address = _text(given) if given is not None else None
        return ctx.module.text(given) if given is not None and address is not None and _ADDRESS.fullmatch(address) else ""
    given = node.args[0] if node.args else next((one.value for one in node.keywords if one.arg == "name"), None)
    name = function.name if given is None else _text(given)
    if name is not None:
        functions = ctx.module.functions.get(name, [])
        texts = [one for one in ctx.module.texts.get(name, ()) if _is_name(one, ctx)]
        alone = functions in ([], [function]) and texts == ([] if given is None else [given])
        return "" if not alone else f'"{name}"' if given is None else ctx.module.text(given)
    assert given is not None
    pure = isinstance(given, ast.BinOp | ast.JoinedStr) and all(isinstance(one, _PURE) for one in ast.walk(given))
    return ctx.module.text(given) if pure and any(isinstance(one, ast.Constant) and one.value for one in ast.walk(given)) else ""


def _is_name(text: ast.AST, ctx: Context) -> bool:
    """Whether a text may be the name of a component where it stands."""
    above = ctx.module.parents.get(text)
    if isinstance(above, ast.Call):
        return isinstance(above.func, ast.Attribute) and above.func.attr in _KINDS
    return isinstance(above, ast.keyword) and above.arg == "name"


def _is_bool(name: ast.Name, ctx: Context) -> bool:
    """Whether a name is surely True or False."""
    found = _bound(name, ctx)
    if found and found[0].how is How.PARAMETER:
        return isinstance(found[0].value, ast.Name) and found[0].value.id == "bool"
    match _once(name, ctx):
        case ast.UnaryOp(op=ast.Not()) | ast.Compare() | ast.Constant(value=bool()):
            return True
    return False


def _is_free(name: str, ctx: Context) -> bool:
    found = ctx.module.bound.get(name, ())
    return all(binding.how is How.IMPORTED and binding.target in _NEEDED[name] for binding in found)


def _reads_texts(function: Def, ctx: Context) -> bool:
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    hints = [hint for hint in [*(one.annotation for one in arguments), function.returns] if hint is not None]
    texts = [one for hint in hints for one in ast.walk(hint) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return not all(_is_literal(one, ctx) for one in texts) or any(
        isinstance(one, ast.ImportFrom) and one.module == "__future__" and any(name.name == "annotations" for name in one.names)
        for one in ctx.module.tree.body
    )


def _is_literal(node: ast.AST, ctx: Context) -> bool:
    """Whether a text in an annotation is a word of a `Literal[...]`, or one that a call is given (`Field(description=...)`)."""
    return any(
        isinstance(above, ast.Call) or (isinstance(above, ast.Subscript) and ctx.module.text(above.value).rpartition(".")[2] == "Literal")
        for above in ctx.module.around(node)
        if isinstance(above, ast.expr)
    )


def _defaults(function: Def) -> Iterator[tuple[ast.arg, ast.expr]]:
    plain = [*function.args.posonlyargs, *function.args.args]
    yield from zip(reversed(plain), reversed(function.args.defaults), strict=False)
    for argument, default in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True):
        if default is not None:
            yield argument, default


def _is_constant(node: ast.expr) -> bool:
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _is_dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
