"""What answers GET and DELETE goes only where it is proven to serve streams and sessions alone."""

from __future__ import annotations

from textwrap import indent

import pytest
from mcp_migrate.facts.functions import Function, Module, read
from mcp_migrate.facts.mask import parse
from mcp_migrate.facts.retired import is_refusal, is_retired
from mcp_migrate.source import Source

STREAM = (
    'self.send_response(200)\nself.send_header("Content-Type", "text/event-stream")\nself.end_headers()\nself.wfile.write(b": hello")\n'
)
RETIRED = {
    "a stream": STREAM,
    "a stream behind a session": "if self.headers.get('Mcp-Session-Id') not in SESSIONS:\n    self.send_error(404)\n    return\n" + STREAM,
    "a loop": STREAM + "while True:\n    self.wfile.write(QUEUE.get())\n",
    "a response": 'return StreamingResponse(beat(), media_type="text/event-stream")',
    "headers with a name": 'headers = {"Content-Type": "text/event-stream"}\nreturn Response(beat(), headers=headers)',
    "the end of a session": 'SESSIONS.pop(request.headers.get("Mcp-Session-Id"), None)\nreturn Response(status_code=204)',
    "the end of a session, told": 'SESSIONS.pop(request.headers["Mcp-Session-Id"], None)\nreturn {"status": "ended"}',
    "a helper": "self.listen()",
}
KEPT = {
    "a page": "self.send({'up': True})",
    "a page for some": "if self.headers.get('Mcp-Session-Id') is None:\n    self.send({})\n    return\n" + STREAM,
    "a page for browsers": "if 'text/html' in accept:\n    return Response('<p>')\nreturn Response(beat(), media_type='text/event-stream')",
    "a page when no stream is asked": "if 'text/event-stream' not in asked:\n    return page()\nreturn Response(status_code=405)",
    "a page in a loop": "for one in request.headers['Mcp-Session-Id']:\n    return JSONResponse(one)",
    "a page from a helper": "print(request.headers['Mcp-Session-Id'])\nreturn page()",
    "another path": "if self.path == '/status':\n    self.send_error(404)\n    return\n" + STREAM,
    "a path that is matched": "match self.path:\n    case '/a':\n        self.send_error(404)\n    case _:\n        return\n" + STREAM,
    "files": "print(self.headers['Mcp-Session-Id'])\nsuper().do_GET()",
    "the handler given away": "print(self.headers['Mcp-Session-Id'])\nserve(self)",
    "a name with a session": "print(request.headers['Mcp-Session-Id'])\nreturn {'name': 'shop', 'version': '1'}",
    "a count": 'return {"sessions": len(SESSIONS)}',
    "a failed look-up that is a page": "try:\n    return Response(beat(), media_type='text/event-stream')\nexcept KeyError:\n    return JSONResponse({})",
    "a failed stream that is a page": f"try:\n{indent(STREAM, '    ')}except KeyError:\n    self.send({{}})",
    "a refusal": "self.send_error(405)",
}


@pytest.mark.parametrize("body", RETIRED.values(), ids=list(RETIRED))
def test_what_serves_streams_or_ends_sessions_is_retired(body: str) -> None:
    function, module = _method(body)
    assert is_retired(function, module)


@pytest.mark.parametrize("body", KEPT.values(), ids=list(KEPT))
def test_what_may_answer_something_else_is_not(body: str) -> None:
    function, module = _method(body)
    assert not is_retired(function, module)


@pytest.mark.parametrize("body", ["self.send_error(405)", "abort(405)", "raise HTTPException(405)", "return Response(status_code=405)"])
def test_a_refusal_is_told_from_an_answer(body: str) -> None:
    assert is_refusal(*_method(body))
    assert not is_refusal(*_method(f"if request.ok:\n    return page()\n{body}"))


def _method(body: str) -> tuple[Function, Module]:
    head = "class Handler:\n    def listen(self):\n" + indent(STREAM, " " * 8) + "\n    def do(self, request):\n"
    source = Source("server.py", head + indent(body, " " * 8) + "\n")
    module = read(source, parse(source)[0])
    return module.functions["Handler.do"], module
