"""Nothing that served the handshake era alone is left in a server that `fix --era modern` has migrated."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

SERVERS = Path(__file__).parents[1] / "fixtures" / "servers"
# What it cannot prove: an attribute that other modules may ask an object for, and one name of several that a tuple is taken apart to.
OUT_OF_SIGHT = Counter(
    {
        ("tally_sessions", "tally/protocol.py: unused attribute 'instructions'"): 1,
        ("tally_sessions", "tally/sessions.py: unused variable 'limit'"): 1,
        ("tally_sessions", "tally/web.py: unused variable 'opened'"): 1,
    }
)

# `MCP.info = ...` is read in the boundary module, which the folders do not hold.
ASKED_BY_THE_BOUNDARY = "unused attribute 'info'"


def unused(folder: Path) -> Counter[str]:
    """What vulture calls unused in a folder, without lines."""
    done = subprocess.run([sys.executable, "-m", "vulture", "."], cwd=folder, capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr
    found = (re.sub(r":\d+: (.*) \(\d+% confidence.*\)$", r": \1", line) for line in done.stdout.splitlines())
    return Counter(line for line in found if not line.endswith(ASKED_BY_THE_BOUNDARY))


def left_over(before: Path, after: Path) -> Counter[str]:
    """What nothing uses in the result, though something did before."""
    return unused(after) - unused(before)


@pytest.mark.parametrize("server", sorted(path.parent.name for path in SERVERS.glob("*/after_modern")))
def test_no_name_is_left_that_only_the_handshake_era_used(server: str) -> None:
    found = left_over(SERVERS / server / "before", SERVERS / server / "after_modern")
    assert Counter({(server, text): count for text, count in found.items()}) == Counter(
        {key: count for key, count in OUT_OF_SIGHT.items() if key[0] == server}
    )


def test_a_name_that_is_left_is_seen(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    for folder, text in ((before, "SESSIONS = {}\nprint(SESSIONS)\n"), (after, "SESSIONS = {}\n")):
        folder.mkdir()
        (folder / "server.py").write_text(text)
    assert left_over(before, after) == {"server.py: unused variable 'SESSIONS'": 1}
