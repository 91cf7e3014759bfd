"""Programs that use protocol types print the same under version 1 of the SDK, and under version 2 after `fix`."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import sdk
import warm
from mcp_migrate import catalog, engine
from mcp_migrate.project import Project, read
from mcp_migrate.source import Source

CATALOG = catalog.load()

DUMPS = """
import json
import mcp.types as types
from mcp.types import CallToolResult, ImageContent, ListToolsResult, Tool, ToolAnnotations
from pydantic import BaseModel, TypeAdapter

class Page(BaseModel):
    tools: list[Tool]

tool = Tool(name="a", inputSchema={"type": "object"}, annotations=ToolAnnotations(readOnlyHint=True))
print(tool.model_dump(exclude_none=True))
print(json.dumps([one.model_dump(exclude_none=True, mode="json") for one in ListToolsResult(tools=[tool]).tools]))
print(Page(tools=[tool]).model_dump_json(exclude_none=True))
print(TypeAdapter(list[Tool]).dump_python([tool], exclude_none=True))
result = CallToolResult(content=[ImageContent(type="image", data="", mimeType="image/png")], isError=True)
print(result.model_dump(exclude_none=True)["isError"], [part.model_dump(exclude_none=True) for part in result.content])
print(tool.model_copy(update={"inputSchema": {"type": "object", "a": 1}}).model_dump(exclude_none=True)["inputSchema"])
print(sorted(tool.model_dump(exclude_none=True, exclude={"inputSchema"})))
print(Tool(**tool.model_dump()).name, Tool.model_validate(tool.model_dump()).inputSchema)
"""

FIELDS = """
from dataclasses import dataclass
import mcp.types as types
from mcp.types import CallToolResult, Tool

@dataclass
class Own:
    isError: bool = True

tool = Tool(name="a", inputSchema={"type": "object"})
tool.outputSchema = {"type": "object"}
print(getattr(tool, "inputSchema", None), hasattr(tool, "outputSchema"), tool.outputSchema)

def failed(result, own: Own) -> str:
    match result:
        case CallToolResult(isError=True):
            return f"failed {own.isError}"
    return "fine"

print(failed(CallToolResult(content=[], isError=True), Own()), failed(CallToolResult(content=[]), Own()))
print([p.mimeType for p in types.ListResourcesResult(resources=[types.Resource(uri="a://b", name="n", mimeType="t/p")]).resources])
"""

URIS = """
from mcp.types import BlobResourceContents, EmbeddedResource, Resource, ResourceLink, Root, TextResourceContents
from pydantic import AnyUrl, FileUrl

name = "b/c d"
made = [
    Resource(uri=AnyUrl("note://a/b"), name="n"),
    Resource(uri=AnyUrl(f"note://{name}"), name="n"),
    ResourceLink(type="resource_link", uri=AnyUrl("https://host"), name="n"),
    TextResourceContents(uri=FileUrl("file:///tmp/x"), text=""),
    BlobResourceContents(uri=AnyUrl("data://x/./y"), blob=""),
]
for one in made:
    print(str(one.uri), one.uri.scheme, one.uri.host, one.uri.path)
print(EmbeddedResource(type="resource", resource=TextResourceContents(uri=AnyUrl("a://b"), text="")).resource.uri == AnyUrl("a://b"))
root = Root(uri=FileUrl("file:///tmp/r"))
print(root.uri, root.uri.path)
"""

UNIONS = """
import mcp.types as types
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, ServerNotification, ServerResult

def kind(message: SessionMessage) -> str:
    root = message.message.root
    if isinstance(root, JSONRPCRequest):
        return f"request {root.method} {root.id}"
    if isinstance(message.message.root, JSONRPCNotification):
        return message.message.root.method
    return type(root).__name__

