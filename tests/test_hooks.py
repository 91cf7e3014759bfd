"""Where the boundary goes in a server, and what is said where that cannot be proven."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from mcp_migrate.facts.code import Code
from mcp_migrate.facts.hooks import Blocker, Hook, Hooks, Strategy
from mcp_migrate.facts.identity import Identity, Needs, identity
from modules import Files, place

IDENTITY = '{"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}'
CHAIN = f"""
    method, rid = msg.get("method"), msg.get("id")
    if method == "initialize":
        return {{"jsonrpc": "2.0", "id": rid, "result": {IDENTITY}}}
    if method == "tools/list":
        return {{"jsonrpc": "2.0", "id": rid, "result": {{"tools": []}}}}
"""
LOOP = """
import json, sys
for line in sys.stdin:
    reply = handle(json.loads(line))
    if reply is not None:
        print(json.dumps(reply), flush=True)
"""


def answers(server: str, **others: str) -> list[Hook | Blocker]:
    hooks = Hooks(Code(Files({"server": server, **others})))
    unit = hooks.code.unit("server")
    assert unit is not None
    return hooks.find(unit)


def hook(server: str, **others: str) -> Hook:
    found = answers(server, **others)
    assert [type(one) for one in found] == [Hook], [one.reason for one in found if isinstance(one, Blocker)]
    assert isinstance(found[0], Hook)
    return found[0]


def reason(server: str, **others: str) -> str:
    found = answers(server, **others)
    assert [type(one) for one in found] == [Blocker]
    assert isinstance(found[0], Blocker)
    return found[0].reason


def body(text: str) -> str:
    return f"def handle(msg):{CHAIN}{text}"


# -- a dispatcher that returns its replies ------------------------------------------------


def test_a_function_that_takes_a_message_and_returns_a_reply_gets_the_decorator() -> None:
    found = hook(body("    return None\n") + LOOP)
    assert (found.strategy, found.place.name, found.message) == (Strategy.DECORATOR, "handle", "msg")
    assert found.methods == {"tools/list"}
    assert found.untested == ()


@pytest.mark.parametrize(
    "ending",
    [
        "    return error(rid)\n\ndef error(rid):\n    e = {'jsonrpc': '2.0', 'id': rid}\n    e['error'] = {'code': -32601}\n    return e\n",
        "    return dict(jsonrpc='2.0', id=rid, result={})\n",
        "    return None if rid is None else {'jsonrpc': '2.0', 'id': rid, 'result': {}}\n",
        "    base = {'jsonrpc': '2.0', 'id': rid}\n    return {**base, 'result': {}}\n",
        "    def reply(result):\n        return {'jsonrpc': '2.0', 'id': rid, 'result': result}\n    return reply({})\n",
        "    reply = None\n    if rid:\n        reply = {'jsonrpc': '2.0', 'id': rid, 'result': {}}\n    return reply\n",
        "    handler = TABLE.get(method)\n    return handler(msg)\n\nTABLE = {'ping': lambda m: {'jsonrpc': '2.0', 'result': {}}}\n",
        "    return handle({'method': 'tools/list', 'id': rid})\n",
        "    raise LookupError(method)\n",
    ],
    ids=["helper", "dict call", "conditional", "spread", "nested helper", "name", "table", "itself", "raise"],
)
def test_replies_are_proven_through(ending: str) -> None:
    assert hook(body(ending) + LOOP).strategy is Strategy.DECORATOR


@pytest.mark.parametrize(
    ("ending", "why"),
    [
        ("    return {'tools': []}\n", "a result without its envelope"),
        ("    return {'jsonrpc': '2.0'}, rid\n", "a tuple"),
        ("    import json\n    return json.dumps({'jsonrpc': '2.0', 'id': rid, 'result': {}})\n", "JSON text"),
        ("    return Reply(rid).to_dict()\n", "a typed reply"),
        ("    return unknown(msg)\n", "`unknown(...)` cannot be followed"),
        ("    return msg\n", "the parameter `msg`"),
        ("    yield {'jsonrpc': '2.0', 'id': rid, 'result': {}}\n", "it is a generator"),
        ("    return [handle(m) for m in msg]\n", "a list"),
    ],
    ids=["result only", "tuple", "text", "typed", "unknown call", "echo", "generator", "batch"],
)
def test_what_is_no_reply_is_named(ending: str, why: str) -> None:
    assert why in reason(body(ending) + LOOP)


WAITING_LOOP = """
import asyncio, json, sys
async def main():
    for line in sys.stdin:
        reply = await handle(json.loads(line))
        if reply is not None:
            print(json.dumps(reply), flush=True)
asyncio.run(main())
"""


@pytest.mark.parametrize(
    "handle",
    [
        "def handle(msg):\n    return answer(msg)\n",
        "def handle(msg):\n    coming = answer(msg)\n    return coming\n",
        "def handle(msg):\n    return asyncio.wait_for(answer(msg), 5)\n",
        "async def handle(msg):\n    return await answer(msg)\n",
    ],
    ids=["returned", "named", "wrapped", "awaited"],
)
def test_the_function_whose_value_is_a_reply_is_wrapped_not_one_that_hands_on_its_coroutine(handle: str) -> None:
    found = hook(f"async def answer(msg):{CHAIN}    return None\n" + handle + WAITING_LOOP)
    assert (found.strategy, found.place.name) == (Strategy.DECORATOR, "handle" if handle.startswith("async") else "answer")


COROUTINES = f"""
async def hello(msg):
    return {{"jsonrpc": "2.0", "id": msg["id"], "result": {IDENTITY}}}
async def tools(msg):
    return {{"jsonrpc": "2.0", "id": msg["id"], "result": {{"tools": []}}}}
TABLE = {{"initialize": hello, "tools/list": tools}}
"""


def test_a_coroutine_from_a_table_is_no_reply() -> None:
    server = COROUTINES + "def handle(msg):\n    handler = TABLE.get(msg['method'])\n    return handler(msg)\n" + WAITING_LOOP
    assert "a coroutine is returned, not its value" in reason(server)


@pytest.mark.parametrize(
    "call",
    [
        "    return await TABLE[msg['method']](msg)\n",
        "    reply = TABLE[msg['method']](msg)\n    if asyncio.iscoroutine(reply):\n        reply = await reply\n    return reply\n",
    ],
    ids=["awaited", "awaited when it must be"],
)
def test_a_table_of_coroutines_is_proven_where_they_are_awaited(call: str) -> None:
    assert hook(COROUTINES + f"async def handle(msg):\n{call}" + WAITING_LOOP).place.name == "handle"


def test_a_function_that_does_not_wait_for_its_writer_cannot_carry_an_early_reply() -> None:
    server = f"""
import asyncio, json, sys
async def send(message):
    print(json.dumps(message), flush=True)
def handle(msg):
    if msg["method"] == "initialize":
        asyncio.create_task(send({{"jsonrpc": "2.0", "id": msg["id"], "result": {IDENTITY}}}))
    if msg["method"] == "tools/list":
        asyncio.create_task(send({{"jsonrpc": "2.0", "id": msg["id"], "result": {{"tools": []}}}}))
async def main():
    for line in sys.stdin:
        handle(json.loads(line))
