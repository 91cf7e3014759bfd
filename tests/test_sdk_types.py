"""What an expression stands for: each program shows one way in which a name can get its value."""

from __future__ import annotations

import ast

import pytest
from mcp_migrate.facts.model import Symbol
from mcp_migrate.project import Project, read
from mcp_migrate.sdk.types import NONE, ClassOf, Either, Function, Instance, Known, ModuleOf
from mcp_migrate.source import Source

HEAD = "import mcp\nimport mcp.types as types\nfrom mcp import ClientSession\nfrom mcp.types import Tool, CallToolResult, TextContent\n"
TOOL, RESULT, SESSION = "Tool", "CallToolResult", "mcp.client.session.ClientSession"


def spelled(known: Known | None) -> str:
    """A type as short text; protocol types without their module."""
    if known is None:
        return "?"
    if isinstance(known, Either):
        return " | ".join([*(spelled(one) for one in known.items), *(["?"] if known.open else [])])
    if known == NONE:
        return "None"
    name = known.name.removeprefix("mcp.types.")
    if isinstance(known, Instance):
        return f"{name}[{', '.join(map(spelled, known.args))}]" if known.args else name
    return f"{'class' if isinstance(known, ClassOf) else 'function' if isinstance(known, Function) else 'module'} {name}"


def revealed(files: dict[str, str]) -> str:
    """What the argument of `reveal(...)` stands for, in the one file that calls it."""
    project = Project.link(read(Source(path, text)) for path, text in files.items())
    assert project.sdk is not None
    for path in files:
        module = project.sdk.module_at(path)
        for node in module.nodes:
            match node:
                case ast.Call(func=ast.Name(id="reveal"), args=[argument]):
                    return spelled(project.sdk.type(argument, module))
    raise AssertionError("nothing is revealed")


