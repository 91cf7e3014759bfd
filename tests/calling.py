"""The command in this process, as its users call it, with a small server to call it on."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from mcp_migrate.cli import main

# A small server that holds one code with a safe fix (`--era modern`), and more to find.
SERVER = """\
import json
import sys

NOTES = {"note://a": "x"}


def handle(message):
    method = message["method"]
    if method == "ping":
        return {"jsonrpc": "2.0", "id": message["id"], "result": {}}
    if method == "resources/list":
        return {"jsonrpc": "2.0", "id": message["id"], "result": {"resources": []}}
    if method == "resources/read":
        if message["params"]["uri"] not in NOTES:
            return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32002, "message": "Resource not found"}}
        return {"jsonrpc": "2.0", "id": message["id"], "result": {"contents": []}}
    return None


for line in sys.stdin:
    print(json.dumps(handle(json.loads(line))), flush=True)
"""
FIXED = SERVER.replace("-32002", "-32602")
FIX = ("fix", "--era", "modern", "--select", "retired_code")
WHO = ("-c", "user.name=a", "-c", "user.email=a@example.org")


class Done(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> Run:
    """Runs the command in `tmp_path`, in this process."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "argv", ["mcp-migrate", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as left:
            main()
        out, err = capsysbinary.readouterr()
        return Done(int(left.value.code or 0), out.decode("utf-8", "surrogateescape"), err.decode())

    return run


def put(folder: Path, name: str, text: str | bytes = SERVER) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def git(folder: Path, *arguments: str, stdin: bytes | None = None) -> None:
    subprocess.run(["git", *WHO, *arguments], cwd=folder, check=True, capture_output=True, input=stdin)
