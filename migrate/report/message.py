"""The message of a commit that holds the fixes of one group of rules: what was done, and why."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

from ..rule import Entry, Group
from .model import visible

_WIDTH = 72
_MOST = 8  # of the files that are new


def render(
    group: Group, rules: Mapping[str, int], entries: Mapping[str, Entry], *, trailer: str, scope: str = "", created: Iterable[str] = ()
) -> str:
    """`rules` says how often each rule was applied, `scope` which package this is about; `trailer` is the name of the last line."""
    parts = [f"{visible(scope)}: {group.title}" if scope else group.title, _filled(group.why)]
    parts += [_rule(entries[rule], number) for rule, number in sorted(rules.items())]
    if new := sorted(map(visible, created)):
        more = f" and {len(new) - _MOST} more" if len(new) > _MOST else ""
        parts.append(_filled(f"New: {', '.join(new[:_MOST])}{more}."))
    counts = " ".join(f"{rule}={number}" for rule, number in sorted(rules.items()))
    return "\n\n".join([*parts, f"{trailer}: {counts or 'none'}"]) + "\n"


def _rule(entry: Entry, number: int) -> str:
    head = textwrap.fill(
        f"{entry.id} {entry.name} ({number}): {entry.title}.", _WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False
    )
    return f"{head}\n{_filled(entry.why, indent='  ')}"


def _filled(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text.strip(), _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )
