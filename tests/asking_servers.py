"""Small legacy stdio servers that ask their client, each in another way; and the hooks that a wired server has besides."""

from __future__ import annotations

_SYNC = '''"""A shelf whose items are wiped only after the user has agreed."""
import concurrent.futures
import itertools
import json
import queue
import sys
import threading

# <define>
ITEMS = {"a": "first", "b": "second"}
CAPABILITIES = {}
LOCK = threading.Lock()


class RpcError(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def write(message):
    with LOCK:
        print(json.dumps(message), flush=True)


%(ask)s

def wipe(name):
    if "elicitation" not in CAPABILITIES:
        raise RpcError(-32600, "this client cannot be asked")
    %(consent)s
    if agreed:
        del ITEMS[name]
    return "wiped" if agreed else "kept"


def call(name, arguments):
    if name == "wipe":
        return wipe(arguments["name"])
    if name == "items":
        return ",".join(sorted(ITEMS))
    raise RpcError(-32602, "unknown tool: " + name)


# <boundary>
def handle(message):
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message:
        return None
    try:
        if method == "initialize":
            CAPABILITIES.update(params.get("capabilities") or {})
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "shelf", "version": "1"}}
        elif method == "ping":
            result = {}
        elif method == "tools/call":
            text = call(params["name"], params.get("arguments") or {})
            result = {"content": [{"type": "text", "text": text}]}
        else:
            raise RpcError(-32601, "no such method")
    except RpcError as e:
        return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": e.code, "message": str(e)}}
    except Exception as e:
        return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32603, "message": repr(e)}}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def work(message):
    reply = handle(message)
    if reply is not None:
        write(reply)


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if "method" not in message:
            %(deliver)s
            continue
        %(start)s


main()
'''

FORM = '{"message": f"Wipe {name}?", "requestedSchema": {"type": "object", "properties": {"ok": {"type": "boolean"}}}}'
CONSENT = f'answer = ask("elicitation/create", {FORM})\n    agreed = answer["action"] == "accept"'
_THREAD = "threading.Thread(target=work, args=(message,), daemon=True).start()"


def _sync(ask: str, deliver: str = "deliver(message)", consent: str = CONSENT, start: str = _THREAD) -> str:
    return _SYNC % {"ask": ask, "deliver": deliver, "consent": consent, "start": start}


EVENT_AND_SLOT = _sync("""WAITING = {}
COUNTER = itertools.count(1)


def ask(method, params):
    request_id = f"ask-{next(COUNTER)}"
    event, slot = threading.Event(), {}
    WAITING[request_id] = (event, slot)
    write({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
    try:
        if not event.wait(20):
            raise RpcError(-32603, "no answer")
    finally:
        WAITING.pop(request_id, None)
    reply = slot["reply"]
    if "error" in reply:
        raise RpcError(reply["error"]["code"], reply["error"]["message"])
    return reply["result"]


def deliver(message):
    entry = WAITING.get(message.get("id"))
    if entry is None:
        return
    event, slot = entry
    slot["reply"] = message
    event.set()

""")

QUEUE_PER_REQUEST = _sync("""PENDING = {}
COUNTER = itertools.count(1)


def ask(method, params=None):
    box = queue.Queue(1)
    request_id = next(COUNTER)
    PENDING[request_id] = box
    message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    if params:
        message["params"] = params
    write(message)
    return box.get(timeout=20)


def deliver(message):
    if message.get("id") in PENDING:
        PENDING.pop(message["id"]).put(message.get("result") or {})

""")

CONCURRENT_FUTURE = _sync(
    """class Asker:
    def __init__(self):
        self.futures = {}
        self.number = 0

    def request(self, method, params):
        self.number += 1
        future = concurrent.futures.Future()
        self.futures[self.number] = future
        write(dict(jsonrpc="2.0", id=self.number, method=method, params=params))
        return future.result(timeout=20)

    def deliver(self, message):
        future = self.futures.pop(message["id"])
        if "error" in message:
            future.set_exception(RpcError(message["error"]["code"], message["error"]["message"]))
        else:
            future.set_result(message["result"])


ASKER = Asker()


def ask(method, params):
    return ASKER.request(method, params)

""",
    deliver="ASKER.deliver(message)",
)

READS_UNTIL_ANSWERED = _sync(
    """def ask(method, params):
    request_id = "q1"
    write({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
    while True:
        message = json.loads(sys.stdin.readline())
        if message.get("id") == request_id and "method" not in message:
            if "error" in message:
                raise RpcError(-32603, "the client failed")
            return message["result"]

""",
    deliver="pass",
    start="work(message)",
)

ONE_AT_A_TIME = _sync("""ANSWERED = threading.Event()
ANSWER = None


def ask(method, params):
    write({"jsonrpc": "2.0", "id": "only", "method": method, "params": params})
    ANSWERED.wait(20)
    ANSWERED.clear()
    return ANSWER


def deliver(message):
    global ANSWER
    ANSWER = message["result"]
    ANSWERED.set()

""")

WHOLE_MESSAGE = _sync(
    """PENDING = {}


def ask(method, params):
    box = queue.Queue()
    PENDING["w"] = {"box": box}
    write({"jsonrpc": "2.0", "id": "w", "method": method, "params": params})
    return box.get(timeout=20)


def deliver(message):
    entry = PENDING.get(message["id"])
    if entry:
        entry["box"].put(message)

""",
    consent=f'''reply = ask("elicitation/create", {FORM})
    if "error" in reply:
        raise RpcError(-32603, "no answer")
    agreed = reply["result"]["action"] == "accept"''',
)

