"""Servers that ask their client, and what a plan makes of them: run for real, in both eras."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from asking_servers import ASYNC_CLASS, BOUNDARIES, CONSENT, EVENT_AND_SLOT, FORM, SERVERS, hooked
from mcp_migrate.facts.functions import read
from mcp_migrate.rewrite import edits
from mcp_migrate.rewrite.asking import Blocker, Plan, plan
from mcp_migrate.rewrite.module import FILE_NAME, Part, render
from mcp_migrate.rewrite.tree import Tree
from mcp_migrate.rule import Era
from mcp_migrate.source import Source

Message = dict[str, Any]
META = "io.modelcontextprotocol/"
ACCEPT: Message = {"action": "accept", "content": {"ok": True}}


def planned(text: str, era: Era = Era.DUAL, boundary: frozenset[str] = BOUNDARIES) -> Plan | Blocker:
    source = Source("server.py", text)
    return plan(read(source, ast.parse(text)), Tree(source), era=era, boundary=boundary)


def rewritten(text: str, era: Era = Era.DUAL) -> str:
    found = planned(text, era)
    assert isinstance(found, Plan), found
    return edits.apply(text.encode(), found.edits).decode()


class Server:
    """One running server; reads exactly the lines that were asked for."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []

    def send(self, message: Message) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def line(self) -> Message:
        assert self.process.stdout is not None
        self.lines.append(self.process.stdout.readline())
        found: Message = json.loads(self.lines[-1])
        return found

    def request(self, number: int, method: str, **params: object) -> Message:
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return self.line()

    def modern(self, number: int, name: str, capabilities: Message, arguments: Message | None = None, **params: object) -> Message:
        meta = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": capabilities}
        return self.request(number, "tools/call", name=name, arguments=arguments or {}, _meta=meta, **params)


@contextmanager
def running(folder: Path, text: str) -> Iterator[Server]:
    (folder / FILE_NAME).write_text(
        render(frozenset({Part.BOUNDARY, Part.OUTGOING, Part.LOGGING, Part.LISTEN, Part.CAPABILITIES, Part.ASK}))
    )
    (folder / "server.py").write_text(text)
    command = [sys.executable, "server.py"]
    with subprocess.Popen(command, cwd=folder, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield Server(process)
        finally:
            process.kill()


def text_of(reply: Message) -> str:
    return str(reply["result"]["content"][0]["text"])


def answered(server: Server, number: int, name: str, capabilities: Message, arguments: Message, *answers: Message) -> Message:
    """A tool call with an answer for each round that asks."""
    reply = server.modern(number, name, capabilities, arguments)
    for answer in answers:
        assert reply["result"]["resultType"] == "input_required", reply
        (key,) = reply["result"]["inputRequests"]
        number += 1
        state = reply["result"]["requestState"]
        reply = server.modern(number, name, capabilities, arguments, inputResponses={key: answer}, requestState=state)
    return reply


@pytest.mark.parametrize("era", list(Era), ids=lambda era: era.value)
@pytest.mark.parametrize("text", SERVERS.values(), ids=SERVERS)
def test_a_2026_client_is_asked_in_rounds_and_only_consent_acts(tmp_path: Path, text: str, era: Era) -> None:
    with running(tmp_path, hooked(rewritten(text, era), legacy=era is Era.DUAL)) as server:
        refused = server.modern(1, "wipe", {}, {"name": "a"})
        assert refused["error"]["code"] == -32021
        assert refused["error"]["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}
        assert text_of(server.modern(2, "items", {})) == "a,b"
        asked = server.modern(3, "wipe", {"elicitation": {}}, {"name": "a"})
        (question,) = asked["result"]["inputRequests"].values()
        assert (question["method"], question["params"]["message"]) == ("elicitation/create", "Wipe a?")
        declined = answered(server, 10, "wipe", {"elicitation": {}}, {"name": "a"}, {"action": "decline"})
        assert text_of(declined) == "kept"
        assert text_of(server.modern(20, "items", {})) == "a,b"
        assert text_of(answered(server, 30, "wipe", {"elicitation": {}}, {"name": "a"}, ACCEPT)) == "wiped"
        assert text_of(server.modern(40, "items", {})) == "b"


def legacy_session(folder: Path, text: str) -> list[str]:
    with running(folder, text) as server:
        assert server.request(1, "tools/call", name="wipe", arguments={"name": "a"})["error"]["code"] == -32600
        server.request(2, "initialize", protocolVersion="2025-06-18", capabilities={"elicitation": {}})
        for number, answer in ((3, {"action": "decline"}), (4, ACCEPT)):
            question = server.request(number, "tools/call", name="wipe", arguments={"name": "a"})
            server.send({"jsonrpc": "2.0", "id": question["id"], "result": answer})
            server.line()
        server.request(5, "tools/call", name="items")
        server.request(6, "ping")
        return server.lines


@pytest.mark.parametrize("text", SERVERS.values(), ids=SERVERS)
def test_a_legacy_client_gets_the_same_bytes_as_before(tmp_path: Path, text: str) -> None:
    assert legacy_session(tmp_path, hooked(rewritten(text), legacy=True)) == legacy_session(tmp_path, text)


@pytest.mark.parametrize("era", list(Era), ids=lambda era: era.value)
def test_two_questions_of_one_tool_take_two_rounds(tmp_path: Path, era: Era) -> None:
    with running(tmp_path, hooked(rewritten(ASYNC_CLASS, era), legacy=era is Era.DUAL)) as server:
        words = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "found"}}
        roots = {"roots": [{"uri": "file:///srv"}]}
        able: Message = {"sampling": {}, "roots": {}}
        assert text_of(answered(server, 1, "both", able, {}, words, roots)) == "found in file:///srv"
        assert server.modern(9, "both", {"roots": {}})["error"]["data"] == {"requiredCapabilities": {"sampling": {}}}


