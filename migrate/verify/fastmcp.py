"""What the standalone `fastmcp` 4 says otherwise by itself, also of a server whose code it takes as it is.

Every kind is read from the two answers alone: what a list says more of a tool has to be made from its name or from what its description
said before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from .messages import Message, table

_LISTS = {"tools/list": "tools", "resources/list": "resources", "resources/templates/list": "resourceTemplates", "prompts/list": "prompts"}
_KEY, _FORMER_KEY = "fastmcp", "_fastmcp"
_WRAPPER = "Generic wrapper for non-object return types."
_WRAPPED = "_WrappedResult"
_APPS = "io.modelcontextprotocol/ui"
_SHOWN = 4  # places of one answer that are named


def speaks(listed: Mapping[str, Sequence[Message]]) -> bool:
    """Whether these lists are of a server of `fastmcp` 3 or later, which puts a word of its own into the metadata of all it has."""
    return any(_KEY in table(one.get("_meta")) for items in listed.values() for one in items)


def has_tasks(listed: Mapping[str, Sequence[Message]]) -> bool:
    """Whether a tool can be called as a task: release 2.14 promises that of any server."""
    return any(table(tool.get("execution")).get("taskSupport") in ("optional", "required") for tool in listed.get("tools", ()))


def own(asked: str, before: Message, after: Message, *, tasks: bool = False) -> str:
    """The places in which an answer differs, if `fastmcp` 4 makes all of these differences; nothing otherwise.

    `tasks` is whether the former server has tools that can be called as tasks.
    """
    one, two = deepcopy(before), deepcopy(after)
    for message in (one, two):
        message.pop("id", None)
    differing = [*_differing(one, two)]
    method = asked.partition(", page ")[0]
    if asked == "initialize":
        _agree_on_capabilities(one, two, tasks=tasks)
    elif method in _LISTS:
        was, now = (table(message.get("result")).get(_LISTS[method]) for message in (one, two))
        if isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
            for old, new in zip(was, now, strict=True):
                if isinstance(old, dict) and isinstance(new, dict):
                    _agree_on_item(old, new)
    elif asked.startswith("prompt "):
        _agree_on_description(table(one.get("result")), table(two.get("result")))
    elif asked == "an unknown tool":
        _agree_on_name(one, two)
    elif asked == "an unknown resource":
        return _SHOWN_CODE if _is_refused_anew(one, two) else ""
    if one != two or not differing:
        return ""
    more = f" and {len(differing) - _SHOWN} more" if len(differing) > _SHOWN else ""
    return f"{', '.join(differing[:_SHOWN])}{more}"


_SHOWN_CODE = "the code of an unknown resource"


def _agree_on_capabilities(one: Message, two: Message, *, tasks: bool) -> None:
    """The older releases say nothing of what they log, and that no list changes; they have an extension that is one of its own now."""
    was, now = (table(table(message.get("result")).get("capabilities")) for message in (one, two))
    for capabilities in (was, now):
        if capabilities.get("experimental") == {}:
            del capabilities["experimental"]
        for kind in ("tools", "resources", "prompts"):
            table(capabilities.get(kind)).pop("listChanged", None)
    if was.get("extensions") == {_APPS: {}} and "extensions" not in now:
        del was["extensions"]
    if not tasks and "tasks" not in now:
        was.pop("tasks", None)
    if now.get("logging") == {} and "logging" not in was:
        del now["logging"]
    for message in (one, two):
        table(table(message.get("result")).get("serverInfo")).pop("version", None)


def _agree_on_item(old: Message, new: Message) -> None:
    meta = old.get("_meta")
    if isinstance(meta, dict) and _FORMER_KEY in meta:
        old["_meta"] = {_KEY if key == _FORMER_KEY else key: value for key, value in meta.items()}
    if "title" not in old and new.get("title") == _words(str(new.get("name"))):
        del new["title"]
    whole = _agree_on_description(old, new)
    for was, now in _parameters(old, new):
        # What a docstring says of parameters is told where they are.
        if "description" not in was and _plain(str(now.get("description", ""))) in _plain(whole):
            now.pop("description", None)
    for key in ("inputSchema", "outputSchema"):
        for item in (old, new):
            if isinstance(item.get(key), dict):
                item[key] = _bare(item[key])
    if table(new.get("inputSchema")).get("additionalProperties") is False and "additionalProperties" not in table(old.get("inputSchema")):
        del new["inputSchema"]["additionalProperties"]
    if table(old.get("outputSchema")).get("description") == _WRAPPER and "description" not in table(new.get("outputSchema")):
        del old["outputSchema"]["description"]


def _agree_on_description(old: Message, new: Message) -> str:
    """A description ends where a docstring begins to speak of parameters; what it was is given back."""
    whole = str(old.get("description", ""))
    if (cut := new.get("description")) and whole.startswith(str(cut)):
        old["description"] = cut
    return whole


def _parameters(old: Message, new: Message) -> Iterator[tuple[Message, Message]]:
    """The parameters of a tool or a prompt, as both tell of them."""
    was, now = (table(table(item.get("inputSchema")).get("properties")) for item in (old, new))
    yield from ((table(was[name]), table(now[name])) for name in was.keys() & now.keys())
    first, second = (item.get("arguments") for item in (old, new))
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        yield from ((table(one), table(two)) for one, two in zip(first, second, strict=True))


def _bare(value: Any, defined: Mapping[str, Any] | None = None, name: str = "") -> Any:
    """A schema without names for its parts, and without titles that are made of names; `name` is that of a property, or of a part."""
    if isinstance(value, list):
        return [_bare(inner, defined) for inner in value]
    if not isinstance(value, dict):
        return value
    parts = value.get("$defs")
    if isinstance(parts, dict):
        defined = {**(defined or {}), **parts}
    part = str(value.get("$ref", "")).removeprefix("#/$defs/")
    if defined and isinstance(defined.get(part), dict):
        # A part that holds itself stays a name further in.
        rest = {key: one for key, one in defined.items() if key != part}
        whole = {key: one for key, one in defined[part].items() if key != "title" or one != part}
        return _bare({**whole, **{key: inner for key, inner in value.items() if key != "$ref"}}, rest, name)
    bare: Message = {}
    for key, inner in value.items():
        if key == "properties" and isinstance(inner, dict):
            bare[key] = {one: _bare(of, defined, one) for one, of in inner.items()}
        elif key != "$defs" and not (key == "title" and inner in (_words(name), _WRAPPED)):
            bare[key] = _bare(inner, defined)
    return bare


def _agree_on_name(one: Message, two: Message) -> None:
    """`Unknown tool: a` is `Unknown tool: 'a'` now."""
    was, now = (table(message.get("result")).get("content") for message in (one, two))
    if isinstance(was, list) and isinstance(now, list) and len(was) == len(now) == 1:
        old, new = table(was[0]), table(now[0])
        found = re.fullmatch(r"Unknown tool: '(.*)'", str(new.get("text")))
        if found is not None and old.get("text") == f"Unknown tool: {found[1]}":
            old["text"] = new["text"]


def _is_refused_anew(one: Message, two: Message) -> bool:
    """The code of the specification of 2025-11-25, and that of 2026-07-28."""
    was, now = (table(message.get("error")).get("code") for message in (one, two))
    return was in (0, -32002) and now == -32602


def _words(name: str) -> str:
    return name.replace("_", " ").replace("-", " ").title()


def _plain(text: str) -> str:
    return re.sub(r"\s", "", text)


def _differing(one: Any, two: Any, path: str = "") -> Iterator[str]:
    """The places of two answers that are not the same."""
    if isinstance(one, dict) and isinstance(two, dict):
        for key in sorted({*one, *two}):
            yield from _differing(one.get(key), two.get(key), f"{path}.{key}" if path else key)
    elif isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        for number, both in enumerate(zip(one, two, strict=True)):
            yield from _differing(*both, f"{path}[{number}]")
    elif json.dumps(one, sort_keys=True) != json.dumps(two, sort_keys=True):
        yield path
