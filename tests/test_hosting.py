"""The text that puts the boundary around endpoints, for each framework and for each way to make an application."""

from __future__ import annotations

import ast

import pytest
from mcp_migrate import catalog, engine
from mcp_migrate.project import Project, read
from mcp_migrate.rule import Era
from mcp_migrate.scope import names_of
from mcp_migrate.source import Source

CATALOG = catalog.load()
RULE = "server_discover"
HANDLE = """

def handle(msg):
    method, rid = msg.get("method"), msg.get("id")
    if method == "initialize":
        return {"jsonrpc": "2.0", "id": rid, "result": {
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}}
    if method == "tools/list":
        return {"jsonrpc": "2.0", "id": rid, "result": {"tools": []}}
    return {"jsonrpc": "2.0", "id": rid, "error": {"code": -32601, "message": "unknown"}}
"""
FASTAPI = "from fastapi import APIRouter, FastAPI\n"
POST = '\n\n@app.post("/mcp")\nasync def post(body: dict):\n    return handle(body)\n'
FLASK = "from flask import Blueprint, Flask, request\n"
ROUTE = '\n\n@app.route("/mcp", methods=["POST"])\ndef post():\n    return handle(request.get_json())\n'
STARLETTE = "from starlette.applications import Starlette\nfrom starlette.responses import JSONResponse\nfrom starlette.routing import Mount, Route\n"
ENDPOINT = "\n\nasync def post(request):\n    return JSONResponse(handle(await request.json()))\n"


def link(files: dict[str, str]) -> Project:
    return Project.link(read(Source(f"{name}.py", text)) for name, text in files.items())


def wired(server: str, era: Era = Era.DUAL, **others: str) -> str:
    """The server with its boundary: it can be parsed, every name is known, and a second run does nothing."""
    before = {"server": server, **others}
    fixed = engine.fix(link(before), CATALOG, era, select=[RULE])
    assert fixed.dropped == ()
    assert [finding.hint for finding in fixed.remaining] == []
    for path, text in fixed.texts.items():
        held = before.get(path.removesuffix(".py"), "")
        assert names_of(ast.parse(text)).undefined <= names_of(ast.parse(held)).undefined
    again = engine.fix(fixed.project, CATALOG, era, select=[RULE])
    assert (again.texts, again.created) == ({}, {})
    return fixed.texts["server.py"]


def refused(server: str, **others: str) -> str:
    """Why nothing was wired."""
    fixed = engine.fix(link({"server": server, **others}), CATALOG, select=[RULE])
    assert (fixed.texts, fixed.dropped) == ({}, ())
    (finding,) = fixed.remaining
    return finding.hint


# -- applications -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "line"),
    [
        ("app = FastAPI()\n", "app = FastAPI()\nLINE\n"),
        ("app = FastAPI()  # one\n", "app = FastAPI()  # one\nLINE\n"),
        ("app: FastAPI = FastAPI()\n", "app: FastAPI = FastAPI()\nLINE\n"),
        ("app = application = FastAPI()\n", "app = application = FastAPI()\nLINE\n"),
        ("app = FastAPI(\n    title='x',\n)  # one\n", "app = FastAPI(\n    title='x',\n)  # one\nLINE\n"),
        ("app = FastAPI(); number = 1\n", "app = FastAPI(); number = 1\nLINE\n"),
        ("app = FastAPI()\napp.add_middleware(Cors)\n", "app = FastAPI()\nLINE\napp.add_middleware(Cors)\n"),
        (
            "if DEBUG:\n    app = FastAPI(debug=True)\nelse:\n    app = FastAPI()\n",
            "if DEBUG:\n    app = FastAPI(debug=True)\n    LINE\nelse:\n    app = FastAPI()\n    LINE\n",
        ),
        ("app = FastAPI()\napp = FastAPI(title='x')\n", "app = FastAPI()\nLINE\napp = FastAPI(title='x')\nLINE\n"),
        ("try:\n    app = FastAPI()\nexcept OSError:\n    app = None\n", "try:\n    app = FastAPI()\n    LINE\nexcept OSError:\n"),
    ],
    ids=["plain", "comment", "annotated", "two names", "several lines", "semicolon", "middleware", "branches", "made anew", "try"],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["unix", "windows"])