print(kind(SessionMessage(JSONRPCMessage(JSONRPCRequest(jsonrpc="2.0", id=1, method="ping")))))
print(kind(SessionMessage(message=JSONRPCMessage(root=JSONRPCNotification(jsonrpc="2.0", method="x")))))
print(kind(SessionMessage(JSONRPCMessage.model_validate({"jsonrpc": "2.0", "id": 1, "result": {}}))))
print(JSONRPCMessage.model_validate_json('{"jsonrpc": "2.0", "id": 1, "method": "ping"}').model_dump(exclude_none=True) == {"jsonrpc": "2.0", "id": 1, "method": "ping"})
print(JSONRPCMessage(**{"jsonrpc": "2.0", "id": 2, "method": "ping"}).root.id)

def changed(notification: ServerNotification) -> str:
    match notification:
        case ServerNotification(root=types.ToolListChangedNotification()):
            return "tools"
    return type(notification.root).__name__ + str(isinstance(notification, ServerNotification))

print(changed(ServerNotification(types.ToolListChangedNotification())), changed(ServerNotification(types.PromptListChangedNotification())))

def answer(raw):
    return ServerResult(raw)

print(type(answer(types.EmptyResult()).root).__name__, type(answer({"tools": []}).root).__name__)
print(
    ServerResult(
        # the answer
        types.CallToolResult(content=[types.TextContent(type="text", text="hi")]),
    ).root.content[0].text
)
"""

METADATA = """
from mcp.types import CallToolRequestParams, RequestParams

for params in (CallToolRequestParams(name="a", _meta={"progressToken": 7, "trace": "t"}), CallToolRequestParams(name="a")):
    if params.meta and params.meta.progressToken:
        print(params.meta.progressToken, params.meta.trace)
    print(getattr(params.meta, "progressToken", None), getattr(params.meta, "trace", "-"))
sent = CallToolRequestParams(name="a", _meta=RequestParams.Meta(progressToken="x"))
print(sent.model_dump(by_alias=True, exclude_none=True))
"""

SUBCLASS = """
from mcp.types import CallToolResult

class Job(CallToolResult):
    isError: bool = True
    job_id: str = ""
    log_lines: list[str] = []

job = Job(content=[], job_id="7", log_lines=["a"])
dumped = job.model_dump(by_alias=True, exclude_none=True)
print(job.isError, job.job_id, {key: value for key, value in sorted(dumped.items()) if key != "resultType"})
"""

PLAIN = """
from typing import get_args
import mcp.types as types
from mcp.shared.version import SUPPORTED_PROTOCOL_VERSIONS
from mcp.types import LATEST_PROTOCOL_VERSION, TASK_STATUS_WORKING, AnyFunction, Content, Cursor, ResourceReference, TaskExecutionMode

def negotiate(asked: str) -> str:
    return asked if asked in SUPPORTED_PROTOCOL_VERSIONS else LATEST_PROTOCOL_VERSION

def page(cursor: Cursor | None = None, shown: "Content | None" = None, function: AnyFunction | None = None) -> Cursor:
    return cursor or "first"

print(negotiate("2025-06-18"), negotiate("2026-07-28"), page(), TASK_STATUS_WORKING, types.TASK_REQUIRED, get_args(TaskExecutionMode))
"""

ERRORS = """
from mcp import McpError
from mcp.types import INVALID_PARAMS, ErrorData

class Refused(McpError):
    def __init__(self, why: str) -> None:
        super().__init__(ErrorData(code=INVALID_PARAMS, message=why))

stored = ErrorData(code=1, message="stored", data={"a": 1})
for error in (McpError(ErrorData(code=INVALID_PARAMS, message="bad")), McpError(stored), McpError(error=stored), Refused("no")):
    try:
        raise error
    except McpError as caught:
        print(caught.error.code, caught.error.message, caught.error.data, str(caught), type(caught).__name__ == "McpError")
