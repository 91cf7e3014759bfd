"""Which functions answer HTTP requests, over which of them a dispatcher is reached, and what is none of its endpoints."""

from __future__ import annotations

from textwrap import dedent

import pytest
from mcp_migrate.facts import endpoints
from mcp_migrate.facts.code import Code, Place
from mcp_migrate.facts.endpoints import Endpoint
from mcp_migrate.facts.frameworks import Framework
from modules import Files, place

HANDLE = """
def handle(msg):
    if msg["method"] == "tools/list":
        return {"jsonrpc": "2.0", "id": msg["id"], "result": {}}
"""


def above(server: str, **others: str) -> list[Endpoint]:
    """The endpoints over which `handle` of the first module that has it is reached."""
    texts = {"server": dedent(server), **{name: dedent(text) for name, text in others.items()}}
    holder = next((name for name, text in texts.items() if "def handle(" in text), "server")
    if not any("def handle(" in text for text in texts.values()):
        texts["server"] += HANDLE
    code = Code(Files(texts))
    return endpoints.above(code, place(code, "handle", holder))


def told(server: str, **others: str) -> list[tuple[str, str, tuple[str, ...], str]]:
    """The same as text: framework, function, paths and verbs."""
    return [(e.framework.value, e.place.name, e.paths, " ".join(sorted(e.verbs))) for e in above(server, **others)]


# -- FastAPI ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "server",
    [
        """
        from fastapi import FastAPI
        app = FastAPI()
        @app.post("/mcp")
        async def post(request):
            return handle(await request.json())
        """,
        """
        import fastapi
        app: fastapi.FastAPI = fastapi.FastAPI(title="x")
        @app.post(path="/mcp")
        def post(body: dict):
            return handle(body)
        """,
        """
        from fastapi import FastAPI
        PATH = "/mcp"
        app = FastAPI()
        @app.post(PATH)
        def post(body: dict):
            return handle(body)
        """,
        """
        from fastapi import FastAPI
        app = FastAPI()
        def post(body: dict):
            return handle(body)
        app.add_api_route("/mcp", post, methods=["POST"])
        """,
        """
        from fastapi import FastAPI
        app = FastAPI()
        @app.api_route("/mcp", methods=["post"])
        @logged
        async def post(request):
            return handle(await request.json())
        """,
    ],
    ids=["decorator", "module and annotation", "constant path", "add_api_route", "api_route below another decorator"],
)
def test_a_route_of_an_application_of_the_module(server: str) -> None:
    assert told(server) == [("fastapi", "post", ("/mcp",), "POST")]


@pytest.mark.parametrize(
    ("server", "name", "app", "made"),
    [
        (
            """
            from fastapi import FastAPI
            def create():
                app = FastAPI()
                @app.post("/mcp")
                async def post(request):
                    return handle(await request.json())
                return app
            """,
            "create.post",
            "app",
            True,
        ),
        (
            """
            from fastapi import FastAPI
            class Server:
                def __init__(self):
                    self.app = FastAPI()
                    self.routes()
                def routes(self):
                    @self.app.post("/mcp")
                    async def post(request):
                        return handle(await request.json())
            """,
            "Server.routes.post",
            "self.app",
            True,
        ),
        (
            """
            from fastapi import FastAPI
            class Server:
                def __init__(self):
                    self.app = FastAPI()
                    self.app.add_api_route("/mcp", self.post, methods=["POST"])
                async def post(self, request):
                    return handle(await request.json())
            """,
            "Server.post",
            "self.app",
            True,
        ),
        (
            """
            from fastapi import FastAPI
            def register(web: FastAPI):
                @web.post("/mcp")
                async def post(request):
                    return handle(await request.json())
            """,
            "register.post",
            "web",
            False,
        ),
        (
            """
            import fastapi
            def register(web: "fastapi.FastAPI | None" = None):
                @web.post("/mcp")
                async def post(request):
                    return handle(await request.json())
            """,
            "register.post",
            "web",
            False,
        ),
        (
            """
            from fastapi import FastAPI
            def register(web):
                @web.post("/mcp")
                async def post(request):
                    return handle(await request.json())
            app = FastAPI()
            register(app)
            """,
            "register.post",
            "web",
            False,
        ),
    ],
    ids=["factory", "attribute", "attribute and bound method", "annotated parameter", "annotation as text", "parameter by its caller"],
)
def test_where_the_application_of_a_route_comes_from(server: str, name: str, app: str, made: bool) -> None:
    (found,) = above(server)
    assert found.app is not None
    assert (found.place.name, found.app.name, found.app.made is not None, found.paths) == (name, app, made, ("/mcp",))


