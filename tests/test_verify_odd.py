"""`verify` of servers that are no servers: it tells what they do, in time, and leaves nothing running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from mcp_migrate.verify import messages, wire
from mcp_migrate.verify.proof import Wishes, verify
from mcp_migrate.verify.schema import conforms, is_schema, schema
from mcp_migrate.verify.server import Target

STRANGE = (None, True, 7, "text", [], [None, 3, {}], {}, {"a": 1})

# Answers every request with one strange value in the place of one key, at any depth.
SHAPELESS = """
import json, sys

key, value = json.loads(sys.argv[1])
ABLE = {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "prompts": {}, "logging": {}}
INFO = {"protocolVersion": "2025-11-25", "supportedVersions": ["2026-07-28"], "capabilities": ABLE, "serverInfo": {"name": "x", "version": "1"}}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string", "minLength": 2, "x-mcp-header": "A"}}, "required": ["a"]}
TOOL = {"name": "t", "annotations": {"readOnlyHint": True}, "inputSchema": SCHEMA, "outputSchema": SCHEMA}
ASKED = {"q": {"method": "elicitation/create", "params": {"requestedSchema": SCHEMA}}}
LISTED = {
    "tools": [TOOL],
    "resources": [{"uri": "test://a", "name": "a"}],
    "prompts": [{"name": "p", "arguments": [{"name": "a", "required": True}]}],
}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    result = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **INFO, **LISTED, "contents": [], "messages": []}
    if method == "tools/call":
        first = "_meta" in message["params"] and "inputResponses" not in message["params"]
        result = {"resultType": "input_required", "inputRequests": ASKED} if first else {"resultType": "complete", "content": [], "structuredContent": {}}
    answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    if method == "resources/read" or "1999" in line:
        answer = {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32022, "message": "m", "data": {"supported": [], "requested": "x"}}}
    if method == "subscriptions/listen":
        answer = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {"_meta": {"x": 1}, "notifications": {}}}

    def change(one):
        if isinstance(one, dict):
            return {name: value if name == key else change(inner) for name, inner in one.items()}
        return [change(inner) for inner in one] if isinstance(one, list) else one

    print(json.dumps(change(answer)), flush=True)
