"""Quotes of what is written into an f-string: until Python 3.12 they must be others than its own."""

from __future__ import annotations

import ast

from ..sdk.modules import Module


def fitting(node: ast.AST, module: Module) -> str | None:
    """The quote for texts that are written in the place of a node; None where the strings around it leave none."""
    marks = {module.text(above).lstrip("rRfFbBuU")[:1] for above in module.around(node) if isinstance(above, ast.JoinedStr)}
    left = [mark for mark in ('"', "'") if mark not in marks]
    return left[0] if left else None
