"""Where HTTP requests come in: the endpoints above a dispatcher, and what the boundary is put around."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from .callers import climb
from .chains import ANCHORS
from .code import Call, Code, Place, last
from .frameworks import Application, Framework, application, base, imports
from .functions import Module, dotted, targets
from .retired import is_retired, is_void
from .syntax import descend

_VERBS = {"post": "POST", "get": "GET", "delete": "DELETE", "put": "PUT", "patch": "PATCH", "head": "HEAD", "options": "OPTIONS"}
_HANDS = frozenset({"put", "put_nowait", "send", "send_json", "publish", "broadcast", "append"})
_OURS = frozenset({"POST", "GET", "DELETE"})
_ANY = frozenset(_VERBS.values())
_BY_PATH = frozenset({Framework.FASTAPI, Framework.STARLETTE, Framework.ASGI, Framework.FLASK})
_DECORATORS = frozenset({"route", "api_route", "view"})
_DJANGO_DECORATORS = frozenset({"csrf_exempt", "require_POST", "require_http_methods", "api_view", "require_safe", "require_GET"})
_DJANGO_PATHS = frozenset({"path", "re_path", "url"})


@dataclass(frozen=True, eq=False)
class Endpoint:
    """A function that answers HTTP requests. `paths` is empty where they do not matter or are not known."""

    framework: Framework
    place: Place
    verbs: frozenset[str]
    paths: tuple[str, ...] = ()
    app: Application | None = None
    route: ast.Call | None = None  # the decorator or call that registers it

    @property
    def answers(self) -> bool:
        """Whether messages are posted to it."""
        return "POST" in self.verbs


def above(code: Code, start: Place) -> list[Endpoint]:
    """The endpoints over which requests reach a function, nearest first. One may call another: the boundary is the outer one's."""
    found: dict[Place, Endpoint] = {}

    def ends(place: Place) -> bool:
        endpoint = of(code, place)
        if endpoint is not None and endpoint.answers:
            found[place] = endpoint
        # What calls a decorated function calls the boundary with it.
        return endpoint is not None and endpoint.framework not in _BY_PATH

    for _ in climb(code, start, ends):
        pass
    return list(found.values())


def beside(code: Code, endpoint: Endpoint) -> Iterator[Endpoint]:
    """The endpoints of the same module that answer other verbs of the same path."""
    for place in endpoint.place.unit.places:
        if place == endpoint.place or place.function is None:
            continue
        if (other := of(code, place)) is None or other.framework is not endpoint.framework or not other.verbs & _OURS:
            continue
        owner = place.function.owner
        same_class = bool(owner) and owner == (endpoint.place.function.owner if endpoint.place.function else "")
        # The boundary of a function that answers other paths too would answer there as well.
        same_path = bool(other.paths) and set(other.paths) <= set(endpoint.paths)
        if (same_class and other.route is None and endpoint.route is None) or same_path:
            yield other


def of(code: Code, place: Place) -> Endpoint | None:
    """The endpoint that a function is, if it is one."""
    if place.function is None:
        return None
    if place not in code.endpoints:
        code.endpoints[place] = _endpoint(code, place)
    return code.endpoints[place]


def _endpoint(code: Code, place: Place) -> Endpoint | None:
    routed = [*_decorated(code, place), *_registered(code, place)]
    if routed:
        first = routed[0]
        same = [one for one in routed if one.framework is first.framework]
        paths = tuple(dict.fromkeys(path for one in same for path in one.paths))
        return replace(first, verbs=frozenset().union(*(one.verbs for one in same)), paths=paths)
    return _of_class(code, place) or _by_shape(code, place)


def is_outermost(decorator: ast.expr, endpoint: Endpoint) -> bool:
    """Whether a decorator registers the endpoint with its framework, or only marks it."""
    func = decorator.func if isinstance(decorator, ast.Call) else decorator
    routes = isinstance(decorator, ast.Call) and isinstance(func, ast.Attribute) and (func.attr in _VERBS or func.attr in _DECORATORS)
    return decorator is endpoint.route or routes or last(func) in _DJANGO_DECORATORS