"""
KEYS = [
    "result",
    "error",
    "data",
    "supported",
    "capabilities",
    "tools",
    "resources",
    "prompts",
    "annotations",
    "inputSchema",
    "outputSchema",
    "properties",
    "required",
    "minLength",
    "type",
    "arguments",
    "name",
    "uri",
    "inputRequests",
    "q",
    "params",
    "requestedSchema",
    "content",
    "cacheScope",
    "nextCursor",
    "protocolVersion",
    "notifications",
    "_meta",
    "a",
    "method",
    "supportedVersions",
    "serverInfo",
]


@pytest.fixture(scope="module")
def shapeless(tmp_path_factory):
    """What is said of the server with each key, by value; all at once, because they are waited for most of the time."""
    script = tmp_path_factory.mktemp("shapeless") / "server.py"
    script.write_text(SHAPELESS)

    def proven(asked):
        target = Target(stdio=f"{sys.executable} -S {script} '{json.dumps(asked)}'", timeout=0.5, startup=5.0)
        return verify(target, Wishes(plan=messages.Plan(guess=True)))

    asked = [[key, value] for key in KEYS for value in (STRANGE if key == "capabilities" else (7, [None, 3, {}]))]
    found = defaultdict(list)
    with ThreadPoolExecutor(8) as pool:
        for (key, _), proof in zip(asked, pool.map(proven, asked), strict=True):
            found[key].append(proof)
    return found


@pytest.mark.parametrize("key", KEYS)
def test_any_value_in_any_place_is_a_failed_check(key, shapeless):
    assert [proof for proof in shapeless[key] if proof.holds(strict=True)] == []
    assert len(shapeless[key]) >= 2


@pytest.mark.parametrize(
    "written", [*STRANGE, {"type": "array", "minItems": 10**12}, {"minLength": 10**12}, {"required": [[]], "type": "object"}]
)
def test_samples_of_what_is_no_schema(written):
    assert len(json.dumps(messages.sample(written))) < 10_000


@pytest.mark.parametrize(
    "written", [None, 7, [], {"$schema": []}, {"pattern": "("}, {"$ref": "#/nowhere"}, {"$ref": "#"}, {"$ref": "http://127.0.0.1:9/x"}]
)
def test_schemas_that_cannot_be_used_are_told(written):
    assert is_schema(written) or conforms("text", written)


@pytest.mark.parametrize(
    ("name", "sent"),
    [("plain", "plain"), ("two\nlines", "=?base64?dHdvCmxpbmVz?="), ("über", "=?base64?w7xiZXI=?="), (" a", "=?base64?IGE=?=")],
)
def test_names_that_no_header_can_hold_go_in_base64(name, sent):
    assert wire.usual_headers({"method": "tools/call", "params": {"name": name}})["Mcp-Name"] == sent


def test_messages_that_are_nested_deep_are_faults():
    deep: dict[str, object] = {}
    for _ in range(800):
        deep = {"properties": {"a": deep}, "_meta": deep}
    result = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": [{"name": 1, "inputSchema": deep}]}
    assert schema().faults({"jsonrpc": "2.0", "id": 1, "result": result}, "tools/list")


def lives(number: int) -> bool:
    state = Path(f"/proc/{number}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


# Its grandchild is in a session of its own, keeps the standard output open, and cannot be asked to leave.
DAEMON = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open(sys.argv[1], "a") as out:
            out.write(f"{os.getpid()}\\n")
        time.sleep(99)
    os._exit(0)
time.sleep(99)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes that left their group are found by /proc")
@pytest.mark.parametrize("way", ["itself", "SIGTERM", "SIGINT"])
def test_children_in_sessions_of_their_own_are_ended(way, tmp_path):
    script, pids = tmp_path / "server.py", tmp_path / "pids"
    script.write_text(DAEMON)
    argv = ["verify", "--stdio", f"{sys.executable} {script} {pids}", "--timeout", "0.3", "--startup", "0.3" if way == "itself" else "60"]
    # What runs in the background of a shell has been told to ignore Ctrl-C, and so would all that it starts.
    with subprocess.Popen(
        [Path(sys.executable).with_name("mcp-migrate"), *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as run:
        if way != "itself":
            limit = time.monotonic() + 20
            while not (pids.exists() and pids.read_text()) and time.monotonic() < limit:
                time.sleep(0.05)
            run.send_signal(getattr(signal, way))
        _, err = run.communicate(timeout=60)
    assert run.returncode == {"itself": 1, "SIGTERM": 143, "SIGINT": 130}[way], err
    assert b"Traceback" not in err
    started = [int(line) for line in pids.read_text().split()]
    assert started
    assert [number for number in started if lives(number)] == []


@pytest.mark.parametrize(
    "loop",
    [
        "print('[' * 100_000 + chr(10), flush=True)",
        "sys.stdout.write('z' * 65536)",
        "print('{}', flush=True)",
        "os.close(1); time.sleep(99)",
    ],
    ids=["deep", "no line", "flood", "closed"],
)
def test_streams_without_sense_come_to_an_end(loop, tmp_path):
    script = tmp_path / "server.py"
    script.write_text(f"import os, sys, time\nwhile True:\n    {loop}\n")
    proof = verify(Target(stdio=f"{sys.executable} {script}", timeout=0.3, startup=0.5), Wishes(dual=False))
    assert not proof.holds()


ENDLESS = """
import socket, sys, threading, time

listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))


def serve(connection):
    try:
        connection.recv(65536)
        connection.sendall(sys.argv[2].encode().decode("unicode_escape").encode("latin-1"))
        while len(sys.argv) > 3:
            connection.sendall(sys.argv[3].encode().decode("unicode_escape").encode("latin-1"))
            time.sleep(0.1)
    except OSError:
        pass
    connection.close()


while True:
    threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()
"""
HEAD = r"HTTP/1.1 200 OK\r\nContent-Type: "


@pytest.mark.parametrize(
    "words",
    [
        ("HTTP/1.1 200 OK\\r\\n", "X: y\\r\\n"),
        (f"{HEAD}application/json\\r\\n\\r\\n", " "),
        (f"{HEAD}text/event-stream\\r\\n\\r\\ndata: ", "x"),
        (f"{HEAD}text/event-stream\\r\\n\\r\\n", ": x\\n\\n"),
        (f"{HEAD}application/json\\r\\n\\r\\n{'[' * 100_000}",),
        ("\\x00 junk\\r\\n",),
        ("HTTP/1.1 307 T\\r\\nLocation: /mcp\\r\\nContent-Length: 0\\r\\n\\r\\n",),
    ],
    ids=["headers", "body", "line", "comments", "deep", "junk", "redirect"],
)
def test_answers_over_http_come_to_an_end(words, tmp_path):
    script = tmp_path / "server.py"
    script.write_text(ENDLESS)
    start = time.monotonic()
    quoted = " ".join(f"'{word}'" for word in words)
    proof = verify(Target(start=f"{sys.executable} {script} {{port}} {quoted}", timeout=0.5, startup=10.0), Wishes())
    assert not proof.holds()
    assert time.monotonic() - start < 20
