"""Modules by name, as a project gives them to the code that follows calls between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mcp_migrate.facts.code import Code, Place
from mcp_migrate.source import Source


@dataclass(frozen=True)
class Files:
    """The texts of a project's modules."""

    texts: dict[str, str]

    def module(self, name: str) -> tuple[str, Source] | None:
        return (name, Source(f"{name}.py", self.texts[name])) if name in self.texts else None

    def imports(self, path: str) -> Iterator[str]:
        text = self.texts.get(path.removesuffix(".py"), "")
        return (name for name in self.texts if f"import {name}" in text or f"from {name} " in text)

    def importers(self, path: str) -> Iterator[str]:
        stem = path.removesuffix(".py")
        return (name for name, text in self.texts.items() if (name != stem and f"import {stem}" in text) or f"from {stem} " in text)


def place(code: Code, name: str, module: str = "server") -> Place:
    """A function by its dotted name."""
    unit = code.unit(module)
    assert unit is not None
    return Place(unit, unit.module.functions[name])
