"""What a server keeps of its client (capabilities, log level, subscriptions), and what it does around a question."""

from __future__ import annotations

import ast

import pytest
from mcp_migrate.facts.asking import asking
from mcp_migrate.facts.consent import openings
from mcp_migrate.facts.effects import work
from mcp_migrate.facts.functions import read
from mcp_migrate.rewrite import edits
from mcp_migrate.rewrite.asking import Blocker, Plan, elsewhere, plan
from mcp_migrate.rewrite.module import Part
from mcp_migrate.rewrite.tree import Tree
from mcp_migrate.rule import Era
from mcp_migrate.source import Source

ASK = """
import queue
PENDING = {}
def ask(method, params):
    box = queue.Queue()
    PENDING[1] = box
    write({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    return box.get()
def deliver(message):
    PENDING.pop(message["id"]).put(message["result"])
def clean(name):
    agreed = ask("elicitation/create", {"message": name})["action"] == "accept"
    return agreed and summarize(name)
def summarize(name):
    return ask("sampling/createMessage", {"messages": [name]})["content"]
"""
KEPT = """
def initialize(params):
    global caps, can_ask
    caps = params.get("capabilities") or {}
    can_ask = bool(params["capabilities"].get("elicitation"))
"""
LEVELS = 'LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]\n'
SET_LEVEL = """
level = "info"
def handle(method, params):
    global level
    if method == "logging/setLevel":
        level = params["level"]
"""
SUBSCRIBE = """
def handle(method, params):
    if method == "resources/subscribe":
        SUBSCRIBED.add(params["uri"])
    elif method == "resources/unsubscribe":
        SUBSCRIBED.discard(params["uri"])
def changed(uri):
    if uri in SUBSCRIBED:
        notify("notifications/resources/updated", {"uri": uri})
"""


def planned(text: str, era: Era = Era.DUAL) -> Plan | Blocker:
    source = Source("server.py", text)
    return plan(read(source, ast.parse(text)), Tree(source), era=era)


def rewritten(text: str, era: Era = Era.DUAL) -> str:
    found = planned(text, era)
    assert isinstance(found, Plan), found
    after = edits.apply(text.encode(), found.edits).decode()
    ast.parse(after)
    return after


@pytest.mark.parametrize(
    ("before", "dual", "modern"),
    [
        (
            'if "elicitation" not in caps:\n        raise Refuse()\n    return clean(name)',
            'if not MCP.modern and "elicitation" not in caps:\n        raise Refuse()\n    return clean(name)',
            "return clean(name)",
        ),
        (
            'if not caps.get("elicitation"):\n        return error(-32600, "no")\n    return clean(name)',
            'if not MCP.modern and not caps.get("elicitation"):\n        return error(-32600, "no")\n    return clean(name)',
            "return clean(name)",
        ),
        (
            'if caps.get("elicitation") is None or not name:\n        raise Refuse()\n    return clean(name)',
            'if (not MCP.modern and caps.get("elicitation") is None) or not name:\n        raise Refuse()\n    return clean(name)',
            "if not MCP.modern or not name:\n        raise Refuse()\n    return clean(name)",
        ),
        (
            'if "elicitation" in caps:\n        return clean(name)\n    raise Refuse()',
            'if MCP.modern or "elicitation" in caps:\n        return clean(name)\n    raise Refuse()',
            "if MCP.modern:\n        return clean(name)\n    raise Refuse()",
        ),
        (
            "if not can_ask:\n        raise Refuse()\n    return clean(name)",
            "if not MCP.modern and not can_ask:\n        raise Refuse()\n    return clean(name)",
            "return clean(name)",
        ),
        (
            'if "sampling" not in caps:\n        return name[:9]\n    return summarize(name)',
            'if "sampling" not in MCP.client_capabilities(caps):\n        return name[:9]\n    return summarize(name)',
            'if "sampling" not in MCP.client_capabilities({}):\n        return name[:9]\n    return summarize(name)',
        ),
        (
            'return summarize(name) if (caps or {}).get("sampling") else name',
            'return summarize(name) if (MCP.client_capabilities(caps) or {}).get("sampling") else name',
            'return summarize(name) if (MCP.client_capabilities({}) or {}).get("sampling") else name',
        ),
        (
            "return can_ask",
            'return ("elicitation" in MCP.client_capabilities({}) if MCP.modern else can_ask)',
            'return ("elicitation" in MCP.client_capabilities({}))',
        ),
        (
            'known = caps or {}\n    if "elicitation" not in known:\n        raise Refuse()\n    return clean(name)',
            "known = MCP.client_capabilities(caps) or {}\n"
            '    if not MCP.modern and "elicitation" not in known:\n        raise Refuse()\n    return clean(name)',
            "known = MCP.client_capabilities({}) or {}\n    return clean(name)",
        ),
    ],
    ids=["not in", "error reply", "or", "in", "flag", "does without", "conditional", "flag read", "local name"],
)
def test_stored_capabilities_are_those_of_the_request(before: str, dual: str, modern: str) -> None:
    tool = "def tool(name):\n    "
    assert tool + dual in rewritten(ASK + KEPT + tool + before + "\n")
    assert tool + modern in rewritten(ASK + KEPT + tool + before + "\n", Era.MODERN)


