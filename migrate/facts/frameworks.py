"""Which web framework an object, a class or a registration belongs to, and where applications and routers are made."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from .chains import value_of
from .code import Code, Place, Unit, last
from .functions import dotted


class Framework(str, Enum):
    """How requests reach an endpoint; the boundary is put around it in a way of its own for each."""

    FASTAPI = "fastapi"
    STARLETTE = "starlette"
    ASGI = "asgi"
    FLASK = "flask"
    DJANGO = "django"
    AIOHTTP = "aiohttp"
    TORNADO = "tornado"
    HTTP_SERVER = "http_server"
    AWS_LAMBDA = "aws_lambda"


# What an application or router is made with, by the first and the last part of its dotted name.
_APPLICATIONS = {
    ("fastapi", "FastAPI"): Framework.FASTAPI,
    ("starlette", "Starlette"): Framework.STARLETTE,
    ("flask", "Flask"): Framework.FLASK,
    ("aiohttp", "Application"): Framework.AIOHTTP,
}
_ROUTERS = {
    ("fastapi", "APIRouter"): Framework.FASTAPI,
    ("flask", "Blueprint"): Framework.FLASK,
    ("aiohttp", "RouteTableDef"): Framework.AIOHTTP,
}
# Classes whose methods answer requests, the same way.
_BASES = {
    ("django", "View"): Framework.DJANGO,
    ("rest_framework", "APIView"): Framework.DJANGO,
    ("rest_framework", "GenericAPIView"): Framework.DJANGO,
    ("tornado", "RequestHandler"): Framework.TORNADO,
    ("aiohttp", "View"): Framework.AIOHTTP,
    ("flask", "MethodView"): Framework.FLASK,
    ("flask", "View"): Framework.FLASK,
    ("starlette", "HTTPEndpoint"): Framework.STARLETTE,
    ("http", "BaseHTTPRequestHandler"): Framework.HTTP_SERVER,
    ("http", "SimpleHTTPRequestHandler"): Framework.HTTP_SERVER,
}


@dataclass(frozen=True, eq=False)
class Application:
    """An application or router: how this module calls it, and the statement that makes it, if one does."""

    framework: Framework
    router: bool
    place: Place  # the function (or module) that makes it, or that is given it
    name: str  # "app", "self.app"
    made: ast.Call | None = None  # None: it is a parameter
    prefix: str | None = ""  # of its paths; None where it is not written out


def application(code: Code, node: ast.expr, place: Place) -> Application | None:
    """The application or router that an expression names, as code of this place sees it."""
    name = dotted(node)
    if not name:
        return None
    found = value_of(code, node, place)
    value, home = (found[0], found[1]) if found else (None, place)
    if isinstance(value, ast.Call):
        kind = _kind(value.func, home)
        return Application(*kind, home, name, value, _prefix(code, value, home)) if kind else None
    if isinstance(node, ast.Name):
        for around in place.enclosing():
            if around.function and node.id in around.function.parameters:
                return _given(code, node.id, around)
    return None


def made(unit: Unit) -> Iterator[Application]:
    """The applications and routers that a module makes, under the names that it gives them."""
    for place in unit.places:
        for node in place.nodes:
            match node:
                case ast.Assign(targets=[goal, *_], value=ast.Call() as call) | ast.AnnAssign(target=goal, value=ast.Call() as call):
                    if (kind := _kind(call.func, place)) is not None and dotted(goal):
                        yield Application(*kind, place, dotted(goal), call)


def base(code: Code, place: Place) -> Framework | None:
    """The framework that calls the methods of the class that a method belongs to."""
    pending, seen = [(place.unit, place.owner)], set[tuple[object, str]]()
    for unit, owner in pending:
        if (unit, owner) in seen or (node := unit.classes.get(owner)) is None:
            continue
        seen.add((unit, owner))
        for parent in node.bases:
            spelled = unit.names.dotted(parent) or ""
            if (known := _BASES.get(_ends(spelled))) is not None:
                return known
            target = code.target(parent, Place(unit, None))
            if target is not None and not isinstance(target, Place):
                pending.append((target.unit, target.name))
    return None


def imports(place: Place, *packages: str) -> bool:
    """Whether a module imports anything of these packages."""
    return any(target.partition(".")[0] in packages for target in place.unit.names.imports.values())


def _kind(func: ast.expr, place: Place) -> tuple[Framework, bool] | None:
    ends = _ends(place.unit.names.dotted(func) or "")
    for table, router in ((_APPLICATIONS, False), (_ROUTERS, True)):
        if ends in table:
            return table[ends], router
    return None


def _given(code: Code, name: str, place: Place) -> Application | None:
    """An application that a function is given: by its annotation, or by what its callers hand over."""
    assert place.function
    args = place.function.node.args
    for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs]:
        if arg.arg == name and arg.annotation is not None and (kind := _kind(_noted(arg.annotation), place)):
            return Application(*kind, place, name)
    for call in code.callers(place):
        handed = call.argument(name, place.function)
        if handed is not None and (found := application(code, handed, call.place)) is not None:
            return Application(found.framework, found.router, place, name)
    return None


def _noted(annotation: ast.expr) -> ast.expr:
    """The class that an annotation names: `"FastAPI"`, `FastAPI | None`."""
    match annotation:
        case ast.Constant(value=str(text)):
            try:
                return _noted(ast.parse(text, mode="eval").body)
            except SyntaxError:
                return annotation
        case ast.BinOp(left=left):
            return left
        case ast.Subscript(slice=ast.expr() as inner) if last(annotation.value) == "Optional":
            return inner
    return annotation


def _prefix(code: Code, node: ast.Call, place: Place) -> str | None:
    given = next((keyword.value for keyword in node.keywords if keyword.arg in {"prefix", "url_prefix"}), None)
    return code.text(given, place) if given is not None else ""


def _ends(name: str) -> tuple[str, str]:
    return name.partition(".")[0], name.rpartition(".")[2]
