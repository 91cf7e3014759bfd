"""Takes away the uses of guards, decorators and middleware that do nothing any more; what nothing uses then is the sweep's matter."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ..facts.idle import Idle, idle
from ..source import Source, Span
from . import cut
from .decided import only_looks
from .edits import Edit
from .lazy import cst
from .lines import line_start, next_line
from .tree import Tree

_DEPENDS = frozenset({"Depends", "Security"})
_REGISTERS = frozenset({"add_middleware", "before_request", "before_app_request"})


def new(before: Source, now: Source) -> Mapping[str, Idle]:
    """What does nothing now, and did something before."""
    was = idle(before)
    return {name: kind for name, kind in idle(now).items() if name not in was}


def uses(before: Source, tree: Tree, mentioned: Collection[str], handed: Mapping[str, Idle]) -> Iterator[list[Edit]]:
    """The edits that take away all uses of each thing that does nothing any more; none where one of them has to stay.

    `handed` are those of other modules by the dotted name that they have here, `mentioned` the names that other files mention.
    """
    own = {name: kind for name, kind in new(before, tree.source).items() if name not in mentioned}
    for name, kind in {**handed, **own}.items():
        found = [list(_without(tree, node, kind)) for node in _named(tree, name)]
        whole = [list(_definition(tree, name))] if kind is Idle.HOOK and name in own else []
        if (found or whole) and all([*found, *whole]):
            yield [edit for some in (*found, *whole) for edit in some]


def _named(tree: Tree, name: str) -> Iterator[cst.BaseExpression]:
    """Where something is named by this dotted name, but for its definition and imports; a text that ends in it counts."""
    short = name.rpartition(".")[2]
    for node in tree.walk(tree.module):
        match node:
            case cst.Name(value=value) if value == short and "." not in name:
                above = tree.parent(node)
                is_part = isinstance(above, cst.Attribute) and above.attr is node
                if not isinstance(above, cst.ImportAlias | cst.FunctionDef | cst.ClassDef | cst.AsName) and not is_part:
                    yield node
            case cst.Attribute(attr=cst.Name(value=value)) if value == short and "." in name and tree.code(node) == name:
                yield node
            case cst.SimpleString() if "." in name and isinstance(text := node.evaluated_value, str) and text == name:
                yield node


def _without(tree: Tree, use: cst.BaseExpression, kind: Idle) -> Iterator[Edit]:
    above = tree.parent(use)
    match kind:
        case Idle.GUARD:
            yield from _without_guard(tree, use)
        case Idle.DECORATOR if isinstance(above, cst.Decorator):
            span = tree.span(above)
            yield Edit(Span(line_start(tree.source, span.start), next_line(tree.source, span.end)))
        case Idle.DECORATOR:
            yield from _unwrapped(tree, use)
        case Idle.MIDDLEWARE | Idle.HOOK if isinstance(above, cst.Element):
            yield from _without_element(tree, above)
        case Idle.MIDDLEWARE | Idle.HOOK:
            yield from _unregistered(tree, use)


def _without_guard(tree: Tree, use: cst.BaseExpression) -> Iterator[Edit]:
    above = tree.parent(use)
    if isinstance(above, cst.Call) and above.func is use:
        outer = tree.parent(above)
        statement = tree.parent(outer) if isinstance(outer, cst.Await) else outer
        if isinstance(statement, cst.Expr) and all(only_looks(tree, argument.value) for argument in above.args):
            yield from cut.statement(tree, statement)
        return
    depends = tree.parent(above) if isinstance(above, cst.Arg) else None
    if isinstance(depends, cst.Call) and tree.code(depends.func).rpartition(".")[2] in _REGISTERS:
        yield from _statement(tree, depends)
        return
    if not isinstance(depends, cst.Call) or len(depends.args) > 1 or tree.code(depends.func).rpartition(".")[2] not in _DEPENDS:
        return
    match holder := tree.parent(depends):
        case cst.Param(default=default) if default is depends:
            function = next((n for n in tree.ancestors(holder) if isinstance(n, cst.FunctionDef)), None)
            name = holder.name.value
            if function and not any(isinstance(n, cst.Name) and n.value == name for n in tree.walk(function.body)):
                yield from cut.parameter(tree, function, name)
        case cst.Element():
            yield from _without_element(tree, holder)


def _without_element(tree: Tree, element: cst.Element) -> Iterator[Edit]:
    """One of a list; a keyword whose list would be empty goes with it."""
    listed = tree.parent(element)
    if not isinstance(listed, cst.List):
        return
    argument = tree.parent(listed)
    call = tree.parent(argument) if isinstance(argument, cst.Arg) else None
    if len(listed.elements) > 1:
        yield from cut.item(tree, listed.elements, listed.elements.index(element))
    elif isinstance(call, cst.Call) and isinstance(argument, cst.Arg) and argument.keyword is not None:
        yield from cut.argument(tree, call, call.args.index(argument))


def _unwrapped(tree: Tree, use: cst.BaseExpression) -> Iterator[Edit]:
    """`needs_session(post)` becomes `post`."""
    call = tree.parent(use)
    if isinstance(call, cst.Call) and call.func is use and len(call.args) == 1 and call.args[0].keyword is None and not call.args[0].star:
        span, inner = tree.span(call), tree.span(call.args[0].value)
        yield Edit(Span(span.start, inner.start))
        yield Edit(Span(inner.end, span.end))


def _unregistered(tree: Tree, use: cst.BaseExpression) -> Iterator[Edit]:
    """`app.add_middleware(Gate)`, `Middleware(Gate)` in a list, `app = Gate(app)`."""
    above = tree.parent(use)
    if isinstance(above, cst.Call) and above.func is use:
        statement = tree.parent(above)
        renews = isinstance(statement, cst.Assign) and len(statement.targets) == 1 and len(above.args) == 1
        if isinstance(statement, cst.Assign) and renews and tree.code(statement.targets[0].target) == tree.code(above.args[0].value):
            yield from cut.statement(tree, statement)
        else:
            yield from _unwrapped(tree, use)
        return
    call = tree.parent(above) if isinstance(above, cst.Arg) else None
    if not isinstance(call, cst.Call) or call.args[0] is not above or not all(only_looks(tree, one.value) for one in call.args[1:]):
        return
    name, holder = tree.code(call.func).rpartition(".")[2], tree.parent(call)
    if name in _REGISTERS:
        yield from _statement(tree, call)
    elif name == "Middleware" and isinstance(holder, cst.Element):
        yield from _without_element(tree, holder)


def _statement(tree: Tree, call: cst.Call) -> Iterator[Edit]:
    if isinstance(statement := tree.parent(call), cst.Expr):
        yield from cut.statement(tree, statement)


def _definition(tree: Tree, name: str) -> Iterator[Edit]:
    for node in tree.module.body:
        if isinstance(node, cst.FunctionDef) and node.name.value == name:
            yield from cut.statement(tree, node)