def test_a_helper_that_requires_a_capability_refuses_old_clients_only() -> None:
    helper = 'def require(name):\n    if name not in caps:\n        raise Refuse()\ndef tool(name):\n    require("elicitation")\n    return clean(name)\n'
    assert "    if not MCP.modern and name not in caps:\n" in rewritten(ASK + KEPT + helper)


def test_a_helper_that_is_used_without_a_question_refuses_as_before() -> None:
    helper = 'def require(name):\n    if name not in caps:\n        raise Refuse()\ndef tool(name):\n    require("elicitation")\n'
    assert "    if name not in MCP.client_capabilities(caps):\n" in rewritten(ASK + KEPT + helper)


@pytest.mark.parametrize(
    ("before", "dual", "modern"),
    [
        (
            LEVELS + "def log(at, text):\n    if LEVELS.index(at) >= LEVELS.index(level):\n        send(text)\n",
            "    if LEVELS.index(at) >= LEVELS.index(MCP.log_level(level)):\n",
            '    if LEVELS.index(at) >= LEVELS.index(MCP.log_level("info")):\n',
        ),
        (
            "from levels import LEVELS\ndef log(at, text):\n    if LEVELS[at] >= LEVELS[level]:\n        send(text)\n",
            "    if MCP.modern or LEVELS[at] >= LEVELS[level]:\n        send(text)\n",
            "def log(at, text):\n    send(text)\n",
        ),
        (
            "from levels import LEVELS\ndef log(at, text):\n    if not LEVELS[at] >= LEVELS[level]:\n        return\n    send(text)\n",
            "    if not MCP.modern and not LEVELS[at] >= LEVELS[level]:\n        return\n    send(text)\n",
            "def log(at, text):\n    send(text)\n",
        ),
        (
            "from levels import LEVELS\ndef log(at, text):\n    least = LEVELS[level]\n    return LEVELS[at] >= least\n",
            '    least = LEVELS[("debug" if MCP.modern else level)]\n',
            '    least = LEVELS["debug"]\n',
        ),
    ],
    ids=["all levels ranked", "sends", "drops", "neither"],
)
def test_a_stored_level_is_that_of_the_request(before: str, dual: str, modern: str) -> None:
    assert dual in rewritten(SET_LEVEL + before)
    assert modern in rewritten(SET_LEVEL + before, Era.MODERN)


def test_a_level_kept_as_a_number_is_worked_out_again() -> None:
    text = SET_LEVEL.replace('params["level"]', 'LEVELS.index(params["level"])') + LEVELS + "def enough(at):\n    return at >= level\n"
    assert 'return at >= (LEVELS.index("debug") if MCP.modern else level)' in rewritten(text)


def test_a_level_of_something_else_is_left_alone() -> None:
    server = 'class Server:\n    def set_level(self, params):\n        """logging/setLevel"""\n        self.level = params["level"]\n'
    text = server.replace('"""logging/setLevel"""', 'self.seen("logging/setLevel")') + "def f(record):\n    return record.level\n"
    assert rewritten(text) == text


