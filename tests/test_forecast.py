"""What `check` says that `fix` will do, and what findings say that wait for a human."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from servers import Server, copy, left, load, migrate

SERVERS = load()
BLOCKED = """import json, sys

def handle(message):
    method = message["method"]
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "a", "version": "1"}}
    elif method == "ping":
        result = {}
    elif method == "tools/list":
        result = {"tools": []}
    else:
        return other(message)
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}

for line in sys.stdin:
    reply = handle(json.loads(line))
    if reply is not None:
        print(json.dumps(reply), flush=True)
"""


# Its endpoint is made in a factory and can be wired once the dispatcher of another module has its boundary: `check` promises less.
MORE = frozenset({"tally_sessions"})


def found(folder: Path, *options: str) -> list[dict[str, Any]]:
    findings: list[dict[str, Any]] = json.loads(migrate("check", "--output-format", "json", *options, ".", cwd=folder).stdout)["findings"]
    return findings


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)
@pytest.mark.parametrize("era", ["dual", "modern"])
def test_check_foretells_exactly_what_fix_settles(server: Server, era: str, tmp_path: Path) -> None:
    findings = found(copy(server.before, tmp_path / "server"), "--era", era)
    by_hand = sorted((finding["rule"], finding["path"]) for finding in findings if finding["applicability"] == "manual")
    assert all(finding["hint"] for finding in findings if finding["applicability"] == "safe"), "a safe fix says what it does"
    after = left(server, era)
    assert [finding for finding in after if finding["applicability"] == "safe"] == []
    stays = sorted((finding["rule"], finding["path"]) for finding in after)
    promised = Counter((finding["rule"], finding["path"]) for finding in findings if finding["applicability"] != "safe")
    assert Counter(stays) <= promised, "nothing comes up that was not told before"
    if server.fix == "report":
        assert stays == sorted((finding["rule"], finding["path"]) for finding in findings)
    elif server.name in MORE:
        assert {*stays} < {*by_hand, *((finding["rule"], finding["path"]) for finding in findings)}
    else:
        assert by_hand == stays


def test_findings_that_wait_for_the_wiring_name_it_before_and_after_fix(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(BLOCKED)
    hints = {finding["rule"]: finding["hint"] for finding in found(tmp_path)}
    assert hints.pop("MCP301").startswith("not wired: `handle` does not surely return")
    assert {*hints} == {"MCP101", "MCP103", "MCP204", "MCP302"}
    assert {*hints.values()} == {"goes away once MCP301 (line 12) is wired"}
    done = migrate("fix", ".", cwd=tmp_path)
    assert done.stdout.count("goes away once MCP301 (line 12) is wired") == 4


def test_a_handler_without_a_dispatcher_in_sight_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("""from mcp import types

def register(router):
    @router.method("logging/setLevel")
    def level(params):
        return {}
""")
    [finding] = [finding for finding in found(tmp_path) if finding["rule"] == "MCP104"]
    assert finding["hint"] == "no dispatcher is known that a boundary could stand before"


@pytest.mark.parametrize(("era", "reported"), [("dual", []), ("modern", ["MCP309"])])
def test_a_handler_that_a_comment_keeps_is_still_kept_after_the_fix(era: str, reported: list[str], tmp_path: Path) -> None:
    kept = 'method == "ping":  # mcp-migrate: ignore[MCP103] -- our load balancer probes with it'
    (tmp_path / "a.py").write_text(BLOCKED.replace("other(message)", "None").replace('method == "ping":', kept))
    assert migrate("fix", "--era", era, ".", cwd=tmp_path).returncode == 0
    assert kept in (tmp_path / "a.py").read_text()
    assert [finding["rule"] for finding in found(tmp_path, "--era", era)] == reported
