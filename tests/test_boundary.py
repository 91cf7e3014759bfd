"""Wired servers run: new clients are served, and old ones get the same bytes as before."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from mcp_migrate import catalog, engine
from mcp_migrate.project import Project, read
from mcp_migrate.rule import Applicability, Era
from mcp_migrate.source import decode

CATALOG = catalog.load()
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
LEGACY = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "ä"}}},
    {"jsonrpc": "2.0", "id": 4, "method": "no/such"},
)

DISPATCH = """def dispatch(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "echo", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": params["arguments"]["text"]}]}
    raise LookupError(method)"""

STYLES = {
    "work at the bottom of the loop": """
        import json, sys, threading

        DISPATCH

        LOCK = threading.Lock()

        def main():
            line = sys.stdin.readline()
            while line:
                LOCK.acquire()
                message = json.loads(line)
                try:
                    answer = {"jsonrpc": "2.0", "id": message.get("id"), "result": dispatch(message["method"], message.get("params") or {})}
                except LookupError as error:
                    answer = {"jsonrpc": "2.0", "id": message.get("id"), "error": {"code": -32601, "message": str(error)}}
                if "id" in message:
                    print(json.dumps(answer))
                sys.stdout.flush()
                LOCK.release()
                line = sys.stdin.readline()

        main()
    """,
    "helpers that build and write": """
        import json, sys

        DISPATCH

        def respond(rid, result):
            out = json.dumps({
                "jsonrpc": "2.0",
                "id": rid,
                "result": result,  # as it is
            })
            sys.stdout.write(out + "\\n")
            sys.stdout.flush()

        def fail(rid, text):
            print(
                json.dumps({"jsonrpc": "2.0", "id": rid, "error": {"code": -32601, "message": text}}),
                flush=True,
            )

        def handle(message):
            if "id" not in message:
                return
            try:
                respond(message["id"], dispatch(message["method"], message.get("params") or {}))
            except LookupError as error:
                fail(message["id"], str(error))

        for line in sys.stdin:
            handle(json.loads(line))
    """,
    "a method whose object is not called self": """
        import json, sys

        DISPATCH

        class Server:
            def handle(this, message):
                if "id" not in message:
                    return None
                try:
                    return {"jsonrpc": "2.0", "id": message["id"], "result": dispatch(message["method"], message.get("params") or {})}
                except LookupError as error:
                    return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": str(error)}}

            def run(this):
                for line in sys.stdin:
                    reply = this.handle(json.loads(line))
                    if reply is not None:
                        print(json.dumps(reply), flush=True)

        Server().run()
    """,
    "envelope at the exit": """
        import json, sys

        DISPATCH

        def handle(message):
            if "id" not in message:
                return None
            try:
                return {"jsonrpc": "2.0", "id": message["id"], "result": dispatch(message["method"], message.get("params") or {})}
            except LookupError as error:
                return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": str(error)}}

        if __name__ == "__main__":
            for line in sys.stdin:
                reply = handle(json.loads(line))
                if reply is not None:
                    print(json.dumps(reply), flush=True)
    """,
    "never None": """
        #!/usr/bin/env python3
        import json
        from sys import stdin

        DISPATCH

        def handle(message):
            try:
                return {"jsonrpc": "2.0", "id": message.get("id"), "result": dispatch(message["method"], message.get("params") or {})}
            except LookupError as error:
                return {"jsonrpc": "2.0", "id": message.get("id"), "error": {"code": -32601, "message": str(error)}}

        while True:
            line = stdin.readline()
            if not line:
                break
            print(json.dumps(handle(json.loads(line))), flush=True)
    """,
    "async class with a table and a gate": """
        import asyncio
        import json
        import sys

        class Server:
            def __init__(self, name):
                self.name = name
                self.ready = False
                self.table = {"initialize": self.hello, "tools/list": self.tools, "tools/call": self.call}

            async def hello(self, params):
                self.ready = True
                return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": self.name, "version": "1"}}

            async def tools(self, params):
                return {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}

            async def call(self, params):
                return {"content": [{"type": "text", "text": params["arguments"]["text"]}]}

            async def handle(self, message):
                if "id" not in message:
                    return
                reply = {"jsonrpc": "2.0", "id": message["id"]}
                method = self.table.get(message["method"])
                if method is None:
                    reply["error"] = {"code": -32601, "message": "unknown"}
                elif message["method"] != "initialize" and not self.ready:
                    reply["error"] = {"code": -32002, "message": "not initialized"}
                else:
                    reply["result"] = await method(message.get("params") or {})
                await self.send(reply)

            async def send(self, message):
                sys.stdout.write(json.dumps(message) + "\\n")
                sys.stdout.flush()

            async def run(self):
                loop = asyncio.get_running_loop()
                while line := await loop.run_in_executor(None, sys.stdin.readline):
                    await self.handle(json.loads(line))

        if __name__ == "__main__":
            asyncio.run(Server("echo").run())
    """,
    "helpers that print": """
        import json, sys
        VERSION = "1"

        DISPATCH

        def answer(rid, result):
            print(json.dumps({"jsonrpc": "2.0", "id": rid, "result": result}), flush=True)

        def handle(message):
            method = message.get("method")
            if method == "initialize" or method in ("tools/list", "tools/call"):
                answer(message["id"], dispatch(method, message.get("params") or {}))
            elif "id" in message:
                print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": method}}), flush=True)

        def main():
            for line in sys.stdin:
                try:
                    message = json.loads(line)
                except ValueError:
                    continue
                handle(message)

        if __name__ == "__main__":
            main()
    """,
    "everything in the loop": """
        import json, sys

        def main():
            for line in sys.stdin:
                request = json.loads(line)
                match request:
                    case {"method": "initialize", "id": rid}:
                        result = {
                            "protocolVersion": "2025-06-18",
                            "capabilities": {"tools": {}},
                            "serverInfo": {"name": "echo", "version": "1"},
                        }
                    case {"method": "tools/list", "id": rid}:
                        result = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
                    case {"method": "tools/call", "id": rid, "params": params}:
                        result = {"content": [{"type": "text", "text": params["arguments"]["text"]}]}
                    case _:
                        error = {"jsonrpc": "2.0", "id": request.get("id"), "error": {"code": -32601, "message": "unknown"}}
                        sys.stdout.write(json.dumps(error) + "\\n")
                        sys.stdout.flush()
                        continue
                text = json.dumps({"jsonrpc": "2.0", "id": rid, "result": result})
                sys.stdout.write(text)
                sys.stdout.write("\\n")
                sys.stdout.flush()

        main()
    """,
    "a factory that alone knows who it is": """
        import json, sys

        def dispatcher(name, tools, prompts=()):
            def answer(message):
                method, params = message["method"], message.get("params") or {}
                if "id" not in message:
                    return None
                if method == "initialize":
                    told = greeting(name)
                    capabilities = dict(told["capabilities"])
                    if prompts:
                        capabilities["prompts"] = {}
                    result = {**told, "capabilities": capabilities}
                elif method == "tools/list":
                    result = {"tools": tools}
                elif method == "tools/call":
                    result = {"content": [{"type": "text", "text": params["arguments"]["text"]}]}
                else:
                    return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "unknown"}}
                return {"jsonrpc": "2.0", "id": message["id"], "result": result}

            def run():
                for line in sys.stdin:
                    reply = answer(json.loads(line))
                    if reply is not None:
                        print(json.dumps(reply), flush=True)

            return run

        def greeting(name):
            from string import digits

            return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": name, "version": digits[1]}}

        other, run = dispatcher("other", []), dispatcher("echo", [{"name": "echo", "inputSchema": {"type": "object"}}])
        run()
    """,
    "from text to text": """
        import json, sys

        DISPATCH

        def answer(line):
            message = json.loads(line)
            if "id" not in message:
                return None
            try:
                result = dispatch(message["method"], message.get("params") or {})
            except LookupError as error:
                return json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": str(error)}})
            return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result})

        for line in sys.stdin:
            if text := answer(line):
                print(text, flush=True)
    """,
}

each_style = pytest.mark.parametrize("style", STYLES)


@each_style
def test_new_clients_are_served_and_old_ones_get_the_same_bytes(style: str, tmp_path: Path) -> None:
    before = program(style)
    untouched = write(tmp_path / "before", {"server.py": before})
    wired = write(tmp_path / "after", fixed({"server.py": before}))
    assert talk(wired, LEGACY) == talk(untouched, LEGACY)
    assert_modern(wired, legacy=True)


@each_style
def test_the_modern_era_serves_new_clients_only(style: str, tmp_path: Path) -> None:
    wired = write(tmp_path, fixed({"server.py": program(style)}, Era.MODERN))
    assert_modern(wired, legacy=False)


@each_style
def test_both_kinds_of_clients_can_share_a_connection(style: str, tmp_path: Path) -> None:
    wired = write(tmp_path, fixed({"server.py": program(style)}))
    replies = messages(talk(wired, [modern(7, "tools/list"), LEGACY[0], LEGACY[2], modern(8, "tools/list")]))
    assert ["resultType" in reply["result"] for reply in replies] == [True, False, False, True]


@each_style
def test_wiring_is_done_once(style: str) -> None:
    once = fixed({"server.py": program(style)})
    assert fixed(once) == once


def test_windows_line_ends_and_tabs_stay(tmp_path: Path) -> None:
    text = program("never None").replace("    ", "\t").replace("\n", "\r\n")
    wired = fixed({"server.py": text})["server.py"]
    assert wired.count("\n") == wired.count("\r\n")
    assert "    " not in wired
    assert_modern(write(tmp_path, fixed({"server.py": text})), legacy=True)


def test_a_package_imports_its_own_boundary(tmp_path: Path) -> None:
    parts = program("envelope at the exit")
    loop = parts.index("if __name__")
    files = {
        "echo/__init__.py": "",
        "echo/text.py": "NAME = 'tools/list'\n",
        "echo/server.py": "from .text import NAME\n"
        + parts[:loop].replace('method == "tools/list"', "method == NAME")
        + "def main():\n"
        + indented(parts[loop:]),
        "echo/__main__.py": "from .server import main\nif __name__ == '__main__':\n    main()\n",
    }
    files["echo/server.py"] = files["echo/server.py"].replace('    if __name__ == "__main__":\n    ', "    if True:\n    ")
    wired = fixed(files)
    assert "from .mcp_stateless import Stateless" in wired["echo/server.py"]
    write(tmp_path, wired)
    assert_modern(tmp_path, legacy=True, command=["-m", "echo"])


@pytest.mark.parametrize("command", [["-m", "echo.server"], ["echo/server.py"]], ids=["module", "path"])
def test_a_file_of_a_package_that_is_run_itself_works_both_ways(command: list[str], tmp_path: Path) -> None:
    files = {"echo/__init__.py": "", "echo/server.py": program("envelope at the exit")}
    write(tmp_path, fixed(files, packages=frozenset({"echo"})))
    assert_modern(tmp_path, legacy=True, command=command)


def test_names_that_are_taken_are_left_alone(tmp_path: Path) -> None:
    text = program("envelope at the exit").replace("import json, sys\n", "import json, sys\n\nMCP = 1\nCAPABILITIES = 2\n")
    wired = fixed({"server.py": text})["server.py"]
    names = [
        target.id
        for node in ast.parse(wired).body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    ]
    assert len(names) == len(set(names))
    assert_modern(write(tmp_path, fixed({"server.py": text})), legacy=True)


def test_two_servers_of_a_folder_share_one_boundary(tmp_path: Path) -> None:
    files = {
        "server.py": program("envelope at the exit"),
        "other.py": program("async class with a table and a gate"),
    }
    write(tmp_path, fixed(files))
    for name in files:
        assert_modern(tmp_path, legacy=True, command=[name])


def test_a_foreign_file_of_that_name_is_never_replaced() -> None:
    files = {"server.py": program("never None"), "mcp_stateless.py": "import json\nVERSION = {'jsonrpc': '2.0'}\n"}
    project = link(files)
    [finding] = engine.check(project, CATALOG, select=["server_discover"])
    assert finding.applicability is Applicability.MANUAL
    assert "mcp_stateless.py exists" in finding.hint
    assert fixed(files) == files


def test_what_cannot_be_wired_says_where_and_why() -> None:
    text = program("never None").replace('message.get("params") or {})}', 'message.get("params") or {})}, message')
    [finding] = engine.check(link({"server.py": text}), CATALOG, select=["server_discover"])
    assert finding.applicability is Applicability.MANUAL
    why = "`handle` does not surely return a JSON-RPC reply or None: a tuple is returned, and something else here (line 18)"
    assert finding.hint.startswith(f"not wired: {why}")
    assert fixed({"server.py": text}) == {"server.py": text}


# -- helpers ---------------------------------------------------------------------------------------


def program(style: str) -> str:
    return dedent(STYLES[style]).lstrip().replace("DISPATCH", DISPATCH)


def link(files: Mapping[str, str], packages: frozenset[str] = frozenset()) -> Project:
    return Project.link((read(decode(path, text.encode())) for path, text in files.items()), packages)


def fixed(files: Mapping[str, str], era: Era = Era.DUAL, *, packages: frozenset[str] = frozenset()) -> dict[str, str]:
    done = engine.fix(link(files, packages), CATALOG, era, select=["server_discover"])
    assert done.dropped == ()
    return {**files, **done.texts, **done.created}


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    return folder


def indented(text: str) -> str:
    return "".join(f"    {line}" if line.strip() else line for line in text.splitlines(keepends=True))


def modern(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": META}}


def talk(folder: Path, sent: Any, command: list[str] | None = None) -> bytes:
    """Everything that the server writes when it is sent these messages and then the end of input."""
    given = "".join(json.dumps(message) + "\n" for message in sent).encode()
    done = subprocess.run([sys.executable, *(command or ["server.py"])], cwd=folder, input=given, capture_output=True, timeout=30)
    assert done.stderr == b""
    assert done.returncode == 0
    return done.stdout


def messages(written: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in written.splitlines()]


def assert_modern(folder: Path, *, legacy: bool, command: list[str] | None = None) -> None:
    """One conversation of a 2026-07-28 client, with no handshake before it and notifications in between."""
    sent = [
        modern(1, "server/discover"),
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99, "_meta": META}},
        modern(2, "tools/list"),
        {"jsonrpc": "2.0", "method": "notifications/unheard/of"},
        modern(3, "tools/call", name="echo", arguments={"text": "ä"}),
        modern(4, "no/such"),
        modern(5, "initialize"),
        LEGACY[0],
    ]
    discovered, tools, called, unknown, removed, greeted = messages(talk(folder, sent, command))
    assert discovered["result"]["supportedVersions"] == ["2026-07-28"]
    assert discovered["result"]["capabilities"] == {"tools": {}}
    assert discovered["result"]["_meta"]["io.modelcontextprotocol/serverInfo"] == {"name": "echo", "version": "1"}
    assert (tools["result"]["resultType"], tools["result"]["ttlMs"], tools["result"]["cacheScope"]) == ("complete", 0, "private")
    assert tools["result"]["tools"][0]["name"] == "echo"
    assert called["result"]["content"] == [{"type": "text", "text": "ä"}]
    assert [reply["error"]["code"] for reply in (unknown, removed)] == [-32601, -32601]
    assert ("result" in greeted) is legacy
    if not legacy:
        assert greeted["error"]["code"] == -32022