"""

PROGRAMS = {
    "dumps": DUMPS,
    "fields": FIELDS,
    "URIs": URIS,
    "unions": UNIONS,
    "metadata": METADATA,
    "subclass": SUBCLASS,
    "plain names": PLAIN,
    "errors": ERRORS,
}
each_program = pytest.mark.parametrize("name", PROGRAMS)


@cache
def fixed(name: str) -> engine.Fixed:
    return engine.fix(Project.link([read(Source("app.py", PROGRAMS[name].lstrip()))]), CATALOG)


@each_program
def test_the_moved_program_prints_what_it_printed(name: str, tmp_path: Path) -> None:
    before = printed(1, tmp_path / "before.py", PROGRAMS[name])
    after = printed(2, tmp_path / "after.py", fixed(name).project.files["app.py"].source.text)
    assert after == before


@each_program
def test_nothing_is_left_and_nothing_is_done_twice(name: str) -> None:
    assert left(fixed(name)) == []
    again = engine.fix(Project.link([read(Source("app.py", fixed(name).project.files["app.py"].source.text))]), CATALOG)
    assert again.texts == {}
    assert left(again) == []


MOVED = {
    "dumps": "from mcp import Client\nfrom mcp.types import Tool\ndef f(t: Tool):\n    return t.model_dump(), dict(t), t.model_copy(update={'title': 'x'})\n",
    "names": "from mcp.server.mcpserver import MCPServer\nfrom mcp.types import LATEST_PROTOCOL_VERSION, JSONRPCMessage\nV = LATEST_PROTOCOL_VERSION\n",
    "fields": "from mcp.types import Tool\ndef f(t: Tool, other):\n    return t.input_schema, getattr(t, 'input_schema', None), other.isError\n",
    "keywords": "from mcp import MCPError\nfrom mcp.types import Tool\nT = Tool(name='a', inputSchema={'type': 'object'})\nE = MCPError(code=1, message='m')\n",
    "unions": "from mcp.server.mcpserver import MCPServer\nfrom mcp.types import ServerNotification, jsonrpc_message_adapter\n"
    "def f(n: ServerNotification, raw):\n    return isinstance(n, ServerNotification), jsonrpc_message_adapter.validate_json(raw).model_dump()\n",
    "URIs": "from mcp import Client\nfrom mcp.types import Resource, Root\nfrom pydantic import AnyUrl, FileUrl\n"
    "def f(r: Resource):\n    return AnyUrl(r.uri).host, Resource(uri='a://b', name='n'), Root(uri=FileUrl('file:///a'))\n",
    "metadata": "from mcp.server.context import ServerRequestContext\ndef f(ctx: ServerRequestContext):\n    return ctx.meta.get('progress_token') if ctx.meta else None\n",
    "codes": "from mcp import MCPError\nfrom mcp.types import REQUEST_TIMEOUT\ndef f(e: MCPError):\n    return e.error.code == REQUEST_TIMEOUT, e.code == 0, type(e).__name__ == 'MCPError'\n",
    "classes": "from mcp import Client\nfrom mcp.types import CallToolResult\nclass R(CallToolResult):\n    job_id: str = ''\n",
    "both": "try:\n    from mcp import MCPError\nexcept ImportError:\n    from mcp import McpError as MCPError\nfrom mcp.types import ErrorData, Tool\n"
    "def f(t: Tool):\n    raise MCPError(ErrorData(code=1, message=str(t.inputSchema)))\n",
    "either name": "from mcp.types import Tool\ndef f(t: Tool):\n    return t.input_schema if hasattr(t, 'input_schema') else t.inputSchema\n",
}  # fmt: skip


@pytest.mark.parametrize("name", MOVED)
def test_code_that_is_there_already_is_left_alone(name: str) -> None:
    result = engine.fix(Project.link([read(Source("app.py", MOVED[name]))]), CATALOG, unsafe=True)
    assert result.texts == {}
    assert left(result) == []


def left(result: engine.Fixed) -> list[str]:
    return [finding.message for finding in result.remaining if finding.rule.startswith("MCP5")]


def printed(major: int, path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    done = warm.run(sdk.python(major), "-W", "ignore", path, cwd=path.parent)
    assert not done.stderr, done.stderr
    return done.stdout