def test_an_application_of_another_module_keeps_its_home() -> None:
    server = """
    from web import app
    @app.post("/mcp")
    async def post(request):
        return handle(await request.json())
    """
    (found,) = above(server, web="from fastapi import FastAPI\napp = FastAPI()\n")
    assert found.app is not None
    assert (found.app.name, found.app.place.unit.name) == ("app", "web")


@pytest.mark.parametrize(
    ("made", "prefix"),
    [
        ("APIRouter()", ""),
        ('APIRouter(prefix="/api")', "/api"),
        ("APIRouter(prefix=BASE)", "/v1"),
        ("APIRouter(prefix=settings.base)", None),
        ('APIRouter(prefix="/api", route_class=Own)', "/api"),
    ],
    ids=["none", "written", "constant", "unknown", "route class"],
)
def test_a_router_tells_its_prefix_where_it_is_written_out(made: str, prefix: str | None) -> None:
    (found,) = above(
        f"""
        from fastapi import APIRouter
        from settings import settings
        BASE = "/v1"
        router = {made}
        @router.post("/mcp")
        async def post(request):
            return handle(await request.json())
        """
    )
    assert found.app is not None
    assert (found.app.router, found.app.prefix, found.paths) == (True, prefix, ("/mcp",))


def test_a_function_with_two_routes_has_both_paths() -> None:
    server = """
    from fastapi import FastAPI
    app = FastAPI()
    @app.post("/")
    @app.post("/mcp")
    async def post(request):
        return handle(await request.json())
    """
    assert told(server) == [("fastapi", "post", ("/", "/mcp"), "POST")]


def test_two_endpoints_of_one_dispatcher() -> None:
    server = """
    from fastapi import FastAPI
    app = FastAPI()
    @app.post("/mcp")
    async def post(request):
        return handle(await request.json())
    @app.post("/messages")
    async def messages(request):
        return handle(await request.json())
    """
    assert [(name, paths) for _, name, paths, _ in told(server)] == [("post", ("/mcp",)), ("messages", ("/messages",))]


def test_the_other_verbs_of_the_path_stand_beside() -> None:
    server = """
    from fastapi import FastAPI
    app = FastAPI()
    @app.post("/mcp")
    async def post(request):
        return handle(await request.json())
    @app.get("/mcp")
    async def listen(request):
        return None
    @app.delete("/mcp")
    async def end(request):
        return None
    @app.get("/health")
    async def health():
        return {}
    """
    assert beside(server) == ["listen", "end"]


def test_what_answers_another_path_as_well_does_not_stand_beside() -> None:
    server = """
    from aiohttp import web
    async def post(request):
        return web.json_response(handle(await request.json()))
    async def info(request):
        return web.json_response({"up": True})
    async def listen(request):
        return web.Response(status=405)
    app = web.Application()
    app.router.add_post("/mcp", post)
    app.router.add_get("/mcp", info)
    app.router.add_get("/health", info)
    app.router.add_delete("/mcp", listen)
    """
    assert beside(server) == ["listen"]


def beside(server: str) -> list[str]:
    code = Code(Files({"server": dedent(server) + HANDLE}))
    (found,) = endpoints.above(code, place(code, "handle"))
    return [one.place.name for one in endpoints.beside(code, found)]


