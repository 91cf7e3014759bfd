"""Asks an outside judge about a server, and tells what a rewrite has broken from what a server answered before it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from starting import Host

GROUPS = ("raw+schema", "py-sdk v2", "py-sdk v1")
DISCOVER = "discover: answered"
SCHEMA = "schema: "
# What is not valid through no fault of a rewrite: what only older clients are answered, and what a tool itself brings.
NOT_OURS = re.compile(r"(initialize|ping|logging/setLevel): |tools/call: CallToolResult(\.content\b|: 'content' is a required)")

# What a server answers itself, whatever stands before it: the checks of each group that ask for it.
OWN = {
    "unknown tool": re.compile(r"tools/call: unknown tool"),
    "unknown resource": re.compile(r"unknown resource"),
    "first resource": re.compile(r"resources/read: first|read_resource"),
    "first prompt": re.compile(r"prompts/get: first|get_prompt"),
    "list": re.compile(r"(?:tools|resources|prompts)/list: answered|list_(?:tools|resources|prompts)$"),
    "output": re.compile(r"nothing but JSON on stdout"),
}
ANY_CALL = "any call"
CALL = re.compile(r"(?:call_tool|tools/call:) (?P<tool>\S+)$")
OUTCOME = re.compile(
    r"got (?:HTTP \d+, )?error (-\d+)|MCPError (-\d+)|(isError)|got (?:HTTP \d+, )?(result)|a (result) came back|(ValidationError)"
    r"|(did not return structured content)"
)


class Check(NamedTuple):
    """A check that failed, and what the judge says."""

    group: str
    name: str
    detail: str

    @property
    def subject(self) -> str | None:
        """What of the server's own answers it asks for."""
        if call := CALL.search(self.name):
            return f"call {call['tool']}"
        return next((subject for subject, pattern in OWN.items() if pattern.search(self.name)), None)

    @property
    def family(self) -> str:
        return ANY_CALL if CALL.search(self.name) else ""

    @property
    def outcome(self) -> str:
        told = OUTCOME.search(self.detail)
        return next(filter(None, told.groups())) if told else ""

    @property
    def legacy(self) -> bool:
        """Whether it looks at what older clients get."""
        return self.group == "py-sdk v1" or "legacy" in self.name

    def __str__(self) -> str:
        return f"{self.group}: {self.name.removeprefix(f'{self.group} ').removeprefix(f'{self.group}: ')}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge says of one server in one era."""

    passed: Mapping[str, int] = field(default_factory=dict)  # by group
    failed: tuple[Check, ...] = ()
    before: tuple[Check, ...] = ()  # failed, but as they did before the rewrite
    trouble: str = ""  # why there is nothing to judge

    @property
    def passes(self) -> bool:
        return not self.failed and not self.trouble

    @property
    def clean(self) -> bool:
        return self.passes and not self.before

    def beside(self, untouched: Verdict, modern: Verdict, told: Collection[tuple[str, str]] = ()) -> Verdict:
        """The same, with the failures set apart that the untouched server shows as well, to the judge or to an older client.

        What only older clients are sent is not valid where nothing else is than in `modern`: their session has the same bytes.
        """
        valid = not modern.trouble and not any(check.name.startswith(SCHEMA) for check in modern.failed)
        earlier = tuple(
            check
            for check in self.failed
            if _is_earlier(check, untouched.failed)
            or (check.outcome and {(check.subject, check.outcome), (check.family, check.outcome)} & {*told})
            or (valid and check.name.startswith(SCHEMA))
        )
        return Verdict(self.passed, tuple(check for check in self.failed if check not in earlier), earlier, self.trouble)


def outcomes(said: Mapping[str, str], tool: str) -> Iterator[tuple[str, str]]:
    """What the untouched server answers itself, once it knows the client: what it says in a session, by its subject and kind.

    The judge brings no session, so a server that wants one refuses what the judge asks of it, whatever it would have answered.
    """
    replies = {step: [*_replies(said.get(step, ""))] for step in ("unknown tool", "call", "unknown method")}
    alike = {json.dumps([{**reply, "id": 0} for reply in told], sort_keys=True) for told in replies.values()}
    if len(alike) == 1 and any("result" in reply for reply in replies["unknown method"]):
        # Whatever is called has the result of a method that nobody serves: there are no calls.
        yield ANY_CALL, "-32601"
    for subject, step in (("unknown tool", "unknown tool"), (f"call {tool}", "call")):
        for reply in replies[step]:
            error, result = reply.get("error"), reply.get("result")
            if isinstance(error, dict):
                yield subject, str(error.get("code"))
            elif isinstance(result, dict) and result.get("isError") is True:
                yield subject, "isError"
            elif isinstance(result, dict) and step == "unknown tool":
                yield subject, "result"  # of a call that is known it says nothing


def _replies(text: str) -> Iterator[dict[str, Any]]:
    """The replies in a body, behind the status and the headers, or in an event stream."""
    at = text.find("{")
    while at >= 0:
        try:
            found, end = json.JSONDecoder().raw_decode(text, at)
        except ValueError:
            end = at + 1
        else:
            if "jsonrpc" in found:
                yield found
        at = text.find("{", end)


def ask(judge: Path, host: Host, era: str, only: str = "raw,clients") -> Verdict:
    recipe = host.recipe
    command = ["--stdio"] if recipe.run else ["--path", recipe.path, "--start"]
    command.append(shlex.join(host.argv(recipe.run or recipe.serve)))
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "judged.json")
        argv = [sys.executable, str(judge), "--only", only, "--era", era, "--json", str(report), *command]
        argv += [part for call in recipe.calls for part in ("--call", call)]
        done = subprocess.run(argv, cwd=host.folder, capture_output=True, text=True)
        if not report.exists():
            raise OSError(f"the judge could not run: {(done.stderr or done.stdout).strip()[-300:]}")
        said = json.loads(report.read_text(encoding="utf-8"))
    if "dead" in said:
        return Verdict(trouble=f"does not start: {said['dead'].strip()[-200:]}")
    passed = Counter(check["group"] for check in said["checks"] if check["status"] == "pass")
    failed = tuple(_failed(said["checks"], recipe.mask))
    # Without it, nearly every other check fails for the same reason.
    deaf = next((f"`server/discover` is not answered: {check.detail}" for check in failed if check.name.startswith(DISCOVER)), "")
    return Verdict(passed, failed, trouble=deaf)


def _failed(checks: list[dict[str, str]], mask: str) -> Iterator[Check]:
    for check in checks:
        if check["status"] == "fail":
            detail = " ".join(check["detail"].split())
            yield Check(check["group"], check["check"], re.sub(mask, "...", detail) if mask else detail)


def _is_earlier(check: Check, untouched: tuple[Check, ...]) -> bool:
    same = [other for other in untouched if other.name == check.name]
    if check.legacy:
        return bool(same)
    if check.name.startswith(SCHEMA):
        # The judge names the first messages that are not valid, so those of the untouched server may hide behind others.
        pieces = re.split(r"; (?=[\w/$]+: [A-Z])", check.detail)
        told = {piece for piece in pieces if not NOT_OURS.match(piece)}
        return not told or any(all(piece in other.detail for piece in told) for other in same)
    if CALL.search(check.name) and "CallToolResult.content" in check.detail:
        return True
    # The untouched server does not know the revision, so only what it answers itself can be compared, and that by its kind.
    if not check.outcome and check.subject != "output":
        return False
    return check.subject is not None and any((check.subject, check.outcome) == (o.subject, o.outcome) for o in untouched)