asyncio.run(main())
"""
    assert "does not wait for it" in reason(server)


def test_asking_a_coroutine_whether_it_is_none_is_no_test() -> None:
    loop = WAITING_LOOP.replace("await handle", "handle").replace("dumps(reply)", "dumps(await reply)")
    assert "it was never None before" in reason(COROUTINES + "async def handle(msg):\n    return await TABLE[msg['method']](msg)\n" + loop)


def test_a_method_with_its_loop_in_another_method() -> None:
    found = hook(
        dedent(f"""
        import json, sys

        class Server:
            async def handle(self, msg):
                if msg["method"] == "initialize":
                    return self.ok(msg, {IDENTITY})
                elif msg["method"] == "tools/list":
                    return self.ok(msg, {{"tools": []}})

            def ok(self, msg, result):
                return {{"jsonrpc": "2.0", "id": msg["id"], "result": result}}

            async def run(self):
                for line in sys.stdin:
                    answer = await self.handle(json.loads(line))
                    if answer:
                        print(json.dumps(answer))
        """)
    )
    assert (found.place.name, found.message) == ("Server.handle", "msg")


def test_the_function_that_holds_the_message_is_found_above_one_that_only_routes() -> None:
    found = hook(
        dedent(f"""
        def route(method, params):
            match method:
                case "initialize":
                    return {IDENTITY}
                case "tools/list" | "prompts/list":
                    return {{}}

        def handle(msg):
            return {{"jsonrpc": "2.0", "id": msg["id"], "result": route(msg["method"], msg.get("params"))}}
        """)
        + LOOP
    )
    assert found.place.name == "handle"
    assert found.methods == {"tools/list", "prompts/list"}


def test_the_outermost_of_functions_that_hand_the_message_on_is_wrapped() -> None:
    found = hook(body("    return None\n").replace("handle", "inner") + "\ndef handle(message):\n    return inner(message)\n" + LOOP)
    assert (found.place.name, found.message) == ("handle", "message")


def test_the_message_may_be_any_parameter() -> None:
    found = hook(body("    return None\n").replace("handle(msg)", "handle(db, msg)") + LOOP.replace("handle(", "handle(None, "))
    assert found.message == "msg"


@pytest.mark.parametrize("default", ["    msg = msg or {}", "    msg = dict(msg)"], ids=["or", "copy"])
def test_a_default_for_the_message_changes_nothing(default: str) -> None:
    assert hook(f"def handle(msg):\n{default}{CHAIN}    return None\n" + LOOP).strategy is Strategy.DECORATOR


def test_a_message_that_is_replaced_on_the_way_is_refused() -> None:
    assert "given another value" in reason(f"def handle(msg):\n    msg = normal(msg){CHAIN}    return None\n" + LOOP)


def test_a_typed_request_is_refused() -> None:
    text = CHAIN.replace('msg.get("method")', "msg.method").replace('msg.get("id")', "msg.id")
    assert "typed request" in reason(f"def handle(msg):{text}    return None\n" + LOOP)


# -- methods -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "methods"),
    [
        ("if method in ('prompts/list', 'prompts/get'):", {"prompts/list", "prompts/get"}),
        ("if 'prompts/list' == method:", {"prompts/list"}),
        ("if method == names.LIST:", {"prompts/list"}),
        ("if method == Method.LIST:", {"prompts/list"}),
        ("if method == 'prompts' + '/list':", {"prompts/list"}),
        ("if method.startswith('notifications/'):", set()),
        ("if method == 'ping':", set()),
    ],
    ids=["member", "yoda", "module", "enum", "joined", "notifications", "removed"],
)
def test_methods_are_read_however_they_are_spelled(test: str, methods: set[str]) -> None:
    text = body(f"    {test}\n        return None\n") + "\nimport names\nclass Method:\n    LIST = 'prompts/list'\n" + LOOP
    assert hook(text, names="LIST = 'prompts/list'\n").methods == {"tools/list"} | methods


@pytest.mark.parametrize(
    "test",
    [
        "if method.startswith('tools/'):",
        "if method in EXTRA:",
        "if method == chosen():",
        "if EXTRA.get(method):",
        "if 'prompts' in method:",
    ],
    ids=["prefix", "unknown set", "call", "unknown table", "part of it"],
)
def test_methods_that_cannot_all_be_read_are_left_out(test: str) -> None:
    text = body(f"    {test}\n        return None\n") + "\nfrom elsewhere import EXTRA\n" + LOOP
    assert hook(text).methods is None


# -- identity ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("info", "needs"),
    [
        ('{"name": "s", "version": "1"}', Needs.IMPORT),
        ('{"name": NAME, "version": "1"}', Needs.IMPORT),
        ('{"name": "s", "version": version()}', Needs.CALL),
        ('{"name": "s", "version": changing}', Needs.CALL),
        ("local", Needs.IMPORT),
    ],
    ids=["literal", "constant", "call", "global", "local"],
)
def test_when_the_identity_is_known(info: str, needs: Needs) -> None:
    text = (
        body("    return None\n")
        .replace('{"name": "s", "version": "1"}', info)
        .replace("    method, rid", "    local = {'name': NAME}\n    method, rid")
    )
    rest = "\nNAME = 's'\nchanging = '1'\ndef update():\n    global changing\n    changing = '2'\ndef version():\n    return '1'\n"
    assert hook(text + rest + LOOP).identity.info.needs is needs


@pytest.mark.parametrize("info", ["msg", "later"], ids=["request", "unknown local"])
def test_an_identity_that_depends_on_the_request_is_refused(info: str) -> None:
    text = body("    return None\n").replace('"serverInfo": {"name": "s", "version": "1"}', f'"serverInfo": {info}')
    text = text.replace('    if method == "initialize"', '    for later in msg: pass\n    if method == "initialize"')
    assert "cannot be known before the request" in reason(text + LOOP)


def test_two_different_identities_are_refused() -> None:
    more = (
        "    if method == 'tools/call':\n        return {'jsonrpc': '2.0', 'result': "
        + IDENTITY.replace('"s"', '"t"')
        + "}\n    return None\n"
    )
    assert "two different ways" in reason(body(more) + LOOP)


def test_a_handshake_that_does_not_name_the_server_gives_no_identity() -> None:
    assert "no initialize answer" in reason(body("    return None\n").replace(IDENTITY, "{}") + LOOP)


def test_no_name_is_made_up_for_a_server_without_a_handshake() -> None:
    found = hook(body("    return None\n").replace('"initialize"', '"tools/call"').replace(IDENTITY, "{}") + LOOP).identity
    assert (ast.literal_eval(found.info.spelling.node), found.named) == ({}, False)
    assert ast.literal_eval(found.capabilities.spelling.node) == {"tools": {}}


# -- callers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "loop",
    [
        "for line in sys.stdin:\n    print(json.dumps(handle(json.loads(line))))\n",
        "for line in sys.stdin:\n    reply = handle(json.loads(line))\n    print(json.dumps(reply))\n",
        "def write(m):\n    print(json.dumps(m))\nfor line in sys.stdin:\n    write(handle(json.loads(line)))\n",
    ],
    ids=["nested", "name", "writer"],
)
def test_a_loop_that_would_print_none_is_named(loop: str) -> None:
    ending = "    return {'jsonrpc': '2.0', 'id': rid, 'error': {'code': -32601}}\n"
    assert len(hook(body(ending) + "import json, sys\n" + loop).untested) == 1


@pytest.mark.parametrize(
    "loop",
    [
        "for line in sys.stdin:\n    if (reply := handle(json.loads(line))) is not None:\n        print(json.dumps(reply))\n",
        "def write(m):\n    if m is None:\n        return\n    print(json.dumps(m))\nfor line in sys.stdin:\n    write(handle(json.loads(line)))\n",
        "for line in sys.stdin:\n    reply = handle(json.loads(line))\n    print(json.dumps(reply)) if reply else None\n",
    ],
    ids=["walrus", "writer asks", "conditional"],
)
def test_a_loop_that_asks_for_none_is_left_alone(loop: str) -> None:
    assert hook(body("    return {'jsonrpc': '2.0', 'id': rid, 'error': {}}\n") + "import json, sys\n" + loop).untested == ()


def test_demos_that_make_up_their_messages_are_left_alone() -> None:
    demo = "\ndef demo():\n    for msg in [{'method': 'tools/list'}]:\n        print(json.dumps(handle(msg)))\n"
    assert hook(body("    return None\n") + demo + LOOP).untested == ()


@pytest.mark.parametrize(
    "endpoint",
    [
        "@app.post('/mcp')\nasync def mcp(body: dict):\n    return handle(body)\n",
        "async def mcp(request: Request):\n    return JSONResponse(handle(await request.json()))\n",
        "class H(BaseHTTPRequestHandler):\n    def do_POST(self):\n        self.answer(handle(self.body()))\n",
    ],
    ids=["route", "request", "http.server"],
)
def test_a_dispatcher_that_http_reaches_needs_the_endpoint(endpoint: str) -> None:
    assert "over HTTP" in reason(body("    return None\n") + endpoint)


def test_a_dispatcher_that_nothing_feeds_is_not_wired() -> None:
    assert "transport is not known" in reason(body("    return None\n"))


# -- replies that are written ------------------------------------------------------------------

WRITER = """
import json, sys

