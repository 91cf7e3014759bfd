"""How a file spells the class that pydantic has for URLs."""

from __future__ import annotations

from .infer import Inference
from .modules import How, Module
from .types import URL, ClassOf


def spelled(module: Module, inference: Inference) -> str:
    """The name under which the file has `AnyUrl` already; nothing where it does not."""
    for name, bindings in module.scopes[module.tree].bindings.items():
        binding = bindings[0]
        if len(bindings) > 1 or binding.how is not How.IMPORTED or not binding.target.endswith(".AnyUrl"):
            continue
        if inference.dotted_name(binding.target, module) == ClassOf(URL):
            return name
    return ""
