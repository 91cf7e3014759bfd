"""Standalone `fastmcp` 2.x and 3.x to 4."""

from __future__ import annotations

from ..releases import blocked as obstacle

__all__ = ["obstacle"]