MAKES_A_BOOL = _sync(
    """PENDING = {}
COUNTER = itertools.count(1)


def confirm(text):
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}},
    }
    request_id = f"c{next(COUNTER)}"
    done = threading.Event()
    PENDING[request_id] = done
    write({
        "jsonrpc": "2.0",
        "id": request_id,
        "method": "elicitation/create",
        "params": {
            "message": text,
            "requestedSchema": schema,
        },
    })
    if not done.wait(20):
        raise RpcError(-32603, "nobody answered")
    reply = ANSWERS.pop(request_id)
    if "error" in reply:
        return False
    answer = reply["result"]
    return answer["action"] == "accept"


ANSWERS = {}


def deliver(message):
    done = PENDING.pop(message["id"], None)
    if done is not None:
        ANSWERS[message["id"]] = message
        done.set()

""",
    consent='agreed = confirm(f"Wipe {name}?")',
)

MAKES_A_BOOL_AT_ONCE = _sync(
    """PENDING = {}


def confirm(text):
    box = queue.Queue()
    PENDING["n"] = box
    write({"jsonrpc": "2.0", "id": "n", "method": "elicitation/create", "params": {"message": text, "requestedSchema": {"type": "object"}}})
    return box.get(timeout=20)["action"] == "accept"


def deliver(message):
    PENDING.pop(message["id"]).put(message["result"])

""",
    consent='agreed = confirm(f"Wipe {name}?")',
)

ASYNC_CLASS = '''"""The same shelf, asyncio."""
import asyncio
import json
import sys
from itertools import count

# <define>


class RpcError(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def write(message):
    print(json.dumps(message), flush=True)


class Shelf:
    def __init__(self):
        self.items = {"a": "first", "b": "second"}
        self.client = {}
        self.waiting: dict[str, asyncio.Future] = {}
        self.ids = count(1)
        self.table = {"initialize": self.initialize, "ping": self.ping, "tools/call": self.call}

    async def initialize(self, params):
        self.client = params.get("capabilities", {})
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "shelf", "version": "1"}}

    async def ping(self, params):
        return {}

    async def call(self, params):
        name, arguments = params["name"], params.get("arguments", {})
        if name == "items":
            return self.text(",".join(sorted(self.items)))
        if name == "wipe":
            if not self.can("elicitation"):
                raise RpcError(-32600, "this client cannot be asked")
            answer = await self.ask("elicitation/create", {
                "message": f"Wipe {arguments['name']}?",
                "requestedSchema": {"type": "object", "properties": {"ok": {"type": "boolean"}}},
            })
            if answer["action"] != "accept":
                return self.text("kept")
            del self.items[arguments["name"]]
            return self.text("wiped")
        if name == "both":
            words = await self.ask("sampling/createMessage", {"messages": [], "maxTokens": 5})
            roots = await self.ask("roots/list")
            return self.text(words["content"]["text"] + " in " + roots["roots"][0]["uri"])
        raise RpcError(-32602, "unknown tool: " + name)

    @staticmethod
    def text(text):
        return {"content": [{"type": "text", "text": text}]}

    def can(self, name):
        return name in self.client

    async def ask(self, method, params=None):
        number = f"s{next(self.ids)}"
        future = asyncio.get_running_loop().create_future()
        self.waiting[number] = future
        write({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})
        try:
            return await asyncio.wait_for(future, 20)
        finally:
            del self.waiting[number]

    # <boundary>
    async def handle(self, message):
        if "method" not in message:
            future = self.waiting.get(message.get("id"))
            if future is not None and not future.done():
                future.set_result(message.get("result", {}))
            return None
        if "id" not in message:
            return None
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            if message["method"] not in self.table:
                raise RpcError(-32601, "no such method")
            reply["result"] = await self.table[message["method"]](message.get("params") or {})
        except RpcError as e:
            reply["error"] = {"code": e.code, "message": str(e)}
        except Exception as e:
            reply["error"] = {"code": -32603, "message": repr(e)}
        return reply

    async def work(self, message):
        reply = await self.handle(message)
        if reply is not None:
            write(reply)

    async def run(self):
        loop = asyncio.get_running_loop()
        tasks = set()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            task = asyncio.create_task(self.work(json.loads(line)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)


asyncio.run(Shelf().run())
'''

SERVERS = {
    "event and slot": EVENT_AND_SLOT,
    "queue per request": QUEUE_PER_REQUEST,
    "concurrent future": CONCURRENT_FUTURE,
    "reads until answered": READS_UNTIL_ANSWERED,
    "one at a time": ONE_AT_A_TIME,
    "whole message": WHOLE_MESSAGE,
    "makes a bool": MAKES_A_BOOL,
    "makes a bool at once": MAKES_A_BOOL_AT_ONCE,
    "async class": ASYNC_CLASS,
}
BOUNDARIES = frozenset({"handle", "Shelf.handle"})


def hooked(text: str, *, legacy: bool) -> str:
    """The server with the two hooks that go with a plan."""
    made = f'MCP = Stateless({{"name": "shelf", "version": "1"}}, {{"tools": {{}}, "logging": {{}}}}, legacy={legacy})'
    return (
        text.replace("# <define>\n", f"from mcp_stateless import Stateless\n\n{made}\n", 1)
        .replace("# <boundary>", "@MCP.boundary")
        .replace("    print(json.dumps(message), flush=True)", "    for part in MCP.outgoing(message): print(json.dumps(part), flush=True)")
    )