# -- Starlette --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("server", "name", "paths", "verbs"),
    [
        (
            """
            from starlette.applications import Starlette
            from starlette.routing import Route
            async def post(request):
                return JSONResponse(handle(await request.json()))
            app = Starlette(routes=[Route("/mcp", post, methods=["POST"])])
            """,
            "post",
            ("/mcp",),
            "POST",
        ),
        (
            """
            from starlette.applications import Starlette
            import starlette.routing
            async def post(request):
                return JSONResponse(handle(await request.json()))
            app = Starlette(routes=[starlette.routing.Route(path="/mcp", endpoint=post, methods=["GET", "POST"])])
            """,
            "post",
            ("/mcp",),
            "GET POST",
        ),
        (
            """
            from starlette.applications import Starlette
            app = Starlette()
            @app.route("/mcp", methods=["POST"])
            async def post(request):
                return JSONResponse(handle(await request.json()))
            """,
            "post",
            ("/mcp",),
            "POST",
        ),
        (
            """
            from starlette.applications import Starlette
            async def post(request):
                return JSONResponse(handle(await request.json()))
            app = Starlette()
            app.add_route("/mcp", post, methods=["POST"])
            """,
            "post",
            ("/mcp",),
            "POST",
        ),
        (
            """
            from starlette.endpoints import HTTPEndpoint
            class Mcp(HTTPEndpoint):
                async def post(self, request):
                    return JSONResponse(handle(await request.json()))
            """,
            "Mcp.post",
            (),
            "POST",
        ),
    ],
    ids=["Route", "Route by keywords", "route decorator", "add_route", "HTTPEndpoint"],
)
def test_starlette(server: str, name: str, paths: tuple[str, ...], verbs: str) -> None:
    assert told(server) == [("starlette", name, paths, verbs)]


# -- Flask ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("server", "name", "paths", "router"),
    [
        (
            """
            from flask import Flask, request
            app = Flask(__name__)
            @app.route("/mcp", methods=["POST"])
            def post():
                return handle(request.get_json())
            """,
            "post",
            ("/mcp",),
            False,
        ),
        (
            """
            from flask import Flask, request
            app = Flask(__name__)
            @app.post("/mcp")
            def post():
                return handle(request.get_json())
            """,
            "post",
            ("/mcp",),
            False,
        ),
        (
            """
            from flask import Blueprint, request
            bp = Blueprint("mcp", __name__, url_prefix="/api")
            @bp.route("/mcp", methods=("POST",))
            def post():
                return handle(request.get_json())
            """,
            "post",
            ("/mcp",),
            True,
        ),
        (
            """
            from flask import Flask, request
            def post():
                return handle(request.get_json())
            app = Flask(__name__)
            app.add_url_rule("/mcp", "mcp", post, methods=["POST"])
            """,
            "post",
            ("/mcp",),
            False,
        ),
        (
            """
            from flask import Flask, request
            def post():
                return handle(request.get_json())
            app = Flask(__name__)
            app.add_url_rule("/mcp", view_func=post, methods=["POST"])
            """,
            "post",
            ("/mcp",),
            False,
        ),
    ],
    ids=["route", "post", "blueprint", "add_url_rule", "add_url_rule by keyword"],
)
def test_flask(server: str, name: str, paths: tuple[str, ...], router: bool) -> None:
    (found,) = above(server)
    assert found.app is not None
    assert (found.framework, found.place.name, found.paths, found.answers, found.app.router) == (Framework.FLASK, name, paths, True, router)


def test_a_method_view_answers_by_the_name_of_its_method() -> None:
    server = """
    from flask import request
    from flask.views import MethodView
    class Mcp(MethodView):
        def post(self):
            return handle(request.get_json())
        def get(self):
            return "", 405
    """
    assert told(server) == [("flask", "Mcp.post", (), "POST")]
    assert beside(server) == ["Mcp.get"]


# -- Django -----------------------------------------------------------------------------------

VIEW = """
def view(request):
    return JsonResponse(handle(json.loads(request.body)))
"""
VIEW_CLASS = """
class Mcp(View):
    def post(self, request):
        return JsonResponse(handle(json.loads(request.body)))
"""