def symbols(text: str, path: str = "app.py", **others: str) -> list[str]:
    files = {path: text, **{f"{name.replace('__', '/')}.py": other for name, other in others.items()}}
    project = Project.link(read(Source(path, text)) for path, text in files.items())
    return [str(fact.key) for fact in project.files[path].facts if isinstance(fact, Symbol)]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("reveal(mcp.types.Tool)", "class Tool"),
        ("reveal(types.Tool(name='a', inputSchema={}))", TOOL),
        ("reveal(mcp.ClientSession)", f"class {SESSION}"),
        ("from mcp import types as t\nreveal(t.Tool)", "class Tool"),
        ("import mcp.server.lowlevel\nreveal(mcp.server.lowlevel.Server('x'))", "mcp.server.lowlevel.server.Server"),
        ("from mcp.server import Server as S\nreveal(S('x'))", "mcp.server.lowlevel.server.Server"),
        ("from mcp.types import *\nreveal(Resource)", "class Resource"),
        ("T = Tool\nreveal(T(name='a', inputSchema={}))", TOOL),
        ("import typing\nif typing.TYPE_CHECKING:\n    from mcp.types import Prompt\ndef f(p: 'Prompt'):\n    reveal(p)", "Prompt"),
        ("try:\n    from mcp.types import Prompt\nexcept ImportError:\n    Prompt = None\ndef f(p: Prompt):\n    reveal(p)", "Prompt"),
        ("def f():\n    from mcp.types import Prompt\n    reveal(Prompt)", "class Prompt"),
        ("from unknown import Tool\nreveal(Tool())", "?"),
        ("def Tool(x):\n    return x.y\nreveal(Tool(1))", "?"),
    ],
    ids=str,
)
def test_names_and_imports(program: str, expected: str) -> None:
    assert revealed({"app.py": f"{HEAD}{program}\n"}) == expected


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("Tool", TOOL),
        ("'Tool'", TOOL),
        ("Tool | None", TOOL),
        ("'Tool | None' = None", TOOL),
        ("typing.Optional[Tool]", TOOL),
        ("typing.Union[Tool, CallToolResult]", f"{TOOL} | {RESULT}"),
        ("list[Tool]", f"list[{TOOL}]"),
        ("'list[types.Tool]'", f"list[{TOOL}]"),
        ("typing.Sequence[Tool]", f"list[{TOOL}]"),
        ("dict[str, Tool]", f"dict[str, {TOOL}]"),
        ("typing.Mapping[str, list[Tool]]", f"dict[str, list[{TOOL}]]"),
        ("tuple[Tool, CallToolResult]", f"tuple[{TOOL}, {RESULT}]"),
        ("tuple[Tool, ...]", f"list[{TOOL}]"),
        ("typing.Annotated[Tool, 'x']", TOOL),
        ("type[Tool]", "class Tool"),
        ("Alias", f"list[{TOOL}]"),
        ("object", "?"),
        ("Missing", "?"),
    ],
    ids=str,
)
def test_annotations(annotation: str, expected: str) -> None:
    assert revealed({"app.py": f"import typing\n{HEAD}Alias = list[Tool]\ndef f(x: {annotation}):\n    reveal(x)\n"}) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("reveal(await session.list_tools())", "ListToolsResult"),
        ("reveal((await session.list_tools()).tools)", f"list[{TOOL}]"),
        ("reveal((await session.list_tools()).tools[0])", TOOL),
        ("listed = await session.list_tools()\n    for tool in listed.tools:\n        reveal(tool)", TOOL),
        ("listed = await session.list_tools()\n    for n, tool in enumerate(listed.tools):\n        reveal(tool)", TOOL),
        ("listed = await session.list_tools()\n    for n, tool in zip([], listed.tools):\n        reveal(tool)", TOOL),
        ("listed = await session.list_tools()\n    [reveal(tool) for tool in listed.tools if tool.name]", TOOL),
        ("listed = await session.list_tools()\n    by = {t.name: t for t in listed.tools}\n    reveal(by['a'])", TOOL),
        ("listed = await session.list_tools()\n    by = {t.name: t for t in listed.tools}\n    for k, v in by.items():\n        reveal(v)", TOOL),
        ("listed = await session.list_tools()\n    reveal(next((t for t in listed.tools), None))", TOOL),
        ("listed = await session.list_tools()\n    reveal(next(t for t in listed.tools if t.name == 'a'))", TOOL),
        ("listed = await session.list_tools()\n    reveal(sorted(listed.tools, key=lambda t: t.name)[0])", TOOL),
        ("listed = await session.list_tools()\n    sorted(listed.tools, key=lambda t: reveal(t))", TOOL),
        ("listed = await session.list_tools()\n    reveal(listed.tools[1:])", f"list[{TOOL}]"),
        ("tools = []\n    tools.extend((await session.list_tools()).tools)\n    reveal(tools[0])", TOOL),
        ("tools = []\n    tools += (await session.list_tools()).tools\n    reveal(tools[0])", TOOL),
        ("found = {}\n    for t in (await session.list_tools()).tools:\n        found[t.name] = t\n    reveal(found['a'])", TOOL),
        ("if (r := await session.call_tool('a')):\n        reveal(r)", RESULT),
        ("r = await asyncio.wait_for(session.call_tool('a'), 5)\n    reveal(r)", RESULT),
        ("a, b = await asyncio.gather(session.call_tool('a'), session.list_tools())\n    reveal(b)", "ListToolsResult"),
        ("rs = await asyncio.gather(*[session.call_tool(n) for n in 'ab'])\n    reveal(rs[0])", RESULT),
        ("for r in await asyncio.gather(*(session.call_tool(n) for n in 'ab')):\n        reveal(r)", RESULT),
        ("task = asyncio.create_task(session.call_tool('a'))\n    reveal(await task)", RESULT),
        ("r = None\n    try:\n        r = await session.call_tool('a')\n    except Exception:\n        pass\n    reveal(r)", RESULT),
        ("r = await session.call_tool('a')\n    r = r.content\n    reveal(r[0])", "TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource"),
        ("for c in (await session.call_tool('a')).content:\n        if isinstance(c, TextContent):\n            reveal(c)", "TextContent"),
        ("for c in (await session.call_tool('a')).content:\n        if not isinstance(c, types.ImageContent):\n            continue\n        reveal(c)", "ImageContent"),
        ("for c in (await session.call_tool('a')).content:\n        if c.type == 'image':\n            reveal(c)", "ImageContent"),
        ("r = await session.call_tool('a')\n    match r.content[0]:\n        case types.ImageContent() as image:\n            reveal(image)", "ImageContent"),
        ("reveal((await session.initialize()).serverInfo)", "Implementation"),
        ("reveal(await session.send_request(types.ClientRequest(types.PingRequest()), types.EmptyResult))", "EmptyResult"),
        ("reveal((await session.read_resource('a')).contents[0])", "TextResourceContents | BlobResourceContents"),
        ("reveal((await session.list_tools()).tools[0].model_copy())", TOOL),
        ("reveal(Tool.model_validate({}))", TOOL),
        ("reveal(copy.deepcopy((await session.list_tools()).tools[0]))", TOOL),
        ("call = session.call_tool\n    reveal(await call('a'))", RESULT),
        ("reveal(await getattr(session, 'call_tool')('a'))", RESULT),
        ("r = await session.call_tool('a') if session else None\n    reveal(r)", RESULT),
        ("r = (await session.call_tool('a')) or None\n    reveal(r)", RESULT),
    ],
    ids=str,
)  # fmt: skip
def test_results_of_a_session(body: str, expected: str) -> None:
    assert revealed({"app.py": f"import asyncio, copy\n{HEAD}async def f(session: ClientSession):\n    {body}\n"}) == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("async def f():\n    async with ClientSession(1, 2) as s:\n        reveal(s)", SESSION),
        ("async def f(stack):\n    s = await stack.enter_async_context(ClientSession(1, 2))\n    reveal(s)", SESSION),
        (
            "from contextlib import asynccontextmanager\n@asynccontextmanager\nasync def opened():\n    async with ClientSession(1, 2) as s:\n"
            "        yield s\nasync def f():\n    async with opened() as s:\n        reveal(s)",
            SESSION,
        ),
        (
            "class C:\n    def __init__(self):\n        self.session: ClientSession | None = None\n    async def f(self):\n        reveal(self.session)",
            SESSION,
        ),
        (
            "class C:\n    def __init__(self):\n        self.session = None\n    async def open(self, stack):\n"
            "        self.session = await stack.enter_async_context(ClientSession(1, 2))\n    async def f(self):\n        reveal(self.session)",
            SESSION,
        ),
        ("class C:\n    session: ClientSession\ndef f(c: C):\n    reveal(c.session)", SESSION),
        (
            "class A:\n    def __init__(self, tool: Tool | None = None):\n        self.tool = tool\nclass B(A):\n    def set(self):\n"
            "        self.tool = self.tool or Tool(name='a', inputSchema={})\ndef f(b: B):\n    reveal(b.tool)",
            TOOL,
        ),
        (
            "class A:\n    def __init__(self, tool):\n        self.tool = tool\nclass B(A):\n    def set(self):\n"
            "        self.tool = self.tool or Tool(name='a', inputSchema={})\ndef f(b: B):\n    reveal(b.tool)",
            f"{TOOL} | ?",
        ),
        (
            "class A:\n    def __init__(self):\n        self.tool = None\n    def set(self):\n"
            "        self.tool = self.tool or Tool(name='a', inputSchema={})\ndef f(a: A):\n    reveal(a.tool)",
            TOOL,
        ),
        (
            "from dataclasses import dataclass, field\n@dataclass\nclass C:\n    tools: list[Tool] = field(default_factory=list)\n"
            "def f():\n    reveal(C().tools[0])",
            TOOL,
        ),
        ("class C:\n    @property\n    def tool(self) -> Tool:\n        ...\ndef f(c: C):\n    reveal(c.tool)", TOOL),
        (
            "class C:\n    def __init__(self, session: ClientSession):\n        self.s = session\n    async def call(self):\n"
            "        return await self.s.call_tool('a')\nasync def f(c: C):\n    reveal(await c.call())",
            RESULT,
        ),
        ("class A:\n    tool: Tool\nclass B(A):\n    pass\ndef f(b: B):\n    reveal(b.tool)", TOOL),
        ("class A(Tool):\n    pass\nreveal(A(name='a', inputSchema={}).annotations)", "ToolAnnotations"),
        ("def tools():\n    return [Tool(name='a', inputSchema={})]\nreveal(tools()[0])", TOOL),
        ("def f(t):\n    reveal(t)\nf(Tool(name='a', inputSchema={}))", TOOL),
        ("def f(*, t=None):\n    reveal(t)\nf(t=Tool(name='a', inputSchema={}))", TOOL),
        ("async def made() -> Tool: ...\nasync def f():\n    reveal(await made())", TOOL),
        ("TOOLS = {'a': Tool(name='a', inputSchema={})}\ndef f():\n    return reveal(TOOLS.get('a'))", TOOL),
        ("TOOLS: dict[str, Tool] = {}\nfor name, t in TOOLS.items():\n    reveal(t)", TOOL),
        ("from mcp import McpError\ntry:\n    pass\nexcept McpError as error:\n    reveal(error.error)", "ErrorData"),
        ("import pytest\nfrom mcp import McpError\nwith pytest.raises(McpError) as caught:\n    pass\nreveal(caught.value.error)", "ErrorData"),
        (
            "import pytest\n@pytest.fixture\ndef tool():\n    return Tool(name='a', inputSchema={})\ndef test_it(tool):\n    reveal(tool)",
            TOOL,
        ),
        (
            "import pytest\n@pytest.fixture\nasync def session():\n    async with ClientSession(1, 2) as s:\n        yield s\n"
            "async def test_it(session):\n    reveal(await session.call_tool('a'))",
            RESULT,
        ),
        ("x = Tool(name='a', inputSchema={})\nx = x.name\nreveal(x)", "str"),
        ("def f(x):\n    if isinstance(x, (Tool, CallToolResult)):\n        reveal(x)", f"{TOOL} | {RESULT}"),
        ("def f(x):\n    assert isinstance(x, Tool)\n    reveal(x)", TOOL),
        ("def f(x):\n    return isinstance(x, Tool) and reveal(x)", TOOL),
        ("def f(xs):\n    return [reveal(x) for x in xs if isinstance(x, Tool)]", TOOL),
        ("from typing import cast\ndef f(x):\n    reveal(cast(Tool, x))", TOOL),
        ("from typing import cast\ndef f(x):\n    reveal(cast('list[Tool]', x)[0])", TOOL),
        ("from mcp.server import Server\ns = Server('x')\n@s.call_tool()\nasync def f(name, arguments):\n    reveal(name)", "str"),
        ("from mcp.server.fastmcp import Context\ndef f(ctx: Context):\n    reveal(ctx.request_context.meta)", "RequestParams.Meta"),
        ("from typing import TypeVar\nT = TypeVar('T', bound=Tool)\ndef f(x: T):\n    reveal(x)", TOOL),
        ("from typing import NamedTuple\nclass R(NamedTuple):\n    tool: Tool\ndef f(r: R):\n    reveal(r.tool)", TOOL),
        ("from pydantic import AnyUrl\nreveal(AnyUrl('a://b'))", "pydantic.networks.AnyUrl"),
        ("def f(r: types.Resource):\n    reveal(r.uri)", "Uri"),
        ("def f(r: types.Root):\n    reveal(r.uri)", "pydantic.networks.FileUrl"),
        ("class C:\n    def __init__(self):\n        self.tools = {}\n    def add(self, t: Tool):\n        self.tools[t.name] = t\n    def f(self):\n        reveal(self.tools['a'])", TOOL),
        ("class C:\n    def __init__(self):\n        self.tools = []\n    def add(self, t: Tool):\n        self.tools.append(t)\n    def f(self):\n        reveal(self.tools[0])", TOOL),
        ("async def f():\n    async for t in g():\n        reveal(t)\nasync def g():\n    yield Tool(name='a', inputSchema={})", TOOL),
        ("from functools import lru_cache\n@lru_cache\ndef g() -> Tool: ...\nreveal(g())", TOOL),
        ("def deco(f):\n    return f\n@deco\ndef g() -> Tool: ...\nreveal(g())", TOOL),
    ],
    ids=str,
)  # fmt: skip
def test_code_of_the_project(program: str, expected: str) -> None:
    assert revealed({"app.py": f"{HEAD}{program}\n"}) == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"names.py": "from mcp.types import Tool\n", "app.py": "from names import Tool\nreveal(Tool)\n"}, "class Tool"),
        ({"pkg/__init__.py": "from .inner import Tool\n", "pkg/inner.py": "from mcp.types import Tool\n", "app.py": "import pkg\nreveal(pkg.Tool)\n"}, "class Tool"),
        ({"pkg/__init__.py": "from .inner import *\n", "pkg/inner.py": "from mcp.types import Tool\n", "app.py": "from pkg import Tool\nreveal(Tool)\n"}, "class Tool"),
        ({"lib.py": "from mcp import ClientSession\nasync def ask(s: ClientSession):\n    return await s.call_tool('a')\n", "app.py": "from lib import ask\nasync def f():\n    reveal(await ask(1))\n"}, RESULT),
        ({"lib.py": "from mcp import ClientSession\nclass C:\n    session: ClientSession\nclient = C()\n", "app.py": "from lib import client\nasync def f():\n    reveal((await client.session.list_tools()).tools[0])\n"}, TOOL),
        ({"lib.py": "from mcp.types import Tool\ndef show(tool):\n    reveal(tool)\n", "app.py": "from mcp.types import Tool\nfrom lib import show\nshow(Tool(name='a', inputSchema={}))\n"}, TOOL),
        ({"tests/conftest.py": "import pytest\nfrom mcp.types import Tool\n@pytest.fixture\ndef tool() -> Tool:\n    ...\n", "tests/test_a.py": "import mcp\ndef test_it(tool):\n    reveal(tool)\n"}, TOOL),
        ({"src/pkg/__init__.py": "", "src/pkg/a.py": "from mcp.types import Tool\nT = Tool\n", "src/pkg/b.py": "from .a import T\nreveal(T)\n"}, "class Tool"),
    ],
    ids=["re-export", "package", "star", "function", "object", "caller", "conftest", "relative"],
)  # fmt: skip
def test_across_modules(files: dict[str, str], expected: str) -> None:
    assert revealed(files) == expected


