"""What a user asked to be verified: words of the command line, checked before anything is started."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn
from urllib.parse import urlsplit

from . import messages, revision
from .messages import Notice, Plan
from .process import CannotStart
from .proof import Proof, Wishes, verify
from .server import PORT, Target, split

_CHANGES = ("notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed")
_UPDATED = "notifications/resources/updated"


@dataclass(frozen=True, slots=True)
class Asked:
    """The options as they were given; calls and notices as `NAME {json} => text`, headers as `Name: value`. Times are in seconds."""

    stdio: str = ""
    start: str = ""
    url: str = ""
    path: str = "/mcp"
    port: int = 0
    dual: bool = True
    calls: tuple[str, ...] = ()
    guess: bool = False
    notices: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    against: str = ""
    against_command: str = ""
    timeout: float = 10.0
    startup: float = 30.0


def proof(asked: Asked, fail: Callable[[str], NoReturn]) -> Proof:
    """What came out. `fail` gets one line about options that do not go together, and about a server that cannot be started."""
    if len([given for given in (asked.stdio, asked.start, asked.url) if given]) != 1:
        fail("give one of --stdio, --start and --http: the server that is to be verified")
    if asked.start and not any(PORT in written for written in (asked.start, *asked.env)) and not asked.port:
        fail(f"--start needs {PORT} in its command or in an --env, or --port")
    if asked.url and not asked.url.startswith(("http://", "https://")):
        fail(f"--http takes an address that begins with http:// or https://, not {asked.url!r}")
    if asked.url and not _has_place(asked.url):
        fail(f"there is no host, or no port that can be, in {asked.url!r}")
    if asked.url and asked.against:
        fail("--against starts two servers; use --stdio or --start in place of --http")
    if asked.against_command and not asked.against:
        fail("--against-command says how the server of --against is run, but there is no --against")
    try:
        headers = dict(_pair(one, ":", "a header is written as 'Name: value'") for one in asked.headers)
        env = dict(_pair(one, "=", "a variable is written as NAME=VALUE") for one in asked.env)
        calls = tuple(map(messages.call, asked.calls))
        notices = tuple(map(_notice, asked.notices))
    except ValueError as error:
        fail(str(error))
    target = Target(
        stdio=asked.stdio,
        start=asked.start,
        url=asked.url,
        path=asked.path if asked.path.startswith("/") else f"/{asked.path}",
        port=asked.port,
        env=env,
        headers=headers,
        timeout=asked.timeout,
        startup=asked.startup,
    )
    wishes = Wishes(asked.dual, Plan(calls, guess=asked.guess), notices)
    try:
        split(asked.stdio or asked.start)
        if not asked.against:
            return verify(target, wishes)
        with revision.checkout(asked.against) as folder:
            return verify(target, wishes, before=_before(target, asked.against_command, folder), name=asked.against)
    except CannotStart as error:
        fail(str(error))


def _has_place(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _before(target: Target, command: str, folder: str) -> Target:
    path = revision.search_path(folder, target.env.get("PYTHONPATH", os.environ.get("PYTHONPATH", "")))
    before = dataclasses.replace(target, folder=folder, env={**target.env, "PYTHONPATH": path} if path else target.env)
    if target.stdio:
        return dataclasses.replace(before, stdio=command or target.stdio)
    return dataclasses.replace(before, start=command or target.start)


def _pair(written: str, between: str, wrong: str) -> tuple[str, str]:
    name, found, value = written.partition(between)
    if not found or not name.strip():
        raise ValueError(f"{written!r}: {wrong}")
    return name.strip(), value.strip() if between == ":" else value


def _notice(written: str) -> Notice:
    call = messages.call(written)
    method, _, uri = call.text.partition(" ")
    if method not in _CHANGES and not (method == _UPDATED and uri.strip()):
        raise ValueError(f"{written!r}: after the arrow comes one of {', '.join(_CHANGES)}, or {_UPDATED} and a URI")
    return Notice(dataclasses.replace(call, text=""), method, uri.strip())