@pytest.mark.parametrize(
    ("server", "name", "verbs"),
    [
        ("from django.urls import path\n" + VIEW + 'urlpatterns = [path("mcp/", view)]\n', "view", "all"),
        ("from django.urls import re_path\n" + VIEW + 'urlpatterns = [re_path(r"^mcp$", csrf_exempt(view))]\n', "view", "all"),
        ("from django.views.decorators.csrf import csrf_exempt\n@csrf_exempt" + VIEW, "view", "all"),
        ("from django.views.decorators.http import require_http_methods\n@require_http_methods(['POST'])" + VIEW, "view", "all"),
        ("from rest_framework.decorators import api_view\n@api_view(['POST'])" + VIEW, "view", "all"),
        ("from django.views import View\n" + VIEW_CLASS, "Mcp.post", "POST"),
        ("from django.views.generic import View\n" + VIEW_CLASS.replace("post", "dispatch"), "Mcp.dispatch", "all"),
        ("from rest_framework.views import APIView\n" + VIEW_CLASS.replace("View)", "APIView)"), "Mcp.post", "POST"),
        ("from django.views import View\nclass Base(View):\n    pass\n" + VIEW_CLASS.replace("(View)", "(Base)"), "Mcp.post", "POST"),
    ],
    ids=["path", "wrapped in re_path", "csrf_exempt", "verbs", "api_view", "class", "dispatch", "rest framework", "class above a class"],
)
def test_django(server: str, name: str, verbs: str) -> None:
    (found,) = above(server)
    every = {"GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS"}
    assert (found.framework, found.place.name, found.verbs) == (Framework.DJANGO, name, every if verbs == "all" else {verbs})


@pytest.mark.parametrize(
    "urls",
    [
        'from server import view\nfrom django.urls import path\nurlpatterns = [path("mcp", view)]\n',
        'import server\nfrom django.urls import path\nurlpatterns = [path("mcp", server.view)]\n',
    ],
    ids=["name", "module"],
)
def test_a_django_view_whose_address_another_module_gives(urls: str) -> None:
    assert [(one[0], one[1]) for one in told("import json" + VIEW, urls=urls)] == [("django", "view")]


# -- aiohttp ----------------------------------------------------------------------------------

AIOHTTP = """
from aiohttp import web
async def post(request):
    return web.json_response(handle(await request.json()))
"""


@pytest.mark.parametrize(
    ("server", "name", "paths"),
    [
        (AIOHTTP + 'app = web.Application()\napp.router.add_post("/mcp", post)\n', "post", ("/mcp",)),
        (AIOHTTP + 'app = web.Application()\napp.router.add_route("POST", "/mcp", post)\n', "post", ("/mcp",)),
        (AIOHTTP + 'app = web.Application()\napp.router.add_route("*", "/mcp", post)\n', "post", ("/mcp",)),
        (AIOHTTP + 'app = web.Application()\napp.add_routes([web.post("/mcp", post)])\n', "post", ("/mcp",)),
        (AIOHTTP + 'app = web.Application()\napp.add_routes([web.route("*", "/mcp", post)])\n', "post", ("/mcp",)),
        (AIOHTTP.replace("async", 'routes = web.RouteTableDef()\n@routes.post("/mcp")\nasync'), "post", ("/mcp",)),
        (AIOHTTP.replace("async", 'routes = web.RouteTableDef()\n@routes.route("*", "/mcp")\nasync'), "post", ("/mcp",)),
        (
            "from aiohttp import web\nroutes = web.RouteTableDef()\n@routes.view('/mcp')\nclass Mcp(web.View):\n"
            "    async def post(self):\n        return web.json_response(handle(await self.request.json()))\n",
            "Mcp.post",
            (),
        ),
    ],
    ids=["add_post", "add_route", "any verb", "web.post", "web.route", "route table", "any verb of a route table", "view"],
)
def test_aiohttp(server: str, name: str, paths: tuple[str, ...]) -> None:
    (found,) = above(server)
    assert (found.framework, found.place.name, found.paths, found.answers) == (Framework.AIOHTTP, name, paths, True)


def test_methods_of_an_object_that_are_registered() -> None:
    server = """
    from aiohttp import web
    class Server:
        async def post(self, request):
            return web.json_response(handle(await request.json()))
        async def end(self, request):
            return web.Response()
    server = Server()
    app = web.Application()
    app.router.add_post("/mcp", server.post)
    app.router.add_delete("/mcp", server.end)
    """
    assert told(server) == [("aiohttp", "Server.post", ("/mcp",), "POST")]
    assert beside(server) == ["Server.end"]


# -- Tornado, http.server, Lambda, bare ASGI --------------------------------------------------


def test_tornado() -> None:
    server = """
    import tornado.web
    class Base(tornado.web.RequestHandler):
        pass
    class Mcp(Base):
        async def post(self):
            self.write(handle(self.body()))
        def delete(self):
            self.set_status(204)
    """
    assert told(server) == [("tornado", "Mcp.post", (), "POST")]
    assert beside(server) == ["Mcp.delete"]


