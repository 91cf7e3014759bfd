"""Puts the boundary around the endpoints of a web framework: one line for each application, router or handler."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from ..facts.code import Place, last
from ..facts.emissions import block_of
from ..facts.endpoints import Endpoint, is_outermost
from ..facts.frameworks import Application, Framework, made
from ..facts.functions import Def, Module, dotted
from ..facts.hooks import Host
from ..facts.syntax import descend
from ..source import Span
from .edits import Edit
from .lines import above, below, block, indent_of, line_start, next_line, start_of
from .module import Part

# Frameworks whose handlers are decorated, with the name of the decorator.
_DECORATED = {
    Framework.DJANGO: Part.DJANGO,
    Framework.FLASK: Part.FLASK,
    Framework.STARLETTE: Part.STARLETTE,
    Framework.AIOHTTP: Part.AIOHTTP,
    Framework.TORNADO: Part.TORNADO,
    Framework.HTTP_SERVER: Part.HTTP_SERVER,
    Framework.AWS_LAMBDA: Part.AWS_LAMBDA,
}
_WITH_PATH = frozenset({Framework.HTTP_SERVER, Framework.AWS_LAMBDA})


@dataclass(frozen=True)
class Hosting:
    """The edits, the parts of the runtime that they use, and the offset before which the boundary object must exist."""

    edits: tuple[Edit, ...]
    parts: frozenset[Part]
    before: int
    lines: tuple[str, ...] = ()  # what goes below the object


class Unhosted(Exception):
    """Why an endpoint cannot be wired."""

    def __init__(self, place: Place, reason: str, way_out: str = "") -> None:
        super().__init__(reason)
        self.place, self.reason, self.way_out = place, reason, way_out


def host(hosts: Iterable[Host], handle: str, *, within: bool, gates: Collection[str] = ()) -> Hosting:
    """The wiring of all endpoints of one module. Raises Unhosted.

    `within` is whether the boundary has to be reached from inside of the application, whose context it needs; `gates` are the names of
    middleware that asks for sessions.
    """
    return _Hosting(tuple(hosts), handle, within, frozenset(gates)).hosting()


class _Hosting:
    def __init__(self, hosts: tuple[Host, ...], handle: str, within: bool, gates: frozenset[str]) -> None:
        self.hosts, self.handle, self.within, self.gates = hosts, handle, within, gates
        self.module: Module = hosts[0].endpoint.place.unit.module
        self.parts: set[Part] = set()
        self.lines: list[str] = []
        self.starts: list[int] = []

    def hosting(self) -> Hosting:
        edits = list(dict.fromkeys(self._edits()))
        return Hosting(tuple(edits), frozenset(self.parts), min(self.starts), tuple(dict.fromkeys(self.lines)))

    def _edits(self) -> Iterator[Edit]:
        for paths, app, hosts in self._applications():
            yield from self._application(paths, app, hosts)
        for one in self.hosts:
            if self._is_wrapped(one.endpoint):
                continue
            if (part := _DECORATED.get(one.endpoint.framework)) is not None:
                self.parts.add(part)
                if part is Part.DJANGO and (view := self._view(one.endpoint)) is not None:
                    yield self._above(view, f"@{self.handle}.{part.value}")
                    continue
                for endpoint in (one.endpoint, *one.beside):
                    yield from self._decorated(endpoint, part, one.paths)
            elif one.endpoint.framework is Framework.ASGI:
                yield from self._function(one)

    def _applications(self) -> Iterator[tuple[tuple[str, ...], Application, list[Host]]]:
        """Each application or router with the paths of its endpoints."""
        found: dict[tuple[ast.AST | None, Place, str], list[tuple[Application, Host]]] = {}
        for one in self.hosts:
            if self._is_wrapped(one.endpoint):
                app = one.endpoint.app or self._only(one.endpoint)
                assert app is not None
                found.setdefault((app.made, app.place, app.name), []).append((app, one))
        for pairs in found.values():
            hosts = [one for _, one in pairs]
            paths = tuple(dict.fromkeys(path for one in hosts for path in one.paths))
            if not paths:
                raise Unhosted(hosts[0].endpoint.place, "the path of the endpoint is not known", "write it out where the route is made")
            yield paths, pairs[0][0], hosts

    def _is_wrapped(self, endpoint: Endpoint) -> bool:
        """Whether the boundary goes around the application or router, not around the handler."""
        if endpoint.framework is Framework.FASTAPI:
            return True
        if endpoint.framework not in {Framework.STARLETTE, Framework.FLASK} or not endpoint.paths or self.within:
            return False
        # Where something is mounted, what a route says need not be the path of a request.
        if endpoint.framework is Framework.STARLETTE and any(last(c.func) in {"Mount", "mount"} for c in self.module.nodes(ast.Call)):
            return False
        app = endpoint.app or self._only(endpoint)
        return app is not None and not app.router and app.place.unit is endpoint.place.unit

    def _only(self, endpoint: Endpoint) -> Application | None:
        """The one application of the module, where a route does not name it."""
        found = [app for app in made(endpoint.place.unit) if app.framework is endpoint.framework and not app.router]
        return found[0] if len(found) == 1 else None

    # -- applications ------------------------------------------------------------
    def _application(self, paths: tuple[str, ...], app: Application, hosts: list[Host]) -> Iterator[Edit]:
        place = hosts[0].endpoint.place
        if app.router:
            yield from self._router(paths, app, place)
            return
        if app.framework is Framework.FLASK:
            self.parts.add(Part.WSGI)
            line = f"{app.name}.wsgi_app = {self.handle}.wsgi({app.name}.wsgi_app, {_path(paths)})"
        else:
            self.parts.add(Part.ASGI)
            line = f"{app.name}.add_middleware({self.handle}.asgi, path={_path(paths)})"
        if app.place.unit is not place.unit:
            self._starts_at(place)
            self.lines.append(line)
        elif app.made is None:
            assert app.place.function
            self._starts_at(app.place)
            body = app.place.function.node.body
            first = body[1] if len(body) > 1 and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) else body[0]
            gap = "\n" if isinstance(first, Def | ast.ClassDef) else ""
            yield above(self.module, first, f"{line}\n{gap}")
        else:
            for statement in self._makings(app, place):
                self.starts.append(start_of(self.module, statement))
                yield below(self.module, self._last_gate(statement, app) or statement, f"{line}\n")

    def _last_gate(self, making: ast.stmt, app: Application) -> ast.stmt | None:
        """The statement that adds the last middleware which asks for sessions, where no other one is added before it.

        What is added last meets requests first: behind the boundary, the gate learns from it which of them to let pass.
        """
        found: ast.stmt | None = None
        block_ = block_of(making, self.module)
        for statement in block_[block_.index(making) + 1 :]:
            match statement:
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=added_to, attr="add_middleware"), args=[added, *_])):
                    if dotted(added_to) == app.name and last(added) not in self.gates:
                        break
                    found = statement if dotted(added_to) == app.name else found
        return found

    def _makings(self, app: Application, place: Place) -> Iterator[ast.stmt]:
        """The statements that make an application: one for each branch, or those that make it anew."""
        ours = [one for one in made(place.unit) if self._is_same(one.place, app.place)]
        statements = {self._statement(one.made): one for one in ours if one.made is not None}
        statements = {node: one for node, one in statements.items() if app.name in map(dotted, _targets(node))}
        if not any(one.made is app.made for one in statements.values()):
            raise Unhosted(place, f"where `{app.name}` is made it has no name yet", "wire the application by hand")
        given = app.place.function is not None and app.name in app.place.function.parameters
        given_to: list[ast.Assign | ast.AnnAssign] = [*self.module.nodes(ast.Assign), *self.module.nodes(ast.AnnAssign)]
        for node in (one for one in given_to if app.name in map(dotted, _targets(one))):
            if not self._is_same(Place(place.unit, self.module.function_of(node)), app.place):
                continue
            made_here = statements.get(node)
            other = made_here is not None and (made_here.router or made_here.framework is not app.framework)
            if given or other or (made_here is None and not _keeps(node.value, app.name)):
                raise Unhosted(place, f"`{app.name}` is not always the application that is made here", "wire the application by hand")
        for statement in statements:
            if getattr(self.module.parents[statement], "lineno", 0) == statement.lineno:
                raise Unhosted(place, f"`{app.name}` is made on the line of another statement", "give it a line of its own")
            yield statement

    def _is_same(self, one: Place, other: Place) -> bool:
        """Whether two places see the same names: those of one function, or of the objects of one class."""
        return one.function is other.function or (bool(one.owner) and one.owner == other.owner)

    def _router(self, paths: tuple[str, ...], app: Application, place: Place) -> Iterator[Edit]:
        """`route_class=` for the router: it needs neither the application nor the prefixes that it gets there."""
        if app.made is None or app.place.unit is not place.unit or app.framework is not Framework.FASTAPI:
            raise Unhosted(
                place, f"`{app.name}` is made elsewhere, so neither its application nor the path is known", "wire the application"
            )
        if any(keyword.arg in {"route_class", None} for keyword in app.made.keywords):
            raise Unhosted(place, f"`{app.name}` has a route class of its own", "wire the application by hand")
        whole = tuple(dict.fromkeys(f"{app.prefix or ''}{path}".rstrip("/") for path in paths))
        if not all(whole) and whole != ("",):
            raise Unhosted(place, "the path of the endpoint is not known", "write the router's prefix out")
        self.parts.add(Part.FASTAPI_ROUTE)
        self.starts.append(start_of(self.module, self._statement(app.made)))
        yield from _argument(self.module, app.made, f"route_class={self.handle}.fastapi_route({_path(whole)})")

    # -- handlers ------------------------------------------------------------------
    def _decorated(self, endpoint: Endpoint, part: Part, paths: tuple[str, ...]) -> Iterator[Edit]:
        assert endpoint.place.function
        node = endpoint.place.function.node
        arguments = f"({_path(paths) if paths else ''})" if endpoint.framework in _WITH_PATH else ""
        # Decorators of the server's own may read the body; those that route, or only mark the function, stay above.
        own = next((d for d in node.decorator_list if not is_outermost(d, endpoint)), None)
        yield self._above(node, f"@{self.handle}.{part.value}{arguments}", own)

    def _view(self, endpoint: Endpoint) -> ast.ClassDef | None:
        """The class of a view: around the whole of it the boundary sees verbs that have no method, and what runs before one."""
        return endpoint.place.unit.classes.get(endpoint.place.owner) if endpoint.place.owner else None

    def _above(self, node: Def | ast.ClassDef, text: str, decorator: ast.expr | None = None) -> Edit:
        """One more decorator, directly above a definition or above another decorator of it."""
        self.starts.append(start_of(self.module, node))
        start = self.module.span(node if decorator is None else decorator).start
        at = line_start(self.module.source, start)
        return Edit(Span(at, at), f"{indent_of(self.module.source, start)}{text}{self.module.source.newline}")

    def _function(self, one: Host) -> Iterator[Edit]:
        """`app = MCP.asgi(app, "/mcp")` below an application that is a function."""
        place = one.endpoint.place
        assert place.function
        if place.function.name != place.function.short:
            raise Unhosted(place, f"`{place.name}` is no function of the module itself", "wrap the application where it is made")
        self.parts.add(Part.ASGI)
        self._starts_at(place)
        name = place.function.short
        source, end = self.module.source, self.module.span(place.function.node).end
        ends_open = not source.utf8.endswith((b"\n", b"\r")) and not source.utf8[end:].strip()
        text = f"\n\n\n{name} = {self.handle}.asgi({name}, {_path(one.paths)})"
        yield Edit(Span(end, end), block(source, f"{text}\n" if ends_open else text))

    # -- helpers -------------------------------------------------------------------
    def _starts_at(self, place: Place) -> None:
        assert place.function
        self.starts.append(start_of(self.module, place.function.node))

    def _statement(self, node: ast.AST) -> ast.stmt:
        while not isinstance(node, ast.stmt):
            node = self.module.parents[node]
        return node


def _path(paths: tuple[str, ...]) -> str:
    quoted = [f'"{path}"' for path in paths or ("",)]
    return quoted[0] if len(quoted) == 1 else f"({', '.join(quoted)})"


def _keeps(value: ast.expr | None, name: str) -> bool:
    """Whether a name that is given this value still leads to the application, or to none: `app = Cors(app)`, `app = None`."""
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return True
    return any(isinstance(n, ast.expr) and dotted(n) == name for n in descend(value))


def _targets(statement: ast.stmt) -> list[ast.expr]:
    match statement:
        case ast.Assign(targets=found):
            return found
        case ast.AnnAssign(target=target):
            return [target]
    return []


def _argument(module: Module, call: ast.Call, text: str) -> Iterator[Edit]:
    """One more keyword argument, as the others stand: on lines of their own, or behind the last one."""
    source, span = module.source, module.span(call)
    close = span.end - 1
    arguments: list[ast.expr] = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not arguments:
        yield Edit(Span(close, close), text)
        return
    end = max(module.span(argument).end for argument in arguments)
    tail = source.utf8[end:close]
    if b"\n" not in tail:
        yield Edit(Span(end, close), f", {text}")
        return
    if b"," not in tail.split(b"#")[0]:
        yield Edit(Span(end, end), ",")
    # A comment behind the last argument speaks of that one.
    at = next_line(source, end)
    indent = indent_of(source, max(module.span(argument).start for argument in arguments))
    yield Edit(Span(at, at), block(source, f"{indent}{text},\n"))