def write(message):
    sys.stdout.write(json.dumps(message) + "\\n")
    sys.stdout.flush()

def ok(rid, result):
    write({"jsonrpc": "2.0", "id": rid, "result": result})
"""
WRITES = f"""
def handle(msg):
    if msg["method"] == "initialize":
        ok(msg["id"], {IDENTITY})
    elif msg["method"] == "tools/list":
        ok(msg["id"], {{"tools": []}})

for line in sys.stdin:
    handle(json.loads(line))
"""


def test_a_dispatcher_that_writes_through_one_function_sends_early_answers_through_it() -> None:
    found = hook(WRITER + WRITES)
    assert found.strategy is Strategy.SENDER
    assert found.writer is not None
    assert found.writer.name == "write"
    assert [emission.place.name for emission in found.outgoing] == ["write"]


def test_notifications_make_their_writer_a_place_of_its_own() -> None:
    text = WRITER + "\ndef log(text):\n    write({'jsonrpc': '2.0', 'method': 'notifications/message', 'params': {'data': text}})\n"
    assert [e.place.name for e in hook(text + body("    return None\n") + LOOP).outgoing] == ["write"]
    assert hook(WRITER + body("    return None\n") + LOOP).outgoing == ()


def test_writing_to_a_log_is_no_reply() -> None:
    log = "    import logging\n    logging.info(json.dumps({'jsonrpc': '2.0', 'result': {}}))\n"
    log += "    print(json.dumps({'jsonrpc': '2.0', 'result': {}}), file=sys.stderr)\n    return None\n"
    assert hook(body(log) + LOOP).strategy is Strategy.DECORATOR


def test_a_dispatcher_that_returns_some_replies_and_writes_others_is_refused() -> None:
    assert "written directly" in reason(WRITER + body("    ok(rid, {})\n    return None\n") + LOOP)


def test_replies_from_another_thread_are_refused() -> None:
    text = WRITES.replace('ok(msg["id"], {"tools": []})', "threading.Thread(target=slow, args=(msg,)).start()")
    assert "another thread" in reason(WRITER + "\nimport threading\ndef slow(msg):\n    ok(msg['id'], {})\n" + text)


def test_a_writer_in_another_module_is_refused() -> None:
    text = "from wire import ok\nimport json, sys\n" + WRITES
    assert "in another module" in reason(text, wire=WRITER)


def test_replies_that_come_from_elsewhere_are_refused() -> None:
    text = WRITES.replace('ok(msg["id"], {"tools": []})', "write(forward(msg))")
    assert "could not be followed" in reason(WRITER + "\nfrom proxy import forward\n" + text)


# -- loops that dispatch --------------------------------------------------------------------------

INLINE = f"""
import json, sys

TABLE = {{"initialize": lambda p: {IDENTITY}, "tools/list": lambda p: {{"tools": []}}}}

def main():
    for line in sys.stdin:
        msg = json.loads(line)
        handler = TABLE.get(msg.get("method"))
        if handler is None:
            reply = {{"jsonrpc": "2.0", "id": msg["id"], "error": {{"code": -32601}}}}
        else:
            reply = {{"jsonrpc": "2.0", "id": msg["id"], "result": handler(msg.get("params"))}}
        print(json.dumps(reply))
"""


def test_a_loop_that_parses_dispatches_and_writes_is_split() -> None:
    found = hook(INLINE)
    assert (found.strategy, found.place.name, found.message) == (Strategy.SPLIT, "main", "msg")
    assert found.parse is not None
    assert found.parse.lineno == 8
    assert len(found.outgoing) == 1
    assert found.methods == {"tools/list"}


def test_a_registry_of_another_module_is_read() -> None:
    registry = "TABLE = {}\ndef method(name):\n    def add(f):\n        TABLE[name] = f\n        return f\n    return add\n"
    handlers = f"from registry import method\n@method('initialize')\ndef hello(p):\n    return {IDENTITY}\n@method('tools/list')\ndef tools(p):\n    return {{}}\n"
    text = (
        INLINE[: INLINE.index("TABLE =")]
        + "import handlers, registry\n"
        + INLINE[INLINE.index("def main") :].replace("TABLE", "registry.TABLE")
    )
    found = hook(text, registry=registry, handlers=handlers)
    assert found.methods == {"tools/list"}
    assert found.identity.place.unit.name == "handlers"


def test_a_function_from_text_to_reply_is_split_with_its_returns() -> None:
    text = f"import json\ndef answer(line):\n    msg = json.loads(line){CHAIN}    return None\n"
    found = hook(text + "import sys\nfor line in sys.stdin:\n    print(answer(line))\n")
    assert found.strategy is Strategy.SPLIT
    assert len(found.finish) == 2


def test_a_parse_that_cannot_be_found_is_refused() -> None:
    text = INLINE.replace("msg = json.loads(line)", "msg = decode(line)")
    assert "given another value" in reason(text)


# -- gates -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gate", "number"),
    [
        ("    if not ready:\n        return None\n", 1),
        ("    if method == 'tools/call' and ready:\n        return None\n", 1),
        ("    if rid and not ready or rid == 0:\n        raise LookupError\n", 1),
        ("    if ready is False:\n        return None\n", 1),
        ("    print(ready)\n", 0),
    ],
    ids=["refusal", "condition", "part", "compared", "printed"],
)
def test_what_waits_for_the_handshake_is_named(gate: str, number: int) -> None:
    text = body(gate + "    return None\n").replace('"initialize":\n', '"initialize":\n        global ready\n        ready = True\n')
    assert len(hook("ready = False\n" + text + LOOP).conditions) == number


def test_a_gate_before_the_dispatcher_is_refused() -> None:
    text = body("    return None\n").replace('"initialize":\n', '"initialize":\n        global ready\n        ready = True\n')
    loop = LOOP.replace("    reply =", "    if not ready:\n        continue\n    reply =")
    assert "before they reach the dispatcher" in reason("ready = False\n" + text + "\ndef main():\n" + loop.replace("\n", "\n    "))


def test_a_first_message_that_has_to_be_initialize_is_refused() -> None:
    text = "\ndef main():\n    first = json.loads(sys.stdin.readline())\n    if first['method'] != 'initialize':\n        raise SystemExit\n    handle(first)\n"
    assert "first message" in reason(body("    return None\n") + text + LOOP)


# -- what is wired already --------------------------------------------------------------------------


def test_what_stands_behind_a_boundary_is_left_alone() -> None:
    text = "from mcp_stateless import Stateless\nMCP = Stateless({}, {})\n@MCP.boundary\n" + body("    return None\n") + LOOP
    assert answers(text) == []


def test_a_server_that_answers_discover_itself_is_left_alone() -> None:
    assert answers(body("    if method == 'server/discover':\n        return None\n    return None\n") + LOOP) == []


def test_two_servers_in_one_file_get_an_answer_each() -> None:
    one = body("    return None\n")
    found = answers(one + one.replace("handle", "other") + LOOP + LOOP.replace("handle", "other"))
    assert [type(answer) for answer in found] == [Hook, Hook]


# -- what the handshake does ---------------------------------------------------------------


def served(opening: str, use: str, before: str = "", gate: str = "") -> str:
    """A server as an object: what `initialize` does first, what the tools read, what its constructor sets, and a gate."""
    return f"""