def test_an_application_gets_a_line_below_each_statement_that_makes_it(made: str, line: str, newline: str) -> None:
    text = (FASTAPI + "from settings import DEBUG, Cors\n\n" + made + POST + HANDLE).replace("\n", newline)
    after = wired(text)
    assert line.replace("LINE", 'app.add_middleware(MCP.asgi, path="/mcp")').replace("\n", newline) in after
    assert "\n" not in after.replace("\r\n", "") or newline == "\n"


def test_an_application_that_is_wrapped_later_is_wired_where_it_is_made() -> None:
    after = wired(FASTAPI + "from cors import Cors\n\napp = FastAPI()\n" + POST + HANDLE + "\n\napp = Cors(app)\n")
    assert 'app = FastAPI()\napp.add_middleware(MCP.asgi, path="/mcp")\n' in after
    assert after.count("MCP.asgi") == 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "def create():\n    app = FastAPI()\n\n    @app.post('/mcp')\n    async def post(body: dict):\n        return handle(body)\n\n    return app\n",
            "    app = FastAPI()\n    app.add_middleware(MCP.asgi, path='/mcp')\n\n",
        ),
        (
            "def register(web: FastAPI):\n    @web.post('/mcp')\n    async def post(body: dict):\n        return handle(body)\n",
            "def register(web: FastAPI):\n    web.add_middleware(MCP.asgi, path='/mcp')\n\n    @web.post('/mcp')\n",
        ),
        (
            "def register(web: FastAPI):\n    '''Adds the routes.'''\n    @web.post('/mcp')\n    async def post(body: dict):\n        return handle(body)\n",
            "    '''Adds the routes.'''\n    web.add_middleware(MCP.asgi, path='/mcp')\n\n    @web.post('/mcp')\n",
        ),
        (
            "class Server:\n    def __init__(self):\n        self.app = FastAPI()\n        self.routes()\n\n    def routes(self):\n"
            "        @self.app.post('/mcp')\n        async def post(body: dict):\n            return handle(body)\n",
            "        self.app = FastAPI()\n        self.app.add_middleware(MCP.asgi, path='/mcp')\n        self.routes()\n",
        ),
    ],
    ids=["factory", "register", "register with a docstring", "attribute"],
)
@pytest.mark.parametrize("step", ["    ", "\t"], ids=["spaces", "tabs"])
def test_an_application_of_a_function_is_wired_there(before: str, after: str, step: str) -> None:
    text = (FASTAPI + "\n\n" + before + HANDLE).replace("    ", step)
    assert after.replace("path='/mcp'", 'path="/mcp"').replace("    ", step) in wired(text)


def test_an_application_of_another_module_is_wired_below_the_object() -> None:
    after = wired(
        "import web\n\n\n@web.app.post('/mcp')\nasync def post(body: dict):\n    return handle(body)\n" + HANDLE,
        web=FASTAPI + "app = FastAPI()\n",
    )
    assert 'methods={"tools/list"})\nweb.app.add_middleware(MCP.asgi, path="/mcp")\n' in after


