"""Questions to the client: which functions ask, and for which capabilities of the client."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from .capabilities import Check, checks
from .clientstate import levels, reads
from .functions import Function, Module, walk
from .syntax import descend
from .waiters import CAPABILITIES, Doubt, Waiter, waiters

_SESSION_CALLS = {
    "elicit": "elicitation",
    "elicit_form": "elicitation",
    "elicit_url": "elicitation",
    "create_message": "sampling",
    "list_roots": "roots",
}


@dataclass(frozen=True, eq=False)
class Asking:
    """The questions of one module."""

    module: Module
    waiters: tuple[Waiter, ...]
    doubts: tuple[Doubt, ...]

    @cached_property
    def askers(self) -> dict[str, frozenset[str]]:
        """Function -> the capabilities that a call of it may need."""
        found = {waiter.function.name: waiter.capabilities for waiter in self.waiters}
        changed = True
        while changed:
            changed = False
            for function in self.module.functions.values():
                if function.name in found and any(w.function is function for w in self.waiters):
                    continue
                needs = frozenset().union(*(self._needs(node, function, found) for node in function.own if isinstance(node, ast.Call)))
                if needs - found.get(function.name, frozenset()):
                    found[function.name] = needs
                    changed = True
        return found

    def needs(self, node: ast.AST, function: Function) -> frozenset[str]:
        """The capabilities that are asked for somewhere in a piece of code."""
        return frozenset().union(*(self.needs_of(inner, function) for inner in walk(node)))

    def needs_of(self, node: ast.AST, function: Function) -> frozenset[str]:
        """The capabilities that this very call asks for."""
        return self._needs(node, function, self.askers)

    def checks(self) -> list[Check]:
        """The reads of stored client capabilities."""
        return list(checks(self.module, self.needs))

    def _needs(self, node: ast.AST, function: Function, askers: dict[str, frozenset[str]]) -> frozenset[str]:
        if not isinstance(node, ast.Call):
            return frozenset()
        if isinstance(node.func, ast.Attribute) and node.func.attr in _SESSION_CALLS:
            return frozenset({_SESSION_CALLS[node.func.attr]})
        target = self.module.callee(node, function)
        if target is None or target.name not in askers:
            return frozenset()
        named = {
            CAPABILITIES[text]
            for arg in [*node.args, *(k.value for k in node.keywords)]
            if (text := self.module.string(arg)) in CAPABILITIES
        }
        return frozenset(named) or askers[target.name]


def asking(module: Module) -> Asking:
    """The questions of a module, those of hand-written waiters and those of SDK sessions."""
    found = list(waiters(module))
    return Asking(module, tuple(w for w in found if isinstance(w, Waiter)), tuple(d for d in found if isinstance(d, Doubt)))


def asides(module: Module) -> Iterator[ast.AST]:
    """What a 2026-07-28 request passes by once questions, looks at capabilities and the log level are rewired."""
    found = asking(module)
    for waiter in found.waiters:
        for statement in waiter.function.node.body[waiter.start : waiter.stop]:
            yield from descend(statement)
    for check in found.checks():
        if check.refuses:
            yield from descend(check.test)
        elif check.stored is not None:
            yield from descend(check.stored)
    for stored in levels(module):
        for node, _ in reads(stored, module):
            yield from descend(node)