def reads_body(endpoint: Endpoint, inside: Iterable[Place]) -> bool:
    """Whether the endpoint itself, or what it calls, reads the body: only then does it see what the boundary gives it."""
    by_view = endpoint.framework is Framework.DJANGO and not endpoint.place.owner
    if not by_view and endpoint.framework is not Framework.TORNADO:
        return True
    for place in inside:
        for node in place.nodes:
            if isinstance(node, ast.Attribute) and node.attr in {"body", "data", "read", "POST"} and dotted(node.value) not in {"", "self"}:
                return True
    return False


def streams(code: Code, place: Place, leads: Callable[[Place], bool]) -> bool:
    """Whether what the dispatcher replies only goes into the stream of another request, and not into the answer to this one."""
    module = place.unit.module
    given: list[ast.AST] = []
    for node in place.nodes:
        if isinstance(node, ast.Call) and (target := code.function(node, place)) is not None and leads(target):
            holder = module.parents[node]
            while isinstance(holder, ast.Await):
                node, holder = holder, module.parents[holder]
            names = {n.id for n in targets(holder) if isinstance(n, ast.Name)}
            given += [n for n in place.nodes if isinstance(n, ast.Name) and n.id in names and isinstance(n.ctx, ast.Load)]
            given += [] if names else [node]
    ways = [_goes(one, module) for one in given]
    return "handed" in ways and "answered" not in ways


def tested(code: Code, place: Place, leads: Callable[[Place], bool], dispatcher: Place) -> tuple[tuple[str, ...], bool]:
    """The literal paths under which a function goes on to the dispatcher, and whether it tests paths at all."""
    ours: list[str] = []
    let_by: list[str] = []  # by `if path not in (...): return`, which may name the paths of other endpoints too
    others: set[str] = set()
    tests = False
    for node in place.nodes:
        then: Sequence[ast.stmt | ast.expr]
        otherwise: Sequence[ast.stmt | ast.expr]
        match node:
            case ast.If(body=body, orelse=orelse):
                then, otherwise = body, orelse
            case ast.IfExp(body=yes, orelse=no):
                then, otherwise = [yes], [no]
            case _:
                continue
        for test in (n for n in descend(node.test) if isinstance(n, ast.Compare) and len(n.ops) == 1):
            paths = [
                text
                for side in (test.left, *test.comparators)
                for text in sorted(code.texts(side, place) or ())
                if text.startswith("/") and any("path" in part for part in _words(test))
            ]
            if not paths:
                continue
            tests = True
            match test.ops[0]:
                case ast.Eq() | ast.In():
                    if _leads(code, then, place, leads, dispatcher):
                        ours += paths
                    elif test is node.test and (otherwise or isinstance(then[-1], ast.Return | ast.Raise)):
                        others |= set(paths)
                case ast.NotEq() | ast.NotIn():
                    if _leads(code, otherwise, place, leads, dispatcher):
                        ours += paths
                    elif isinstance(then[-1], ast.Return | ast.Raise):
                        let_by += paths
    ours += [path for path in let_by if path not in others] or ([] if ours else let_by)
    return tuple(dict.fromkeys(ours)), tests


def serves(code: Code, place: Place, paths: Collection[str]) -> bool:
    """Whether a function answers one of these paths with something of its own: no stream, no session, no refusal."""
    assert place.function
    if not paths and not (is_retired(place.function, place.unit.module) or is_void(place.function, place.unit.module)):
        return True
    for node in place.nodes:
        match node:
            case ast.If(test=ast.Compare(left=left, ops=[ast.Eq() | ast.In()], comparators=[right]) as test, body=body):
                named = {text for side in (left, right) for text in code.texts(side, place) or ()}
                if named & set(paths) and any("path" in part for part in _words(test)):
                    said = [n for statement in body for n in descend(statement)]
                    texts = " ".join(str(n.value) for n in said if isinstance(n, ast.Constant) and isinstance(n.value, str | int))
                    if not re.search(r"event-stream|session|\b40[0-9]\b", texts + " " + " ".join(_names(said)), re.IGNORECASE):
                        return True
    return False