def test_each_application_of_a_module_gets_its_own_paths() -> None:
    more = '\n\n@other.post("/rpc")\n@other.post("/")\nasync def rpc(body: dict):\n    return handle(body)\n'
    after = wired(FASTAPI + "app = FastAPI()\nother = FastAPI()\n" + POST + more + HANDLE)
    assert 'app = FastAPI()\napp.add_middleware(MCP.asgi, path="/mcp")\n' in after
    assert 'other = FastAPI()\nother.add_middleware(MCP.asgi, path=("/rpc", "/"))\n' in after


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ("app = wrap(FastAPI())\n", "reached over HTTP"),
        ("if DEBUG: app = FastAPI()\nelse: app = FastAPI()\n", "on the line of another statement"),
        ("app = FastAPI()\nif DEBUG:\n    app = load()\n", "not always the application that is made here"),
        ("app = FastAPI()\nif DEBUG:\n    app = APIRouter()\n", "not always the application that is made here"),
    ],
    ids=["wrapped at once", "one line", "loaded", "router"],
)
def test_an_application_that_is_not_surely_this_one_is_left_alone(made: str, why: str) -> None:
    assert why in refused(FASTAPI + "from settings import DEBUG, load, wrap\n\n" + made + POST + HANDLE)


def test_an_application_that_is_given_or_made_is_left_alone() -> None:
    create = (
        "def create(app: FastAPI | None = None):\n    if app is None:\n        app = FastAPI()\n\n"
        "    @app.post('/mcp')\n    async def post(body: dict):\n        return handle(body)\n\n    return app\n"
    )
    assert "not always the application" in refused(FASTAPI + "\n\n" + create + HANDLE)


def test_a_path_that_is_not_written_out_is_asked_for() -> None:
    assert "the path of the endpoint is not known" in refused(
        FASTAPI + "from settings import PATH\n\napp = FastAPI()\n" + POST.replace('"/mcp"', "PATH") + HANDLE
    )


# -- routers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "after"),
    [
        ("APIRouter()", "APIRouter(CLASS)"),
        ('APIRouter(prefix="/api")', 'APIRouter(prefix="/api", CLASS)'),
        ('APIRouter(prefix="/api",)', 'APIRouter(prefix="/api", CLASS)'),
        ('APIRouter(\n    prefix="/api",\n    tags=["a"],\n)', 'APIRouter(\n    prefix="/api",\n    tags=["a"],\n    CLASS,\n)'),
        ('APIRouter(\n    prefix="/api",  # x, y\n)', 'APIRouter(\n    prefix="/api",  # x, y\n    CLASS,\n)'),
        ('APIRouter(\n    prefix="/api"  # x, y\n)', 'APIRouter(\n    prefix="/api",  # x, y\n    CLASS,\n)'),
        ('APIRouter(\n    prefix="/api", tags=["a"])', 'APIRouter(\n    prefix="/api", tags=["a"], CLASS)'),
        ("APIRouter(prefix=settings.prefix)", "APIRouter(prefix=settings.prefix, CLASS)"),
    ],
    ids=["empty", "one", "trailing comma", "several lines", "comment", "comment without a comma", "hanging", "unknown prefix"],
)
def test_a_router_gets_a_class_for_its_routes(made: str, after: str) -> None:
    text = FASTAPI + "from settings import settings\n\nrouter = " + made + POST.replace("app", "router") + HANDLE
    path = "/api/mcp" if '"/api"' in made else "/mcp"
    assert f"router = {after}\n".replace("CLASS", f'route_class=MCP.fastapi_route("{path}")') in wired(text)


@pytest.mark.parametrize("made", ["APIRouter(route_class=Own)", "APIRouter(**OPTIONS)"], ids=["class", "unknown arguments"])
def test_a_router_with_a_class_of_its_own_is_left_alone(made: str) -> None:
    text = FASTAPI + "from settings import OPTIONS, Own\n\nrouter = " + made + POST.replace("app", "router") + HANDLE
    assert "a route class of its own" in refused(text)


def test_a_router_whose_whole_path_is_its_prefix() -> None:
    text = FASTAPI + 'router = APIRouter(prefix="/mcp")\n' + POST.replace("app", "router").replace('"/mcp"', '""') + HANDLE
    assert 'APIRouter(prefix="/mcp", route_class=MCP.fastapi_route("/mcp"))' in wired(text)


# -- Flask and Starlette ----------------------------------------------------------------------


