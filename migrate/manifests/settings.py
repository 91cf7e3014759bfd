"""YAML files with lists of requirements, and update bots."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import yaml

from ..facts.model import Fact, Place, Remark, Requirement
from ..source import Span
from .entries import Where, requirement
from .offsets import Offsets

_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Unread(ValueError):
    """No YAML."""


def read_environment(text: str) -> Iterator[Fact]:
    """The part of a conda environment that pip reads. What conda itself is asked for has versions of another kind."""
    for key, node in _pairs(_root(text)):
        if key == "dependencies" and isinstance(node, yaml.SequenceNode):
            for item in node.value:
                if isinstance(item, yaml.MappingNode):
                    for name, listed in _pairs(item):
                        if name == "pip" and isinstance(listed, yaml.SequenceNode):
                            yield from _listed(text, listed, Where(Place.DEPENDENCY, "pip"))
                elif isinstance(item, yaml.ScalarNode) and re.match(r"mcp\b(?!-)", item.value):
                    offset = Offsets(text)
                    span = Span(offset(item.start_mark.index), offset(item.end_mark.index))
                    found = requirement(re.sub(r"(?<![<>=!~])=(?!=)", "==", item.value.replace(" ", "")), 0, Where(Place.DEPENDENCY))
                    if found is not None:
                        yield replace(found, span=span, fixed="conda has versions of its own; see whether its channel has mcp 2.3")


def read_hooks(text: str) -> Iterator[Fact]:
    """What the hooks of pre-commit install beside themselves."""
    todo = [_root(text)]
    seen: set[int] = set()
    while todo:
        node = todo.pop()
        # Behind aliases a node may be met again and again, also inside of itself.
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for key, value in _pairs(node):
                if key == "additional_dependencies" and isinstance(value, yaml.SequenceNode):
                    yield from _listed(text, value, Where(Place.GROUP, key))
                else:
                    todo.append(value)
        elif isinstance(node, yaml.SequenceNode):
            todo += node.value


def read_updates(text: str) -> Iterator[Fact]:
    """Rules of dependabot that hold releases of a distribution back; `key` is that they do, `text` which one."""
    offset = Offsets(text)
    for key, updates in _pairs(_root(text)):
        for update in updates.value if key == "updates" and isinstance(updates, yaml.SequenceNode) else ():
            for name, ignored in _pairs(update):
                for rule in ignored.value if name == "ignore" and isinstance(ignored, yaml.SequenceNode) else ():
                    held = dict(_pairs(rule))
                    node = held.get("dependency-name")
                    if isinstance(node, yaml.ScalarNode) and node.value == "mcp":
                        yield Remark(Span(offset(node.start_mark.index), offset(node.end_mark.index)), "held-back", text="mcp")


def _listed(text: str, node: yaml.SequenceNode, where: Where) -> Iterator[Requirement]:
    offset = Offsets(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    last = node.value[-1] if node.value else None
    for item in node.value:
        if not isinstance(item, yaml.ScalarNode):
            continue
        start = item.start_mark.index + (1 if item.style in ("'", '"') else 0)
        if text[start : start + len(item.value)] != item.value:
            continue
        # In a list in one line, a comma would end the entry.
        found = requirement(item.value, offset(start), replace(where, quote='"' if node.flow_style and not item.style else ""))
        if found is None:
            continue
        entry: tuple[tuple[int, str], ...] = ()
        if last is not None and not node.flow_style:
            line = text.rfind("\n", 0, last.start_mark.index) + 1
            indent = text[line : last.start_mark.index]
            end = re.compile(r"[ \t]*(?:#[^\r\n]*)?").match(text, last.end_mark.index)
            if re.fullmatch(r"[ ]*-[ ]+", indent):
                entry = ((offset(end.end() if end else last.end_mark.index), f"{newline}{indent}{{}}"),)
        yield replace(found, entry=entry)


def _root(text: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=_Loader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise Unread(str(error)) from error


def _pairs(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                yield key.value, value