import json, sys, sqlite3, threading
TOOLS = {{}}
def fill():
    TOOLS["a"] = 1
class Server:
    def __init__(self):
        self.tools = []
        {before or "pass"}
    def handle(self, msg):
        method, rid = msg.get("method"), msg.get("id")
        if method == "initialize":
            {opening}
            return {{"jsonrpc": "2.0", "id": rid, "result": {IDENTITY}}}
        if method == "notifications/initialized":
            return None
        {gate or "pass"}
        if method == "tools/list":
            return {{"jsonrpc": "2.0", "id": rid, "result": {{"tools": {use}}}}}
        return None
    def run(self):
        for line in sys.stdin:
            reply = self.handle(json.loads(line))
            if reply is not None:
                print(json.dumps(reply), flush=True)
Server().run()
"""


@pytest.mark.parametrize(
    ("opening", "use", "why"),
    [
        ("self.root = msg['params'].get('rootUri')", "[self.root]", "the handshake sets `self.root`"),
        ("self.tools.append(1)", "self.tools", "the handshake sets `self.tools`"),
        ("fill()", "TOOLS", "the handshake sets `TOOLS['a']`"),
        ("self.db = sqlite3.connect('x')", "[]", "`sqlite3.connect(...)`"),
        ("threading.Thread(target=fill).start()", "[]", "`threading.Thread(target=fill).start(...)`"),
        ("plugins.run_hooks()", "[]", "`plugins.run_hooks(...)`"),
    ],
    ids=["attribute", "filled", "function", "connection", "thread", "unknown work"],
)
def test_a_handshake_that_works_for_others_is_not_passed_by(opening: str, use: str, why: str) -> None:
    assert why in reason(served(opening, use))


@pytest.mark.parametrize(
    "opening",
    [
        "self.client = msg['params'].get('clientInfo')",
        "self.client = msg['params'].get('clientInfo'); logger.info('hello %s', self.client)",
        "print('hello', file=sys.stderr)",
        "version = max(SUPPORTED)",
        "self.caps = msg['params'].get('capabilities')",
        "Params.model_validate(msg['params'])",
    ],
    ids=["client info", "logged", "log line", "reading call", "capabilities", "checked"],
)
def test_a_handshake_that_keeps_its_things_to_itself_is_passed_by(opening: str) -> None:
    assert hook(served(opening, "[]")).strategy is Strategy.DECORATOR


def test_state_of_the_handshake_that_another_module_reads_is_missed() -> None:
    server = "import state\nfrom tools import listed\n" + served("state.client = msg['params'].get('clientInfo')", "listed()").lstrip()
    tools = "import state\ndef listed():\n    return [state.client['name']]\n"
    assert "the handshake sets `state.client`" in reason(server, state="client = None\n", tools=tools)


# -- gates ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "opening", "test"),
    [
        ("self.client = None", "self.client = msg['params'].get('clientInfo')", "self.client is None"),
        ("self.session = None", "self.session = object()", "not self.session"),
        ("self.version = None", "self.version = msg['params']['protocolVersion']", "self.version is None"),
        ("self.hello = threading.Event()", "self.hello.set()", "not self.hello.is_set()"),
        ("self.facts = {}", "self.facts['ready'] = True", "not self.facts.get('ready')"),
        ("self.facts = {}", "self.facts['ready'] = True", "'ready' not in self.facts"),
        ("self.greetings = 0", "self.greetings += 1", "self.greetings < 1"),
        ("self.seen = []", "self.seen.append(True)", "len(self.seen) == 0"),
    ],
    ids=["client", "session", "version", "event", "key", "missing key", "count", "list"],
)
def test_a_gate_is_known_by_what_it_waits_for_not_by_its_name(before: str, opening: str, test: str) -> None:
    gate = f"if {test}:\n            return {{'jsonrpc': '2.0', 'id': rid, 'error': {{'code': -32600, 'message': 'hello first'}}}}"
    found = hook(served(opening, "[]", before, gate))
    assert [(ast.unparse(one.node), one.seen) for one in found.conditions] == [(ast.unparse(ast.parse(test, mode="eval")), False)]


def test_what_other_code_fills_as_well_is_no_gate() -> None:
    gate = "if method == 'login':\n            self.user = msg['params']\n        if self.user is None:\n            return None"
    assert hook(served("pass", "[]", "self.user = None", gate)).conditions == ()


def test_what_the_client_can_do_is_no_gate() -> None:
    opening = "self.asks = 'sampling' in msg['params']['capabilities']"
    gate = "if not self.asks:\n            return {'jsonrpc': '2.0', 'id': rid, 'error': {'code': -1, 'message': 'no'}}"
    assert hook(served(opening, "[]", "self.asks = False", gate)).conditions == ()


# -- the way of a message --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decorator", "why"),
    [
        ("if not ready:\n            return None\n        return function(msg)", "the decorator `gated` may answer by itself"),
        ("return {**function(msg), 'took': 1}", "the decorator `gated` may answer by itself"),
    ],
    ids=["refuses", "changes"],
)
def test_a_decorator_that_answers_stands_outside_of_the_boundary(decorator: str, why: str) -> None:
    head = f"ready = False\ndef gated(function):\n    def inner(msg):\n        {decorator}\n    return inner\n@gated\n"
    assert why in reason(head + body("    return None\n") + LOOP)


def test_a_decorator_that_hands_on_may_stay() -> None:
    head = "def timed(function):\n    def inner(msg):\n        reply = function(msg)\n        return reply\n    return inner\n@timed\n"
    assert hook(head + body("    return None\n") + LOOP).place.name == "handle"


@pytest.mark.parametrize(
    ("loop", "why"),
    [
        ("first = json.loads(sys.stdin.readline())\n{loop}", "the first message is read by itself"),
        ("def hello():\n    handle(json.loads(sys.stdin.readline()))\nhello()\n{loop}", "the first message is read by itself"),
    ],
    ids=["at once", "in a function"],
)
def test_a_first_message_that_is_read_outside_of_the_loop_is_a_gate(loop: str, why: str) -> None:
    assert why in reason("import json, sys\n" + body("    return None\n") + loop.format(loop=LOOP))


@pytest.mark.parametrize(
    ("way", "why"),
    [
        ("handle({'id': raw.get('id'), 'method': raw['method'], 'params': {}})", "the message is made anew"),
        ("handle(clean(raw))", "the message is made anew"),
        ("(raw['params'].pop('_meta', None), handle(raw))[1]", "`_meta` is taken out"),
        ("handle(raw) if raw['method'] in KNOWN else None", "routed by their method"),
        ("problem(raw) or handle(raw)", "`problem` looks at the message before the boundary does"),
    ],
    ids=["rebuilt", "cleaned", "stripped", "known methods", "checked beside"],
)
def test_a_message_arrives_as_it_was_sent_and_whatever_its_method(way: str, why: str) -> None:
    head = """
KNOWN = {"tools/list"}
def clean(raw):
    return {"id": raw.get("id"), "method": raw["method"]}
def problem(raw):
    return {"jsonrpc": "2.0", "error": {}} if raw.get("method") not in ["tools/list", "tools/call", "ping"] else None
"""
    loop = f"""
import json, sys
for line in sys.stdin:
    raw = json.loads(line)
    reply = {way}
    if reply is not None:
        print(json.dumps(reply), flush=True)
