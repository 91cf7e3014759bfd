"""Which rules run: `--select` and `--ignore` by id, prefix of an id, name or pack, and `per-file-ignores`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .rule import Entry

ALL = "ALL"


class UnknownRule(Exception):
    """A selector that no rule answers to."""


def choose(entries: Iterable[Entry], select: Iterable[str], ignore: Iterable[str]) -> frozenset[str]:
    """The ids that run. As in ruff the more specific selector wins, and of two that are equally specific `ignore` does.

    Raises UnknownRule.
    """
    entries = tuple(entries)
    select, ignore = tuple(select), tuple(ignore)
    steps = [(selector, True) for selector in select or (ALL,)] + [(selector, False) for selector in ignore]
    named = {selector: ids_of(selector, entries) for selector, _ in steps}
    chosen: set[str] = set()
    # ALL, then packs and prefixes by how few rules they name, then one rule: the more rules, the earlier the step.
    for selector, add in sorted(steps, key=lambda step: -len(named[step[0]])):
        chosen = chosen | named[selector] if add else chosen - named[selector]
    return frozenset(chosen)


def ids_of(selector: str, entries: Iterable[Entry]) -> frozenset[str]:
    """The ids that a selector stands for. Raises UnknownRule."""
    ids = frozenset(entry.id for entry in entries if _answers(entry, selector))
    if not ids:
        raise UnknownRule(f"no rule answers to {selector!r}; `mcp-migrate rules` lists them")
    return ids


def per_file(ignores: Mapping[str, Iterable[str]], entries: Iterable[Entry]) -> Callable[[str], frozenset[str]]:
    """The ids that `per-file-ignores` silences in a file, asked by its path relative to the configuration's folder.

    Raises UnknownRule.
    """
    if not ignores:
        return lambda path: frozenset()
    from pathspec import GitIgnoreSpec

    entries = tuple(entries)
    table = [
        (GitIgnoreSpec.from_lines([pattern]), frozenset[str]().union(*(ids_of(selector, entries) for selector in selectors)))
        for pattern, selectors in ignores.items()
    ]
    return lambda path: frozenset[str]().union(*(ids for spec, ids in table if spec.match_file(path)))


def _answers(entry: Entry, selector: str) -> bool:
    return selector in (ALL, entry.name, entry.pack) or (selector != "" and entry.id.startswith(selector.upper()))
