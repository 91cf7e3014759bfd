"""What is told of a server's log: its own errors, and nothing that every request, every start or `verify` itself brings about."""

from __future__ import annotations

from mcp_migrate.verify import logs, telling
from mcp_migrate.verify.ledger import Check, Outcome
from mcp_migrate.verify.proof import Proof

USUAL = """\
INFO:     Started server process [17]
INFO:     Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)
INFO:     127.0.0.1:55786 - "POST /mcp HTTP/1.1" 400 Bad Request
127.0.0.1 - - [01/Dec/2026 11:00:00] "POST /mcp HTTP/1.1" 200 -
Created new transport with session ID: 991098ffb8ef495a888997ad2ca46c8f
Invalid Host header: rebound.example:44981
Tool 'no_such_tool' failed: 'Unknown tool: no_such_tool'
/srv/venv/lib/python3.11/site-packages/lib/core.py:17: DeprecationWarning: old() goes in version 9
  old()
modern request handler raised
Traceback (most recent call last):
  File "server.py", line 1357, in get_prompt
    raise ValueError(name)
ValueError: no_such_prompt

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "runner.py", line 836, in serve_one
    return await run()
ValueError: in a prompt
"""
FLASK = """\
 * Serving Flask app 'server'
 * Debug mode: off
\x1b[31m\x1b[1mWARNING: This is a development server. Do not use it in a production deployment. Use a production WSGI server instead.\x1b[0m
 * Running on http://127.0.0.1:8000
\x1b[33mPress CTRL+C to quit\x1b[0m
127.0.0.1 - - [01/Dec/2026 11:00:00] "\x1b[31m\x1b[1mPOST /mcp HTTP/1.1\x1b[0m" 400 -
127.0.0.1 - - [01/Dec/2026 11:00:00] "\x1b[35m\x1b[1mPOST /mcp HTTP/1.1\x1b[0m" 202 -
"""
OWN = """\
server.py:3: DeprecationWarning: mine
no such table: books
ERROR in app: a call of add failed
Traceback (most recent call last):
  File "server.py", line 9, in add
    return 1 / 0
ZeroDivisionError: division by zero
127.0.0.1 - - [01/Dec/2026 11:00:00] "POST /mcp HTTP/1.1" 500 -
"""
FAILED = (Check("2026-07-28", "a call of add is answered", Outcome.FAILED, "an error"),)


def test_only_what_is_the_servers_own_is_told() -> None:
    assert logs.telling(USUAL) == ([], len(USUAL.splitlines()))
    assert logs.telling(FLASK) == ([], len(FLASK.splitlines()))
    assert logs.telling(OWN + FLASK + OWN) == (2 * OWN.splitlines(), len(FLASK.splitlines()))
    assert logs.telling(USUAL + OWN + USUAL) == (OWN.splitlines(), 2 * len(USUAL.splitlines()))


def test_the_last_lines_are_told() -> None:
    own, left_out = logs.telling("".join(f"line {number}\n" for number in range(100)))
    assert (own[0], len(own), left_out) == ("line 60", logs.LINES, 60)


def test_a_report_says_what_it_leaves_out_and_what_to_do_next() -> None:
    told = telling.text(Proof("server", True, FAILED, USUAL + OWN))
    assert (
        f"The server wrote to standard error (without {len(USUAL.splitlines())} lines that say nothing of it; --verbose shows them):"
        in told
    )
    assert 'HTTP/1.1" 400' not in told
    assert "  ZeroDivisionError: division by zero" in told
    assert told.splitlines()[-1].startswith("Next: --verbose says what passed before it; `mcp-migrate explain TEXT`")
    whole = telling.text(Proof("server", True, FAILED, USUAL + OWN), verbose=True)
    assert 'HTTP/1.1" 400 Bad Request' in whole
    assert "The server wrote no error" in telling.text(Proof("server", True, FAILED, USUAL))


def test_a_server_that_passes_has_a_next_step_that_was_not_taken_yet() -> None:
    passed = (Check("2026-07-28", "server/discover is answered", Outcome.PASSED),)
    assert telling.text(Proof("server", True, passed)).splitlines()[-1].startswith("Next: --against REV compares")
    compared = (*passed, Check("compared", "initialize", Outcome.PASSED))
    assert telling.text(Proof("server", True, compared)).splitlines()[-1].startswith("Next: --output-format markdown")
    assert "Next:" not in telling.text(Proof("server", True, passed), quiet=True)