"""
    found = answers(head + body("    return None\n") + loop)
    assert any(isinstance(one, Blocker) and why in one.reason for one in found), found
    assert not any(isinstance(one, Hook) for one in found)


@pytest.mark.parametrize(
    ("guard", "given"),
    [
        ("pass", "checked(raw)"),
        ("if 'method' not in raw:\n        continue", "raw"),
        ("if raw['method'] == 'exit':\n        break", "raw"),
        ("if raw['method'] == 'tools/call':\n        print('a call', file=sys.stderr)", "raw"),
    ],
    ids=["checked", "no method", "exit", "logged"],
)
def test_a_message_that_is_only_looked_at_arrives(guard: str, given: str) -> None:
    head = "def checked(raw):\n    if not isinstance(raw, dict):\n        raise ValueError\n    return raw\n"
    loop = LOOP.replace("    reply = handle(json.loads(line))", f"    raw = json.loads(line)\n    {guard}\n    reply = handle({given})")
    assert hook(head + body("    return None\n") + loop).place.name == "handle"


def test_parts_of_one_server_are_not_wired_apart() -> None:
    tools = body("    return None\n").replace("handle", "tools").replace('"initialize"', '"tools/call"')
    loop = LOOP.replace("handle(json.loads(line))", "ROUTES[json.loads(line)['method'][:5]](json.loads(line))")
    found = answers(
        tools + "\n" + body("    if method == 'ping':\n        return None\n    return None\n") + "\nROUTES = {'tools': tools}\n" + loop
    )
    assert not any(isinstance(one, Hook) and one.place.name == "tools" for one in found)


# -- methods that the scan cannot see ----------------------------------------------------------


@pytest.mark.parametrize(
    "ending",
    [
        "    if method.endswith('/list'):\n        return {'jsonrpc': '2.0', 'id': rid, 'result': {}}\n    return None\n",
        "    if re.fullmatch('prompts/.*', method):\n        return {'jsonrpc': '2.0', 'id': rid, 'result': {}}\n    return None\n",
        "    if extension(method):\n        return {'jsonrpc': '2.0', 'id': rid, 'result': {}}\n    return None\n\nE = {}\n"
        "def extension(name):\n    return E.get(name)\n",
        "    match method:\n        case 'ping':\n            return None\n        case name if name in MORE:\n"
        "            return {'jsonrpc': '2.0', 'id': rid, 'result': {}}\n    return None\n\nMORE = make()\n",
        "    if (found := plugins.find(msg)) is not None:\n        return {'jsonrpc': '2.0', 'id': rid, 'result': found}\n    return None\n",
    ],
    ids=["ending", "pattern", "lookup in a function", "guarded capture", "message handed out of sight"],
)
def test_a_method_that_goes_where_the_scan_cannot_follow_leaves_the_list_open(ending: str) -> None:
    assert hook(body(ending) + LOOP).methods is None


def test_a_method_that_is_taken_apart_where_it_is_known_leaves_the_list_closed() -> None:
    ending = "    if method in ('prompts/list', 'resources/list'):\n        return reply(rid, {method.split('/')[0]: listed(method)})\n    return None\n"
    helper = "def reply(rid, result):\n    return {'jsonrpc': '2.0', 'id': rid, 'result': result}\n"
    assert hook(body(ending) + helper + LOOP).methods == {"tools/list", "prompts/list", "resources/list"}


def test_a_method_that_is_only_spoken_of_leaves_the_list_closed() -> None:
    ending = "    logger.debug('got %s', method)\n    return error(rid, method)\n"
    helper = "def error(rid, method):\n    return {'jsonrpc': '2.0', 'id': rid, 'error': {'code': -32601, 'message': f'no {method}'}}\n"
    assert hook(body(ending) + helper + LOOP).methods == {"tools/list"}


def test_another_parameter_that_goes_out_of_sight_leaves_the_list_closed() -> None:
    server = body("    if plugins.note(notes):\n        return None\n    return None\n").replace(
        "def handle(msg)", "def handle(msg, notes=None)"
    )
    assert hook(server + LOOP).methods == {"tools/list"}


# -- a reply in a tuple -----------------------------------------------------------------------


def packing(ending: str, opening: str = "", loop: str = "") -> str:
    """A server whose dispatcher returns `(reply, session)`, and a loop that keeps the session."""
    return f"""
import json, sys, uuid
def ok(rid, result):
    return {{"jsonrpc": "2.0", "id": rid, "result": result}}
def handle(msg, session=None):
    method, rid = msg.get("method"), msg.get("id")
    {opening or "pass"}
    if method == "initialize":
        return ok(rid, {IDENTITY}), uuid.uuid4().hex
    if method == "tools/list":
        return ok(rid, {{"tools": []}}), None
{ending}
{loop or PAIR_LOOP}
"""


PAIR_LOOP = """
class Loop:
    def __init__(self):
        self.session = None
    def run(self):
        for line in sys.stdin:
            reply, session = handle(json.loads(line), self.session)
            if session:
                self.session = session
            if reply is not None:
                print(json.dumps(reply), flush=True)
Loop().run()
"""


@pytest.mark.parametrize(
    "ending",
    [
        "    return None, None",
        "    return other(rid) if rid else (None, None)\ndef other(rid):\n    return ok(rid, {}), None",
        "    made = ok(rid, {}), None\n    return made",
        "    return TABLE[method](rid)\ndef pong(rid):\n    return ok(rid, {}), None\nTABLE = {'ping': pong}",
        "    return late(rid, ok)\ndef late(rid, make):\n    return make(rid, {}), None",
        "    reply, rest = late(rid)\n    return reply, None\ndef late(rid):\n    return ok(rid, {}), 5",
        "    raise LookupError(method)",
    ],
    ids=["nothing", "helper", "name", "table", "handed in", "taken apart", "raise"],
)
def test_a_reply_in_a_tuple_is_proven_through(ending: str) -> None:
    found = hook(packing(ending))
    assert found.strategy is Strategy.DECORATOR
    assert found.packed is not None
    assert found.packed.shape == ("reply", None)


@pytest.mark.parametrize(
    ("ending", "why"),
    [
        ("    return None", "and something else here"),
        ("    pass", "and something else here"),
        ("    return unknown(msg)", "and something else here"),
        ("    return ok(rid, {}), None, None", "tuples of several lengths"),
        ("    return None, ok(rid, {})", "which of its values is the reply is not sure"),
        ("    return ok(rid, {}), ok(rid, {})", "which of its values is the reply is not sure"),
        ("    return {'tools': []}, None", "a result without its envelope"),
    ],
    ids=["no tuple", "falls through", "unknown call", "other length", "other order", "two replies", "result only"],
)
def test_a_tuple_that_does_not_surely_hold_one_reply_is_refused(ending: str, why: str) -> None:
    assert why in reason(packing(ending))


def test_the_reply_may_stand_anywhere_and_the_session_may_be_given_back() -> None:
    server = """
import json, sys, uuid
def handle(msg, state=None):
    method, rid = msg.get("method"), msg.get("id")
    if method == "initialize":
        state = uuid.uuid4().hex
        return 200, state, {"jsonrpc": "2.0", "id": rid, "result": IDENTITY}
    if method == "tools/list":
        return None, state, {"jsonrpc": "2.0", "id": rid, "result": {"tools": []}}
    return None, state, None
state = None
for line in sys.stdin:
    status, state, reply = handle(json.loads(line), state)
    if reply:
        print(json.dumps(reply), flush=True)