@pytest.mark.parametrize(
    ("made", "after", "before_offset"),
    [
        ("SUBSCRIBED = set()\n", "SUBSCRIBED = MCP.subscribed\n", 0),
        ("import a\nSUBSCRIBED: set[str] = set()\n", "import a\nSUBSCRIBED = MCP.subscribed\n", 9),
        ("import a\nSUBSCRIBED = set[str]()\n", "import a\nSUBSCRIBED = MCP.subscribed\n", 9),
    ],
    ids=["plain", "annotated", "subscripted"],
)
def test_the_set_of_subscriptions_is_shared(made: str, after: str, before_offset: int) -> None:
    found = planned(made + SUBSCRIBE)
    assert isinstance(found, Plan)
    assert (found.before, found.parts) == (before_offset, {Part.LISTEN})
    assert rewritten(made + SUBSCRIBE) == after + SUBSCRIBE


def test_subscriptions_in_another_collection_are_looked_up_in_both() -> None:
    text = "SUBSCRIBED = []\n" + SUBSCRIBE.replace(".add", ".append").replace(".discard", ".remove")
    assert "    if (uri in SUBSCRIBED or uri in MCP.subscribed):\n" in rewritten(text)


def test_subscriptions_that_are_replaced_by_a_new_set_are_looked_up_in_both() -> None:
    text = "SUBSCRIBED = set()\n" + SUBSCRIBE + "def reset():\n    global SUBSCRIBED\n    SUBSCRIBED = set()\n"
    after = rewritten(text)
    assert "MCP.subscribed)" in after
    assert "SUBSCRIBED = set()\n" in after


def test_subscriptions_by_client_block_the_plan() -> None:
    text = "SUBSCRIBED = {}\n" + SUBSCRIBE.replace("SUBSCRIBED.add", "SUBSCRIBED[CLIENT].add")
    assert isinstance(planned(text), Blocker)


def test_another_module_that_asks_or_keeps_a_level_is_named() -> None:
    def found(text: str) -> str:
        doubt = elsewhere(read(Source("tools.py", text), ast.parse(text)))
        return doubt.reason if doubt else ""

    assert "asks the client" in found(ASK)
    assert "has set" in found(LEVELS + SET_LEVEL + "def log(at):\n    return LEVELS.index(at) >= LEVELS.index(level)\n")
    assert found("def ask(method, params):\n    return method\n") == ""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("ITEMS[name] = 1\n    return clean(name)", ["`ITEMS[name]` is changed"]),
        ("del ITEMS[name]\n    return clean(name)", ["`ITEMS[name]` is changed"]),
        ("ITEMS.append(name)\n    return clean(name)", ["`ITEMS.append()` changes something"]),
        ('with open(name, "w") as f:\n        f.write("")\n    return clean(name)', ["a file is written"]),
        ("os.remove(name)\n    return clean(name)", ["`os.remove()` changes something"]),
        ("forget(name)\n    return clean(name)", ["`forget()` changes something"]),
        ("store.save_all(name)\n    return clean(name)", ["`store.save_all()` may change something"]),
        ("found = {}\n    found[name] = 1\n    found.update(a=1)\n    return clean(name)", []),
        ("if not name:\n        ITEMS[name] = 1\n        return None\n    return clean(name)", []),
        ("log(name)\n    title = ITEMS.get(name)\n    return clean(title)", []),
        ("agreed = clean(name)\n    ITEMS[name] = agreed", []),
    ],
    ids=["item", "delete", "list", "file", "os", "own function", "verb", "own dict", "other branch", "reading", "afterwards"],
)
def test_work_before_a_question_is_seen(body: str, expected: list[str]) -> None:
    text = ASK + "ITEMS = {}\ndef forget(name):\n    ITEMS.pop(name)\ndef tool(name):\n    " + body + "\n"
    found = asking(read(Source("s.py", text), ast.parse(text)))
    assert [effect.what for effect in work(found) if effect.function == "tool"] == expected


@pytest.mark.parametrize(
    ("handler", "opens"),
    [
        ("return True", True),
        ("pass\n    return True", False),
        ("return False", False),
        ("return Answer(go_ahead=True)", True),
        ('return {"action": "accept", "content": {}}', True),
        ('return {"action": "decline"}', False),
        ("raise ToolError from None", False),
        ('logger.warning("no form")\n        return True', True),
    ],
)
def test_a_session_that_cannot_ask_is_no_consent(handler: str, opens: bool) -> None:
    text = f"async def allowed(ctx):\n    try:\n        reply = await ctx.elicit('?', Answer)\n    except McpError:\n        {handler}\n"
    text += "    return reply.action == 'accept'\n"
    found = asking(read(Source("s.py", text), ast.parse(text)))
    assert bool(list(openings(found))) is opens