def test_an_application_of_flask() -> None:
    assert 'app = Flask(__name__)\napp.wsgi_app = MCP.wsgi(app.wsgi_app, "/mcp")\n' in wired(
        FLASK + "app = Flask(__name__)\n" + ROUTE + HANDLE
    )


def test_the_verbs_that_an_endpoint_asks_for_are_no_methods_of_the_server() -> None:
    route = ROUTE.replace('"POST"]', '"POST", "OPTIONS"]').replace(
        "    return", '    if request.method == "OPTIONS":\n        return ""\n    return'
    )
    assert 'methods={"tools/list"})' in wired(FLASK + "app = Flask(__name__)\n" + route + HANDLE)


def test_a_blueprint_of_flask_has_its_views_decorated_below_the_route() -> None:
    text = (
        FLASK
        + 'from guard import login\n\nbp = Blueprint("mcp", __name__)\n'
        + ROUTE.replace("app", "bp").replace("\ndef", "\n@login\ndef")
    )
    assert '@bp.route("/mcp", methods=["POST"])\n@MCP.flask\n@login\ndef post():\n' in wired(text + HANDLE)


def test_an_application_of_starlette_that_stands_below_its_endpoints() -> None:
    app = 'app = Starlette(routes=[Route("/mcp", post, methods=["POST"])])\n'
    assert app + 'app.add_middleware(MCP.asgi, path="/mcp")\n' in wired(STARLETTE + ENDPOINT + HANDLE + "\n\n" + app)


@pytest.mark.parametrize(
    "app",
    [
        'app = Starlette(routes=[Mount("/api", routes=[Route("/mcp", post, methods=["POST"])])])\n',
        'routes = [Route("/mcp", post, methods=["POST"])]\n',
        'def create(debug):\n    return Starlette(debug=debug, routes=[Route("/mcp", post, methods=["POST"])])\n',
    ],
    ids=["mounted", "no application", "no name"],
)
def test_an_endpoint_of_starlette_whose_application_or_path_is_not_known_is_decorated(app: str) -> None:
    assert "\n@MCP.starlette\nasync def post(request):\n" in wired(STARLETTE + ENDPOINT + HANDLE + "\n\n" + app)


# -- handlers ---------------------------------------------------------------------------------

SEND = """
        reply = handle(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(reply).encode())
"""


@pytest.mark.parametrize(
    ("server", "after"),
    [
        (
            "import json\nfrom django.http import JsonResponse\nfrom django.views.decorators.csrf import csrf_exempt\n\n\n"
            "@csrf_exempt\ndef view(request):\n    return JsonResponse(handle(json.loads(request.body)))\n",
            "@csrf_exempt\n@MCP.django\ndef view(request):\n",
        ),
        (
            "import json\nfrom django.http import JsonResponse\nfrom django.views import View\n\n\n"
            "class Mcp(View):\n    async def post(self, request):\n        return JsonResponse(handle(json.loads(request.body)))\n",
            "@MCP.django\nclass Mcp(View):\n",
        ),
        (
            "from aiohttp import web\n\nroutes = web.RouteTableDef()\n\n\n"
            "@routes.post('/mcp')\nasync def post(request):\n    return web.json_response(handle(await request.json()))\n",
            "@routes.post('/mcp')\n@MCP.aiohttp\nasync def post(request):\n",
        ),
        (
            "import json\nimport tornado.web\n\n\nclass Mcp(tornado.web.RequestHandler):\n    def post(self):\n"
            "        self.write(handle(json.loads(self.request.body)))\n\n    def delete(self):\n        self.set_status(204)\n",
            "    @MCP.tornado\n    def post(self):\n        self.write(handle(json.loads(self.request.body)))\n\n    @MCP.tornado\n    def delete(self):\n",
        ),
        (
            "import json\nfrom http.server import BaseHTTPRequestHandler\n\n\n"
            f"class Mcp(BaseHTTPRequestHandler):\n    def do_POST(self):{SEND}\n    def do_GET(self):\n        self.send_error(405)\n",
            "    @MCP.http_server()\n    def do_GET(self):\n",
        ),
        (
            "import json\nfrom http.server import BaseHTTPRequestHandler\n\n\n"
            f"class Mcp(BaseHTTPRequestHandler):\n    def do_POST(self):\n        if self.path not in ('/', '/mcp'):\n"
            f"            return self.send_error(404){SEND}",
            '    @MCP.http_server(("/", "/mcp"))\n    def do_POST(self):\n',
        ),
        (
            f"import json\nfrom http.server import BaseHTTPRequestHandler\n\n\nclass Mcp(BaseHTTPRequestHandler):\n    def _answer(self):{SEND}\n"
            "    do_GET = do_POST = _answer\n",
            "    @MCP.http_server()\n    def _answer(self):\n",
        ),
        (
            "import json\n\n\ndef lambda_handler(event, context):\n    if event['path'] != '/mcp':\n        return {'statusCode': 404}\n"
            "    return {'statusCode': 200, 'body': json.dumps(handle(json.loads(event['body'])))}\n",
            '@MCP.aws_lambda("/mcp")\ndef lambda_handler(event, context):\n',
        ),
    ],
    ids=["django", "django class", "aiohttp", "tornado", "http.server", "http.server paths", "http.server alias", "lambda"],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["unix", "windows"])
def test_a_handler_is_decorated(server: str, after: str, newline: str) -> None:
    assert after.replace("\n", newline) in wired((server + HANDLE).replace("\n", newline))


ASGI = """import json


async def respond(send, reply):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": json.dumps(reply).encode()})
"""
APP = """async def app(scope, receive, send):
    if scope["path"] == "/mcp":
        await respond(send, handle(json.loads((await receive())["body"])))
"""


@pytest.mark.parametrize(
    ("server", "after"),
    [
        (ASGI + HANDLE + "\n\n" + APP, APP + '\n\napp = MCP.asgi(app, "/mcp")\n'),
        (ASGI + HANDLE + "\n\n" + APP.rstrip("\n"), APP + '\n\napp = MCP.asgi(app, "/mcp")\n'),
        (ASGI + "\n\n" + APP + HANDLE, APP + '\n\napp = MCP.asgi(app, "/mcp")\n\n\ndef handle(msg):\n'),
    ],
    ids=["last", "without a newline", "above others"],
)
def test_an_application_that_is_a_function_is_replaced_below(server: str, after: str) -> None:
    assert after in wired(server)


# -- the object -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "after"),
    [
        ('"""Doc."""\nfrom __future__ import annotations\n\n', '"""Doc."""\nfrom __future__ import annotations\n\nfrom fastapi'),
        ("#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\n", "#!/usr/bin/env python3\n# -*- coding: utf-8 -*-\nfrom fastapi"),
        (
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from x import Y\n",
            "if TYPE_CHECKING:\n    from x import Y\nfrom fastapi",
        ),
    ],
    ids=["docstring and future", "first lines", "TYPE_CHECKING"],
)
def test_what_a_module_begins_with_stays_there(head: str, after: str) -> None:
    text = wired(head + FASTAPI + "app = FastAPI()\n" + POST + HANDLE)
    assert text.startswith(head)
    assert after in text
    assert text.index("\nMCP = Stateless(") < text.index("\napp = FastAPI()")


def test_an_application_in_the_very_first_statement() -> None:
    text = wired("import fastapi; app = fastapi.FastAPI()\n" + POST + HANDLE)
    assert text.index("\nMCP = Stateless(") < text.index("\napp.add_middleware(MCP.asgi")


def test_names_that_are_taken_are_left_alone() -> None:
    text = wired(FASTAPI + 'MCP = "x"\n\napp = FastAPI()\n' + POST + HANDLE)
    assert 'MCP = "x"\n' in text
    assert 'app.add_middleware(MCP_2.asgi, path="/mcp")\n' in text


def test_names_that_the_identity_uses_below_the_application_are_asked_for_later() -> None:
    handle = HANDLE.replace('"name": "s"', '"name": NAME')
    text = wired(FASTAPI + "app = FastAPI()\n" + POST + '\nNAME = "late"\n' + handle)
    assert 'lambda: {"name": NAME, "version": "1"}' in text


@pytest.mark.parametrize("era", list(Era), ids=lambda era: era.value)
def test_the_modern_era_has_no_legacy_side(era: Era) -> None:
    text = wired(FASTAPI + "app = FastAPI()\n" + POST + HANDLE, era)
    assert ("legacy=False" in text) is (era is Era.MODERN)


VIEWS = (("one", "handle"), ("two", "other"))
MORE = POST.replace("/mcp", "/rpc").replace("post(body", "rpc(body").replace("handle", "other")


@pytest.mark.parametrize(
    "server",
    [
        "app = FastAPI()\n" + POST + MORE,
        "app = FastAPI()\nrpc_app = FastAPI()\n" + POST + MORE.replace("@app", "@rpc_app"),
    ],
    ids=["one application", "an application each"],
)
def test_two_servers_of_one_module_are_told_and_left_alone(server: str) -> None:
    fixed = engine.fix(link({"server": FASTAPI + server + HANDLE + HANDLE.replace("handle", "other")}), CATALOG, select=[RULE])
    assert fixed.texts == {}
    assert ["two servers of one module" in finding.hint for finding in fixed.remaining] == [True, True]


def test_two_servers_whose_endpoints_are_decorated_are_both_wired() -> None:
    views = "".join(
        f"\n\n@csrf_exempt\ndef {name}(request):\n    return JsonResponse({to}(json.loads(request.body)))\n" for name, to in VIEWS
    )
    head = "import json\nfrom django.http import JsonResponse\nfrom django.views.decorators.csrf import csrf_exempt\n"
    after = wired(head + views + HANDLE + HANDLE.replace("handle", "other"))
    assert "@MCP.django\ndef one(" in after
    assert after.count(".django\n") == after.count(" = Stateless(") == 2


# -- functions that answer and give None ----------------------------------------------------------

SESSIONS = """
import json
from http.server import BaseHTTPRequestHandler

SESSIONS = {}


class Handler(BaseHTTPRequestHandler):
    def session(self, msg):
        FIRST
        sid = self.headers.get("Mcp-Session-Id")
        if msg.get("method") == "initialize":
            sid = "new"
            SESSIONS[sid] = {}
            return sid
        if not sid or sid not in SESSIONS:
            self.send_error(404)
            return None
        return sid

    def do_POST(self):
        msg = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        sid = self.session(msg)
        if sid is None:
            return
        self.send_response(200)
        self.send_header("Mcp-Session-Id", sid)
        self.end_headers()
        self.wfile.write(json.dumps(handle(msg)).encode())
"""


def test_a_caller_that_leaves_where_a_function_gave_no_session_lets_requests_without_one_pass() -> None:
    after = wired(SESSIONS.replace("        FIRST\n", "") + HANDLE)
    assert "        if (not sid or sid not in SESSIONS) and not MCP.modern:\n            self.send_error(404)\n" in after
    assert "        if sid is None and not MCP.modern:\n            return\n" in after


@pytest.mark.parametrize(
    "first",
    [
        'if self.headers.get("Authorization") != KEY:\n            self.send_error(404)\n            return None\n',
        'if self.headers.get("Authorization") != KEY:\n            return self.send_error(404)\n',
        'if "Authorization" not in self.headers:\n            return\n',
    ],
    ids=["None", "what sends it", "nothing"],
)
def test_a_function_that_refuses_for_something_else_as_well_is_left_alone(first: str) -> None:
    assert "is not clear" in refused("KEY = 'k'\n" + SESSIONS.replace("FIRST\n", first) + HANDLE)
