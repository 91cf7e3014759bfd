"""Official SDK `mcp` 1.x to 2.x."""

from __future__ import annotations

from ..releases import blocked as obstacle

__all__ = ["obstacle"]
