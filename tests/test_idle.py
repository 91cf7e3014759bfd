"""What stands in the way of requests and does nothing is told from what does something; its uses go, and those of others stay."""

from __future__ import annotations

from textwrap import dedent

import pytest
from mcp_migrate.facts.idle import Idle, idle
from mcp_migrate.rewrite import edits
from mcp_migrate.rewrite.idle import new, uses
from mcp_migrate.rewrite.tree import Tree
from mcp_migrate.source import Source

DECORATOR = """
    def gate(page):
        @functools.wraps(page)
        async def inner(request):
            message = await request.json()
            return await page(request)
        return inner
"""
MIDDLEWARE = """
    class gate(BaseHTTPMiddleware):
        async def dispatch(self, request, call_next):
            if request.url.path == "/mcp":
                session_id = request.headers.get("mcp-session-id")
            return await call_next(request)
"""


def kind(text: str) -> Idle | None:
    return idle(Source("gate.py", dedent(text).lstrip())).get("gate")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def gate(request):\n    pass\n", Idle.GUARD),
        ('def gate(request):\n    """Once more."""\n    sid = request.headers.get("x")\n    return None\n', Idle.GUARD),
        ("async def gate(request):\n    try:\n        m = await request.json()\n    except ValueError:\n        return\n", Idle.GUARD),
        ("def gate(request: Request, sid: str | None = Header(None), other=Header(default=None), *, log=False):\n    pass\n", Idle.GUARD),
        (DECORATOR, Idle.DECORATOR),
        (MIDDLEWARE, Idle.MIDDLEWARE),
        ("class gate:\n    def __init__(self, app):\n        self.app = app\n\n    async def __call__(self, scope, receive, send):\n"
         "        await self.app(scope, receive, send)\n", Idle.MIDDLEWARE),
        ("class gate:\n    def __init__(self, get_response):\n        self.get_response = get_response\n\n"
         "    def __call__(self, request):\n        return self.get_response(request)\n", Idle.MIDDLEWARE),
        ("@web.middleware\nasync def gate(request, handler):\n    return await handler(request)\n", Idle.HOOK),
        ("@app.before_request\ndef gate():\n    return None\n", Idle.HOOK),
    ],
    ids=["pass", "looks", "tries", "optional", "decorator", "dispatch", "asgi", "django", "aiohttp", "flask"],
)  # fmt: skip
def test_what_does_nothing(text: str, expected: Idle) -> None:
    assert kind(text) is expected


@pytest.mark.parametrize(
    "text",
    [
        "def gate(request):\n    raise Refused\n",
        "def gate(request):\n    calls = count(request)\n",
        "def gate(request):\n    return True\n",
        "def gate(request):\n    if allowed(request):\n        pass\n",
        'def gate(request):\n    key = request.headers["authorization"]\n',
        "def gate(request, user=Depends(current_user)):\n    pass\n",
        "def gate(user: Annotated[User, Depends(current_user)]):\n    pass\n",
        "def gate(user: CurrentUser):\n    pass\n",
        "def gate(user: 'CurrentUser'):\n    pass\n",
        "def gate(key: str = Header(...)):\n    pass\n",
        "def gate(*, key: str = Header()):\n    pass\n",
        "@app.get('/gate')\ndef gate(request):\n    pass\n",
        DECORATOR.replace("return await page(request)", "return await page(request, 1)"),
        DECORATOR.replace("        @functools.wraps(page)\n", ""),
        DECORATOR.replace("message = await request.json()", "log(request)"),
        MIDDLEWARE.replace("return await call_next(request)", "response = await call_next(request)\n            return response"),
        MIDDLEWARE.replace("async def dispatch", "limit = 3\n\n        async def dispatch"),
        "class gate:\n    async def __call__(self, scope, receive, send):\n        await self.app(scope, receive, self.wrapped(send))\n",
        "class gate:\n    def __call__(self, request):\n        return self.other(request)\n",
        "@web.middleware\n@traced\nasync def gate(request, handler):\n    return await handler(request)\n",
    ],
    ids=[
        "refuses",
        "counts",
        "answers",
        "asks",
        "key",
        "depends",
        "annotated",
        "alias",
        "quoted",
        "wanted",
        "needed",
        "route",
        "adds",
        "unwrapped",
        "logs",
        "keeps",
        "holds",
        "wraps",
        "unknown",
        "traced",
    ],
)
def test_what_does_something(text: str) -> None:
    assert kind(text) is None