@pytest.mark.parametrize(
    "others",
    [
        {"mcp__server": "class Server: ...\n", "mcp____init__": ""},
        {"src__mcp____init__": "", "src__mcp__server": "class Server: ...\n"},
    ],
    ids=["package", "in src"],
)
def test_a_package_of_the_project_that_is_called_mcp_is_not_the_sdk(others: dict[str, str]) -> None:
    assert symbols("from mcp.server import Server\nfrom mcp.types import Tool\nServer('x')\n", **others) == []


def test_a_module_that_is_called_mcp_is_not_the_sdk_unless_something_below_it_is_imported() -> None:
    own = {"mcp": "class McpError: ...\n"}
    assert symbols("from mcp import McpError\nMcpError()\n", **own) == []
    assert symbols("from mcp import McpError\nfrom mcp.types import Tool\nMcpError()\n", **own) != []


def test_a_package_called_mcp_further_down_hides_nothing() -> None:
    text = "from mcp.types import Tool\n"
    assert symbols(text, app__mcp____init__="", app__mcp__views="x = 1\n") == ["mcp.types.Tool"]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("try:\n    from mcp.server.mcpserver import MCPServer as M\nexcept ImportError:\n    from mcp.server.fastmcp import FastMCP as M\nM('x')\n", False),
        ("try:\n    from mcp import McpError\nexcept ImportError:\n    from mcp import MCPError as McpError\n", False),
        ("if V2:\n    from mcp.server.mcpserver import MCPServer as M\nelse:\n    from mcp.server.fastmcp import FastMCP as M\n", False),
        ("try:\n    from mcp import McpError as A\nexcept ImportError:\n    A = None\ntry:\n    from mcp import MCPError as B\nexcept ImportError:\n    B = None\n", False),
        ("V = version('mcp')\ndef a():\n    from mcp import McpError\ndef b():\n    from mcp import MCPError\n", False),
        ("def a():\n    from mcp import McpError\ndef b():\n    from mcp import MCPError\n", True),
        ("try:\n    from mcp.server.fastmcp import FastMCP\nexcept ImportError:\n    from fastmcp import FastMCP\n", True),
        ("try:\n    from mcp.server.fastmcp import FastMCP\nexcept ImportError:\n    FastMCP = None\n", True),
        ("try:\n    from mcp.server.fastmcp import FastMCP\nexcept ImportError:\n    from mcp.server import FastMCP\n", True),
    ],
    ids=["try", "error", "if", "a guard each", "asked", "not asked", "other library", "none", "older place"],
)  # fmt: skip
def test_code_for_both_majors_is_left_alone(text: str, seen: bool) -> None:
    assert bool(symbols(text)) is seen


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("from mcp.server.mcpserver import MCPServer\n", True),
        ("from mcp import Client\n", True),
        ("from mcp.types import Tool\ndef f(t: Tool):\n    return t.input_schema\n", True),
        ("from mcp.server import Server\nServer('x', on_list_tools=1)\n", True),
        ("from mcp_types import Tool\n", True),
        ("from mcp.server import Server\ns = Server('x')\ns.add_request_handler('ping', 1, 2)\n", True),
        ("from mcp.server import Server\ns = Server('x')\n@s.list_tools()\ndef f(): ...\n", False),
        ("from mcp.types import Tool\n", False),
        ("from mcp.types import Tool\ndef f(t: Tool):\n    return t.inputSchema\n", False),
        ("from mcp import McpError\nfrom mcp.types import REQUEST_TIMEOUT\n", False),
    ],
    ids=str,
)
def test_the_major_that_a_file_is_written_for(text: str, moved: bool) -> None:
    project = Project.link([read(Source("app.py", text))])
    assert project.sdk is not None
    assert project.sdk.is_moved("app.py") is moved


