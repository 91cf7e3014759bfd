"""The files that newer releases of the SDK, or of `fastmcp`, cannot import after `fix`: the rest is changed, so that none starts them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import groupby

from .facts.model import Defined, SymbolUse
from .project import Project
from .rule import Applicability, Finding
from .sdk.modules import Def, Module


def stops(findings: Iterable[Finding], project: Project) -> Iterator[tuple[str, int, list[str]]]:
    """Path and line of imports that raise ImportError as soon as their file is imported, with the names that are gone."""
    if project.sdk is None:
        return
    found: list[tuple[str, int, str]] = []
    for finding in findings:
        fact = finding.fact
        if isinstance(fact, Defined) and fact.use is SymbolUse.IMPORT and finding.applicability is not Applicability.SAFE:
            module = project.sdk.module_at(finding.path)
            home, _, name = str(fact.key).rpartition(".")
            node = module.at(fact.span)
            api = project.sdk.api
            gone = str(fact.key) not in api.new["modules"] if api.is_module(str(fact.key)) else not api.stays(home, name)
            if gone and node is not None and _runs_at_once(node, module):
                found.append((finding.path, project.files[finding.path].source.position(fact.span.start).line, str(fact.key)))
    for (path, line), group in groupby(sorted(set(found)), key=lambda one: one[:2]):
        yield path, line, [key for _, _, key in group]


def _runs_at_once(node: ast.AST, module: Module) -> bool:
    """Whether an import is made with its module, and nothing catches its error."""
    for above in module.around(node):
        if isinstance(above, Def | ast.Try) or (isinstance(above, ast.If) and module.text(above.test).endswith("TYPE_CHECKING")):
            return False
    return True