@pytest.mark.parametrize(
    ("server", "name"),
    [
        (
            """
            from http.server import BaseHTTPRequestHandler
            class Mcp(BaseHTTPRequestHandler):
                def do_POST(self):
                    self.answer(handle(self.body()))
            """,
            "Mcp.do_POST",
        ),
        (
            """
            import http.server
            def serve():
                class Mcp(http.server.SimpleHTTPRequestHandler):
                    def do_POST(self):
                        self.respond()
                    def respond(self):
                        self.answer(handle(self.body()))
                return Mcp
            """,
            "serve.Mcp.do_POST",
        ),
        (
            """
            from http.server import BaseHTTPRequestHandler
            class Outer:
                class Mcp(BaseHTTPRequestHandler):
                    def do_POST(self):
                        self.answer(handle(self.body()))
            """,
            "Outer.Mcp.do_POST",
        ),
        (
            """
            from http.server import BaseHTTPRequestHandler
            class Mcp(BaseHTTPRequestHandler):
                def _invoke(self):
                    self.answer(handle(self.body()))
                do_GET = do_POST = _invoke
            """,
            "Mcp._invoke",
        ),
    ],
    ids=["class", "class in a function", "class in a class", "method under another name"],
)
def test_http_server(server: str, name: str) -> None:
    (found,) = above(server)
    assert (found.framework, found.place.name, found.answers) == (Framework.HTTP_SERVER, name, True)


@pytest.mark.parametrize(
    ("body", "paths", "tests"),
    [
        ('if self.path == "/mcp":\n    reply(handle(msg))', ("/mcp",), True),
        ('if self.path in ("/", "/mcp"):\n    reply(handle(msg))', ("/", "/mcp"), True),
        ('if self.path != "/mcp":\n    self.send_error(404)\n    return\nreply(handle(msg))', ("/mcp",), True),
        ('if self.path not in ["/mcp", "/rpc"]:\n    return self.send_error(404)\nreply(handle(msg))', ("/mcp", "/rpc"), True),
        ('if self.path.rstrip("/") == "/mcp":\n    reply(handle(msg))', ("/mcp",), True),
        ('if "/mcp" == urlparse(self.path).path:\n    reply(handle(msg))', ("/mcp",), True),
        ("if self.path == PATH:\n    reply(handle(msg))", ("/rpc",), True),
        (
            'path = self.path.split("?")[0]\nif path == "/health":\n    reply({})\nelif path == "/mcp":\n    reply(handle(msg))',
            ("/mcp",),
            True,
        ),
        ('if self.path != "/mcp":\n    self.send_error(404)\nelse:\n    reply(handle(msg))', ("/mcp",), True),
        ('if self.path == "/health":\n    return reply({})\nreply(handle(msg))', (), True),
        ('reply(handle(msg) if self.path == "/mcp" else None)', ("/mcp",), True),
        ("reply(handle(msg))", (), False),
        ('if self.command == "POST":\n    reply(handle(msg))', (), False),
    ],
    ids=[
        "equal",
        "member",
        "unequal",
        "no member",
        "call around",
        "yoda",
        "constant",
        "second branch",
        "else",
        "another path only",
        "expression",
        "none",
        "verb",
    ],
)
def test_the_paths_that_an_endpoint_asks_for(body: str, paths: tuple[str, ...], tests: bool) -> None:
    inner = "".join(f"        {line}\n" for line in body.split("\n"))
    text = f"from http.server import BaseHTTPRequestHandler\nPATH = '/rpc'\nclass Mcp(BaseHTTPRequestHandler):\n    def do_POST(self):\n{inner}{HANDLE}"
    code = Code(Files({"server": text}))
    dispatcher = place(code, "handle")

    def leads(other: Place) -> bool:
        return dispatcher in code.reachable(other)

    ours, tested = endpoints.tested(code, place(code, "Mcp.do_POST"), leads, dispatcher)
    assert (ours, tested) == (paths, tests)