"""
    found = hook(server.replace("IDENTITY", IDENTITY))
    assert found.packed is not None
    assert found.packed.shape == (None, "state", "reply")


@pytest.mark.parametrize("beside", ["session or uuid.uuid4().hex", "rid"], ids=["always new", "of the message"])
def test_what_stands_beside_an_early_reply_has_to_be_known(beside: str) -> None:
    server = packing("    return None, None").replace('{"tools": []}), None', f'{{"tools": []}}), {beside}')
    assert "what goes with a reply that changes nothing is not known" in reason(server)


@pytest.mark.parametrize(
    ("use", "why"),
    [
        ("reply, session, more = handle(msg, None)", "what becomes of the tuple"),
        ("answer = handle(msg, None)\n    print(json.dumps(answer[0]))", "what becomes of the tuple"),
        ("print(json.dumps(handle(msg, None)))", "what becomes of the tuple"),
        (
            "reply, notes = handle(msg, None)\n    if reply: print(json.dumps(reply))\n    print(json.dumps(notes))",
            "what becomes of the tuple",
        ),
        (
            "reply, session = handle(msg, None)\n    reply['result'] = {}\n    print(json.dumps(reply))",
            "is changed here before it is written",
        ),
    ],
    ids=["more", "by its number", "whole", "the other one is written too", "changed"],
)
def test_a_caller_that_makes_something_else_of_the_tuple_is_refused(use: str, why: str) -> None:
    assert why in reason(packing("    return None, None", loop=f"for line in sys.stdin:\n    msg = json.loads(line)\n    {use}\n"))


@pytest.mark.parametrize(
    ("use", "untested"),
    [
        ("reply, _ = handle(msg, None)\n    if reply: print(json.dumps(reply))", 0),
        ("[reply, _] = handle(msg, None)\n    if reply: print(json.dumps(reply))", 0),
        ("handle(msg, None)", 0),
        ("reply, box.session = handle(msg, None)\n    if reply: print(json.dumps(reply))", 0),
        ("reply, _ = handle(msg, None)\n    print(json.dumps(reply))", 1),
    ],
    ids=["thrown away", "list", "all thrown away", "kept in an object", "written as it is"],
)
def test_a_caller_that_takes_the_tuple_apart_is_understood(use: str, untested: int) -> None:
    found = hook(packing("    return None, None", loop=f"for line in sys.stdin:\n    msg = json.loads(line)\n    {use}\n"))
    assert len(found.untested) == untested


STORE = "\nSESSIONS = {}\ndef opened():\n    session = uuid.uuid4().hex\n    SESSIONS[session] = {'calls': 0}\n    return session\n"


@pytest.mark.parametrize(
    "opening",
    [
        "pass",
        "if session: SESSIONS[session]['calls'] += 1",
        "if session is not None: SESSIONS.pop(session, None)",
        "if session in SESSIONS: SESSIONS[session]['calls'] += 1",
    ],
    ids=["not used", "asked for", "not none", "looked for"],
)
def test_a_session_that_comes_with_the_replies_is_passed_by_where_none_is_needed(opening: str) -> None:
    server = packing(f"    return None, None\n{STORE}", opening).replace("), uuid.uuid4().hex\n    if", "), opened()\n    if")
    found = hook(server)
    assert (found.gates, found.spared) == ((), ())


def test_a_gate_for_a_session_that_comes_with_the_replies_is_opened() -> None:
    gate = "if method != 'initialize' and session is None: return {'jsonrpc': '2.0', 'id': rid, 'error': {'code': -32600}}, None"
    found = hook(packing("    return None, None", gate))
    assert [ast.unparse(one) for one in found.gates] == ["session is None"]


@pytest.mark.parametrize(
    ("opening", "why"),
    [
        ("calls = SESSIONS[session]['calls']", "needs a session"),
        ("if session: return ok(rid, {}), None", "whether this refuses requests without a session is not clear"),
        ("rid = rid if session else None", "whether this refuses requests without a session is not clear"),
    ],
    ids=["looked up", "answered with one only", "in an expression"],
)
def test_a_session_that_comes_with_the_replies_and_is_needed_is_refused(opening: str, why: str) -> None:
    server = packing(f"    return None, None\n{STORE}", opening).replace("), uuid.uuid4().hex\n    if", "), opened()\n    if")
    assert why in reason(server)


def test_a_session_that_the_loop_makes_itself_is_not_passed_by() -> None:
    loop = PAIR_LOOP.replace("self.session = None", "self.session = uuid.uuid4().hex")
    opening = "if session: SESSIONS[session]['calls'] += 1"
    server = packing(f"    return None, None\n{STORE}", opening, loop).replace("), uuid.uuid4().hex\n    if", "), opened()\n    if")
    assert "the handshake sets `SESSIONS[session]`" in reason(server)


# -- what an object says of itself ---------------------------------------------------------------


def named(start: str, opening: str, made: str) -> str:
    return f"""
import json, sys
class Server:
    def __init__(self, name="s"):
        {start}
    def handle(self, msg):
        method, rid = msg.get("method"), msg.get("id")
        if method == "initialize":
            {opening}
            return {{"jsonrpc": "2.0", "id": rid, "result": {{"protocolVersion": "2025-06-18", "capabilities": {{}},
                "serverInfo": {{"name": self.name, "version": "1"}}}}}}
        if method == "tools/list":
            return {{"jsonrpc": "2.0", "id": rid, "result": {{"tools": []}}}}
        return None
def serve(server):
    for line in sys.stdin:
        reply = server.handle(json.loads(line))
        if reply is not None:
            print(json.dumps(reply), flush=True)
{made}
"""


@pytest.mark.parametrize(
    ("start", "opening", "made", "why"),
    [
        ("pass", "self.name = 's'", "serve(Server())", "does not exist before the handshake"),
        ("self.name = name", "pass", "ALL = [Server(n) for n in 'ab']\nserve(ALL[0])", "several objects of `Server`"),
        ("self.name = name", "pass", "A = Server('a')\nB = Server('b')\nserve(A)", "several objects of `Server`"),
    ],
    ids=["made in the handshake", "in a loop", "two"],
)
def test_an_object_speaks_for_the_server_only_if_there_is_one_and_it_knows_all(start: str, opening: str, made: str, why: str) -> None:
    assert why in reason(named(start, opening, made))


def test_objects_of_two_branches_are_one() -> None:
    made = "if sys.argv[1:]:\n    SERVER = Server('a')\nelse:\n    SERVER = Server('b')\nserve(SERVER)"
    assert hook(named("self.name = name", "pass", made)).identity.info.needs is Needs.INSTANCE


def test_what_all_objects_of_another_module_say_of_themselves_is_spelled_out() -> None:
    protocol = (
        "class Protocol:\n    def __init__(self):\n        self.info = {'name': 's', 'version': '1'}\n"
        "    def greet(self):\n        return {'protocolVersion': 'x', 'capabilities': {}, 'serverInfo': self.info}\n"
    )
    server = "from protocol import Protocol\n\ndef greet(protocol: Protocol):\n    return protocol.greet()\n"
    code = Code(Files({"server": server, "protocol": protocol}))
    found = identity(code, code.reachable(place(code, "greet")), place(code, "greet"))
    assert isinstance(found, Identity)
    assert found.info.needs is Needs.IMPORT


def filled(text: str) -> str:
    made = named("self.name, self.title, self.extra = name, None, None", text, "serve(Server())")
    return made.replace('"serverInfo": {"name": self.name, "version": "1"}', '"serverInfo": info')


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("info = {'name': self.name, 'version': '1'}; info['title'] = 't'", 2),
        ("info = {'name': self.name, 'version': '1'}\n            if self.extra:\n                info.update(self.extra)", 2),
        ("info = {'name': self.name}\n            if self.title: info['title'] = self.title\n            info['version'] = '1'", 3),
        ("info = {'name': self.name}\n            if self.title: info['title'] = 't'\n            else: info['name'] = 'u'", 2),
        ("info = {'name': self.name}\n            for key in self.extra: info[key] = 1", 2),
    ],
    ids=["an entry", "another dict", "two, one if it is there", "one of two", "in a loop"],
)
def test_an_identity_that_is_put_together_is_read(text: str, steps: int) -> None:
    info = hook(filled(text)).identity.info
    assert info.needs is Needs.INSTANCE
    assert len(tuple(info.spelling.statements())) == steps


@pytest.mark.parametrize(
    "text",
    [
        "info = {'name': self.name}; info['asked'] = msg['params']",
        "info = {'name': self.name}; info['title'] = 't'; print(info, file=sys.stderr)",
        "info = {'name': self.name}\n            while not self.extra: info['title'] = self.extra = 't'",
    ],
    ids=["of the request", "handed on", "until something happens"],
)
def test_an_identity_that_is_put_together_out_of_sight_is_refused(text: str) -> None:
    assert "cannot be known before the request" in reason(filled(text))


@pytest.mark.parametrize("change", ["info['name'] = 'u'", "info.update(self.extra)", "for key in self.extra: info[key] = 1"])
def test_an_identity_that_is_changed_behind_the_answer_is_refused(change: str) -> None:
    kept = filled("info = {'name': self.name}\n            info['version'] = '1'").replace('return {"jsonrpc"', 'said = {"jsonrpc"', 1)
    changed = kept.replace('"serverInfo": info}}', f'"serverInfo": info}}}}\n            {change}\n            return said', 1)
    assert "cannot be known before the request" in reason(changed)


def test_an_answer_that_is_changed_later_is_not_taken_over() -> None:
    changed = body("    return None\n").replace(
        f'return {{"jsonrpc": "2.0", "id": rid, "result": {IDENTITY}}}',
        f"result = {IDENTITY}\n        result['capabilities']['prompts'] = {{}}\n        return {{'jsonrpc': '2.0', 'id': rid, 'result': result}}",
    )
    assert "changed after it was written down" in reason(changed + LOOP)


def test_instructions_that_are_added_to_the_answer_belong_to_it() -> None:
    added = body("    return None\n").replace(
        f'return {{"jsonrpc": "2.0", "id": rid, "result": {IDENTITY}}}',
        f"result = {IDENTITY}\n        if HELP:\n            result['instructions'] = HELP\n"
        "        return {'jsonrpc': '2.0', 'id': rid, 'result': result}",
    )
    found = hook("HELP = 'read me'\n" + added + LOOP)
    assert found.identity.instructions is not None
    assert found.identity.instructions.names == {"HELP"}


# -- replies that leave beside the boundary ------------------------------------------------


WORKER = """
import queue, threading
JOBS = queue.Queue()
def call(rid):
    return {"jsonrpc": "2.0", "id": rid, "result": {}}