CATCHES = "    except Exception as e:\n        return {"
CALL = '            text = call(params["name"], params.get("arguments") or {})\n'
ASKS = f'answer = ask("elicitation/create", {FORM})'
TRIED = f"""try:
        {ASKS}
        agreed = answer["action"] == "accept"
    except RpcError:
        """


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (CATCHES, CATCHES.replace("Exception", "BaseException"), "catches everything"),
        (CATCHES, CATCHES.replace("Exception as e", "(ValueError, BaseException) as e"), "catches everything"),
        (
            '"message": repr(e)}}\n',
            '"message": repr(e)}}\n    finally:\n        if method == "quiet":\n            return None\n',
            "`finally`",
        ),
        (CALL, CALL.replace("call(", "POOL.submit(call, ").replace("or {})", "or {}).result()"), "would not reach"),
        (CALL, CALL.replace("call(", "threading.Thread(target=call, args=(").replace("or {})", "or {})).start()"), "would not reach"),
        (
            '        if method == "initialize":\n',
            '        if method == "initialize":\n            ask("roots/list", {})\n',
            "outside a request",
        ),
        (
            'write({"jsonrpc": "2.0", "id": request_id, "method"',
            'STATISTICS["asked"] += 1\n    write({"jsonrpc": "2.0", "id": request_id, "method"',
            "something else",
        ),
        ('    return reply["result"]\n', '    yield reply["result"]\n', "something else"),
        ('    slot["reply"] = message\n', '    slot["reply"] = parse(message)\n', "not understood"),
        ('    return "wiped" if agreed else "kept"', '    ask("ping", {})\n    return ""', "not known here"),
        ('    return "wiped" if agreed else "kept"', '    ask(name, {})\n    return ""', "not known here"),
        ('    return "wiped" if agreed else "kept"', '    send({"id": 1, "method": "roots/list"})\n    return ""', "not understood"),
        ('    return "wiped" if agreed else "kept"', '    session.request("roots/list")\n    return ""', "not understood"),
        ('if "elicitation" not in CAPABILITIES:', 'if "elicitation" not in OTHER:', "capabilities"),
        (CONSENT, TRIED + "agreed = True", "goes on"),
        (CONSENT, TRIED.replace("RpcError", "Exception") + 'return "wiped", ITEMS.pop(name)\n    if True:\n        return True', "goes on"),
        (
            CONSENT,
            f'agreed = True\n    if "elicitation" in CAPABILITIES:\n        {ASKS}\n        agreed = answer["action"] == "accept"',
            "cannot ask",
        ),
        ('        raise RpcError(-32600, "this client cannot be asked")', "        return True", "cannot ask its user"),
        ('    reply = slot["reply"]\n', '    reply = slot.get("reply") or {"result": {"action": "accept"}}\n', "not understood"),
        ('            raise RpcError(-32603, "no answer")', '            return {"action": "accept"}', "nobody answered"),
    ],
)
def test_what_is_not_certain_or_not_safe_blocks_the_whole_plan(old: str, new: str, reason: str) -> None:
    assert old in EVENT_AND_SLOT
    text = EVENT_AND_SLOT.replace(old, new)
    found = planned(text)
    assert isinstance(found, Blocker)
    assert reason in found.reason
