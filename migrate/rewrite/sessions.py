"""Deletes what only clients with a session need: gates, headers, routes; and opens gates where such clients are still served.

State, functions and imports that nothing uses any more are the sweep's matter.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ..facts.code import Code, Unit
from ..facts.endpoints import Endpoint, of
from ..facts.functions import Function, Module, dotted
from ..facts.gates import HOSTS
from ..facts.model import Header, HeaderUse
from ..facts.retired import asks_path, branches, is_refusal, is_retired, is_void
from ..facts.sessionless import Spared, Way
from ..facts.sessions import Condition, conditions, header_read, looked_up
from ..facts.syntax import descend
from ..source import Span
from . import cut
from .decided import decided, only_looks
from .edits import Edit, overlaps
from .lazy import cst
from .lines import above as line_above
from .lines import deeper, indent_of, step_of
from .tree import Tree

_GONE = frozenset({"GET", "DELETE", "HEAD"})
_LISTED = re.compile(r"(?<=[\"'])mcp-session-id\s*,\s*|(?<!\s)\s*,\s*mcp-session-id(?![\w-])", re.IGNORECASE)
_EMPTY = frozenset({"{}", "None", "dict()", "[]", "()"})


class Revision(NamedTuple):
    """How code asks whether a request is one of 2026-07-28, and whether it is another."""

    modern: str
    earlier: str

    @classmethod
    def of(cls, handle: str) -> Revision:
        """The question to the boundary object of this name."""
        return cls(f"{handle}.modern", f"not {handle}.modern")


ELSEWHERE = Revision("is_modern()", "not is_modern()")
"""The question where the boundary object cannot be imported, as its module imports this one."""


def either(one: Revision, other: Revision) -> Revision:
    """A question that one of two answers; which one, nobody knows."""
    return Revision(f"({one.modern} or {other.modern})", f"{one.earlier} and {other.earlier}")


def by_header(function: Function, module: Module) -> Revision | None:
    """The question where the boundary has not seen the request yet: the header decides, and the boundary holds the body to it.

    None where the function reads the header of the session in no way that another one could be read as well.
    """
    read = header_read(function, module)
    if read is None:
        return None
    assert isinstance(read.func, ast.Attribute)
    key = read.args[0]
    assert isinstance(key, ast.Constant)
    prefix = "b" if isinstance(key.value, bytes) else ""
    name = key.value.decode("latin-1") if isinstance(key.value, bytes) else str(key.value)
    named = "HTTP_MCP_PROTOCOL_VERSION" if "_" in name else "mcp-protocol-version" if name.islower() else "MCP-Protocol-Version"
    text = f'{module.text(read.func)}({prefix}"{named}")'
    return Revision(f'{text} == {prefix}"2026-07-28"', f'{text} != {prefix}"2026-07-28"')


# -- gates ---------------------------------------------------------------------
def opened(gate: Span, module: Module, says: Revision) -> Iterator[Edit]:
    """Lets 2026-07-28 requests pass a gate; the requests of others meet it as before."""
    found = _of(gate, module)
    if not found:
        return
    yield from lookups(found, module)
    test = found[0].around.test
    if len(found) > 1 and _is_all(test, [c.node for c in found]) and not found[0].seen:
        # `if not sid or sid not in SESSIONS`: one exception for both.
        span = module.span(test)
        yield Edit(span, spared(f"({module.text(test)})", says, seen=False))
        return
    for condition in found:
        text, parent = module.text(condition.node), module.parents[condition.node]
        joint: type[ast.boolop] = ast.Or if condition.seen else ast.And
        made = spared(text, says, seen=condition.seen)
        same = isinstance(parent, ast.If) or (isinstance(parent, ast.BoolOp) and isinstance(parent.op, joint))
        yield Edit(module.span(condition.node), made if same else f"({made})")


def spared(test: str, says: Revision, *, seen: bool) -> str:
    """A test that 2026-07-28 requests pass; one that does something is not even made for them."""
    joint, passes = ("or", says.modern) if seen else ("and", says.earlier)
    return f"{passes} {joint} {test}" if "(" in test.removeprefix("(") else f"{test} {joint} {passes}"


def passed_by(spared_: Spared, module: Module, says: Revision, *, gone: bool) -> Iterator[Edit]:
    """Keeps code that wants a session from requests of 2026-07-28; `gone` where there are no others."""
    way, place, node = spared_
    source, step = module.source, step_of(module)
    if way is Way.LEAVE:
        assert place.function
        body = place.function.node.body
        said = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str)
        yield line_above(module, body[1] if len(body) > 1 and said else body[0], f"if {says.modern}:\n{step}return None\n")
    elif isinstance(node, ast.expr):
        span = module.span(node)
        yield Edit(span, "{}" if gone else f"({{}} if {says.modern} else {source.slice(span)})")
    elif way is Way.PASS and isinstance(node, ast.If):
        yield Edit(module.span(node.test), spared(module.text(node.test), says, seen=False))
    else:
        start = module.span(node).start
        yield Edit(Span(start, start), f"if {says.earlier}:{source.newline}{indent_of(source, start)}{step}")
        yield from deeper(module, node, node, step)


def lookups(found: Sequence[Condition], module: Module) -> Iterator[Edit]:
    """`get` gives clients with a session the same, and others None."""
    for node in looked_up(found, module):
        yield Edit(module.span(node), f"{module.text(node.value)}.get({module.text(node.slice)})")


def ungated(gate: Span, module: Module, tree: Tree) -> Iterator[Edit]:
    """Deletes a gate with its refusal."""
    found = _of(gate, module)
    if not found:
        return
    around = found[0].around
    node = tree.enclosing(cst.If, module.span(found[0].node))
    if node is None or tree.span(node.test) != module.span(around.test):
        return
    yield from lookups(found, module)
    if _is_whole(found) and (calls := list(_only_gate(around, module))):
        # What does nothing but refuse goes with its calls; then nothing uses it.
        for call in calls:
            start = module.span(call).start
            statement = tree.statement(Span(start, start + 1))
            if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
                yield from without(tree, statement.body[0])
    elif _is_whole(found) and around.orelse == [] and _hollow(tree, node) is None:
        # Gates follow each other; cut at once, they leave no gap.
        yield from cut.statements(tree, [n for run in _run(around, module) if (n := tree.enclosing(cst.If, module.span(run.test)))])
    elif _is_whole(found):
        yield from without(tree, node)
    else:
        yield from _decided(found[0], module, tree)


def _decided(gate: Condition, module: Module, tree: Tree) -> Iterator[Edit]:
    kinds = (cst.Comparison, cst.UnaryOperation, cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.NamedExpr)
    test = next((t for kind in kinds if (t := tree.node(kind, module.span(gate.node))) is not None), None)
    if test is not None:
        yield from decided(tree, test, gate.seen, quiet=True)


def _only_gate(gate: ast.If, module: Module) -> Iterator[ast.stmt]:
    """The calls, statements of their own, of a function that only looks a session up and refuses."""
    function = module.function_of(gate)
    if function is None or function.node.decorator_list:
        return
    for statement in function.node.body:
        looks = isinstance(statement, ast.Assign) and all(isinstance(goal, ast.Name) for goal in statement.targets)
        says = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not (looks or says or statement in _run(gate, module)):
            return
    named: list[ast.Name | ast.Attribute] = [*module.nodes(ast.Name), *module.nodes(ast.Attribute)]
    calls: list[ast.stmt] = []
    for node in named:
        if (node.id if isinstance(node, ast.Name) else node.attr) == function.short:
            above = module.parents[node]
            around = module.parents[above]
            around = module.parents[around] if isinstance(around, ast.Await) else around
            if not (isinstance(above, ast.Call) and above.func is node and isinstance(around, ast.Expr)):
                return
            calls.append(around)
    yield from calls


def _of(gate: Span, module: Module) -> list[Condition]:
    """The conditions of the test that a gate stands in."""
    every = list(conditions(module))
    first = next((c for c in every if module.span(c.node) == gate), None)
    return [c for c in every if first is not None and c.around is first.around and c.seen is first.seen]


def _is_whole(found: Sequence[Condition]) -> bool:
    """Whether a test refuses for want of a session and for nothing else."""
    test = found[0].around.test
    return _is_all(test, [c.node for c in found]) and not found[0].seen and not _has_walrus(test)


def _run(gate: ast.If, module: Module) -> list[ast.If]:
    """The gates without another statement between them and this one."""
    whole = {found[0].around for c in conditions(module) if (found := _of(module.span(c.node), module)) and _is_whole(found)}
    block = next(
        b for name in ("body", "orelse", "finalbody") if isinstance(b := getattr(module.parents[gate], name, None), list) and gate in b
    )
    first = last = block.index(gate)
    while first and block[first - 1] in whole and not block[first - 1].orelse:
        first -= 1
    while last + 1 < len(block) and block[last + 1] in whole and not block[last + 1].orelse:
        last += 1
    return block[first : last + 1]


def _is_all(test: ast.expr, parts: Sequence[ast.expr]) -> bool:
    """Whether a test refuses for these parts alone."""
    if isinstance(test, ast.BoolOp):
        return all(_is_all(value, parts) for value in test.values)
    return test in parts


def _has_walrus(test: ast.expr) -> bool:
    return any(isinstance(node, ast.NamedExpr) for node in descend(test))


# -- the header ----------------------------------------------------------------
def without_header(fact: Header, tree: Tree) -> Iterator[Edit]:
    """Deletes what writes, lists or takes the header; what is read is never there."""
    node = tree.innermost(fact.span)
    match fact.use:
        case HeaderUse.ALIAS:
            yield from _without_parameter(node, tree)
        case HeaderUse.READ:
            yield from _without_read(node, tree)
        case HeaderUse.WRITE | HeaderUse.LIST:
            yield from _without_mention(node, tree, written=fact.use is HeaderUse.WRITE)


def _without_mention(node: cst.CSTNode, tree: Tree, *, written: bool) -> Iterator[Edit]:
    if isinstance(node, cst.SimpleString) and "," in node.value:
        # Headers listed in one text: "Content-Type, Mcp-Session-Id".
        yield Edit(tree.span(node), _LISTED.sub("", node.value))
        return
    for inner, above in zip((node, *tree.ancestors(node)), tree.ancestors(node), strict=False):
        match above:
            case cst.DictElement(key=key) if key is inner:
                yield from _without_item(tree.parent(above), above, tree)
                return
            case cst.Element():
                holder = tree.parent(above)
                outer = tree.parent(holder) if holder is not None else None
                is_pair = isinstance(holder, cst.Tuple | cst.List) and len(holder.elements) == 2 and isinstance(outer, cst.Element)
                if written and is_pair and holder is not None and holder.elements[0] is above:  # type: ignore[attr-defined]
                    assert outer is not None
                    yield from _without_item(tree.parent(outer), outer, tree)
                elif not written and not (isinstance(holder, cst.Tuple) and len(holder.elements) == 2):
                    yield from _without_item(holder, above, tree)
                return
            case cst.Arg():
                call = tree.parent(above)
                if written and isinstance(call, cst.Call) and len(call.args) > 1 and isinstance(statement := tree.parent(call), cst.Expr):
                    yield from without(tree, statement)
                return
            case cst.SubscriptElement():
                subscript = tree.parent(above)
                target = tree.parent(subscript) if subscript is not None else None
                assign = tree.parent(target) if isinstance(target, cst.AssignTarget) else None
                if isinstance(assign, cst.Assign) and len(assign.targets) == 1:
                    yield from without(tree, assign)
                return
            case cst.Attribute() | cst.Index() | cst.Call(args=[]):
                pass  # the name in another spelling: `SESSION.lower().encode()`
            case _:
                return


def _without_item(holder: cst.CSTNode | None, item: cst.CSTNode, tree: Tree) -> Iterator[Edit]:
    """Deletes an item of a collection; a keyword that would give an empty one goes with it."""
    if not isinstance(holder, cst.Dict | cst.List | cst.Tuple | cst.Set):
        return
    if len(holder.elements) > 1:
        yield from cut.item(tree, holder.elements, holder.elements.index(item))
        return
    value: cst.BaseExpression = holder
    above = tree.parent(value)
    empty = {cst.Dict: "{}", cst.List: "[]", cst.Tuple: "()"}.get(type(holder), "set()")
    if isinstance(above, cst.IfExp) and above.test is not value:
        other = above.orelse if above.body is value else above.body
        if not only_looks(tree, above.test) or tree.text(other) not in _EMPTY:
            return
        value, empty = above, tree.text(other)
        above = tree.parent(value)
    match above:
        case cst.Arg(keyword=cst.Name()) if isinstance(call := tree.parent(above), cst.Call):
            # An empty value says what leaving the parameter out says.
            yield from cut.argument(tree, call, call.args.index(above))
        case cst.StarredDictElement() | cst.StarredElement():
            yield from _without_item(tree.parent(above), above, tree)
        case cst.Element() if _is_answer(tree, above):
            answer = tree.parent(above)
            assert isinstance(answer, cst.Tuple)
            yield from cut.item(tree, answer.elements, 2)
        case _:
            yield Edit(tree.whole(value) if value.lpar else tree.span(value), empty)


def _is_answer(tree: Tree, element: cst.Element) -> bool:
    """The headers of `return body, 200, headers`, which a framework does not need."""
    answer = tree.parent(element)
    return (
        isinstance(answer, cst.Tuple)
        and len(answer.elements) == 3
        and answer.elements[2] is element
        and isinstance(answer.elements[1].value, cst.Integer)
        and isinstance(tree.parent(answer), cst.Return)
    )


def _without_parameter(node: cst.CSTNode, tree: Tree) -> Iterator[Edit]:
    """Deletes a parameter that a framework fills, once the function does not use it."""
    param = next((n for n in (node, *tree.ancestors(node)) if isinstance(n, cst.Param)), None)
    function = next((n for n in tree.ancestors(node) if isinstance(n, cst.FunctionDef)), None)
    if param is None or function is None:
        return
    uses = [n for n in tree.walk(function.body) if isinstance(n, cst.Name) and n.value == param.name.value]
    # What is called by hand as well is given the parameter by more than the framework.
    if not uses and not any(_gives_arguments(tree, n) for n in tree.walk(tree.module) if _is_named(n, function.name.value)):
        yield from cut.parameter(tree, function, param.name.value)


def _is_named(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name


def _gives_arguments(tree: Tree, name: cst.CSTNode) -> bool:
    called, above = name, tree.parent(name)
    # `router.post("/mcp")` registers a function that is called `post`.
    if isinstance(above, cst.Attribute) and tree.text(above.value) in ("self", "cls"):
        called, above = above, tree.parent(above)
    return isinstance(above, cst.Call) and above.func is called and bool(above.args)


def _without_read(node: cst.CSTNode, tree: Tree) -> Iterator[Edit]:
    """A test of the header is never true."""
    value: cst.BaseExpression | None = None
    for around in (node, *tree.ancestors(node)):
        # `SESSION_HEADER.lower()` makes the header's name, and reads nothing.
        if isinstance(around, cst.Subscript) or (isinstance(around, cst.Call) and around.args):
            value = around
            break
        if isinstance(around, cst.BaseStatement | cst.BaseSmallStatement):
            return
    above = tree.parent(value) if value is not None else None
    if value is not None and isinstance(above, cst.If | cst.BooleanOperation | cst.UnaryOperation | cst.IfExp):
        yield from decided(tree, value, False)


# -- routes --------------------------------------------------------------------
def removed(code: Code, unit: Unit, wraps: Collection[str]) -> Iterator[Endpoint]:
    """The endpoints beside one that a boundary stands before whose answers to GET or DELETE are for clients with a session alone."""
    behind = [path for one in hosted(code, unit, wraps) for path in one.paths]
    for one in apart(code, unit, wraps):
        function = one.place.function
        assert function
        if "POST" in one.verbs:
            yield one
        elif one.route is None and function.short.startswith("do_"):
            if is_refusal(function, unit.module) or _going(function, unit.module):
                yield one
        elif set(one.paths) <= {*behind}:
            void = is_void if one.verbs == {"DELETE"} else is_refusal
            if is_retired(function, unit.module) or void(function, unit.module):
                yield one


def apart(code: Code, unit: Unit, wraps: Collection[str]) -> Iterator[Endpoint]:
    """The endpoints of a module that answer GET or DELETE beside one that a boundary stands before.

    `wraps` are the paths of boundaries that stand around applications.
    """
    endpoints = [e for place in unit.places if (e := of(code, place)) is not None]
    behind = [e for e in endpoints if e.answers and _is_hosted(e, wraps)]
    for one in endpoints:
        if one.verbs & {"GET", "DELETE"} and any(one is other or _is_beside(one, other) for other in behind):
            yield one


def is_mixed(endpoint: Endpoint) -> bool:
    """Whether an endpoint speaks of event streams or sessions."""
    assert endpoint.place.function
    return (
        re.search(r"event-stream|EventSource|session", endpoint.place.unit.module.text(endpoint.place.function.node), re.IGNORECASE)
        is not None
    )


def hosted(code: Code, unit: Unit, wraps: Collection[str]) -> Iterator[Endpoint]:
    """The endpoints of a module that answer POST behind a boundary."""
    found = (of(code, place) for place in unit.places)
    yield from (e for e in found if e is not None and e.answers and _is_hosted(e, wraps))


def _is_hosted(endpoint: Endpoint, wraps: Collection[str]) -> bool:
    assert endpoint.place.function
    for decorator in endpoint.place.function.node.decorator_list:
        if dotted(decorator.func if isinstance(decorator, ast.Call) else decorator).rpartition(".")[2] in HOSTS - {"boundary"}:
            return True
    return any(_is_at(path, wrap, endpoint) for path in endpoint.paths for wrap in wraps)


def _is_at(path: str, wrap: str, endpoint: Endpoint) -> bool:
    whole = f"{(endpoint.app.prefix if endpoint.app is not None else None) or ''}/{path.strip('/')}"
    path, wrap = f"/{path.strip('/')}", f"/{wrap.strip('/')}"
    # A router has a prefix that may be known to another module only.
    return path == wrap or (endpoint.app is not None and endpoint.app.router and wrap.endswith((path, f"/{whole.strip('/')}")))


def _is_beside(one: Endpoint, hosted: Endpoint) -> bool:
    assert one.place.function
    assert hosted.place.function
    owner = one.place.function.owner
    if one.route is None and hosted.route is None and owner and owner == hosted.place.function.owner:
        return True
    apps = [endpoint.app.name if endpoint.app is not None else "" for endpoint in (one, hosted)]
    return apps[0] == apps[1] and bool(set(one.paths) & set(hosted.paths))


def pair(code: Code, unit: Unit, event: Span) -> list[Endpoint]:
    """The two endpoints of the HTTP+SSE transport: the stream that names a path, and what takes POSTs at this path."""
    module = unit.module
    named = re.search(r"data:\s*(/[\w./-]*)", module.source.slice(event))
    endpoints = [e for place in unit.places if (e := of(code, place)) is not None]
    streams = [e for e in endpoints if e.route is not None and e.place.function and module.span(e.place.function.node).contains(event)]
    posts = [e for e in endpoints if named and e.route is not None and e.verbs == {"POST"} and named[1] in e.paths]
    return [*streams, *posts] if streams and posts and all(e.verbs <= _GONE for e in streams) else []


def unserved(endpoint: Endpoint, module: Module, tree: Tree) -> Iterator[Edit]:
    """Deletes what registers an endpoint, with the endpoint where it is its decorator."""
    assert endpoint.place.function
    assert endpoint.route is not None
    function = endpoint.place.function.node
    if endpoint.route not in function.decorator_list:
        yield from _without_call(endpoint.route, module, tree)
    elif len(function.decorator_list) == 1:
        start = module.span(function).start
        node = tree.statement(Span(start, start + 1))
        if isinstance(node, cst.FunctionDef):
            yield from cut.statement(tree, node)


def unrouted(endpoint: Endpoint, module: Module, tree: Tree) -> Iterator[Edit]:
    """Deletes what routes GET and DELETE to an endpoint: the whole function where it answers nothing else."""
    assert endpoint.place.function
    function = endpoint.place.function.node
    if endpoint.route is None:
        if endpoint.verbs <= _GONE:
            yield from _without_method(endpoint.place.function, module, tree)
        else:
            yield from _without_branches(endpoint.place.function, module, tree)
        return
    if endpoint.verbs <= _GONE:
        routes = [d for d in function.decorator_list if not _is_host(d)]
        if endpoint.route in routes and len(routes) == 1:
            node = tree.statement(Span(module.span(function).start, module.span(function).start + 1))
            if isinstance(node, cst.FunctionDef):
                yield from cut.statement(tree, node)
        elif endpoint.route not in routes:
            yield from _without_call(endpoint.route, module, tree)
        return
    gone = unserved_verbs(endpoint.place.function, module)
    for keyword in endpoint.route.keywords:
        if keyword.arg == "methods":
            yield from _without_verbs(keyword.value, module, tree, gone)
    yield from _without_branches(endpoint.place.function, module, tree)


def _is_host(decorator: ast.expr) -> bool:
    return dotted(decorator.func if isinstance(decorator, ast.Call) else decorator).rpartition(".")[2] in HOSTS


def _without_call(route: ast.Call, module: Module, tree: Tree) -> Iterator[Edit]:
    """`Route("/mcp", get, methods=["GET"])` in a list, or `app.router.add_get("/mcp", get)` as a statement."""
    node = tree.node(cst.Call, module.span(route))
    above = tree.parent(node) if node is not None else None
    if isinstance(above, cst.Expr):
        yield from cut.statement(tree, above)
    elif isinstance(above, cst.Element):
        holder = tree.parent(above)
        if isinstance(holder, cst.List | cst.Tuple) and len(holder.elements) > 1:
            yield from cut.item(tree, holder.elements, holder.elements.index(above))


def _without_verbs(listed: ast.expr, module: Module, tree: Tree, verbs: Collection[str]) -> Iterator[Edit]:
    """GET and DELETE in a list of verbs on one line; on lines of their own, the first of them."""
    kinds = (cst.List, cst.Tuple, cst.Set)
    node = next((n for kind in kinds if (n := tree.node(kind, module.span(listed))) is not None), None)
    if not isinstance(node, cst.List | cst.Tuple | cst.Set):
        return
    gone = [e for e in node.elements if isinstance(e.value, cst.SimpleString) and e.value.evaluated_value in verbs]
    if not gone or len(gone) == len(node.elements):
        return
    if isinstance(node, cst.List) and "\n" not in tree.text(node):
        first, last = tree.span(node.elements[0]).start, tree.span(node.elements[-1]).end
        yield Edit(Span(first, last), ", ".join(tree.text(e) for e in node.elements if e not in gone))
    else:
        yield from cut.item(tree, node.elements, node.elements.index(gone[0]))


def _without_branches(function: Function, module: Module, tree: Tree) -> Iterator[Edit]:
    """`if request.method == "DELETE"` in an endpoint, and the mention of the verb among those that it allows."""
    taken: list[Edit] = []
    verbs = unserved_verbs(function, module)
    for node in descend(function.node):
        some: list[Edit] = []
        match node:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=str(verb))]) if _is_verb(left) and verb in verbs:
                test = tree.node(cst.Comparison, module.span(node))
                some = list(decided(tree, test, False)) if test is not None else []
            case ast.List(elts=elts) | ast.Tuple(elts=elts) if _are_verbs(elts):
                some = list(_without_verbs(node, module, tree, verbs))
        if not any(overlaps(one.span, other.span) for one in some for other in taken):
            taken += some
    yield from taken


def unserved_verbs(function: Function, module: Module) -> set[str]:
    """The verbs that an endpoint answers with what is gone, in all of its branches for them. No DELETE gets past a boundary."""
    gone: set[str] = {"DELETE"}
    served: set[str] = set()
    for node in descend(function.node):
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if _is_verb(left):
                named = {n.value for n in descend(right) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
                body = _under(node, module)
                ends = named == {"DELETE"} and body is not None and is_void(function, module, body)
                answered = body is not None and (ends or is_retired(function, module, body) or is_refusal(function, module, body))
                if isinstance(op, ast.Eq | ast.In):
                    (gone if answered else served).update(named & _GONE)
                elif isinstance(op, ast.NotEq | ast.NotIn) and body is not None and is_refusal(function, module, body):
                    gone |= _GONE - named
    return gone - served


def _under(test: ast.Compare, module: Module) -> list[ast.stmt] | None:
    """What is done only where a test holds."""
    node: ast.AST = test
    while isinstance(around := module.parents[node], ast.BoolOp) and isinstance(around.op, ast.And):
        node = around
    return around.body if isinstance(around, ast.If) and around.test is node else None


def _is_verb(node: ast.expr) -> bool:
    return dotted(node).rpartition(".")[2] in {"method", "verb", "command", "http_method"} and dotted(node) != "method"


def _are_verbs(elements: list[ast.expr]) -> bool:
    texts = {e.value for e in elements if isinstance(e, ast.Constant) and isinstance(e.value, str)}
    return len(texts) == len(elements) > 1 and "POST" in texts and bool(texts & _GONE) and texts <= _GONE | {"POST", "OPTIONS"}


def _without_method(function: Function, module: Module, tree: Tree) -> Iterator[Edit]:
    """A method that a framework calls by its name: frameworks answer 405 without it, `http.server` does not."""
    node = tree.statement(Span(module.span(function.node).start, module.span(function.node).start + 1))
    if not isinstance(node, cst.FunctionDef):
        return
    if not function.short.startswith("do_"):
        yield from cut.statement(tree, node)
        return
    match _going(function, module):
        case ast.Compare() as test if (found := tree.node(cst.Comparison, module.span(test))) is not None:
            yield from decided(tree, found, False)
        case [first, *_] as rest:
            host = next((d for d in function.node.decorator_list if isinstance(d, ast.Call) and _is_host(d)), None)
            status = 404 if host is not None and host.args else 405
            yield Edit(Span(module.span(first).start, module.span(rest[-1]).end), f"self.send_error({status})")


def _going(function: Function, module: Module) -> ast.Compare | list[ast.stmt]:
    """What a method answers to clients with a session alone: its end, or what it does under the path of the boundary, by its test."""
    rest = list(_beside_paths(function, module))
    if is_retired(function, module, rest):
        return rest
    paths = {n.value for d in function.node.decorator_list if _is_host(d) for n in descend(d) if isinstance(n, ast.Constant)}
    for around, test, named in branches(function.node.body):
        if named <= paths and is_retired(function, module, around.body):
            return test
    return []


def _beside_paths(function: Function, module: Module) -> Iterator[ast.stmt]:
    """The statements behind those that answer other paths."""
    body = function.node.body
    for at, statement in enumerate(body):
        match statement:
            case ast.If(test=ast.Compare(ops=[ast.Eq() | ast.In()]) as test, body=[*_, ast.Return()], orelse=[]) if asks_path(test):
                continue
            case ast.If(test=ast.Compare(ops=[ast.NotEq() | ast.NotIn()]) as test, body=[*_, ast.Return()] as then, orelse=[]):
                if asks_path(test) and is_refusal(function, module, then):
                    continue
        yield from body[at:]
        return


# -- blocks --------------------------------------------------------------------
def without(tree: Tree, node: cst.BaseStatement | cst.BaseSmallStatement) -> Iterator[Edit]:
    """Deletes a statement, and the blocks around it that do nothing without it."""
    while (around := _hollow(tree, node)) is not None:
        node = around
    if isinstance(node, cst.If):
        yield from cut.branch(tree, node)
    else:
        yield from cut.statement(tree, node)


def _hollow(tree: Tree, node: cst.CSTNode) -> cst.If | cst.With | None:
    """The `if` or lock around a statement that is alone in it."""
    line = tree.parent(node) if isinstance(node, cst.BaseSmallStatement) else node
    if isinstance(node, cst.BaseSmallStatement) and (not isinstance(line, cst.SimpleStatementLine) or len(line.body) > 1):
        return None
    block = tree.parent(line) if line is not None else None
    if not isinstance(block, cst.IndentedBlock) or len(block.body) > 1:
        return None
    if isinstance(node, cst.If) and node.orelse is not None:
        return None
    match above := tree.parent(block):
        case cst.If(orelse=None) if only_looks(tree, above.test):
            return above
        case cst.With(items=items) if all(isinstance(item.item, cst.Name | cst.Attribute) and item.asname is None for item in items):
            return above
    return None