def work():
    while True:
        EMIT
threading.Thread(target=work).start()
"""


@pytest.mark.parametrize(
    "emit", ["print(json.dumps(call(JOBS.get())))", "JOBS.put(call(JOBS.get()))", 'print(\'{"jsonrpc": "2.0", "id": %d}\' % 1)']
)
def test_a_reply_that_a_worker_makes_is_refused(emit: str) -> None:
    assert isinstance(answers(body("    return None\n") + LOOP + WORKER.replace("EMIT", emit))[0], Blocker)


def test_a_finished_reply_may_be_written_by_a_worker() -> None:
    loop = "import json, sys\nfor line in sys.stdin:\n    reply = handle(json.loads(line))\n    if reply is not None:\n        JOBS.put(reply)\n"
    assert hook(body("    return None\n") + WORKER.replace("EMIT", "print(json.dumps(JOBS.get()))") + loop).strategy is Strategy.DECORATOR


@pytest.mark.parametrize(
    "start",
    [
        "POOL.submit(lambda: ok(rid, {}))",
        "POOL.submit(done, rid)",
        "threading.Thread(target=functools.partial(ok, rid, {})).start()",
        "POOL.submit(compute).add_done_callback(done)",
        "loop.call_soon_threadsafe(done, rid)",
        "spawn(lambda: ok(rid, {}))",
    ],
)
def test_a_reply_that_is_written_in_another_context_is_refused(start: str) -> None:
    text = f"""
def done(rid):
    ok(rid, {{}})

def spawn(work):
    threading.Thread(target=work).start()

def handle(msg):
    rid = msg["id"]
    if msg["method"] == "initialize":
        ok(rid, {IDENTITY})
    elif msg["method"] == "tools/list":
        {start}

for line in sys.stdin:
    handle(json.loads(line))
"""
    assert reason(WRITER + text) == "replies are written by another thread or callback, which does not know the request"


def test_a_reply_of_a_thread_class_is_refused() -> None:
    job = "import threading\nclass Job(threading.Thread):\n    def run(self):\n        ok(self.rid, {})\n"
    assert reason(WRITER + job + WRITES) == "a reply is written here, outside of the dispatcher"


def test_a_progress_notification_may_leave_in_a_thread() -> None:
    note = "write({'jsonrpc': '2.0', 'method': 'notifications/progress', 'params': {}})"
    text = WRITES.replace(
        '        ok(msg["id"], {"tools": []})', f'        Thread(target=lambda: {note}).start()\n        ok(msg["id"], {{"tools": []}})'
    )
    assert hook(WRITER + text).strategy is Strategy.SENDER


@pytest.mark.parametrize(
    "write",
    [
        "sys.stdout.write(json.JSONEncoder().encode(reply))",
        "print(ENCODER.encode(reply), flush=True)",
        "out(encode(reply))",
    ],
)
def test_replies_are_seen_however_they_are_serialised(write: str) -> None:
    names = "import json, sys\nENCODER = json.JSONEncoder()\nencode = json.JSONEncoder().encode\nout = sys.stdout.write\n"
    ending = f"    reply = {{'jsonrpc': '2.0', 'id': rid, 'result': {{}}}}\n    {write}\n    return None\n"
    assert reason(names + body(ending) + LOOP) == "replies are returned, but this one is written directly"


@pytest.mark.parametrize("log", ["LOG.write(json.dumps(message))", "print(json.dumps(message), file=LOG)"])
def test_a_log_file_is_no_client(log: str) -> None:
    writer = WRITER.replace("def write(message):\n", f"LOG = open('log', 'a')\ndef write(message):\n    {log}\n")
    found = hook(writer + WRITES)
    assert found.strategy is Strategy.SENDER
    assert [ast.unparse(e.stream) for e in found.outgoing if e.stream] == ["sys.stdout"]


def test_a_writer_that_writes_twice_is_refused() -> None:
    writer = WRITER.replace("def write(message):\n", "def write(message):\n    sys.stdout.write(json.dumps(message))\n")
    assert reason(writer + WRITES) == "`write` writes its message more than once"


def test_a_writer_for_several_streams_is_refused() -> None:
    text = f"""
import json, sys
def write(stream, message):
    stream.write(json.dumps(message))

def handle(msg):
    if msg["method"] == "initialize":
        write(sys.stdout, {{"jsonrpc": "2.0", "id": msg["id"], "result": {IDENTITY}}})
    elif msg["method"] == "tools/list":
        write(CHILD.stdin, msg)
        write(sys.stdout, {{"jsonrpc": "2.0", "id": msg["id"], "result": {{}}}})

for line in sys.stdin:
    handle(json.loads(line))
"""
    assert isinstance(answers(text)[0], Blocker)


# -- decorators and callers that change a reply ------------------------------------------------


DECORATORS = """
import functools
def timed(function):
    @functools.wraps(function)
    def inner(*args):
        reply = function(*args)
        LINE
        return reply
    return inner
