"""What a server wrote: the lines that may say why something failed, without those that every request or every start brings."""

from __future__ import annotations

import re
from collections.abc import Iterator

LINES = 40  # of a log that are told

# Requests that were answered as usual, in the words of uvicorn, of werkzeug and `http.server`, of hypercorn and of aiohttp.
_ACCESS = re.compile(r'"(?:GET|POST|PUT|DELETE|HEAD|OPTIONS) \S+(?: HTTP/[\d.]+)?" [1-4]\d\d\b')
_STARTING = re.compile(
    r"(?:Started|Finished) server process|Waiting for application (?:startup|shutdown)|Application (?:startup|shutdown) complete"
    r"|Uvicorn running on|StreamableHTTP session manager (?:started|shutting down)|Shutting down$"
    r"|Created new transport with session ID|Terminating session|Processing request of type"
    r"|^ \* (?:Serving Flask app|Debug mode|Running on)|WARNING: This is a development server|Press CTRL\+C to quit"
)
# werkzeug colours what it writes, also where nobody sees colours.
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
# What `verify` brings about on purpose: it asks for what is not there, and under a foreign name.
_PROVOKED = re.compile(r"no_such_tool|no-such-resource|no_such_prompt|no/such/method|rebound\.example")
# A library that warns of itself; the line below shows its code.
_WARNING = re.compile(r"[/\\](?:site-packages|dist-packages|lib[/\\]python[\d.]+)[/\\].*: \w*Warning: ")

_TRACEBACK = "Traceback (most recent call last):"
_CHAIN = re.compile(r"Traceback \(most recent|The above exception was the direct cause|During handling of the above exception")


def telling(log: str) -> tuple[list[str], int]:
    """The last lines that are the server's own, and how many were left out before and between them."""
    lines = _COLOUR.sub("", log).splitlines()
    own = [line for part in _parts(lines) if not _is_usual(part) for line in part][-LINES:]
    return own, len(lines) - len(own)


def last(log: str) -> str:
    """The last lines of a log, whatever they are: a server that does not start may have written anything."""
    return "\n".join(log.splitlines()[-LINES:])


def _parts(lines: list[str]) -> Iterator[list[str]]:
    """Lines that belong together: a message with the exceptions below it, a warning with its code, any other line alone."""
    part: list[str] = []
    for line in lines:
        begins = (not line.startswith((" ", "\t")) or line.startswith(" * ")) and not _CHAIN.match(line) and line.strip()
        # The line that names the exception ends its traceback.
        ends = begins and not line.startswith(" ") and len(part) > 1 and part[-1].startswith((" ", "\t")) and _is_traceback(part)
        if begins and not ends and part:
            yield part
            part = []
        part.append(line)
    if part:
        yield part


def _is_traceback(part: list[str]) -> bool:
    return any(line.startswith(_TRACEBACK) for line in part)


def _is_usual(part: list[str]) -> bool:
    """Whether this comes with every start and every request, or because `verify` has asked for it."""
    if _is_traceback(part):
        return any(map(_PROVOKED.search, part))
    return any(kind.search(part[0]) for kind in (_ACCESS, _STARTING, _PROVOKED, _WARNING))