def test_a_file_without_a_sign_is_as_those_beside_it_are() -> None:
    plain = "from mcp.types import LATEST_PROTOCOL_VERSION\n"
    new, old = "from mcp.server.mcpserver import MCPServer\n", "from mcp.server.fastmcp import FastMCP\n"
    files = {"new/a.py": new, "new/b/c.py": plain, "old/a.py": old, "old/b.py": plain, "d.py": plain}
    project = Project.link(read(Source(path, text)) for path, text in files.items())
    assert project.sdk is not None
    assert [path for path in files if project.sdk.is_moved(path)] == ["new/a.py", "new/b/c.py"]


def test_a_file_without_a_sign_is_as_the_others_are() -> None:
    files = {"a.py": "from mcp.server.mcpserver import MCPServer\n", "b.py": "from mcp.types import LATEST_PROTOCOL_VERSION\n"}
    project = Project.link(read(Source(path, text)) for path, text in files.items())
    assert project.sdk is not None
    assert project.sdk.is_moved("b.py")


def test_what_a_file_was_written_for_is_decided_before_it_is_fixed() -> None:
    project = Project.link([read(Source("app.py", "from mcp.server.fastmcp import FastMCP\n"))])
    fixed = project.replace([read(Source("app.py", "from mcp.server.mcpserver import MCPServer\n"))])
    assert fixed.sdk is not None
    assert not fixed.sdk.is_moved("app.py")


