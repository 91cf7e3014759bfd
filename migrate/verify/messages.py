"""What a client sends, and what a willing one answers when it is asked."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Message = dict[str, Any]

MODERN = "2026-07-28"
OLDER = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
PAGES = 20  # of one list that are asked for
PREFIX = "io.modelcontextprotocol/"
VERSION, CLIENT, CAPABILITIES = f"{PREFIX}protocolVersion", f"{PREFIX}clientInfo", f"{PREFIX}clientCapabilities"
SERVER, SUBSCRIPTION = f"{PREFIX}serverInfo", f"{PREFIX}subscriptionId"

ME = {"name": "mcp-migrate", "version": "1"}
ABLE: Mapping[str, Any] = {"elicitation": {"form": {}}, "sampling": {}, "roots": {}}
"""The capabilities of a client that answers all that it may be asked."""

# Which parameter a header repeats, by method.
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

# What stands in a header as it is: visible characters, with blanks only between them, and nothing that looks like Base64.
_PLAIN = re.compile(r"(?!=\?base64\?.*\?=\Z)[!-~](?:[\t -~]*[!-~])?")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call to make, and text that its result has to hold; `guessed` arguments may be refused by the tool."""

    name: str
    arguments: Mapping[str, Any]
    text: str = ""
    guessed: bool = False


class Notice(NamedTuple):
    """A call, and the notification that an open subscription has to get for it; `uri` is that of a resource, "" for a list."""

    call: Call
    method: str
    uri: str


def table(value: Any) -> Message:
    """What came, as the object that it should be; an empty one where it is something else. Servers send anything."""
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[Message]:
    """The objects of what came as a list; none where it is something else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def wanted(prompt: Mapping[str, Any]) -> Message:
    """The smallest arguments of a prompt that was listed."""
    return {name: "x" for one in rows(prompt.get("arguments")) if one.get("required") and isinstance(name := one.get("name"), str)}


def call(written: str) -> Call:
    """A call from `NAME {json} => text`; arguments and text may be left out. Raises ValueError."""
    asked, arrow, text = written.partition("=>")
    name, _, arguments = asked.strip().partition(" ")
    if not name or (arrow and not text.strip()):
        raise ValueError(f"{written!r} is not written as 'NAME {{json}} => text'")
    try:
        given = json.loads(arguments) if arguments.strip() else {}
    except ValueError as error:
        raise ValueError(f"the arguments in {written!r} are no JSON: {error}") from None
    if not isinstance(given, dict):
        raise ValueError(f"the arguments in {written!r} are no JSON object")
    return Call(name, given, text.strip())


_GUESSES = 6
_LONGEST = 1000  # characters or entries of an argument that nobody named
UNCALLED = "no tool says that it only reads; name calls with --call, or have tools tried with --guess"


@dataclass(frozen=True, slots=True)
class Plan:
    """Which tools are called: those that were named; else those that say that they only read, or any of them (`guess`).

    What does not say that it only reads may delete, as the specification has it.
    """

    calls: tuple[Call, ...] = ()
    guess: bool = False

    def of(self, tools: Sequence[Mapping[str, Any]]) -> list[Call]:
        """The calls to make of these tools; arguments that nobody named are the smallest that the schema allows."""
        if self.calls:
            return [*self.calls]
        fit = [tool for tool in tools if self.guess or table(tool.get("annotations")).get("readOnlyHint") is True]
        made = [(str(tool.get("name")), sample(tool.get("inputSchema"))) for tool in fit[:_GUESSES]]
        return [Call(name, arguments if isinstance(arguments, dict) else {}, guessed=True) for name, arguments in made]


NOTHING = Plan()


def envelope(*, version: str | None = MODERN, client: bool = True, capabilities: Mapping[str, Any] | None = ABLE) -> Message:
    """The `_meta` of a 2026-07-28 request; None leaves a field out."""
    meta: Message = {}
    if version is not None:
        meta[VERSION] = version
    if client:
        meta[CLIENT] = ME
    if capabilities is not None:
        meta[CAPABILITIES] = capabilities
    return meta


def handshake(version: str) -> Message:
    """The parameters of `initialize`."""
    return {"protocolVersion": version, "capabilities": ABLE, "clientInfo": ME}


def answer(asked: Mapping[str, Any]) -> Message:
    """What a willing client answers to one request for input."""
    params = table(asked.get("params"))
    match asked.get("method"):
        case "elicitation/create":
            return {"action": "accept", "content": table(sample(params.get("requestedSchema")))}
        case "sampling/createMessage":
            text = {"type": "text", "text": "sampled text"}
            return {"role": "assistant", "model": "none", "stopReason": "endTurn", "content": text}
        case _:
            return {"roots": [{"uri": "file:///root", "name": "root"}]}


def usual_headers(message: Mapping[str, Any]) -> dict[str, str]:
    """The headers that a client of 2026-07-28 sends with a message, but for those that repeat arguments."""
    params, method = message.get("params") or {}, str(message.get("method"))
    found = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": str((params.get("_meta") or {}).get(VERSION, MODERN)),
        "Mcp-Method": method,
    }
    name = params.get(NAMED.get(method, ""))
    return {**found, "Mcp-Name": _coded(name)} if isinstance(name, str) else found


def repeated(schema: Any, arguments: Any) -> dict[str, str]:
    """The headers that repeat arguments of a tool, as `x-mcp-header` in its schema wants it."""
    inner = schema.get("properties") if isinstance(schema, Mapping) else None
    found: dict[str, str] = {}
    for name, part in inner.items() if isinstance(inner, Mapping) and isinstance(arguments, Mapping) else ():
        value = arguments.get(name)
        if value is not None and isinstance(part, Mapping):
            if isinstance(header := part.get("x-mcp-header"), str) and _TOKEN.fullmatch(header):
                found[f"Mcp-Param-{header}"] = _coded(str(value).lower() if isinstance(value, bool) else str(value))
            found |= repeated(part, value)
    return found


def in_base64(text: str) -> str:
    """A text as a header has it that cannot hold it as it is."""
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'surrogatepass')).decode()}?="


def _coded(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else in_base64(text)


def sample(schema: Any, depth: int = 0) -> Any:
    """The smallest value that a JSON schema allows, as far as its plain keywords tell."""
    if not isinstance(schema, Mapping) or depth > 8:
        return "x"
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("enum", "examples"):
        if isinstance(listed := schema.get(key), Sequence) and listed:
            return listed[0]
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(listed := schema.get(key), Sequence) and listed:
            return sample(listed[0], depth + 1)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object" or "properties" in schema:
        inner, required = table(schema.get("properties")), schema.get("required")
        names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        return {name: sample(inner.get(name), depth + 1) for name in names}
    if kind == "array":
        return [sample(schema.get("items"), depth + 1) for _ in range(_least(schema.get("minItems")))]
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    if kind in ("boolean", "null"):
        return True if kind == "boolean" else None
    return "x" * max(1, _least(schema.get("minLength")))


def _least(number: Any) -> int:
    """A least length that a schema asks for, if it is one that a client would send."""
    return min(int(number), _LONGEST) if isinstance(number, (int, float)) and 0 <= number < float("inf") else 0


def listed(result: Mapping[str, Any] | None, kind: str) -> list[Message]:
    """What one page of a list (`tools`, `resources`, `prompts`) holds, without what is no object."""
    return rows((result or {}).get(kind))


def said(result: Mapping[str, Any] | None) -> str:
    """All text of a tool's result."""
    content = (result or {}).get("content")
    return " ".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping)) if isinstance(content, list) else ""
