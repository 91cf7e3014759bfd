"""LibCST, loaded when one of its names is wanted: a check that only plans a rewrite does not wait for it (some 0.2 s)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["cst"]


class _Lazy:
    def __getattr__(self, name: str) -> Any:
        import libcst

        value = getattr(libcst, name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import libcst as cst
else:
    cst = _Lazy()