def _names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    yield from (n.id if isinstance(n, ast.Name) else n.attr for n in nodes if isinstance(n, ast.Name | ast.Attribute))


def _goes(node: ast.AST, module: Module) -> str:
    """What becomes of a value: it is handed to a queue or socket, it is part of the answer, or it is only looked at."""
    for around in module.ancestors(node):
        match around:
            case ast.Call(func=ast.Attribute(attr=attr)) if attr in _HANDS:
                return "handed"
            case ast.Return() | ast.Assign() | ast.Expr():
                return "answered"
            case ast.If(test=test) | ast.IfExp(test=test) if any(n is node for n in descend(test)):
                return "asked"
            case ast.stmt():
                break
    return "asked"


def _words(node: ast.expr) -> Iterator[str]:
    """The names, attributes and keys of an expression, in lower case."""
    for part in descend(node):
        match part:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.Subscript(slice=ast.Constant(value=str(word))):
                yield word.lower()
            case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(word)), *_]):
                yield word.lower()


def _leads(code: Code, body: Iterable[ast.stmt | ast.expr], place: Place, leads: Callable[[Place], bool], dispatcher: Place) -> bool:
    """Whether some statements go on to the dispatcher: they call what leads to it, or hold its tests."""
    for node in (inner for statement in body for inner in descend(statement)):
        if isinstance(node, ast.Call) and (target := code.function(node, place)) is not None and leads(target):
            return True
        if place == dispatcher and isinstance(node, ast.Constant) and node.value in ANCHORS:
            return True
    return False


# -- routes --------------------------------------------------------------------
def _decorated(code: Code, place: Place) -> Iterator[Endpoint]:
    """`@app.post("/mcp")`, `@bp.route("/mcp", methods=["POST"])`."""
    assert place.function
    home = next((around for around in place.enclosing() if around != place), Place(place.unit, None))
    for decorator in place.function.node.decorator_list:
        match decorator:
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in _VERBS or attr in _DECORATORS:
                app = application(code, value, home)
                if app is not None:
                    aiohttp = app.framework is Framework.AIOHTTP
                    verbs = _aiohttp_verbs(code, decorator, place) if aiohttp else _verbs(code, decorator, attr, place)
                    yield Endpoint(app.framework, place, verbs, _paths(code, decorator, home), app, decorator)


def _registered(code: Code, place: Place) -> Iterator[Endpoint]:
    """`app.router.add_post("/mcp", handle)`, `Route("/mcp", handle, methods=["POST"])`, `path("mcp/", view)`."""
    for call in code.callers(place):
        if call.direct:
            continue
        node = _registering(call)
        name = last(node.func)
        spelled = call.place.unit.names.dotted(node.func) or ""
        if name == "Route" and spelled.startswith(("starlette.", "fastapi.")):
            yield Endpoint(Framework.STARLETTE, place, _verbs(code, node, name, place), _paths(code, node, call.place), None, node)
        elif name in _DJANGO_PATHS and spelled.startswith(("django.", "rest_framework.")):
            yield Endpoint(Framework.DJANGO, place, _ANY, (), None, node)
        elif imports(call.place, "aiohttp") and (name.startswith("add_") or dotted(node.func).startswith("web.")):
            verbs = _aiohttp_verbs(code, node, call.place)
            yield Endpoint(Framework.AIOHTTP, place, verbs, _paths(code, node, call.place), None, node)
        elif name in {"add_route", "add_api_route", "add_url_rule"} and isinstance(node.func, ast.Attribute):
            app = application(code, node.func.value, call.place)
            if app is not None:
                yield Endpoint(app.framework, place, _verbs(code, node, name, place), _paths(code, node, call.place), app, node)


