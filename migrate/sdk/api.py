"""What the official SDK defines, in both majors: the table that `tests/sdk_api.py` reads from the installed releases.

For code that imports the standalone package `fastmcp`, what its releases define is in the same table: its names all begin with `fastmcp`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, cast

from .types import URI, URL, Instance, Known, members, parse

# What the SDK's own annotations leave open.
_SESSION = "mcp.client.session.ClientSession"
_SERVER = "mcp.server.lowlevel.server.Server"
_STREAM = "Stream[mcp.shared.message.SessionMessage]"
_STREAMS = f"AsyncContext[tuple[{_STREAM}, {_STREAM}]]"
_MEMORY = f"AsyncContext[tuple[tuple[{_STREAM}, {_STREAM}], tuple[{_STREAM}, {_STREAM}]]]"
_FIELDS: Mapping[str, str] = {
    "mcp.server.fastmcp.server.Context.session": "mcp.server.session.ServerSession",
    "mcp.server.mcpserver.context.Context.session": "mcp.server.session.ServerSession",
    "mcp.server.lowlevel.server.Server.request_handlers": "mcp.server.lowlevel.server.Server.request_handlers",
    "mcp.server.lowlevel.server.Server.request_context": "mcp.shared.context.RequestContext[mcp.server.session.ServerSession]",
    "mcp.server.context.ServerRequestContext.session": "mcp.server.session.ServerSession",
    "mcp.shared.context.RequestContext.session": "mcp.server.session.ServerSession | mcp.client.session.ClientSession",
    "mcp.server.fastmcp.server.FastMCP._mcp_server": _SERVER,
    "mcp.server.fastmcp.server.FastMCP._tool_manager": "mcp.server.fastmcp.tools.tool_manager.ToolManager",
    "mcp.server.fastmcp.server.FastMCP._prompt_manager": "mcp.server.fastmcp.prompts.manager.PromptManager",
    "mcp.server.fastmcp.server.FastMCP._resource_manager": "mcp.server.fastmcp.resources.resource_manager.ResourceManager",
    "mcp.server.fastmcp.server.FastMCP.settings": "mcp.server.fastmcp.server.Settings",
    "mcp.server.mcpserver.server.MCPServer._lowlevel_server": _SERVER,
    "fastmcp.server.middleware.MiddlewareContext.fastmcp_context": "fastmcp.Context",
    "mcp.server.mcpserver.server.MCPServer.settings": "mcp.server.mcpserver.server.Settings",
}
_RESULTS: Mapping[str, str] = {
    "mcp.client.stdio.stdio_client": _STREAMS,
    "mcp.client.sse.sse_client": _STREAMS,
    "mcp.client.streamable_http.streamable_http_client": f"AsyncContext[tuple[{_STREAM}, {_STREAM}, Any]]",
    "mcp.client.streamable_http.streamablehttp_client": f"AsyncContext[tuple[{_STREAM}, {_STREAM}, Any]]",
    "mcp.client.websocket.websocket_client": _STREAMS,
    "mcp.server.stdio.stdio_server": _STREAMS,
    "mcp.server.sse.SseServerTransport.connect_sse": _STREAMS,
    "mcp.server.streamable_http.StreamableHTTPServerTransport.connect": _STREAMS,
    "mcp.shared.memory.create_client_server_memory_streams": _MEMORY,
    # What takes its place gives a `Client`, which has the same methods.
    "mcp.shared.memory.create_connected_server_and_client_session": "AsyncContext[mcp.client.client.Client]",
    "mcp.client.session_group.ClientSessionGroup.connect_to_server": f"Awaitable[{_SESSION}]",
    "mcp.server.fastmcp.server.Context.elicit": "Awaitable[mcp.server.elicitation.AcceptedElicitation"
    " | mcp.server.elicitation.DeclinedElicitation | mcp.server.elicitation.CancelledElicitation]",
}
# Private parts that code reaches for.
_PRIVATE: Mapping[str, frozenset[str]] = {
    _SERVER: frozenset(
        {
            "_handle_message", "_handle_request", "_handle_notification", "_tool_cache", "_get_cached_tool_definition",
            "_make_error_result",
        }
    ),
    "mcp.server.session.ServerSession": frozenset({"_initialization_state"}),
    "fastmcp.FastMCP": frozenset(
        {
            "_call_tool_mcp", "_get_prompt_mcp", "_list_prompts_mcp", "_list_resource_templates_mcp", "_list_resources_mcp",
            "_list_tools_mcp", "_mcp_call_tool", "_mcp_get_prompt", "_mcp_list_prompts", "_mcp_list_resources", "_mcp_list_tools",
            "_mcp_read_resource", "_mounted_servers", "_read_resource_mcp",
        }
    ),
    "mcp.server.fastmcp.server.FastMCP": frozenset({"_event_store", "_retry_interval", "_session_manager", "_setup_handlers"}),
}  # fmt: skip
# What fastmcp 3 has besides: its module needs a package of its own, so that no table holds it.
_UNREAD = frozenset({"fastmcp.client.sampling.handlers.openai.OpenAISamplingHandler"})
_SELF = ("__aenter__", "__enter__")
_SDK = frozenset({"mcp", "mcp_types"})
_STANDALONE = "fastmcp"
_WITH_STANDALONE = _SDK | {_STANDALONE}
# What these had under their older names is still asked for where the class has been renamed already.
_FORMER: Mapping[str, str] = {
    "mcp.server.mcpserver.server.MCPServer": "mcp.server.fastmcp.server.FastMCP",
    "mcp.server.mcpserver.context.Context": "mcp.server.fastmcp.server.Context",
    "mcp.server.mcpserver.resources.types.FileResource": "mcp.server.fastmcp.resources.types.FileResource",
}


class Api:
    """Both releases. A canonical name is that of the module that defines the thing; for protocol types it is `mcp.types.X`."""

    def __init__(self, table: Mapping[str, Any], standalone: Mapping[str, Any] | None = None) -> None:
        self.old, self.new = table["1"], table["2"]
        self.standalone: Mapping[str, Any] = standalone or {}
        """The releases of `fastmcp` by their major; nothing where no code imports it."""
        if standalone:
            # Code for 2 and code for 3 look alike: where both have a thing, that of 3 counts.
            self.old = _merged(self.old, standalone["2"], standalone["3"])
            self.new = _merged(self.new, standalone["4"])
        self._new_names: dict[str, bool] = {}

    @property
    def roots(self) -> frozenset[str]:
        """The packages whose names are known."""
        return _WITH_STANDALONE if self.standalone else _SDK

    def is_module(self, name: str) -> bool:
        return name in self.old["modules"] or name in self.new["modules"]

    def names(self, module: str) -> frozenset[str]:
        """The public names of a module, in either release."""
        return frozenset(name for release in (self.old, self.new) for name in release["modules"].get(module, ()))

    def exported(self, module: str, name: str) -> str | None:
        """The canonical name behind `from module import name`, as the older release has it, else the newer one."""
        for release in (self.old, self.new):
            found = release["modules"].get(module, {}).get(name)
            if found is not None:
                return str(found)
            if f"{module}.{name}" in release["modules"]:
                return f"{module}.{name}"
        return None

    def exported_new(self, module: str, name: str) -> str | None:
        """The canonical name behind an import in the newer release."""
        found = self.new["modules"].get(module, {}).get(name)
        return None if found is None else str(found)

    def stays(self, module: str, name: str) -> bool:
        """Whether `from module import name` works in the newer release."""
        exports = self.new["modules"].get(module)
        return exports is not None and (name in exports or f"{module}.{name}" in self.new["modules"])

    def was(self, module: str, name: str) -> bool:
        """Whether `from module import name` works in the older release."""
        exports = self.old["modules"].get(module)
        return exports is not None and (name in exports or f"{module}.{name}" in self.old["modules"])

    def kept(self, module: str, name: str = "") -> bool:
        """Whether an import works in the older of the two releases that one source may have to run with: mcp 1, or fastmcp 3."""
        held = self.standalone["3"] if self.standalone and module.partition(".")[0] == _STANDALONE else self.old
        exports = held["modules"].get(module)
        if exports is None:
            return f"{module}.{name}" in _UNREAD
        return not name or name in exports or f"{module}.{name}" in held["modules"]

    def is_class(self, name: str) -> bool:
        return name in self.old["classes"] or name in self.new["classes"]

    def is_function(self, name: str) -> bool:
        return name in self.old["functions"] or name in self.new["functions"]

    def alias(self, name: str) -> Known | None:
        """What a type alias stands for, by the name of the module that it is taken from and its own."""
        for release in (self.old, self.new):
            if name in release["aliases"]:
                return parse(release["aliases"][name])
        return None

    def bases(self, name: str) -> Iterator[str]:
        """The class and all SDK classes that it derives from, nearest first."""
        yield name
        for release in (self.old, self.new):
            entry = release["classes"].get(name)
            if entry is not None:
                yield from entry["bases"]
                return

    def owner(self, cls: str, attribute: str) -> str | None:
        """The class that defines a field, property, method or nested class."""
        for base in self.bases(cls):
            if attribute in _PRIVATE.get(base, ()):
                return base
            for release in (self.old, self.new):
                entry = release["classes"].get(base)
                if entry is not None and (attribute in entry["fields"] or attribute in entry["methods"]):
                    return base
        return self.owner(_FORMER[cls], attribute) if cls in _FORMER else None

    def field(self, cls: str, name: str) -> Known | None:
        """The type of a field; None where it is not known, or where this is a method."""
        owner = self.owner(cls, name)
        known = _FIELDS.get(f"{owner}.{name}")
        if known is not None:
            return parse(known)
        for release in (self.old, self.new):
            entry = release["classes"].get(owner)
            if entry is not None and name in entry["fields"]:
                return Instance(URI) if owner is not None and name == "uri" and self.is_text_now(owner) else parse(entry["fields"][name])
        return None

    def is_text_now(self, cls: str) -> bool:
        """Whether the field `uri` of a class was an `AnyUrl`, and is plain text now."""
        old = self.old["classes"].get(cls, {}).get("fields", {}).get("uri")
        moved = cls.replace("mcp.server.fastmcp.", "mcp.server.mcpserver.")
        return bool(old == URL and self.new["classes"].get(moved, {}).get("fields", {}).get("uri") == "str")

    def is_union(self, cls: str) -> bool:
        """Whether a class was a wrapper around one of several models (`.root`), and is their plain union now."""
        entry = self.old["classes"].get(cls)
        return bool(
            entry is not None and entry.get("model") == ["root"] and cls not in self.new["classes"] and cls.startswith("mcp.types.")
        )

    def has_new_names(self, cls: str) -> bool:
        """Whether a dump of a model, with all that it holds, has other keys now: its fields are in snake case, its aliases are not."""
        if cls not in self._new_names:
            self._new_names[cls] = False  # for models that hold themselves
            old, new = self.old["classes"].get(cls, {}), self.new["classes"].get(cls)
            own = any(self.renamed(cls, name) for name in old.get("fields", ()))
            held = (parse(text) for text in (new or old).get("fields", {}).values())
            self._new_names[cls] = own or any(self.has_new_names(name) for known in held for name in _named(known))
        return self._new_names[cls]

    def is_method(self, cls: str, name: str) -> bool:
        owner = self.owner(cls, name)
        return any(name in release["classes"].get(owner, {}).get("methods", ()) for release in (self.old, self.new))

    def nested(self, cls: str, name: str) -> str | None:
        """The class that stands inside of another one."""
        text = self._result(cls, name)
        return text.removeprefix("type ") if text is not None and text.startswith("type ") else None

    def returned(self, name: str) -> Known | None:
        """What a function gives, or a method by `Class.method`; None where it is not known."""
        if name in _RESULTS:
            return parse(_RESULTS[name])
        for release in (self.old, self.new):
            if name in release["functions"]:
                return parse(release["functions"][name])
        cls, _, method = name.rpartition(".")
        text = self._result(cls, method)
        if text is None or text.startswith("type "):
            return None
        if method in _SELF and text in ("Any", "Awaitable[Any]"):
            return parse(cls if method == "__enter__" else f"Awaitable[{cls}]")
        return parse(text)

    def fields(self, cls: str) -> frozenset[str] | None:
        """The fields of a model in the newer release, with their aliases; None for what is no model."""
        entry = self.new["classes"].get(cls)
        return frozenset([*entry["model"], *entry.get("aliases", {}).values()]) if entry is not None and "model" in entry else None

    def renamed(self, cls: str, name: str) -> str | None:
        """The newer name of a field of a model, where that is another one."""
        for base in self.bases(cls):
            entry = self.new["classes"].get(base)
            for new, alias in (entry or {}).get("aliases", {}).items():
                if alias == name and new not in ("meta",):
                    return str(new)
        return None

    def parameters(self, cls: str, *, new: bool = False) -> tuple[str, ...] | None:
        """The parameters of a constructor, in order, behind a `*` those that have to be named."""
        entry = (self.new if new else self.old)["classes"].get(cls)
        return tuple(entry["parameters"]) if entry is not None and "parameters" in entry else None

    def _result(self, cls: str, method: str) -> str | None:
        owner = self.owner(cls, method)
        for release in (self.old, self.new):
            entry = release["classes"].get(owner)
            if entry is not None and method in entry["methods"]:
                return str(entry["methods"][method])
        return None


def _named(known: Known | None) -> Iterator[str]:
    """The classes of the SDK that a type speaks of."""
    for one in members(known):
        if isinstance(one, Instance):
            if one.name.partition(".")[0] in _WITH_STANDALONE:
                yield one.name
            for inner in one.args:
                yield from _named(inner)


def _merged(*releases: Mapping[str, Any]) -> dict[str, Any]:
    """One table of several releases; the later ones win."""
    out: dict[str, Any] = {}
    for kind in ("modules", "classes", "functions", "aliases"):
        found: dict[str, Any] = {}
        for release in releases:
            for name, entry in release[kind].items():
                known = found.get(name)
                found[name] = _united(known, entry) if isinstance(known, dict) else entry
        out[kind] = found
    return out


def _united(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """What a module or class has in either of two releases."""
    return {**one, **{key: {**one[key], **value} if isinstance(value, dict) and key in one else value for key, value in other.items()}}


@cache
def load(*, standalone: bool = False) -> Api:
    """The tables of this package; that of the SDK costs 7 ms, and that of `fastmcp` 14 more: each is read only where it is imported."""
    table = _read("mcp2")
    return Api(table, _read("fastmcp4") if standalone else None)


def _read(pack: str) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", json.loads(files("mcp_migrate.rules").joinpath(pack).joinpath("api.json").read_text(encoding="utf-8")))