@pytest.mark.parametrize(
    ("server", "framework"),
    [
        ("def lambda_handler(event, context):\n    return respond(handle(json.loads(event['body'])))\n", Framework.AWS_LAMBDA),
        ("def lambda_handler(event, context):\n    return respond(handle(json.loads(event.get('body') or '{}')))\n", Framework.AWS_LAMBDA),
        (
            "def main(event, context):\n    reply = handle(parse(event))\n    return {'statusCode': 200, 'body': reply}\n",
            Framework.AWS_LAMBDA,
        ),
        ("async def app(scope, receive, send):\n    await respond(send, handle(await body(receive)))\n", Framework.ASGI),
        (
            "class App:\n    async def __call__(self, scope, receive, send):\n        await respond(send, handle(await body(receive)))\n",
            Framework.ASGI,
        ),
    ],
    ids=["lambda", "lambda with get", "lambda with a status", "asgi", "asgi object"],
)
def test_endpoints_that_only_their_shape_tells(server: str, framework: Framework) -> None:
    (found,) = above(server)
    assert (found.framework, found.answers) == (framework, True)


# -- what is no endpoint ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "server",
    [
        "class Mailbox:\n    def post(self, letter):\n        return handle(letter)\n",
        "class Page:\n    def dispatch(self, message):\n        return handle(message)\n",
        "from elsewhere import app\n@app.post('/mcp')\ndef post(body):\n    return handle(body)\n",
        "from fastapi import FastAPI\napp = FastAPI()\n@app.get('/health')\ndef health():\n    return handle({'method': 'ping'})\n",
        "from fastapi.testclient import TestClient\nclient = TestClient(app)\ndef run():\n    return client.post('/mcp', json=handle({}))\n",
        "from fastapi import FastAPI\napp = FastAPI()\n@app.on_event('startup')\ndef start():\n    handle({'method': 'ping'})\n",
        "def on_event(event, context):\n    return handle(event)\n",
        "def app(scope, receive, send):\n    return handle(scope)\n",
        "from http.server import BaseHTTPRequestHandler\nclass Mcp(BaseHTTPRequestHandler):\n    def do_thing(self):\n        handle({})\n",
        "import requests\n@requests.post('/mcp')\ndef post(body):\n    return handle(body)\n",
    ],
    ids=[
        "method called post",
        "method called dispatch",
        "unknown application",
        "health",
        "test client",
        "start event",
        "event of no request",
        "sync scope",
        "no verb",
        "client library",
    ],
)
def test_what_is_no_endpoint(server: str) -> None:
    assert above(server) == []


def test_routes_beside_the_dispatcher_are_not_its_endpoints() -> None:
    server = """
    from fastapi import FastAPI
    app = FastAPI()
    @app.post("/items")
    async def add(item: dict):
        return save(item)
    @app.post("/mcp")
    async def post(request):
        return handle(await request.json())
    """
    assert [one.place.name for one in above(server)] == ["post"]


# -- replies that leave through a stream ------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "streamed"),
    [
        ("reply = handle(msg)\n    await QUEUES[sid].put(reply)\n    return Response(status_code=202)", True),
        ("await QUEUES[sid].put(handle(msg))\n    return Response(status_code=202)", True),
        ("reply = handle(msg)\n    if reply is not None:\n        QUEUES[sid].put_nowait(json.dumps(reply))\n    return 'ok'", True),
        ("reply = handle(msg)\n    if sid:\n        await QUEUES[sid].put(reply)\n    return JSONResponse(reply)", False),
        ("return JSONResponse(handle(msg))", False),
        ("reply = handle(msg)\n    response = JSONResponse(reply)\n    return response", False),
        ("reply = handle(msg)\n    return reply if reply else Response(status_code=202)", False),
    ],
    ids=["queue", "queue at once", "queue and test", "queue and answer", "answer", "answer by name", "answer under a condition"],
)
def test_a_reply_that_leaves_through_the_stream_of_another_request(body: str, streamed: bool) -> None:
    text = (
        f"from fastapi import FastAPI\napp = FastAPI()\n@app.post('/messages')\nasync def post(msg: dict, sid: str):\n    {body}\n{HANDLE}"
    )
    code = Code(Files({"server": text}))
    dispatcher = place(code, "handle")
    assert endpoints.streams(code, place(code, "post"), lambda other: other == dispatcher) is streamed