def _registering(call: Call) -> ast.Call:
    """The call that is given the function, or what others make of it: `path("mcp/", csrf_exempt(view))`."""
    node = call.node
    while isinstance(around := call.place.unit.module.parents.get(node), ast.Call) and node in around.args:
        node = around
    return node


def _aiohttp_verbs(code: Code, node: ast.Call, place: Place) -> frozenset[str]:
    name = last(node.func)
    if name.removeprefix("add_") in _VERBS:
        return frozenset({_VERBS[name.removeprefix("add_")]})
    if name in {"add_route", "route"} and node.args:
        verb = code.text(node.args[0], place) or ""
        return _ANY if verb == "*" else frozenset({verb.upper()} & _ANY)
    return frozenset()


def _verbs(code: Code, node: ast.Call, name: str, place: Place) -> frozenset[str]:
    if name in _VERBS:
        return frozenset({_VERBS[name]})
    for keyword in node.keywords:
        if keyword.arg == "methods":
            return frozenset(text.upper() for text in code.texts(keyword.value, place) or _ANY)
    return frozenset({"GET"})


def _paths(code: Code, node: ast.Call, place: Place) -> tuple[str, ...]:
    candidates = [*node.args[:2], *(k.value for k in node.keywords if k.arg in {"path", "rule"})]
    for candidate in candidates:
        text = code.text(candidate, place)
        if text is not None and (text.startswith("/") or text == ""):
            return (text,)
    return ()


# -- classes and shapes --------------------------------------------------------
def _of_class(code: Code, place: Place) -> Endpoint | None:
    """A method that a framework calls by its name: `post` of a view, `do_POST` of a request handler."""
    assert place.function
    if not place.function.owner or (framework := base(code, place)) is None:
        return None
    names = {place.function.short, *_aliases(place)}
    if framework is Framework.DJANGO and "dispatch" in names:
        return Endpoint(framework, place, _ANY)
    if framework is Framework.HTTP_SERVER:
        verbs = {name.removeprefix("do_") for name in names if name.startswith("do_")} & _OURS
    else:
        verbs = {_VERBS[name] for name in names & _VERBS.keys()}
    return Endpoint(framework, place, frozenset(verbs)) if verbs else None


def _aliases(place: Place) -> Iterator[str]:
    """The other names that its class gives to a method: `do_GET = do_POST = _answer`."""
    assert place.function
    for node in place.unit.classes[place.function.owner].body:
        match node:
            case ast.Assign(targets=goals, value=ast.Name(id=name)) if name == place.function.short:
                yield from (goal.id for goal in goals if isinstance(goal, ast.Name))


def _by_shape(code: Code, place: Place) -> Endpoint | None:
    """An ASGI application, a Lambda handler, or a Django view whose URL is registered where the project does not show it."""
    assert place.function
    node, names = place.function.node, place.function.parameters
    if isinstance(node, ast.AsyncFunctionDef) and tuple(names[:3]) == ("scope", "receive", "send"):
        return Endpoint(Framework.ASGI, place, _ANY)
    if tuple(names[:2]) == ("event", "context") and not place.function.owner and _takes_body(place, names[0]):
        return Endpoint(Framework.AWS_LAMBDA, place, _ANY)
    decorators = {last(d.func if isinstance(d, ast.Call) else d) for d in node.decorator_list}
    if decorators & _DJANGO_DECORATORS and imports(place, "django", "rest_framework"):
        return Endpoint(Framework.DJANGO, place, _ANY)
    return None


def _takes_body(place: Place, event: str) -> bool:
    for node in place.nodes:
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value="body")) if name == event:
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="get"), args=[ast.Constant(value="body"), *_]) if name == event:
                return True
    return any(isinstance(n, ast.Constant) and n.value == "statusCode" for n in descend(place.function.node)) if place.function else False
