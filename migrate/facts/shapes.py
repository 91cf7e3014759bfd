"""Questions about single syntax nodes, which need no walk."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from . import vocabulary as words
from .model import Value
from .syntax import descend


def is_named_version(value: Value | None, node: ast.expr) -> bool:
    """A revision that stands here by its name: the constant is the place to look at."""
    return isinstance(value, str) and value in words.VERSIONS and isinstance(node, (ast.Name, ast.Attribute))


def dotted_text(node: ast.expr) -> str:
    """The source text of a name or an attribute; "" for any other expression."""
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""


def is_callable(node: ast.expr) -> bool:
    """Whether a value can be a handler: a name, an attribute, a lambda, a partial, or the name of a handler method."""
    match node:
        case ast.Name() | ast.Attribute() | ast.Lambda() | ast.Call():
            return True
        case ast.Constant(value=str(text)):
            return text.isidentifier() and text.startswith(("on_", "handle", "_handle", "do_", "_on_", "cmd_", "rpc_"))
        case ast.Tuple(elts=[first, *_]):
            return isinstance(first, (ast.Name, ast.Attribute, ast.Lambda))
    return False


def value_kind(node: ast.expr) -> str:
    """The kind of an expression, by the name that `ast` has for it."""
    return type(node).__name__


def is_collection(node: ast.expr) -> bool:
    """Whether an expression writes down a set, list, tuple or `Literal`, also inside of the call that makes it."""
    match node:
        case ast.Set() | ast.List() | ast.Tuple():
            return True
        case ast.Call(func=ast.Name(id="frozenset" | "set" | "tuple" | "list") | ast.Attribute(attr="fromkeys"), args=[inner]):
            return is_collection(inner)
        case ast.Subscript(value=ast.Name(id="Literal") | ast.Attribute(attr="Literal"), slice=ast.Tuple()):
            return True
        case ast.BinOp(op=ast.BitOr() | ast.Add(), left=left, right=right):
            return is_collection(left) or is_collection(right)
    return False


def elements(node: ast.expr) -> Iterator[ast.expr]:
    """The members of such a collection, those of both sides where two are joined."""
    match node:
        case ast.Set(elts=items) | ast.List(elts=items) | ast.Tuple(elts=items):
            yield from items
        case ast.Call(args=[inner]) | ast.Subscript(slice=inner):
            yield from elements(inner)
        case ast.BinOp(left=left, right=right):
            yield from elements(left)
            yield from elements(right)


def texts(value: Value) -> frozenset[str]:
    """The strings of a value that is a tuple; none for any other value."""
    return frozenset(item for item in value if isinstance(item, str)) if isinstance(value, tuple) else frozenset()


def is_empty_container(node: ast.expr) -> bool:
    """Whether an expression makes a dict, set or the like without a member."""
    match node:
        case ast.Dict(keys=[]):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in ("dict", "set", "defaultdict", "OrderedDict", "WeakValueDictionary", "TTLCache") and not (
                name in ("dict", "set") and node.args
            )
    return False


def is_trivial(body: list[ast.stmt]) -> bool:
    """Whether a body only answers: nothing is lost with it."""
    for statement in body:
        match statement:
            case ast.Return() | ast.Pass() | ast.Continue():
                continue
            case ast.Expr(value=ast.Constant()):
                continue
            case _:
                return False
    return True


def alternatives(pattern: ast.pattern) -> Iterator[ast.pattern]:
    """The patterns of which one has to fit; of a message's mapping, those of its method."""
    match pattern:
        case ast.MatchMapping(keys=keys, patterns=patterns):
            named = [one for key, one in zip(keys, patterns, strict=True) if isinstance(key, ast.Constant) and key.value == "method"]
            for one in named:
                yield from alternatives(one)
        case ast.MatchOr(patterns=patterns):
            for one in patterns:
                yield from alternatives(one)
        case ast.MatchAs(pattern=ast.pattern() as inner):
            yield from alternatives(inner)
        case _:
            yield pattern


def text(node: ast.expr) -> str:
    """The readable parts of a message."""
    return " ".join(part.value for part in descend(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))


def call_text(node: ast.Call) -> str:
    """What shows the meaning of a code in a call: texts and the name of what is called."""
    parts = [text(argument) for argument in node.args if not isinstance(argument, ast.Dict)]
    parts += [text(keyword.value) for keyword in node.keywords if keyword.arg in ("message", "msg", "detail", "text")]
    return " ".join(part for part in parts if part)


def is_int_call(node: ast.expr) -> bool:
    """Whether something is turned into a number or a text: an id stays the same id then."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("int", "str")


def valued(tree: ast.Module, texts: Iterable[str]) -> frozenset[str]:
    """Those of the texts that stand in a string that code uses, not in a docstring or a comment; one walk for all."""
    wanted = tuple(texts)
    found: set[str] = set()
    documentation: set[ast.expr] = set()
    for node in descend(tree) if wanted else ():
        if isinstance(node, ast.Expr):
            documentation.add(node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200 and node not in documentation:
            found.update(text for text in wanted if text in node.value)
    return frozenset(found)
