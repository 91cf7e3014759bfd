"""Turns uses of the vocabulary into facts, once references to other modules are resolved.

A use is accepted on evidence: words that only MCP has speak for themselves, words that it shares with other protocols and
with plain English (`initialize`, `ping`) need a neighbour that does not.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from . import vocabulary as words
from .model import (
    CodeUse,
    Constant,
    ErrorCode,
    Fact,
    Handler,
    Header,
    HeaderUse,
    MetaKey,
    Ref,
    Role,
    Send,
    Shape,
    Use,
    Value,
    Version,
    VersionUse,
)

_HANDLER_SHAPES = {
    Role.COMPARE: Shape.COMPARE,
    Role.CASE: Shape.CASE,
    Role.MEMBER: Shape.MEMBER,
    Role.SUBSTRING: Shape.SUBSTRING,
}
_METHOD_LIKE = re.compile(r"method|\brpc\b|\bmeth\b|\bm$|\bcmd$|request_type|msg_type", re.IGNORECASE)
_REGISTRY_LIKE = re.compile(r"method|handler|rpc|dispatch|registry|route|table|endpoint|on_request|request", re.IGNORECASE)
_REGISTERING = re.compile(r"_*(register|add|on|set|bind|route|map|expose|method|handler|install|define|provide|attach)(_|$|[A-Z])")
_SENDING = re.compile(
    r"request|notif|send|call|rpc|dispatch|invoke|message|post|server_fn|exchange|query|write|_req$|ask|^handle|^process|method",
    re.IGNORECASE,
)
_NOT_SENDING = re.compile(
    r"^(patch|object|hasattr|getattr|setattr|delattr|assert\w*|get|pop|append|join|split|replace|startswith|endswith|Event|_|format|index|count|remove"
    r"|discard|setdefault|getenv|run|Popen|check_output|check_call|(?=\w*subprocess)\w+|system|spawn\w*|exec\w*|which|add_argument|add_parser|Path|compile|match|search|sub|mark|param|parametrize|Literal|TypeVar|print"
    r"|_report|title|cast|include_router|tool|command|option|Field|items|encode|len|str|sorted|set|list|tuple|frozenset|dict|any|all|isinstance)$"
)
_METHOD_KEYS = frozenset({"method", "rpc_method", "method_name", "methodname"})
_VERSION_NAME = re.compile(r"version|protocol|revision|\bspec\b", re.IGNORECASE)


def classify(uses: Sequence[Use], *, speaks: bool) -> Iterator[Fact]:
    """The facts of one file. `speaks`: the file is proven to speak MCP, so that shared words may count."""
    groups = _Groups(uses)
    for use in uses:
        value = _first_word(use.value) if isinstance(use.value, tuple) else use.value
        if isinstance(value, bool):
            continue
        if isinstance(value, int):
            yield from _error_code(use, value, speaks)
        elif isinstance(value, str):
            method = words.SPELLINGS.get(value, value)
            if method in words.METHODS or (use.role is Role.SUBSTRING and value.lower() not in words.HEADERS):
                yield from _method(replace(use, value=value), method, groups, speaks)
            elif value.lower() in words.HEADERS or value == "HTTP_MCP_SESSION_ID":
                yield from _header(use, "mcp-session-id" if value == "HTTP_MCP_SESSION_ID" else value.lower(), speaks)
            elif value in words.META_KEYS:
                yield MetaKey(use.span, value, use.scope)
            else:
                yield from _version(use, value, groups, speaks)


class _Groups:
    """What else is compared with the same value, registered by the same call, or named in the same class."""

    def __init__(self, uses: Sequence[Use]) -> None:
        self._words: dict[tuple[str, str, str], set[str]] = defaultdict(set)
        for use in uses:
            key = _group(use)
            if key is not None:
                for value in use.value if isinstance(use.value, tuple) else (use.value,):
                    if isinstance(value, str):
                        self._words[key].add(value)

    def all(self, use: Use) -> set[str]:
        key = _group(use)
        return self._words[key] if key is not None else set()

    def is_mcp(self, use: Use) -> bool:
        """Whether a word that only MCP has stands in the same group."""
        return any(word in words.METHODS and word not in words.COMMON_WORDS for word in self.all(use) | use.siblings)


def _group(use: Use) -> tuple[str, str, str] | None:
    match use.role:
        case Role.COMPARE | Role.CASE | Role.MEMBER | Role.SUBSTRING:
            return "test", use.scope, use.subject
        case Role.STORE:
            return "store", "", use.subject
        case Role.DECORATOR | Role.ARGUMENT:
            return "call", "", use.subject
        case Role.CONSTANT:
            return "constant", str(use.name).rpartition(".")[0], ""
        case Role.COLLECTION:
            return "collection", str(use.name), ""
        case Role.ANNOTATION | Role.FIELD:
            return "field", "", str(use.name)
    return None


def _method(use: Use, method: str, groups: _Groups, speaks: bool) -> Iterator[Fact]:
    common = use.value in words.COMMON_WORDS
    if common and not speaks:
        return
    last = use.subject.rpartition(".")[2]
    match use.role:
        case Role.COMPARE | Role.CASE | Role.MEMBER:
            if not common or _METHOD_LIKE.search(use.subject) or groups.is_mcp(use):
                yield _handler(use, method, _HANDLER_SHAPES[use.role])
        case Role.SUBSTRING:
            found = "initialize" if method in words.BEGINNINGS else method
            if speaks and found in words.METHODS and _METHOD_LIKE.search(use.subject):
                yield _handler(use, found, Shape.SUBSTRING)
        case Role.KEY if use.callable and (not common or groups.is_mcp(use) or len(use.siblings & words.METHODS) > 1):
            yield _handler(use, method, Shape.TABLE)
        case Role.STORE if use.callable and (not common or groups.is_mcp(use) or _REGISTRY_LIKE.search(use.subject)):
            yield _handler(use, method, Shape.TABLE)
        case Role.DECORATOR if not common or groups.is_mcp(use) or _REGISTRY_LIKE.search(last):
            if not _NOT_SENDING.match(last):
                yield _handler(use, method, Shape.DECORATOR)
        case Role.METHOD_NAME:
            yield _handler(use, method, Shape.ATTRIBUTE)
        case Role.ANNOTATION if str(use.name) in _METHOD_KEYS:
            yield _handler(use, method, Shape.TYPE)
        case Role.FIELD if str(use.name) in _METHOD_KEYS:
            yield Send(use.span, method, use.scope, Shape.CONSTANT, method.startswith("notifications/"))
        # register("ping", handler); a sending call with a payload variable looks the same, only its name tells.
        case Role.ARGUMENT if (
            use.callable
            and use.name == "0"
            and _REGISTERING.match(last)
            and (not common or groups.is_mcp(use) or _REGISTRY_LIKE.search(last))
        ):
            yield _handler(use, method, Shape.REGISTER)
        # An unknown name may send what only this protocol has; what is kept or common needs a name that says so.
        case Role.ARGUMENT if (
            last and not _NOT_SENDING.match(last) and (_SENDING.search(last) or not (common or method in words.KEPT_REQUESTS))
        ) and not (common and "event" in last.lower()):
            yield _send(use, method, Shape.ARGUMENT)
        case Role.KEYWORD if str(use.name) in _METHOD_KEYS:
            yield _send(use, method, Shape.KEYWORD)
        case Role.ENTRY if str(use.name) in _METHOD_KEYS:
            yield _send(use, method, Shape.LITERAL)
        case Role.TEXT:
            yield _send(use, method, Shape.TEXT)
        case Role.CONSTANT if not common or groups.is_mcp(use):
            yield Constant(use.span, method, use.scope, name=str(use.name))
        case Role.COLLECTION if groups.is_mcp(use) or len(use.siblings & (words.METHODS | set(words.SPELLINGS))) > 1:
            yield _handler(use, method, Shape.MEMBER)


def _handler(use: Use, method: str, shape: Shape) -> Handler:
    return Handler(use.span, method, use.scope, shape, negated=use.negated, body=use.body, trivial=use.trivial)


def _send(use: Use, method: str, shape: Shape) -> Send:
    return Send(use.span, method, use.scope, shape, notification=method.startswith("notifications/"))


def _error_code(use: Use, code: int, speaks: bool) -> Iterator[Fact]:
    if not speaks:
        return
    name = use.name if isinstance(use.name, str) else ""
    kind = CodeUse.SEND
    text = use.text
    match use.role:
        case Role.COMPARE | Role.MEMBER | Role.KEY | Role.CASE:
            kind = CodeUse.COMPARE
        case Role.CONSTANT | Role.FIELD:
            kind, text = CodeUse.CONSTANT, name
        case Role.COLLECTION:
            kind = CodeUse.COMPARE
        case Role.KEYWORD if name not in ("code", "error_code", "rpc_code", "errcode"):
            kind, text = CodeUse.CONSTANT, f"{name} {use.text}"
        case Role.ENTRY if name and name.lower() not in ("code", "error_code", "errorcode"):
            kind, text = CodeUse.CONSTANT, f"{name} {use.text}"
    beside = frozenset(str(item) for item in use.name if item != code) if isinstance(use.name, tuple) else frozenset()
    yield ErrorCode(
        use.span,
        str(code),
        use.scope,
        kind,
        text=text or use.scope.rpartition(".")[2],
        method=use.around,
        name=name if kind is CodeUse.CONSTANT else "",
        beside=beside,
    )


def _version(use: Use, value: str, groups: _Groups, speaks: bool) -> Iterator[Fact]:
    name = use.name if isinstance(use.name, str) else ""
    kind: VersionUse | None = None
    match use.role:
        case Role.ENTRY if name.replace("_", "").lower() == "protocolversion":
            kind = VersionUse.SEND if "clientInfo" in use.siblings else VersionUse.REPLY
        case Role.ENTRY if name.lower() == "mcp-protocol-version":
            kind = VersionUse.HEADER
        case Role.KEYWORD if name.replace("_", "").lower() == "protocolversion":
            kind = VersionUse.REPLY
        case Role.CONSTANT | Role.FIELD if _VERSION_NAME.search(name):
            kind = VersionUse.CONSTANT
        case Role.COLLECTION if _VERSION_NAME.search(name) or len(groups.all(use) & words.VERSIONS) > 1:
            # One finding a list: the newest entry stands for it.
            if value == max(groups.all(use) & words.VERSIONS, default=value):
                kind = VersionUse.LIST
        case Role.DEFAULT if value in words.VERSIONS or name != "environ":
            kind = VersionUse.DEFAULT
        case Role.ECHO:
            kind = VersionUse.ECHO
        case Role.COMPARE if use.name == "order":
            kind = VersionUse.ORDER
        case Role.COMPARE | Role.MEMBER | Role.CASE if _VERSION_NAME.search(use.subject):
            kind = VersionUse.COMPARE
    if kind is not None and (speaks or (kind in (VersionUse.REPLY, VersionUse.SEND) and value in words.VERSIONS)):
        yield Version(use.span, value, use.scope, kind)


def _header(use: Use, header: str, speaks: bool) -> Iterator[Fact]:
    if header == "last-event-id" and not speaks:
        return
    kind = HeaderUse.READ
    match use.role:
        case Role.GET if use.name == "alias":
            kind = HeaderUse.ALIAS
        case Role.KEY | Role.STORE | Role.PAIR:
            kind = HeaderUse.WRITE
        case Role.CONSTANT | Role.FIELD:
            kind = HeaderUse.CONSTANT
        case Role.COLLECTION | Role.MEMBER | Role.OTHER | Role.KEYWORD:
            kind = HeaderUse.LIST
        case Role.ARGUMENT if re.search(r"set|send_header|add|append|write|putheader", use.subject.rpartition(".")[2], re.IGNORECASE):
            kind = HeaderUse.WRITE
        case Role.ENTRY:
            return
    yield Header(use.span, header, use.scope, kind)


def _first_word(value: tuple[Value, ...]) -> Value | None:
    """A named set stands for one finding where it is used: the first removed method in it, then any word."""
    found = [item for item in value if isinstance(item, str)]
    for item in found:
        if words.SPELLINGS.get(item, item) in words.REMOVED_REQUESTS | words.NOTIFICATIONS:
            return item
    return found[0] if found else next((item for item in value if isinstance(item, int)), None)


def is_reference(value: Value) -> bool:
    """Whether a value, or a part of it, is a name that another module defines."""
    return isinstance(value, Ref) or (isinstance(value, tuple) and any(is_reference(item) for item in value))