def test_a_session_that_does_without_sampling_is_fine() -> None:
    text = (
        "async def title(ctx):\n    try:\n        return await ctx.session.create_message([])\n    except McpError:\n        return True\n"
    )
    assert not list(openings(asking(read(Source("s.py", text), ast.parse(text)))))


OF_SESSION = """
import asyncio
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
SESSIONS = {}
class Session:
    def __init__(self, capabilities):
        self.capabilities = capabilities
        self.level = "info"
        self.waiting = {}
        self.asked = 0
class Call:
    def __init__(self, session, out):
        self.session, self.out = session, out
    async def log(self, level, text):
        if LEVELS.index(level) >= LEVELS.index(self.session.level):
            await self.out.put({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": level, "data": text}})
    async def ask(self, method, params):
        needed = method.split("/")[0]
        if needed not in self.session.capabilities:
            raise RpcError(-32600, "not supported")
        self.session.asked += 1
        number = f"ask-{self.session.asked}"
        future = asyncio.get_running_loop().create_future()
        self.session.waiting[number] = future
        await self.out.put({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        answer = await asyncio.wait_for(future, 60)
        if "error" in answer:
            raise RpcError(-32603, "failed")
        return answer["result"]
async def tool(call):
    if "sampling" in call.session.capabilities:
        return await call.ask("sampling/createMessage", {"messages": []})
    return await call.ask("roots/list", {})
async def perform(call, method, params):
    if method == "logging/setLevel":
        call.session.level = params["level"]
    return await tool(call)
async def post(request):
    message = await request.json()
    if message.get("method") == "initialize":
        session = Session(message["params"].get("capabilities") or {})
        SESSIONS["1"] = session
        return {}
    session = SESSIONS.get(request.headers["mcp-session-id"])
    if "method" not in message:
        future = session.waiting.get(message.get("id"))
        if future is not None:
            future.set_result(message)
        return None
    task = asyncio.create_task(perform(Call(session, request.out), message["method"], message["params"]))
    return await task
"""


def of_session(era: Era, *, tasks: bool = True) -> Plan | Blocker:
    source = Source("server.py", OF_SESSION)
    module, behind = read(source, ast.parse(OF_SESSION)), frozenset({"post"})
    return plan(module, Tree(source), era=era, boundary=behind, stdio=False, http=True, tasks=tasks)


def test_a_question_whose_answer_is_awaited_in_a_session_object_is_asked_without_one() -> None:
    found = of_session(Era.DUAL)
    assert isinstance(found, Plan), found
    text = edits.apply(OF_SESSION.encode(), found.edits).decode()
    assert "if not MCP.modern and needed not in self.session.capabilities:" in text
    assert "        if MCP.modern:\n            return MCP.ask(method, params)\n        self.session.asked += 1\n" in text
    assert found.parts == {Part.ASK, Part.CAPABILITIES, Part.LOGGING}


def test_what_a_session_object_keeps_is_not_looked_up_without_one() -> None:
    found = of_session(Era.DUAL)
    assert isinstance(found, Plan), found
    text = edits.apply(OF_SESSION.encode(), found.edits).decode()
    assert 'LEVELS.index(MCP.log_level("info") if MCP.modern else self.session.level)' in text
    assert 'if "sampling" in (MCP.client_capabilities({}) if MCP.modern else call.session.capabilities):' in text


def test_without_older_clients_nothing_of_the_session_object_is_left() -> None:
    found = of_session(Era.MODERN)
    assert isinstance(found, Plan), found
    text = edits.apply(OF_SESSION.encode(), found.edits).decode()
    assert "        return MCP.ask(method, params)\n" in text
    assert "-32600" not in text
    assert "set_result" not in text
    assert 'if "sampling" in MCP.client_capabilities({}):' in text


def test_a_task_of_its_own_is_for_boundaries_that_are_told_of_its_end() -> None:
    found = of_session(Era.DUAL, tasks=False)
    assert isinstance(found, Blocker)
    assert "would not reach the request" in found.reason


def test_subscriptions_of_clients_with_a_session_are_left_alone_over_http() -> None:
    text = SUBSCRIBE.replace("SUBSCRIBED.", 'session["uris"].')
    source = Source("server.py", text)
    found = plan(read(source, ast.parse(text)), Tree(source), era=Era.DUAL, stdio=False, http=True)
    assert isinstance(found, Plan), found
    assert found.parts == frozenset()