def without(before: str, after: str, handed: dict[str, Idle] | None = None) -> str:
    old, now = Source("app.py", dedent(before).lstrip()), Source("app.py", dedent(after).lstrip())
    taken, _ = edits.compose([*uses(old, Tree(now), (), handed or {})])
    return edits.apply(now.utf8, taken).decode()


@pytest.mark.parametrize(
    ("handed", "line", "left"),
    [
        ({"gate": Idle.GUARD}, "gate(request)", "pass"),
        ({"guards.gate": Idle.GUARD}, "await guards.gate(request)", "pass"),
        ({"gate": Idle.DECORATOR}, "page = gate(page)", "page = page"),
        ({"gate": Idle.MIDDLEWARE}, "app.add_middleware(gate)", "pass"),
        ({"gate": Idle.MIDDLEWARE}, "app = gate(app)", "pass"),
        ({"gate": Idle.MIDDLEWARE}, "app = A(middleware=[Middleware(gate)])", "app = A()"),
        ({"gate": Idle.MIDDLEWARE}, "app = A(middleware=[Middleware(Cors), Middleware(gate)])", "app = A(middleware=[Middleware(Cors)])"),
        ({"gate": Idle.HOOK}, "app = A(middlewares=[gate, log])", "app = A(middlewares=[log])"),
        ({"web.gate.Gate": Idle.MIDDLEWARE}, 'MIDDLEWARE = ["a.B", "web.gate.Gate"]', 'MIDDLEWARE = ["a.B"]'),
    ],
    ids=["call", "awaited", "wrapped", "added", "around", "only", "listed", "aiohttp", "setting"],
)
def test_the_uses_of_what_does_nothing_go(handed: dict[str, Idle], line: str, left: str) -> None:
    text = f"async def main():\n    {line}\n"
    assert without(text, text, handed) == f"async def main():\n    {left}\n"


@pytest.mark.parametrize(
    ("handed", "line"),
    [
        ({"gate": Idle.GUARD}, "name = gate(request)"),
        ({"gate": Idle.GUARD}, "gate(await count(request))"),
        ({"gate": Idle.GUARD}, "HANDLERS['gate'] = gate"),
        ({"gate": Idle.MIDDLEWARE}, "app.add_middleware(gate, limit=measure())"),
        ({"gate": Idle.MIDDLEWARE}, "assert isinstance(one, gate)"),
        ({"guards.gate": Idle.GUARD}, "other.gate(request)"),
    ],
    ids=["value", "argument", "table", "measures", "class", "other"],
)
def test_other_uses_stay(handed: dict[str, Idle], line: str) -> None:
    text = f"async def main():\n    {line}\n"
    assert without(text, text, handed) == text


def test_a_use_that_has_to_stay_keeps_all_of_them() -> None:
    text = "def main():\n    gate(1)\n    TABLE = {'gate': gate}\n"
    assert without(text, text, {"gate": Idle.GUARD}) == text


def test_a_decorator_goes_with_its_line() -> None:
    text = "@app.post('/mcp')\n@gate\nasync def post(request): ...\n"
    assert without(text, text, {"gate": Idle.DECORATOR}) == "@app.post('/mcp')\nasync def post(request): ...\n"


def test_what_did_nothing_before_is_none_of_this() -> None:
    source = Source("gate.py", "def gate(request):\n    pass\n")
    assert not new(source, source)
    assert new(Source("gate.py", "def gate(request):\n    refuse()\n"), source) == {"gate": Idle.GUARD}