"""


def test_a_helper_under_a_decorator_proves_what_the_decorator_leaves() -> None:
    helper = "@timed\ndef ok(rid):\n    return {'jsonrpc': '2.0', 'id': rid, 'result': {}}\n"
    ending = "    return ok(rid)\n"
    assert hook(DECORATORS.replace("LINE", "print(1)") + helper + body(ending) + LOOP).strategy is Strategy.DECORATOR
    changed = reason(DECORATORS.replace("LINE", "reply['more'] = 1") + helper + body(ending) + LOOP)
    assert changed == "`handle` does not surely return a JSON-RPC reply or None: `@timed` may change what `ok` returns"


@pytest.mark.parametrize(
    "line",
    [
        "reply['result'] = {}",
        "reply['result'].update(done=True)",
        "reply = error(line)",
        "reply = {**reply, 'result': {}}",
        "print(json.dumps(tidy(reply)))",
    ],
)
def test_a_reply_that_its_caller_changes_is_refused(line: str) -> None:
    helpers = "def error(line):\n    return {'jsonrpc': '2.0', 'id': 1, 'error': {}}\ndef tidy(reply):\n    return {**reply}\n"
    loop = f"import json, sys\nfor line in sys.stdin:\n    reply = handle(json.loads(line))\n    if reply is not None:\n        {line}\n        print(json.dumps(reply))\n"
    assert isinstance(answers(helpers + body("    return None\n") + loop)[0], Blocker)


@pytest.mark.parametrize("line", ["reply['id'] = 1", "if 'error' in reply:\n            log(reply)", "count(reply)", "size = len(reply)"])
def test_a_reply_may_be_looked_at(line: str) -> None:
    helpers = "def count(reply):\n    return 1\n"
    loop = f"import json, sys\nfor line in sys.stdin:\n    reply = handle(json.loads(line))\n    if reply is not None:\n        {line}\n        print(json.dumps(reply))\n"
    assert hook(helpers + body("    return None\n") + loop).untested == ()


@pytest.mark.parametrize(("code", "wired"), [("error.code", False), ("-32603", True)])
def test_a_retired_code_that_is_raised_through_the_boundary_is_refused(code: str, wired: bool) -> None:
    loop = f"""
import json, sys
for line in sys.stdin:
    try:
        reply = handle(json.loads(line))
    except RpcError as error:
        reply = {{"jsonrpc": "2.0", "id": 1, "error": {{"code": {code}}}}}
    if reply is not None:
        print(json.dumps(reply))
"""
    found = answers(body("    raise RpcError(-32002)\n") + loop)
    assert isinstance(found[0], Hook) is wired


# -- callers and None ----------------------------------------------------------------------------


@pytest.mark.parametrize("test", ["'error' in reply", "reply['id'] is not None", "reply.get('id') and reply"])
def test_a_question_that_fails_for_none_is_no_test(test: str) -> None:
    loop = f"import json, sys\nfor line in sys.stdin:\n    reply = handle(json.loads(line))\n    if {test}:\n        print(json.dumps(reply))\n"
    assert len(hook(body("    return {'jsonrpc': '2.0', 'id': rid, 'error': {}}\n") + loop).untested) == 1


@pytest.mark.parametrize("leave", ["break", "sys.exit(0)", "raise SystemExit"])
def test_a_loop_that_none_ends_is_refused(leave: str) -> None:
    loop = f"import json, sys\nfor line in sys.stdin:\n    reply = handle(json.loads(line))\n    if reply is None:\n        {leave}\n    print(json.dumps(reply))\n"
    assert reason(body("    return None\n") + loop) == "reading ends here when `handle` returns None"


def test_a_list_that_is_filled_is_not_made_up() -> None:
    loop = "import json, sys\nwaiting = []\nfor line in sys.stdin:\n    waiting.append(json.loads(line))\nfor one in waiting:\n    print(json.dumps(handle(one)))\n"
    assert len(hook(body("    return {'jsonrpc': '2.0', 'id': rid, 'error': {}}\n") + loop).untested) == 1


@pytest.mark.parametrize(
    "write",
    ["print(json.dumps({}))", "out = json.dumps({})\n    sys.stdout.write(out)", "print(\n        json.dumps({}),\n        flush=True)"],
)
def test_helpers_that_build_and_write_a_reply_carry_the_early_one(write: str) -> None:
    helper = "import json, sys\ndef ok(rid, result):\n    " + write.replace("{}", "{'jsonrpc': '2.0', 'id': rid, 'result': result}") + "\n"
    assert hook(helper + WRITES).strategy is Strategy.SPLIT


def test_a_writer_whose_dispatcher_flushes_for_it_is_not_called_alone() -> None:
    writer = "import json, sys\ndef write(m):\n    print(json.dumps(m))\n\ndef ok(rid, result):\n    write({'jsonrpc': '2.0', 'id': rid, 'result': result})\n"
    flushes = WRITES.replace("\nfor line", "    sys.stdout.flush()\n\nfor line")
    assert (hook(writer + WRITES).strategy, hook(writer + flushes).strategy) == (Strategy.SENDER, Strategy.SPLIT)


# -- a dispatcher that is handed on ---------------------------------------------------------

HANDED = "import json, sys\n" + body("    return None\n")
SERVE = """
def serve(react):
    for line in sys.stdin:
        reply = react(json.loads(line))
        if reply is not None:
            print(json.dumps(reply), flush=True)
"""
KEPT = """
class Loop:
    def __init__(self, react):
        self.react = react
    def serve(self):
        for line in sys.stdin:
            reply = self.react(json.loads(line))
            if reply is not None:
                print(json.dumps(reply), flush=True)
"""


@pytest.mark.parametrize(
    "loop",
    [
        SERVE + "serve(handle)\n",
        SERVE + "serve(react=handle)\n",
        SERVE + "serve(lambda msg: handle(msg))\n",
        SERVE + "from functools import partial\nserve(partial(handle))\n",
        KEPT + "Loop(handle).serve()\n",
    ],
    ids=["parameter", "keyword", "lambda", "partial", "attribute"],
)
def test_a_loop_that_is_handed_its_dispatcher_is_looked_at(loop: str) -> None:
    found = hook(HANDED + loop)
    assert (found.strategy, found.place.name) == (Strategy.DECORATOR, "handle")


@pytest.mark.parametrize(
    "hand_on", ["serve(handle)", "serve(lambda msg: handle(msg))", "Loop(handle).serve()"], ids=["name", "lambda", "kept"]
)
@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            "        if reply is not None:",
            "        reply['by'] = 'me'\n        if reply is not None:",
            "is changed here before it is written",
        ),
        ("react(json.loads(line))", "react({**json.loads(line), 'params': {}})", "the message is made anew"),
        ("if reply is not None", "if reply is None:\n            break\n        if reply", "reading ends here"),
    ],
    ids=["reply changed", "message changed", "ends"],
)
def test_what_a_loop_does_with_the_dispatcher_that_it_was_handed_is_told(hand_on: str, old: str, new: str, why: str) -> None:
    loop = KEPT if "Loop" in hand_on else SERVE
    new = new.replace("\n    ", "\n        ") if loop is KEPT else new
    assert why in reason(HANDED + loop.replace(old, new) + hand_on + "\n")


@pytest.mark.parametrize("hand_on", ["serve(handle)", "serve(lambda msg, session: handle(msg, session))"], ids=["name", "lambda"])
def test_a_loop_that_is_handed_a_dispatcher_which_returns_tuples_is_looked_at(hand_on: str) -> None:
    loop = """
def serve(react):
    session = None
    for line in sys.stdin:
        reply, session = react(json.loads(line), session)
        print(json.dumps(reply), flush=True)
"""
    found = hook(packing("    return None, None", loop=f"{loop}{hand_on}\n"))
    assert found.packed is not None
    assert len(found.untested) == 1
    whole = loop.replace("reply, session = react", "reply = react")
    assert "what becomes of the tuple" in reason(packing("    return None, None", loop=f"{whole}{hand_on}\n"))


def test_a_lambda_that_changes_the_reply_is_told() -> None:
    wrap = "def wrap(reply):\n    return {**reply, 'by': 'me'}\n"
    assert "is changed here before it is written" in reason(HANDED + SERVE + wrap + "serve(lambda msg: wrap(handle(msg)))\n")


def test_a_parameter_that_is_used_again_for_a_text_stays_the_message() -> None:
    server = "    try:\n        work()\n    except OSError as e:\n        msg = str(e)\n        return {'jsonrpc': '2.0', 'id': rid, 'error': {'code': 1, 'message': msg}}\n"
    assert hook(body(server) + LOOP).strategy is Strategy.DECORATOR
    assert "given another value" in reason(body("    msg = msg['inner']\n    return None\n") + LOOP)
