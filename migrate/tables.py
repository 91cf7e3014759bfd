"""TOML as a mapping, however it was written: whatever is wrong with it is a ValueError, and none takes long."""

from __future__ import annotations

import re
import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# A key of thousands of parts, for which the library needs minutes.
_ENDLESS = re.compile(r"""(?:\.[ \t]*(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')[ \t]*){100}""")


def loads(text: str) -> dict[str, Any]:
    """The document. Raises ValueError."""
    if _ENDLESS.search(text):
        raise ValueError("a key of more than 100 parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