def test_modules_are_things_too() -> None:
    assert revealed({"app.py": "import mcp.types\nreveal(mcp.types)\n"}) == spelled(ModuleOf("mcp.types"))


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("from mcp.server import Server\ns = Server('s')\nreveal(s.request_context.session)\n", "mcp.server.session.ServerSession"),
        ("from mcp.server.lowlevel.server import request_ctx\nreveal(request_ctx.get().session)\n", "mcp.server.session.ServerSession"),
        (
            "from contextvars import ContextVar\nfrom mcp.types import Tool\nv: ContextVar[Tool] = ContextVar('v')\nreveal(v.get())\n",
            "Tool",
        ),
        (
            "from mcp import types\nfrom mcp.server import Server\ns = Server('s')\nasync def f():\n"
            "    handler = s.request_handlers[types.CallToolRequest]\n    result = await handler(None)\n    reveal(result.root)\n",
            "CallToolResult",
        ),
    ],
    ids=["request_context", "request_ctx", "context variable", "stored handler"],
)
def test_what_a_low_level_server_knows(program: str, expected: str) -> None:
    assert revealed({"app.py": program}) == expected


def test_what_the_module_for_handlers_hands_over() -> None:
    module = "def completion(server): ...\n"
    program = "import mcp_handlers\nfrom mcp.server import Server\ns = Server('s')\n@mcp_handlers.completion(s)\nasync def f(ref, argument, context):\n    reveal(argument)\n"
    assert revealed({"mcp_handlers.py": module, "app.py": program}) == "CompletionArgument"
